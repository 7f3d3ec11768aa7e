// SPDX-License-Identifier: GPL-2.0-only
//! A fault of the 2019 simulator: bytes that wait at a link that fails are not given back to the switch's buffer.

use hpcc_tests::Run;

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

/// Flows that a pause stopped for good do not finish.
#[test]
fn a_leaked_buffer_pauses_for_good() {
    let paused = |leaks: bool, code| {
        let run = Run::ending(SCENARIO, &[&format!("compatibility.leak_buffer_on_link_down={leaks}")], code);
        assert!(run.count("/drops") > 100, "frames waited at the link");
        run.count("/pfc_pause_ns")
    };
    assert!(paused(true, 3) > 10 * paused(false, 0));
}
