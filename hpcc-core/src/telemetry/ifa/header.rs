// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IFA header behind the IP header (SPEC section 2.4).

use crate::telemetry::Unusable;
use core::borrow::Borrow;

/// Bytes of the header.
pub const LEN: usize = 4;
/// The version that these bytes follow.
pub const VERSION: u8 = 2;
/// The global name space that leaves the format of each hop to its local name space.
pub const GNS_PER_HOP: u8 = 0xf;

/// The flags of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// MF: a fragment header is present.
    pub fragmented: bool,
    /// TS: the stack is behind the payload.
    pub tail_stamp: bool,
    /// I: a live packet, not a clone.
    pub in_band: bool,
    /// TA: the packet turns around at the end.
    pub turn_around: bool,
    /// C: a checksum header is present.
    pub checksum: bool,
}

impl Flags {
    #[inline]
    fn parse(byte: u8) -> Self {
        let set = |bit: u8| byte & bit != 0;
        Flags {
            fragmented: set(0x10),
            tail_stamp: set(0x08),
            in_band: set(0x04),
            turn_around: set(0x02),
            checksum: set(0x01),
        }
    }

    #[inline]
    fn emit(self) -> u8 {
        u8::from(self.fragmented) << 4
            | u8::from(self.tail_stamp) << 3
            | u8::from(self.in_band) << 2
            | u8::from(self.turn_around) << 1
            | u8::from(self.checksum)
    }
}

/// An IFA header in its bytes.
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

    /// Ver.
    #[inline]
    pub fn version(&self) -> u8 {
        self.0.borrow()[0] >> 4
    }

    /// GNS, the global name space.
    #[inline]
    pub fn name_space(&self) -> u8 {
        self.0.borrow()[0] & 0xf
    }

    /// NextHdr: the IP protocol that follows.
    #[inline]
    pub fn next_header(&self) -> u8 {
        self.0.borrow()[1]
    }

    /// The flags.
    #[inline]
    pub fn flags(&self) -> Flags {
        Flags::parse(self.0.borrow()[2])
    }

    /// Most words that the stack may grow to.
    #[inline]
    pub fn max_length(&self) -> u8 {
        self.0.borrow()[3]
    }
}

/// A header's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// GNS, the global name space, 4 bits.
    pub name_space: u8,
    /// NextHdr: the IP protocol that follows.
    pub next_header: u8,
    /// The flags.
    pub flags: Flags,
    /// Most words that the stack may grow to.
    pub max_length: u8,
}

impl Repr {
    /// The contents of a header; [`Unusable`] for another version.
    #[inline]
    pub fn parse<T: Borrow<[u8; LEN]>>(header: &Header<T>) -> Result<Repr, Unusable> {
        if header.version() != VERSION {
            return Err(Unusable);
        }
        Ok(Repr {
            name_space: header.name_space(),
            next_header: header.next_header(),
            flags: header.flags(),
            max_length: header.max_length(),
        })
    }

    /// The bytes; reserved bits are 0, and the name space is cut to its 4 bits.
    #[inline]
    pub fn emit(&self) -> [u8; LEN] {
        [VERSION << 4 | self.name_space & 0xf, self.next_header, self.flags.emit(), self.max_length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A live UDP packet of version 2 with per-hop name spaces, a checksum, and room for 40 words.
    const BYTES: [u8; LEN] = [0x2f, 17, 0b0000_0101, 40];

    #[test]
    fn a_header_is_read_and_written() {
        let repr = Repr::parse(&Header::new(BYTES)).expect("version 2");
        let flags = Flags { in_band: true, checksum: true, ..Flags::default() };
        assert_eq!(repr, Repr { name_space: 0xf, next_header: 17, flags, max_length: 40 });
        assert_eq!(repr.emit(), BYTES);
    }

    #[test]
    fn other_versions_and_short_buffers_are_refused() {
        assert_eq!(Repr::parse(&Header::new([0x3f, 17, 4, 40])), Err(Unusable));
        assert!(Header::new_checked(&BYTES[..3]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_parses_is_emitted_and_parses_again(mut bytes: [u8; LEN]) {
            bytes[0] = VERSION << 4 | bytes[0] & 0xf;
            let repr = Repr::parse(&Header::new(bytes)).expect("version 2");
            prop_assert_eq!(Repr::parse(&Header::new(repr.emit())), Ok(repr));
            bytes[2] &= 0x1f;
            prop_assert_eq!(repr.emit(), bytes);
        }
    }
}
