// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equal-cost multipath: the hash that spreads flows over next hops.

use super::{Choice, LoadBalancer, Scheme};
use crate::random::GlibcRand;
use crate::settings::Settings;
use alloc::boxed::Box;

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

/// ECMP, with a hash that is seeded by the switch.
#[derive(Clone, Debug, Default)]
pub struct Ecmp;

impl Settings for Ecmp {}

impl Scheme for Ecmp {
    fn name(&self) -> &'static str {
        "ecmp"
    }

    fn start(&self, switch: u32) -> Box<dyn LoadBalancer> {
        Box::new(EcmpBalancer { seed: switch })
    }
}

/// ECMP at a switch.
#[derive(Debug)]
pub struct EcmpBalancer {
    /// Of the hash.
    pub seed: u32,
}

impl LoadBalancer for EcmpBalancer {
    fn keeps(&self) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>, _: &mut GlibcRand) -> u16 {
        choice.key.choose(self.seed, choice.hops).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
