// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of several packets in one acknowledgement (draft-miao-rtgwg-hpccplus-00, section 6.2.2; REQ-16): a receiver that
//! acknowledges some packets only sends what it accumulated since the last time.
//!
//! ```text
//! answer    length of a section (16) | section | length (16) | section | ...      oldest first
//! ```

use super::FeedbackConfig;
use alloc::vec::Vec;

/// Bytes of a length.
const LENGTH: usize = 2;

/// Bytes of an answer with so many sections of so many bytes.
pub const fn len(sections: usize, each: usize) -> usize {
    sections * (LENGTH + each)
}

/// Sections that wait for an acknowledgement.
#[derive(Clone, Debug)]
pub struct Accumulated {
    most: usize,
    count: usize,
    bytes: Vec<u8>,
}

impl Accumulated {
    /// At most `most` sections; a new one replaces the oldest.
    pub fn new(most: usize) -> Self {
        Accumulated { most, count: 0, bytes: Vec::new() }
    }

    /// Adds a section, unless it is empty.
    pub fn add(&mut self, section: &[u8]) {
        let Some(length) = u16::try_from(section.len()).ok().filter(|&length| length > 0) else { return };
        if self.count == self.most {
            let oldest = read(&self.bytes).map_or(0, |(oldest, _)| LENGTH + oldest.len());
            self.bytes.drain(..oldest);
            self.count -= 1;
        }
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(section);
        self.count += 1;
    }

    /// The sections as bytes of an answer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets the sections: they were sent.
    pub fn clear(&mut self) {
        (self.count, self.bytes) = (0, core::mem::take(&mut self.bytes));
        self.bytes.clear();
    }
}

/// The first section of an answer, and what follows it; `None` at its end, or where it is cut off.
fn read(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = answer.split_first_chunk::<LENGTH>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

impl FeedbackConfig {
    /// Whether acknowledgements bring the records of several packets.
    pub fn accumulates(&self) -> bool {
        self.records_per_ack > 1
    }

    /// Gives each section of an answer to `change`.
    pub fn for_sections(&self, answer: &mut [u8], mut change: impl FnMut(&mut [u8])) {
        if !self.accumulates() {
            return change(answer);
        }
        let mut rest = answer;
        while let Some((length, behind)) = rest.split_first_chunk_mut::<LENGTH>() {
            let Some((section, next)) = behind.split_at_mut_checked(u16::from_be_bytes(*length).into()) else { return };
            change(section);
            rest = next;
        }
    }

    /// The sections of an answer before the newest, and the newest.
    pub fn sections<'a>(&self, answer: &'a [u8]) -> (impl Iterator<Item = &'a [u8]>, &'a [u8]) {
        let (mut rest, mut newest, mut older) = (answer, answer, 0);
        if self.accumulates() {
            newest = &[];
            while let Some((section, next)) = read(rest) {
                (newest, rest, older) = (section, next, older + 1);
            }
        }
        let mut from = answer;
        let next = move || {
            let (section, rest) = read(from)?;
            from = rest;
            Some(section)
        };
        (core::iter::from_fn(next).take(usize::saturating_sub(older, 1)), newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(per_ack: u8, answer: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let config = FeedbackConfig { records_per_ack: per_ack, ..FeedbackConfig::default() };
        let (older, newest) = config.sections(answer);
        (older.map(<[u8]>::to_vec).collect(), newest.to_vec())
    }

    #[test]
    fn req_16_what_was_accumulated_comes_back_oldest_first() {
        let mut accumulated = Accumulated::new(3);
        for section in [&[1][..], &[2, 2], &[], &[3, 3, 3], &[4]] {
            accumulated.add(section);
        }
        let answer = accumulated.bytes().to_vec();
        assert_eq!(sections(3, &answer), ([&[2, 2][..], &[3, 3, 3]].map(<[u8]>::to_vec).into(), Vec::from([4])));
        assert_eq!(sections(1, &answer), (Vec::new(), answer.clone()), "without it an answer is one section");
        accumulated.clear();
        assert_eq!(sections(3, accumulated.bytes()), (Vec::new(), Vec::new()));
        let cut = answer.get(..answer.len() - 1).expect("several bytes");
        assert_eq!(sections(3, cut), (Vec::from([Vec::from([2, 2])]), Vec::from([3, 3, 3])));
    }
}
