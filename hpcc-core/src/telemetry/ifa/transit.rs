// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a transit hop does to an IFA section: it adds its entry in front of the older ones, or
//! nothing. Besides the entry it changes the hop limit and the current length.

use super::header::{self, GNS_PER_HOP, Header};
use super::metadata::{self, Metadata};
use super::metadata_header::{self, CURRENT_LENGTH, HOP_LIMIT, MetadataHeader, UNCHECKED};

/// IFA header and metadata header, without the optional ones.
pub const PREFIX: usize = header::LEN + metadata_header::LEN;

/// Bytes of each optional header.
pub const OPTIONAL_LEN: usize = 4;

/// Bytes of the optional headers of a section that a hop can add to; `None` if it must be left as it is.
#[inline]
fn optional_len(header: &Header) -> Option<usize> {
    let flags = header.flags;
    let is_known = header.version == header::VERSION && header.name_space == GNS_PER_HOP;
    let is_open = is_known && !flags.tail_stamp && !flags.checksum;
    is_open.then_some(if flags.fragmented { OPTIONAL_LEN } else { 0 })
}

/// Adds a hop to the section in the first `len` bytes of `section` and returns its new length, which is at most
/// `limit`, by the MTU of the way out.
///
/// A hop limit of 0 ends the section's growth; so do Max Length, `limit` and the buffer, but then the hop is counted.
#[expect(clippy::indexing_slicing, reason = "a section has room for what is added, or nothing is")]
#[inline]
pub fn push(section: &mut [u8], len: usize, limit: usize, metadata: &Metadata) -> usize {
    let Some((header, rest)) = section.split_first_chunk_mut() else { return len };
    let header = Header::parse(header);
    let Some(optional) = optional_len(&header) else { return len };
    let Some((_, rest)) = rest.split_at_mut_checked(optional) else { return len };
    let Some((front, stack)) = rest.split_first_chunk_mut() else { return len };
    let MetadataHeader { current_length, .. } = MetadataHeader::parse(front);
    let older = 4 * usize::from(current_length);
    if PREFIX + optional + older != len || !count_hop(front) {
        return len;
    }
    let grown = current_length.checked_add(metadata::WORDS).filter(|&words| words <= header.max_length);
    let fits = len + metadata::LEN <= limit;
    let stack = stack.get_mut(..older + metadata::LEN).filter(|_| fits);
    let (Some(words), Some(stack)) = (grown, stack) else { return len };
    stack.copy_within(..older, metadata::LEN);
    stack[..metadata::LEN].copy_from_slice(&metadata.emit());
    front[CURRENT_LENGTH] = words;
    len + metadata::LEN
}

/// Whether the hop may add an entry by the hop limit, which it decrements.
#[inline]
fn count_hop(front: &mut [u8; metadata_header::LEN]) -> bool {
    match &mut front[HOP_LIMIT] {
        0 => return false,
        &mut UNCHECKED => {}
        hops => *hops -= 1,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Metadata = Metadata {
        name_space: 1,
        device: 2,
        ttl: 3,
        speed: 4,
        congestion: 0,
        queue: 5,
        rx_seconds: 6,
        egress: 7,
        ingress: 8,
        rx_nanos: 9,
        residence: 10,
        opaque: [11, 12, 13],
    };
    const LEN: usize = PREFIX + metadata::LEN;

    /// One older entry of bytes 0xaa; three hops and 24 words allowed.
    fn example(changes: &[(usize, u8)]) -> [u8; 128] {
        let mut section = [0; 128];
        section[..PREFIX].copy_from_slice(&[0x2f, 17, 0x04, 24, 0, 0, 3, 8]);
        section[PREFIX..LEN].fill(0xaa);
        for &(at, byte) in changes {
            section[at] = byte;
        }
        section
    }

    #[test]
    fn the_newest_hop_comes_first_and_nothing_else_changes() {
        let mut section = example(&[]);
        assert_eq!(push(&mut section, LEN, 128, &ENTRY), LEN + 32);
        let mut expected = example(&[(6, 2), (7, 16)]);
        expected.copy_within(PREFIX..LEN, LEN);
        expected[PREFIX..LEN].copy_from_slice(&ENTRY.emit());
        assert_eq!(section, expected);
    }

    #[test]
    fn hop_limit_0_stops_and_255_is_not_checked() {
        let mut section = example(&[(6, 0)]);
        assert_eq!(push(&mut section, LEN, 128, &ENTRY), LEN);
        assert_eq!(section, example(&[(6, 0)]));
        let mut section = example(&[(6, UNCHECKED)]);
        assert_eq!(push(&mut section, LEN, 128, &ENTRY), LEN + 32);
        assert_eq!(section[6..8], [UNCHECKED, 16]);
    }

    #[test]
    fn a_hop_without_room_is_counted_and_adds_nothing() {
        for (changes, limit) in [(&[(3, 15)][..], 128), (&[], LEN + 31)] {
            let (mut section, mut expected) = (example(changes), example(changes));
            expected[6] = 2;
            assert_eq!(push(&mut section, LEN, limit, &ENTRY), LEN);
            assert_eq!(section, expected);
        }
        let mut short = example(&[]);
        assert_eq!(push(&mut short[..LEN + 31], LEN, 128, &ENTRY), LEN);
        assert_eq!(short[6..8], [2, 8]);
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        // Version 3, a global name space, a tail stamp, a checksum, a wrong length.
        for change in [(0, 0x3f), (0, 0x21), (2, 0x0c), (2, 0x05), (7, 16)] {
            let mut section = example(&[change]);
            assert_eq!(push(&mut section, LEN, 128, &ENTRY), LEN);
            assert_eq!(section, example(&[change]), "{change:?}");
        }
    }

    #[test]
    fn a_fragment_header_stays_in_front_of_the_metadata_header() {
        let mut section = [0; 64];
        section[..12].copy_from_slice(&[0x2f, 17, 0x14, 24, 1, 2, 3, 4, 0, 0, 3, 0]);
        assert_eq!(push(&mut section, 12, 64, &ENTRY), 44);
        assert_eq!(section[..12], [0x2f, 17, 0x14, 24, 1, 2, 3, 4, 0, 0, 2, 8]);
        assert_eq!(section[12..44], ENTRY.emit());
    }
}
