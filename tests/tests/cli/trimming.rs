// SPDX-License-Identifier: GPL-2.0-only
//! Packets that are cut to their headers, from a file to the summary.

use hpcc_tests::Bench;

const TOML: &str = r#"
run.stop = "10ms"
topology = { kind = "star", hosts = 9, rate = "100Gbps", delay = "1us" }
switch = { mode = "lossy", overflow = "trim", trim_threshold = "20KB" }
transport = { recovery = "selective_repeat", ack_priority = 0 }
traffic = [{ kind = "incast", receiver = 8, sender_count = 8, size = "200KB" }]
wire.profile = "rocev2_ipv4"
monitor = { capture_nodes = [8], trace_nodes = [9] }
"#;

#[test]
fn what_is_cut_is_counted_traced_and_captured() {
    let bench = Bench::new(&[("trim.toml", TOML)]);
    let told = bench.hpcc(&["run", "trim.toml", "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let count = |key: &str| summary["trims"][key].as_u64().expect("a count");
    assert!(count("cut") > 100 && count("at_last_hop") == count("cut") && count("heard") == count("cut"));
    assert_eq!(summary["resent_packets"].as_u64(), Some(count("cut")));
    assert!(told.out.contains("cut to headers (0 lost)"), "{}", told.out);
    let trace = bench.hpcc(&["trace", "out/packets.tr"]);
    let cut = trace.out.lines().filter(|line| line.contains(" Dequ ") && line.contains(" T ")).count() as u64;
    assert_eq!(cut, count("cut"));
    // Nobody's ICRC is wrong, and a write without payload is one.
    let dissected = bench.hpcc(&["dissect", "out/packets.pcap", "--summary"]);
    assert_eq!(dissected.code, Some(0), "{}", dissected.err);
}

#[test]
fn what_does_not_go_with_trimming_is_refused() {
    let bench = Bench::new(&[("trim.toml", TOML)]);
    for (set, words) in [
        ("transport.recovery=go_back_n", "expected transport.recovery = \"selective_repeat\" or \"sack\""),
        ("switch.mode=lossless", "expected mode = \"lossy\", or lossy_priorities"),
        ("switch.overflow=drop", "trim_threshold belongs to overflow = \"trim\""),
    ] {
        let told = bench.hpcc(&["run", "trim.toml", "--out", "out", "--set", set]);
        assert_eq!(told.code, Some(2), "{set}: {}", told.err);
        assert!(told.err.contains("trim.toml:4: switch.") && told.err.contains(words), "{set}: {}", told.err);
    }
}
