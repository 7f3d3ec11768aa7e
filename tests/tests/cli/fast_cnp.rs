// SPDX-License-Identifier: GPL-2.0-only
//! Notifications by switches, set up by a TOML file.

use hpcc_tests::Bench;
use serde_json::Value;

/// Three hosts send to host 3 through switch 4, which notifies them.
const TOML: &str = r#"
[run]
stop = "5ms"
[topology]
kind = "star"
hosts = 4
rate = "100Gbps"
delay = "500ns"
[wire]
profile = "rocev2_ipv6"
[congestion_control]
algorithm = "dcqcn"
[switch]
ecn_thresholds = [{ rate = "100Gbps", kmin = "5KB", kmax = "50KB", pmax = 0.5 }]
[[traffic]]
kind = "incast"
receiver = 3
sender_count = 3
size = "200KB"
[fast_cnp]
enabled = true
"#;

/// What a run says of notifications.
fn counts(more: &str) -> Value {
    let bench = Bench::new(&[("scenario.toml", &format!("{TOML}{more}"))]);
    let told = bench.run("scenario.toml", &[]);
    assert_eq!(told.code, Some(0), "{more}: {}", told.err);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    summary["fast_cnp"].clone()
}

#[test]
fn a_border_keeps_notifications_from_a_neighbour() {
    let (open, closed) = (counts(""), counts("borders = [[4, 0]]"));
    assert!(open["accepted"].as_u64() > Some(0), "{open}");
    assert_eq!(open["dropped_outbound"].as_u64(), Some(0), "{open}");
    assert!(closed["dropped_outbound"].as_u64() > Some(0), "{closed}");
    assert!(closed["accepted"].as_u64() > Some(0), "the other two still hear of it: {closed}");
}
