// SPDX-License-Identifier: MIT OR Apache-2.0
//! Divides a network among the processes of a parallel simulation.
//!
//! A frame that crosses from one process to another is known to the other one only as late as the link's delay allows. So
//! links of hosts stay within a process, and those without delay: what hangs together by them is a *unit*, usually a rack.
//! The processes get units so that each has about the same work, by the rates of its ports, and few links are cut.

use super::{Link, Network, NodeKind};
use crate::units::Nanos;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Passes over all units in which each may move to another process.
const PASSES: usize = 8;
/// A process has at most so many percent more than its share, unless a single unit has more.
const SLACK_PERCENT: u64 = 5;

/// Why a network cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewUnits {
    /// Into how many parts it can be divided at most.
    pub units: u32,
}

/// The parts of a network that no process boundary divides.
#[derive(Clone, Debug)]
pub struct Units {
    /// The unit of each node.
    of_node: Vec<u32>,
    /// The rates of all ports of each, in Mb/s.
    weights: Vec<u64>,
    /// The rates of the links between a unit and its neighbours, in Mb/s.
    neighbours: Vec<BTreeMap<u32, u64>>,
    /// The shortest delay between two of them.
    window: Option<Nanos>,
}

impl Units {
    /// The units of a network.
    pub fn new(network: &Network) -> Units {
        Units::with(network, &[])
    }

    /// The units of a network in which these pairs of nodes belong together.
    pub fn with(network: &Network, pairs: &[(u32, u32)]) -> Units {
        let is_host = |node: u32| network.nodes[node as usize] == NodeKind::Host;
        let of_node = unite(network, pairs, |link| is_host(link.a) || is_host(link.b) || link.delay.0 == 0);
        let count = of_node.iter().max().map_or(0, |&last| last as usize + 1);
        let mut units =
            Units { of_node, weights: vec![0; count], neighbours: vec![BTreeMap::new(); count], window: None };
        for link in &network.links {
            let rate = (link.rate.0 / 1_000_000).max(1);
            let (a, b) = (units.of_node[link.a as usize], units.of_node[link.b as usize]);
            for (unit, other) in [(a, b), (b, a)] {
                units.weights[unit as usize] += rate;
                if unit != other {
                    *units.neighbours[unit as usize].entry(other).or_default() += rate;
                    units.window = Some(units.window.map_or(link.delay, |window| window.min(link.delay)));
                }
            }
        }
        units
    }

    /// For so long nothing that happens in one unit can matter in another: the shortest delay between two. `None` if there
    /// are no two that are linked.
    pub fn window(&self) -> Option<Nanos> {
        self.window
    }

    /// The process, from 0 on, of each node.
    ///
    /// # Errors
    /// If there are fewer units than processes.
    pub fn divide(&self, processes: u32) -> Result<Vec<u32>, TooFewUnits> {
        let units = self.weights.len() as u32;
        if units < processes {
            return Err(TooFewUnits { units });
        }
        let mut parts = self.grow(processes.max(1));
        self.refine(&mut parts, processes.max(1));
        Ok(self.of_node.iter().map(|&unit| parts[unit as usize]).collect())
    }

    /// Fills one process after the other with the units that have the largest part of their links to it. So racks come
    /// before switches that connect many pods.
    fn grow(&self, processes: u32) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let count = self.weights.len();
        let mut parts = vec![NONE; count];
        let mut left: u64 = self.weights.iter().sum();
        let mut units_left = count;
        let outside: Vec<u64> = self.neighbours.iter().map(|neighbours| neighbours.values().sum()).collect();
        for part in 0..processes {
            let share = left / u64::from(processes - part);
            let others = (processes - part - 1) as usize;
            let mut attraction = vec![0u64; count];
            let mut weight = 0;
            while units_left > others {
                let of_all = |unit: usize| 1_000 * attraction[unit] / outside[unit].max(1);
                let free = (0..count).rev().filter(|&unit| parts[unit] == NONE);
                // The unit with the strongest links to this part; among equals the one with the fewest links, then the first.
                let Some(unit) = free.max_by_key(|&unit| (of_all(unit), Reverse(outside[unit]))) else { break };
                if others > 0 && weight > 0 && weight + self.weights[unit] / 2 > share {
                    break;
                }
                parts[unit] = part;
                units_left -= 1;
                weight += self.weights[unit];
                for (&neighbour, &rate) in &self.neighbours[unit] {
                    attraction[neighbour as usize] += rate;
                }
            }
            left -= weight;
        }
        parts
    }

    /// Moves units to processes that they have more links to, while the work stays balanced.
    fn refine(&self, parts: &mut [u32], processes: u32) {
        let total: u64 = self.weights.iter().sum();
        let most = total / u64::from(processes) * (100 + SLACK_PERCENT) / 100;
        let mut weights = vec![0; processes as usize];
        let mut counts = vec![0; processes as usize];
        for (unit, &part) in parts.iter().enumerate() {
            weights[part as usize] += self.weights[unit];
            counts[part as usize] += 1;
        }
        for _ in 0..PASSES {
            let mut moved = false;
            for unit in 0..parts.len() {
                let mut rates = vec![0; processes as usize];
                for (&neighbour, &rate) in &self.neighbours[unit] {
                    rates[parts[neighbour as usize] as usize] += rate;
                }
                let from = parts[unit] as usize;
                let fits = |&to: &usize| to == from || weights[to] + self.weights[unit] <= most;
                let best = (0..processes as usize).rev().filter(fits).max_by_key(|&to| (rates[to], to == from));
                let Some(to) = best.filter(|&to| to != from && counts[from] > 1) else { continue };
                parts[unit] = to as u32;
                weights[from] -= self.weights[unit];
                weights[to] += self.weights[unit];
                counts[from] -= 1;
                counts[to] += 1;
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }
}

/// What hangs together by these pairs of nodes, and by the links that `together` names: a number for each node, from 0 on in
/// the order of nodes.
pub fn unite(network: &Network, pairs: &[(u32, u32)], together: impl Fn(&Link) -> bool) -> Vec<u32> {
    let mut leader: Vec<u32> = (0..network.nodes.len() as u32).collect();
    let linked = network.links.iter().filter(|link| together(link)).map(|link| (link.a, link.b));
    for (a, b) in linked.chain(pairs.iter().copied()) {
        let (a, b) = (find(&mut leader, a), find(&mut leader, b));
        leader[a.max(b) as usize] = a.min(b);
    }
    let mut numbers = BTreeMap::new();
    (0..network.nodes.len() as u32)
        .map(|node| {
            let next = numbers.len() as u32;
            *numbers.entry(find(&mut leader, node)).or_insert(next)
        })
        .collect()
}

/// The first node of those that one is united with.
fn find(leader: &mut [u32], node: u32) -> u32 {
    let mut first = node;
    while leader[first as usize] != first {
        leader[first as usize] = leader[leader[first as usize] as usize];
        first = leader[first as usize];
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;

    /// Racks of two hosts behind a switch each, in pods of two racks with a switch, and a switch above all pods.
    fn pods(pods: u32, delay_ns: u64) -> Network {
        let mut network = Network { nodes: vec![NodeKind::Switch], links: Vec::new() };
        let mut add = |kind, above: u32, gbps, delay| {
            network.nodes.push(kind);
            let node = network.nodes.len() as u32 - 1;
            let rate = BitRate::gbps(gbps);
            network.links.push(Link { a: node, b: above, rate, delay: Nanos(delay), loss: 0.0 });
            node
        };
        for _ in 0..pods {
            let pod = add(NodeKind::Switch, 0, 100, delay_ns);
            for _ in 0..2 {
                let rack = add(NodeKind::Switch, pod, 100, delay_ns / 2);
                add(NodeKind::Host, rack, 100, 10);
                add(NodeKind::Host, rack, 100, 10);
            }
        }
        network
    }

    #[test]
    fn pods_mostly_stay_whole_and_work_is_balanced() {
        let network = pods(8, 2_000);
        let units = Units::new(&network);
        assert_eq!(units.window(), Some(Nanos(1_000)));
        for processes in [2, 4] {
            let parts = units.divide(processes).expect("25 units");
            let is_cut = |link: &&Link| parts[link.a as usize] != parts[link.b as usize];
            let below_the_top = network.links.iter().filter(is_cut).filter(|link| link.b != 0).count();
            assert!(below_the_top < processes as usize, "{processes}: pods are cut {below_the_top} times");
            let hosts = |part| network.hosts().filter(|&host| parts[host as usize] == part).count();
            let hosts: Vec<usize> = (0..processes).map(hosts).collect();
            let share = 32 / processes as usize;
            assert!(hosts.iter().all(|&count| count.abs_diff(share) <= 4), "{processes}: {hosts:?}");
        }
    }

    #[test]
    fn hosts_and_links_without_delay_are_not_cut_off() {
        let units = Units::new(&pods(2, 0));
        assert_eq!(units.window(), None);
        assert_eq!(units.divide(2), Err(TooFewUnits { units: 1 }));
        let units = Units::new(&pods(1, 10));
        assert_eq!(units.divide(5), Err(TooFewUnits { units: 4 }));
        let parts = units.divide(4).expect("as many units");
        let mut sorted = parts.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted, [0, 1, 2, 3], "nobody is left without work: {parts:?}");
        assert_eq!(parts[2..5], [parts[2]; 3], "a rack is a unit");
    }
}
