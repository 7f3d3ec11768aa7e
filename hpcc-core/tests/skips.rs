// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time that is left out: whatever a caller sees is as if it had been run.

use hpcc_core::cc::{self, FlowLimits};
use hpcc_core::engine::{
    Completion, Engine, FlowOptions, FlowRequest, LinkFailure, Order, Skipped, Stop, Streams, Totals,
};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::transport::Counters;
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;
use std::sync::Arc;

const HOSTS: u32 = 5;
const SWITCH: u32 = HOSTS;
const END: Nanos = Nanos(2_000_000);
/// Between two samples of the switch's queues.
const SAMPLE: u64 = 700;

/// What a caller sees of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    completed: Vec<Completion>,
    /// The switch's queues at each sample, and the time of samples that are repeated.
    queues: Vec<(Nanos, Vec<u32>)>,
    events: u64,
    totals: Totals,
    hosts: Vec<Counters>,
    sent: Vec<u64>,
}

fn flow(id: u32, src: u32, dst: u32, size: u64, start: u64) -> FlowRequest {
    let (options, start) = (FlowOptions::NONE, Nanos(start));
    FlowRequest { options, id, src, dst, dport: 200, priority: 3, size, start }
}

/// Hosts on a switch, under a congestion control.
fn engine(algorithm: &str, flows: &[FlowRequest]) -> Engine {
    let mut nodes = vec![NodeKind::Host; HOSTS as usize];
    nodes.push(NodeKind::Switch);
    let link = |host| Link { a: host, b: SWITCH, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
    let network = Network { nodes, links: (0..HOSTS).map(link).collect() };
    let mut settings = NodeSettings::default();
    settings.set("congestion_control", None, "algorithm", Input::Text(algorithm)).expect("an algorithm");
    settings.resolve(&network);
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine = Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[])
        .expect("the defaults go together");
    engine.add_flows(flows.iter().copied());
    engine
}

/// Runs to the end, with samples.
fn seen(engine: &mut Engine) -> Seen {
    let mut queues = Vec::new();
    let mut at = Nanos(SAMPLE);
    let place = engine.reserve_sample();
    engine.sample_at(at, place);
    while engine.run_until(END) == Stop::Sample {
        assert_eq!(engine.now(), at);
        let sampled = engine.sampled_queues(SWITCH).to_vec();
        assert_eq!(
            engine.sampled_switches().contains(&SWITCH),
            queues.last().map_or(sampled.iter().any(|&bytes| bytes > 0), |(_, last)| *last != sampled),
            "told where they differ from the last, at {at}"
        );
        queues.push((at, sampled));
        at += Nanos(SAMPLE);
        let place = engine.reserve_sample();
        engine.sample_at(at, place);
    }
    Seen {
        completed: engine.take_completed(),
        queues,
        events: engine.events_run(),
        totals: engine.totals(),
        hosts: engine.host_counters().collect(),
        sent: (0..=SWITCH).map(|node| engine.sent(node, 0)).collect(),
    }
}

/// What was left out of a run of which all else is the same without that.
fn skipped(algorithm: &str, flows: &[FlowRequest], prepare: impl Fn(&mut Engine)) -> Skipped {
    let [whole, (short, skipped)] = [false, true].map(|skips| {
        let mut engine = engine(algorithm, flows);
        prepare(&mut engine);
        if skips {
            engine.skip_periods(END, true);
        }
        (seen(&mut engine), engine.skipped())
    });
    assert_eq!(short, whole.0, "{algorithm}");
    assert_eq!(whole.1, Skipped::default());
    skipped
}

fn nothing(_: &mut Engine) {}

/// Each sends to the next, 3 MB: 250 us at 100 Gb/s.
fn ring() -> Vec<FlowRequest> {
    (0..HOSTS).map(|host| flow(host, host, (host + 1) % HOSTS, 3_000_000, 0)).collect()
}

#[test]
fn a_ring_is_left_out_for_the_most_part() {
    for algorithm in ["none", "swift", "dcqcn"] {
        let skipped = skipped(algorithm, &ring(), nothing);
        assert!(skipped.time > Nanos(200_000), "{algorithm}: {skipped:?}");
    }
}

/// The queue of the receiver's port changes with each packet, and samples of time that is left out find it.
#[test]
fn queues_of_an_incast_are_sampled_in_time_that_is_left_out() {
    let incast: Vec<FlowRequest> = (1..HOSTS).map(|src| flow(src, src, 0, 2_000_000 + u64::from(src), 0)).collect();
    let skipped = skipped("none", &incast, nothing);
    assert!(skipped.time > Nanos(400_000), "{skipped:?}");
}

/// A flow that begins in the middle, one that ends there, and a link that fails.
#[test]
fn what_is_no_part_of_a_period_happens_in_its_time() {
    let mut flows = ring();
    flows.push(flow(7, 2, 4, 200_000, 101_234));
    let skipped_of_two = skipped("none", &flows, nothing);
    assert!(skipped_of_two.leaps > 1, "{skipped_of_two:?}");
    let fails = |engine: &mut Engine| {
        let (time, until) = (Nanos(90_007), Some(Nanos(120_000)));
        let (detection, convergence) = (Nanos(0), Nanos(0));
        let failure = LinkFailure { time, until, links: vec![3], detection, convergence, reboots: None };
        engine.fail_links(&failure, END);
    };
    let skipped = skipped("none", &ring(), fails);
    assert!(skipped.leaps > 0, "{skipped:?}");
}

/// Telemetry never repeats itself, and marks draw random numbers.
#[test]
fn what_does_not_recur_is_run() {
    let hpcc = skipped("hpcc", &ring(), nothing);
    assert!(hpcc.leaps == 0 && hpcc.refusal.is_some(), "{hpcc:?}");
    let incast: Vec<FlowRequest> = (1..HOSTS).map(|src| flow(src, src, 0, 1_000_000, 0)).collect();
    skipped("dcqcn", &incast, nothing);
}

/// Every algorithm has been thought of: those whose state comes back in steady traffic say so.
#[test]
fn controllers_say_whether_they_recur() {
    let limits = Arc::new(FlowLimits::of(BitRate::gbps(100), Nanos(13_000), 162_500));
    let recur = |algorithm: &dyn cc::Algorithm| algorithm.start(Arc::clone(&limits)).recurring().is_some();
    let all = cc::all();
    let recurring: Vec<&str> =
        all.iter().filter(|algorithm| recur(&***algorithm)).map(|algorithm| algorithm.name()).collect();
    assert_eq!(recurring, ["dcqcn", "swift", "none"]);
    let others = [
        "hpcc",
        "hpcc_plus",
        "rx_hpcc",
        "hpcc_pint",
        "timely",
        "dctcp",
        "power_tcp",
        "theta_power_tcp",
        "strack",
        "bolt",
    ];
    assert_eq!(recurring.len() + others.len(), all.len());
}
