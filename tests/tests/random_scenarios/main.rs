// SPDX-License-Identifier: GPL-2.0-only
//! Runs that several processes share: every file is that of one process, to the byte. Their number is `HPCC_RANDOM_SCENARIOS`, the
//! first seed `HPCC_RANDOM_SEED`: `./hpcc fuzz SECONDS scenarios` sets both.

mod draw;

use hpcc_tests::{Bench, ProcessOutput, has_mpi, seeds};
use serde_json::Value;
use std::fs;

/// Keys of a summary that depend on the machine.
const COSTS: &[&str] = &["setup_cpu_s", "run_cpu_s", "wall_s", "peak_rss_bytes", "ns_per_packet_hop", "ranks"];

/// `hpcc run --ranks N` into the folder N.
fn run(bench: &Bench, ranks: u64, set: &[&str]) -> ProcessOutput {
    let (count, settings) = (ranks.to_string(), set.iter().flat_map(|pair| ["--set", pair]));
    let arguments = ["run", "scenario.toml", "--quiet", "--out", &count, "--ranks", &count];
    bench.hpcc(&arguments.into_iter().chain(settings).collect::<Vec<_>>())
}

/// A run's summary without what it cost and whether it was in ns-3, and what its processes did.
fn summary(bench: &Bench, ranks: u64) -> (Value, Value) {
    let mut summary: Value = serde_json::from_str(&bench.read(&format!("{ranks}/summary.json"))).expect("JSON");
    let did = summary["ranks"].take();
    for other in COSTS.iter().chain(&["versions", "build_profile"]) {
        summary.as_object_mut().expect("an object").remove(*other);
    }
    (summary, did)
}

/// How the files of one process and of several differ.
fn difference(bench: &Bench, ranks: u64) -> Option<String> {
    for entry in fs::read_dir(bench.path("1")).expect("results") {
        let name = entry.expect("entry").file_name().into_string().expect("a name of ours");
        let of = |ranks: u64| fs::read(bench.path(&format!("{ranks}/{name}"))).ok();
        if !matches!(name.as_str(), "summary.json" | "report.html") && of(1) != of(ranks) {
            return Some(name);
        }
    }
    (summary(bench, 1).0 != summary(bench, ranks).0).then(|| "summary.json".into())
}

/// Numbers of processes that are compared with one.
const SEVERAL: [u64; 3] = [2, 3, 4];
/// Counts of a summary. In a few scenarios each has to be above 0 somewhere, or what it counts is not compared.
const HAPPENS: &[&str] = &["/pfc_pauses", "/receive/pauses", "/losses", "/resent_packets", "/path_moves"];

/// Runs a scenario with one process and with two to four, as far as it has parts for them. Returns its summary, or what is
/// wrong.
fn compare(seed: u64) -> Result<Value, String> {
    let text = draw::shared(seed);
    let bench = Bench::new(&[("scenario.toml", &text)]);
    let alone = run(&bench, 1, &[]);
    if !matches!(alone.code, Some(0 | 3)) {
        return Err(format!("seed {seed}: {:?}: {}\n{text}", alone.code, alone.err));
    }
    for ranks in SEVERAL {
        let shared = run(&bench, ranks, &[]);
        if shared.code == Some(2) && shared.err.contains("links of hosts and links without delay are not cut") {
            break;
        }
        if alone.code != shared.code {
            return Err(format!("seed {seed}: {:?} with {ranks} processes: {}\n{text}", shared.code, shared.err));
        }
        if let Some(name) = difference(&bench, ranks) {
            return Err(format!("seed {seed}: {name} differs with {ranks} processes\n{text}"));
        }
    }
    Ok(summary(&bench, 1).0)
}

#[test]
fn results_are_the_same_for_any_number_of_processes() {
    if !has_mpi() {
        return;
    }
    let seeds = seeds(6);
    let count = seeds.end - seeds.start;
    let (same, wrong): (Vec<_>, Vec<_>) = seeds.map(compare).partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} of {count} scenarios:\n{}", wrong.len(), wrong.join("\n"));
    let same: Vec<Value> = same.into_iter().filter_map(Result::ok).collect();
    let happened = |count: &&&str| same.iter().any(|summary| summary.pointer(count).and_then(Value::as_u64) > Some(0));
    let missing: Vec<_> = HAPPENS.iter().filter(|count| !happened(count)).collect();
    assert!(same.len() < 6 || missing.is_empty(), "nowhere in {count} scenarios: {missing:?}");
}

/// Two racks with two hosts each behind one switch, all sending to host 0 and to their neighbour.
const RACKS: &str = "[run]\nstop = '10ms'\n[topology]\nkind = 'leaf_spine'\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                     rate = '100Gbps'\ndelay = '1us'\n[congestion_control]\nalgorithm = 'hpcc'\n\
                     [[traffic]]\nkind = 'incast'\nreceiver = 0\nsender_count = 3\nsize = '200KB'\n\
                     [[traffic]]\nkind = 'permutation'\nsize = '100KB'\n";

#[test]
fn processes_divide_the_work_and_say_so() {
    if !has_mpi() {
        return;
    }
    let bench = Bench::new(&[("scenario.toml", RACKS)]);
    assert_eq!((run(&bench, 1, &[]).code, run(&bench, 2, &[]).code), (Some(0), Some(0)));
    assert_eq!(difference(&bench, 2), None);
    let ((whole, alone), (_, did)) = (summary(&bench, 1), summary(&bench, 2));
    assert!(alone.is_null(), "one process divides nothing: {alone}");
    let sum = |key: &str| {
        did.as_array().expect("a list").iter().map(|rank| rank[key].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!((sum("nodes"), sum("packet_hops")), (8, whole["packet_hops"].as_u64().expect("a number")));
    assert!(sum("sent_frames") > 100, "{did}");
    // Each process knows all ports of the network.
    assert_eq!((did[0]["devices"].as_u64(), did[1]["devices"].as_u64()), (Some(16), Some(16)), "{did}");
    assert_eq!(did[0]["windows"], did[1]["windows"], "{did}");
    for rank in 0..2 {
        assert!(did[rank]["cpu_s"].as_f64() > Some(0.0), "{did}");
        assert!(did[rank]["packet_hops"].as_u64() > Some(sum("packet_hops") / 4), "{did}");
    }
}

#[test]
fn what_processes_cannot_share_is_refused_with_the_reason() {
    if !has_mpi() {
        return;
    }
    for (set, reason) in [
        ("run.order=insertion", "run.order = \"insertion\", in which each event follows"),
        ("topology.fabric_delay=0ns", "links without delay are not cut, which leaves 1 part"),
        ("compatibility.shared_rng=true", "the 2019 simulator's fault shared_rng"),
    ] {
        let bench = Bench::new(&[("scenario.toml", RACKS)]);
        let output = run(&bench, 2, &[set]);
        assert_eq!(output.code, Some(2), "{set}: {}", output.err);
        assert_eq!(output.err.matches(reason).count(), 1, "{set}: one process says it: {}", output.err);
        assert!(!bench.path("2").exists() && !bench.path("2.partial").exists(), "{set}: results");
    }
}
