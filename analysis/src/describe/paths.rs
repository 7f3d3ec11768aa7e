// SPDX-License-Identifier: GPL-2.0-only
//! The shortest paths of a network.

use std::collections::{BTreeMap, VecDeque};

use hpcc_core::topology::routes::PathMetrics;
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::{LinkSpec, UnloadedFlow};
use hpcc_core::units::{BitRate, Nanos};

/// Paths to more hosts than this take their time, and tell nothing new: only to some of them, at equal distances in the
/// numbering.
const MOST_HOSTS: usize = 512;

/// Metrics of the paths between hosts.
#[derive(Debug, Default)]
pub struct Paths {
    /// Hosts that paths lead to.
    pub to: usize,
    /// Paths by their links.
    pub by_links: BTreeMap<u8, u64>,
    /// Shortest and longest base round-trip time, if there is a path.
    pub rtt: Option<(Nanos, Nanos)>,
    /// Sum of all of them, in ns.
    pub rtt_sum: f64,
    /// Most links of a path, and the first pair of hosts with so many.
    pub farthest: Option<(u8, u32, u32)>,
    /// Pairs of hosts without a path.
    pub missing: u64,
}

impl Paths {
    /// Searches from hosts, of which some may be left out; `payload` is the payload of a full packet in bytes; without
    /// a `flow` nothing else of a packet counts.
    pub fn new(network: &Network, payload: u32, flow: Option<&UnloadedFlow>) -> Paths {
        let hosts: Vec<u32> = network.hosts().collect();
        let ports = network.ports();
        let every = hosts.len().div_ceil(MOST_HOSTS).max(1);
        let mut paths = Paths::default();
        for &dst in hosts.iter().step_by(every) {
            paths.to += 1;
            let mut found: Vec<Option<PathMetrics>> = vec![None; network.nodes.len()];
            found[dst as usize] =
                Some(PathMetrics { delay: Nanos(0), transmission: Nanos(0), bottleneck: BitRate(u64::MAX), links: 0 });
            let mut ways: Vec<Vec<LinkSpec>> = vec![Vec::new(); network.nodes.len()];
            let mut queue = VecDeque::from([dst]);
            while let Some(node) = queue.pop_front() {
                let Some(metrics) = found[node as usize] else { continue };
                for port in &ports[node as usize] {
                    let peer = &mut found[port.peer as usize];
                    if peer.is_some() {
                        continue;
                    }
                    let link = &network.links[port.link as usize];
                    *peer = Some(metrics.extend((link.rate, link.delay), payload));
                    ways[port.peer as usize] = [&[(link.rate, link.delay)], ways[node as usize].as_slice()].concat();
                    // Hosts pass nothing on.
                    if network.nodes[port.peer as usize] == NodeKind::Switch {
                        queue.push_back(port.peer);
                    }
                }
            }
            for src in hosts.iter().filter(|src| **src != dst).map(|src| *src as usize) {
                let rtt = |path: PathMetrics| flow.map_or_else(|| path.rtt(), |flow| flow.base_rtt(&path, &ways[src]));
                paths.add(found[src].map(|path| (path.links, rtt(path))));
                if let Some(path) = found[src].filter(|path| paths.farthest.is_none_or(|most| path.links > most.0)) {
                    paths.farthest = Some((path.links, src as u32, dst));
                }
            }
        }
        paths
    }

    /// Adds a path by its links and its round-trip time.
    fn add(&mut self, path: Option<(u8, Nanos)>) {
        let Some((links, rtt)) = path else {
            self.missing += 1;
            return;
        };
        *self.by_links.entry(links).or_default() += 1;
        self.rtt_sum += rtt.0 as f64;
        self.rtt = Some(self.rtt.map_or((rtt, rtt), |(least, most)| (least.min(rtt), most.max(rtt))));
    }

    /// How many paths there are.
    pub fn count(&self) -> u64 {
        self.by_links.values().sum()
    }
}

/// How many shortest paths lead from one host to another; each of several links between two nodes makes another path.
pub fn equal_paths(network: &Network, src: u32, dst: u32) -> u64 {
    let ports = network.ports();
    let mut found: Vec<Option<(u32, u64)>> = vec![None; network.nodes.len()];
    found[src as usize] = Some((0, 1));
    let mut queue = VecDeque::from([src]);
    while let Some(node) = queue.pop_front() {
        let Some((links, paths)) = found[node as usize] else { continue };
        for port in &ports[node as usize] {
            match &mut found[port.peer as usize] {
                Some((known, others)) if *known == links + 1 => *others = others.saturating_add(paths),
                Some(_) => {}
                none => {
                    *none = Some((links + 1, paths));
                    // Hosts pass nothing on.
                    if network.nodes[port.peer as usize] == NodeKind::Switch {
                        queue.push_back(port.peer);
                    }
                }
            }
        }
    }
    found[dst as usize].map_or(0, |(_, paths)| paths)
}
