// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shortest paths between hosts: next hops of every node, and what the paths measure.

use super::path_matrix::{Kind, PathMatrix};
use super::{Link, Network, NodeKind, Port};
use crate::units::{BitRate, Nanos};
use alloc::vec::Vec;

/// The next hops of one node, for every destination.
///
/// Most destinations share their next hops with many others. Each set is stored once, so that the table of a
/// large switch fits a processor's nearest cache.
#[derive(Clone, Debug, Default)]
pub struct RouteTable {
    /// For each destination, which set of next hops leads to it.
    set_of: Vec<u16>,
    /// Where each set begins in `ports`, and how many ports it has.
    sets: Vec<(u32, u16)>,
    ports: Vec<u16>,
}

impl RouteTable {
    /// The ports, counted from 0, on shortest paths to node `dst`; empty if there is no path, or to `dst` none was
    /// searched.
    #[inline]
    pub fn next_hops(&self, dst: u32) -> &[u16] {
        let set = self.set_of.get(dst as usize).and_then(|&set| self.sets.get(usize::from(set)));
        let Some(&(start, len)) = set else { return &[] };
        &self.ports[start as usize..start as usize + usize::from(len)]
    }

    /// Address of what is looked up first for node `dst`, for fetching it into the cache; 0 if there is nothing.
    #[inline]
    pub fn address(&self, dst: u32) -> usize {
        self.set_of.get(dst as usize).map_or(0, |set| core::ptr::from_ref(set).addr())
    }

    /// Appends the next hops of the next destination.
    fn push(&mut self, hops: &[u16]) {
        let of_set = |&(start, len): &(u32, u16)| &self.ports[start as usize..start as usize + usize::from(len)];
        let known = self.sets.iter().rposition(|set| of_set(set) == hops);
        let set = known.unwrap_or_else(|| {
            self.sets.push((self.ports.len() as u32, hops.len() as u16));
            self.ports.extend_from_slice(hops);
            self.sets.len() - 1
        });
        self.set_of.push(set as u16);
    }
}

/// What a path from one host to another measures, one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathMetrics {
    /// Sum of propagation delays.
    pub delay: Nanos,
    /// Sum of the times that one full payload takes on each link.
    pub transmission: Nanos,
    /// Rate of the slowest link.
    pub bottleneck: BitRate,
    /// Links, at most 255 of them counted.
    pub links: u8,
}

impl PathMetrics {
    /// What a path measures that begins with `link` and goes on as this one.
    pub fn extend(&self, link: &Link, payload: u32) -> PathMetrics {
        let bits = u64::from(payload) * 8;
        PathMetrics {
            delay: self.delay + link.delay,
            transmission: self.transmission + Nanos(bits * 1_000_000_000 / link.rate.0.max(1)),
            bottleneck: self.bottleneck.min(link.rate),
            links: self.links.saturating_add(1),
        }
    }

    /// Base round-trip time as the reference computes it: delays both ways, and the payload's transmission one way, without
    /// headers and acknowledgement.
    pub fn rtt(&self) -> Nanos {
        Nanos(self.delay.0.saturating_mul(2)) + self.transmission
    }

    /// The time that `size` bytes would take on an idle path, as the reference computes it: one base
    /// round-trip time, and payload with `headers` bytes for each packet of `payload` bytes at the
    /// bottleneck's rate. Telemetry is not counted.
    pub fn standalone_fct(&self, size: u64, payload: u32, headers: u32) -> Nanos {
        let packets = size.div_ceil(u64::from(payload.max(1)));
        let bytes = u128::from(size) + u128::from(packets) * u128::from(headers);
        let nanos = bytes * 8_000_000_000 / u128::from(self.bottleneck.0.max(1));
        self.rtt() + Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Bandwidth-delay product in bytes for this round-trip time.
    pub fn bdp(&self, rtt: Nanos) -> u64 {
        let bits = u128::from(rtt.0) * u128::from(self.bottleneck.0) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}

/// Routes of a whole network.
#[derive(Clone, Debug)]
pub struct Routes {
    tables: Vec<RouteTable>,
    /// Place of each host in `paths`; `None` for switches.
    host_index: Vec<Option<u32>>,
    /// From each host (column) to each host (row).
    paths: PathMatrix,
}

/// A node as the search from one destination sees it.
#[derive(Clone, Copy)]
struct Reached {
    distance: u32,
    path: Kind,
}

impl Routes {
    /// Searches from every host. `payload` is a full packet's payload in bytes.
    ///
    /// The order of equal next hops is the reference's, which follows the memory addresses of its nodes:
    /// hosts first and ascending, then switches descending. Parallel links count as several next hops.
    pub fn new(network: &Network, payload: u32) -> Self {
        Self::avoiding(network, payload, &[], false)
    }

    /// As [`Routes::new`], but without the links whose index `down` lists and, if `to_switches`, to switches as well.
    pub fn avoiding(network: &Network, payload: u32, down: &[u32], to_switches: bool) -> Self {
        let mut ports = network.ports();
        for ports in &mut ports {
            ports.retain(|port| !down.contains(&port.link));
            ports.sort_by_key(|port| visiting_order(network, port));
        }
        let mut routes = Routes {
            tables: alloc::vec![RouteTable::default(); network.nodes.len()],
            host_index: host_index(network),
            paths: PathMatrix::new(network.hosts().count()),
        };
        let mut next_hops = alloc::vec![Vec::new(); network.nodes.len()];
        for dst in 0..network.nodes.len() as u32 {
            if to_switches || network.nodes[dst as usize] == NodeKind::Host {
                routes.search(network, &ports, dst, payload, &mut next_hops);
            }
            for (table, hops) in routes.tables.iter_mut().zip(&mut next_hops) {
                table.push(hops);
                hops.clear();
            }
        }
        routes
    }

    /// Breadth-first from `dst`; only switches pass traffic on.
    fn search(&mut self, network: &Network, ports: &[Vec<Port>], dst: u32, payload: u32, next_hops: &mut [Vec<u16>]) {
        let mut reached: Vec<Option<Reached>> = alloc::vec![None; network.nodes.len()];
        reached[dst as usize] = Some(Reached { distance: 0, path: Kind::HERE });
        let mut queue = alloc::vec![dst];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            let Some(from) = reached[node as usize] else { continue };
            for port in &ports[node as usize] {
                let peer = port.peer as usize;
                let distance = from.distance + 1;
                let link = &network.links[port.link as usize];
                let paths = &mut self.paths;
                let found = *reached[peer].get_or_insert_with(|| {
                    if network.nodes[peer] == NodeKind::Switch {
                        queue.push(port.peer);
                    }
                    Reached { distance, path: paths.extend(link, from.path, payload) }
                });
                if found.distance == distance {
                    next_hops[peer].push(port.far_port);
                }
            }
        }
        self.record(&reached, dst);
    }

    fn record(&mut self, reached: &[Option<Reached>], dst: u32) {
        let Some(row) = self.host_index[dst as usize] else { return };
        for (node, reached) in reached.iter().enumerate() {
            if let (Some(column), Some(reached)) = (self.host_index[node], reached) {
                self.paths.set(row, column, reached.path);
            }
        }
    }

    fn kind(&self, src: u32, dst: u32) -> Option<Kind> {
        let index = |node: u32| self.host_index.get(node as usize).copied().flatten();
        self.paths.get(index(dst)?, index(src)?)
    }

    /// What the path from host `src` to host `dst` measures, `None` if there is no path.
    pub fn path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        self.kind(src, dst).map(|kind| self.paths.metrics(kind))
    }

    /// The links of that path, from `src` on: rate and delay.
    pub fn links(&self, src: u32, dst: u32) -> Option<Vec<(BitRate, Nanos)>> {
        self.kind(src, dst).map(|kind| self.paths.links(kind))
    }

    /// The kinds of paths between two hosts, each once: what they measure, and their links.
    pub fn kinds(&self) -> impl Iterator<Item = (PathMetrics, Vec<(BitRate, Nanos)>)> + '_ {
        self.paths.kinds().map(|kind| (self.paths.metrics(kind), self.paths.links(kind)))
    }

    /// The next hops of a node.
    pub fn table(&self, node: u32) -> Option<&RouteTable> {
        self.tables.get(node as usize)
    }

    /// Moves the next hops of a node out; afterwards the node has none here.
    pub fn take_table(&mut self, node: u32) -> RouteTable {
        self.tables.get_mut(node as usize).map(core::mem::take).unwrap_or_default()
    }
}

fn host_index(network: &Network) -> Vec<Option<u32>> {
    let mut next = 0..;
    let index = |kind: &NodeKind| if *kind == NodeKind::Host { next.next() } else { None };
    network.nodes.iter().map(index).collect()
}

fn visiting_order(network: &Network, port: &Port) -> (u8, i64) {
    match network.nodes[port.peer as usize] {
        NodeKind::Host => (0, i64::from(port.peer)),
        NodeKind::Switch => (1, -i64::from(port.peer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(hosts: usize, switches: usize, links: &[(u32, u32, u64)]) -> Network {
        let mut nodes = alloc::vec![NodeKind::Host; hosts];
        nodes.resize(hosts + switches, NodeKind::Switch);
        let link =
            |&(a, b, gbps): &(u32, u32, u64)| Link { a, b, rate: BitRate::gbps(gbps), delay: Nanos(1_000), loss: 0.0 };
        Network { nodes, links: links.iter().map(link).collect() }
    }

    /// The reference printed rtt 4160 and bdp 52000 for two hosts on one switch at 100 Gb/s and 1 us.
    #[test]
    fn one_switch_measures_as_the_reference_says() {
        let routes = Routes::new(&network(2, 1, &[(0, 2, 100), (1, 2, 100)]), 1000);
        let path = routes.path(0, 1).expect("connected");
        assert_eq!((path.rtt(), path.bdp(path.rtt())), (Nanos(4_160), 52_000));
        assert_eq!(routes.links(0, 1), Some(alloc::vec![(BitRate::gbps(100), Nanos(1_000)); 2]));
        assert_eq!(path.standalone_fct(100_000, 1000, 48), Nanos(12_544));
    }

    #[test]
    fn equal_paths_lead_over_descending_switches() {
        // hosts 0, 1; leaves 2, 3; spines 4, 5
        let links = [(0, 2, 100), (1, 3, 100), (2, 4, 400), (2, 5, 400), (3, 4, 400), (3, 5, 400)];
        let routes = Routes::new(&network(2, 4, &links), 1000);
        assert_eq!(routes.table(2).expect("leaf").next_hops(1), [2, 1]);
        assert_eq!(routes.table(4).expect("spine").next_hops(1), [1]);
        assert_eq!(routes.table(0).expect("host").next_hops(1), [0]);
        assert_eq!(routes.path(0, 1).expect("connected").bottleneck, BitRate::gbps(100));
    }

    #[test]
    fn links_that_are_down_are_avoided() {
        let links = [(0, 2, 100), (1, 3, 100), (2, 4, 400), (2, 5, 400), (3, 4, 400), (3, 5, 400)];
        let network = network(2, 4, &links);
        let routes = Routes::avoiding(&network, 1000, &[2], false);
        assert_eq!(routes.table(2).expect("leaf").next_hops(1), [2]);
        assert_eq!(routes.table(3).expect("leaf").next_hops(0), [2]);
        assert_eq!(Routes::avoiding(&network, 1000, &[2, 3], false).path(0, 1), None);
    }

    #[test]
    fn hosts_do_not_forward() {
        let routes = Routes::new(&network(3, 0, &[(0, 1, 100), (1, 2, 100)]), 1000);
        assert!(routes.path(0, 1).is_some());
        assert_eq!(routes.path(0, 2), None);
        assert!(routes.table(0).expect("host").next_hops(2).is_empty());
    }

    #[test]
    fn parallel_links_are_separate_next_hops() {
        let routes = Routes::new(&network(2, 2, &[(0, 2, 100), (2, 3, 100), (2, 3, 100), (3, 1, 100)]), 1000);
        assert_eq!(routes.table(2).expect("switch").next_hops(1), [1, 2]);
    }
}
