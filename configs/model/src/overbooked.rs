// SPDX-License-Identifier: GPL-2.0-only
//! Random traffic against the links to its receivers, and those between racks, or pods, and the rest of the network.

use crate::generate::Offer;
use hpcc_core::topology::Network;
use std::collections::VecDeque;
use std::fmt;

/// Less beyond a full link is rounding.
const ROUNDING: f64 = 1e-6;

/// Hosts to which random traffic brings more than their links carry: one host, or a rack or pod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overbooked {
    /// How many they are.
    pub hosts: u32,
    /// The first of them.
    pub first: u32,
    /// Mean payload that they are sent from elsewhere, in bits per second.
    pub offered: f64,
    /// Capacity of the links between them and the rest, in bits per second.
    pub capacity: f64,
    /// How many other such parts there are.
    pub others: usize,
}

impl Overbooked {
    /// Their load as a fraction of their links' capacity; above 1.
    pub fn load(&self) -> f64 {
        self.offered / self.capacity
    }
}

impl fmt::Display for Overbooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overbooked { hosts, first, others, .. } = self;
        let (gbps, percent) = (self.offered / 1e9, self.load() * 100.0);
        match hosts {
            1 => write!(f, "host {first} is offered {gbps:.3} Gb/s on average, {percent:.1} % of its links")?,
            _ => write!(
                f,
                "the {hosts} hosts around host {first} are offered {gbps:.3} Gb/s from elsewhere on average, {percent:.1} % of \
                 the links to them"
            )?,
        }
        match (hosts, others) {
            (1, 1) => write!(f, ", and 1 other host more than its own"),
            (1, 2..) => write!(f, ", and {others} other hosts more than their own"),
            _ => Ok(()),
        }
    }
}

/// The host, and the rack or pod, with the largest load from elsewhere for its links; each if the load is more than
/// they carry.
pub fn overbooked(network: &Network, offers: &[Offer]) -> Vec<Overbooked> {
    let tiers = tiers(network);
    let top = tiers.iter().copied().filter(|tier| *tier != u32::MAX).max().unwrap_or(0);
    let mut levels: Vec<Level> = (0..=top).map(|tier| Level::new(network, &tiers, tier)).collect();
    let racks: Vec<f64> = levels.get(1).map(|racks| racks.sizes(network)).unwrap_or_default();
    for (begins, offer) in changes(offers) {
        levels.iter_mut().for_each(|level| level.change(begins, offer, &racks));
    }
    let of_host = levels.first().and_then(Level::most);
    let of_fabric = levels.iter().skip(1).filter_map(Level::most).reduce(larger);
    of_host.into_iter().chain(of_fabric).collect()
}

/// Of equal ones the first.
fn larger(most: Overbooked, other: Overbooked) -> Overbooked {
    if other.load() > most.load() { other } else { most }
}

/// When random traffic begins and ends, by time; at equal times ends come first.
fn changes(offers: &[Offer]) -> impl Iterator<Item = (bool, &Offer)> {
    let offers = offers.iter().filter(|offer| offer.start < offer.end);
    let mut changes: Vec<_> =
        offers.flat_map(|offer| [(offer.start, true, offer), (offer.end, false, offer)]).collect();
    changes.sort_by_key(|&(time, begins, _)| (time, begins));
    changes.into_iter().map(|(_, begins, offer)| (begins, offer))
}

/// The share of a host's load that comes from outside its part of the network, of so many hosts.
fn from_elsewhere(part: u32, rack: f64, all: u32, offer: &Offer) -> f64 {
    let all = f64::from(all);
    if rack >= all {
        return 0.0;
    }
    let stays = offer.rack_share.unwrap_or((rack - 1.0) / (all - 1.0));
    (1.0 - stays) * (all - f64::from(part)) / (all - rack)
}

/// The network in parts that links of lower tiers hold together: hosts, then racks, then pods, then more.
struct Level {
    /// Whether each host is a part.
    is_of_hosts: bool,
    /// By node.
    part_of: Vec<usize>,
    parts: Vec<Overbooked>,
    /// The parts when they were offered the most.
    worst: Vec<Option<Overbooked>>,
}

impl Level {
    /// Leaves out switches above a tier, and links within a tier.
    fn new(network: &Network, tiers: &[u32], top: u32) -> Level {
        let mut part_of: Vec<usize> = (0..network.nodes.len()).collect();
        for link in &network.links {
            let (a, b) = (tiers[link.a as usize], tiers[link.b as usize]);
            if a != b && a.max(b) <= top {
                let (a, b) = (root(&mut part_of, link.a as usize), root(&mut part_of, link.b as usize));
                part_of[a.max(b)] = a.min(b);
            }
        }
        (0..part_of.len()).for_each(|node| part_of[node] = root(&mut part_of, node));
        let nothing = Overbooked { hosts: 0, first: 0, offered: 0.0, capacity: 0.0, others: 0 };
        let mut parts = vec![nothing; part_of.len()];
        for host in network.hosts() {
            let part = &mut parts[part_of[host as usize]];
            part.first = if part.hosts == 0 { host } else { part.first };
            part.hosts += 1;
        }
        for link in &network.links {
            let (a, b) = (part_of[link.a as usize], part_of[link.b as usize]);
            if a != b {
                parts[a].capacity += link.rate.0 as f64;
                parts[b].capacity += link.rate.0 as f64;
            }
        }
        let worst = vec![None; parts.len()];
        Level { is_of_hosts: top == 0, part_of, parts, worst }
    }

    /// How many hosts are in the part of each node.
    fn sizes(&self, network: &Network) -> Vec<f64> {
        (0..network.nodes.len()).map(|node| f64::from(self.parts[self.part_of[node]].hosts)).collect()
    }

    /// Random traffic begins or ends; `racks` has the hosts in the rack of each node.
    fn change(&mut self, begins: bool, offer: &Offer, racks: &[f64]) {
        let all: u32 = self.parts.iter().map(|part| part.hosts).sum();
        for &(host, rate) in &offer.rates {
            let part = &mut self.parts[self.part_of[host as usize]];
            let share =
                if self.is_of_hosts { 1.0 } else { from_elsewhere(part.hosts, racks[host as usize], all, offer) };
            part.offered += if begins { rate * share } else { -rate * share };
        }
        for (part, worst) in self.parts.iter().zip(&mut self.worst) {
            let is_over = part.capacity > 0.0 && part.load() > 1.0 + ROUNDING;
            if is_over && worst.is_none_or(|worst| part.offered > worst.offered) {
                *worst = Some(*part);
            }
        }
    }

    fn most(&self) -> Option<Overbooked> {
        let worst = || self.worst.iter().flatten().copied();
        let others = worst().count().saturating_sub(1);
        worst().reduce(larger).map(|most| Overbooked { others, ..most })
    }
}

/// Links from each node to the nearest host.
fn tiers(network: &Network) -> Vec<u32> {
    let ports = network.ports();
    let mut tiers = vec![u32::MAX; network.nodes.len()];
    let mut waiting: VecDeque<u32> = network.hosts().collect();
    waiting.iter().for_each(|&host| tiers[host as usize] = 0);
    while let Some(node) = waiting.pop_front() {
        for port in &ports[node as usize] {
            if tiers[port.peer as usize] == u32::MAX {
                tiers[port.peer as usize] = tiers[node as usize] + 1;
                waiting.push_back(port.peer);
            }
        }
    }
    tiers
}

/// The node that stands for the part of a node, shortening the way to it.
fn root(part_of: &mut [usize], node: usize) -> usize {
    let mut at = node;
    while part_of[at] != at {
        part_of[at] = part_of[part_of[at]];
        at = part_of[at];
    }
    at
}
