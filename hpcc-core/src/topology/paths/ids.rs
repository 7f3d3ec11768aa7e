// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ids of switches by whose exclusive or a network's equally long paths differ.
//!
//! Three attempts, each of which the search of [`FlowPaths`] judges:
//! 1. The switches' own numbers.
//! 2. As in a tree: a switch with others above it has its place among those that are above the ones below it, so that on the way up
//!    and down again equal places cancel out; those at the top have numbers of their own, which tell the paths.
//! 3. Numbers of which one of two paths that look alike is drawn anew, again and again.

use super::super::Network;
use super::flow_paths::{Steps, TooLong};
use super::{FlowPaths, PathIdentity, PathName};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Steps of an attempt: some tens of milliseconds.
const STEPS: u64 = 1 << 24;
/// Ids that are drawn anew.
const DRAWS: u64 = 200;

impl FlowPaths<'_> {
    /// Whether records with such names tell the paths apart, and by which ids. The same network has the same ids each time.
    pub fn tell(&self, name: PathName) -> PathIdentity {
        let numbers = self.tell_by(name, None);
        let can_help = match &numbers {
            PathIdentity::Apart(_) => false,
            PathIdentity::Alike(alike) => alike.parallel.is_none(),
            PathIdentity::Unknown => true,
        };
        let PathName::Xor(bits) = name else { return numbers };
        if !can_help {
            return numbers;
        }
        let mask = u16::MAX >> 16u32.saturating_sub(bits);
        let by_place = places(self.network).into_iter().map(|id| id & mask).collect();
        let attempt = self.with(by_place, name).or_else(|| self.drawn(name, mask));
        attempt.map_or(numbers, |ids| PathIdentity::Apart(Some(ids)))
    }

    /// Whether they do where nodes have these ids; `None`: their numbers.
    pub fn tell_by(&self, name: PathName, ids: Option<&[u16]>) -> PathIdentity {
        let bits = if let PathName::Xor(bits) = name { bits } else { 16 };
        let mask = u16::MAX >> 16u32.saturating_sub(bits);
        let id = |node: u32| ids.and_then(|ids| ids.get(node as usize)).copied().unwrap_or(node as u16) & mask;
        match self.find(name, &id, &mut Steps(STEPS)) {
            Ok(None) => PathIdentity::Apart(None),
            Ok(Some(alike)) => PathIdentity::Alike(alike),
            Err(TooLong) => PathIdentity::Unknown,
        }
    }

    fn with(&self, ids: Vec<u16>, name: PathName) -> Option<Arc<[u16]>> {
        let found = self.find(name, &|node| ids[node as usize], &mut Steps(STEPS));
        (found == Ok(None)).then(|| Arc::from(ids))
    }

    fn drawn(&self, name: PathName, mask: u16) -> Option<Arc<[u16]>> {
        let mut steps = Steps(STEPS);
        let mut ids: Vec<u16> = (0..self.network.nodes.len() as u64).map(|node| draw(node) & mask).collect();
        for round in 0..DRAWS {
            let Some(alike) = self.find(name, &|node| ids[node as usize], &mut steps).ok()? else {
                return Some(ids.into());
            };
            let [one, other] = &alike.paths;
            let apart = |one: &[u32], other: &[u32]| -> Vec<u32> {
                one.iter().filter(|node| !other.contains(node)).copied().collect()
            };
            let own = [apart(one, other), apart(other, one)].concat();
            let place = draw(round << 32) as usize % own.len().max(1);
            ids[*own.get(place)? as usize] = draw(round << 32 | 1) & mask;
        }
        None
    }
}

/// A number that looks like chance (the finalizer of SplitMix64).
fn draw(of: u64) -> u16 {
    let mut bits = of.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ bits >> 31) as u16
}

/// The ids of the second attempt.
fn places(network: &Network) -> Vec<u16> {
    let ports = network.ports();
    let tiers = tiers(network, &ports);
    let mut top = 0_u16;
    let mut ids = vec![0; ports.len()];
    for node in network.switches() {
        let tier = tiers[node as usize];
        let mut peers = ports[node as usize].iter().map(|port| port.peer);
        if tier > 1 && !peers.clone().any(|peer| tiers[peer as usize] > tier) {
            ids[node as usize] = top;
            top = top.wrapping_add(1);
            continue;
        }
        let Some(below) = peers.find(|&peer| tiers[peer as usize] < tier) else { continue };
        let mut above: Vec<u32> = ports[below as usize].iter().map(|port| port.peer).collect();
        above.retain(|&peer| tiers[peer as usize] == tier);
        above.dedup();
        ids[node as usize] = above.iter().position(|&peer| peer == node).unwrap_or(0) as u16;
    }
    ids
}

/// How far each node is from the nearest host.
fn tiers(network: &Network, ports: &[Vec<super::super::Port>]) -> Vec<u32> {
    let mut tiers = vec![u32::MAX; ports.len()];
    let mut queue: VecDeque<u32> = network.hosts().collect();
    queue.iter().for_each(|&host| tiers[host as usize] = 0);
    while let Some(node) = queue.pop_front() {
        for port in &ports[node as usize] {
            if tiers[port.peer as usize] == u32::MAX {
                tiers[port.peer as usize] = tiers[node as usize] + 1;
                queue.push_back(port.peer);
            }
        }
    }
    tiers
}
