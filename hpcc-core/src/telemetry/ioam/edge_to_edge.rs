// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edge-to-edge data: `namespace 16 | type 16`, then what the type asks for (RFC 9197 section 4.6).

use super::Malformed;

const SEQUENCE_64: u16 = 0x8000;
const SEQUENCE_32: u16 = 0x4000;
const SECONDS: u16 = 0x2000;
const FRACTION: u16 = 0x1000;

/// Data from the encapsulating to the decapsulating node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeToEdge {
    /// What defines them.
    pub namespace: u16,
    /// Number of the packet, 64 bits.
    pub sequence_64: Option<u64>,
    /// Number of the packet, 32 bits.
    pub sequence_32: Option<u32>,
    /// Time of encapsulation, seconds.
    pub seconds: Option<u32>,
    /// Time of encapsulation, fraction of a second.
    pub fraction: Option<u32>,
}

impl EdgeToEdge {
    /// Reads the data.
    ///
    /// # Errors
    /// Another length than the type asks for, or a type with bits that are not assigned.
    pub fn parse(bytes: &[u8]) -> Result<EdgeToEdge, Malformed> {
        let (&[n0, n1, t0, t1], mut rest) = bytes.split_first_chunk::<4>().ok_or(Malformed)?;
        let asked = u16::from_be_bytes([t0, t1]);
        if asked & !(SEQUENCE_64 | SEQUENCE_32 | SECONDS | FRACTION) != 0 {
            return Err(Malformed);
        }
        let mut word = |bit| {
            if asked & bit == 0 {
                return Ok(None);
            }
            let (word, behind) = rest.split_first_chunk().ok_or(Malformed)?;
            rest = behind;
            Ok(Some(u32::from_be_bytes(*word)))
        };
        let sequence_64 = match (word(SEQUENCE_64)?, word(SEQUENCE_64)?) {
            (Some(high), Some(low)) => Some(u64::from(high) << 32 | u64::from(low)),
            _ => None,
        };
        let data = EdgeToEdge {
            namespace: u16::from_be_bytes([n0, n1]),
            sequence_64,
            sequence_32: word(SEQUENCE_32)?,
            seconds: word(SECONDS)?,
            fraction: word(FRACTION)?,
        };
        if rest.is_empty() { Ok(data) } else { Err(Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_in_the_order_of_their_bits() {
        let data = EdgeToEdge { namespace: 0x7b, sequence_64: Some(1), fraction: Some(0x22), ..EdgeToEdge::default() };
        let bytes = [0, 0x7b, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x22];
        assert_eq!(EdgeToEdge::parse(&bytes), Ok(data));
        assert_eq!(EdgeToEdge::parse(&bytes[..15]), Err(Malformed));
        assert_eq!(EdgeToEdge::parse(&[0, 1, 0, 1]), Err(Malformed));
    }
}
