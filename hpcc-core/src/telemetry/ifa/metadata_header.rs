// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IFA metadata header in front of the stack.

/// Bytes of the header.
pub const LEN: usize = 4;
/// The hop limit that is neither checked nor decremented.
pub const UNCHECKED: u8 = 0xff;

/// The byte of the hop limit, which a transit hop may change.
pub const HOP_LIMIT: usize = 2;
/// The byte of the current length, which a transit hop changes.
pub const CURRENT_LENGTH: usize = 3;

/// A metadata header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataHeader {
    /// Request vector: 0 where the profile says which fields a hop fills.
    pub request: u8,
    /// Action vector: how hops act on loss.
    pub action: u8,
    /// Hops that may still add an entry, or [`UNCHECKED`].
    pub hop_limit: u8,
    /// Words of the stack.
    pub current_length: u8,
}

impl MetadataHeader {
    /// Reads the fields.
    #[inline]
    pub fn parse(&[request, action, hop_limit, current_length]: &[u8; LEN]) -> MetadataHeader {
        MetadataHeader { request, action, hop_limit, current_length }
    }

    /// The bytes.
    #[inline]
    pub fn emit(&self) -> [u8; LEN] {
        [self.request, self.action, self.hop_limit, self.current_length]
    }
}
