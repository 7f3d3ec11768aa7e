// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bitmaps in acknowledgements, in a network that loses packets and sprays them.

use hpcc_core::engine::{Engine, FlowOptions, FlowRequest, Order, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::transport::Recovery;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::collective::{Collective, Kind, Plan, find};
use hpcc_core::workload::{Job, Jobs, Program};
use std::rc::Rc;

const HOSTS: u32 = 8;

/// Two leaves with four hosts each, and four spines.
fn network(loss: f64) -> Network {
    let nodes = (0..HOSTS + 6).map(|node| if node < HOSTS { NodeKind::Host } else { NodeKind::Switch });
    let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(500), loss };
    let hosts = (0..HOSTS).map(|host| link(host, HOSTS + host / 4));
    let spines = (0..8).map(|n| link(HOSTS + n % 2, HOSTS + 2 + n / 2));
    Network { nodes: nodes.collect(), links: hosts.chain(spines).collect() }
}

fn engine(loss: f64, sets: &[(&str, &str, &str)], recovery: Option<Recovery>, seed: u32) -> Engine {
    let network = network(loss);
    let mut settings = NodeSettings::default();
    for &(section, key, text) in sets {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.transport.recovery = recovery.unwrap_or(settings.transport.recovery);
    settings.resolve(&network);
    settings.check(&network).expect("they go together");
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed };
    Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings")
}

struct Outcome {
    losses: u64,
    resent: u64,
    timeouts: u64,
    end: Nanos,
}

/// Each host of the first leaf sends 20,000 packets to one of the second.
fn run(loss: f64, sets: &[(&str, &str, &str)]) -> Outcome {
    let mut engine = engine(loss, sets, None, 1);
    engine.add_flows((0..4).map(|src| FlowRequest {
        id: src,
        src,
        dst: src + 4,
        dport: 200,
        priority: 3,
        size: 20_000_000,
        start: Nanos(0),
        options: FlowOptions::NONE,
    }));
    engine.run_until(Nanos::SECOND);
    let completed = engine.take_completed();
    assert_eq!(completed.len(), 4, "{sets:?}");
    let counters: Vec<_> = engine.host_counters().collect();
    assert_eq!(counters.iter().map(|host| host.refused.unsent).sum::<u64>(), 0);
    Outcome {
        losses: engine.totals().losses,
        resent: counters.iter().map(|host| host.resent).sum(),
        timeouts: counters.iter().map(|host| host.timeouts).sum(),
        end: completed.iter().map(|flow| flow.duration).max().unwrap_or_default(),
    }
}

const SACK: (&str, &str, &str) = ("transport", "recovery", "sack");
const SELECTIVE: (&str, &str, &str) = ("transport", "recovery", "selective_repeat");
const SPRAY: (&str, &str, &str) = ("load_balancing", "scheme", "oblivious");
const TOLERANT: (&str, &str, &str) = ("transport", "reorder_window", "16");

/// With all defaults: of the losses on four links each way, those of acknowledgements cost nothing.
#[test]
fn losses_cost_their_packets() {
    for layout in ["auto", "reference", "int_md"] {
        let run = run(0.001, &[SACK, ("telemetry", "layout", layout)]);
        assert!(
            run.losses > 500 && run.resent > run.losses / 3 && run.resent <= run.losses,
            "{layout}: {} {}",
            run.resent,
            run.losses
        );
        assert!(run.timeouts <= 8, "ends of flows alone: {}", run.timeouts);
    }
}

/// Packets of a flow overtake each other, and some are lost twice: selective repeat waits for its timeouts.
#[test]
fn with_spraying_what_is_lost_twice_needs_no_timeout() {
    let [sack, selective] = [SACK, SELECTIVE].map(|recovery| run(0.01, &[recovery, SPRAY, TOLERANT]));
    assert!(sack.timeouts <= 12 && sack.timeouts < selective.timeouts / 2, "{} {}", sack.timeouts, selective.timeouts);
    assert!(sack.end < selective.end, "{} {}", sack.end, selective.end);
    let plain = run(0.0, &[SACK, SPRAY, TOLERANT]);
    assert_eq!((plain.resent, plain.timeouts), (0, 0));
}

/// Many short messages on one queue pair, each of which a rank passes on: one that is whole does not wait for another's lost
/// packet.
#[test]
fn messages_are_delivered_in_any_order() {
    let end = |recovery, seed| {
        let mut engine = engine(0.005, &[("transport", "queue_pairs", "per_pair")], Some(recovery), seed);
        let plan = Plan {
            pattern: find(Kind::AllReduce, Some("ring")).expect("an algorithm"),
            group: (0..HOSTS).collect(),
            layout: None,
            size: 400_000,
            channels: 1,
            first_channel: 0,
            chunk: 2_000,
            depth: 50,
            window: 50,
            iterations: 1,
            gap: Nanos(0),
            number: 0,
            hardware: Default::default(),
            parts: None,
            wire: (1, 1),
        };
        let rank = |host| (host, Box::new(Collective::new(plan.clone(), host)) as Box<dyn Program>);
        let mut jobs = Jobs::new(1_000, None);
        let ranks = (0..HOSTS).map(rank).collect();
        jobs.add(Job { start: Nanos(0), ranks, send_latency: Nanos(0), priority: 3, dport: 200, ..Job::default() });
        engine.add_jobs(jobs);
        engine.run_until(Nanos::SECOND);
        assert_eq!(engine.unfinished_ranks().next(), None, "{recovery:?}");
        (engine.take_notes().iter().map(|note| note.at.0).sum::<u64>(), engine.take_completed().len())
    };
    let late = Recovery { delivers_early: false, ..Recovery::Sack };
    for seed in 1..=4 {
        let (early, in_order) = (end(Recovery::Sack, seed), end(late, seed));
        assert_eq!(early.1, in_order.1);
        // 1.8 to 2.2 ms, and 2.7 to 2.9 ms.
        assert!(early.0 < in_order.0, "{early:?} {in_order:?}");
    }
}
