// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links that send again what they lose: as fast as going back says, in order, and without a loss for hosts.

use hpcc_core::engine::{Engine, FlowOptions, FlowRequest, LinkFailure, Order, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;

/// One-way delay of a link in ns, and the time of a frame of 1,000 bytes of payload and 48 of headers at 100 Gb/s.
const DELAY: u64 = 1_000;
const FRAME: f64 = 83.84;

/// A host, a switch and a host, with a loss on each link.
fn network(losses: [f64; 2]) -> Network {
    let link = |a, b, loss| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(DELAY), loss };
    let nodes = [NodeKind::Host, NodeKind::Host, NodeKind::Switch];
    Network { nodes: nodes.into(), links: [link(0, 2, losses[0]), link(1, 2, losses[1])].into() }
}

fn settings(network: &Network, sets: &[(&str, &str, &str)]) -> Result<NodeSettings, String> {
    let mut settings = NodeSettings::default();
    let always =
        [("congestion_control", "algorithm", "none"), ("transport", "window", "false"), ("wire", "llr", "true")];
    for &(section, key, text) in always.iter().chain(sets) {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.resolve(network);
    settings.check(network).map_err(|wrong| wrong.to_string())?;
    Ok(settings)
}

fn engine(network: &Network, sets: &[(&str, &str, &str)], size: u64) -> Engine {
    let settings = Rc::new(settings(network, sets).expect("they go together"));
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    let options = FlowOptions::NONE;
    let flow = FlowRequest { id: 0, src: 0, dst: 1, dport: 200, priority: 3, size, start: Nanos(0), options };
    engine.add_flows([flow]);
    engine
}

/// How many times as long as without losses a flow of so many packets takes, and that no host notices any.
fn slowdown(losses: [f64; 2], sets: &[(&str, &str, &str)], packets: u64) -> f64 {
    let mut engine = engine(&network(losses), sets, packets * 1_000);
    engine.run_until(Nanos(10_000_000_000));
    let totals = engine.totals();
    assert_eq!((totals.losses, totals.drops, engine.counters(0).resent, engine.counters(0).timeouts), (0, 0, 0, 0));
    assert_eq!(totals.link_nacks > 0, losses != [0.0; 2]);
    engine.take_completed()[0].duration.0 as f64 / (packets as f64 * FRAME)
}

/// Each loss costs its own time and that of the frames which begin until its NACK has come, 1 + ceil(2 d / t) in all; of n packets
/// n p / (1 - p) transmissions are lost, with a deviation of sqrt(n p) / (1 - p).
#[test]
fn goodput_is_that_of_going_back() {
    let packets = 40_000.0;
    let lost = 1.0 + (2.0 * DELAY as f64 / FRAME).ceil();
    for p in [1e-3, 1e-2, 0.1] {
        for losses in [[p, 0.0], [0.0, p]] {
            let found = slowdown(losses, &[], packets as u64);
            let expected = 1.0 + lost * p / (1.0 - p);
            let deviation = lost * (p / packets).sqrt() / (1.0 - p);
            assert!(
                (found - expected).abs() < 4.0 * deviation + 1e-3,
                "{losses:?}: {found}, not {expected} +- {deviation}"
            );
        }
    }
}

/// Frames of 1,048 bytes: with room for n of them, n leave in the time of a frame and the round trip of the link.
#[test]
fn a_small_buffer_slows_a_link_down() {
    for room in [1, 7, 24, 25, 100] {
        // The largest frame is longer than these, and there must be room for it.
        let largest = settings(&network([0.0; 2]), &[("wire", "llr_buffer", "1")]).expect_err("too little");
        let largest: u64 = largest.split_whitespace().rev().find_map(|word| word.parse().ok()).expect("bytes");
        let bytes = (largest + (room - 1) * 1_048).to_string();
        let found = slowdown([0.0; 2], &[("wire", "llr_buffer", &bytes)], 10_000);
        let expected = ((FRAME + 2.0 * DELAY as f64) / (room as f64 * FRAME)).max(1.0);
        assert!((found / expected - 1.0).abs() < 5e-3, "{room} frames: {found}, not {expected}");
    }
}

/// What is on a link that fails is lost, and what waits to be sent again.
#[test]
fn a_link_that_fails_sends_nothing_again() {
    let mut engine = engine(&network([0.1, 0.1]), &[], 4_000_000);
    let (time, until) = (Nanos(100_000), Some(Nanos(150_000)));
    engine.fail_links(&LinkFailure { time, until, links: vec![0], ..LinkFailure::default() }, Nanos(1_000_000_000));
    engine.run_until(Nanos(1_000_000_000));
    assert_eq!(engine.take_completed().len(), 1);
    assert!(engine.totals().failed_link_losses > 20 && engine.counters(0).resent > 0);
}
