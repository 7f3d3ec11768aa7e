// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows with a link, a rate or an end of their own: two hosts with a link to each of four switches.

use hpcc_core::engine::{Completion, ENDLESS, Engine, FlowOptions, FlowRequest, Order, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;

const LINKS: u32 = 4;
const GBPS: u64 = 100;
/// What a payload of 1,000 bytes takes on a link, in bits.
const FRAME: u64 = 1_048 * 8;

fn network() -> Network {
    let link = |a, b| Link { a, b, rate: BitRate::gbps(GBPS), delay: Nanos(1_000), loss: 0.0 };
    let links = (0..2).flat_map(|host| (2..2 + LINKS).map(move |switch| link(host, switch)));
    let nodes = (0..2 + LINKS).map(|node| if node < 2 { NodeKind::Host } else { NodeKind::Switch });
    Network { nodes: nodes.collect(), links: links.collect() }
}

fn flow(id: u32, size: u64, options: FlowOptions) -> FlowRequest {
    FlowRequest { id, src: 0, dst: 1, dport: 100, priority: 3, size, start: Nanos(0), options }
}

fn engine(sets: &[(&str, &str, &str)], flows: Vec<FlowRequest>) -> Engine {
    let (network, mut settings) = (network(), NodeSettings::default());
    for &(section, key, text) in [("telemetry", "content", "none")].iter().chain(sets) {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.resolve(&network);
    settings.check(&network).expect("they go together");
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    engine.add_flows(flows);
    engine
}

fn run(sets: &[(&str, &str, &str)], flows: Vec<FlowRequest>) -> Vec<Completion> {
    let mut engine = engine(sets, flows);
    engine.run_until(Nanos::SECOND);
    engine.take_completed()
}

const NOTHING: (&str, &str, &str) = ("congestion_control", "algorithm", "none");
const DCQCN: (&str, &str, &str) = ("congestion_control", "algorithm", "dcqcn");

fn by(nic: u8) -> FlowOptions {
    FlowOptions { nic: Some(nic), ..FlowOptions::NONE }
}

#[test]
fn a_flow_leaves_by_its_own_link_while_that_leads_there() {
    let size = 1_000_000;
    let each = |nic| flow(nic, size, by(nic as u8));
    let alone = run(&[DCQCN], vec![each(0)])[0].duration;
    let all = run(&[DCQCN], (0..LINKS).map(each).collect());
    // Acknowledgements of several flows may leave by one link.
    assert_eq!(all.len(), LINKS as usize);
    assert!(all.iter().all(|done| (alone.0..alone.0 + 100).contains(&done.duration.0)), "{alone:?}: {all:?}");
    let same = run(&[DCQCN], (0..LINKS).map(|id| flow(id, size, by(2))).collect());
    assert!(same.iter().all(|done| done.duration.0 > 3 * alone.0), "all by one link: {same:?}");

    let mut engine = engine(&[DCQCN, ("transport", "timeout", "100us")], vec![each(0), each(1)]);
    engine.change_links(Nanos(20_000), &[0], false);
    engine.change_links(Nanos(40_000), &[0], true);
    engine.run_until(Nanos::SECOND);
    let sent: Vec<u64> = (0..LINKS).map(|switch| engine.sent(2 + switch, 1)).collect();
    assert_eq!(engine.take_completed().len(), 2);
    assert!(sent[0] > size / 2, "after the failure it is back at its link: {sent:?}");
    assert!(sent.iter().sum::<u64>() - sent[0] > size, "meanwhile it took another: {sent:?}");
}

#[test]
fn a_flow_keeps_to_its_own_rate() {
    for algorithm in ["none", "dcqcn", "timely", "swift"] {
        let options = FlowOptions { rate: BitRate::gbps(10), ..FlowOptions::NONE };
        let done = run(&[("congestion_control", "algorithm", algorithm)], vec![flow(0, 1_000_000, options)]);
        let sending = 1_000 * FRAME / 10;
        let time = done[0].duration.0;
        assert!((sending..sending + 10_000).contains(&time), "{algorithm}: {time} ns, {sending} at 10 Gb/s");
    }
}

#[test]
fn a_flow_without_end_goes_on_until_it_is_to_stop() {
    let stop = FlowOptions { stop: Nanos(1_000_000), ..FlowOptions::NONE };
    let sets: [&[(&str, &str, &str)]; 4] = [
        &[],
        &[("transport", "ack_every", "16KB")],
        &[("transport", "queue_pairs", "per_pair")],
        &[("transport", "recovery", "selective_repeat")],
    ];
    for set in sets {
        let sets: Vec<_> = set.iter().copied().chain([NOTHING]).collect();
        let done = run(&sets, vec![flow(0, ENDLESS, stop)]);
        let (size, time) = (done[0].request.size, done[0].duration.0);
        let most = 1_000_000 * GBPS / FRAME * 1_000;
        assert!((most * 8 / 10..=most + 2_000).contains(&size), "{set:?}: {size} bytes of {most}");
        assert!((1_000_000..1_010_000).contains(&time), "{set:?}: {time} ns");
        assert_eq!(size % 1_000, 0, "whole packets");
    }
    let both = run(&[NOTHING], vec![flow(0, 5_000, stop), flow(1, ENDLESS, FlowOptions::NONE)]);
    assert_eq!(both.iter().map(|done| (done.request.id, done.request.size)).collect::<Vec<_>>(), [(0, 5_000)]);
}

/// Flows of one pair share a queue pair, but not with one that has something for itself.
#[test]
fn a_flow_of_its_own_holds_up_no_other() {
    let sets = [NOTHING, ("transport", "queue_pairs", "per_pair")];
    let slow = FlowOptions { rate: BitRate::gbps(1), ..FlowOptions::NONE };
    let done = run(
        &sets,
        vec![flow(0, 1_000_000, slow), flow(1, 1_000, FlowOptions::NONE), flow(2, 1_000, FlowOptions::NONE)],
    );
    assert_eq!(done.iter().map(|done| done.request.id).collect::<Vec<_>>(), [1, 2, 0]);
    assert!(done[1].duration.0 < 10_000, "{done:?}");
}
