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
    /// The nodes that a text names, with commas between: numbers, ranges (`0,4-7`), `none`, `all`, `hosts`, `switches`, and of
    /// switches `leaf` (those with hosts), `spine` (a link further away from hosts) and `core` (all beyond).
    ///
    /// # Errors
    /// If it names something else: a sentence for the user.
    pub fn parse(text: &str, network: &Network) -> Result<NodeSet, String> {
        let mut nodes = Vec::new();
        for part in text.split(',').filter(|_| !text.trim().is_empty()) {
            match part.trim() {
                "none" => {}
                "all" => nodes.extend(0..network.nodes.len() as u32),
                "hosts" => nodes.extend(network.hosts()),
                "switches" => nodes.extend(network.switches()),
                "leaf" => nodes.extend(tier(network, 1..=1)),
                "spine" => nodes.extend(tier(network, 2..=2)),
                "core" => nodes.extend(tier(network, 3..=usize::MAX)),
                range => nodes.extend(self::range(range, network.nodes.len())?),
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Ok(NodeSet(nodes))
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

    /// The switches that such a text names; `all` are all switches.
    ///
    /// # Errors
    /// If it names something else, or a host: a sentence for the user.
    pub fn parse_switches(text: &str, network: &Network) -> Result<NodeSet, String> {
        if text.trim() == "all" {
            return Ok(NodeSet(network.switches().collect()));
        }
        let nodes = NodeSet::parse(text, network)?;
        let host = nodes.iter().find(|&node| network.is_host(node));
        host.map_or(Ok(nodes), |node| Err(format!("node {node} is a host; expected switches")))
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

/// The switches at these distances from the nearest host, in links.
fn tier(network: &Network, distances: RangeInclusive<usize>) -> impl Iterator<Item = u32> {
    let mut found: Vec<Option<usize>> =
        network.nodes.iter().map(|kind| (*kind == NodeKind::Host).then_some(0)).collect();
    let mut reached = 0;
    loop {
        let mut next = found.clone();
        for link in &network.links {
            for (near, far) in [(link.a, link.b), (link.b, link.a)] {
                if found[near as usize] == Some(reached) && found[far as usize].is_none() {
                    next[far as usize] = Some(reached + 1);
                }
            }
        }
        if next == found {
            break;
        }
        (found, reached) = (next, reached + 1);
    }
    let is_in = move |distance: &Option<usize>| distance.is_some_and(|distance| distances.contains(&distance));
    (0..).zip(found).filter(move |(_, distance)| is_in(distance)).map(|(node, _)| node)
}

fn range(text: &str, count: usize) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let (Some(first), Some(last)) = (number(first), number(last)) else {
        return Err(format!(
            "\"{text}\" is no node; expected none, all, hosts, switches, leaf, spine, core, or numbers and ranges"
        ));
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
    use crate::topology::Link;
    use crate::units::{BitRate, Nanos};

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

    /// Two hosts below a leaf each, a spine, and a core.
    #[test]
    fn tiers_of_switches_have_names() {
        use NodeKind::{Host, Switch};
        let link = |(a, b)| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1), loss: 0.0 };
        let links = [(0, 2), (1, 3), (2, 4), (3, 4), (4, 5)].map(link);
        let network = Network { nodes: alloc::vec![Host, Host, Switch, Switch, Switch, Switch], links: links.into() };
        for (text, expected) in
            [("leaf", &[2, 3][..]), ("spine", &[4]), ("core", &[5]), ("core, 0, leaf", &[0, 2, 3, 5])]
        {
            assert_eq!(NodeSet::parse(text, &network), Ok(NodeSet(expected.into())), "{text}");
        }
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
