// SPDX-License-Identifier: GPL-2.0-only
//! The folder with the runs: a table, an archive for each scenario, and campaigns: many small runs in one archive, a folder each with
//! topology and flows of its own.

use super::archive::{self, Files};
use super::case::{Case, Outputs};
use super::fat_tree;
use super::run::{CAMPAIGNS, Run};
use anyhow::{Context, Result, anyhow};
use hpcc_model::input;
use std::path::Path;

/// Scenarios whose topology is generated.
const FAT_TREE_PREFIX: &str = "fat-";

/// Reads the runs that are wanted, scenario by scenario, with their files; campaigns at the end.
///
/// # Errors
/// If the folder is not there, or its table or an archive is damaged or lacks one of a run's files.
pub fn read(folder: &Path, wanted: impl Fn(&Run) -> bool) -> Result<Vec<Case>> {
    let table = folder.join("runs.csv");
    let expected =
        || format!("{}: expected a folder as tests/golden of a source tree, with runs.csv", folder.display());
    let text = input::read_text(&table).with_context(|| table.display().to_string()).with_context(expected)?;
    let (mut cases, mut open) = (Vec::new(), (String::new(), Files::new()));
    for run in Run::parse_all(&table, &text)?.iter().filter(|run| wanted(run)) {
        let path = folder.join("data").join(format!("{}.tar.zst", run.scenario));
        if open.0 != run.scenario {
            open = (run.scenario.clone(), archive::read(&path)?.into_values().flatten().collect());
            if run.scenario.starts_with(FAT_TREE_PREFIX) {
                open.1.insert("topology.txt".into(), fat_tree::text());
            }
        }
        let case = Case::new(run, &open.1);
        cases.push(case.map_err(|name| anyhow!("{}: {name} is missing for the run {run}", path.display()))?);
    }
    for campaign in CAMPAIGNS {
        let path = folder.join("campaigns").join(format!("{campaign}.tar.zst"));
        for (name, files) in archive::read(&path)? {
            let broken = || format!("{}: the run {name} is incomplete, or cannot be read", path.display());
            cases.extend(
                Some(of_campaign(campaign, &name, files).with_context(broken)?).filter(|case| wanted(&case.run)),
            );
        }
    }
    Ok(cases)
}

/// A run; `None` if a file is missing or does not begin as it should.
fn of_campaign(campaign: &str, name: &str, mut files: Files) -> Option<Case> {
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
    fn all_runs_of_the_reference_are_here() {
        let cases = read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../golden")), |_| true).expect("golden data");
        let by_reference: Vec<&Case> = cases.iter().filter(|case| case.run.events.is_some()).collect();
        let traced = by_reference.iter().filter(|case| case.expected.trace.is_some()).count();
        assert_eq!((by_reference.len(), traced), (175, 19));
        let of = |campaign: &str| cases.iter().filter(|case| case.run.scenario == campaign).count();
        assert_eq!(CAMPAIGNS.map(of), [10, 753]);
    }
}
