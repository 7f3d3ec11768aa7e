// SPDX-License-Identifier: GPL-2.0-only
//! What pages show of runs is what the commands that they name give.

use hpcc_tests::{Bench, Told, hpcc, xtask};
use std::fs;
use std::path::Path;

/// Sweeps that take some seconds together, the last one with thousands of events that wait. The others are repeated before a
/// release, by `./hpcc docs --runs --check`.
const QUICK_SWEEPS: [&str; 5] = [
    "./hpcc sweep configs/quickstart-changes.toml",
    "./hpcc sweep configs/reference-faults.toml",
    "./hpcc sweep configs/reactions.toml",
    "./hpcc sweep configs/hpcc-modes-incast.toml",
    "./hpcc sweep configs/controllers.toml",
];

/// `./hpcc docs --runs` in a tree, with results in the bench's folder.
fn docs(tree: &Path, bench: &Bench, arguments: &[&str]) -> Told {
    let mut command = xtask();
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
    let told = docs(source_tree(), &Bench::new(&[]), &[&QUICK_SWEEPS[..], &["--check"]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let pages = [
        "configs/quickstart.md",
        "ns3-module/doc/reference-faults.md",
        "configs/reactions.md",
        "configs/hpcc-modes.md",
        "configs/controllers.md",
    ];
    let pages = pages.map(|page| source_tree().join(page));
    for (page, sweep) in pages.iter().zip(QUICK_SWEEPS) {
        let text = fs::read_to_string(page).expect("a page");
        assert!(text.contains(&format!("<!-- {sweep} -->")), "{}: nothing was compared", page.display());
    }
}

/// The experiments that a page is about: `run` or `sweep`, and the file.
fn experiments(page: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = page.split(|letter: char| letter.is_whitespace() || "`:,".contains(letter)).collect();
    let mut found: Vec<_> = words
        .windows(3)
        .filter(|words| words[0] == "./hpcc" && ["run", "sweep"].contains(&words[1]) && words[2].ends_with(".toml"))
        .map(|words| (words[1], words[2]))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The settings that a page proposes to try, each as `--set KEY=VALUE` has it, those of one proposal together.
fn proposals(page: &str) -> Vec<Vec<String>> {
    let code = page.split('`').skip(1).step_by(2).filter(|code| code.starts_with("--set "));
    let settings =
        |code: &str| code.split("--set ").skip(1).map(|set| set.trim().trim_matches('\'').to_owned()).collect();
    code.map(settings).collect()
}

/// A sweep of one variant checks the settings of a single run.
fn as_sweep(base: &Path, settings: &[String]) -> String {
    format!("title = \"Try\"\nbase = {base:?}\n[[variant]]\nname = \"try\"\nset = {settings:?}\n")
}

#[test]
fn what_pages_propose_to_try_is_accepted() {
    let (bench, mut tried) = (Bench::new(&[]), 0);
    for entry in fs::read_dir(source_tree().join("configs")).expect("pages") {
        let path = entry.expect("a page").path();
        if path.extension() != Some("md".as_ref()) || path.ends_with("README.md") {
            continue;
        }
        let page = fs::read_to_string(&path).expect("a page");
        let mut tried_on = experiments(&page);
        // A page of a run may have a sweep of what it proposes, which sets the same keys.
        if tried_on.iter().any(|(does, _)| *does == "run") {
            tried_on.retain(|(does, _)| *does == "run");
        }
        for (does, file) in tried_on {
            for settings in proposals(&page) {
                let file = source_tree().join(file);
                let mut command = hpcc();
                if does == "run" {
                    bench.write("try.toml", &as_sweep(&file, &settings));
                    command.arg("sweep").arg(bench.path("try.toml"));
                } else {
                    command.arg("sweep").arg(&file).args(settings.iter().flat_map(|setting| ["--set", setting]));
                }
                let told = Told::from(command.arg("--list").output().expect("hpcc starts"));
                assert_eq!(told.code, Some(0), "{}: {settings:?}: {}", path.display(), told.err);
                tried += 1;
            }
        }
    }
    assert!(tried > 25, "only {tried} settings were tried");
}
