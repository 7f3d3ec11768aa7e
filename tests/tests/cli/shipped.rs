// SPDX-License-Identifier: GPL-2.0-only
//! The experiments in configs/ are what users start from: each must run as it is shipped.

use hpcc_tests::Bench;
use std::fs;
use std::path::{Path, PathBuf};

/// What shortens an experiment of minutes to one of a second, and still reads all of it.
const SHORTER: &[(&str, &[&str])] = &[
    ("fat-tree-websearch.toml", &["traffic.0.duration=20us", "run.stop=1ms"]),
    ("leaf-spine-hadoop.toml", &["traffic.0.duration=100us", "run.stop=2ms"]),
];

fn configs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs");
    let entries = fs::read_dir(folder).expect("configs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // Sweeps name a scenario; the command's own tests read them.
    paths.retain(|path| !fs::read_to_string(path).expect("text").contains("[[variant]]"));
    paths.sort();
    paths
}

#[test]
fn every_scenario_runs() {
    let configs = configs();
    assert!(configs.len() >= 2, "{configs:?}");
    for path in configs {
        let name = path.file_name().and_then(|name| name.to_str()).expect("name");
        let shorter = SHORTER.iter().find(|(long, _)| *long == name).map_or(&[][..], |(_, set)| set);
        let bench = Bench::new(&[]);
        let told = bench.run(path.to_str().expect("path"), shorter);
        // A shortened run may end before its flows do.
        let good = if shorter.is_empty() { told.code == Some(0) } else { matches!(told.code, Some(0 | 3)) };
        assert!(good, "{name} ends with {:?}: {}", told.code, told.err);
        assert!(bench.read("out/fct.csv").lines().count() > 1, "{name}: no flow finished");
        let plots = fs::read_dir(bench.path("out")).expect("folder").map(|entry| entry.expect("entry").path());
        for plot in plots.filter(|path| path.extension().is_some_and(|extension| extension == "svg")) {
            let text = fs::read_to_string(&plot).expect("plot");
            roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{name}, {}: {error}", plot.display()));
        }
    }
}

/// Two flows may pass unnoticed: the first example is there to show something.
#[test]
fn the_quick_start_shows_every_plot_and_a_queue() {
    let quickstart = configs().into_iter().find(|path| path.ends_with("quickstart.toml")).expect("quickstart.toml");
    let bench = Bench::new(&[]);
    let told = bench.run(quickstart.to_str().expect("path"), &[]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    for plot in ["queue.svg", "goodput.svg", "slowdown.svg"] {
        assert!(bench.path("out").join(plot).exists(), "{plot}");
    }
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    assert!(summary["queue_max_bytes"].as_u64().is_some_and(|bytes| bytes > 10_000), "{}", summary["queue_max_bytes"]);
}
