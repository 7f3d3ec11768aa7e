// SPDX-License-Identifier: GPL-2.0-only
//! Runs in this process, and what they leave.

use crate::document::Document;
use crate::draw::place;
use hpcc_model::results::Summary;
use hpcc_model::scenario::Scenario;
use hpcc_simulate::{How, Outcome};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Keys of a summary that depend on the machine, or on how the work was done.
const COSTS: &[&str] =
    &["setup_cpu_s", "run_cpu_s", "wall_s", "peak_rss_bytes", "ns_per_packet_hop", "ranks", "files", "events"];

/// A folder for runs.
pub struct Bench(TempDir);

/// What a run left.
pub struct Results {
    /// How it ended, if it ran here.
    pub outcome: Option<Outcome>,
    /// Its summary.
    pub summary: Summary,
    /// The summary without what the run cost.
    pub told: Json,
    /// All other files.
    pub files: BTreeMap<String, String>,
    /// The trace of packets, if there is one.
    pub trace: Option<Vec<u8>>,
}

/// Why there are no results.
pub enum NoRun {
    /// The scenario is refused as a file.
    Refused(String),
    /// It cannot be run in this way.
    NotSo,
}

impl Bench {
    /// A folder in memory, where the machine has one.
    ///
    /// # Panics
    /// If there can be none.
    pub fn new() -> Bench {
        let shared = Path::new("/dev/shm");
        let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        Bench(folder.or_else(|_| tempfile::tempdir()).expect("a temporary folder"))
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a document.
    ///
    /// # Errors
    /// If it does not run.
    pub fn run(&self, document: &Document) -> Result<Results, NoRun> {
        self.run_text(&document.text(), 1)
    }

    /// Runs a file's text by so many threads.
    ///
    /// # Errors
    /// If it does not run.
    pub fn run_text(&self, text: &str, threads: u32) -> Result<Results, NoRun> {
        let scenario = hpcc_formats::load_text(place(), text).map_err(|error| NoRun::Refused(error.to_string()))?;
        self.run_scenario(scenario, threads)
    }

    fn run_scenario(&self, scenario: Scenario, threads: u32) -> Result<Results, NoRun> {
        let out = self.path("out");
        let how = How { is_quiet: true, is_watched: false, threads };
        let outcome = match hpcc_simulate::run(scenario, &out, how) {
            Ok(outcome) => outcome,
            Err(_) => return Err(NoRun::NotSo),
        };
        let results = Results::read(&out).map(|results| Results { outcome: Some(outcome), ..results });
        // What is not there cannot be taken for the next run's.
        let _ = fs::remove_dir_all(&out);
        results.ok_or(NoRun::NotSo)
    }
}

impl Default for Bench {
    fn default() -> Bench {
        Bench::new()
    }
}

impl Results {
    /// What is in a folder of results; `None` if there are none.
    pub fn read(out: &Path) -> Option<Results> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(out).ok()? {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_string_lossy().into_owned();
            if name != "summary.json" {
                files.insert(name, String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned());
            }
        }
        let trace = fs::read(out.join("packets.tr")).ok();
        let path = out.join("summary.json");
        let mut told: Json = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        if let Some(told) = told.as_object_mut() {
            told.retain(|key, _| !COSTS.contains(&key.as_str()));
        }
        Some(Results { outcome: None, summary: Summary::read(&path).ok()?, told, files, trace })
    }

    /// Rows of a CSV file, by column; none if there is no such file.
    pub fn rows(&self, name: &str) -> Vec<BTreeMap<&str, &str>> {
        let mut lines = self.files.get(name).map(String::as_str).unwrap_or_default().lines();
        let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        lines.map(|line| columns.iter().copied().zip(line.split(',')).collect()).collect()
    }

    /// A number of a row; 0 where there is none.
    pub fn number(row: &BTreeMap<&str, &str>, column: &str) -> u64 {
        row.get(column).and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

/// How files of two runs differ; only these are compared.
pub fn difference(one: &Results, other: &Results, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let mut names: Vec<&String> = one.files.keys().chain(other.files.keys()).collect();
    names.dedup();
    for name in names.into_iter().filter(|name| wanted(name)) {
        let (a, b) = (one.files.get(name), other.files.get(name));
        if a != b {
            let [a, b] = [a, b].map(|text| text.map(String::as_str).unwrap_or_default());
            let mut pairs = a.lines().zip(b.lines());
            let shown = pairs.find(|(a, b)| a != b).map_or_else(
                || format!("{} and {} lines", a.lines().count(), b.lines().count()),
                |(a, b)| format!("\"{}\" and \"{}\"", short(a), short(b)),
            );
            return Some(format!("{name}: {shown}"));
        }
    }
    None
}

/// How two summaries differ, but for these keys.
pub fn difference_told(one: &Json, other: &Json, but: &[&str]) -> Option<String> {
    let (one, other) = (one.as_object()?, other.as_object()?);
    let mut keys = one.keys().chain(other.keys()).filter(|key| !but.contains(&key.as_str()));
    let key = keys.find(|key| one.get(*key) != other.get(*key))?;
    let text = |map: &serde_json::Map<String, Json>| short(&map.get(key).map(Json::to_string).unwrap_or_default());
    if let (Some(a), Some(b)) = (one.get(key), other.get(key))
        && a.is_object()
        && b.is_object()
        && let Some(inner) = difference_told(a, b, &[])
    {
        return Some(format!("{key}.{inner}"));
    }
    Some(format!("{key}: {} and {}", text(one), text(other)))
}

fn short(text: &str) -> String {
    text.chars().take(100).collect()
}
