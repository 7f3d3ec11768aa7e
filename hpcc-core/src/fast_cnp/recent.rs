// SPDX-License-Identifier: MIT OR Apache-2.0
//! When something last happened to flows or senders, in a memory of fixed size.
//!
//! Each is remembered in the slot that its keyed hash gives, by 64 bits of it. Two with the same slot drive each other
//! out: what comes back is then too little, never wrong but for a chance of 2^-64.

use crate::units::Nanos;
use alloc::boxed::Box;
use core::hash::{Hash, Hasher};
use siphasher::sip::SipHasher13;

/// Remembers a bounded number of keys, each with the time when it was last seen.
#[derive(Clone, Debug)]
pub struct Recent {
    hasher: SipHasher13,
    slots: Box<[Option<(u64, Nanos)>]>,
}

impl Recent {
    /// An empty memory of `slots` slots, at least 1. `key` keeps others from choosing what collides.
    pub fn new(slots: usize, key: &[u8; 16]) -> Self {
        Recent { hasher: SipHasher13::new_with_key(key), slots: alloc::vec![None; slots.max(1)].into() }
    }

    /// It happens now.
    #[inline]
    pub fn note(&mut self, now: Nanos, what: &impl Hash) {
        let (hash, place) = self.place(what);
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Some((hash, now));
        }
    }

    /// How long ago it happened; `None` if it did not, or another drove it out.
    #[inline]
    pub fn age(&self, now: Nanos, what: &impl Hash) -> Option<Nanos> {
        let (hash, place) = self.place(what);
        let noted = self.slots.get(place).copied().flatten().filter(|&(noted, _)| noted == hash);
        noted.map(|(_, at)| now - at)
    }

    #[inline]
    fn place(&self, what: &impl Hash) -> (u64, usize) {
        let mut hasher = self.hasher;
        what.hash(&mut hasher);
        let hash = hasher.finish();
        (hash, (hash % self.slots.len() as u64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_collides_is_forgotten_and_never_mixed_up() {
        let mut recent = Recent::new(8, &[7; 16]);
        for n in 0..1_000u64 {
            recent.note(Nanos(n), &n);
            assert_eq!(recent.age(Nanos(n + 5), &n), Some(Nanos(5)));
        }
        let remembered = (0..1_000u64).filter_map(|n| Some((n, recent.age(Nanos(2_000), &n)?)));
        let remembered: alloc::vec::Vec<_> = remembered.collect();
        assert_eq!(remembered.len(), 8);
        assert!(remembered.iter().all(|&(n, age)| age == Nanos(2_000 - n)));
    }

    #[test]
    fn memory_does_not_grow() {
        let mut recent = Recent::new(0, &[7; 16]);
        (0..1_000u64).for_each(|n| recent.note(Nanos(n), &n));
        assert_eq!((recent.slots.len(), recent.age(Nanos(999), &999u64)), (1, Some(Nanos(0))));
    }
}
