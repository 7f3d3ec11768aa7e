// SPDX-License-Identifier: MIT OR Apache-2.0
//! Credit-based flow control: a link is as fast as its credits allow, nothing is dropped, and all credits come back.

use hpcc_core::engine::{Engine, FlowOptions, FlowRequest, LinkFailure, Order, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;

/// One-way delay of a link in ns, and the bytes and nanoseconds of a frame of 1,000 bytes of payload at 100 Gb/s.
const DELAY: u64 = 1_000;
const BYTES: u64 = 1_048;
const FRAME: f64 = 83.84;

/// Hosts 0, 1 and 2 at switch 3, host 4 at switch 5, and a link between the switches.
fn network(loss: f64) -> Network {
    let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(DELAY), loss };
    let nodes = [[NodeKind::Host; 3].as_slice(), &[NodeKind::Switch, NodeKind::Host, NodeKind::Switch]].concat();
    Network { nodes, links: [link(0, 3), link(1, 3), link(2, 3), link(3, 5), link(4, 5)].into() }
}

fn settings(network: &Network, sets: &[(&str, &str, &str)]) -> Result<NodeSettings, String> {
    let mut settings = NodeSettings::default();
    let always =
        [("congestion_control", "algorithm", "none"), ("transport", "window", "false"), ("switch", "mode", "credit")];
    for &(section, key, text) in always.iter().chain(sets) {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.resolve(network);
    settings.check(network).map_err(|wrong| wrong.to_string())?;
    Ok(settings)
}

/// Bytes of the largest frame, as the refusal of too few credits says.
fn largest() -> u64 {
    let refused = settings(&network(0.0), &[("switch", "credits", "1")]).expect_err("too little");
    refused.split_whitespace().rev().find_map(|word| word.parse().ok()).expect("bytes")
}

/// Flows of so many packets from these hosts to host 4.
fn engine(network: &Network, sets: &[(&str, &str, &str)], senders: &[u32], packets: u64) -> Engine {
    let settings = Rc::new(settings(network, sets).expect("they go together"));
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    let (dport, priority, size, start, options) = (200, 3, packets * 1_000, Nanos(0), FlowOptions::NONE);
    let flow = |&src: &u32| FlowRequest { id: src, src, dst: 4, dport, priority, size, start, options };
    engine.add_flows(senders.iter().map(flow));
    engine
}

/// The slowest of these flows in ns; nothing is dropped, and nobody pauses.
fn slowest(sets: &[(&str, &str, &str)], senders: &[u32], packets: u64) -> f64 {
    let mut engine = engine(&network(0.0), sets, senders, packets);
    engine.run_until(Nanos(10_000_000_000));
    let totals = engine.totals();
    assert_eq!((totals.drops, totals.losses, totals.pauses_sent), (0, 0, 0));
    let done = engine.take_completed();
    assert_eq!(done.len(), senders.len());
    done.iter().map(|flow| flow.duration.0).max().expect("flows") as f64
}

/// With credits for the largest frame and c bytes more, 1 + floor(c / S) frames of S bytes leave in the time of a frame and the round
/// trip of a link. Credits wait for the acknowledgements of the other direction, which costs less than a hundredth here.
#[test]
fn few_credits_slow_a_link_down() {
    let packets = 10_000;
    for (more, frames) in [(0, 1), (BYTES - 1, 1), (BYTES, 2), (10 * BYTES, 11), (23 * BYTES, 24), (40 * BYTES, 41)] {
        let credits = (largest() + more).to_string();
        let found = slowest(&[("switch", "credits", &credits)], &[0], packets) / (packets as f64 * FRAME);
        let expected = ((FRAME + 2.0 * DELAY as f64) / (f64::from(frames) * FRAME)).max(1.0);
        assert!((found / expected - 1.0).abs() < 0.01, "{more} bytes more: {found}, not {expected}");
    }
}

/// `auto` is enough for the rate of a link, and a byte less than 25 frames in its round trip is not.
#[test]
fn usual_credits_keep_the_rate() {
    let packets = 10_000;
    let alone = packets as f64 * FRAME;
    assert!(slowest(&[], &[0], packets) < alone * 1.01);
    // Acknowledgements of the other direction are short, and delay credits by less than a frame.
    let shared = slowest(&[], &[0, 1, 2], packets);
    assert!((shared / (3.0 * alone) - 1.0).abs() < 0.01, "{shared} for {}", 3.0 * alone);
}

/// What is lost, by chance or by a link that fails, gives its credits back: flows end, and go at their rate afterwards.
#[test]
fn losses_use_up_no_credits() {
    let credits = (largest() + 30 * BYTES).to_string();
    for llr in ["false", "true"] {
        let sets = [("switch", "credits", credits.as_str()), ("wire", "llr", llr)];
        let mut engine = engine(&network(0.02), &sets, &[0, 1, 2], 4_000);
        let (time, until) = (Nanos(100_000), Some(Nanos(150_000)));
        let failure = LinkFailure { time, until, links: vec![3], ..LinkFailure::default() };
        engine.fail_links(&failure, Nanos(1_000_000_000));
        engine.run_until(Nanos(1_000_000_000));
        assert_eq!(engine.take_completed().len(), 3, "llr = {llr}");
        assert!(engine.totals().failed_link_losses > 0);
        let now = engine.now();
        let flow = FlowRequest {
            id: 9,
            src: 0,
            dst: 4,
            dport: 300,
            priority: 3,
            size: 100_000,
            start: now,
            options: FlowOptions::NONE,
        };
        let waits = engine.totals().credit_waits;
        engine.add_flows([flow]);
        engine.run_until(now + Nanos(100_000_000));
        assert_eq!(engine.take_completed().len(), 1);
        // With all of its credits a link whose credits suffice for its round trip waits for none.
        assert!(engine.totals().credit_waits <= waits + 2, "llr = {llr}: {waits}, {}", engine.totals().credit_waits);
    }
}
