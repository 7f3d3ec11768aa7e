// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shortest paths between hosts: next hops of every node, and what the paths measure.

use super::alike::{Groups, LivePort, live_ports};
pub use super::path_kinds::PathMetrics;
use super::path_kinds::{Kind, PathKinds};
use super::route_table::{PER_GROUP, Shared, TableBuilder};
use super::{Network, NodeKind, Port};
use crate::units::{BitRate, Nanos};
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use super::route_table::RouteTable;

/// Routes of a whole network.
#[derive(Clone, Debug)]
pub struct Routes {
    groups: Groups,
    /// Of each group.
    tables: Vec<Shared>,
    kinds: PathKinds,
    nodes: Vec<NodeKind>,
    /// Of each node, by number.
    ports: Vec<Vec<Port>>,
    links: Vec<(BitRate, Nanos)>,
    /// Bytes of a full packet's payload.
    payload: u32,
}

impl Routes {
    /// Searches from every host. `payload` is a full packet's payload in bytes.
    ///
    /// The order of equal next hops is the 2019 simulator's, which follows the memory addresses of its nodes:
    /// hosts first and ascending, then switches descending. Parallel links count as several next hops.
    pub fn new(network: &Network, payload: u32) -> Self {
        Self::avoiding(network, payload, &[], false)
    }

    /// As [`Routes::new`], but without the links whose index `down` lists and, if `to_switches`, to switches as well.
    pub fn avoiding(network: &Network, payload: u32, down: &[u32], to_switches: bool) -> Self {
        let mut search = Search::new(network, payload, down, to_switches);
        let targets = search.groups.targets(to_switches);
        for group in 0..targets {
            search.run(group);
        }
        Routes {
            groups: search.groups,
            tables: search.tables.into_iter().map(TableBuilder::finish).collect(),
            kinds: search.kinds,
            nodes: network.nodes.clone(),
            ports: network.ports(),
            links: network.links.iter().map(|link| (link.rate, link.delay)).collect(),
            payload,
        }
    }

    /// Bytes that the tables of a network's routes take, without the lists of ports, which many share.
    pub fn table_bytes(network: &Network, to_switches: bool) -> u64 {
        let groups = Groups::new(network, &live_ports(network, &[]));
        groups.members.len() as u64 * groups.targets(to_switches) as u64 * PER_GROUP
    }

    /// What the path from host `src` to host `dst` measures, `None` if there is no path.
    pub fn path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        self.links(src, dst).map(|links| self.measure(&links))
    }

    /// What a path of these links measures.
    pub fn measure(&self, links: &[(BitRate, Nanos)]) -> PathMetrics {
        links.iter().fold(PathMetrics::HERE, |path, &link| path.extend(link, self.payload))
    }

    /// The links of the path from host `src` to host `dst`, from `src` on: rate and delay. Of several paths it is the one
    /// over the first next hop of each node.
    pub fn links(&self, src: u32, dst: u32) -> Option<Vec<(BitRate, Nanos)>> {
        let way = self.way(src, dst, |_, ports| ports.first().copied())?;
        Some(way.into_iter().map(|(_, link)| link).collect())
    }

    /// The nodes of a path from host `src` to host `dst`, without the last, each with the link behind it. `choose` has
    /// the choice of ports at each node.
    pub fn way(
        &self,
        src: u32,
        dst: u32,
        choose: impl Fn(u32, &[u16]) -> Option<u16>,
    ) -> Option<Vec<(u32, (BitRate, Nanos))>> {
        let is_host = |node: u32| self.nodes.get(node as usize) == Some(&NodeKind::Host);
        if !is_host(src) || !is_host(dst) {
            return None;
        }
        let mut way = Vec::new();
        let mut at = src;
        while at != dst {
            let port = choose(at, self.table(at).next_hops(dst))?;
            let port = self.ports.get(at as usize)?.get(usize::from(port))?;
            way.push((at, self.links[port.link as usize]));
            at = port.peer;
        }
        Some(way)
    }

    /// The links of all shortest paths from host `src` to host `dst`, in layers from `src` on, each link with the node before it;
    /// those by the port `first`, if one is given. Nothing if there is no path.
    pub fn layers(&self, src: u32, dst: u32, first: Option<u16>) -> Vec<Vec<(u32, (BitRate, Nanos))>> {
        let mut layers = Vec::new();
        let mut nodes = alloc::vec![src];
        while nodes.first().is_some_and(|&node| node != dst) {
            let (mut layer, mut next) = (Vec::new(), Vec::new());
            for node in core::mem::take(&mut nodes) {
                let table = self.table(node);
                let is_taken =
                    |port: &&u16| layers.is_empty().then_some(first).flatten().is_none_or(|first| **port == first);
                for &port in table.next_hops(dst).iter().filter(is_taken) {
                    let Some(port) = self.ports.get(node as usize).and_then(|ports| ports.get(usize::from(port)))
                    else {
                        continue;
                    };
                    layer.push((node, self.links[port.link as usize]));
                    next.push(port.peer);
                }
            }
            next.sort_unstable();
            next.dedup();
            layers.push(layer);
            nodes = next;
        }
        layers
    }

    /// The kinds of paths from a host to another one, each once: what they measure, and their links.
    pub fn kinds(&self) -> impl Iterator<Item = (PathMetrics, Vec<(BitRate, Nanos)>)> + '_ {
        self.kinds.used().map(|kind| (self.kinds.metrics(kind), self.kinds.links(kind)))
    }

    /// The next hops of a node; of a node that there is not, none.
    pub fn table(&self, node: u32) -> RouteTable {
        let Some(place) = self.groups.places.get(node as usize) else { return RouteTable::default() };
        RouteTable::new(node, Arc::clone(&self.groups.places), self.tables[place.group as usize].clone())
    }
}

/// A node as the search from one group of destinations sees it.
#[derive(Clone, Copy)]
struct Reached {
    distance: u32,
    path: Kind,
}

/// The searches from all groups.
struct Search<'a> {
    network: &'a Network,
    payload: u32,
    groups: Groups,
    /// Ports that lead to switches, and to the first host of each group.
    ports: Vec<Vec<LivePort>>,
    tables: Vec<TableBuilder>,
    kinds: PathKinds,
    /// Of the present search: what is known of each node, next hops of each group, and nodes in the order of the search.
    reached: Vec<Option<Reached>>,
    next_hops: Vec<Vec<u16>>,
    queue: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(network: &'a Network, payload: u32, down: &[u32], to_switches: bool) -> Search<'a> {
        let mut ports = live_ports(network, down);
        let groups = Groups::new(network, &ports);
        let is_switch = |node: u32| network.nodes[node as usize] == NodeKind::Switch;
        for ports in &mut ports {
            ports.retain(|port| is_switch(port.peer) || groups.is_first(port.peer));
        }
        Search {
            network,
            payload,
            ports,
            tables: groups.members.iter().map(|_| TableBuilder::new(groups.targets(to_switches))).collect(),
            kinds: PathKinds::default(),
            reached: alloc::vec![None; network.nodes.len()],
            next_hops: alloc::vec![Vec::new(); groups.members.len()],
            queue: Vec::new(),
            groups,
        }
    }

    /// Breadth-first from the neighbours of a group; only switches pass traffic on.
    fn run(&mut self, group: usize) {
        self.reached.fill(None);
        self.queue.clear();
        let first = self.groups.members[group][0];
        for at in 0..self.ports[first as usize].len() {
            let port = self.ports[first as usize][at];
            self.reach(&port, Reached { distance: 0, path: Kind::HERE });
        }
        let mut head = 0;
        while let Some(&node) = self.queue.get(head) {
            head += 1;
            let Some(from) = self.reached[node as usize] else { continue };
            for at in 0..self.ports[node as usize].len() {
                let port = self.ports[node as usize][at];
                let found = self.reach(&port, from);
                if found.distance == from.distance + 1 && self.groups.is_first(port.peer) {
                    self.next_hops[self.groups.places[port.peer as usize].group as usize].push(port.far);
                }
            }
        }
        self.record(group);
    }

    /// The far end of a port of a node; what is known of it.
    fn reach(&mut self, port: &LivePort, from: Reached) -> Reached {
        let Search { network, payload, kinds, queue, .. } = self;
        *self.reached[port.peer as usize].get_or_insert_with(|| {
            if network.nodes[port.peer as usize] == NodeKind::Switch {
                queue.push(port.peer);
            }
            let path = kinds.extend(&network.links[port.link as usize], from.path, *payload);
            Reached { distance: from.distance + 1, path }
        })
    }

    /// Enters what a search has found into the tables of all groups.
    fn record(&mut self, destination: usize) {
        let Search { groups, ports, tables, .. } = self;
        let members = &groups.members[destination];
        for (group, (table, hops)) in tables.iter_mut().zip(&mut self.next_hops).enumerate() {
            let node = groups.members[group][0];
            let reached = self.reached[node as usize];
            if reached.is_some_and(|reached| reached.distance == 1) {
                let of_member = |&member: &u32| ports[member as usize].iter().filter(|port| port.peer == node);
                table.push_each(members.len(), members.iter().flat_map(of_member).map(|port| port.far));
            } else {
                table.push(hops);
            }
            hops.clear();
            let is_pair = group != destination || members.len() > 1;
            if let Some(reached) = reached.filter(|_| is_pair && group.max(destination) < groups.of_hosts) {
                self.kinds.mark_used(reached.path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Link;
    use super::*;
    use crate::testing::network;

    /// The 2019 simulator printed rtt 4160 and bdp 52000 for two hosts on one switch at 100 Gb/s and 1 us.
    #[test]
    fn one_switch_measures_as_the_reference_says() {
        let routes = Routes::new(&network(2, 1, &[(0, 2, 100), (1, 2, 100)]), 1000);
        let path = routes.path(0, 1).expect("connected");
        assert_eq!((path.rtt(), path.bdp(path.rtt())), (Nanos(4_160), 52_000));
        assert_eq!(routes.links(0, 1), Some(alloc::vec![(BitRate::gbps(100), Nanos(1_000)); 2]));
        assert_eq!(path.standalone_fct(100_000, 1000, 48), Nanos(12_544));
    }

    #[test]
    fn equal_paths_lead_over_descending_switches_and_links_that_are_down_are_avoided() {
        // hosts 0, 1; leaves 2, 3; spines 4, 5
        let links = [(0, 2, 100), (1, 3, 100), (2, 4, 400), (2, 5, 400), (3, 4, 400), (3, 5, 400)];
        let network = network(2, 4, &links);
        for (down, hops) in [(&[][..], &[2, 1][..]), (&[2], &[2]), (&[2, 3], &[])] {
            assert_eq!(Routes::avoiding(&network, 1000, down, false).table(2).next_hops(1), hops);
        }
    }

    /// Next hops of all nodes to one, and the links of the paths there: searched from that node alone.
    type Found = Vec<(Vec<u16>, Option<Vec<(BitRate, Nanos)>>)>;

    fn search_alone(network: &Network, down: &[u32], dst: u32) -> Found {
        let ports = live_ports(network, down);
        let mut found: Vec<(Vec<u16>, Option<Vec<_>>)> = alloc::vec![(Vec::new(), None); network.nodes.len()];
        found[dst as usize].1 = Some(Vec::new());
        let mut queue = alloc::collections::VecDeque::from([dst]);
        while let Some(node) = queue.pop_front() {
            let rest = found[node as usize].1.clone().expect("reached");
            for port in &ports[node as usize] {
                let link = &network.links[port.link as usize];
                let (hops, path) = &mut found[port.peer as usize];
                let path = path.get_or_insert_with(|| {
                    if network.nodes[port.peer as usize] == NodeKind::Switch {
                        queue.push_back(port.peer);
                    }
                    [&[(link.rate, link.delay)], &rest[..]].concat()
                });
                if path.len() == rest.len() + 1 {
                    hops.push(port.far);
                }
            }
        }
        found
    }

    /// Hosts with one link or several, cables between hosts, parallel links, equal and different rates, links that are down.
    fn draw(random: &mut crate::random::Integers) -> (Network, Vec<u32>) {
        let mut below = |end: u32| random.draw() / 8 % end;
        let (hosts, switches) = (1 + below(9), below(7));
        let mut nodes = alloc::vec![NodeKind::Host; hosts as usize];
        nodes.resize((hosts + switches) as usize, NodeKind::Switch);
        let links = (0..below(40)).filter_map(|_| {
            let (a, b) = (below(hosts + switches), below(hosts + switches));
            let rate = BitRate::gbps(if below(4) == 0 { 25 } else { 100 });
            (a != b).then_some(Link { a, b, rate, delay: Nanos(1_000), loss: 0.0 })
        });
        let links: Vec<Link> = links.collect();
        let down = (0..links.len() as u32).filter(|_| below(8) == 0).collect();
        (Network { nodes, links }, down)
    }

    #[test]
    fn groups_of_nodes_have_the_routes_that_a_search_from_each_node_finds() {
        let mut random = crate::random::Integers::new(1);
        let mut shared = 0;
        for _ in 0..1_000 {
            let (network, down) = draw(&mut random);
            let routes = Routes::avoiding(&network, 1_000, &down, true);
            shared += network.nodes.len() - routes.groups.members.len();
            let mut kinds = alloc::collections::BTreeSet::new();
            for dst in 0..network.nodes.len() as u32 {
                for (node, (hops, path)) in (0..).zip(search_alone(&network, &down, dst)) {
                    assert_eq!(routes.table(node).next_hops(dst), hops, "{node} to {dst} {network:?} {down:?}");
                    if network.is_host(node) && network.is_host(dst) {
                        assert_eq!(routes.links(node, dst), path, "{node} to {dst} {network:?} {down:?}");
                        kinds.extend(path.filter(|_| node != dst));
                    }
                }
            }
            assert_eq!(routes.kinds().map(|(_, links)| links).collect::<alloc::collections::BTreeSet<_>>(), kinds);
        }
        assert!(shared > 500, "nodes that are linked alike: {shared}");
    }
}
