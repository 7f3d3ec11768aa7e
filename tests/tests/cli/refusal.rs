// SPDX-License-Identifier: GPL-2.0-only
//! What every refused input has in common. Which are refused, and why, is tested where files are read.

use hpcc_tests::{Bench, REFERENCE, TOML, is_complete};

/// Runs and expects a refusal: exit status 2, one line that starts with `place` (`FILE:LINE:`) and holds all
/// `words`, and nothing that looks like results.
#[track_caller]
pub fn refused(bench: &Bench, config: &str, set: &[&str], place: &str, words: &[&str]) {
    let output = bench.run(config, set);
    let message = output.err.trim_end();
    println!("{message}");
    assert_eq!(output.code, Some(2), "{message}");
    let says = message.strip_prefix("hpcc: ").unwrap_or_else(|| panic!("not ours: {message}"));
    assert!(says.starts_with(place), "expected {place}, found: {message}");
    for word in words {
        assert!(says.contains(word), "expected \"{word}\" in: {message}");
    }
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(output.out.is_empty(), "{}", output.out);
    for folder in ["out", "out.partial"] {
        assert!(!is_complete(&bench.path(folder)), "{folder} looks complete");
    }
}

/// A change in a file of a good experiment, and the error.
#[test]
fn bad_files_are_refused_with_place_and_advice() {
    let whole = [TOML, REFERENCE].concat();
    for (config, file, from, to, place, words) in [
        ("scenario.toml", "scenario.toml", "eta =", "etta =", "scenario.toml:17:", "did you mean eta?"),
        ("scenario.toml", "scenario.toml", "src = 1", "src = 3", "scenario.toml:27: traffic.src:", "node 3, a switch"),
        ("scenario.toml", "scenario.toml", "\"10ms\"", "\"10msec", "scenario.toml:2:", "stop"),
        ("config.txt", "config.txt", "U_TARGET", "U_TARGT", "config.txt:10:", "did you mean U_TARGET?"),
        ("config.txt", "topology.txt", "1 3 100Gbps", "9 3 100Gbps", "topology.txt:4:", "no node 9"),
        ("config.txt", "flow.txt", "2.000000", "2.000009", "flow.txt:3:", "sorted by start time"),
        ("none.toml", "scenario.toml", "", "", "none.toml:", "no such file"),
    ] {
        let bench = Bench::new(&whole);
        if !from.is_empty() {
            bench.edit(file, from, to);
        }
        refused(&bench, config, &[], place, &[words]);
    }
}

#[test]
fn a_value_of_the_command_line_counts_once_and_the_file_stays() {
    let bench = Bench::new(TOML);
    let before = bench.read("scenario.toml");
    let twice = ["congestion_control.eta=0.5", "congestion_control.eta=0.9"];
    refused(&bench, "scenario.toml", &twice, "--set: congestion_control.eta:", &["the key is given twice"]);
    let both = ["topology.rate=40Gbps", "telemetry.layout=reference"];
    let named = format!("(with --set {})", both.join(" --set "));
    refused(&bench, "scenario.toml", &both, "scenario.toml:", &["topology.links", "40Gbps", &named]);
    let output = bench.run("scenario.toml", &twice[1..]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(bench.read("out/summary.json").contains("\"eta\": 0.9"));
    assert_eq!(bench.read("scenario.toml"), before);
}
