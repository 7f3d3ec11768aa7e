// SPDX-License-Identifier: MIT OR Apache-2.0
//! The INT-MD metadata header (P4 INT v2.1; SPEC section 2.2). INT-MX has the same geometry without HopML and
//! Remaining.

use super::metadata::Instructions;
use crate::telemetry::Unusable;
use core::borrow::{Borrow, BorrowMut};

/// Bytes of the header.
pub const LEN: usize = 12;
/// The version that these bytes follow.
pub const VERSION: u8 = 2;
/// Most words that HopML can ask of a hop.
pub const MAX_HOP_WORDS: u8 = 31;

const DISCARD: u8 = 1 << 3;
const HOPS_EXHAUSTED: u8 = 1 << 2;
const MTU_EXCEEDED: u8 = 1 << 1;

/// A metadata header in its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Header<T>(T);

impl<'a> Header<&'a [u8; LEN]> {
    /// Views the header at the front of `bytes`; [`Unusable`] if they are too few.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Unusable> {
        bytes.first_chunk().map(Header).ok_or(Unusable)
    }
}

impl<T: Borrow<[u8; LEN]>> Header<T> {
    /// Views these bytes as a header.
    #[inline]
    pub fn new(bytes: T) -> Self {
        Header(bytes)
    }

    #[inline]
    fn pair(&self, at: usize) -> u16 {
        let bytes = self.0.borrow();
        u16::from_be_bytes([bytes[at], bytes[at + 1]])
    }

    /// Ver.
    #[inline]
    pub fn version(&self) -> u8 {
        self.0.borrow()[0] >> 4
    }

    /// D: the sink discards the packet.
    #[inline]
    pub fn discard(&self) -> bool {
        self.0.borrow()[0] & DISCARD != 0
    }

    /// E: a hop found no remaining hop count and added nothing.
    #[inline]
    pub fn hops_exhausted(&self) -> bool {
        self.0.borrow()[0] & HOPS_EXHAUSTED != 0
    }

    /// M: a hop added nothing, for the packet would have exceeded the MTU.
    #[inline]
    pub fn mtu_exceeded(&self) -> bool {
        self.0.borrow()[0] & MTU_EXCEEDED != 0
    }

    /// HopML: words that each hop adds, 0..=31.
    #[inline]
    pub fn hop_words(&self) -> u8 {
        self.0.borrow()[2] & MAX_HOP_WORDS
    }

    /// Remaining hop count.
    #[inline]
    pub fn remaining(&self) -> u8 {
        self.0.borrow()[3]
    }

    /// The instruction bitmap.
    #[inline]
    pub fn instructions(&self) -> Instructions {
        Instructions(self.pair(4))
    }

    /// Domain-specific id; 0 for none.
    #[inline]
    pub fn domain_id(&self) -> u16 {
        self.pair(6)
    }

    /// Domain-specific instructions.
    #[inline]
    pub fn domain_instructions(&self) -> u16 {
        self.pair(8)
    }

    /// Domain-specific flags.
    #[inline]
    pub fn domain_flags(&self) -> u16 {
        self.pair(10)
    }
}

/// A transit hop may change these and the domain-specific flags, nothing else (REQ-59).
impl<T: BorrowMut<[u8; LEN]>> Header<T> {
    /// Sets E.
    #[inline]
    pub fn set_hops_exhausted(&mut self) {
        self.0.borrow_mut()[0] |= HOPS_EXHAUSTED;
    }

    /// Sets M.
    #[inline]
    pub fn set_mtu_exceeded(&mut self) {
        self.0.borrow_mut()[0] |= MTU_EXCEEDED;
    }

    /// Sets the remaining hop count.
    #[inline]
    pub fn set_remaining(&mut self, hops: u8) {
        self.0.borrow_mut()[3] = hops;
    }
}

/// A header's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
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

impl Repr {
    /// The contents of a header; [`Unusable`] for another version.
    pub fn parse<T: Borrow<[u8; LEN]>>(header: &Header<T>) -> Result<Repr, Unusable> {
        if header.version() != VERSION {
            return Err(Unusable);
        }
        Ok(Repr {
            discard: header.discard(),
            hops_exhausted: header.hops_exhausted(),
            mtu_exceeded: header.mtu_exceeded(),
            hop_words: header.hop_words(),
            remaining: header.remaining(),
            instructions: header.instructions(),
            domain_id: header.domain_id(),
            domain_instructions: header.domain_instructions(),
            domain_flags: header.domain_flags(),
        })
    }

    /// The bytes; reserved bits are 0, and HopML is cut to its 5 bits.
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
        [VERSION << 4 | flags, 0, words, self.remaining, i0, i1, d0, d1, s0, s1, f0, f1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::shim;
    use super::super::testing::UDP_EXAMPLE;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let header = Header::new_checked(&UDP_EXAMPLE[shim::LEN..]).expect("a header");
        let repr = Repr::parse(&header).expect("version 2");
        let expected = Repr { hop_words: 2, remaining: 6, instructions: Instructions(0x9000), ..Repr::default() };
        assert_eq!(repr, expected);
        assert_eq!(repr.emit(), UDP_EXAMPLE[shim::LEN..][..LEN]);
    }

    /// Ver, D, E and M share the first byte in this order.
    #[test]
    fn flags_are_the_bits_behind_the_version() {
        let mut header = Header::new([0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((header.discard(), header.hops_exhausted(), header.mtu_exceeded()), (true, false, false));
        header.set_hops_exhausted();
        assert_eq!(header.0[0], 0x2c);
        header.set_mtu_exceeded();
        assert_eq!(header.0[0], 0x2e);
    }

    #[test]
    fn other_versions_and_short_buffers_are_refused() {
        assert_eq!(Repr::parse(&Header::new([0x10; LEN])), Err(Unusable));
        assert!(Header::new_checked(&UDP_EXAMPLE[..LEN - 1]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_parses_is_emitted_and_parses_again(mut bytes: [u8; LEN]) {
            bytes[0] = VERSION << 4 | bytes[0] & 0x0f;
            let repr = Repr::parse(&Header::new(bytes)).expect("version 2");
            prop_assert_eq!(Repr::parse(&Header::new(repr.emit())), Ok(repr));
        }
    }
}
