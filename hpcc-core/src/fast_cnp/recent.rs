// SPDX-License-Identifier: MIT OR Apache-2.0
//! When something last happened to flows or senders, in a memory that holds so many of them and no more.
//!
//! As long as there is room nothing is forgotten. Then whom it happened to longest ago makes room, and is counted where it
//! still mattered.

use crate::units::Nanos;
use alloc::collections::{BTreeMap, BTreeSet};

/// Remembers a bounded number of keys, each with the time when it was last seen.
#[derive(Clone, Debug)]
pub struct Recent<K> {
    seen: BTreeMap<K, Nanos>,
    /// The keys by time, the longest unseen first.
    order: BTreeSet<(Nanos, K)>,
    most: usize,
    /// Time for which a key matters.
    lasts: Nanos,
    forgotten: u64,
}

impl<K: Ord + Copy> Recent<K> {
    /// An empty memory of at most so many, at least 1, each of which matters for so long. It takes up room as it fills.
    pub fn new(most: usize, lasts: Nanos) -> Self {
        Recent { seen: BTreeMap::new(), order: BTreeSet::new(), most: most.max(1), lasts, forgotten: 0 }
    }

    /// Notes that a key is seen now.
    pub fn note(&mut self, now: Nanos, whom: K) {
        if let Some(before) = self.seen.insert(whom, now) {
            self.order.remove(&(before, whom));
        } else if self.seen.len() > self.most
            && let Some((at, oldest)) = self.order.pop_first()
        {
            self.seen.remove(&oldest);
            self.forgotten += u64::from(now - at < self.lasts);
        }
        self.order.insert((now, whom));
    }

    /// How long ago it happened; `None` if it did not, or had to make room.
    #[inline]
    pub fn age(&self, now: Nanos, whom: &K) -> Option<Nanos> {
        self.seen.get(whom).map(|&at| now - at)
    }

    /// How many had to make room although they mattered.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_oldest_make_room_when_there_is_none() {
        let mut recent = Recent::new(8, Nanos(100));
        for n in 0..8u64 {
            recent.note(Nanos(n), n);
        }
        recent.note(Nanos(10), 0);
        assert!((0..8).all(|n| recent.age(Nanos(50), &n).is_some()) && recent.forgotten() == 0, "all have room");
        recent.note(Nanos(50), 8);
        recent.note(Nanos(102), 9);
        let known: Vec<u64> = (0..10).filter(|n| recent.age(Nanos(102), n).is_some()).collect();
        assert_eq!(known, [0, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!((recent.age(Nanos(102), &0), recent.forgotten()), (Some(Nanos(92)), 1), "2 was 100 ns old");
    }

    #[test]
    fn memory_does_not_grow() {
        let mut recent = Recent::new(0, Nanos(5));
        (0..1_000u64).for_each(|n| recent.note(Nanos(n), n));
        assert_eq!((recent.seen.len(), recent.order.len(), recent.forgotten()), (1, 1, 999));
        assert_eq!(recent.age(Nanos(999), &999), Some(Nanos(0)));
    }
}
