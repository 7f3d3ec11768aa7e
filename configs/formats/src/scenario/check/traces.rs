// SPDX-License-Identifier: GPL-2.0-only
//! About how large packet trace and capture get: a disk that is full ends a run.

use crate::flow::Flow;
use crate::memory;
use crate::scenario::Scenario;
use hpcc_core::units::{BitRate, Bytes};
use std::collections::BTreeSet;

/// Less is no surprise, in bytes.
const MUCH: f64 = 1e9;
/// Of a packet and its acknowledgement at a host, in bytes: three events of a trace, and what two captured frames have besides
/// payload. At a switch both come and go, which is twice as much.
const EVENTS: f64 = 3.0 * 56.0;
const HEADERS: f64 = 300.0;

/// What nodes see of flows that are looked at.
pub(super) struct Traces {
    /// Rate of the first link of each host, and the switch behind it.
    first: Vec<Option<(BitRate, u32)>>,
    /// The switches behind hosts.
    racks: BTreeSet<u32>,
    /// How many other switches there are.
    others: f64,
    /// Packets that each node of a list sees, twice at switches: of `trace_nodes`, and of `capture_nodes`.
    seen: [f64; 2],
}

impl Traces {
    pub fn new(scenario: &Scenario) -> Traces {
        let network = &scenario.network;
        let ports = network.ports();
        let first = |node: u32| {
            let port = ports[node as usize].first().filter(|_| network.is_host(node))?;
            Some((network.links[port.link as usize].rate, port.peer))
        };
        let first: Vec<_> = (0..network.nodes.len() as u32).map(first).collect();
        let racks: BTreeSet<u32> = first.iter().flatten().map(|(_, rack)| *rack).collect();
        let others = network.switches().filter(|node| !racks.contains(node)).count();
        Traces { first, racks, others: others as f64, seen: [0.0; 2] }
    }

    pub fn see(&mut self, scenario: &Scenario, flow: &Flow) {
        let monitor = &scenario.monitor;
        let Bytes(mtu) = scenario.settings.transport.mtu;
        let (Some((rate, _)), Some(_)) = (self.first[flow.src as usize], self.first[flow.dst as usize]) else { return };
        let time_ns = scenario.stop.saturating_sub(flow.start).0 as f64;
        let bytes = (flow.size as f64).min(rate.0 as f64 * time_ns / 8e9);
        for (list, nodes) in [&monitor.trace_nodes, &monitor.capture_nodes].into_iter().enumerate() {
            let visits: f64 = nodes.iter().map(|&node| self.visits(node, flow)).sum();
            self.seen[list] += visits * (bytes / mtu.max(1) as f64).ceil();
        }
    }

    /// How often a packet of a flow visits a node, on average over paths.
    fn visits(&self, node: u32, flow: &Flow) -> f64 {
        let [src, dst] = [flow.src, flow.dst].map(|host| self.first[host as usize].map(|(_, rack)| rack));
        if node == flow.src || node == flow.dst {
            return 1.0;
        }
        match Some(node) {
            node if node == src || node == dst => 2.0,
            _ if src == dst || self.racks.contains(&node) || self.first[node as usize].is_some() => 0.0,
            _ => 2.0 / self.others.max(1.0),
        }
    }

    pub fn notes(&self, scenario: &Scenario) -> Vec<String> {
        let Bytes(mtu) = scenario.settings.transport.mtu;
        let files = [
            ("packets.tr", "trace_nodes", self.seen[0] * EVENTS),
            ("packets.pcap", "capture_nodes", self.seen[1] * (mtu as f64 + HEADERS)),
        ];
        let large = files.into_iter().filter(|(.., bytes)| *bytes > MUCH);
        let note = |(file, key, bytes): (&str, &str, f64)| {
            format!(
                "{file} gets about {}: for less, fewer monitor.{key}, or an earlier run.stop",
                memory::pretty(bytes as u64)
            )
        };
        large.map(note).collect()
    }
}
