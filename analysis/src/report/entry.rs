// SPDX-License-Identifier: GPL-2.0-only
//! What stands side by side on the page: a run, or the runs of a sweep that differ in nothing but their seed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hpcc_measures::results::Results;
use hpcc_measures::select::Selection;
use hpcc_model::results::FolderLock;

use crate::manifest::{MANIFEST, Manifest, ManifestRun, PARTIAL, Shown};

/// Runs that are one thing on the page.
#[derive(Debug)]
pub struct Entry {
    /// Its name on the page.
    pub name: String,
    /// The runs, one for each seed; at least one.
    pub runs: Vec<Results>,
    /// Whether the folder of a run was given; otherwise it is the folder of a sweep.
    pub is_run: bool,
    /// How seeds and sizes are shown.
    pub shown: Shown,
}

impl Entry {
    /// How many flows finished in all runs.
    pub fn finished(&self) -> u64 {
        self.runs.iter().map(Results::finished).sum()
    }

    /// The groups of its flows, if there are several.
    pub fn groups(&self) -> Vec<(u32, &str)> {
        // By chance a run may have no flow of one.
        let mut groups: Vec<(u32, &str)> = self.runs.iter().flat_map(Results::groups).collect();
        groups.sort_unstable();
        groups.dedup();
        if groups.len() > 1 { groups } else { Vec::new() }
    }

    /// The run whose time series are shown.
    pub fn first(&self) -> &Results {
        &self.runs[0]
    }
}

/// Reads the folder of a run, or of a sweep; by default the selection is what the sweep measures.
///
/// # Errors
/// If it is neither, or something in it is damaged or not to be selected.
pub fn load(dir: &Path, selection: &Selection) -> Result<Vec<Entry>> {
    let manifest = dir.join(MANIFEST);
    if !manifest.exists() {
        if dir.join(PARTIAL).exists() {
            bail!("{}: the sweep in it has not ended: start it again, or name folders of its runs", dir.display());
        }
        let results = select(Results::load(dir)?, selection)?;
        return Ok(vec![Entry { name: name_of(dir), runs: vec![results], is_run: true, shown: Shown::default() }]);
    }
    let lock = FolderLock::read(dir)?.map(Arc::new);
    let text = fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
    let list: Manifest = serde_json::from_str(&text).with_context(|| manifest.display().to_string())?;
    let selection = if *selection == Selection::default() { &list.measured } else { selection };
    let mut entries = Vec::new();
    for entry in list.entries {
        let load = |run: &ManifestRun| select(Results::load(&dir.join(&run.folder))?, selection);
        let runs = entry.runs.iter().map(load);
        entries.push(Entry {
            name: entry.name,
            runs: runs.collect::<Result<_>>()?,
            is_run: false,
            shown: list.shown.clone(),
        });
    }
    if entries.is_empty() || entries.iter().any(|entry| entry.runs.is_empty()) {
        bail!("{}: no run of the sweep is complete", dir.display());
    }
    // One lock for the sweep; one for each run might be more than a process may have open.
    entries.iter_mut().flat_map(|entry| &mut entry.runs).for_each(|run| run.lock = None);
    entries[0].runs[0].lock = lock;
    Ok(entries)
}

fn select(mut results: Results, selection: &Selection) -> Result<Results> {
    selection.apply(&mut results).map(|()| results)
}

fn name_of(dir: &Path) -> String {
    let named = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    named.file_name().map_or_else(|| dir.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Entries of one name get the names of their folders' parents, too, or else a number.
pub fn tell_apart(entries: &mut [Entry]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries.iter() {
        *count.entry(entry.name.clone()).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries.iter_mut().filter(|entry| count[&entry.name] > 1) {
        let parent = entry.first().dir.parent().map(name_of).unwrap_or_default();
        entry.name = format!("{parent}/{}", entry.name);
        let times = seen.entry(entry.name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            entry.name += &format!(" ({times})");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_measures::results::in_memory;
    use hpcc_model::results::{FctRecord, Summary};

    #[test]
    fn groups_are_those_of_any_run() {
        let summary = || Summary { groups: vec!["all".into(), "rare".into()], ..Summary::default() };
        let run = |groups: &[u32]| {
            let flows =
                groups.iter().map(|group| FctRecord { group: *group, size: 1, fct_ns: 9, ..FctRecord::default() });
            in_memory(summary(), flows.collect(), Vec::new())
        };
        let groups = |runs| Entry { name: "a".into(), runs, is_run: false, shown: Shown::default() }.groups().len();
        assert_eq!([groups(vec![run(&[0]), run(&[1, 0])]), groups(vec![run(&[0]), run(&[0])])], [2, 0]);
    }

    #[test]
    fn equal_names_are_told_apart() {
        let entry = |dir: &str| {
            let mut results = in_memory(Summary::default(), Vec::new(), Vec::new());
            results.dir = dir.into();
            Entry { name: "out".into(), runs: vec![results], is_run: true, shown: Shown::default() }
        };
        let mut entries = [entry("/nowhere/a/out"), entry("/nowhere/b/out"), entry("/nowhere/b/out")];
        tell_apart(&mut entries);
        assert_eq!(entries.map(|entry| entry.name), ["a/out", "b/out", "b/out (2)"]);
    }
}
