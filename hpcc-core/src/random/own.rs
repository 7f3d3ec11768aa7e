// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequences that belong to somebody: each begins at a place of its own, which nothing else moves.

use crate::recurrence::Plain;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter, mixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Own {
    /// The sequence of whoever has this name: other names begin elsewhere among 2^64 places.
    pub fn of(name: &[u64]) -> Own {
        Own(name.iter().fold(STEP, |state, &part| mix(state.wrapping_add(STEP) ^ mix(part.wrapping_add(STEP)))))
    }

    /// The next 64 bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }
}

#[inline]
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl Plain for Own {
    fn words(&self, show: &mut impl FnMut(u64)) {
        self.0.words(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published sequence from state 0.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut own = Own(0);
        assert_eq!([own.draw(), own.draw()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn each_name_has_its_own_sequence() {
        let names: [&[u64]; 6] = [&[], &[0], &[1], &[0, 1], &[1, 0], &[1, 0, 0]];
        let first: alloc::collections::BTreeSet<u64> = names.iter().map(|name| Own::of(name).draw()).collect();
        assert_eq!(first.len(), names.len());
        assert_eq!(Own::of(&[1, 0]), Own::of(&[1, 0]));
    }
}
