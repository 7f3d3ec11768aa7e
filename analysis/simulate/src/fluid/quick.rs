// SPDX-License-Identifier: GPL-2.0-only
//! Maps by numbers that nobody chooses to collide: a hash of two instructions a number, as a million flows are looked up.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are a few numbers.
pub type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// The hash of Firefox.
#[derive(Default)]
pub struct Quick(u64);

impl Quick {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut all = [0; 8];
            all[..word.len()].copy_from_slice(word);
            self.add(u64::from_le_bytes(all));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.add(word.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.add(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        // The upper bits are the best mixed, and maps go by the lower ones.
        self.0.rotate_left(26)
    }
}
