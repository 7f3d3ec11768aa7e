// SPDX-License-Identifier: GPL-2.0-only
//! What pages show of runs is what the commands that they name give.

use hpcc_tests::{Bench, TOML, Told, hpcc};
use std::fs;
use std::path::Path;

/// Sweeps that take a few seconds together. The others are repeated before a release, by `./hpcc docs --runs --check`.
const QUICK_SWEEPS: [&str; 2] = ["./hpcc sweep configs/reactions.toml", "./hpcc sweep configs/hpcc-modes-incast.toml"];

/// `./hpcc docs --runs` in a tree, with results in the bench's folder.
fn docs(tree: &Path, bench: &Bench, arguments: &[&str]) -> Told {
    let mut command = hpcc();
    command.args(["docs", "--out"]).arg(bench.path("results")).arg("--runs").args(arguments);
    Told::from(command.env("HPCC_SCRIPT", tree.join("hpcc")).output().expect("hpcc starts"))
}

fn source_tree() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn pages_show_what_single_runs_give() {
    let told = docs(source_tree(), &Bench::new(&[]), &["./hpcc run", "--check"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
}

#[test]
fn pages_show_what_quick_sweeps_give() {
    let told = docs(source_tree(), &Bench::new(&[]), &[QUICK_SWEEPS[0], QUICK_SWEEPS[1], "--check"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let pages = ["configs/reactions.md", "configs/hpcc-modes.md"].map(|page| source_tree().join(page));
    for (page, sweep) in pages.iter().zip(QUICK_SWEEPS) {
        let text = fs::read_to_string(page).expect("a page");
        assert!(text.contains(&format!("<!-- {sweep} -->")), "{}: nothing was compared", page.display());
    }
}

#[test]
fn a_wrong_number_or_plot_is_found_and_put_right() {
    let bench = Bench::new(TOML);
    for folder in ["configs", "ns3-module/doc/figures"] {
        fs::create_dir_all(bench.path(folder)).expect("a folder");
    }
    let command = "./hpcc run scenario.toml --set 'traffic.0.name=first'";
    let page = format!(
        "<!-- {command} -->\n```text\n```\nBehind.\n<!-- {command}: queue.svg -->\n![Queue](ns3-module/doc/figures/queue.svg)\n"
    );
    bench.write("README.md", &page);
    let tree = bench.path("");
    let renewed = docs(&tree, &bench, &[]);
    assert_eq!(renewed.code, Some(0), "{}", renewed.err);
    assert_eq!(renewed.out, "rewrote ns3-module/doc/figures/queue.svg\nrewrote README.md\n");
    let shown = bench.read("README.md");
    assert!(shown.contains(" flows      2 of 2 finished\n") && shown.contains("\n```\nBehind.\n"), "{shown}");
    assert!(!shown.contains("CPU"), "what it costs differs from machine to machine: {shown}");
    assert_eq!(docs(&tree, &bench, &["--check"]).code, Some(0));

    let wrong = shown.replace("2 of 2", "2 of 3");
    bench.write("README.md", &wrong);
    let found = docs(&tree, &bench, &["--check"]);
    assert_eq!((found.code, bench.read("README.md")), (Some(1), wrong), "{}", found.err);
    assert!(found.err.contains("README.md does not show what its commands give: line "), "{}", found.err);
    assert!(found.err.contains(" should be \"flows      2 of 2 finished\""), "{}", found.err);
    bench.write("ns3-module/doc/figures/queue.svg", "<svg/>");
    let found = docs(&tree, &bench, &["no page has this", "--check"]);
    assert_eq!(found.code, Some(2), "{}", found.err);
    assert!(found.err.contains("--runs: no page shows a command with no page has this"), "{}", found.err);
    let found = docs(&tree, &bench, &["--check"]);
    assert!(found.err.contains("figures/queue.svg does not show"), "{}", found.err);
    assert_eq!(docs(&tree, &bench, &["scenario.toml"]).code, Some(0));
    assert_eq!(bench.read("README.md"), shown);
}
