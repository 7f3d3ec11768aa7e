// SPDX-License-Identifier: GPL-2.0-only
//! What a run traces and captures.

use crate::sights::Sights;
use hpcc_core::cc::Reads;
use hpcc_core::engine::{Engine, Hold, Observer};
use hpcc_core::topology::Network;
use hpcc_core::wire::WireProfile;
use hpcc_model::results::ResultWriter;
use hpcc_model::results::packet_trace::PortRate;
use hpcc_model::scenario::Scenario;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Traces and captures begin.
pub(crate) fn begin_traces(scenario: &Scenario, engine: &Engine, writer: &mut ResultWriter) {
    if !scenario.monitor.trace_nodes.is_empty() {
        let window = engine.fabric().max_bdp() as u32;
        writer.begin_trace(&port_rates(scenario), window);
    }
    if !scenario.monitor.capture_nodes.is_empty() {
        writer.begin_capture(scenario);
    }
}

/// An engine shows what is traced and captured; where faces watch, too, these capture.
pub(crate) fn watch(
    scenario: &Scenario,
    engine: &mut Engine,
    writer: &Arc<Mutex<ResultWriter>>,
    holds: &Arc<Mutex<Vec<Hold>>>,
    faces: Option<Box<dyn Observer>>,
) {
    let (network, monitor, settings) = (&scenario.network, &scenario.monitor, &scenario.settings);
    let mut traced = HashMap::new();
    monitor.trace_nodes.iter().for_each(|&node| *traced.entry(node).or_default() += 1);
    let captured: HashSet<u32> = monitor.capture_nodes.iter().copied().filter(|_| faces.is_none()).collect();
    traced.keys().chain(&captured).for_each(|&node| engine.watch(node));
    let ports = network.ports();
    let addresses = (0..ports.len()).map(|node| {
        let ends = |port: &hpcc_core::topology::Port| {
            (port_address(network, node as u32, port.link), port_address(network, port.peer, port.link))
        };
        ports[node].iter().map(ends).collect()
    });
    engine.observe(Box::new(Sights {
        writer: Arc::clone(writer),
        faces,
        holds: Arc::clone(holds),
        traced,
        captured,
        is_stamped: Reads::SendTime.is_in(&scenario.layout()),
        traces_overflow: !scenario.faults().untraced_overflow,
        pause_us: settings.switch.pause_micros(),
        addresses: addresses.collect(),
        macs: macs(network),
        peers: ports.iter().map(|ports| ports.iter().map(|port| (port.peer, port.far_port)).collect()).collect(),
        ipv6: settings.wire.profile == WireProfile::RoceV6,
        mtu: settings.transport.mtu.0 as u32,
        encapsulation: settings.layout().encapsulation(),
        cnp_dscp: settings.transport.cnp_dscp,
    }));
}

/// MAC addresses of each node's ports, as ns-3 gives them out: one to each device, in the order of links.
fn macs(network: &Network) -> Vec<Vec<u64>> {
    let mut macs = vec![Vec::new(); network.nodes.len()];
    for (link, number) in network.links.iter().zip((1..).step_by(2)) {
        macs[link.a as usize].push(number);
        macs[link.b as usize].push(number + 1);
    }
    macs
}

/// The 2019 simulator gives each link a network of its own; PFC frames come from there.
fn port_address(network: &Network, node: u32, link: u32) -> u32 {
    let base = 0x0a00_0000 + ((link / 254 + 1) << 16) + ((link % 254 + 1) << 8);
    base + if network.links[link as usize].a == node { 1 } else { 2 }
}

/// The ports of the trace's header: those on links in use.
fn port_rates(scenario: &Scenario) -> Vec<PortRate> {
    let network = &scenario.network;
    let unused = if scenario.faults().last_parallel_link { network.superseded_links() } else { Vec::new() };
    let of_node = |(node, ports): (usize, Vec<hpcc_core::topology::Port>)| {
        let rate = |(index, port): (usize, hpcc_core::topology::Port)| PortRate {
            node: node as u16,
            port: index as u8 + 1,
            rate: network.links[port.link as usize].rate,
        };
        let used = ports.into_iter().enumerate().filter(|(_, port)| !unused.contains(&port.link));
        used.map(rate).collect::<Vec<_>>()
    };
    network.ports().into_iter().enumerate().flat_map(of_node).collect()
}
