// SPDX-License-Identifier: GPL-2.0-only
//! Sets of nodes as attributes name them.

use hpcc_core::fast_cnp::{Prefix, Prefixes};
use hpcc_core::frame::simulated::ipv6;
use hpcc_core::switch::host_address;
use hpcc_core::topology::NodeKind;

/// The nodes that a text names: `none`, `all`, `hosts`, `switches`, or numbers and ranges (`0,4-7`), in ascending order.
pub fn nodes(text: &str, network: &[NodeKind]) -> Result<Vec<u32>, String> {
    let of_kind = |kind| (0..).zip(network).filter(|&(_, known)| *known == kind).map(|(node, _)| node).collect();
    match text.trim() {
        "" | "none" => Ok(Vec::new()),
        "all" => Ok((0..network.len() as u32).collect()),
        "hosts" => Ok(of_kind(NodeKind::Host)),
        "switches" => Ok(of_kind(NodeKind::Switch)),
        list => {
            let mut nodes = Vec::new();
            for part in list.split(',') {
                nodes.extend(range(part.trim(), network.len())?);
            }
            nodes.sort_unstable();
            nodes.dedup();
            Ok(nodes)
        }
    }
}

fn range(text: &str, count: usize) -> Result<std::ops::RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&node| (node as usize) < count);
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(format!(
            "\"{text}\" is no node; expected none, all, hosts, switches, or numbers and ranges below {count}"
        )),
    }
}

/// The nodes as a text: what [`nodes`] reads.
pub fn text(nodes: &[u32]) -> String {
    if nodes.is_empty() {
        return "none".into();
    }
    nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// The addresses of these nodes.
pub fn prefixes(nodes: &[u32]) -> Prefixes {
    Prefixes(nodes.iter().map(|&node| Prefix::host(ipv6(host_address(node)))).collect())
}

/// The same for addresses of hosts, which are asked about for every packet: one prefix where they are all hosts.
pub fn host_prefixes(nodes: &[u32], network: &[NodeKind]) -> Prefixes {
    /// What the addresses of a network have in common.
    const PLAN: u8 = 96;
    let has = |node: &u32| nodes.binary_search(node).is_ok();
    let all_hosts = (0..).zip(network).filter(|&(_, kind)| *kind == NodeKind::Host).all(|(node, _)| has(&node));
    let plan = Prefix::new(ipv6(0), PLAN).filter(|_| all_hosts && !nodes.is_empty());
    plan.map_or_else(|| prefixes(nodes), |plan| Prefixes(vec![plan]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: [NodeKind; 5] = [NodeKind::Host, NodeKind::Switch, NodeKind::Host, NodeKind::Host, NodeKind::Switch];

    #[test]
    fn words_numbers_and_ranges_name_nodes() {
        for (text, expected) in [
            ("none", &[][..]),
            ("", &[]),
            ("all", &[0, 1, 2, 3, 4]),
            ("hosts", &[0, 2, 3]),
            ("switches", &[1, 4]),
            ("3, 0-1,1", &[0, 1, 3]),
        ] {
            assert_eq!(nodes(text, &NETWORK).as_deref(), Ok(expected), "{text}");
            assert_eq!(nodes(&self::text(expected), &NETWORK).as_deref(), Ok(expected));
        }
        for wrong in ["5", "host", "3-1", "1,", "-1"] {
            assert!(nodes(wrong, &NETWORK).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_of_all_hosts_are_one_prefix() {
        let address = |node| ipv6(host_address(node));
        for some in [prefixes(&[0, 3]), host_prefixes(&[0, 3], &NETWORK)] {
            assert_eq!([0, 2, 3].map(|node| some.contains(&address(node))), [true, false, true]);
        }
        let all = host_prefixes(&[0, 2, 3], &NETWORK);
        assert!(all.0.len() == 1 && all.contains(&address(3)));
        assert!(host_prefixes(&[], &NETWORK).0.is_empty());
    }
}
