// SPDX-License-Identifier: GPL-2.0-only
//! Credits of links, from a file to the summary.

use hpcc_tests::Bench;

const TOML: &str = r#"
run.stop = "100ms"
topology = { kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 4, rate = "100Gbps", delay = "1us" }
traffic = [{ kind = "incast", receiver = 0, sender_count = 6, size = "1MB" }]
congestion_control.algorithm = "none"
transport.window = false
switch.mode = "credit"
"#;

#[test]
fn nothing_is_paused_or_dropped_with_any_number_of_threads() {
    let results = ["1", "2"].map(|threads| {
        let bench = Bench::new(&[("incast.toml", TOML)]);
        let told = bench.hpcc(&["run", "incast.toml", "--simulator", "core", "--threads", threads, "--out", "out"]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        let seen = ["pfc_pauses", "drops", "resent_packets", "timeouts"].map(|key| summary[key].as_u64());
        assert_eq!(seen, [Some(0); 4]);
        assert!(summary["credits"]["waits"].as_u64() > Some(100) && told.out.contains(" waits for credits, "));
        bench.read("out/fct.csv")
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn what_does_not_go_with_credits_is_refused() {
    for (set, expected) in [
        ("switch.credits=500", "credits are 500 bytes, less than a packet; expected "),
        ("switch.buffer=100KB", "the credits that switch 8 gives for the priorities 3 are "),
        ("switch.headroom=50KB", "headroom"),
        ("switch.pfc_watchdog=drop", "pfc_watchdog"),
        ("receive={hosts=\"0\",rate=\"50Gbps\"}", "slow hosts pause by PFC, or drop"),
    ] {
        let bench = Bench::new(&[("incast.toml", TOML)]);
        let told = bench.run("incast.toml", &[set]);
        assert!(told.code == Some(2) && told.err.contains(expected), "{set}: {:?} {}", told.code, told.err);
    }
}

#[test]
fn a_circle_of_credits_is_a_deadlock() {
    let bench = Bench::new(&[]);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/deadlock.toml");
    let set = "switch.mode=credit";
    let told = bench.hpcc(&["run", file, "--simulator", "core", "--set", set, "--out", "out"]);
    assert!(told.err.contains("are in a deadlock"), "{}", told.err);
}
