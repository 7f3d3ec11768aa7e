// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order in which a hash table of libstdc++ lists its keys.
//!
//! When routes change, the 2019 simulator gives queue pairs to ports in the order of a `std::unordered_map`, and results follow
//! from that. A key's hash is itself. The keys of a bucket stand together, the one that was added last first; a bucket that gets
//! its first key goes to the front of all.

use alloc::vec;
use alloc::vec::Vec;

/// Counts of buckets, each about twice the one before.
const SIZES: [u64; 19] = [
    13, 29, 59, 127, 257, 541, 1_109, 2_357, 5_087, 10_273, 20_753, 42_043, 85_229, 172_933, 351_061, 712_697,
    1_447_153, 2_938_679, 5_967_347,
];
/// Stands before the first key; also the end.
const FRONT: u32 = 0;
/// An empty bucket.
const EMPTY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    value: u32,
    next: u32,
}

/// Keys with values, in that order.
#[derive(Clone, Debug)]
pub(super) struct HashOrder {
    /// The first is no key, but stands before all.
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// The entry before the first of each bucket.
    buckets: Vec<u32>,
    len: usize,
}

impl Default for HashOrder {
    fn default() -> Self {
        HashOrder {
            entries: vec![Entry { key: 0, value: 0, next: FRONT }],
            free: Vec::new(),
            buckets: Vec::new(),
            len: 0,
        }
    }
}

impl HashOrder {
    /// Whether there is this key.
    pub fn contains(&self, key: u64) -> bool {
        self.before(key).is_some()
    }

    /// Adds a key that is not there yet.
    pub fn insert(&mut self, key: u64, value: u32) {
        if self.len == self.buckets.len() {
            self.grow();
        }
        self.len += 1;
        let entry = Entry { key, value, next: FRONT };
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                place
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.link(place);
    }

    /// Takes a key out, if it is there.
    pub fn remove(&mut self, key: u64) {
        let Some(before) = self.before(key) else { return };
        let place = self.entries[before as usize].next;
        let next = self.entries[place as usize].next;
        let bucket = self.bucket(key);
        self.entries[before as usize].next = next;
        let is_first = self.buckets[bucket] == before;
        let next_bucket = (next != FRONT).then(|| self.bucket(self.entries[next as usize].key));
        if let Some(other) = next_bucket.filter(|&other| other != bucket) {
            self.buckets[other] = before;
        }
        if is_first && next_bucket != Some(bucket) {
            self.buckets[bucket] = EMPTY;
        }
        self.free.push(place);
        self.len -= 1;
    }

    /// All values.
    pub fn values(&self) -> Vec<u32> {
        let mut values = Vec::with_capacity(self.len);
        let mut place = self.entries[FRONT as usize].next;
        while place != FRONT {
            values.push(self.entries[place as usize].value);
            place = self.entries[place as usize].next;
        }
        values
    }

    fn bucket(&self, key: u64) -> usize {
        (key % self.buckets.len() as u64) as usize
    }

    /// The entry before a key.
    fn before(&self, key: u64) -> Option<u32> {
        if self.buckets.is_empty() {
            return None;
        }
        let bucket = self.bucket(key);
        let mut before = self.buckets[bucket];
        if before == EMPTY {
            return None;
        }
        loop {
            let place = self.entries[before as usize].next;
            if place == FRONT || self.bucket(self.entries[place as usize].key) != bucket {
                return None;
            }
            if self.entries[place as usize].key == key {
                return Some(before);
            }
            before = place;
        }
    }

    /// Puts an entry where it belongs.
    fn link(&mut self, place: u32) {
        let bucket = self.bucket(self.entries[place as usize].key);
        let before = self.buckets[bucket];
        if before != EMPTY {
            self.entries[place as usize].next = self.entries[before as usize].next;
            self.entries[before as usize].next = place;
            return;
        }
        let next = self.entries[FRONT as usize].next;
        self.entries[place as usize].next = next;
        self.entries[FRONT as usize].next = place;
        if next != FRONT {
            let other = self.bucket(self.entries[next as usize].key);
            self.buckets[other] = place;
        }
        self.buckets[bucket] = FRONT;
    }

    /// Takes more buckets, into which the keys go in their present order.
    fn grow(&mut self) {
        let more = SIZES.iter().copied().find(|&size| size > self.buckets.len() as u64).unwrap_or(u64::MAX);
        self.buckets = vec![EMPTY; more as usize];
        let mut place = core::mem::replace(&mut self.entries[FRONT as usize].next, FRONT);
        while place != FRONT {
            let next = self.entries[place as usize].next;
            self.link(place);
            place = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As libstdc++ of gcc 12 lists them.
    #[test]
    fn keys_are_listed_as_by_an_unordered_map() {
        let mut order = HashOrder::default();
        let key = |number: u32| u64::from(number) * 7_919 % 1_000_003;
        for number in 0..40 {
            order.insert(key(number), number);
            if number % 3 == 2 {
                order.remove(key(number - 1));
            }
        }
        let listed =
            [39, 36, 33, 30, 27, 26, 24, 23, 21, 20, 29, 0, 2, 15, 32, 3, 5, 18, 35, 6, 8, 38, 9, 11, 12, 14, 17];
        assert_eq!(order.values(), listed);
        assert!(order.contains(key(0)) && !order.contains(key(1)));
    }
}
