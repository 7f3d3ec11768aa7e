// SPDX-License-Identifier: GPL-2.0-only
//! The folder with the runs: a table, and an archive for each scenario.

use super::archive::{self, Files};
use super::campaign;
use super::case::Case;
use super::fat_tree;
use super::run::Run;
use anyhow::{Context, Result, anyhow};
use hpcc_formats::input;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Scenarios whose topology is generated.
const FAT_TREE_PREFIX: &str = "fat-";

/// All runs. Files of the table's runs are unpacked when first asked for.
#[derive(Debug)]
pub struct Golden {
    folder: PathBuf,
    runs: Vec<Run>,
    campaigns: Vec<Case>,
    scenarios: Mutex<HashMap<String, Arc<Files>>>,
}

impl Golden {
    /// Opens a folder with `runs.csv`, `data/` and `campaigns/`.
    ///
    /// # Errors
    /// If it is not there, or its table or a campaign is damaged.
    pub fn open(folder: &Path) -> Result<Golden> {
        let table = folder.join("runs.csv");
        let expected =
            || format!("{}: expected a folder as tests/golden of a source tree, with runs.csv", folder.display());
        let text = input::read_text(&table).with_context(|| table.display().to_string()).with_context(expected)?;
        let mut runs = Run::parse_all(&table, &text)?;
        let campaigns = campaign::read_all(&folder.join("campaigns"))?;
        runs.extend(campaigns.iter().map(|case| case.run.clone()));
        Ok(Golden { folder: folder.to_owned(), runs, campaigns, scenarios: Mutex::default() })
    }

    /// All runs, scenario by scenario; those of campaigns at the end.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The run of this name.
    pub fn run(&self, scenario: &str, name: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.scenario == scenario && run.name == name)
    }

    /// A run's files.
    ///
    /// # Errors
    /// If the archive is damaged or lacks one of the run's files.
    pub fn case(&self, run: &Run) -> Result<Case> {
        if let Some(case) = self.campaigns.iter().find(|case| case.run == *run) {
            return Ok(case.clone());
        }
        let files = self.scenario(&run.scenario)?;
        let archive = self.archive(&run.scenario);
        Case::new(run, &files).map_err(|name| anyhow!("{}: {name} is missing for the run {run}", archive.display()))
    }

    fn archive(&self, scenario: &str) -> PathBuf {
        self.folder.join("data").join(format!("{scenario}.tar.zst"))
    }

    fn scenario(&self, name: &str) -> Result<Arc<Files>> {
        let mut scenarios = self.scenarios.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(files) = scenarios.get(name) {
            return Ok(Arc::clone(files));
        }
        let mut files = archive::read(&self.archive(name))?;
        if name.starts_with(FAT_TREE_PREFIX) {
            files.insert("topology.txt".into(), fat_tree::text());
        }
        let files = Arc::new(files);
        scenarios.insert(name.into(), Arc::clone(&files));
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_tree() -> Golden {
        Golden::open(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../golden"))).expect("golden data")
    }

    #[test]
    fn all_runs_of_the_reference_are_here() {
        let golden = in_tree();
        let by_reference: Vec<&Run> = golden.runs().iter().filter(|run| run.events.is_some()).collect();
        assert_eq!(by_reference.len(), 175);
        let traced = by_reference.iter().filter(|run| golden.case(run).expect("files").expected.trace.is_some());
        assert_eq!(traced.count(), 19);
    }
}
