// SPDX-License-Identifier: MIT OR Apache-2.0
//! The INT shim over UDP or TCP (P4 INT v2.1).

use crate::telemetry::Unusable;

/// Bytes of the shim.
pub const LEN: usize = 4;
/// The byte of the length, which a transit hop may change.
pub const LENGTH: usize = 1;

/// The kind of header behind the shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// INT-MD: hops embed their metadata.
    Embedded,
    /// A destination-type header: only the sink looks at it.
    Destination,
    /// INT-MX: hops export what the instructions ask for and embed nothing.
    Export,
}

/// The last 16 bits, by which the sink restores the packet. The variant is the NPT field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// NPT 0, the payload's protocol is unchanged: the original DSCP, 6 bits.
    Dscp(u8),
    /// NPT 1, a UDP payload: the original destination port.
    UdpPort(u16),
    /// NPT 2, another layer-4 header: the original IP protocol.
    Protocol(u8),
}

/// A shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shim {
    /// The kind of header that follows.
    pub kind: Kind,
    /// How to restore the packet.
    pub next: Next,
    /// Words of the metadata header and the stack, without the shim.
    pub length: u8,
}

impl Shim {
    /// Reads the fields.
    ///
    /// # Errors
    /// [`Unusable`] for an unassigned type or NPT.
    #[inline]
    pub fn parse(&[first, length, high, low]: &[u8; LEN]) -> Result<Shim, Unusable> {
        let kind = match first >> 4 {
            1 => Kind::Embedded,
            2 => Kind::Destination,
            3 => Kind::Export,
            _ => return Err(Unusable),
        };
        let next = match first >> 2 & 0b11 {
            0 => Next::Dscp(low >> 2),
            1 => Next::UdpPort(u16::from_be_bytes([high, low])),
            2 => Next::Protocol(low),
            _ => return Err(Unusable),
        };
        Ok(Shim { kind, next, length })
    }

    /// Bytes from the shim to the end of the stack.
    #[inline]
    pub fn section_len(&self) -> usize {
        LEN + 4 * usize::from(self.length)
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

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let bytes = UDP_EXAMPLE.first_chunk().expect("a shim");
        let shim = Shim { kind: Kind::Embedded, next: Next::UdpPort(4791), length: 7 };
        assert_eq!((Shim::parse(bytes), shim.emit()), (Ok(shim), *bytes));
        assert_eq!((shim.section_len(), bytes[LENGTH]), (UDP_EXAMPLE.len(), 7));
    }

    #[test]
    fn the_last_bits_mean_what_npt_says() {
        let next = |bytes| Shim::parse(&bytes).map(|shim| shim.next);
        assert_eq!(next([0x10, 3, 0xff, 0b1011_1011]), Ok(Next::Dscp(0b10_1110)));
        assert_eq!(next([0x18, 3, 0xff, 6]), Ok(Next::Protocol(6)));
        assert_eq!(Shim { kind: Kind::Export, next: Next::Dscp(46), length: 3 }.emit(), [0x30, 3, 0, 46 << 2]);
    }

    #[test]
    fn unassigned_codes_are_refused() {
        for first in [0x04, 0x44, 0xf4, 0x1c] {
            assert_eq!(Shim::parse(&[first, 3, 0, 0]), Err(Unusable), "{first:#x}");
        }
    }
}
