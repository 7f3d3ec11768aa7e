// SPDX-License-Identifier: GPL-2.0-only
//! Flows of UDP datagrams at the pace of HPCC++, by files and results.

use hpcc_tests::{Run, has_tcp, refused};

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

/// Until the first answer each flow may send two windows of its port's rate * T. The bottleneck takes a quarter of that.
#[test]
fn datagrams_share_a_link_and_keep_its_queue_short() {
    if !has_tcp() {
        return;
    }
    for (ip, header, kind, protocol) in [("ipv4", 20, [0x08, 0x00, 0x45], 9), ("ipv6", 40, [0x86, 0xdd, 0x60], 6)] {
        let run = Run::of(TOML, &[&format!("transport.ip={ip}"), "monitor.capture_nodes=[2]"]);
        let t = run.count("/base_rtt_ns");
        // Three links of 1 us, two of 100 Gb/s and one of 25: there a datagram, and back 64 bytes at least.
        let wire = |bytes: u64| (2 * bytes * 8 / 100) + bytes * 8 / 25;
        let frames = wire(1_452 + header + 8 + 18) + wire((header + 16 + 18).max(64));
        assert!(t.abs_diff(6_000 + frames) <= 6, "{t} and {frames}");
        let (queue, first_windows) = (run.count("/queue_max_bytes"), 2 * 2 * 100 * t / 8);
        assert!((first_windows / 2..first_windows).contains(&queue), "{queue} of {first_windows}");
        assert!(run.slowdowns().iter().all(|slowdown| (1.7..2.3).contains(slowdown)), "{:?}", run.slowdowns());
        assert_eq!((run.count("/drops"), run.count("/flows_finished")), (0, 2));
        // 4 MB take 1.35 ms at 25 Gb/s; a probe leaves each flow once in T.
        let least = 2 * 1_200_000 / t;
        assert!((least..2 * least).contains(&run.count("/probes")), "{}", run.summary);
        let goodput: f64 = run.column("goodput.csv", "bytes").into_iter().flatten().sum();
        assert!(goodput == 4e6, "what arrives is what counts: {goodput}");
        // Ethernet's type, the IP header's first byte, and where it names UDP.
        let frames = run.frames();
        assert_eq!((&frames[0].1[12..15], frames[0].1[14 + protocol]), (&kind[..], 17), "{ip}");
        assert!(frames.iter().filter(|(_, frame)| frame.len() > 1_452).count() >= 2 * 2_000_000 / 1_452);
    }
}

/// The time ends when the last byte arrives: nothing comes back.
#[test]
fn a_flow_alone_takes_its_ideal_time() {
    if !has_tcp() {
        return;
    }
    for (size, ip) in [("1452B", "ipv4"), ("1452B", "ipv6"), ("20KB", "ipv4"), ("20KB", "ipv6")] {
        let alone = format!("traffic=[{{kind='flow',src=0,dst=2,size='{size}'}}]");
        let flow = Run::of(TOML, &[&alone, &format!("transport.ip={ip}")]).flows()[0];
        assert!((1.0..1.01).contains(&flow.slowdown()), "{size} over {ip}: {}", flow.slowdown());
        assert!(size != "1452B" || flow.ideal_ns < 4_000, "one way: {:?}", flow.ideal_ns);
    }
}

/// Lost datagrams are not repeated: the flow goes on, and does not finish. Each of 689 datagrams must survive three
/// links.
#[test]
fn a_flow_that_loses_datagrams_is_unfinished() {
    if !has_tcp() {
        return;
    }
    let run = Run::ending(TOML, &["traffic=[{kind='flow',src=0,dst=2,size='1MB'}]", "topology.loss=0.01"], 3);
    assert!((940_000..990_000).contains(&run.acked()[0]), "{:?}", run.acked());
    assert_eq!(run.count("/resent_packets"), 0);
}

#[test]
fn what_datagrams_do_not_have_is_refused_with_a_reason() {
    refused(
        TOML,
        &[
            (&["transport.recovery=selective_repeat"], "nothing acknowledges"),
            (&["transport.tcp_buffer=1MB"], "belongs to protocol = \"tcp\""),
            (&["telemetry.layout=none"], "telemetry.layout"),
            (&["transport.ip=ipx"], "did you mean ipv6"),
            (&["transport.protocol=rdma", "transport.ip=ipv6"], "belongs to protocol = \"tcp\" or \"udp\""),
        ],
    );
}
