// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is connected to what, and the routes and path metrics that follow from it.

mod alike;
mod node_set;
pub mod partition;
mod path_kinds;
pub mod paths;
mod route_table;
pub mod routes;

pub use node_set::NodeSet;

use crate::units::{BitRate, Nanos, Rounding};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What a node does with a frame that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Ends flows; never forwards.
    Host,
    /// A node that forwards frames.
    Switch,
}

/// A full-duplex cable between two nodes. Both ends have the same rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Index of the node at one end.
    pub a: u32,
    /// Index of the node at the other end.
    pub b: u32,
    /// Rate of each direction.
    pub rate: BitRate,
    /// Propagation delay, one way.
    pub delay: Nanos,
    /// Probability that a frame is lost on this link, 0 to 1.
    pub loss: f64,
}

/// Nodes and links. The k-th link (from 0) that mentions a node makes the node's port k + 1, as in the
/// 2019 simulator's topology file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Kind of each node; a node's index is its id.
    pub nodes: Vec<NodeKind>,
    /// Links in port-numbering order.
    pub links: Vec<Link>,
}

/// One end of a link, seen from the node that owns it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    /// Node at the far end.
    pub peer: u32,
    /// Index into [`Network::links`].
    pub link: u32,
    /// Port of the far end, counted from 0.
    pub far_port: u16,
}

impl Link {
    /// The shortest time for which it can be down: what was on it when it failed is gone then, were it the largest frame.
    pub fn least_outage(&self) -> Nanos {
        const LARGEST_FRAME: u32 = 10_000;
        Nanos(self.delay.0.saturating_add(self.rate.tx_time(LARGEST_FRAME, Rounding::Nearest).0))
    }
}

impl Network {
    /// The ports of every node, in port order: `ports()[node][k]` is port k + 1.
    pub fn ports(&self) -> Vec<Vec<Port>> {
        let mut ports: Vec<Vec<Port>> = self.nodes.iter().map(|_| Vec::new()).collect();
        for (index, link) in self.links.iter().enumerate() {
            let (at_a, at_b) = (ports[link.a as usize].len() as u16, ports[link.b as usize].len() as u16);
            ports[link.a as usize].push(Port { peer: link.b, link: index as u32, far_port: at_b });
            ports[link.b as usize].push(Port { peer: link.a, link: index as u32, far_port: at_a });
        }
        ports
    }

    /// The links that connect two nodes directly: indices into [`Network::links`].
    pub fn links_between(&self, a: u32, b: u32) -> Vec<u32> {
        let connects = |link: &Link| (link.a, link.b) == (a, b) || (link.a, link.b) == (b, a);
        self.links.iter().zip(0..).filter(|(link, _)| connects(link)).map(|(_, index)| index).collect()
    }

    /// Links that another one between the same nodes follows: indices into [`Network::links`].
    pub fn superseded_links(&self) -> Vec<u32> {
        let mut last = BTreeMap::new();
        let ends = |link: &Link| (link.a.min(link.b), link.a.max(link.b));
        self.links.iter().zip(0..).filter_map(|(link, index)| last.insert(ends(link), index)).collect()
    }

    /// The delay of the links to the nearest of `targets`; hosts forward nothing.
    pub fn nearest(&self, from: u32, targets: &NodeSet) -> Option<Nanos> {
        let (mut near, mut passed) = (BTreeSet::from([(Nanos(0), from)]), BTreeSet::new());
        while let Some((delay, node)) = near.pop_first() {
            if targets.contains(node) {
                return Some(delay);
            }
            let forwards = node == from || self.nodes.get(node as usize) == Some(&NodeKind::Switch);
            if passed.insert(node) && forwards {
                let ends =
                    self.links.iter().flat_map(|link| [(link.a, link.b, link.delay), (link.b, link.a, link.delay)]);
                near.extend(ends.filter(|end| end.0 == node).map(|(_, far, further)| (delay + further, far)));
            }
        }
        None
    }

    /// Rates of the links that end at a host.
    pub fn host_rates(&self) -> impl Iterator<Item = BitRate> + '_ {
        let is_host = |node: u32| self.nodes.get(node as usize) == Some(&NodeKind::Host);
        self.links.iter().filter(move |link| is_host(link.a) || is_host(link.b)).map(|link| link.rate)
    }

    /// The rate by which switches and hosts call a link fast: that of the first link of the first host, if there is one.
    pub fn host_rate(&self) -> Option<BitRate> {
        let host = self.hosts().next()?;
        self.links.iter().find(|link| link.a == host || link.b == host).map(|link| link.rate)
    }

    /// Rates of the links that end at a switch.
    pub fn switch_rates(&self) -> impl Iterator<Item = BitRate> + '_ {
        let is_switch = |node: u32| self.nodes.get(node as usize) == Some(&NodeKind::Switch);
        self.links.iter().filter(move |link| is_switch(link.a) || is_switch(link.b)).map(|link| link.rate)
    }

    /// The time that the slowest host link takes to drain `buffer` bytes: no packet waits longer at a switch with that
    /// much memory unless PFC pauses it.
    pub fn longest_wait(&self, buffer: u64) -> Nanos {
        let slowest = self.host_rates().min().map_or(1, |rate| rate.0.max(1));
        let nanos = u128::from(buffer) * 8 * 1_000_000_000 / u128::from(slowest);
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Indices of all hosts, ascending.
    pub fn hosts(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.of_kind(NodeKind::Host)
    }

    /// Indices of all switches, ascending.
    pub fn switches(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.of_kind(NodeKind::Switch)
    }

    fn of_kind(&self, kind: NodeKind) -> impl DoubleEndedIterator<Item = u32> + '_ {
        (0..self.nodes.len() as u32).filter(move |&n| self.nodes[n as usize] == kind)
    }
}
