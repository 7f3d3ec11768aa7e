// SPDX-License-Identifier: GPL-2.0-only
//! Hosts whose transport is ns-3's TCP, by files and results.

use hpcc_tests::{Bench, Run, has_tcp, refused};
use std::collections::HashSet;

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

fn run(set: &[&str]) -> Run {
    Run::of(TOML, set)
}

#[test]
fn hpcc_plus_keeps_the_queue_short_that_other_controls_of_tcp_fill() {
    if !has_tcp() {
        return;
    }
    let (reno, dctcp) = ("congestion_control.algorithm=ns3::TcpNewReno", "congestion_control.algorithm=ns3::TcpDctcp");
    for (set, least, most) in [
        // The bottleneck takes a quarter of what comes in at first.
        (&[][..], FIRST_WINDOWS / 2, FIRST_WINDOWS * 11 / 10),
        (&["transport.ip=ipv6"], FIRST_WINDOWS / 2, FIRST_WINDOWS * 11 / 10),
        // Switches mark from 100 kB on at 25 Gb/s, and NewReno does not ask them to.
        (&[dctcp], 100_000, 400_000),
        (&[dctcp, "transport.ip=ipv6"], 100_000, 400_000),
        (&[reno], 1_500_000, 4_000_000),
        (&[reno, "transport.tcp_buffer=300KB"], 400_000, 650_000),
    ] {
        let run = run(set);
        let queue = run.count("/queue_max_bytes");
        assert!((least..most).contains(&queue), "{set:?}: {queue}");
        assert_eq!((run.count("/flows_finished"), run.count("/drops"), run.count("/resent_packets")), (2, 0, 0));
        // Two flows share the link; each takes what it takes alone and as long again.
        assert!(run.slowdowns().iter().all(|slowdown| (1.5..2.3).contains(slowdown)), "{:?}", run.slowdowns());
        let by_probes = !set.iter().any(|set| set.contains("ns3::"));
        assert_eq!((run.count("/probes") > 300, run.count("/telemetry_bytes") > 0), (by_probes, by_probes), "{set:?}");
    }
}

/// REQ-13, REQ-14: a probe leaves once in T, and T is what the file says, or the path's. Over IPv6 that has 20 bytes more each way,
/// on two links of 100 Gb/s and one of 25.
#[test]
fn probes_leave_once_in_t() {
    if !has_tcp() {
        return;
    }
    for (set, t) in
        [(&[][..], 6_762), (&["transport.base_rtt=27us"], 27_000), (&["transport.ip=ipv6"], 6_762 + 2 * 20 * 48 / 100)]
    {
        let run = run(set);
        // The sum of its parts is rounded up once.
        assert!((t..t + 2).contains(&run.count("/base_rtt_ns")), "{} ns, {t}", run.count("/base_rtt_ns"));
        // 4 MB take 1.35 ms at 25 Gb/s; the headroom and the first round trips take their time.
        let least = 2 * 1_200_000 / t;
        assert!(
            (least..2 * least).contains(&run.count("/probes")),
            "{} probes, {least} at least",
            run.count("/probes")
        );
    }
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    if !has_tcp() {
        return;
    }
    for ip in ["ipv4", "ipv6"] {
        for size in ["1B", "1448B", "50KB"] {
            let alone = format!("traffic=[{{kind='flow',src=0,dst=2,size='{size}'}}]");
            let slowdown = run(&[&alone, &format!("transport.ip={ip}")]).slowdowns()[0];
            assert!((1.0..1.01).contains(&slowdown), "{size} over {ip}: {slowdown}");
        }
    }
}

#[test]
fn attributes_of_ns3s_classes_are_parameters() {
    if !has_tcp() {
        return;
    }
    let dctcp = "congestion_control.algorithm=ns3::TcpDctcp";
    let queue =
        |shift: &str| run(&[dctcp, &format!("congestion_control.DctcpShiftG={shift}")]).count("/queue_p99_bytes");
    // A sender that forgets marks at once, and one that never forgets the first guess, all marked.
    assert!(queue("1") > queue("0"));
    let bench = Bench::new(&[("tcp.toml", TOML)]);
    for (set, words) in [
        ("congestion_control.DctcpShiftG=2", "no value"),
        ("congestion_control.eta=0.9", "unknown key eta"),
        ("transport.protocol=udp", "datagrams; expected hpcc_plus"),
    ] {
        let output = bench.run("tcp.toml", &[dctcp, set]);
        assert!(output.code == Some(2) && output.err.contains(words), "{}", output.err);
    }
}

/// A host fills its own port, and its drops are told from the switches'.
#[test]
fn what_hosts_drop_themselves_is_counted() {
    if !has_tcp() {
        return;
    }
    let reno = "congestion_control.algorithm=ns3::TcpNewReno";
    let port = ["topology.rate=25Gbps", "traffic.0.sender_count=1", "traffic.0.size=20MB", reno];
    let full = run(&port);
    assert!(full.count("/host_drops") > 0 && full.count("/host_drops") == full.count("/drops"));
    let bench = Bench::new(&[("tcp.toml", TOML)]);
    let told = bench.run("tcp.toml", &port);
    let words = format!("({} by their own hosts)", full.count("/host_drops"));
    assert!(told.code == Some(0) && told.out.contains(&words), "{}", told.out);
    assert!(!run(&[reno]).summary.to_string().contains("host_drops"), "none");
}

#[test]
fn tcp_repairs_what_lossy_switches_drop_and_ends_where_a_link_fails() {
    if !has_tcp() {
        return;
    }
    let set = ["congestion_control.algorithm=ns3::TcpNewReno", "switch.mode=lossy", "switch.buffer=500KB"];
    let lossy = run(&set);
    assert!(lossy.count("/drops") > 50, "{}", lossy.count("/drops"));
    assert_eq!((lossy.count("/resent_packets"), lossy.count("/pfc_pauses")), (lossy.count("/drops"), 0));
    let cut = Run::ending(TOML, &["failures.links=[{time='200us',a=0,b=3}]"], 3);
    assert!(cut.bench.read("out/unfinished.csv").lines().any(|line| line.starts_with("0,0,2,49153,")));
}

#[test]
fn captures_show_tcp() {
    if !has_tcp() {
        return;
    }
    // Ethernet's type, the IP header's first byte, and where it names TCP.
    for (ip, kind, protocol) in [("ipv4", [0x08, 0x00, 0x45], 9), ("ipv6", [0x86, 0xdd, 0x60], 6)] {
        let frames = run(&["monitor.capture_nodes=[2]", &format!("transport.ip={ip}")]).frames();
        let first = &frames[0].1;
        assert_eq!((&first[12..15], first[14 + protocol]), (&kind[..], 6), "{ip}");
        let full = frames.iter().filter(|(_, frame)| frame.len() > 1_448).count();
        assert!(full >= 2 * 2_000_000 / 1_448, "{full}");
    }
    // Pauses have no bytes, and are left out.
    assert!(run(&["monitor.capture_nodes=[3]", "switch.pause_threshold=1"]).count("/pfc_pauses") > 0);
}

#[test]
fn what_is_rdmas_alone_is_refused_with_a_reason() {
    refused(
        TOML,
        &[
            (&["transport.recovery=selective_repeat"], "in its own way"),
            (&["telemetry.sampling=rtt"], "probes alone"),
            (&["telemetry.layout=timestamp"], "telemetry.layout"),
            (&["wire.profile=rocev2_ipv6"], "headers of their own"),
            (&["fast_cnp.enabled=true"], "RoCE"),
            (&["congestion_control.algorithm=dcqcn"], "dcqcn does not control flows of TCP"),
            (&["congestion_control.algorithm=ns3::TcpHpccPlus"], "unknown algorithm"),
            (&["legacy.nodes=[0]"], "expected switches"),
            (&["traffic.0.rate=1Gbps"], "no nic, rate or stop of its own"),
            (&["monitor.trace_nodes=[0]"], "capture_nodes"),
            (&["transport.tcp_buffer=1B"], "from 10KB"),
            (&["transport.protocol=quic"], "unknown protocol \"quic\""),
            (&["compatibility.profile=reference"], "no TCP"),
            (&["traffic=[{kind='flow',src=0,dst=2,size=1000,priority=4}]"], "priority is 4"),
            (&["transport.protocol=rdma", "transport.tcp_buffer=1MB"], "belongs to protocol = \"tcp\""),
        ],
    );
}

/// Hosts of both kinds on one switch, each sending to another of its kind.
const BESIDE: &str = r#"
run.stop = "20ms"
topology = { kind = "star", hosts = 6, rate = "25Gbps", delay = "1us" }
congestion_control = { algorithm = "hpcc" }
legacy = { nodes = "3-5", algorithm = "ns3::TcpDctcp" }
traffic = [
    { kind = "incast", receiver = 2, senders = [0, 1], size = "1MB" },
    { kind = "incast", receiver = 5, senders = [3, 4], size = "1MB" },
]
"#;

#[test]
fn hosts_with_tcp_are_beside_hosts_with_rdma() {
    if !has_tcp() {
        return;
    }
    let times = |run: &Run, kind: u32| -> Vec<u64> {
        run.flows().iter().filter(|flow| flow.src / 3 == kind).map(|flow| flow.fct_ns).collect()
    };
    let both = Run::of(BESIDE, &["monitor.goodput_interval=100us", "monitor.control_interval=100us"]);
    let rdma = Run::of(BESIDE, &["traffic.1.size=1B"]);
    let tcp = Run::of(BESIDE, &["traffic.0.size=1B"]);
    assert_eq!(times(&both, 0), times(&rdma, 0), "nobody is in their way");
    assert_eq!(times(&both, 1), times(&tcp, 1), "nobody is in their way");
    assert_eq!(both.column("control.csv", "flow").iter().filter(|flow| flow.expect("a number") > 1.5).count(), 0);
    let all = |name: &str| both.column(name, "flow").iter().flatten().map(|&flow| flow as u64).collect::<HashSet<_>>();
    assert_eq!(all("goodput.csv").len(), 4);

    // One link for all: TCP fills the queue, and RDMA waits.
    let shared = r#"topology={kind="dumbbell",left=4,right=2,rate="25Gbps",delay="1us"}"#;
    let flows = r#"traffic=[{kind="flow",src=0,dst=4,size="1MB"},{kind="flow",src=1,dst=5,size="4MB"}]"#;
    let together = Run::of(BESIDE, &[shared, flows, "legacy.nodes=[1,5]"]);
    assert!(together.flows()[0].slowdown() > 1.5, "{}", together.flows()[0].slowdown());
    let bench = Bench::new(&[("beside.toml", BESIDE)]);
    for (set, why) in [
        ("traffic.0.receiver=3", "host 0 sends by RDMA to host 3, which has TCP"),
        ("legacy.algorithm=ns3::Dctcp", "unknown algorithm"),
        ("monitor.trace_nodes=[0]", "capture_nodes"),
        ("traffic=[{kind='collective',operation='all_reduce',size=1000,ranks='3-5'}]", "messages of jobs go by RDMA"),
    ] {
        let output = bench.simulate("beside.toml", &[set.into()], "60");
        assert!(output.code == Some(2) && output.err.contains(why), "{set}: {}", output.err);
    }
}

/// Flows from one host spread over its links by their ports, and move to the other when one fails.
#[test]
fn flows_use_all_links_of_a_host() {
    if !has_tcp() {
        return;
    }
    let toml = TOML.replace(DUMBBELL, TWO_LINKS);
    for (protocol, algorithm) in [("tcp", "hpcc_plus"), ("tcp", "ns3::TcpDctcp"), ("udp", "hpcc_plus")] {
        let (protocol, algorithm) =
            (format!("transport.protocol={protocol}"), format!("congestion_control.algorithm={algorithm}"));
        let last = Run::of(&toml, &[EIGHT, &protocol, &algorithm]).slowest();
        // 8 MB take 2.56 ms at 25 Gb/s, without headers; no link has more than six of the flows.
        assert!((1_280_000..2_400_000).contains(&last), "{protocol} {algorithm}: {last}");
    }
    let moved = Run::of(&toml, &[EIGHT, "failures.links=[{time='300us',a=0,b=3}]", "telemetry.layout=int_md"]);
    assert!((1..=8).contains(&moved.count("/baseline_resets")), "of the flows that moved: {}", moved.summary);
    assert!(moved.count("/resent_packets") > 0 && moved.slowest() > 2_400_000, "what waited is lost; one link is left");
}
