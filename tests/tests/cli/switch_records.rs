// SPDX-License-Identifier: GPL-2.0-only
//! Switches that do not report to every packet: once in some time, or upon congestion (draft-pan-tsvwg-hpccplus-02,
//! section 6; REQ-60).

use hpcc_tests::{Run, refused};

/// Four hosts behind one switch send to one behind another, for 500 us. What the receiver gets is captured.
const TOML: &str = r#"
[run]
stop = "500us"
[topology]
kind = "dumbbell"
left = 4
right = 1
rate = "100Gbps"
delay = "1us"
bottleneck_rate = "100Gbps"
[wire]
profile = "rocev2_ipv4"
[congestion_control]
algorithm = "hpcc_plus"
[telemetry]
layout = "int_md"
[[traffic]]
kind = "incast"
receiver = 4
sender_count = 4
size = "50MB"
[monitor]
queue_interval = "1us"
capture_nodes = [4]
"#;

#[derive(Debug)]
struct Shown {
    /// Data packets at the receiver by the number of records that they brought.
    packets: [u64; 3],
    /// 99th percentile of the busiest queue in bytes.
    queue: u64,
    /// Bytes that the receiver got, as a part of what its link can carry.
    used: f64,
}

fn run(set: &[&str]) -> Shown {
    let run = Run::ending(TOML, set, 3);
    let frames = run.bench.hpcc(&["dissect", "out/packets.pcap", "--summary"]).out;
    let with = |hops: usize| {
        let told = if hops == 0 { "int_md: no hop".into() } else { format!("int_md: {hops} hops") };
        frames.lines().filter(|line| line.contains(" RC write ") && line.contains(&told)).count() as u64
    };
    let packets = [0, 1, 2].map(with);
    let used = packets.iter().sum::<u64>() as f64 * 16e-3 / 1e2;
    Shown { packets, queue: run.count("/queue_p99_bytes"), used }
}

/// The link between the switches is full. By itself a switch reports once in 20 us there, 25 times in 500 us, and the
/// second one as often; upon congestion more often, but not to all.
#[test]
fn req_60_a_switch_reports_once_in_a_time_or_upon_congestion() {
    let all = run(&[]);
    assert_eq!(all.packets[..2], [0, 0], "{all:?}");
    let interval = "switch.telemetry_interval=20us";
    let rare = run(&["switch.telemetry_records=interval", interval]);
    let records = rare.packets[1] + 2 * rare.packets[2];
    assert!((44..=52).contains(&records) && rare.packets[0] > 2_500, "{rare:?}");
    let congested = run(&["switch.telemetry_records=congestion", interval]);
    assert!(congested.packets[0] > 2_500, "{congested:?}");
    assert!(congested.packets[1] + 2 * congested.packets[2] > 2 * records, "{congested:?}");
    for shown in [all, rare, congested] {
        assert!(shown.used > 0.8 && shown.queue < 300_000, "the flows are controlled: {shown:?}");
    }
}

#[test]
fn what_needs_all_hops_is_refused() {
    let seldom = "switch.telemetry_records=interval";
    let all_hops = "the congestion control compares records of all hops";
    refused(
        TOML,
        &[
            (&[seldom, "telemetry.layout=paper"], "do not say which link they are of; expected int_md, ifa, ioam"),
            (&[seldom, "congestion_control={algorithm='rx_hpcc'}"], all_hops),
            (&[seldom, "telemetry.content=loads"], "telemetry.content: the receiver compares records of all hops"),
            (&[seldom, "telemetry.guard=true"], "telemetry.guard: "),
            (&[seldom, "telemetry.paths=2"], "telemetry.paths: "),
            (&[seldom, "switch.telemetry_threshold=1KB"], "switch.telemetry_threshold: "),
        ],
    );
}
