// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bitmap of packets that arrived ahead of their turn.

use alloc::collections::VecDeque;
use core::ops::Range;

/// Packets this far ahead of the first missing one are not remembered: half of the space of PSNs, which have 24 bits and cannot
/// tell more apart. The bound keeps a wild sequence number from taking memory, of which such a window needs a megabyte.
const SPAN: u64 = 1 << 23;

/// A set of packet numbers that slides forward. It takes one bit for each packet of the window and allocates
/// only until it has once been as wide as the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketSet {
    words: VecDeque<u64>,
    /// Number of the first packet of `words`, divided by 64.
    base: u64,
}

impl PacketSet {
    /// Adds a packet ahead of `first_missing`, up to which the set slides first: what is behind it is forgotten, as far as it
    /// fills words. Returns whether the packet is new: neither before the set's beginning, nor in it, nor too far ahead.
    pub fn insert(&mut self, first_missing: u64, packet: u64) -> bool {
        self.slide(first_missing / 64);
        let Some(offset) = (packet / 64).checked_sub(self.base).filter(|&words| words < SPAN / 64) else {
            return false;
        };
        while self.words.len() as u64 <= offset {
            self.words.push_back(0);
        }
        let word = &mut self.words[offset as usize];
        let bit = 1 << (packet % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Whether a packet is in the set.
    pub fn contains(&self, packet: u64) -> bool {
        let offset = (packet / 64).checked_sub(self.base);
        let word = offset.and_then(|offset| self.words.get(usize::try_from(offset).ok()?));
        word.is_some_and(|word| word >> (packet % 64) & 1 == 1)
    }

    /// How many packets of a range are in the set.
    pub fn count(&self, range: Range<u64>) -> u64 {
        let last = (self.base + self.words.len() as u64) * 64;
        (range.start.max(self.base * 64)..range.end.min(last)).filter(|&packet| self.contains(packet)).count() as u64
    }

    /// The first packet from `packet` on that is not in the set.
    pub fn first_absent(&self, mut packet: u64) -> u64 {
        while self.contains(packet) {
            packet += 1;
        }
        packet
    }

    /// Begins with this word.
    fn slide(&mut self, base: u64) {
        while self.base < base {
            if self.words.pop_front().is_none() {
                self.base = base;
                return;
            }
            self.base += 1;
        }
    }
}

impl PacketSet {
    /// Whether no packet is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_found_until_it_is_passed() {
        let mut set = PacketSet::default();
        assert!(set.insert(0, 3) && set.insert(0, 64) && set.insert(0, 65));
        assert!(!set.insert(0, 64));
        assert!(set.contains(3) && set.contains(65) && !set.contains(4) && !set.contains(1_000));
        assert_eq!((set.first_absent(64), set.first_absent(4)), (66, 4));
        assert_eq!([0..u64::MAX, 3..4, 4..65, 65..66].map(|range| set.count(range)), [3, 1, 1, 1]);
        assert!(set.insert(64, 66) && !set.contains(3) && set.contains(65));
        assert!(!set.insert(64, 3));
        for missing in [10_000, SPAN, 1 << 40] {
            assert!(!set.insert(missing, missing - 64) && set.insert(missing, missing) && set.contains(missing));
        }
    }

    #[test]
    fn a_wild_packet_takes_no_memory() {
        let mut set = PacketSet::default();
        assert!(!set.insert(0, u64::MAX) && !set.insert(63, SPAN));
        assert!(set.words.is_empty());
    }

    #[test]
    fn a_sliding_set_stays_small() {
        let mut set = PacketSet::default();
        for packet in 0..100_000 {
            set.insert(packet, packet + 50);
        }
        assert!(set.words.len() <= 2 && set.words.capacity() <= 8);
    }
}
