// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for two paths of one length that look alike.
//!
//! From each host backwards: what a switch's paths to it are called follows from what those of its next hops are called. Hosts
//! that are linked alike count once. A search ends when two paths have one name, or when it has taken too long.

use super::super::alike::{Groups, LivePort, live_ports};
use super::super::{Network, NodeKind};
use super::PathName;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The ways that packets of one flow may take through a network.
#[derive(Clone, Debug)]
pub struct FlowPaths<'a> {
    /// The network.
    pub network: &'a Network,
    /// Of each node, whether packets of one flow may leave it by several ports, be it one after the other; empty: of none.
    pub parting: Vec<bool>,
    /// Switches that add no record, ascending.
    pub blind: Vec<u32>,
    /// Links that are down together, at one time or another. The first is the state at the start.
    pub down: Vec<Vec<u32>>,
}

/// Two paths that records do not tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// Host at which both begin.
    pub src: u32,
    /// Host at which both end.
    pub dst: u32,
    /// Their switches.
    pub paths: [Vec<u32>; 2],
    /// Where they have the same: the two nodes with several links between them.
    pub parallel: Option<(u32, u32)>,
}

impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from host {} to host {}", self.src, self.dst)?;
        if let Some((from, to)) = self.parallel {
            let is_last = to == self.dst;
            let end = if is_last { "host" } else { "switch" };
            return write!(f, " by one or another of the parallel links from switch {from} to {end} {to}");
        }
        let listed = |path: &[u32]| path.iter().map(|node| alloc::format!("{node}")).collect::<Vec<String>>().join("-");
        let [one, other] = &self.paths;
        write!(f, " over switches {} or {}", listed(one), listed(other))
    }
}

/// A search that has taken too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Steps that a search may yet take.
pub(super) struct Steps(pub u64);

impl Steps {
    fn take(&mut self, steps: usize) -> Result<(), TooLong> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(TooLong)?;
        Ok(())
    }
}

impl<'a> FlowPaths<'a> {
    /// Packets of a flow take one path.
    pub fn single(network: &'a Network) -> FlowPaths<'a> {
        FlowPaths { network, parting: Vec::new(), blind: Vec::new(), down: vec![Vec::new()] }
    }

    /// Packets of a flow may take any path.
    pub fn any(network: &'a Network) -> FlowPaths<'a> {
        FlowPaths { parting: vec![true; network.nodes.len()], ..FlowPaths::single(network) }
    }

    /// Whether a flow can have more than one.
    pub fn part(&self) -> bool {
        self.parting.contains(&true)
    }

    /// Two paths that look alike, if there are any. `ids` are those of the nodes.
    pub(super) fn find(
        &self,
        name: PathName,
        ids: &dyn Fn(u32) -> u16,
        steps: &mut Steps,
    ) -> Result<Option<Alike>, TooLong> {
        if name == PathName::Links || !self.part() {
            return Ok(None);
        }
        for down in &self.down {
            steps.take(self.network.nodes.len() + 4 * self.network.links.len())?;
            let found = Search::new(self, name, ids, down).run(steps)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// The search among the paths of one state of the network.
struct Search<'a> {
    ways: &'a FlowPaths<'a>,
    name: PathName,
    ids: &'a dyn Fn(u32) -> u16,
    ports: Vec<Vec<LivePort>>,
    groups: Groups,
    /// Of the present destination: links to it from each node, nodes in the order of the search, and those that a path from a
    /// host passes.
    distances: Vec<u32>,
    order: Vec<u32>,
    passed: Vec<bool>,
    /// What the paths of each node to it are called.
    names: Vec<Vec<u16>>,
    /// The node that has a name already, and when it was entered.
    known: Vec<(u32, u32)>,
    round: u32,
}

impl<'a> Search<'a> {
    fn new(ways: &'a FlowPaths<'a>, name: PathName, ids: &'a dyn Fn(u32) -> u16, down: &[u32]) -> Search<'a> {
        let nodes = ways.network.nodes.len();
        let ports = live_ports(ways.network, down);
        let names = if let PathName::Xor(bits) = name { 1_usize << bits } else { 0 };
        Search {
            groups: Groups::new(ways.network, &ports),
            ways,
            name,
            ids,
            ports,
            distances: vec![u32::MAX; nodes],
            order: Vec::new(),
            passed: vec![false; nodes],
            names: vec![Vec::new(); nodes],
            known: vec![(0, 0); names],
            round: 0,
        }
    }

    fn run(&mut self, steps: &mut Steps) -> Result<Option<Alike>, TooLong> {
        let mut seen = BTreeSet::new();
        for group in 0..self.groups.of_hosts {
            let dst = self.groups.members[group][0];
            if !seen.insert(self.surroundings(dst)) {
                continue;
            }
            let found = self.paths_to(dst, steps)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Of each switch of a host: its id but for what all have in common, whether packets part there, and its neighbours. The
    /// paths to hosts with the same look alike or not by the same switches: they differ in the last one, which is on all of them.
    fn surroundings(&self, host: u32) -> Vec<(u16, bool, Vec<u32>)> {
        let first = self.ports[host as usize].first().map_or(0, |port| self.id(port.peer));
        let of = |port: &LivePort| {
            let peers = self.ports[port.peer as usize].iter().map(|port| port.peer);
            let switches = peers.filter(|&peer| !self.ways.network.is_host(peer)).collect();
            (self.id(port.peer) ^ first, self.parts(port.peer), switches)
        };
        self.ports[host as usize].iter().map(of).collect()
    }

    fn paths_to(&mut self, dst: u32, steps: &mut Steps) -> Result<Option<Alike>, TooLong> {
        self.measure(dst, steps)?;
        self.mark_passed();
        for at in 0..self.order.len() {
            let node = self.order[at];
            if !self.passed[node as usize] || node == dst {
                continue;
            }
            let found = match self.name {
                PathName::Links => None,
                PathName::Length => self.fork(node),
                PathName::Switches => self.parallel(node).or_else(|| self.blind_fork(node)),
                PathName::Xor(_) => self.enter(node, steps)?,
            };
            if let Some((one, other)) = found {
                return Ok(Some(self.alike(dst, node, one, other)));
            }
        }
        Ok(None)
    }

    /// Breadth-first from a host; only switches pass traffic on.
    fn measure(&mut self, dst: u32, steps: &mut Steps) -> Result<(), TooLong> {
        self.distances.fill(u32::MAX);
        self.order.clear();
        self.distances[dst as usize] = 0;
        self.order.push(dst);
        self.names[dst as usize] = vec![0];
        let mut head = 0;
        while let Some(&node) = self.order.get(head) {
            head += 1;
            let forwards = node == dst || self.ways.network.nodes[node as usize] == NodeKind::Switch;
            let ports = if forwards { self.ports[node as usize].as_slice() } else { &[] };
            steps.take(1 + ports.len())?;
            let distance = self.distances[node as usize] + 1;
            for port in ports {
                let known = &mut self.distances[port.peer as usize];
                if *known == u32::MAX {
                    *known = distance;
                    self.order.push(port.peer);
                }
            }
        }
        Ok(())
    }

    /// Of hosts that are linked alike two count: a source, and one beside the destination.
    fn mark_passed(&mut self) {
        self.passed.fill(false);
        for at in (0..self.order.len()).rev() {
            let node = self.order[at];
            let is_source = self.ways.network.is_host(node) && self.groups.places[node as usize].member < 2;
            if !is_source && !self.passed[node as usize] {
                continue;
            }
            self.passed[node as usize] = true;
            for port in 0..self.ports[node as usize].len() {
                let peer = self.ports[node as usize][port].peer;
                if self.is_next(node, peer) {
                    self.passed[peer as usize] = true;
                }
            }
        }
    }

    fn is_next(&self, node: u32, peer: u32) -> bool {
        let distance = self.distances[node as usize];
        let is_nearer = self.distances[peer as usize].checked_add(1) == Some(distance);
        is_nearer && (self.ways.network.nodes[peer as usize] == NodeKind::Switch || distance == 1)
    }

    /// The next hops of a node; parallel links lead to one several times.
    fn next_hops(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        self.ports[node as usize].iter().map(|port| port.peer).filter(move |&peer| self.is_next(node, peer))
    }

    fn parts(&self, node: u32) -> bool {
        self.ways.parting.get(node as usize) == Some(&true)
    }

    fn id(&self, node: u32) -> u16 {
        let adds = !self.ways.network.is_host(node) && self.ways.blind.binary_search(&node).is_err();
        if adds { (self.ids)(node) } else { 0 }
    }

    /// Two next hops by which packets part. From a host to one switch the link does not matter: no record is of it.
    fn fork(&self, node: u32) -> Option<(u32, u32)> {
        let mut hops = self.next_hops(node);
        let first = hops.next().filter(|_| self.parts(node))?;
        let is_host = self.ways.network.is_host(node);
        hops.find(|&hop| !is_host || hop != first).map(|other| (first, other))
    }

    /// Parallel links by which packets part.
    fn parallel(&self, node: u32) -> Option<(u32, u32)> {
        if !self.parts(node) || self.ways.network.is_host(node) {
            return None;
        }
        let mut hops = BTreeSet::new();
        self.next_hops(node).find(|&hop| !hops.insert(hop)).map(|hop| (hop, hop))
    }

    /// Switches without a record by which packets part.
    fn blind_fork(&self, node: u32) -> Option<(u32, u32)> {
        let mut hops = self.next_hops(node).filter(|hop| self.ways.blind.binary_search(hop).is_ok());
        let first = hops.next().filter(|_| self.parts(node))?;
        hops.find(|&hop| hop != first).map(|other| (first, other))
    }

    /// Enters what the paths from a node are called. Returns two next hops with paths of one name.
    fn enter(&mut self, node: u32, steps: &mut Steps) -> Result<Option<(u32, u32)>, TooLong> {
        let parallel = self.parallel(node);
        if parallel.is_some() {
            return Ok(parallel);
        }
        self.round += 1;
        let (own, parts) = (self.id(node), self.parts(node));
        let mut all = core::mem::take(&mut self.names[node as usize]);
        all.clear();
        let hops: Vec<u32> = self.next_hops(node).collect();
        for (place, &hop) in hops.iter().enumerate() {
            if hops[..place].contains(&hop) {
                continue;
            }
            let names = &self.names[hop as usize];
            steps.take(names.len())?;
            for &name in names {
                let known = &mut self.known[usize::from(name)];
                if known.0 == self.round {
                    if parts {
                        return Ok(Some((known.1, hop)));
                    }
                    continue;
                }
                *known = (self.round, hop);
                all.push(name ^ own);
            }
        }
        self.names[node as usize] = all;
        Ok(None)
    }

    /// The two paths from a host by `node` and these next hops.
    fn alike(&self, dst: u32, node: u32, one: u32, other: u32) -> Alike {
        let mut front = vec![node];
        let mut at = node;
        while !self.ways.network.is_host(at) {
            let back = |port: &&LivePort| self.passed[port.peer as usize] && self.is_next(port.peer, at);
            let Some(port) = self.ports[at as usize].iter().find(back) else { break };
            at = port.peer;
            front.push(at);
        }
        front.reverse();
        let shared = |&name: &u16| self.names[other as usize].contains(&name);
        let name = self.names[one as usize].iter().copied().find(shared);
        let path = |first: u32| {
            let mut path = front[1..].to_vec();
            self.follow(first, name, &mut path);
            path
        };
        let parallel = (one == other).then_some((node, one));
        Alike { src: front[0], dst, paths: [path(one), path(other)], parallel }
    }

    /// The switches from a node to the destination on a path of this name.
    fn follow(&self, mut node: u32, name: Option<u16>, path: &mut Vec<u32>) {
        let mut name = name.filter(|_| matches!(self.name, PathName::Xor(_)));
        while !self.ways.network.is_host(node) {
            path.push(node);
            name = name.map(|name| name ^ self.id(node));
            let leads = |&hop: &u32| name.is_none_or(|name| self.names[hop as usize].contains(&name));
            let Some(hop) = self.next_hops(node).find(leads) else { break };
            node = hop;
        }
    }
}
