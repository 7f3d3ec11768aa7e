// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc reproduce` with the real simulator: what is kept in configs/paper is what the programs give.

use std::fs;
use std::path::{Path, PathBuf};

use hpcc_tests::Bench;
use serde_json::Value;

/// Figures that with --quick take a second of processor time or less.
const CHEAP: [&str; 8] =
    ["appendix-convergence", "fig6", "fig9ab", "fig9cd", "fig9ef", "fig13", "draft-convergence", "int-overhead"];

fn paper() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/paper")
}

/// The claims of a `verdicts.json`, with all digits.
fn claims(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let verdicts: Value = serde_json::from_str(&text).expect("JSON");
    verdicts["claims"].as_array().expect("claims").clone()
}

#[test]
fn kept_results_are_what_the_simulator_gives() {
    let bench = Bench::new(&[]);
    let arguments = [&["reproduce", "--quick", "--out", "out"], CHEAP.as_slice()].concat();
    let output = bench.hpcc(&arguments);
    assert!(matches!(output.code, Some(0 | 3)), "{:?}: {}", output.code, output.err);
    for name in CHEAP {
        let folder = format!("{name}-quick");
        let kept = paper().join("results").join(&folder);
        let ours = bench.path("out").join(&folder);
        assert_eq!(claims(&ours.join("verdicts.json")), claims(&kept.join("verdicts.json")), "{name}");
        for entry in fs::read_dir(&kept).expect("kept results") {
            let file = entry.expect("entry").file_name();
            let text = |folder: &Path| fs::read_to_string(folder.join(&file)).expect("text");
            let is_data = Path::new(&file).extension().is_some_and(|end| end == "csv");
            assert!(!is_data || text(&ours) == text(&kept), "{name}: {} is not what is kept", file.display());
        }
    }
    assert!(output.out.contains("holds in direction"), "no summary: {}", output.out);
}

/// A claim is judged by its own runs: other settings, another verdict.
#[test]
fn a_verdict_follows_what_was_simulated() {
    let bench = Bench::new(&[]);
    let fig13 = paper().join("fig13.toml");
    let sweep = |more: &[&str]| {
        let file = fig13.to_str().expect("UTF-8");
        let output = bench.hpcc(&[&["sweep", file, "--quick", "--out", "out"], more].concat());
        assert_eq!(output.code, Some(3), "{}", output.err);
        claims(&bench.path("out/verdicts.json"))
    };
    let used = |claims: &[Value]| claims[2]["measured"].as_f64().expect("a rate");
    let (usual, half) = (sweep(&[]), sweep(&["--set", "congestion_control.eta=0.5"]));
    assert!(usual[2]["verdict"] == "holds" && used(&usual) > 85.0, "{usual:?}");
    assert!(half[2]["verdict"] == "does-not-hold" && used(&half) < 60.0, "{half:?}");
}

#[test]
fn the_list_names_every_figure_with_its_cost() {
    let output = Bench::new(&[]).hpcc(&["reproduce", "list"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.out.lines().all(|line| line.chars().count() <= 80), "{}", output.out);
    for name in CHEAP {
        let line = output.out.lines().find(|line| line.trim_start().starts_with(name));
        assert!(line.is_some_and(|line| line.contains(" s ") || line.contains(" min ")), "{name}: {}", output.out);
    }
}
