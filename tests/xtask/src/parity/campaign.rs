// SPDX-License-Identifier: GPL-2.0-only
//! Campaigns: many small runs of the reference in one archive, a folder each with topology and flows of its own.

use super::archive::{self, Files};
use super::case::{Case, Outputs};
use super::run::{CAMPAIGNS, Run};
use anyhow::{Context, Result};
use std::path::Path;

/// The runs of all campaigns; `folder` holds their archives.
///
/// # Errors
/// If an archive is not there, or damaged.
pub fn read_all(folder: &Path) -> Result<Vec<Case>> {
    let campaigns: Result<Vec<Vec<Case>>> = CAMPAIGNS.iter().map(|name| read(folder, name)).collect();
    Ok(campaigns?.concat())
}

fn read(folder: &Path, campaign: &str) -> Result<Vec<Case>> {
    let path = folder.join(format!("{campaign}.tar.zst"));
    let read = |(name, files): (String, Files)| {
        case(campaign, &name, files)
            .with_context(|| format!("{}: the run {name} is incomplete, or cannot be read", path.display()))
    };
    archive::read_folders(&path)?.into_iter().map(read).collect()
}

/// A run; `None` if a file is missing or does not begin as it should.
fn case(campaign: &str, name: &str, mut files: Files) -> Option<Case> {
    let mut take = |file: &str| files.remove(file);
    let (config, flow) = (take("config.txt")?, take("flow.txt")?);
    let mode = config.split_whitespace().skip_while(|word| *word != "CC_MODE").nth(1)?;
    let run = Run {
        scenario: campaign.into(),
        name: name.into(),
        cc_mode: mode.parse().ok()?,
        flows: flow.split_whitespace().next()?.parse().ok()?,
        packet_hops: None,
        events: None,
        user_cpu_s: None,
    };
    let expected = Outputs {
        fct: take("ref.fct.txt")?,
        pfc: take("ref.pfc.txt")?,
        qlen: Some(take("ref.qlen.txt")?),
        trace: None,
    };
    Some(Case { run, config, topology: take("topology.txt")?, flow, trace_list: take("trace.txt")?, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn campaigns_are_complete() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/campaigns"));
        assert_eq!(CAMPAIGNS.map(|name| read(folder, name).expect("archive").len()), [10, 753]);
        assert!(format!("{:#}", read(folder, "none").expect_err("no archive")).contains("none.tar.zst"));
    }
}
