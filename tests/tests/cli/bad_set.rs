// SPDX-License-Identifier: GPL-2.0-only
//! Mistakes in `--set KEY=VALUE`, which has no line to blame.

use crate::refusal::refused;
use hpcc_tests::{Bench, REFERENCE, TOML};

#[test]
fn keys_of_the_reference() {
    let bench = Bench::new(REFERENCE);
    for (pair, words) in [
        ("U_TARGT=0.9", vec!["U_TARGT", "did you mean U_TARGET?"]),
        ("U_TARGET=0.9x", vec!["U_TARGET", "\"0.9x\""]),
        ("U_TARGET=", vec!["U_TARGET lacks a value"]),
        ("U_TARGET", vec!["expected KEY=VALUE"]),
        ("U_TARGET=0.9 0.8", vec!["U_TARGET", "extra \"0.8\""]),
        ("FLOW_FILE=none.txt", vec!["FLOW_FILE", "none.txt"]),
        ("KMIN_MAP=1 25000000000 100", vec!["no ECN thresholds for 100Gbps"]),
        ("KMAX_MAP=1 25000000000 400", vec!["KMAX_MAP", "no ECN thresholds for 100Gbps"]),
        ("PMAX_MAP=1 25000000000 0.5", vec!["PMAX_MAP", "no ECN thresholds for 100Gbps"]),
        ("SIMULATOR_STOP_TIME=1e10", vec!["SIMULATOR_STOP_TIME", "expected at most 10000000s"]),
        ("SIMULATOR_STOP_TIME=0", vec!["SIMULATOR_STOP_TIME"]),
        ("eta=0.9", vec!["unknown key eta"]),
    ] {
        refused(&bench, "config.txt", &[pair], "--set:", &words);
    }
}

#[test]
fn keys_of_a_scenario() {
    let bench = Bench::new(TOML);
    for (pair, words) in [
        ("congestion_control.etta=0.9", vec!["etta", "did you mean", "eta"]),
        ("congestion_control.eta=0.9x", vec!["congestion_control.eta", "0.9x"]),
        ("congestion_control.eta", vec!["expected KEY=VALUE"]),
        ("traffic.1.size=0", vec!["--set: traffic.1.size: the size is 0; expected at least 1 byte"]),
        ("traffic.1.src=2", vec!["--set: traffic.1.src: src and dst are the same host, 2"]),
        ("traffic.1.src=9", vec!["--set: traffic.1.src: src is node 9"]),
        ("traffic.7.size=1KB", vec!["traffic"]),
        ("run.stop=10", vec!["run.stop"]),
        ("U_TARGET=0.9", vec!["U_TARGET"]),
    ] {
        refused(&bench, "scenario.toml", &[pair], "", &words);
    }
    let both = ["topology.rate=40Gbps", "telemetry.layout=reference"];
    let named = format!("(with --set {})", both.join(" --set "));
    refused(&bench, "scenario.toml", &both, "", &["scenario.toml:", "topology.links", "40Gbps", &named]);
}

#[test]
fn a_value_counts_once_and_the_file_stays() {
    let bench = Bench::new(TOML);
    let before = bench.read("scenario.toml");
    let told = bench.run("scenario.toml", &["congestion_control.eta=0.5", "congestion_control.eta=0.9"]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(
        told.err.contains("--set: congestion_control.eta: the key is given twice; expected one value"),
        "{}",
        told.err
    );
    for pairs in [["switch.buffer=8MB", "switch={ecn=false}"], ["switch={ecn=false}", "switch.buffer=8MB"]] {
        let told = bench.run("scenario.toml", &pairs);
        assert_eq!(told.code, Some(2), "{}", told.err);
        let keys = pairs.map(|pair| pair.split('=').next().expect("a key"));
        let words = format!("--set: {}: {} is given, too, and one holds the other", keys[1], keys[0]);
        assert!(told.err.contains(&words), "{}", told.err);
    }
    let told = bench.run("scenario.toml", &["congestion_control.eta=0.9"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(bench.read("out/summary.json").contains("\"eta\": 0.9"));
    assert_eq!(bench.read("scenario.toml"), before);
}
