// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a transit hop does to an INT-MD section (P4 INT v2.1; REQ-59).
//!
//! A hop adds all the words that HopML names, in front of the older hops, or none. Besides these it changes E, M,
//! the remaining hop count and the shim's length, and nothing else; domain-specific flags, which it may
//! change, mean nothing to it.

use super::header::{self, FLAGS, HOPS_EXHAUSTED, Header, MTU_EXCEEDED, REMAINING};
use super::shim::{self, Kind, Shim};

/// Shim and metadata header.
pub const PREFIX: usize = shim::LEN + header::LEN;
const WORD: usize = 4;

/// Adds a hop to the section in the first `len` bytes of `section` and returns its new length, which is at most
/// `limit`, by the MTU of the way out. `write` fills in the hop's bytes: HopML words, at first stale.
#[expect(clippy::indexing_slicing, reason = "a section has room for what is added, or nothing is")]
#[inline]
pub fn insert(section: &mut [u8], len: usize, limit: usize, write: impl FnOnce(&mut [u8])) -> usize {
    let Some((shim_bytes, rest)) = section.split_first_chunk_mut() else { return len };
    let Some((header_bytes, stack)) = rest.split_first_chunk_mut() else { return len };
    let (Ok(shim), header) = (Shim::parse(shim_bytes), Header::parse(header_bytes)) else { return len };
    let Some(older) = len.checked_sub(PREFIX).filter(|_| is_sound(&shim, &header, len)) else { return len };
    if header.remaining == 0 {
        header_bytes[FLAGS] |= HOPS_EXHAUSTED;
        return len;
    }
    let added = WORD * usize::from(header.hop_words);
    let grown = shim.length.checked_add(header.hop_words).filter(|_| len + added <= limit);
    let (Some(words), Some(stack)) = (grown, stack.get_mut(..older + added)) else {
        header_bytes[FLAGS] |= MTU_EXCEEDED;
        return len;
    };
    stack.copy_within(..older, added);
    write(&mut stack[..added]);
    header_bytes[REMAINING] -= 1;
    shim_bytes[shim::LENGTH] = words;
    len + added
}

/// Whether a section of `len` bytes is INT-MD of this version, its length is right, and HopML has room for what
/// the instructions ask.
#[inline]
fn is_sound(shim: &Shim, header: &Header, len: usize) -> bool {
    shim.kind == Kind::Embedded
        && shim.section_len() == len
        && header.version == header::VERSION
        && header.hop_words > 0
        && header.hop_words >= header.instructions.words()
}

#[cfg(test)]
mod tests {
    use super::super::testing::UDP_EXAMPLE;
    use super::*;

    const LEN: usize = UDP_EXAMPLE.len();
    const HOP: [u8; 8] = [0, 0, 0, 3, 1, 0, 2, 0];

    fn push(section: &mut [u8], len: usize, limit: usize) -> usize {
        insert(section, len, limit, |hop| hop.copy_from_slice(&HOP))
    }

    /// The example with changed bytes, and room for more.
    fn example(changes: &[(usize, u8)]) -> [u8; 128] {
        let mut section = [0; 128];
        section[..LEN].copy_from_slice(&UDP_EXAMPLE);
        for &(at, byte) in changes {
            section[at] = byte;
        }
        section
    }

    /// Pushes into a changed example and tells which of its bytes differ afterwards; none may grow.
    fn differs(changes: &[(usize, u8)], limit: usize) -> Option<(usize, u8)> {
        let (before, mut section) = (example(changes), example(changes));
        assert_eq!(push(&mut section, LEN, limit), LEN);
        let mut differing = (0..128).filter(|&at| before[at] != section[at]);
        let found = differing.next().map(|at| (at, section[at]));
        assert_eq!(differing.next(), None);
        found
    }

    #[test]
    fn req_59_the_newest_hop_comes_first_and_nothing_else_changes() {
        let mut section = example(&[]);
        assert_eq!(push(&mut section, LEN, 128), LEN + 8);
        let mut expected = example(&[(1, 9), (7, 5)]);
        expected.copy_within(16..LEN, 24);
        expected[16..24].copy_from_slice(&HOP);
        assert_eq!(section, expected);
    }

    #[test]
    fn req_59_no_remaining_hop_sets_e_alone() {
        assert_eq!(differs(&[(7, 0)], 128), Some((4, 0x24)));
        // Even where the MTU would be exceeded as well.
        assert_eq!(differs(&[(7, 0)], LEN), Some((4, 0x24)));
    }

    #[test]
    fn req_59_what_would_exceed_the_mtu_sets_m_alone() {
        assert_eq!(differs(&[], LEN + 7), Some((4, 0x22)));
        let mut section = example(&[]);
        assert_eq!(push(&mut section, LEN, LEN + 8), LEN + 8);
        let mut short = UDP_EXAMPLE;
        assert_eq!(push(&mut short, LEN, 128), LEN);
        assert_eq!(short[4], 0x22);
    }

    /// 255 words are the most that the shim's length can say.
    #[test]
    fn req_59_a_shim_length_that_would_overflow_sets_m() {
        let mut section = [0; 2048];
        section[..128].copy_from_slice(&example(&[(1, 254)]));
        let len = 4 + 4 * 254;
        assert_eq!(push(&mut section, len, 2048), len);
        assert_eq!((section[1], section[4], section[7]), (254, 0x22, 6));
    }

    #[test]
    fn req_59_foreign_and_malformed_sections_are_left_alone() {
        let wrong_length = (1, 8);
        let (destination_type, export_type) = ((0, 0x24), (0, 0x34));
        let (version_1, no_words, too_few_words) = ((4, 0x10), (6, 0), (6, 1));
        for change in [wrong_length, destination_type, export_type, version_1, no_words, too_few_words] {
            assert_eq!(differs(&[change], 128), None, "{change:?}");
        }
    }
}
