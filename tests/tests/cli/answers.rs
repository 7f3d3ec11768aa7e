// SPDX-License-Identifier: GPL-2.0-only
//! What receivers send back in place of all records, as it stands in captured acknowledgements.

use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{Addresses, Dialect, Extension};
use hpcc_core::roce::Opcode;
use hpcc_core::telemetry::{Layout, link_codec};
use hpcc_core::units::BitRate;
use hpcc_model::results::fct_csv;
use hpcc_tests::{Bench, Run};
use std::collections::BTreeMap;
use std::time::Duration;

/// Three hosts send to one over a link of 25 Gb/s, the first that reports.
const TOML: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "dumbbell"
left = 3
right = 1
rate = "100Gbps"
bottleneck_rate = "25Gbps"
delay = "1us"
[wire]
profile = "rocev2_ipv6"
[[traffic]]
kind = "incast"
receiver = 3
sender_count = 3
size = "500KB"
[monitor]
capture_nodes = [3]
"#;

/// An acknowledgement: when it leaves the receiver, and its payload.
type Answer = (Duration, Vec<u8>);

/// The acknowledgements of each sender, in the run that these lines make of the scenario.
fn answers(lines: &str) -> BTreeMap<[u8; 16], Vec<Answer>> {
    let run = Run::of(&format!("{TOML}{lines}"), &[]);
    let mut answers = BTreeMap::<_, Vec<Answer>>::new();
    for (time, bytes) in run.frames() {
        let Content::Roce(packet) = parse(&bytes, &Dialect::default()).expect("RoCEv2").content else { continue };
        let Addresses::V6 { dst, .. } = packet.frame.addresses else { panic!("IPv4") };
        if packet.frame.bth.opcode == Opcode::ACKNOWLEDGE {
            assert!(matches!(packet.frame.extension, Extension::Aeth(_)));
            answers.entry(dst).or_default().push((time, packet.frame.payload.to_vec()));
        }
    }
    assert_eq!(answers.len(), 3, "three senders");
    answers
}

#[test]
fn req_17_the_response_on_the_wire_is_the_most_loaded_links_record() {
    let all = answers(
        "[congestion_control]\nalgorithm = \"hpcc_plus\"\n[telemetry]\nlayout = \"ioam\"\ncontent = \"busiest_link\"\n",
    );
    let modulus = Layout::named("ioam").expect("known").modulus().expect("records");
    for (_, payload) in all.values().flatten().filter(|(_, payload)| !payload.is_empty()) {
        let record = link_codec::read(payload, modulus).expect("one record");
        assert_eq!((record.place, record.hop.rate), (0, BitRate::gbps(25)), "the switch's link to the receiver");
    }
    let records = all.values().flatten().filter(|(_, payload)| !payload.is_empty()).count();
    assert!(records > 100, "{records} records");
}

#[test]
fn req_04_req_19_a_receivers_window_goes_back_once_in_t() {
    let t = Duration::from_micros(8);
    let all = answers(
        "[congestion_control]\nalgorithm = \"rx_hpcc\"\n[telemetry]\nlayout = \"ioam\"\n[transport]\nbase_rtt = \"8us\"\n",
    );
    for answers in all.values() {
        let windows: Vec<_> = answers.iter().filter(|(_, payload)| !payload.is_empty()).collect();
        assert!(windows.len() > 20, "{} windows", windows.len());
        assert!(answers.len() > 2 * windows.len(), "most acknowledgements bring none");
        for pair in windows.windows(2) {
            assert!(pair[1].0 - pair[0].0 > t, "{:?} after {:?}", pair[1].0, pair[0].0);
        }
        let bytes = |payload: &[u8]| u32::from_be_bytes(payload.try_into().expect("a window of 4 bytes"));
        let middle = bytes(&windows[windows.len() / 2].1);
        assert!(
            (6_000..12_000).contains(&middle),
            "three flows share 25 kB, a quarter of what their ports send: {middle}"
        );
    }
}

/// Four hosts send 1 MB each to one, at the same moment, 40 us of round trip away: the queue is three windows long before
/// anybody hears of it. A receiver that takes each T of it for a load of its own lets the flows fall far below what the link
/// has for them: 5.5 times as long as a flow alone takes, where four that share it take 4, or less where latency counts.
#[test]
fn req_04_a_queue_counts_once_in_what_the_receiver_computes() {
    const INCAST: &str = "[run]\nstop = \"4ms\"\n[topology]\nkind = \"star\"\nhosts = 5\nrate = \"100Gbps\"\n\
        delay = \"10us\"\n[wire]\nprofile = \"rocev2_ipv6\"\n[congestion_control]\nalgorithm = \"rx_hpcc\"\n[telemetry]\n\
        layout = \"int_md\"\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsender_count = 4\nsize = \"1MB\"\n";
    let slowest = |rounds: &str| {
        Run::of(INCAST, &[&format!("congestion_control.rounds={rounds}")]).slowdowns().into_iter().fold(0.0, f64::max)
    };
    let (seen, clock) = (slowest("seen"), slowest("clock"));
    assert!(seen < 4.2 && clock > 5.0, "{seen} by what it sees, {clock} by the clock");
}

/// Three flows over one link of 100 Gb/s; the second link of each has room. Now and then a burst makes that one the busiest of
/// two packets. A sender that took its record, and the load since the last one of long ago, for all there is to know would
/// double its rate: one flow then had 89 Gb/s and the others 2.5, for good.
#[test]
fn req_17_a_record_of_another_link_does_not_hide_the_bottleneck() {
    let flow = |src, dst, start| {
        format!("[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = {dst}\nsize = \"4TB\"\nstart = \"{start}us\"\n")
    };
    let flows: String = [flow(0, 3, 0), flow(1, 3, 7), flow(2, 4, 11)].concat();
    let three = format!(
        "[run]\nstop = \"5ms\"\n[topology]\nkind = \"dumbbell\"\nleft = 3\nright = 2\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
         [wire]\nprofile = \"rocev2_ipv6\"\n[congestion_control]\nalgorithm = \"hpcc_plus\"\n[telemetry]\nlayout = \"paper\"\n\
         content = \"busiest_link\"\n[transport]\nmtu = 4096\n[monitor]\ngoodput_interval = \"1ms\"\n{flows}"
    );
    for layout in ["paper", "ifa"] {
        let run = Run::ending(&three, &[&format!("telemetry.layout={layout}")], 3);
        let points = run.column("goodput.csv", "time_ns").into_iter().zip(run.column("goodput.csv", "goodput_bps"));
        let last = points.filter(|(time, _)| *time == Some(5e6)).filter_map(|(_, rate)| rate);
        let gbps: Vec<f64> = last.map(|rate| rate / 1e9).collect();
        assert!(gbps.len() == 3 && gbps.iter().all(|rate| (15.0..=60.0).contains(rate)), "{layout}: {gbps:?}");
    }
}

/// Hosts of four racks that choose among four paths, and move; acknowledgements for one packet or many; telemetry in
/// all or few of them. Nobody lies: each rejection is the guard's mistake.
#[test]
fn req_27_the_guard_rejects_nothing_that_is_honest() {
    let permutation = "[[traffic]]\nkind = \"permutation\"\nsize = \"4MB\"\n".repeat(2);
    let toml = format!(
        "[run]\nstop = \"20ms\"\n[topology]\nkind = \"leaf_spine\"\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\n\
         rate = \"100Gbps\"\ndelay = \"3us\"\nfabric_rate = \"100Gbps\"\n[wire]\nprofile = \"rocev2_ipv6\"\n\
         [congestion_control]\nalgorithm = \"hpcc_plus\"\n[telemetry]\nlayout = \"int_md\"\nguard = true\npaths = 4\n\
         path_interval = 1\n{permutation}"
    );
    let mut moves = 0;
    for sets in [
        &["telemetry.sampling=rtt", "transport.ack_every=64KB"][..],
        &["telemetry.sampling=nth", "telemetry.every=64", "transport.ack_every=16KB"],
        &["telemetry.sampling=nth", "telemetry.every=2", "topology.delay=10us"],
        &["telemetry.sampling=nth", "telemetry.every=512", "telemetry.return_path=notification"],
        &["telemetry.sampling=congestion"],
        &["telemetry.sampling=probes", "transport.recovery=selective_repeat"],
        &["telemetry.layout=paper"],
    ] {
        let run = Run::of(&toml, sets);
        assert_eq!(run.count("/rejected_by_guard"), 0, "{sets:?}");
        moves += run.count("/path_moves");
    }
    assert!(moves > 20, "{moves} moves");
}

/// Two hosts with two NICs each, at a switch each: of three flows the hash puts two on one NIC. A flow that looks for paths finds
/// that the other NIC has room.
#[test]
fn req_30_the_other_nic_is_a_path_as_well() {
    let link = |host, switch| format!("{host} {switch} 100Gbps 1us 0\n");
    let network = ["4 2 4\n2 3\n".into(), link(0, 2), link(0, 3), link(1, 2), link(1, 3)].concat();
    let flow = |dport| format!("[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"12MB\"\ndport = {dport}\n");
    let flows: String = [100, 114, 121].map(flow).concat();
    let toml = format!(
        "[run]\nstop = \"20ms\"\n[topology]\nkind = \"file\"\npath = \"net.txt\"\n[wire]\nprofile = \"rocev2_ipv6\"\n\
         [congestion_control]\nalgorithm = \"hpcc_plus\"\n[telemetry]\nlayout = \"int_md\"\n{flows}"
    );
    let slowest = |paths: &str| {
        let bench = Bench::new(&[("nics.toml", &toml), ("net.txt", &network)]);
        let output = bench.run("nics.toml", &[paths]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
        flows.iter().map(|flow| flow.slowdown()).fold(0.0, f64::max)
    };
    let (stays, looks) = (slowest("telemetry.paths=1"), slowest("telemetry.paths=2"));
    assert!(stays > 1.9 && looks < 1.7, "{stays} on its NIC, {looks} where it may change");
}
