// SPDX-License-Identifier: GPL-2.0-only
//! Hosts whose transport is ns-3's TCP, by files and results.

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
protocol = "tcp"
mtu = 1448
[[traffic]]
kind = "incast"
receiver = 2
sender_count = 2
size = "2MB"
"#;
const DUMBBELL: &str = r#"kind = "dumbbell"
left = 2
right = 1
rate = "100Gbps"
delay = "1us"
bottleneck_rate = "25Gbps""#;
/// The same hosts, each by a link to each of two switches.
const TWO_LINKS: &str = r#"kind = "links"
hosts = 3
switches = 2
rate = "25Gbps"
delay = "1us"
links = [{ a = 0, b = 3 }, { a = 0, b = 4 }, { a = 1, b = 3 }, { a = 1, b = 4 }, { a = 2, b = 3 }, { a = 2, b = 4 }]"#;
/// Eight flows from one host to two others.
const EIGHT: &str = "traffic=[{kind='periodic_incast',receiver=1,senders=[0],size='1MB',interval='1ns',duration='4ns'},\
                     {kind='periodic_incast',receiver=2,senders=[0],size='1MB',interval='1ns',duration='4ns'}]";
/// Bytes that two flows of 100 Gb/s have in flight at first, while they know nothing: twice the port's rate * T.
const FIRST_WINDOWS: u64 = 2 * 100 * 6_762 / 8;

/// What a run of the file with these settings leaves.
struct Run {
    summary: Value,
    slowdowns: Vec<f64>,
}

impl Run {
    #[track_caller]
    fn of(set: &[&str]) -> Run {
        let bench = Bench::new(&[("tcp.toml", TOML)]);
        let told = bench.run("tcp.toml", set);
        assert_eq!(told.code, Some(0), "{set:?}: {}", told.err);
        let summary = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
        let slowdowns = flows.iter().map(|flow| flow.slowdown()).collect();
        Run { summary, slowdowns }
    }

    fn count(&self, key: &str) -> u64 {
        self.summary[key].as_u64().unwrap_or_else(|| panic!("{key}"))
    }
}

#[test]
fn hpcc_plus_keeps_the_queue_short_that_other_controls_of_tcp_fill() {
    if !has_tcp() {
        return;
    }
    let plus = Run::of(&[]);
    assert_eq!(plus.count("flows_finished"), 2);
    // The bottleneck takes a quarter of what comes in at first.
    let queue = plus.count("queue_max_bytes");
    assert!((FIRST_WINDOWS / 2..FIRST_WINDOWS * 11 / 10).contains(&queue), "{queue}");
    let dctcp = Run::of(&["congestion_control.algorithm=ns3::TcpDctcp"]);
    let reno = Run::of(&["congestion_control.algorithm=ns3::TcpNewReno"]);
    // Switches mark from 100 kB on at 25 Gb/s, and NewReno does not ask them to.
    let (marked, filled) = (dctcp.count("queue_max_bytes"), reno.count("queue_max_bytes"));
    assert!((100_000..400_000).contains(&marked), "{marked}");
    assert!(filled > 1_500_000, "{filled}");
    for run in [&plus, &dctcp, &reno] {
        assert_eq!((run.count("drops"), run.count("resent_packets")), (0, 0));
        // Two flows share the link; each takes what it takes alone and as long again.
        assert!(run.slowdowns.iter().all(|slowdown| (1.5..2.3).contains(slowdown)), "{:?}", run.slowdowns);
    }
    assert_eq!((reno.count("probes"), reno.count("telemetry_bytes")), (0, 0));
}

/// REQ-13, REQ-14: a probe leaves once in T, and T is what the file says, or the path's.
#[test]
fn probes_leave_once_in_t() {
    if !has_tcp() {
        return;
    }
    let (own, given) = (Run::of(&[]), Run::of(&["transport.base_rtt=27us"]));
    assert_eq!((own.count("base_rtt_ns"), given.count("base_rtt_ns")), (6_762, 27_000));
    for run in [own, given] {
        // 4 MB take 1.35 ms at 25 Gb/s; the headroom and the first round trips take their time.
        let least = 2 * 1_200_000 / run.count("base_rtt_ns");
        let probes = run.count("probes");
        assert!((least..2 * least).contains(&probes), "{probes} probes, {least} at least");
    }
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    if !has_tcp() {
        return;
    }
    for (size, ip) in
        [("1B", "ipv4"), ("1448B", "ipv4"), ("50KB", "ipv4"), ("1B", "ipv6"), ("1448B", "ipv6"), ("50KB", "ipv6")]
    {
        let alone = format!("traffic=[{{kind=\"flow\",src=0,dst=2,size=\"{size}\"}}]");
        let run = Run::of(&[&alone, &format!("transport.ip={ip}")]);
        assert!((1.0..1.01).contains(&run.slowdowns[0]), "{size} over {ip}: {:?}", run.slowdowns);
    }
}

/// 20 bytes more in a header: two flows share the link as before, and T is longer.
#[test]
fn tcp_runs_over_ipv6() {
    if !has_tcp() {
        return;
    }
    let (old, new) = (Run::of(&[]), Run::of(&["transport.ip=ipv6"]));
    // Each way 20 bytes more on two links of 100 Gb/s and one of 25.
    assert_eq!(new.count("base_rtt_ns") - old.count("base_rtt_ns"), 2 * 20 * (8 + 8 + 4 * 8) / 100);
    assert_eq!((new.count("flows_finished"), new.count("drops"), new.count("resent_packets")), (2, 0, 0));
    assert!(new.slowdowns.iter().all(|slowdown| (1.5..2.3).contains(slowdown)), "{:?}", new.slowdowns);
    assert!(new.count("probes") > 300, "{}", new.count("probes"));
    let queue = new.count("queue_max_bytes");
    assert!((FIRST_WINDOWS / 2..FIRST_WINDOWS * 11 / 10).contains(&queue), "{queue}");
    let marked = Run::of(&["transport.ip=ipv6", "congestion_control.algorithm=ns3::TcpDctcp"]).count("queue_max_bytes");
    assert!((100_000..400_000).contains(&marked), "marks reach TCP over IPv6: {marked}");
}

#[test]
fn attributes_of_ns3s_classes_are_parameters() {
    if !has_tcp() {
        return;
    }
    let dctcp = "congestion_control.algorithm=ns3::TcpDctcp";
    let queue = |set: &[&str]| Run::of(&[&[dctcp], set].concat()).count("queue_p99_bytes");
    // A sender that forgets marks at once, and one that never forgets the first guess, all marked.
    assert!(queue(&["congestion_control.DctcpShiftG=1"]) > queue(&["congestion_control.DctcpShiftG=0"]));
    let bench = Bench::new(&[("tcp.toml", TOML)]);
    refused(&bench, "tcp.toml", &[dctcp, "congestion_control.DctcpShiftG=2"], "--set:", &["DctcpShiftG", "no value"]);
    refused(&bench, "tcp.toml", &[dctcp, "congestion_control.eta=0.9"], "--set:", &["unknown key eta"]);
}

#[test]
fn tcp_repairs_what_lossy_switches_drop() {
    if !has_tcp() {
        return;
    }
    let set = ["congestion_control.algorithm=ns3::TcpNewReno", "switch.mode=lossy", "switch.buffer=500KB"];
    let run = Run::of(&set);
    assert!(run.count("drops") > 50, "{}", run.count("drops"));
    assert_eq!((run.count("resent_packets"), run.count("pfc_pauses")), (run.count("drops"), 0));
}

#[test]
fn a_buffer_bounds_what_is_in_flight() {
    if !has_tcp() {
        return;
    }
    let set = ["congestion_control.algorithm=ns3::TcpNewReno", "transport.tcp_buffer=300KB"];
    let queue = Run::of(&set).count("queue_max_bytes");
    assert!((400_000..650_000).contains(&queue), "{queue}");
}

#[test]
fn flows_that_a_failed_link_cuts_off_are_unfinished() {
    if !has_tcp() {
        return;
    }
    let bench = Bench::new(&[("tcp.toml", TOML)]);
    let told = bench.run("tcp.toml", &["failures.links=[{time=\"200us\",a=0,b=3}]"]);
    assert_eq!(told.code, Some(3), "{}", told.err);
    assert!(told.err.contains("1 of 2 flows unfinished"), "{}", told.err);
    assert!(bench.read("out/unfinished.csv").lines().any(|line| line.starts_with("0,0,2,49153,")));
}

#[test]
fn captures_show_tcp() {
    if !has_tcp() {
        return;
    }
    let bench = Bench::new(&[("tcp.toml", TOML)]);
    let told = bench.run("tcp.toml", &["monitor.capture_nodes=[2]"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let pcap = std::fs::read(bench.path("out/packets.pcap")).expect("a capture");
    // 4 MB in segments of 1448 bytes, behind 24 bytes of the file and 16 of each packet.
    let frames = 2 * 2_000_000 / 1_448;
    assert!(pcap.len() > frames * (16 + 1_514), "{}", pcap.len());
    // Ethernet's type, IPv4's first byte, and 9 bytes behind it TCP's number.
    let first = &pcap[24 + 16..];
    assert_eq!((&first[12..15], first[14 + 9]), (&[0x08, 0x00, 0x45][..], 6));
    // Pauses have no bytes, and are left out.
    let told = bench.run("tcp.toml", &["monitor.capture_nodes=[3]", "switch.pause_threshold=1"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    assert!(summary["pfc_pauses"].as_u64() > Some(0), "{summary}");
    let told = bench.run("tcp.toml", &["monitor.capture_nodes=[2]", "transport.ip=ipv6"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let pcap = std::fs::read(bench.path("out/packets.pcap")).expect("a capture");
    let first = &pcap[24 + 16..];
    assert_eq!((&first[12..15], first[14 + 6]), (&[0x86, 0xdd, 0x60][..], 6));
}

#[test]
fn what_is_rdmas_alone_is_refused_with_a_reason() {
    let bench = Bench::new(&[("tcp.toml", TOML)]);
    let reasons: [(&str, &[&str]); 14] = [
        ("transport.recovery=selective_repeat", &["transport.recovery", "in its own way"]),
        ("transport.ack_priority=0", &["transport.ack_priority", "in its own way"]),
        ("telemetry.packets=rtt", &["telemetry.packets", "probes alone"]),
        ("telemetry.guard=true", &["telemetry.guard", "probes alone"]),
        ("telemetry.layout=timestamp", &["telemetry.layout"]),
        ("wire.profile=rocev2_ipv6", &["wire.profile", "headers of their own"]),
        ("fast_cnp.enabled=true", &["fast_cnp.enabled", "RoCE"]),
        ("congestion_control.algorithm=dcqcn", &["dcqcn does not control flows of TCP", "hpcc_plus"]),
        ("legacy.nodes=[0]", &["legacy.nodes", "expected switches"]),
        ("monitor.trace_nodes=[0]", &["monitor.trace_nodes", "capture_nodes"]),
        ("transport.tcp_buffer=1B", &["transport.tcp_buffer", "from 10KB"]),
        ("transport.protocol=quic", &["unknown protocol \"quic\"", "rdma", "tcp", "udp"]),
        ("transport.tcp_timeout=1ns", &["transport.tcp_timeout"]),
        ("congestion_control.algorithm=ns3::TcpHpccPlus", &["unknown algorithm", "hpcc_plus"]),
    ];
    for (set, words) in reasons {
        refused(&bench, "tcp.toml", &[set], "--set:", words);
    }
    refused(&bench, "tcp.toml", &["compatibility.profile=reference"], "", &["compatibility", "no TCP"]);
    let urgent = "traffic=[{kind=\"flow\",src=0,dst=2,size=1000,priority=4}]";
    refused(&bench, "tcp.toml", &[urgent], "--set:", &["priority is 4", "expected 3"]);
    let rdma = "transport.protocol=rdma";
    refused(&bench, "tcp.toml", &[rdma, "transport.tcp_buffer=1MB"], "--set:", &["belongs to protocol = \"tcp\""]);
}

/// Flows from one host spread over its links by their ports, and move to the other when one fails.
#[test]
fn flows_use_all_links_of_a_host() {
    if !has_tcp() {
        return;
    }
    for (protocol, algorithm) in [("tcp", "hpcc_plus"), ("tcp", "ns3::TcpDctcp"), ("udp", "hpcc_plus")] {
        let bench = Bench::new(&[("tcp.toml", TOML)]);
        bench.edit("tcp.toml", DUMBBELL, TWO_LINKS);
        let (protocol, algorithm) =
            (format!("transport.protocol={protocol}"), format!("congestion_control.algorithm={algorithm}"));
        let told = bench.run("tcp.toml", &[EIGHT, &protocol, &algorithm]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
        let last = flows.iter().map(|flow| flow.fct_ns).max().expect("flows");
        // 8 MB take 2.56 ms at 25 Gb/s, without headers; no link has more than six of the flows.
        assert!((1_280_000..2_400_000).contains(&last), "{protocol} {algorithm}: {last}");
    }
    let bench = Bench::new(&[("tcp.toml", TOML)]);
    bench.edit("tcp.toml", DUMBBELL, TWO_LINKS);
    let told = bench.run("tcp.toml", &[EIGHT, "failures.links=[{time='300us',a=0,b=3}]", "telemetry.layout=int_md"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    assert!(
        (1..=8).contains(&summary["rearmed_feedback"].as_u64().expect("a count")),
        "of the flows that moved: {summary}"
    );
    assert!(summary["resent_packets"].as_u64() > Some(0), "what waited at the port is lost: {summary}");
    let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
    assert!(flows.iter().any(|flow| flow.fct_ns > 2_400_000), "one link is left");
}

#[test]
fn a_sweep_compares_congestion_controls_of_tcp() {
    if !has_tcp() {
        return;
    }
    let sweep = r#"
title = "TCP"
base = "tcp.toml"
[[variant]]
name = "plus"
[[variant]]
name = "reno"
set = ["congestion_control.algorithm=ns3::TcpNewReno"]
"#;
    let bench = Bench::new(&[("tcp.toml", TOML), ("sweep.toml", sweep)]);
    let told = bench.hpcc(&["sweep", "sweep.toml", "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let queue = |variant: &str| {
        let summary = bench.read(&format!("out/{variant}/summary.json"));
        serde_json::from_str::<Value>(&summary).expect("JSON")["queue_p99_bytes"].as_u64().expect("bytes")
    };
    assert!(queue("reno") > 5 * queue("plus"), "{} and {}", queue("reno"), queue("plus"));
}
