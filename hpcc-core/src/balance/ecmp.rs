// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equal-cost multipath: the hash that spreads flows over next hops.

use super::{Choice, LoadBalancer, Scheme};
use crate::random::Integers;
use crate::topology::Network;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Seed with which a host with several ports chooses one.
pub const HOST_SEED: u32 = 0x8bad_f00d;

/// What the hash covers, as the words that are hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowKey {
    /// IPv4 source address, as an integer.
    pub src_address: u32,
    /// IPv4 destination address, as an integer.
    pub dst_address: u32,
    /// UDP source port.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
}

impl FlowKey {
    /// MurmurHash3 (x86, 32 bits) of the key; a switch seeds it with its node id.
    #[inline]
    pub fn hash(&self, seed: u32) -> u32 {
        let words = [self.src_address, self.dst_address, u32::from(self.sport) | u32::from(self.dport) << 16];
        let mixed = words.iter().fold(seed, |hash, &word| {
            let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
            (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
        });
        finish(mixed ^ (4 * words.len() as u32))
    }

    /// The one of `choices` that the hash selects; `None` if there is none.
    #[inline]
    pub fn choose(&self, seed: u32, choices: &[u16]) -> Option<u16> {
        match choices {
            [] => None,
            [only] => Some(*only),
            _ => Some(choices[remainder(self.hash(seed), choices.len() as u32) as usize]),
        }
    }
}

impl FlowKey {
    /// The one of several links to a flow's destination that it takes. Each is a NIC with an address of its own, so that no switch
    /// chooses: the flows between two hosts have them in turn, from one on that the hash of the hosts selects. Their own port, which
    /// grows with each, is above that of the service, and so the answers' way back is the same.
    #[inline]
    pub fn last_link(&self, seed: u32, links: &[u16]) -> Option<u16> {
        let first = FlowKey { sport: 0, dport: 0, ..*self }.hash(seed);
        let place = first.wrapping_add(self.sport.max(self.dport).into());
        let place = place.checked_rem(links.len() as u32)?;
        links.get(place as usize).copied()
    }
}

/// `hash % choices`, without a division where there is a power of two of them, as in most networks.
#[inline]
fn remainder(hash: u32, choices: u32) -> u32 {
    if choices.is_power_of_two() { hash & (choices - 1) } else { hash % choices }
}

#[inline]
fn finish(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

crate::named! {
    /// The seed of a switch's hash.
    pub enum Seed {
        /// Its number.
        Switch = "switch",
        /// Its distance from the nearest host.
        Tier = "tier",
        /// None.
        None = "none",
    }
}

crate::settings! {
    /// ECMP: a hash of the flow chooses.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Ecmp {
        /// What seeds a switch's hash: its number, its distance from the hosts (`tier`), or nothing (`none`).
        #[change = "Choose `none` to see flows that a switch sent one way stay together at the next one (polarisation)."]
        pub ecmp_seed: Seed = Seed::Switch => scheme = "ecmp";
        /// Whether flows spread by the rates of next hops that have several; otherwise each has as many.
        #[change = "Turn it on where links between switches have several rates."]
        pub ecmp_weighted: bool = false => scheme = "ecmp";
    }
}

impl Scheme for Ecmp {
    fn name(&self) -> &'static str {
        "ecmp"
    }

    fn is_plain(&self) -> bool {
        *self == Ecmp::default()
    }

    fn start(&self, network: &Network, switch: u32) -> Box<dyn LoadBalancer> {
        let seed = match self.ecmp_seed {
            Seed::Switch => switch,
            Seed::Tier => tier(network, switch),
            Seed::None => 0,
        };
        Box::new(EcmpBalancer { seed, weighted: self.ecmp_weighted })
    }
}

/// ECMP at a switch.
#[derive(Debug)]
pub struct EcmpBalancer {
    /// Seed of the hash.
    pub seed: u32,
    /// Whether the rates of next hops count.
    pub weighted: bool,
}

impl LoadBalancer for EcmpBalancer {
    fn keeps(&self) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>, _: &mut Integers) -> u16 {
        let &Choice { key, hops, ports, .. } = choice;
        let rate = |hop: &u16| ports.rate(*hop).0;
        if self.weighted && hops.iter().any(|hop| rate(hop) != rate(&hops[0])) {
            let all: u128 = hops.iter().map(|hop| u128::from(rate(hop))).sum();
            let mut place = (all * u128::from(key.hash(self.seed))) >> 32;
            for hop in hops {
                match place.checked_sub(rate(hop).into()) {
                    None => return *hop,
                    Some(rest) => place = rest,
                }
            }
        }
        key.choose(self.seed, hops).unwrap_or_default()
    }
}

/// How many links a node is away from the nearest host.
fn tier(network: &Network, node: u32) -> u32 {
    let mut near = BTreeSet::from([node]);
    let mut links = 0;
    while !near.iter().any(|&node| network.is_host(node)) {
        let known = near.len();
        let ends = network.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        let next: Vec<u32> = ends.filter(|(a, _)| near.contains(a)).map(|(_, b)| b).collect();
        near.extend(next);
        links += 1;
        if near.len() == known {
            break;
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::testing::Bench;
    use crate::testing::network;

    /// Values of the `mmh3` Python package for the same 12 bytes.
    #[test]
    fn hash_is_murmur3() {
        let zero = FlowKey::default();
        assert_eq!(zero.hash(0), 0xd941_144b);
        let key = FlowKey { src_address: 0x0b00_0001, dst_address: 0x0b00_0201, sport: 10_000, dport: 100 };
        assert_eq!((key.hash(3), key.hash(HOST_SEED)), (0xbf01_86cb, 0xbdbc_95ad));
    }

    #[test]
    fn a_remainder_is_that_of_the_division() {
        for choices in 1..70 {
            for hash in [0, 1, 63, 64, 0xdead_beef, u32::MAX] {
                assert_eq!(remainder(hash, choices), hash % choices);
            }
        }
    }

    const HOPS: [u16; 4] = [2, 3, 5, 7];

    #[test]
    fn flows_of_two_hosts_have_the_last_links_in_turn() {
        let key = FlowKey { src_address: 0x0b00_0001, dst_address: 0x0b00_0201, sport: 10_000, dport: 4_791 };
        // Channels have service ports of their own.
        let flow = |n: u16| FlowKey { sport: 10_000 + n, dport: 100 + n, ..key };
        let links: Vec<u16> = (0..8).filter_map(|n| flow(n).last_link(9, &HOPS)).collect();
        let mut first: Vec<u16> = links[..4].into();
        first.sort_unstable();
        assert_eq!((&first[..], &links[..4]), (&HOPS[..], &links[4..]));
        let answer = FlowKey { sport: key.dport, dport: key.sport, ..key };
        assert_eq!(answer.last_link(9, &HOPS), key.last_link(9, &HOPS), "answers follow their flow");
        assert_eq!(key.last_link(9, &[]), None);
        // Of 6,000 pairs of hosts a quarter each, give or take five standard deviations.
        let of = |src_address| FlowKey { src_address, ..key }.last_link(9, &HOPS);
        for link in HOPS {
            let count = (0..6_000).filter(|&src| of(src) == Some(link)).count();
            assert!(count.abs_diff(1_500) < 168, "{link}: {count}");
        }
    }

    /// Of 7,000 flows the slow link gets 1/13, the others 4/13 each, give or take five standard deviations.
    #[test]
    fn flows_spread_by_rates_where_there_are_several() {
        let weighted = Ecmp { ecmp_weighted: true, ..Ecmp::default() };
        let [mut plain, mut bench] = [Ecmp::default(), weighted].map(|ecmp| Bench::new(&ecmp));
        assert!((0..100).all(|flow| bench.choose(0, flow, &HOPS) == plain.choose(0, flow, &HOPS)), "all are as fast");
        bench.ports.slow[3] = true;
        let taken: Vec<u16> = (0..7_000).map(|flow| bench.choose(0, flow, &HOPS)).collect();
        for (hop, expected, margin) in [(2, 2_154, 193), (3, 538, 112), (5, 2_154, 193), (7, 2_154, 193)] {
            let count = taken.iter().filter(|&&port| port == hop).count();
            assert!(count.abs_diff(expected) < margin, "{hop}: {count}");
        }
    }

    /// Hosts 0 and 1, edge 2, spine 3, edge 4; 5 is alone.
    #[test]
    fn the_seed_is_the_switch_its_tier_or_none() {
        let network = network(2, 4, &[(0, 2, 8), (2, 3, 8), (3, 4, 8)]);
        assert_eq!([2, 3, 4, 5].map(|switch| tier(&network, switch)), [1, 2, 3, 1]);
        let key = FlowKey { sport: 77, ..FlowKey::default() };
        let choice = Choice {
            now: crate::units::Nanos(0),
            dst: 0,
            key: &key,
            priority: 3,
            hops: &HOPS,
            ports: &crate::balance::testing::Given::default(),
        };
        for (ecmp_seed, seed) in [(Seed::Switch, 4), (Seed::Tier, 3), (Seed::None, 0)] {
            let mut balancer = Ecmp { ecmp_seed, ..Ecmp::default() }.start(&network, 4);
            let port = balancer.choose(&choice, &mut Integers::new(1));
            assert_eq!(Some(port), key.choose(seed, &HOPS), "{ecmp_seed:?}");
        }
    }
}
