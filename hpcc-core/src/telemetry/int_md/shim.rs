// SPDX-License-Identifier: MIT OR Apache-2.0
//! The INT shim over UDP or TCP (P4 INT v2.1; SPEC section 2.2).

use crate::telemetry::Unusable;
use core::borrow::{Borrow, BorrowMut};

/// Bytes of the shim.
pub const LEN: usize = 4;

/// What follows the shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// INT-MD: hops embed their metadata.
    Embedded,
    /// A destination-type header: only the sink looks at it.
    Destination,
    /// INT-MX: hops export what the instructions ask for and embed nothing.
    Export,
}

/// The last 16 bits: what the sink needs to restore the packet. The variant is the NPT field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// NPT 0, the payload's protocol is unchanged: the original DSCP, 6 bits.
    Dscp(u8),
    /// NPT 1, a UDP payload: the original destination port.
    UdpPort(u16),
    /// NPT 2, another layer-4 header: the original IP protocol.
    Protocol(u8),
}

/// A shim in its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Shim<T>(T);

impl<'a> Shim<&'a [u8; LEN]> {
    /// Views the shim at the front of `bytes`; [`Unusable`] if they are too few.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Unusable> {
        bytes.first_chunk().map(Shim).ok_or(Unusable)
    }
}

impl<T: Borrow<[u8; LEN]>> Shim<T> {
    /// Views these bytes as a shim.
    #[inline]
    pub fn new(bytes: T) -> Self {
        Shim(bytes)
    }

    /// What follows; `None` for an unassigned type.
    #[inline]
    pub fn kind(&self) -> Option<Kind> {
        match self.0.borrow()[0] >> 4 {
            1 => Some(Kind::Embedded),
            2 => Some(Kind::Destination),
            3 => Some(Kind::Export),
            _ => None,
        }
    }

    /// What restores the packet; `None` for an unassigned NPT.
    #[inline]
    pub fn next(&self) -> Option<Next> {
        let [first, _, high, low] = *self.0.borrow();
        match first >> 2 & 0b11 {
            0 => Some(Next::Dscp(low >> 2)),
            1 => Some(Next::UdpPort(u16::from_be_bytes([high, low]))),
            2 => Some(Next::Protocol(low)),
            _ => None,
        }
    }

    /// Words of the metadata header and the stack, without the shim.
    #[inline]
    pub fn length(&self) -> u8 {
        self.0.borrow()[1]
    }

    /// Bytes from the shim to the end of the stack.
    #[inline]
    pub fn section_len(&self) -> usize {
        LEN + 4 * usize::from(self.length())
    }
}

impl<T: BorrowMut<[u8; LEN]>> Shim<T> {
    /// Sets the words of the metadata header and the stack.
    #[inline]
    pub fn set_length(&mut self, words: u8) {
        self.0.borrow_mut()[1] = words;
    }
}

/// A shim's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// What follows.
    pub kind: Kind,
    /// What restores the packet.
    pub next: Next,
    /// Words of the metadata header and the stack, without the shim.
    pub length: u8,
}

impl Repr {
    /// The contents of a shim; [`Unusable`] for an unassigned type or NPT.
    pub fn parse<T: Borrow<[u8; LEN]>>(shim: &Shim<T>) -> Result<Repr, Unusable> {
        let kind = shim.kind().ok_or(Unusable)?;
        let next = shim.next().ok_or(Unusable)?;
        Ok(Repr { kind, next, length: shim.length() })
    }

    /// The bytes; reserved bits are 0, and a DSCP is cut to its 6 bits.
    pub fn emit(&self) -> [u8; LEN] {
        let kind = match self.kind {
            Kind::Embedded => 1,
            Kind::Destination => 2,
            Kind::Export => 3,
        };
        let (npt, [high, low]) = match self.next {
            Next::Dscp(dscp) => (0, [0, dscp << 2]),
            Next::UdpPort(port) => (1, port.to_be_bytes()),
            Next::Protocol(protocol) => (2, [0, protocol]),
        };
        [kind << 4 | npt << 2, self.length, high, low]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::UDP_EXAMPLE;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let shim = Shim::new_checked(&UDP_EXAMPLE).expect("a shim");
        let repr = Repr::parse(&shim).expect("assigned codes");
        assert_eq!(repr, Repr { kind: Kind::Embedded, next: Next::UdpPort(4791), length: 7 });
        assert_eq!(repr.emit(), UDP_EXAMPLE[..LEN]);
        assert_eq!(shim.section_len(), UDP_EXAMPLE.len());
    }

    #[test]
    fn the_last_bits_mean_what_npt_says() {
        assert_eq!(Shim::new([0x10, 3, 0xff, 0b1011_1011]).next(), Some(Next::Dscp(0b10_1110)));
        assert_eq!(Shim::new([0x18, 3, 0xff, 6]).next(), Some(Next::Protocol(6)));
        assert_eq!(Shim::new([0x1c, 3, 0, 0]).next(), None);
        assert_eq!(Repr { kind: Kind::Export, next: Next::Dscp(46), length: 3 }.emit(), [0x30, 3, 0, 46 << 2]);
    }

    #[test]
    fn unassigned_codes_and_short_buffers_are_refused() {
        for first in [0x04, 0x44, 0xf4, 0x1c] {
            assert_eq!(Repr::parse(&Shim::new([first, 3, 0, 0])), Err(Unusable), "{first:#x}");
        }
        assert!(Shim::new_checked(&UDP_EXAMPLE[..3]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_parses_is_emitted_and_parses_again(bytes: [u8; LEN]) {
            if let Ok(repr) = Repr::parse(&Shim::new(bytes)) {
                prop_assert_eq!(Repr::parse(&Shim::new(repr.emit())), Ok(repr));
            }
        }
    }
}
