// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table whose freed places are used again, under keys that a late frame cannot confuse.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

const PLACE_BITS: u32 = 20;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;

/// A table with keys that say place and generation: the low 20 bits name the place, the upper 12 count how
/// often it was used, so that a key of a former tenant does not find the present one.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    places: Vec<Place<T>>,
    free: VecDeque<u32>,
}

/// The key, and the first of what the tenant has, are one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Place<T> {
    key: u32,
    tenant: Option<T>,
}

/// The place that a key names.
pub fn place_of(key: u32) -> usize {
    (key & PLACE_MASK) as usize
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { places: Vec::new(), free: VecDeque::new() }
    }
}

impl<T> Slab<T> {
    /// Stores a value and returns its key; `None` if 2^20 values are stored already.
    pub fn insert(&mut self, value: T) -> Option<u32> {
        if let Some(index) = self.free.pop_front() {
            let place = &mut self.places[index as usize];
            place.key = place.key.wrapping_add(1 << PLACE_BITS);
            place.tenant = Some(value);
            return Some(place.key);
        }
        let key = u32::try_from(self.places.len()).ok().filter(|&index| index <= PLACE_MASK)?;
        self.places.push(Place { key, tenant: Some(value) });
        Some(key)
    }

    /// The value under `key`.
    #[inline]
    pub fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        let place = self.places.get_mut((key & PLACE_MASK) as usize)?;
        place.tenant.as_mut().filter(|_| place.key == key)
    }

    /// The value under `key`.
    #[inline]
    pub fn get(&self, key: u32) -> Option<&T> {
        let place = self.places.get((key & PLACE_MASK) as usize)?;
        place.tenant.as_ref().filter(|_| place.key == key)
    }

    /// Whether the place that `key` names was ever in use.
    pub fn has_place(&self, key: u32) -> bool {
        ((key & PLACE_MASK) as usize) < self.places.len()
    }

    /// All values, retired ones included.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.tenant.as_ref())
    }

    /// All values, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().filter_map(|place| place.tenant.as_mut())
    }

    /// All values with their places.
    pub fn placed(&self) -> impl Iterator<Item = (usize, &T)> {
        self.places.iter().enumerate().filter_map(|(place, other)| Some((place, other.tenant.as_ref()?)))
    }

    /// All values with their places and keys, to be changed.
    pub fn placed_mut(&mut self) -> impl Iterator<Item = (usize, u32, &mut T)> {
        self.places.iter_mut().enumerate().filter_map(|(place, other)| Some((place, other.key, other.tenant.as_mut()?)))
    }

    /// Values, without retired ones.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Places, free ones included.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Lets go of the value under `key`: it stays until its place is used again.
    pub fn retire(&mut self, key: u32) {
        if self.get(key).is_some() {
            self.free.push_back(key & PLACE_MASK);
        }
    }

    /// Takes the value under `key` out; its place will be used again.
    pub fn remove(&mut self, key: u32) -> Option<T> {
        let place = self.places.get_mut((key & PLACE_MASK) as usize).filter(|place| place.key == key)?;
        let value = place.tenant.take()?;
        self.free.push_back(key & PLACE_MASK);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_place_has_a_new_key() {
        let mut slab = Slab::default();
        let first = slab.insert('a').expect("room");
        assert_eq!(slab.remove(first), Some('a'));
        let second = slab.insert('b').expect("room");
        assert_ne!(first, second);
        assert_eq!(slab.get_mut(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.get(second), Some(&'b'));
        assert_eq!(slab.get(999), None);
    }

    #[test]
    fn a_retired_value_stays_until_its_place_is_needed() {
        let mut slab = Slab::default();
        let first = slab.insert('a').expect("room");
        slab.retire(first);
        assert_eq!(slab.get(first), Some(&'a'));
        slab.insert('b').expect("room");
        assert_eq!(slab.get(first), None);
    }
}
