// SPDX-License-Identifier: GPL-2.0-only
//! A switch that hides from another domain what its telemetry tells (draft-miao-rtgwg-hpccplus-00, section 9.1; REQ-64).

use hpcc_core::frame::Dialect;
use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::roce::Opcode;
use hpcc_core::telemetry::{HopStack, Layout, Telemetry};
use hpcc_tests::{Run, refused};
use std::collections::BTreeSet;

/// Hosts 0 and 1 send to hosts 2 and 3, over a link of 25 Gb/s between switches 4 and 5. What a sender and a receiver get is
/// captured.
const TOML: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "dumbbell"
left = 2
right = 2
rate = "100Gbps"
delay = "1us"
bottleneck_rate = "25Gbps"
[wire]
profile = "rocev2_ipv6"
[congestion_control]
algorithm = "hpcc_plus"
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = "1MB"
[[traffic]]
kind = "flow"
src = 1
dst = 3
size = "1MB"
[monitor]
queue_interval = "1us"
capture_nodes = [0, 2]
"#;

/// Figures of a run.
#[derive(Debug)]
struct Shown {
    /// The link rates, in Gb/s, that records of data tell host 2, by their places on the path.
    there: [BTreeSet<u64>; 2],
    /// The link rates that acknowledgements bring host 0.
    back: [BTreeSet<u64>; 2],
    /// The 99th percentile of the busiest queue in bytes.
    queue: u64,
    /// The time of the slowest flow in nanoseconds.
    time: u64,
}

impl Shown {
    /// Whether the flows were controlled as in another run, up to the layout's rounding.
    fn is_like(&self, other: &Shown) -> bool {
        let near = |a: u64, b: u64| a.abs_diff(b) < b / 25;
        near(self.queue, other.queue) && near(self.time, other.time)
    }
}

fn run(layout: &str, set: &[&str]) -> Shown {
    let run = Run::of(TOML, &[&[format!("telemetry.layout={layout}").as_str()], set].concat());
    let [there, back] = rates(&Layout::named(layout).expect("known"), &run);
    Shown { there, back, queue: run.count("/queue_p99_bytes"), time: run.slowest() }
}

/// The rates in what host 2 gets as data, and host 0 as acknowledgements: both have passed two switches by then.
fn rates(layout: &Layout, run: &Run) -> [[BTreeSet<u64>; 2]; 2] {
    let mut rates = [[const { BTreeSet::new() }; 2], [const { BTreeSet::new() }; 2]];
    let mut stack = HopStack::default();
    for (_, bytes) in run.frames() {
        let Content::Roce(packet) = parse(&bytes, &Dialect::default()).expect("RoCEv2").content else { continue };
        let frame = &packet.frame;
        if frame.hop_limit != 62 {
            continue;
        }
        let is_answer = frame.bth.opcode == Opcode::ACKNOWLEDGE;
        let section = frame.telemetry.map(|section| [section.before_udp(), section.behind_udp()].concat());
        let bytes = if is_answer { frame.payload.to_vec() } else { section.unwrap_or_default() };
        let Telemetry::Hops(stack) = layout.read(&bytes, &mut stack) else { continue };
        for (known, hop) in rates[usize::from(is_answer)].iter_mut().zip(stack.hops()) {
            known.insert(hop.rate.0 / 1_000_000_000);
        }
    }
    rates
}

/// The rates that are told, as sets.
fn told(rates: [u64; 2]) -> [BTreeSet<u64>; 2] {
    rates.map(|rate| BTreeSet::from([rate]))
}

/// Switch 4 hides its 25 Gb/s from switch 5; then switch 5, in whose domain the receivers are, hides all that acknowledgements
/// bring back to switch 4; then each hides from the other. The senders' windows are those that they compute from the records themselves.
#[test]
fn req_64_a_border_switch_tells_ratios_only() {
    for layout in ["paper", "int_md", "ifa", "ioam", "ioam_slim"] {
        let open = run(layout, &[]);
        assert_eq!((&open.there, &open.back), (&told([25, 100]), &told([25, 100])), "{layout:?}");
        let there = run(layout, &["switch.telemetry_hidden_from=[5]"]);
        assert_eq!((&there.there, &there.back), (&told([800, 100]), &told([800, 100])), "{layout:?}");
        let back = run(layout, &["switch.telemetry_hidden_from=[4]"]);
        assert_eq!((&back.there, &back.back), (&told([25, 100]), &told([800, 800])), "{layout:?}");
        let both = run(layout, &["switch.telemetry_hidden_from='0-1,4; 2-3,5'"]);
        assert_eq!((&both.there, &both.back), (&told([800, 100]), &told([800, 800])), "{layout:?}");
        for hidden in [there, back, both] {
            assert!(hidden.is_like(&open), "{layout:?}: {open:?}, {hidden:?}");
        }
    }
}

/// Whatever comes back, and in what: the flows are controlled by it as without a border.
#[test]
fn req_64_every_answer_passes_a_border() {
    let hidden = "switch.telemetry_hidden_from=[4]";
    for ways in [
        &["telemetry.content=busiest_link"][..],
        &["telemetry.content=loads"],
        &["telemetry.sampling=probes"],
        &["telemetry.return_path=notification"],
        &["transport.ack_every=4KB", "telemetry.records_per_ack=4"],
        &["congestion_control.algorithm=rx_hpcc"],
        &["congestion_control.algorithm=hpcc"],
    ] {
        let (open, closed) = (run("int_md", ways), run("int_md", &[ways, &[hidden]].concat()));
        assert!(closed.is_like(&open), "{ways:?}: {open:?}, {closed:?}");
    }
}

#[test]
fn what_would_not_be_hidden_is_refused() {
    let hides = "switch.telemetry_hidden_from=[5]";
    let timely = "congestion_control.algorithm=timely";
    refused(
        TOML,
        &[
            (&[hides, "telemetry.seal=000102030405060708090a0b0c0d0e0f"], "telemetry.seal: a switch has no key"),
            (&[hides, "telemetry.guard=true"], "telemetry.guard: the guard compares what links sent"),
            (&[hides, "telemetry={layout='ioam'}", "fast_cnp.enabled=true"], "notifications copy IOAM's records"),
            (&[hides, timely, "telemetry={layout='timestamp'}"], "layout = \"timestamp\" has no records; expected"),
            (&[hides, "legacy.nodes=[4]"], "switch.telemetry_hidden_from: switch 4 knows nothing of telemetry"),
            (&["switch.telemetry_hidden_from=[9]"], "switch.telemetry_hidden_from: there is no node 9"),
            (&["switch.telemetry_hidden_from=all"], "switch.telemetry_hidden_from: no switch is next to all"),
        ],
    );
}
