// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RDMA extended transport header: where a WRITE or READ goes and how long it is.

use super::Truncated;

/// Bytes of the header.
pub const LEN: usize = 16;

/// An RDMA extended transport header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    /// Virtual address at the destination.
    pub address: u64,
    /// Key of the memory region.
    pub rkey: u32,
    /// Bytes of the message.
    pub length: u32,
}

impl Reth {
    /// Reads the header and returns what follows it.
    ///
    /// # Errors
    /// Fewer than 16 bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Reth, &[u8]), Truncated> {
        let (address, rest) = bytes.split_first_chunk().ok_or(Truncated)?;
        let (rkey, rest) = rest.split_first_chunk().ok_or(Truncated)?;
        let (length, rest) = rest.split_first_chunk().ok_or(Truncated)?;
        let reth = Reth {
            address: u64::from_be_bytes(*address),
            rkey: u32::from_be_bytes(*rkey),
            length: u32::from_be_bytes(*length),
        };
        Ok((reth, rest))
    }

    /// The header's bytes.
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&self.address.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rkey.to_be_bytes());
        bytes[12..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_place() {
        let reth = Reth { address: 0x0102_0304_0506_0708, rkey: 0x1112_1314, length: 0x2122_2324 };
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0xff];
        assert_eq!(reth.emit(), bytes[..LEN]);
        assert_eq!(Reth::parse(&bytes), Ok((reth, &[0xff][..])));
        for len in 0..LEN {
            assert_eq!(Reth::parse(&bytes[..len]), Err(Truncated));
        }
    }
}
