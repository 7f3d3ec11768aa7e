// SPDX-License-Identifier: GPL-2.0-only
//! A fault of the reference: bytes that wait at a link that fails are not given back to the switch's buffer.

use hpcc_tests::Bench;
use serde_json::Value;

/// Two leaves under two spines; seven hosts send to one while links to its leaf fail, twice.
const SCENARIO: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
fabric_rate = "100Gbps"
delay = "1us"
[switch]
buffer = "3MB"
[congestion_control]
algorithm = "dcqcn"
[[traffic]]
kind = "incast"
receiver = 0
sender_count = 7
size = "2MB"
[failures]
links = [
    { time = "100us", until = "300us", a = 8, b = 10 },
    { time = "500us", until = "700us", a = 8, b = 10 },
]
"#;

/// Exit code and pause time of the run.
fn run(leaks: bool) -> (Option<i32>, u64) {
    let bench = Bench::new(&[("failure.toml", SCENARIO)]);
    let told = bench.run("failure.toml", &[&format!("compatibility.leak_buffer_on_link_down={leaks}")]);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    assert!(summary["drops"].as_u64().is_some_and(|drops| drops > 100), "frames waited at the link: {}", told.out);
    (told.code, summary["pfc_pause_ns"].as_u64().expect("pauses"))
}

#[test]
fn a_leaked_buffer_pauses_for_good() {
    let (code, paused) = run(false);
    assert_eq!(code, Some(0));
    let (leaked_code, leaked_paused) = run(true);
    assert_eq!(leaked_code, Some(3), "flows that a pause stopped for good");
    assert!(leaked_paused > 10 * paused, "{leaked_paused} ns against {paused} ns");
}
