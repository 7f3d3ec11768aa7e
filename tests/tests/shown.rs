// SPDX-License-Identifier: GPL-2.0-only
//! What pages show of runs is what the commands that they name give.

use hpcc_tests::{Bench, ProcessOutput, xtask};
use std::fs;
use std::path::Path;

/// Sweeps that take some seconds together, the last one with thousands of events that wait. The others are repeated before a
/// release, by `./hpcc docs --runs --check`.
const QUICK_SWEEPS: [&str; 6] = [
    "./hpcc sweep configs/quickstart-queue.toml",
    "./hpcc sweep configs/quickstart-changes.toml",
    "./hpcc sweep configs/reference-faults.toml",
    "./hpcc sweep configs/reactions.toml",
    "./hpcc sweep configs/hpcc-modes-incast.toml",
    "./hpcc sweep configs/controllers.toml",
];

/// `./hpcc docs --runs` in a tree, with results in the bench's folder.
fn docs(tree: &Path, bench: &Bench, arguments: &[&str]) -> ProcessOutput {
    let mut command = xtask();
    command.args(["docs", "--out"]).arg(bench.path("results")).arg("--runs").args(arguments);
    ProcessOutput::from(command.env("HPCC_SCRIPT", tree.join("hpcc")).output().expect("hpcc starts"))
}

fn source_tree() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn pages_show_what_single_runs_give() {
    let output = docs(source_tree(), &Bench::new(&[]), &["./hpcc run", "--check"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
}

#[test]
fn pages_show_what_quick_sweeps_give() {
    let output = docs(source_tree(), &Bench::new(&[]), &[&QUICK_SWEEPS[..], &["--check"]].concat());
    assert_eq!(output.code, Some(0), "{}", output.err);
    let pages = [
        "README.md",
        "configs/quickstart.md",
        "ns3-module/doc/reference-faults.md",
        "configs/reactions.md",
        "configs/hpcc-modes.md",
        "configs/controllers.md",
    ];
    let pages = pages.map(|page| source_tree().join(page));
    for (page, sweep) in pages.iter().zip(QUICK_SWEEPS) {
        let text = fs::read_to_string(page).expect("a page");
        assert!(text.contains(&format!("<!-- {sweep}")), "{}: nothing was compared", page.display());
    }
}
