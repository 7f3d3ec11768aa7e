// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IFA metadata header in front of the stack (SPEC section 2.4).

use crate::telemetry::Unusable;
use core::borrow::{Borrow, BorrowMut};

/// Bytes of the header.
pub const LEN: usize = 4;
/// The hop limit that is neither checked nor decremented.
pub const UNCHECKED: u8 = 0xff;
/// Action: hops look for loss.
pub const ACTION_LOSS: u8 = 0x80;
/// Action: the packet's colour, by which loss is counted.
pub const ACTION_COLOUR: u8 = 0x40;

/// A metadata header in its bytes.
#[derive(Clone, Copy, Debug)]
pub struct MetadataHeader<T>(T);

impl<'a> MetadataHeader<&'a [u8; LEN]> {
    /// Views the header at the front of `bytes`; [`Unusable`] if they are too few.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Unusable> {
        bytes.first_chunk().map(MetadataHeader).ok_or(Unusable)
    }
}

impl<T: Borrow<[u8; LEN]>> MetadataHeader<T> {
    /// Views these bytes as a header.
    #[inline]
    pub fn new(bytes: T) -> Self {
        MetadataHeader(bytes)
    }

    /// Request vector.
    #[inline]
    pub fn request(&self) -> u8 {
        self.0.borrow()[0]
    }

    /// Action vector: [`ACTION_LOSS`], [`ACTION_COLOUR`].
    #[inline]
    pub fn action(&self) -> u8 {
        self.0.borrow()[1]
    }

    /// Hops that may still add an entry, or [`UNCHECKED`].
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        self.0.borrow()[2]
    }

    /// Words of the stack.
    #[inline]
    pub fn current_length(&self) -> u8 {
        self.0.borrow()[3]
    }
}

impl<T: BorrowMut<[u8; LEN]>> MetadataHeader<T> {
    /// Sets the hop limit.
    #[inline]
    pub fn set_hop_limit(&mut self, hops: u8) {
        self.0.borrow_mut()[2] = hops;
    }

    /// Sets the words of the stack.
    #[inline]
    pub fn set_current_length(&mut self, words: u8) {
        self.0.borrow_mut()[3] = words;
    }
}

/// A header's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// Request vector.
    pub request: u8,
    /// Action vector: [`ACTION_LOSS`], [`ACTION_COLOUR`].
    pub action: u8,
    /// Hops that may still add an entry, or [`UNCHECKED`].
    pub hop_limit: u8,
    /// Words of the stack.
    pub current_length: u8,
}

impl Repr {
    /// The contents of a header; all bytes are valid.
    #[inline]
    pub fn parse<T: Borrow<[u8; LEN]>>(header: &MetadataHeader<T>) -> Repr {
        Repr {
            request: header.request(),
            action: header.action(),
            hop_limit: header.hop_limit(),
            current_length: header.current_length(),
        }
    }

    /// The bytes.
    #[inline]
    pub fn emit(&self) -> [u8; LEN] {
        [self.request, self.action, self.hop_limit, self.current_length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_changed_and_written() {
        let mut bytes = [1, ACTION_LOSS, 3, 8];
        let mut header = MetadataHeader::new(&mut bytes);
        header.set_hop_limit(2);
        header.set_current_length(16);
        let repr = Repr::parse(&header);
        assert_eq!(repr, Repr { request: 1, action: 0x80, hop_limit: 2, current_length: 16 });
        assert_eq!((repr.emit(), bytes), ([1, 0x80, 2, 16], [1, 0x80, 2, 16]));
        assert!(MetadataHeader::new_checked(&bytes[..3]).is_err());
    }
}
