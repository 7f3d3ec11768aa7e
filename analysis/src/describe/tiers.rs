// SPDX-License-Identifier: GPL-2.0-only
//! How far switches are from hosts.

use std::collections::BTreeMap;

use hpcc_core::topology::{Network, NodeKind};

/// The least number of links from each node to a host, less one: switches of hosts are of tier 0. None where no host can be
/// reached, and of hosts.
pub fn tiers(network: &Network) -> Vec<Option<u32>> {
    let ports = network.ports();
    let mut tiers: Vec<Option<u32>> = vec![None; network.nodes.len()];
    let mut below: Vec<u32> = network.hosts().collect();
    for tier in 0.. {
        let mut found = Vec::new();
        for port in below.iter().flat_map(|node| &ports[*node as usize]) {
            let place = &mut tiers[port.peer as usize];
            if place.is_none() && network.nodes[port.peer as usize] == NodeKind::Switch {
                *place = Some(tier);
                found.push(port.peer);
            }
        }
        if found.is_empty() {
            break;
        }
        below = found;
    }
    tiers
}

/// Hosts, then the switches of each tier; last those that no host is linked to.
pub fn by_tier(network: &Network) -> Vec<Vec<u32>> {
    let mut switches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (node, tier) in (0..).zip(tiers(network)) {
        if !network.is_host(node) {
            switches.entry(tier.unwrap_or(u32::MAX)).or_default().push(node);
        }
    }
    [network.hosts().collect()].into_iter().chain(switches.into_values()).collect()
}
