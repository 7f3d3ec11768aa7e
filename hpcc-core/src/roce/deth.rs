// SPDX-License-Identifier: MIT OR Apache-2.0
//! The datagram extended transport header: who sent an unreliable datagram.
//!
//! ```text
//! Q_Key 32 | reserved 8 | SrcQP 24
//! ```

use super::{Truncated, bits_24};

/// Bytes of the header.
pub const LEN: usize = 8;

/// A datagram extended transport header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deth {
    /// Key of the destination queue.
    pub qkey: u32,
    /// Source queue pair, 24 bits.
    pub src_qp: u32,
}

impl Deth {
    /// Reads the header and returns what follows it.
    ///
    /// # Errors
    /// Fewer than 8 bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Deth, &[u8]), Truncated> {
        let (qkey, rest) = bytes.split_first_chunk().ok_or(Truncated)?;
        let (&[_, high, mid, low], rest) = rest.split_first_chunk().ok_or(Truncated)?;
        Ok((Deth { qkey: u32::from_be_bytes(*qkey), src_qp: u32::from_be_bytes([0, high, mid, low]) }, rest))
    }

    /// The header's bytes; bits beyond the width of a field are cut off.
    pub fn emit(&self) -> [u8; LEN] {
        let [a, b, c, d] = self.qkey.to_be_bytes();
        let [high, mid, low] = bits_24(self.src_qp);
        [a, b, c, d, 0, high, mid, low]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_place() {
        let deth = Deth { qkey: 0x0102_0304, src_qp: 0x05_0607 };
        let bytes = [1, 2, 3, 4, 0, 5, 6, 7, 0xff];
        assert_eq!(deth.emit(), bytes[..LEN]);
        assert_eq!(Deth::parse(&bytes), Ok((deth, &[0xff][..])));
        for len in 0..LEN {
            assert_eq!(Deth::parse(&bytes[..len]), Err(Truncated));
        }
    }
}
