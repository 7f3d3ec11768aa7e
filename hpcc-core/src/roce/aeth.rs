// SPDX-License-Identifier: MIT OR Apache-2.0
//! The acknowledgement's extended transport header: `syndrome 8 | MSN 24`.

use super::{Truncated, bits_24};

/// Bytes of the header.
pub const LEN: usize = 4;

/// An acknowledgement's extended transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// Acknowledgement, or its failure.
    pub syndrome: Syndrome,
    /// Messages that the receiver has completed, 24 bits.
    pub msn: u32,
}

/// The meaning of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syndrome {
    /// Everything up to the packet has arrived. The 5-bit code says how many messages may follow; 31 sets no limit.
    Ack(u8),
    /// The receiver was not ready; the 5-bit code says how long to wait.
    NotReady(u8),
    /// Something is wrong with the packet.
    Nak(NakCode),
    /// A combination of bits that is not defined.
    Reserved(u8),
}

/// Why a packet was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NakCode {
    /// An earlier packet is missing.
    SequenceError,
    /// The operation is invalid.
    InvalidRequest,
    /// The memory may not be accessed.
    AccessError,
    /// The receiver failed.
    OperationalError,
    /// The operation is invalid for a reliable datagram.
    InvalidRdRequest,
    /// A 5-bit code that is not defined.
    Unknown(u8),
}

impl Syndrome {
    /// A positive acknowledgement that sets no limit.
    pub const ACK: Syndrome = Syndrome::Ack(31);

    /// The syndrome of a byte.
    pub fn from_byte(byte: u8) -> Syndrome {
        let code = byte & 0x1f;
        match byte >> 5 {
            0 => Syndrome::Ack(code),
            1 => Syndrome::NotReady(code),
            3 => Syndrome::Nak(NakCode::from_code(code)),
            _ => Syndrome::Reserved(byte),
        }
    }

    /// The byte of a syndrome; bits beyond the width of a code are cut off.
    pub fn byte(self) -> u8 {
        match self {
            Syndrome::Ack(code) => code & 0x1f,
            Syndrome::NotReady(code) => 0x20 | code & 0x1f,
            Syndrome::Nak(code) => 0x60 | code.code(),
            Syndrome::Reserved(byte) => byte,
        }
    }
}

impl NakCode {
    fn from_code(code: u8) -> NakCode {
        match code {
            0 => NakCode::SequenceError,
            1 => NakCode::InvalidRequest,
            2 => NakCode::AccessError,
            3 => NakCode::OperationalError,
            4 => NakCode::InvalidRdRequest,
            _ => NakCode::Unknown(code),
        }
    }

    fn code(self) -> u8 {
        match self {
            NakCode::SequenceError => 0,
            NakCode::InvalidRequest => 1,
            NakCode::AccessError => 2,
            NakCode::OperationalError => 3,
            NakCode::InvalidRdRequest => 4,
            NakCode::Unknown(code) => code & 0x1f,
        }
    }
}

impl Aeth {
    /// Reads the header and returns what follows it.
    ///
    /// # Errors
    /// Fewer than 4 bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Aeth, &[u8]), Truncated> {
        let (&[syndrome, high, mid, low], rest) = bytes.split_first_chunk::<LEN>().ok_or(Truncated)?;
        let aeth = Aeth { syndrome: Syndrome::from_byte(syndrome), msn: u32::from_be_bytes([0, high, mid, low]) };
        Ok((aeth, rest))
    }

    /// The header's bytes; bits beyond the width of a field are cut off.
    pub fn emit(&self) -> [u8; LEN] {
        let [high, mid, low] = bits_24(self.msn);
        [self.syndrome.byte(), high, mid, low]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vector `roce_rc_ack_v4`: syndrome 0x1f, MSN 5. 0x60 is the sequence error.
    #[test]
    fn published_syndromes_read_and_write_alike() {
        let ack = Aeth { syndrome: Syndrome::ACK, msn: 5 };
        assert_eq!(ack.emit(), [0x1f, 0, 0, 5]);
        assert_eq!(Aeth::parse(&[0x1f, 0, 0, 5, 9]), Ok((ack, &[9][..])));
        assert_eq!(Syndrome::Nak(NakCode::SequenceError).byte(), 0x60);
        assert_eq!(Syndrome::from_byte(0x22), Syndrome::NotReady(2));
        assert_eq!(Syndrome::from_byte(0x5f), Syndrome::Reserved(0x5f));
    }
}
