// SPDX-License-Identifier: GPL-2.0-only
//! The experiments in configs/ are what users start from: every scenario, and every run of every sweep, runs as it
//! is shipped, but for a shorter stop time.

use hpcc_tests::{Bench, ProcessOutput, Shipped};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Long enough for a round trip on the longest path, and for the shortest flows.
const STOP: &str = "run.stop=60us";
/// Long enough for a model to compute what its first stage sends.
const COMPUTED: &str = "run.stop=80ms";
/// The same for the layer that a sweep begins with.
const FIRST_COMPUTED: &str = "run.stop=200us";
/// Files of every output folder.
const OUTPUTS: [&str; 8] =
    ["fct.csv", "fct.txt", "goodput.csv", "pfc.txt", "qlen.txt", "queue.csv", "summary.json", "unfinished.csv"];

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Fails unless the command has ended well, with all flows finished or not, and left nothing half-written.
#[track_caller]
fn ended_well(path: &Path, output: &ProcessOutput, bench: &Bench) {
    let name = path.display();
    assert!(matches!(output.code, Some(0 | 3)), "{name} ends with {:?}: {}", output.code, output.err);
    let out = bench.path("out");
    let runs = summaries(&out);
    assert!(!runs.is_empty(), "{name} left no results");
    for run in runs {
        let files: BTreeSet<String> = names(&run).collect();
        let summary = fs::read_to_string(run.join("summary.json")).expect("summary");
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        assert!(summary["packet_hops"].as_u64() > Some(0), "{name}, {}: nothing was sent", run.display());
        assert!(OUTPUTS.iter().all(|file| files.contains(*file)), "{name}, {}: {files:?}", run.display());
    }
    let broken = plots(&out).into_iter().find(|plot| {
        let text = fs::read_to_string(plot).expect("plot");
        roxmltree::Document::parse(&text).is_err()
    });
    assert_eq!(broken, None, "{name}");
}

fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).expect("folder");
    entries.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8"))
}

/// The folders below one that hold the results of a run.
fn summaries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if folder.join("summary.json").exists() {
        found.push(folder.to_owned());
    }
    for path in names(folder).map(|name| folder.join(name)).filter(|path| path.is_dir()) {
        assert!(path.extension().is_none_or(|end| end != "partial"), "{} is not complete", path.display());
        found.extend(summaries(&path));
    }
    found
}

fn plots(folder: &Path) -> Vec<PathBuf> {
    let paths = names(folder).map(|name| folder.join(name));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "svg")).collect()
}

/// Whether ranks compute before they send.
fn computes(path: &Path) -> bool {
    let text = fs::read_to_string(path).expect("text");
    ["\"transformer\"", "\"inference\""].iter().any(|kind| text.contains(kind))
}

#[test]
fn every_scenario_runs() {
    for path in Shipped::find("").scenarios {
        let bench = Bench::new(&[]);
        let output = bench.run(text(&path), &[if computes(&path) { COMPUTED } else { STOP }]);
        ended_well(&path, &output, &bench);
    }
}

#[test]
fn every_variant_of_every_sweep_runs() {
    for path in Shipped::find("").sweeps {
        let bench = Bench::new(&[]);
        let sweep: toml::Table = toml::from_str(&fs::read_to_string(&path).expect("text")).expect("TOML");
        let base = path.with_file_name(sweep["base"].as_str().expect("a file"));
        let stop = if computes(&base) { FIRST_COMPUTED } else { STOP };
        let output = bench.hpcc(&["sweep", text(&path), "--out", "out", "--set", stop]);
        ended_well(&path, &output, &bench);
        let done = output.err.lines().filter(|line| line.contains(" done, ")).count();
        assert!(done > 0 && done == summaries(&bench.path("out")).len(), "{}: {}", path.display(), output.err);
        assert!(bench.path("out/sweep.csv").exists(), "{}", path.display());
    }
}
