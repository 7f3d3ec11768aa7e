// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IFA header behind the IP header.

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

/// An IFA header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Ver, 4 bits; these bytes follow [`VERSION`].
    pub version: u8,
    /// GNS, the global name space, 4 bits.
    pub name_space: u8,
    /// NextHdr: the IP protocol that follows.
    pub next_header: u8,
    /// Flags: further parts of the section, and how hops treat it.
    pub flags: Flags,
    /// Most words that the stack may grow to.
    pub max_length: u8,
}

impl Header {
    /// Reads the fields.
    #[inline]
    pub fn parse(&[first, next_header, flags, max_length]: &[u8; LEN]) -> Header {
        Header { version: first >> 4, name_space: first & 0xf, next_header, flags: Flags::parse(flags), max_length }
    }

    /// The bytes; reserved bits are 0, and version and name space are cut to their 4 bits.
    #[inline]
    pub fn emit(&self) -> [u8; LEN] {
        [self.version << 4 | self.name_space & 0xf, self.next_header, self.flags.emit(), self.max_length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A live UDP packet of version 2 with per-hop name spaces, a checksum, and room for 40 words.
    const BYTES: [u8; LEN] = [0x2f, 17, 0b0000_0101, 40];

    #[test]
    fn fields_have_their_bits() {
        let flags = Flags { in_band: true, checksum: true, ..Flags::default() };
        let header = Header { version: VERSION, name_space: 0xf, next_header: 17, flags, max_length: 40 };
        assert_eq!((Header::parse(&BYTES), header.emit()), (header, BYTES));
    }
}
