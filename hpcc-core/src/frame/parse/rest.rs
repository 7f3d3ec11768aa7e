// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a frame that has not been read yet.

use crate::frame::{Fault, Layer, ParseError};
use crate::roce::Truncated;
use etherparse::Ipv6RawExtHeaderSlice;

/// The bytes that were not read yet, and their place in the frame.
pub struct Rest<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Rest<'a> {
    /// The next `len` bytes, which are part of `layer`.
    pub fn take(&mut self, len: usize, layer: Layer) -> Result<&'a [u8], ParseError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(self.error(layer, Fault::Truncated))?;
        (self.bytes, self.at) = (rest, self.at + len);
        Ok(taken)
    }

    /// A fault of the layer that begins here.
    pub fn error(&self, layer: Layer, fault: Fault) -> ParseError {
        ParseError { offset: self.at, layer, fault }
    }

    /// Reads a header of RoCEv2.
    pub fn header<T>(
        &mut self,
        layer: Layer,
        parse: impl Fn(&'a [u8]) -> Result<(T, &'a [u8]), Truncated>,
    ) -> Result<T, ParseError> {
        let (header, rest) = parse(self.bytes).map_err(|Truncated| self.error(layer, Fault::Truncated))?;
        self.take(self.bytes.len() - rest.len(), layer)?;
        Ok(header)
    }

    /// Reads a whole IPv6 extension header.
    pub fn extension(&mut self, layer: Layer) -> Result<(&'a [u8], u8), ParseError> {
        let header = Ipv6RawExtHeaderSlice::from_slice(self.bytes).map_err(|_| self.error(layer, Fault::Truncated))?;
        Ok((self.take(header.slice().len(), layer)?, header.next_header().0))
    }
}
