// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two optional headers in front of the metadata header (SPEC section 2.4).

/// Bytes of each of them.
pub const LEN: usize = 4;

/// The checksum header, present if C is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(pub u16);

impl Checksum {
    /// The checksum in these bytes.
    #[inline]
    pub fn parse(&[high, low, ..]: &[u8; LEN]) -> Self {
        Checksum(u16::from_be_bytes([high, low]))
    }

    /// The bytes; reserved bits are 0.
    #[inline]
    pub fn emit(self) -> [u8; LEN] {
        (u32::from(self.0) << 16).to_be_bytes()
    }
}

/// The fragment header, present if MF is set: which piece of a packet's stack this is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// The packet, 26 bits.
    pub packet: u32,
    /// The piece, 5 bits.
    pub fragment: u8,
    /// No further piece follows.
    pub last: bool,
}

impl Fragment {
    /// What these bytes say.
    #[inline]
    pub fn parse(bytes: &[u8; LEN]) -> Self {
        let word = u32::from_be_bytes(*bytes);
        Fragment { packet: word >> 6, fragment: (word >> 1) as u8 & 0x1f, last: word & 1 != 0 }
    }

    /// The bytes; ids are cut to their 26 and 5 bits.
    #[inline]
    pub fn emit(self) -> [u8; LEN] {
        (self.packet << 6 | u32::from(self.fragment & 0x1f) << 1 | u32::from(self.last)).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_have_their_bits() {
        assert_eq!(Checksum(0xabcd).emit(), [0xab, 0xcd, 0, 0]);
        let fragment = Fragment { packet: 0x200_0001, fragment: 0b10001, last: true };
        assert_eq!(fragment.emit(), [0x80, 0, 0, 0b0110_0011]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_parses_is_emitted_and_parses_again(bytes: [u8; LEN]) {
            prop_assert_eq!(Fragment::parse(&bytes).emit(), bytes);
            let checksum = Checksum::parse(&bytes);
            prop_assert_eq!(Checksum::parse(&checksum.emit()), checksum);
        }
    }
}
