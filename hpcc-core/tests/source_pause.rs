// SPDX-License-Identifier: MIT OR Apache-2.0
//! Switches that ask sources to pause: queues stay short, whatever the congestion control, and PFC has nothing to do.

use hpcc_core::engine::{Engine, FlowOptions, FlowRequest, Order, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;

const SENDERS: u32 = 16;

/// Hosts at one switch, or the last of them at another.
fn network(far: bool) -> Network {
    let (receiver, near) = (SENDERS, SENDERS + 1);
    let count = SENDERS + 2 + u32::from(far);
    let nodes = (0..count).map(|node| if node <= receiver { NodeKind::Host } else { NodeKind::Switch });
    let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
    let last = if far { vec![link(near, near + 1), link(receiver, near + 1)] } else { vec![link(receiver, near)] };
    Network { nodes: nodes.collect(), links: (0..SENDERS).map(|host| link(host, near)).chain(last).collect() }
}

fn settings(network: &Network, sets: &[(&str, &str, &str)]) -> Result<NodeSettings, String> {
    let mut settings = NodeSettings::default();
    for &(section, key, text) in sets {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.resolve(network);
    settings.check(network).map_err(|wrong| wrong.to_string())?;
    Ok(settings)
}

/// Every sender sends 200 kB. Returns the longest queue, the pauses asked for, and when the last flow ended.
fn incast(far: bool, algorithm: &str, threshold: &str) -> (u64, u64, Nanos) {
    let network = network(far);
    let settings =
        settings(&network, &[("congestion_control", "algorithm", algorithm), ("switch", "source_pause", threshold)]);
    let settings = Rc::new(settings.expect("they go together"));
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    engine.add_flows((0..SENDERS).map(|src| FlowRequest {
        id: src,
        src,
        dst: SENDERS,
        dport: 200,
        priority: 3,
        size: 200_000,
        start: Nanos(0),
        options: FlowOptions::NONE,
    }));
    let mut longest = 0;
    for at in (1..2_000).map(|n| Nanos(n * 1_000)) {
        engine.run_until(at);
        longest = (0..=SENDERS as u16).map(|port| engine.queued(SENDERS + 1, port, 3)).max().unwrap_or(0).max(longest);
    }
    let completed = engine.take_completed();
    assert_eq!(completed.len(), SENDERS as usize);
    let end = completed.iter().map(|flow| flow.duration).max().unwrap_or_default();
    (longest, engine.totals().source_pauses, end)
}

/// With no other control. 3.2 MB take 256 us at line rate, and an eighth more with headers and while the queue is empty.
#[test]
fn sources_that_pause_keep_the_queue_near_the_threshold() {
    for far in [false, true] {
        for algorithm in ["none", "dcqcn", "hpcc"] {
            let (longest, asked, end) = incast(far, algorithm, "50KB");
            let (without, none, _) = incast(far, algorithm, "auto");
            assert_eq!(none, 0);
            assert!(asked > 0 && longest < without, "{algorithm}: {longest} of {without} bytes, {asked} pauses");
            assert!(end < Nanos(400_000), "{algorithm}: {end}");
        }
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let network = network(false);
    let asks = ("switch", "source_pause", "50KB");
    for other in [("transport", "kind", "uec"), ("transport", "seal", "00112233445566778899aabbccddeeff")] {
        let wrong = settings(&network, &[asks, other]).expect_err("refused");
        assert!(wrong.starts_with("switch.source_pause: "), "{wrong}");
    }
}
