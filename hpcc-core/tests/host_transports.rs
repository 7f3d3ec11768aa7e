// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transports of hosts in networks.

use hpcc_core::engine::{Completion, Engine, FlowOptions, FlowRequest, Order, Streams};
use hpcc_core::host_transport;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::transport::Counters;
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;

fn settings(network: &Network, sets: &[(&str, &str, &str)]) -> Rc<NodeSettings> {
    let mut settings = NodeSettings::default();
    for &(section, key, text) in sets {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.resolve(network);
    settings.check(network).expect("they go together");
    Rc::new(settings)
}

fn run(network: &Network, sets: &[(&str, &str, &str)], flows: &[(u32, u32, u64)]) -> (Engine, Vec<Completion>) {
    let settings = settings(network, sets);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    engine.add_flows((0..).zip(flows).map(|(id, &(src, dst, size))| FlowRequest {
        id,
        src,
        dst,
        dport: 200,
        priority: 3,
        size,
        start: Nanos(0),
        options: FlowOptions::NONE,
    }));
    engine.run_until(Nanos::SECOND);
    let completed = engine.take_completed();
    (engine, completed)
}

fn link(a: u32, b: u32, delay: u64) -> Link {
    Link { a, b, rate: BitRate::gbps(100), delay: Nanos(delay), loss: 0.0 }
}

/// Two hosts at the ends of five switches, six links of 1 us apart, as in a fat tree of three tiers.
fn path() -> Network {
    let mut nodes = vec![NodeKind::Host; 2];
    nodes.resize(7, NodeKind::Switch);
    let ends = [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1)];
    Network { nodes, links: ends.map(|(a, b)| link(a, b, 1_000)).into() }
}

/// So many hosts around a switch.
fn star(hosts: u32) -> Network {
    let mut nodes = vec![NodeKind::Host; hosts as usize];
    nodes.push(NodeKind::Switch);
    Network { nodes, links: (0..hosts).map(|host| link(host, hosts, 1_000)).collect() }
}

const UEC: (&str, &str, &str) = ("transport", "kind", "uec");
const MTU: (&str, &str, &str) = ("transport", "mtu", "4086");
const LOSSY: (&str, &str, &str) = ("switch", "mode", "lossy");

fn control(name: &'static str) -> (&'static str, &'static str, &'static str) {
    ("transport", "uec_control", name)
}

/// uet-htsim prints 176.2 us, and under the receiver's control 177.368, for a flow alone in its default tree, and 176.804 and
/// 178.15 for two in opposite directions.
#[test]
fn a_message_alone_takes_the_time_of_uet_htsim() {
    for (name, alone, both) in [("nscc", 176_200, 176_804), ("rccc", 177_368, 178_150)] {
        for (flows, expected) in [(&[(0, 1, 2_000_000)][..], alone), (&[(0, 1, 2_000_000), (1, 0, 2_000_000)], both)] {
            let (_, completed) = run(&path(), &[UEC, MTU, LOSSY, control(name)], flows);
            assert_eq!(completed.len(), flows.len());
            for flow in completed {
                let difference = flow.duration.0.abs_diff(expected);
                // The tree has other paths for answers.
                assert!(difference * 200 < expected, "{name}: {:?}, expected {expected}", flow.duration);
            }
        }
    }
}

/// Whatever links lose, answers and grants among it, all arrives; and nothing is sent twice without a loss.
#[test]
fn losses_are_repaired() {
    let mut network = star(8);
    network.links.iter_mut().for_each(|link| link.loss = 0.01);
    let flows: Vec<_> = (0..64).map(|n| (n % 8, (n % 8 + 1 + n / 8 % 7) % 8, 1 + u64::from(n) * 3_000)).collect();
    for name in ["nscc", "rccc", "both"] {
        for (network, is_lossy) in [(&network, true), (&star(8), false)] {
            let (engine, completed) = run(network, &[UEC, MTU, LOSSY, control(name)], &flows);
            assert_eq!(completed.len(), flows.len(), "{name}");
            let resent: u64 = engine.host_counters().map(|counters| counters.resent).sum();
            assert_eq!(resent > 0, is_lossy, "{name}: {resent}");
        }
    }
}

const TRIM: (&str, &str, &str) = ("switch", "overflow", "trim");

/// A switch that cuts packets tells of each, and nothing waits for a timeout.
#[test]
fn what_is_trimmed_is_sent_again_at_once() {
    let flows: Vec<_> = (1..33).map(|src| (src, 0, 200_000)).collect();
    for name in ["nscc", "rccc", "both"] {
        let (engine, completed) = run(&star(33), &[UEC, MTU, LOSSY, TRIM, control(name)], &flows);
        assert_eq!(completed.len(), 32, "{name}");
        let counters: Vec<_> = engine.host_counters().collect();
        let (heard, resent): (u64, u64) =
            counters.iter().fold((0, 0), |(a, b), own| (a + own.trims_heard, b + own.resent));
        let totals = engine.totals();
        assert!(totals.trims > 100 && totals.headers_lost == 0, "{name}: {totals:?}");
        let timeouts: u64 = counters.iter().map(|own| own.timeouts).sum();
        assert_eq!((totals.trims, totals.trims + timeouts), (heard, resent), "{name}");
        assert!(timeouts <= 1, "{name}: {timeouts}");
    }
}

/// A switch marks, and the next one, before a slower link, cuts what was marked. Each mark is heard of, or lost with its packet or the answer,
/// or not told of, because the packet had no payload any more or came late. Each cut is heard of by the receiver, or lost.
#[test]
fn marks_and_cuts_are_heard_of_or_lost() {
    let mut network = star(8);
    network.nodes.splice(8.., [NodeKind::Switch, NodeKind::Switch, NodeKind::Host]);
    network.links.extend([link(8, 9, 1_000), Link { rate: BitRate::gbps(50), ..link(9, 10, 1_000) }]);
    let flows: Vec<_> = (0..8).map(|src| (src, 10, 1_000_000)).collect();
    for loss in [0.0, 0.005] {
        network.links.iter_mut().for_each(|link| link.loss = loss);
        let (engine, completed) = run(&network, &[UEC, MTU, LOSSY, TRIM], &flows);
        assert_eq!(completed.len(), 8);
        let sum = |count: fn(&Counters) -> u64| engine.host_counters().map(|own| count(&own)).sum::<u64>();
        let (heard, untold) = (sum(|own| own.marks_heard), sum(|own| own.marks_untold));
        let totals = engine.totals();
        assert!(heard > 100 && untold > 0 && (totals.marks_lost > 0) == (loss > 0.0), "{heard}, {untold}, {totals:?}");
        assert_eq!(totals.marks, heard + untold + totals.marks_lost, "{totals:?}");
        assert_eq!(totals.trims, sum(|own| own.trims_heard) + totals.headers_lost, "{totals:?}");
    }
}

/// What links lose, senders notice by what arrives out of order, and by the quick answer to a probe, long before a timeout.
#[test]
fn losses_are_found_without_trimming() {
    let mut network = star(3);
    network.links[1].loss = 0.01;
    // With so few packets none can tell by the others, but for probes.
    let few: Vec<_> = (0..40).map(|_| (1, 0, 12_000)).collect();
    let time = |finds: &'static str, flows: &[(u32, u32, u64)]| {
        let sets = [UEC, MTU, LOSSY, ("transport", "timeout", "10ms"), ("transport", "uec_loss_detection", finds)];
        let (engine, completed) = run(&network, &sets, flows);
        let counters = engine.host_counters().fold((0, 0), |(a, b), own| (a + own.timeouts, b + own.probes));
        assert!(engine.totals().losses > 0 && completed.len() == flows.len(), "{:?}", engine.totals());
        (completed.iter().map(|flow| flow.duration).max().expect("all"), counters)
    };
    for flows in [&[(1, 0, 2_000_000)][..], &few] {
        let (slow, fast) = (time("false", flows), time("true", flows));
        assert!(slow.0 > Nanos(10_000_000) && slow.1.0 > 0 && slow.1.1 == 0, "{slow:?}");
        assert!(fast.0 < Nanos(1_000_000) && fast.1.0 == 0 && (fast.1.1 > 0) == (flows.len() > 1), "{fast:?}");
    }
}

/// All share a link: each gets about an equal part, and no link idles.
#[test]
fn an_incast_takes_the_time_of_its_bytes() {
    for name in ["nscc", "rccc", "both"] {
        let flows: Vec<_> = (1..9).map(|src| (src, 0, 1_000_000)).collect();
        let (_, completed) = run(&star(9), &[UEC, MTU, LOSSY, control(name)], &flows);
        let last = completed.iter().map(|flow| flow.duration.0).max().expect("all");
        let bytes = 8 * (1_000_000 + 245 * 64) as u64;
        let ideal = bytes * 8 / 100;
        assert!((ideal..ideal * 27 / 25).contains(&last), "{name}: {last} for {ideal}");
    }
}

/// Ten packets with a tag of 4 bytes by two links each, and their answers; none where the tag is taken off before its receiver.
#[test]
fn tags_come_back_unless_the_last_switch_takes_them_off() {
    let bytes = |sets: &[_]| {
        let sets: Vec<_> = [UEC, MTU, LOSSY, ("transport", "uec_ack_bytes", "1")].iter().chain(sets).copied().collect();
        let (engine, completed) = run(&star(2), &sets, &[(0, 1, 40_860)]);
        assert_eq!(completed.len(), 1);
        engine.totals().telemetry_bytes
    };
    let tags =
        [("telemetry", "layout", "csig"), ("telemetry", "csig_signal", "delay"), ("telemetry", "csig_strip", "1")];
    assert_eq!([bytes(&[]), bytes(&tags[..2]), bytes(&tags)], [0, 160, 40]);
}

/// What nobody would read, or has no room, is refused.
#[test]
fn layouts_that_a_transport_does_not_read_are_refused() {
    let refused = |sets: &[(&str, &str, &str)]| {
        let mut settings = NodeSettings::default();
        for &(section, key, text) in [UEC].iter().chain(sets) {
            settings.set(section, None, key, Input::Text(text)).expect("a value");
        }
        settings.resolve(&star(2));
        settings.check(&star(2)).err().map(|wrong| (wrong.section, wrong.conflict.key))
    };
    let (csig, delay) = (("telemetry", "layout", "csig"), ("telemetry", "csig_signal", "delay"));
    assert_eq!([refused(&[]), refused(&[csig, delay])], [None, None]);
    let layout = Some(("telemetry", "layout"));
    assert_eq!([refused(&[csig]), refused(&[csig, delay, control("rccc")])], [layout, layout]);
    assert_eq!(refused(&[("telemetry", "layout", "int_md")]), layout);
    assert_eq!(refused(&[csig, delay, ("telemetry", "csig_strip", "9")]), Some(("telemetry", "csig_strip")));
}

/// Each does its work in the same network.
#[test]
fn every_transport_delivers() {
    for transport in host_transport::all() {
        let (_, completed) =
            run(&star(4), &[("transport", "kind", transport.name())], &[(0, 1, 1), (2, 1, 50_000), (1, 3, 4_000)]);
        assert_eq!(completed.len(), 3, "{}", transport.name());
    }
}
