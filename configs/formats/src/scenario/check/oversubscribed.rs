// SPDX-License-Identifier: GPL-2.0-only
//! Random traffic against the links between racks, or pods, and the rest of the network.

use super::overbooked::{ROUNDING, changes};
use crate::flows::Traffic;
use hpcc_core::topology::Network;
use std::collections::VecDeque;
use std::fmt;

/// Hosts that random traffic brings more from elsewhere than links to them carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oversubscribed {
    /// How many they are.
    pub hosts: u32,
    /// The first of them.
    pub first: u32,
    /// Mean payload that they are sent from elsewhere, in bits per second.
    pub offered: f64,
    /// What links between them and the rest carry, in bits per second.
    pub capacity: f64,
}

impl Oversubscribed {
    fn load(&self) -> f64 {
        self.offered / self.capacity
    }
}

impl fmt::Display for Oversubscribed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Oversubscribed { hosts, first, .. } = self;
        let (gbps, percent) = (self.offered / 1e9, self.load() * 100.0);
        write!(
            f,
            "the {hosts} hosts around host {first} are offered {gbps:.3} Gb/s from elsewhere on average, {percent:.1} % of the \
             links to them"
        )
    }
}

/// Finds the part of the network that is sent the most from elsewhere, for what links to it carry, if that is more than they
/// carry.
pub(super) fn find(network: &Network, traffic: &[Traffic]) -> Option<Oversubscribed> {
    let mut levels = levels(network);
    let racks: Vec<f64> = levels.first()?.sizes(network);
    let all = network.hosts().count() as f64;
    let mut worst: Option<Oversubscribed> = None;
    for (_, begins, offer) in changes(traffic) {
        for level in &mut levels {
            for &(host, rate) in &offer.rates {
                let (rack, part) = (racks[host as usize], level.part_of[host as usize]);
                if rack >= all {
                    continue;
                }
                let stays = offer.rack_share.unwrap_or((rack - 1.0) / (all - 1.0));
                let elsewhere = (1.0 - stays) * (all - f64::from(level.parts[part].hosts)) / (all - rack);
                level.parts[part].offered += if begins { rate * elsewhere } else { -rate * elsewhere };
            }
            let over = level.parts.iter().filter(|part| part.capacity > 0.0 && part.load() > 1.0 + ROUNDING);
            for part in over {
                if worst.is_none_or(|worst| part.load() > worst.load()) {
                    worst = Some(*part);
                }
            }
        }
    }
    worst
}

/// The network in parts that links of lower tiers hold together: racks, then pods, then more.
struct Level {
    /// By node.
    part_of: Vec<usize>,
    parts: Vec<Oversubscribed>,
}

impl Level {
    /// How many hosts are in the part of each node.
    fn sizes(&self, network: &Network) -> Vec<f64> {
        (0..network.nodes.len()).map(|node| f64::from(self.parts[self.part_of[node]].hosts)).collect()
    }
}

/// One for each tier of switches: it leaves out what is above, and links within a tier.
fn levels(network: &Network) -> Vec<Level> {
    let tiers = tiers(network);
    let top = tiers.iter().copied().filter(|tier| *tier != u32::MAX).max().unwrap_or(0);
    (1..=top).map(|tier| level(network, &tiers, tier)).collect()
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

fn level(network: &Network, tiers: &[u32], top: u32) -> Level {
    let mut part_of: Vec<usize> = (0..network.nodes.len()).collect();
    for link in &network.links {
        let (a, b) = (tiers[link.a as usize], tiers[link.b as usize]);
        if a != b && a.max(b) <= top {
            let (a, b) = (root(&mut part_of, link.a as usize), root(&mut part_of, link.b as usize));
            part_of[a.max(b)] = a.min(b);
        }
    }
    (0..part_of.len()).for_each(|node| part_of[node] = root(&mut part_of, node));
    let nothing = Oversubscribed { hosts: 0, first: 0, offered: 0.0, capacity: 0.0 };
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
    Level { part_of, parts }
}

/// The node that stands for the part of a node.
fn root(part_of: &mut [usize], node: usize) -> usize {
    let mut at = node;
    while part_of[at] != at {
        part_of[at] = part_of[part_of[at]];
        at = part_of[at];
    }
    at
}
