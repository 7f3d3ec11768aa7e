// SPDX-License-Identifier: GPL-2.0-only
//! Campaigns: many small runs of the reference in one archive, a folder each with topology and flows of its own.

use crate::archive::{self, Files};
use crate::case::{Case, Outputs};
use crate::error::GoldenError;
use crate::golden::Golden;
use crate::run::Run;

impl Golden {
    /// `differences`: the smallest scenarios of what was once computed otherwise; `random`: scenarios drawn at random.
    pub const CAMPAIGNS: [&'static str; 2] = ["differences", "random"];

    /// All runs of a campaign.
    ///
    /// # Errors
    /// If its archive is not there, or damaged.
    pub fn campaign(&self, name: &str) -> Result<Vec<Case>, GoldenError> {
        let path = self.folder().join("campaigns").join(format!("{name}.tar.zst"));
        let read = |(run, files): (String, Files)| {
            case(name, &run, files)
                .ok_or_else(|| GoldenError::data(&path, format!("the run {run} is incomplete, or cannot be read")))
        };
        archive::read_folders(&path)?.into_iter().map(read).collect()
    }
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
        let golden = Golden::in_tree().expect("golden data");
        let counts = Golden::CAMPAIGNS.map(|name| golden.campaign(name).expect("archive").len());
        assert_eq!(counts, [9, 499]);
        assert!(golden.campaign("none").expect_err("no archive").to_string().contains("none.tar.zst"));
    }

    #[test]
    fn a_run_needs_all_its_files() {
        let names =
            ["topology.txt", "flow.txt", "trace.txt", "config.txt", "ref.fct.txt", "ref.pfc.txt", "ref.qlen.txt"];
        let text = |name: &str| if name == "config.txt" { "CC_MODE 3\n" } else { "2\n" };
        let files: Files = names.iter().map(|name| (name.to_string(), text(name).to_owned())).collect();
        let run = case("random", "a", files.clone()).expect("complete").run;
        assert_eq!((run.to_string().as_str(), run.cc_mode, run.flows), ("random/a", 3, 2));
        for name in names {
            let mut files = files.clone();
            files.remove(name);
            assert!(case("random", "a", files).is_none(), "{name}");
        }
    }
}
