// SPDX-License-Identifier: GPL-2.0-only
//! An output folder, read into memory.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hpcc_formats::results::{FctRecord, Summary, UnfinishedFlow, fct_csv, unfinished_csv};

/// What tables and plots draw from. The long time series stay on disk.
pub struct Results {
    /// The folder.
    pub dir: PathBuf,
    /// The run as a whole.
    pub summary: Summary,
    /// Completed flows.
    pub flows: Vec<FctRecord>,
    /// The others.
    pub unfinished: Vec<UnfinishedFlow>,
}

impl Results {
    /// Reads a folder.
    ///
    /// # Errors
    /// If it is not a complete output folder, or a file in it is damaged.
    pub fn load(dir: &Path) -> Result<Results> {
        let summary = dir.join("summary.json");
        if !summary.exists() {
            bail!("{}: no output folder of a run, as it has no summary.json", dir.display());
        }
        Ok(Results {
            dir: dir.to_owned(),
            summary: Summary::read(&summary)?,
            flows: fct_csv::read(&dir.join("fct.csv"))?,
            unfinished: unfinished_csv::read(&dir.join("unfinished.csv"))?,
        })
    }

    /// When the first flow started, in ns: the origin of time axes.
    pub fn first_start_ns(&self) -> u64 {
        let finished = self.flows.iter().map(|flow| flow.start_ns);
        finished.chain(self.unfinished.iter().map(|flow| flow.start_ns)).min().unwrap_or(0)
    }

    /// When the last flow finished, or the end of the simulation if one did not, in ns.
    pub fn last_end_ns(&self) -> u64 {
        if !self.unfinished.is_empty() {
            return self.summary.simulated_ns;
        }
        self.flows.iter().map(|flow| flow.start_ns.saturating_add(flow.fct_ns)).max().unwrap_or(0)
    }
}
