// SPDX-License-Identifier: GPL-2.0-only
//! Flows of UDP datagrams at the pace of HPCC++, by files and results.

use crate::refusal::refused;
use hpcc_formats::results::fct_csv;
use hpcc_tests::{Bench, has_tcp};
use serde_json::Value;

/// Two flows from ports of 100 Gb/s share 25 Gb/s.
const TOML: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "dumbbell"
left = 2
right = 1
rate = "100Gbps"
delay = "1us"
bottleneck_rate = "25Gbps"
[congestion_control]
algorithm = "hpcc_plus"
expected_flows = 2
[transport]
protocol = "udp"
mtu = 1452
[[traffic]]
kind = "incast"
receiver = 2
sender_count = 2
size = "2MB"
[monitor]
goodput_interval = "100us"
"#;
const IPV6: &str = "transport.ip=ipv6";
const ALONE: &str = "traffic=[{kind='flow',src=0,dst=2,size='1MB'}]";

/// Runs the file, and says with which code it ends.
#[track_caller]
fn run(set: &[&str], code: i32) -> (Bench, Value) {
    let bench = Bench::new(&[("udp.toml", TOML)]);
    let told = bench.run("udp.toml", set);
    assert_eq!(told.code, Some(code), "{set:?}: {}", told.err);
    let summary = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    (bench, summary)
}

fn count(summary: &Value, key: &str) -> u64 {
    summary[key].as_u64().unwrap_or_else(|| panic!("{key}: {summary}"))
}

fn slowdowns(bench: &Bench) -> Vec<f64> {
    let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
    flows.iter().map(|flow| flow.slowdown()).collect()
}

/// Until the first answer each flow may send two windows of its port's rate * T. The bottleneck takes a quarter of that.
#[test]
fn datagrams_share_a_link_and_keep_its_queue_short() {
    if !has_tcp() {
        return;
    }
    for (set, header) in [(&[][..], 20), (&[IPV6], 40)] {
        let (bench, summary) = run(set, 0);
        let t = count(&summary, "base_rtt_ns");
        // Three links of 1 us, two of 100 Gb/s and one of 25: there a datagram, and back 64 bytes at least.
        let wire = |bytes: u64| (2 * bytes * 8 / 100) + bytes * 8 / 25;
        let frames = wire(1_452 + header + 8 + 18) + wire((header + 16 + 18).max(64));
        assert!(t.abs_diff(6_000 + frames) <= 6, "{t} and {frames}");
        let (queue, first_windows) = (count(&summary, "queue_max_bytes"), 2 * 2 * 100 * t / 8);
        assert!((first_windows / 2..first_windows).contains(&queue), "{queue} of {first_windows}");
        assert!(slowdowns(&bench).iter().all(|slowdown| (1.7..2.3).contains(slowdown)), "{:?}", slowdowns(&bench));
        assert_eq!((count(&summary, "drops"), count(&summary, "flows_finished")), (0, 2));
        // 4 MB take 1.35 ms at 25 Gb/s; a probe leaves each flow once in T.
        let least = 2 * 1_200_000 / t;
        assert!((least..2 * least).contains(&count(&summary, "probes")), "{summary}");
        let goodput: u64 = bench.read("out/goodput.csv").lines().skip(1).filter_map(last_number).sum();
        assert_eq!(goodput, 4_000_000, "what arrives is what counts");
    }
}

fn last_number(row: &str) -> Option<u64> {
    row.rsplit(',').next()?.parse().ok()
}

/// The time ends when the last byte arrives: nothing comes back.
#[test]
fn a_flow_alone_takes_its_ideal_time() {
    if !has_tcp() {
        return;
    }
    for (size, ip) in [("1452B", "ipv4"), ("1452B", "ipv6"), ("20KB", "ipv4"), ("20KB", "ipv6")] {
        let alone = format!("traffic=[{{kind='flow',src=0,dst=2,size='{size}'}}]");
        let (bench, _) = run(&[&alone, &format!("transport.ip={ip}")], 0);
        let flow = &fct_csv::read(&bench.path("out/fct.csv")).expect("flows")[0];
        assert!((1.0..1.01).contains(&flow.slowdown()), "{size} over {ip}: {}", flow.slowdown());
        assert!(size != "1452B" || flow.ideal_ns < 4_000, "one way: {:?}", flow.ideal_ns);
    }
}

/// What is lost is not repeated: the flow goes on, and does not finish.
#[test]
fn a_flow_that_loses_datagrams_is_unfinished() {
    if !has_tcp() {
        return;
    }
    let (bench, summary) = run(&[ALONE, "topology.loss=0.01"], 3);
    let rows = bench.read("out/unfinished.csv");
    let (header, row) = rows.split_once('\n').expect("a header");
    let column = header.split(',').position(|name| name == "acked_bytes").expect("acked_bytes");
    let arrived: u64 = row.trim().split(',').nth(column).expect("a cell").parse().expect("bytes");
    // 689 datagrams, each of which must survive three links.
    assert!((940_000..990_000).contains(&arrived), "{arrived}");
    assert_eq!(count(&summary, "resent_packets"), 0);
}

#[test]
fn captures_show_datagrams() {
    if !has_tcp() {
        return;
    }
    // Ethernet's type, the IP header's first byte, and where it names UDP.
    for (ip, kind, protocol) in [("ipv4", [0x08, 0x00, 0x45], 9), ("ipv6", [0x86, 0xdd, 0x60], 6)] {
        let (bench, _) = run(&["monitor.capture_nodes=[2]", &format!("transport.ip={ip}")], 0);
        let pcap = std::fs::read(bench.path("out/packets.pcap")).expect("a capture");
        let frames = 2 * 2_000_000 / 1_452;
        assert!(pcap.len() > frames * (16 + 1_452), "{}", pcap.len());
        let first = &pcap[24 + 16..];
        assert_eq!((&first[12..15], first[14 + protocol]), (&kind[..], 17), "{ip}");
    }
}

#[test]
fn what_datagrams_do_not_have_is_refused_with_a_reason() {
    let bench = Bench::new(&[("udp.toml", TOML)]);
    let reasons: [(&str, &[&str]); 7] = [
        ("transport.recovery=selective_repeat", &["transport.recovery", "nothing acknowledges"]),
        ("transport.tcp_buffer=1MB", &["belongs to protocol = \"tcp\""]),
        ("telemetry.packets=rtt", &["telemetry.packets", "probes alone"]),
        ("telemetry.layout=none", &["telemetry.layout"]),
        ("congestion_control.algorithm=ns3::TcpDctcp", &["datagrams; expected hpcc_plus"]),
        ("monitor.trace_nodes=[0]", &["monitor.trace_nodes", "capture_nodes"]),
        ("transport.ip=ipx", &["transport.ip", "did you mean ipv6"]),
    ];
    for (set, words) in reasons {
        refused(&bench, "udp.toml", &[set], "--set:", words);
    }
    let rdma = ["transport.protocol=rdma", IPV6];
    refused(&bench, "udp.toml", &rdma, "--set:", &["belongs to protocol = \"tcp\" or \"udp\""]);
}
