// SPDX-License-Identifier: GPL-2.0-only
//! A lossless network loses nothing, however short its links and however large its packets.

use hpcc_model::results::queue_csv;
use hpcc_tests::Bench;

/// Senders that nothing but PFC stops.
const TOML: &str = r#"
[run]
stop = "100ms"
[topology]
kind = "star"
hosts = 17
rate = "100Gbps"
delay = "10ns"
[congestion_control]
algorithm = "none"
[transport]
window = false
[switch]
buffer = "4MB"
[[traffic]]
kind = "incast"
receiver = 16
sender_count = 16
size = "500kB"
"#;

/// Data of the receiver: a pause waits for its packets.
const BACK: &str = r#"
[[traffic]]
kind = "flow"
src = 16
dst = 0
size = "8MB"
"#;

/// Pauses, and frames that were dropped.
fn counted(set: &[&str]) -> (u64, u64) {
    counted_of(TOML, set)
}

/// Pauses and dropped frames of another experiment.
fn counted_of(toml: &str, set: &[&str]) -> (u64, u64) {
    let bench = Bench::new(&[("short.toml", toml)]);
    let output = bench.run("short.toml", set);
    assert_eq!(output.code, Some(0), "{set:?}: {}", output.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let count = |key: &str| summary[key].as_u64().unwrap_or_else(|| panic!("{key}: {summary}"));
    (count("pfc_pauses"), count("drops"))
}

#[test]
fn headroom_holds_all_that_comes_after_a_pause() {
    for (rate, delay, mtu) in [
        ("100Gbps", "10ns", 1_000),
        ("100Gbps", "100ns", 4_096),
        ("100Gbps", "280ns", 1_000),
        ("25Gbps", "1us", 1_000),
        ("25Gbps", "1us", 4_096),
        ("10Gbps", "1us", 1_000),
        ("400Gbps", "100ns", 4_096),
    ] {
        let link =
            [format!("topology.rate={rate}"), format!("topology.delay={delay}"), format!("transport.mtu={mtu}B")];
        let set: Vec<&str> = link.iter().map(String::as_str).collect();
        let (pauses, dropped) = counted(&set);
        assert!(pauses > 0, "{set:?}");
        assert_eq!(dropped, 0, "{set:?}");
    }
    let (_, dropped) = counted(&["compatibility.short_headroom=true", "transport.timeout=1ms"]);
    assert!(dropped > 0, "the 2019 simulator's headroom has no room for a frame here");
}

/// An IOAM trace has room for all hops from the start: 82 bytes of headers, 232 of telemetry, and little payload.
#[test]
fn headroom_counts_frames_with_their_telemetry() {
    let toml = format!("{TOML}{BACK}");
    for mtu in [64, 256, 1_000] {
        let mtu = format!("transport.mtu={mtu}B");
        let layout = ["wire.profile=rocev2_ipv6", "telemetry.layout=ioam", "telemetry.hops=8"];
        let (pauses, dropped) = counted_of(&toml, &[&layout[..], &[mtu.as_str(), "transport.timeout=1ms"]].concat());
        assert!(pauses > 0, "{mtu}");
        assert_eq!(dropped, 0, "{mtu}");
    }
}

/// The senders send in all priorities over links that hold 12.5 kB.
fn of_seven_priorities() -> String {
    let toml = TOML.replace("10ns", "1us").replace("4MB", "5MB").replace("500kB", "100kB");
    let (head, incast) = toml.split_once("[[traffic]]").expect("traffic");
    let incasts: String = (1..8).map(|priority| format!("[[traffic]]{incast}priority = {priority}\n")).collect();
    format!("{head}[monitor]\nqueue_interval = \"100ns\"\n{incasts}")
}

/// 17 ports keep 37.5 kB of headroom and 4 kB of reserve for each of seven priorities, 4950 kB.
#[test]
fn a_switch_with_many_priorities_holds_no_more_than_its_memory() {
    let toml = of_seven_priorities();
    let run = |set: &[&str]| {
        let bench = Bench::new(&[("seven.toml", toml.as_str())]);
        let output = bench.run("seven.toml", set);
        assert_eq!(output.code, Some(0), "{set:?}: {}", output.err);
        let queues = queue_csv::rows(&bench.path("out/queue.csv")).expect("queues");
        let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        let longest = queues.map(|row| row.expect("a row").qlen_bytes).max().expect("a queue");
        (longest, summary["drops"].as_u64(), summary["pfc_pauses"].as_u64())
    };
    let (held, drops, pauses) = run(&[]);
    assert!((1_000_000..=5_000_000).contains(&held), "{held}");
    assert_eq!(drops, Some(0));
    assert!(pauses > Some(111), "each priority of all senders is paused: {pauses:?}");
    let (held, ..) = run(&["compatibility.short_headroom=true"]);
    assert!(held > 5_000_000, "in the 2019 simulator memory is kept for one priority, and used by all: {held}");
}
