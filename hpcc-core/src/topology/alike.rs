// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that are linked alike: of one kind, with links of equal rate and delay from equal ports to the same neighbours.
//!
//! The hosts of a rack are, for example. From such nodes the ways to any other node are the same, and the ways to such
//! nodes differ in the last link only. So routes are searched and stored for a group of them instead of for each.

use super::{Network, NodeKind};
use crate::units::{BitRate, Nanos};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A port whose link is up.
#[derive(Clone, Copy, Debug)]
pub(super) struct LivePort {
    /// Node at the far end.
    pub peer: u32,
    /// Index into [`Network::links`].
    pub link: u32,
    /// Number of the port at its own node.
    pub own: u16,
    /// Number of the port at the far end.
    pub far: u16,
}

/// Where a node is among the groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Number of its group.
    pub group: u32,
    /// Place in its group.
    pub member: u32,
}

/// The groups of a network, hosts first.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// Place of each node.
    pub places: Arc<[Place]>,
    /// The nodes of each group, ascending.
    pub members: Vec<Vec<u32>>,
    /// So many groups are of hosts.
    pub of_hosts: usize,
}

impl Groups {
    /// Groups the nodes by these ports of each.
    pub fn new(network: &Network, ports: &[Vec<LivePort>]) -> Groups {
        let mut groups = Groups { places: Arc::new([]), members: Vec::new(), of_hosts: 0 };
        let mut places = alloc::vec![Place { group: 0, member: 0 }; network.nodes.len()];
        groups.add(network, ports, network.hosts(), &mut places);
        groups.of_hosts = groups.members.len();
        groups.add(network, ports, network.switches(), &mut places);
        groups.places = places.into();
        groups
    }

    fn add(
        &mut self,
        network: &Network,
        ports: &[Vec<LivePort>],
        nodes: impl Iterator<Item = u32>,
        places: &mut [Place],
    ) {
        let linked = |port: &LivePort| -> (u32, u16, BitRate, Nanos) {
            let link = &network.links[port.link as usize];
            (port.peer, port.own, link.rate, link.delay)
        };
        let mut known = BTreeMap::new();
        for node in nodes {
            let links: Vec<_> = ports[node as usize].iter().map(linked).collect();
            let group = *known.entry(links).or_insert_with(|| {
                self.members.push(Vec::new());
                self.members.len() - 1
            });
            places[node as usize] = Place { group: group as u32, member: self.members[group].len() as u32 };
            self.members[group].push(node);
        }
    }

    /// Destinations are the first so many groups: hosts, or all nodes.
    pub fn targets(&self, to_switches: bool) -> usize {
        if to_switches { self.members.len() } else { self.of_hosts }
    }

    /// Whether a node is the first of its group, which stands for all of it.
    pub fn is_first(&self, node: u32) -> bool {
        self.places[node as usize].member == 0
    }
}

/// The ports of every node whose links are not among `down`, in the order in which the 2019 simulator visits the
/// neighbours, which follows the memory addresses of its nodes: hosts first and ascending, then switches descending.
pub(super) fn live_ports(network: &Network, down: &[u32]) -> Vec<Vec<LivePort>> {
    let mut is_down = alloc::vec![false; network.links.len()];
    for &link in down {
        is_down[link as usize] = true;
    }
    let order = |port: &LivePort| match network.nodes[port.peer as usize] {
        NodeKind::Host => (0, i64::from(port.peer)),
        NodeKind::Switch => (1, -i64::from(port.peer)),
    };
    let mut all = network.ports();
    let of_node = |ports: &mut Vec<super::Port>| {
        let numbered = ports.iter().zip(0..).filter(|(port, _)| !is_down[port.link as usize]);
        let live = numbered.map(|(port, own)| LivePort { peer: port.peer, link: port.link, own, far: port.far_port });
        let mut live: Vec<LivePort> = live.collect();
        live.sort_by_key(order);
        live
    };
    all.iter_mut().map(of_node).collect()
}
