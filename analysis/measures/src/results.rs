// SPDX-License-Identifier: GPL-2.0-only
//! An output folder. Its flows are kept in memory if they are few; the long time series stay on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use hpcc_model::error::system_words;
use hpcc_model::results::{FctRecord, FolderLock, Summary, UnfinishedFlow};

use crate::records::{KEPT, Records};
use crate::select::{Filter, Selection};
use crate::stats::Extents;

/// The results of a run, for tables and plots.
#[derive(Clone, Debug)]
pub struct Results {
    /// Folder of the results.
    pub dir: PathBuf,
    /// The run as a whole.
    pub summary: Summary,
    finished: Records<FctRecord>,
    unfinished: Records<UnfinishedFlow>,
    /// Those that have no end, with what they had sent at the end of the run.
    endless: Records<UnfinishedFlow>,
    /// A flow counts if all of them let it through.
    filters: Vec<Filter>,
    facts: Facts,
    /// The measured part of the run.
    pub window: Window,
    /// Keeps the folder as it is while it is read.
    pub lock: Option<Arc<FolderLock>>,
}

/// Totals of the flows that count.
#[derive(Clone, Debug, Default)]
struct Facts {
    finished: u64,
    unfinished: u64,
    lives: u64,
    first_start_ns: u64,
    last_end_ns: u64,
    groups: BTreeSet<u32>,
    extents: Extents,
}

/// When a flow begins and ends to send, and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Number of the flow.
    pub flow: u32,
    /// Number of its group.
    pub group: u32,
    /// Sending node.
    pub src: u32,
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
    /// How long after the first flow's start it begins, in ns.
    pub after_ns: u64,
    /// Whether the user chose flows; otherwise it holds all flows.
    pub chosen: bool,
}

impl Window {
    /// How long it lasts, in ns.
    pub fn span_ns(&self) -> u64 {
        self.until_ns.saturating_sub(self.from_ns)
    }
}

impl Results {
    /// Reads a folder, and checks that its files are as the run wrote them.
    ///
    /// # Errors
    /// If it is not a complete output folder, was made by another version, or a file in it was cut off or changed.
    pub fn load(dir: &Path) -> Result<Results> {
        Results::load_keeping(dir, KEPT)
    }

    /// As [`Results::load`], but at most so many finished and so many other flows stay in memory. No figure depends on
    /// it.
    ///
    /// # Errors
    /// As [`Results::load`].
    pub fn load_keeping(dir: &Path, most: usize) -> Result<Results> {
        let lock = FolderLock::read(dir)?.map(Arc::new);
        let summary = check(dir)?;
        let finished = Records::open(&dir.join("fct.csv"), most)?;
        let unfinished = Records::open(&dir.join("unfinished.csv"), most)?;
        let endless = dir.join("endless.csv");
        let endless = if endless.exists() { Records::open(&endless, most)? } else { Records::Kept(Arc::default()) };
        Results::new(dir, summary, (finished, unfinished, endless), lock)
    }

    fn new(
        dir: &Path,
        summary: Summary,
        (finished, unfinished, endless): (Records<FctRecord>, Records<UnfinishedFlow>, Records<UnfinishedFlow>),
        lock: Option<Arc<FolderLock>>,
    ) -> Result<Results> {
        let (dir, filters, facts, window) = (dir.to_owned(), Vec::new(), Facts::default(), Window::default());
        let mut results = Results { dir, summary, finished, unfinished, endless, filters, facts, window, lock };
        results.facts = results.facts()?;
        let (from_ns, until_ns) = (results.first_start_ns(), results.last_end_ns());
        results.window = Window { from_ns, until_ns, after_ns: 0, chosen: false };
        Ok(results)
    }

    /// A part of these results.
    ///
    /// # Errors
    /// If nothing is selected.
    pub fn selected(&self, selection: &Selection) -> Result<Results> {
        let mut part = self.clone();
        part.lock = None;
        selection.apply(&mut part)?;
        ensure!(*selection == Selection::default() || part.lives() > 0, "{}: no flow is selected", self.dir.display());
        Ok(part)
    }

    /// Lets only those flows count that this lets through, too.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn narrow(&mut self, filter: Filter) -> Result<()> {
        self.filters.push(filter);
        self.facts = self.facts()?;
        Ok(())
    }

    /// Whether something of the run was left out.
    pub fn is_part(&self) -> bool {
        !self.filters.is_empty()
    }

    fn facts(&self) -> Result<Facts> {
        let mut facts = Facts::default();
        self.finished.each(|flow| {
            let life = Life::of_finished(flow);
            if self.starts(life.flow, life.group, life.start_ns) {
                facts.finished += 1;
                facts.extents.add(flow);
            }
            facts.add(&life, self.overlaps(&life));
            Ok(())
        })?;
        self.unfinished.each(|flow| {
            let life = Life::of_unfinished(flow, self.summary.simulated_ns);
            facts.unfinished += u64::from(self.starts(life.flow, life.group, life.start_ns));
            facts.add(&life, self.overlaps(&life));
            Ok(())
        })?;
        self.endless.each(|flow| {
            let life = Life::of_unfinished(flow, self.summary.simulated_ns);
            facts.add(&life, self.overlaps(&life));
            Ok(())
        })?;
        facts.last_end_ns = facts.last_end_ns.max(facts.first_start_ns);
        Ok(facts)
    }

    fn starts(&self, flow: u32, group: u32, start_ns: u64) -> bool {
        self.filters.iter().all(|filter| filter.starts(flow, group, start_ns))
    }

    fn overlaps(&self, life: &Life) -> bool {
        self.filters.iter().all(|filter| filter.overlaps(life))
    }

    /// Hands `see` each flow that finished, in the order of completion.
    ///
    /// # Errors
    /// If `fct.csv` cannot be read.
    pub fn each_flow(&self, mut see: impl FnMut(&FctRecord)) -> Result<()> {
        self.finished.each(|flow| {
            if self.starts(flow.flow, flow.group, flow.start_ns) {
                see(flow);
            }
            Ok(())
        })
    }

    /// Hands `see` each flow that did not finish.
    ///
    /// # Errors
    /// If `unfinished.csv` cannot be read.
    pub fn each_unfinished(&self, mut see: impl FnMut(&UnfinishedFlow)) -> Result<()> {
        self.unfinished.each(|flow| {
            if self.starts(flow.flow, flow.group, flow.start_ns) {
                see(flow);
            }
            Ok(())
        })
    }

    /// Hands `see` each flow that sends in the window.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn each_life(&self, mut see: impl FnMut(Life)) -> Result<()> {
        self.every_life(|life, counts| {
            if counts {
                see(life);
            }
            Ok(())
        })
    }

    /// Hands `see` each flow of the run, in the order in which they end, and whether it counts and sends in the window.
    ///
    /// # Errors
    /// Those of `see`, or if a file cannot be read.
    pub fn every_life(&self, mut see: impl FnMut(Life, bool) -> Result<()>) -> Result<()> {
        self.finished.each(|flow| {
            let life = Life::of_finished(flow);
            see(life, self.overlaps(&life))
        })?;
        let mut see_rest = |flow: &UnfinishedFlow| {
            let life = Life::of_unfinished(flow, self.summary.simulated_ns);
            see(life, self.overlaps(&life))
        };
        self.unfinished.each(&mut see_rest)?;
        self.endless.each(&mut see_rest)
    }

    /// The flows that are first in an order, at most so many, by number.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn first_lives<K: Ord>(&self, most: usize, order: impl Fn(&Life) -> K) -> Result<Vec<Life>> {
        let mut first: Vec<Life> = Vec::new();
        let cut = |lives: &mut Vec<Life>| {
            lives.sort_by_key(|life| (order(life), life.flow));
            lives.truncate(most);
        };
        self.each_life(|life| {
            first.push(life);
            if first.len() > 2 * most {
                cut(&mut first);
            }
        })?;
        cut(&mut first);
        first.sort_by_key(|life| life.flow);
        Ok(first)
    }

    /// How many flows finished.
    pub fn finished(&self) -> u64 {
        self.facts.finished
    }

    /// Between which values the flows are that finished.
    pub fn extents(&self) -> &Extents {
        &self.facts.extents
    }

    /// How many flows did not finish.
    pub fn unfinished(&self) -> u64 {
        self.facts.unfinished
    }

    /// How many flows send in the window.
    pub fn lives(&self) -> u64 {
        self.facts.lives
    }

    /// When the first flow started, in ns: the origin of time axes.
    pub fn first_start_ns(&self) -> u64 {
        self.facts.first_start_ns
    }

    /// When the last flow finished, or the end of the simulation if one did not, in ns.
    pub fn last_end_ns(&self) -> u64 {
        self.facts.last_end_ns
    }

    /// The groups that have flows here, by number, with their names.
    pub fn groups(&self) -> Vec<(u32, &str)> {
        self.facts.groups.iter().map(|group| (*group, self.summary.group_name(*group))).collect()
    }

    /// The groups whose flows count, by number, with their names, whether they have flows or not.
    pub fn known_groups(&self) -> Vec<(u32, &str)> {
        let named = 0..self.summary.groups.len() as u32;
        let counted = named.filter(|group| self.filters.iter().all(|filter| filter.names_group(*group)));
        let all: BTreeSet<u32> = counted.chain(self.facts.groups.iter().copied()).collect();
        all.into_iter().map(|group| (group, self.summary.group_name(group))).collect()
    }

    /// Time between two rows of a flow in `goodput.csv`, in ns; rates within it are not known.
    pub fn goodput_interval_ns(&self) -> u64 {
        self.interval_ns("goodput_interval_ns")
    }

    /// Time between two samples of the queues in `queue.csv`, in ns.
    pub fn queue_interval_ns(&self) -> u64 {
        self.interval_ns("queue_interval_ns")
    }

    fn interval_ns(&self, key: &str) -> u64 {
        self.summary.scenario["monitor"][key].as_u64().unwrap_or(1)
    }

    /// How many flows are in memory.
    pub fn kept(&self) -> usize {
        self.finished.kept() + self.unfinished.kept() + self.endless.kept()
    }
}

impl Facts {
    fn add(&mut self, life: &Life, counts: bool) {
        if !counts {
            return;
        }
        let is_first = self.lives == 0;
        self.lives += 1;
        self.first_start_ns = if is_first { life.start_ns } else { self.first_start_ns.min(life.start_ns) };
        // One that starts when the run has ended lasts for no time.
        let ran = life.end_ns > life.start_ns;
        self.last_end_ns = self.last_end_ns.max(if ran { life.end_ns } else { 0 });
        self.groups.insert(life.group);
    }
}

impl Life {
    /// Of a flow that finished.
    pub fn of_finished(flow: &FctRecord) -> Life {
        Life {
            flow: flow.flow,
            group: flow.group,
            src: flow.src,
            dst: flow.dst,
            start_ns: flow.start_ns,
            end_ns: flow.start_ns.saturating_add(flow.fct_ns),
            size: flow.size,
            bytes: flow.size,
        }
    }

    /// Of one that did not, in a run that ended at this time.
    pub fn of_unfinished(flow: &UnfinishedFlow, end_ns: u64) -> Life {
        Life {
            flow: flow.flow,
            group: flow.group,
            src: flow.src,
            dst: flow.dst,
            start_ns: flow.start_ns,
            end_ns: end_ns.max(flow.start_ns),
            size: flow.size,
            bytes: flow.acked_bytes,
        }
    }
}

/// Checks that the files of a folder are as the run wrote them.
///
/// # Errors
/// As [`Results::load`].
pub fn check(dir: &Path) -> Result<Summary> {
    let file = dir.join("summary.json");
    if !file.exists() {
        refuse_partial(dir)?;
        if let Err(error) = dir.metadata() {
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            let words = if is_missing { "no such folder".into() } else { system_words(&error) };
            bail!("{}: {words}; expected the folder of a run, which has a summary.json", dir.display());
        }
        ensure!(dir.is_dir(), "{}: is a file; expected the folder of a run, which has a summary.json", dir.display());
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
    if !summary.exists() {
        file.parent().map_or(Ok(()), refuse_partial)?;
    }
    let Some(name) = file.file_name().and_then(|name| name.to_str()).filter(|_| summary.is_file()) else {
        return Ok(());
    };
    if let Some(digest) = Summary::read(&summary)?.files.get(name) {
        digest.check(file)?;
    }
    Ok(())
}

/// Refuses a folder without a summary: its files may be incomplete.
fn refuse_partial(dir: &Path) -> Result<()> {
    let is_partial = dir.extension().is_some_and(|extension| extension == "partial") && dir.is_dir();
    ensure!(!is_partial, "{}: what a run left that was ended or goes on; expected one that is complete", dir.display());
    Ok(())
}

/// Results that have no folder, as tests want them.
pub fn in_memory(summary: Summary, flows: Vec<FctRecord>, unfinished: Vec<UnfinishedFlow>) -> Results {
    let (flows, unfinished) = (Records::Kept(flows.into()), Records::Kept(unfinished.into()));
    let endless = Records::Kept(Arc::default());
    Results::new(Path::new("out"), summary, (flows, unfinished, endless), None).expect("in memory")
}
