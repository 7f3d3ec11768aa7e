// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of nodes as users name them.

use super::{Network, NodeKind};
use crate::address::{AddressSet, host_address, ipv6};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// Nodes of a network, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSet(Vec<u32>);

impl NodeSet {
    /// The nodes that a text names: `none`, `all`, `hosts`, `switches`, or numbers and ranges (`0,4-7`).
    ///
    /// # Errors
    /// If it names something else: a sentence for the user.
    pub fn parse(text: &str, network: &Network) -> Result<NodeSet, String> {
        match text.trim() {
            "" | "none" => Ok(NodeSet::default()),
            "all" => Ok(NodeSet((0..network.nodes.len() as u32).collect())),
            "hosts" => Ok(NodeSet::hosts(network)),
            "switches" => Ok(NodeSet(network.switches().collect())),
            list => {
                let mut nodes = Vec::new();
                for part in list.split(',') {
                    nodes.extend(range(part.trim(), network.nodes.len())?);
                }
                nodes.sort_unstable();
                nodes.dedup();
                Ok(NodeSet(nodes))
            }
        }
    }

    /// The hosts that such a text names; `all` are all hosts.
    ///
    /// # Errors
    /// If it names something else, or a switch: a sentence for the user.
    pub fn parse_hosts(text: &str, network: &Network) -> Result<NodeSet, String> {
        if text.trim() == "all" {
            return Ok(NodeSet::hosts(network));
        }
        let nodes = NodeSet::parse(text, network)?;
        let switch = nodes.iter().find(|&node| !network.is_host(node));
        switch.map_or(Ok(nodes), |node| Err(format!("node {node} is a switch; expected hosts")))
    }

    /// All hosts.
    pub fn hosts(network: &Network) -> NodeSet {
        NodeSet(network.hosts().collect())
    }

    /// The nodes.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Whether a node is among them.
    pub fn contains(&self, node: u32) -> bool {
        self.0.binary_search(&node).is_ok()
    }

    /// The nodes that are not among `others`.
    pub fn without(&self, others: &NodeSet) -> NodeSet {
        NodeSet(self.iter().filter(|&node| !others.contains(node)).collect())
    }

    /// Their addresses.
    pub fn addresses(&self) -> AddressSet {
        self.iter().map(|node| ipv6(host_address(node))).collect()
    }

    /// The addresses of hosts, which are looked up for every packet: one prefix if they are all hosts.
    pub fn host_addresses(&self, network: &Network) -> AddressSet {
        let all_hosts = !self.0.is_empty() && network.hosts().all(|node| self.contains(node));
        if all_hosts { AddressSet::plan() } else { self.addresses() }
    }
}

fn range(text: &str, count: usize) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let (Some(first), Some(last)) = (number(first), number(last)) else {
        return Err(format!("\"{text}\" is no node; expected none, all, hosts, switches, or numbers and ranges"));
    };
    if first > last || last as usize >= count {
        let most = count.saturating_sub(1);
        return Err(format!(
            "there is no node {}; expected 0 to {most}",
            if first > last { text } else { text.trim() }
        ));
    }
    Ok(first..=last)
}

impl Network {
    /// Whether a node is a host.
    pub fn is_host(&self, node: u32) -> bool {
        self.nodes.get(node as usize) == Some(&NodeKind::Host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        use NodeKind::{Host, Switch};
        Network { nodes: alloc::vec![Host, Switch, Host, Host, Switch], links: Vec::new() }
    }

    #[test]
    fn words_numbers_and_ranges_name_nodes() {
        let network = network();
        for (text, expected) in [
            ("none", &[][..]),
            ("", &[]),
            ("all", &[0, 1, 2, 3, 4]),
            ("hosts", &[0, 2, 3]),
            ("switches", &[1, 4]),
            ("3, 0-1,1", &[0, 1, 3]),
        ] {
            assert_eq!(NodeSet::parse(text, &network), Ok(NodeSet(expected.into())), "{text}");
        }
        for wrong in ["5", "host", "3-1", "1,", "-1"] {
            assert!(NodeSet::parse(wrong, &network).is_err(), "{wrong}");
        }
        let hosts = NodeSet::hosts(&network);
        assert_eq!(hosts.without(&NodeSet(alloc::vec![2])), NodeSet(alloc::vec![0, 3]));
    }

    #[test]
    fn addresses_of_all_hosts_are_one_prefix() {
        let network = network();
        let address = |node| ipv6(host_address(node));
        let of = |text| NodeSet::parse(text, &network).expect(text);
        for some in [of("0,3").addresses(), of("0,3").host_addresses(&network)] {
            assert_eq!([0, 2, 3].map(|node| some.contains(&address(node))), [true, false, true]);
        }
        assert_eq!(of("hosts").host_addresses(&network), AddressSet::plan());
        assert_eq!(of("none").host_addresses(&network), AddressSet::default());
    }
}
