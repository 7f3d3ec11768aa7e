// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sixteen hosts send 500 kB each to one at once, under HPCC at 100 Gb/s: `cargo run --release --example incast`.

use hpcc_core::engine::{Engine, FlowOptions, FlowRequest, Order, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;

const SENDERS: u32 = 16;

fn main() {
    let switch = SENDERS + 1;
    let mut nodes = vec![NodeKind::Host; switch as usize];
    nodes.push(NodeKind::Switch);
    let link = |host| Link { a: host, b: switch, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
    let network = Network { nodes, links: (0..switch).map(link).collect() };
    let mut settings = NodeSettings::default();
    settings.resolve(&network);
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine = Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[])
        .expect("the defaults go together");
    engine.add_flows((1..=SENDERS).map(|src| FlowRequest {
        options: FlowOptions::NONE,
        id: src,
        src,
        dst: 0,
        dport: 200,
        priority: 3,
        size: 500_000,
        start: Nanos(0),
    }));
    engine.run_until(Nanos::SECOND);
    for flow in engine.take_completed() {
        println!("host {:>2}: {:>9} ns", flow.request.src, flow.duration.0);
    }
    println!("{} events, {} packet-hops", engine.events_run(), engine.packet_hops());
}
