// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edge-to-edge data: `namespace 16 | type 16`, then what the type asks for (RFC 9197 section 4.6).

use super::Malformed;

/// Most bytes of the data.
pub const MAX_LEN: usize = 4 + 8 + 4 + 4 + 4;

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

    /// The data's bytes: the first so many of the array.
    pub fn emit(&self) -> ([u8; MAX_LEN], usize) {
        let asked = [
            (self.sequence_64.is_some(), SEQUENCE_64),
            (self.sequence_32.is_some(), SEQUENCE_32),
            (self.seconds.is_some(), SECONDS),
            (self.fraction.is_some(), FRACTION),
        ];
        let asked = asked.iter().filter(|(asked, _)| *asked).fold(0, |bits, (_, bit)| bits | bit);
        let mut bytes = [0; MAX_LEN];
        bytes[..2].copy_from_slice(&self.namespace.to_be_bytes());
        bytes[2..4].copy_from_slice(&asked.to_be_bytes());
        let halves = self.sequence_64.map(|number| [(number >> 32) as u32, number as u32]);
        let words = halves.into_iter().flatten().chain(self.sequence_32).chain(self.seconds).chain(self.fraction);
        let mut len = 4;
        for (word, place) in words.zip(bytes[4..].chunks_exact_mut(4)) {
            place.copy_from_slice(&word.to_be_bytes());
            len += 4;
        }
        (bytes, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_stand_in_the_order_of_their_bits() {
        let data = EdgeToEdge { namespace: 0x7b, sequence_64: Some(1), fraction: Some(0x22), ..EdgeToEdge::default() };
        let (bytes, len) = data.emit();
        assert_eq!(bytes[..len], [0, 0x7b, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x22]);
        assert_eq!(EdgeToEdge::parse(&bytes[..len]), Ok(data));
        assert_eq!(EdgeToEdge::parse(&bytes[..len - 1]), Err(Malformed));
        assert_eq!(EdgeToEdge::parse(&[0, 1, 0, 1]), Err(Malformed));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_read_is_written_alike(bytes in prop::collection::vec(any::<u8>(), 0..32), kind in 0u8..16) {
            let bytes: alloc::vec::Vec<u8> = [0, 1, kind << 4, 0].into_iter().chain(bytes).collect();
            if let Ok(data) = EdgeToEdge::parse(&bytes) {
                let (again, len) = data.emit();
                prop_assert_eq!(&again[..len], &bytes[..]);
            }
        }
    }
}
