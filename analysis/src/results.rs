// SPDX-License-Identifier: GPL-2.0-only
//! An output folder, read into memory.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hpcc_formats::results::{FctRecord, FolderLock, Summary, UnfinishedFlow, fct_csv, unfinished_csv};

use crate::select::Selection;

/// What tables and plots draw from. The long time series stay on disk.
#[derive(Debug, Default)]
pub struct Results {
    /// Folder of the results.
    pub dir: PathBuf,
    /// The run as a whole.
    pub summary: Summary,
    /// Completed flows: all, or those that were [selected](crate::select).
    pub flows: Vec<FctRecord>,
    /// The others, likewise.
    pub unfinished: Vec<UnfinishedFlow>,
    /// Every flow that sends in the window, by number.
    pub lives: Vec<Life>,
    /// What is measured.
    pub window: Window,
    /// Keeps the folder as it is while it is read.
    pub lock: Option<FolderLock>,
}

/// From when to when a flow sends, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Number of the flow.
    pub flow: u32,
    /// Number of its group.
    pub group: u32,
    /// Receiving node.
    pub dst: u32,
    /// Simulated time at which it starts, in ns.
    pub start_ns: u64,
    /// Completion, or the end of the run, in ns.
    pub end_ns: u64,
    /// Payload of the flow, in bytes.
    pub size: u64,
    /// Payload that was acknowledged.
    pub bytes: u64,
}

/// A part of the simulated time, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Simulated time at which it begins, in ns.
    pub from_ns: u64,
    /// Simulated time at which it ends, in ns.
    pub until_ns: u64,
    /// Whether somebody asked for it; else it holds all flows.
    pub chosen: bool,
}

impl Window {
    /// How long it lasts, in ns.
    pub fn span_ns(&self) -> u64 {
        self.until_ns.saturating_sub(self.from_ns)
    }
}

impl Results {
    /// Reads a folder, and checks that its files are what the run wrote.
    ///
    /// # Errors
    /// If it is not a complete output folder, was made by another version, or a file in it was cut off or changed.
    pub fn load(dir: &Path) -> Result<Results> {
        let lock = FolderLock::read(dir)?;
        let summary = check(dir)?;
        let flows = fct_csv::read(&dir.join("fct.csv"))?;
        let unfinished = unfinished_csv::read(&dir.join("unfinished.csv"))?;
        Ok(Results::new(dir, summary, flows, unfinished, lock))
    }

    fn new(
        dir: &Path,
        summary: Summary,
        flows: Vec<FctRecord>,
        unfinished: Vec<UnfinishedFlow>,
        lock: Option<FolderLock>,
    ) -> Results {
        let lives = lives(&flows, &unfinished, summary.simulated_ns);
        let mut results =
            Results { dir: dir.to_owned(), summary, flows, unfinished, lives, window: Window::default(), lock };
        let (from_ns, until_ns) = (results.first_start_ns(), results.last_end_ns());
        results.window = Window { from_ns, until_ns, chosen: false };
        results
    }

    /// A part of these results.
    ///
    /// # Errors
    /// If nothing is selected.
    pub fn selected(&self, selection: &Selection) -> Result<Results> {
        let mut part = Results {
            dir: self.dir.clone(),
            summary: self.summary.clone(),
            flows: self.flows.clone(),
            unfinished: self.unfinished.clone(),
            lives: self.lives.clone(),
            window: self.window,
            lock: None,
        };
        selection.apply(&mut part)?;
        Ok(part)
    }

    /// When the first flow started, in ns: the origin of time axes.
    pub fn first_start_ns(&self) -> u64 {
        self.lives.iter().map(|life| life.start_ns).min().unwrap_or(0)
    }

    /// When the last flow finished, or the end of the simulation if one did not, in ns.
    pub fn last_end_ns(&self) -> u64 {
        self.lives.iter().map(|life| life.end_ns).max().unwrap_or(0)
    }

    /// The groups that have flows here, by number, with their names.
    pub fn groups(&self) -> Vec<(u32, &str)> {
        let mut groups: Vec<u32> = self.lives.iter().map(|life| life.group).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.into_iter().map(|group| (group, self.summary.group_name(group))).collect()
    }

    /// A flow, if it sends in the window.
    pub fn life(&self, flow: u32) -> Option<&Life> {
        let index = self.lives.binary_search_by_key(&flow, |life| life.flow).ok()?;
        self.lives.get(index)
    }
}

/// Checks that the files of a folder are what the run wrote.
///
/// # Errors
/// As [`Results::load`].
pub fn check(dir: &Path) -> Result<Summary> {
    let file = dir.join("summary.json");
    if !file.exists() {
        bail!("{}: no output folder of a run, as it has no summary.json", dir.display());
    }
    let summary = Summary::read(&file)?;
    for (name, digest) in &summary.files {
        digest.check(&dir.join(name))?;
    }
    Ok(summary)
}

/// Checks a single file against the summary beside it, if there is one that names it: a file may have been copied, or
/// be another simulator's.
///
/// # Errors
/// If the file was cut off or changed since the run, or another version made it.
pub fn check_file(file: &Path) -> Result<()> {
    let summary = file.with_file_name("summary.json");
    let Some(name) = file.file_name().and_then(|name| name.to_str()).filter(|_| summary.is_file()) else {
        return Ok(());
    };
    if let Some(digest) = Summary::read(&summary)?.files.get(name) {
        digest.check(file)?;
    }
    Ok(())
}

/// The lives of flows, by number.
fn lives(flows: &[FctRecord], unfinished: &[UnfinishedFlow], end_ns: u64) -> Vec<Life> {
    let finished = flows.iter().map(|flow| Life {
        flow: flow.flow,
        group: flow.group,
        dst: flow.dst,
        start_ns: flow.start_ns,
        end_ns: flow.start_ns.saturating_add(flow.fct_ns),
        size: flow.size,
        bytes: flow.size,
    });
    let others = unfinished.iter().map(|flow| Life {
        flow: flow.flow,
        group: flow.group,
        dst: flow.dst,
        start_ns: flow.start_ns,
        end_ns: end_ns.max(flow.start_ns),
        size: flow.size,
        bytes: flow.acked_bytes,
    });
    let mut lives: Vec<Life> = finished.chain(others).collect();
    lives.sort_by_key(|life| life.flow);
    lives
}

/// Results without a folder, for tests.
#[cfg(test)]
pub fn in_memory(summary: Summary, flows: Vec<FctRecord>, unfinished: Vec<UnfinishedFlow>) -> Results {
    Results::new(Path::new("out"), summary, flows, unfinished, None)
}
