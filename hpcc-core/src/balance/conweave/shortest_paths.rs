// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts the shortest paths between switches.

use crate::topology::{Network, NodeKind};
use crate::units::Nanos;
use alloc::collections::{BTreeMap, VecDeque};

/// The shortest paths to a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortestPaths {
    pub links: u32,
    pub paths: u32,
    /// Longest delay of these paths.
    pub delay: Nanos,
}

/// The shortest paths from a switch to all others.
pub fn ways(network: &Network, from: u32) -> BTreeMap<u32, ShortestPaths> {
    let ports = network.ports();
    let mut ways = BTreeMap::from([(from, ShortestPaths { links: 0, paths: 1, delay: Nanos(0) })]);
    let mut next = VecDeque::from([from]);
    while let Some(node) = next.pop_front() {
        let near = ways[&node];
        for port in ports.get(node as usize).into_iter().flatten() {
            if network.nodes[port.peer as usize] != NodeKind::Switch {
                continue;
            }
            let delay = near.delay + network.links[port.link as usize].delay;
            let fresh = ShortestPaths { links: near.links + 1, paths: 0, delay };
            let far = ways.entry(port.peer).or_insert_with(|| {
                next.push_back(port.peer);
                fresh
            });
            if far.links == fresh.links {
                far.paths = far.paths.saturating_add(near.paths);
                far.delay = far.delay.max(delay);
            }
        }
    }
    ways
}
