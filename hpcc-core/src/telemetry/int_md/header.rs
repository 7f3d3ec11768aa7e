// SPDX-License-Identifier: MIT OR Apache-2.0
//! The INT-MD metadata header (P4 INT v2.1). INT-MX has the same geometry without HopML and
//! Remaining.

use super::metadata::Instructions;

/// Bytes of the header.
pub const LEN: usize = 12;
/// The version that these bytes follow.
pub const VERSION: u8 = 2;
/// Most words that HopML can ask of a hop.
pub const MAX_HOP_WORDS: u8 = 31;

/// The byte of the flags, of which a transit hop may set [`HOPS_EXHAUSTED`] and [`MTU_EXCEEDED`]. Besides it may change the
/// domain-specific flags (REQ-59).
pub const FLAGS: usize = 0;
/// The byte of the remaining hop count, which a transit hop decrements.
pub const REMAINING: usize = 3;
const DISCARD: u8 = 1 << 3;
/// E, in its byte.
pub const HOPS_EXHAUSTED: u8 = 1 << 2;
/// M, in its byte.
pub const MTU_EXCEEDED: u8 = 1 << 1;

/// A metadata header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Ver, 4 bits; these bytes follow [`VERSION`].
    pub version: u8,
    /// D: the sink discards the packet.
    pub discard: bool,
    /// E: a hop found no remaining hop count and added nothing.
    pub hops_exhausted: bool,
    /// M: a hop added nothing, for the packet would have exceeded the MTU.
    pub mtu_exceeded: bool,
    /// HopML: words that each hop adds, 0..=31.
    pub hop_words: u8,
    /// Remaining hop count.
    pub remaining: u8,
    /// The instruction bitmap.
    pub instructions: Instructions,
    /// Domain-specific id; 0 for none.
    pub domain_id: u16,
    /// Domain-specific instructions.
    pub domain_instructions: u16,
    /// Domain-specific flags.
    pub domain_flags: u16,
}

impl Header {
    /// Reads the fields.
    #[inline]
    pub fn parse(&[first, _, words, remaining, i0, i1, d0, d1, s0, s1, f0, f1]: &[u8; LEN]) -> Header {
        Header {
            version: first >> 4,
            discard: first & DISCARD != 0,
            hops_exhausted: first & HOPS_EXHAUSTED != 0,
            mtu_exceeded: first & MTU_EXCEEDED != 0,
            hop_words: words & MAX_HOP_WORDS,
            remaining,
            instructions: Instructions(u16::from_be_bytes([i0, i1])),
            domain_id: u16::from_be_bytes([d0, d1]),
            domain_instructions: u16::from_be_bytes([s0, s1]),
            domain_flags: u16::from_be_bytes([f0, f1]),
        }
    }

    /// The bytes; reserved bits are 0, and HopML is cut to its 5 bits, the version to its 4.
    pub fn emit(&self) -> [u8; LEN] {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(self.discard, DISCARD)
            | flag(self.hops_exhausted, HOPS_EXHAUSTED)
            | flag(self.mtu_exceeded, MTU_EXCEEDED);
        let [i0, i1] = self.instructions.0.to_be_bytes();
        let [d0, d1] = self.domain_id.to_be_bytes();
        let [s0, s1] = self.domain_instructions.to_be_bytes();
        let [f0, f1] = self.domain_flags.to_be_bytes();
        let words = self.hop_words & MAX_HOP_WORDS;
        [self.version << 4 | flags, 0, words, self.remaining, i0, i1, d0, d1, s0, s1, f0, f1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::shim;
    use super::super::testing::UDP_EXAMPLE;
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let bytes = UDP_EXAMPLE[shim::LEN..].first_chunk().expect("a header");
        let instructions = Instructions(0x9000);
        let header = Header { version: VERSION, hop_words: 2, remaining: 6, instructions, ..Header::default() };
        assert_eq!((Header::parse(bytes), header.emit()), (header, *bytes));
        assert_eq!(bytes[REMAINING], 6);
    }

    /// Ver, D, E and M share the first byte in this order.
    #[test]
    fn flags_are_the_bits_behind_the_version() {
        for (first, expected) in
            [(0x28, [true, false, false]), (0x24, [false, true, false]), (0x22, [false, false, true])]
        {
            let mut bytes = [0; LEN];
            bytes[FLAGS] = first;
            let header = Header::parse(&bytes);
            assert_eq!([header.discard, header.hops_exhausted, header.mtu_exceeded], expected);
            assert_eq!((header.version, header.emit()), (VERSION, bytes));
        }
    }
}
