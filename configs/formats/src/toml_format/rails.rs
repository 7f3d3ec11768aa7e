// SPDX-License-Identifier: GPL-2.0-only
//! Whether each GPU of a server has a rail of its own: then messages that change their place on the way can do so inside a
//! server.

use hpcc_core::topology::Network;
use std::collections::BTreeMap;

/// Whether no switch has hosts of two places, and one has hosts of two servers. Servers are so many hosts behind each other.
pub(super) fn are_own(network: &Network, gpus: u32) -> bool {
    // The place and the server of a host at each switch.
    let mut known: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let mut join_servers = false;
    for (host, switch) in network.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]) {
        if !network.is_host(host) || network.is_host(switch) {
            continue;
        }
        let (place, server) = *known.entry(switch).or_insert((host % gpus, host / gpus));
        if place != host % gpus {
            return false;
        }
        join_servers |= server != host / gpus;
    }
    join_servers && gpus > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::topology::{Link, NodeKind};
    use hpcc_core::units::{BitRate, Nanos};

    /// Four hosts, each at one of two switches.
    fn network(switches: [u32; 4]) -> Network {
        let link = |(a, b)| Link { a, b, rate: BitRate::gbps(400), delay: Nanos(500), loss: 0.0 };
        let nodes = [[NodeKind::Host; 4], [NodeKind::Switch; 4]].concat();
        Network { nodes, links: (0..).zip(switches.map(|switch| 4 + switch)).map(link).collect() }
    }

    #[test]
    fn switches_tell() {
        assert!(are_own(&network([0, 1, 0, 1]), 2), "a rail for each place");
        assert!(!are_own(&network([0, 0, 0, 0]), 2), "one switch for all");
        assert!(!are_own(&network([0, 0, 1, 1]), 2), "one for each server");
        assert!(!are_own(&network([0, 1, 2, 3]), 2), "one for each host");
        assert!(!are_own(&network([0, 1, 0, 1]), 4), "a single server");
        assert!(!are_own(&network([0, 0, 0, 0]), 1), "a GPU a server");
    }
}
