// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one hop adds, field by field (P4 INT v2.1).
//!
//! Fields stand in the order of their instruction bits, domain-specific metadata behind them, the checksum
//! complement last. A value that the hop does not know is all ones.

use crate::telemetry::Unusable;

const FIRST: u16 = 0x8000;
/// Bits 4, 5 and 6 ask for 8 bytes, all others for 4.
const WIDE: u16 = 0x0e00;
const COMPLEMENT: u16 = 0x0001;
const WORD: usize = 4;

/// The instruction bitmap. Bit 0 is the most significant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions(pub u16);

impl Instructions {
    /// Words that a hop adds for these bits; domain-specific metadata come on top.
    #[inline]
    pub const fn words(self) -> u8 {
        (self.0.count_ones() + (self.0 & WIDE).count_ones()) as u8
    }

    /// The bits that are set, in the order of their fields.
    fn bits(self) -> impl Iterator<Item = u8> {
        (0..16).filter(move |&bit| self.0 & FIRST >> bit != 0)
    }
}

/// Bytes of the field that a bit asks for.
const fn width(bit: u8) -> usize {
    if matches!(bit, 4..=6) { 2 * WORD } else { WORD }
}

/// One field of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// Bit 0: the switch.
    NodeId(u32),
    /// Bit 1: ports.
    Level1Interfaces {
        /// By which the packet came in.
        ingress: u16,
        /// By which it leaves.
        egress: u16,
    },
    /// Bit 2: time in the hop.
    HopLatency(u32),
    /// Bit 3: the queue in which the packet waited.
    Queue {
        /// Its number at the hop.
        id: u8,
        /// How full it is, 24 bits.
        occupancy: u32,
    },
    /// Bit 4: when the packet came in.
    IngressTime(u64),
    /// Bit 5: when it leaves.
    EgressTime(u64),
    /// Bit 6: logical ports.
    Level2Interfaces {
        /// By which the packet came in.
        ingress: u32,
        /// By which it leaves.
        egress: u32,
    },
    /// Bit 7: how busy the egress link is.
    TxUtilisation(u32),
    /// Bit 8: the buffer that the queue belongs to.
    Buffer {
        /// Its number at the hop.
        id: u8,
        /// How full it is, 24 bits.
        occupancy: u32,
    },
    /// Bits 9 to 14, which mean nothing yet.
    Reserved {
        /// Which bit asked for it, 9 to 14.
        bit: u8,
        /// The hop's value.
        value: u32,
    },
    /// Words that the domain of the header defines.
    DomainSpecific(&'a [u8]),
    /// Bit 15: keeps the layer-4 checksum right.
    ChecksumComplement(u32),
}

impl Field<'_> {
    /// The field of a bit whose bytes hold `value`.
    fn new(bit: u8, value: u64) -> Self {
        let low = value as u32;
        let (id, occupancy) = ((low >> 24) as u8, low & 0xff_ffff);
        match bit {
            0 => Field::NodeId(low),
            1 => Field::Level1Interfaces { ingress: (low >> 16) as u16, egress: low as u16 },
            2 => Field::HopLatency(low),
            3 => Field::Queue { id, occupancy },
            4 => Field::IngressTime(value),
            5 => Field::EgressTime(value),
            6 => Field::Level2Interfaces { ingress: (value >> 32) as u32, egress: low },
            7 => Field::TxUtilisation(low),
            8 => Field::Buffer { id, occupancy },
            15 => Field::ChecksumComplement(low),
            _ => Field::Reserved { bit, value: low },
        }
    }
}

/// The fields of one hop, in their order on the wire.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    instructions: Instructions,
    baseline: &'a [u8],
    domain: &'a [u8],
    complement: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields in the bytes of one hop; [`Unusable`] if these are fewer than the instructions ask for.
    pub fn new(instructions: Instructions, hop: &'a [u8]) -> Result<Self, Unusable> {
        let with_complement = instructions.0 & COMPLEMENT != 0;
        let instructions = Instructions(instructions.0 & !COMPLEMENT);
        let (baseline, rest) = hop.split_at_checked(WORD * usize::from(instructions.words())).ok_or(Unusable)?;
        let domain = rest.len().checked_sub(if with_complement { WORD } else { 0 }).ok_or(Unusable)?;
        let (domain, complement) = rest.split_at(domain);
        Ok(Fields { instructions, baseline, domain, complement })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        if let Some(bit) = self.instructions.bits().next() {
            let (bytes, rest) = self.baseline.split_at_checked(width(bit))?;
            self.instructions.0 &= !(FIRST >> bit);
            self.baseline = rest;
            return Some(Field::new(bit, number(bytes)));
        }
        let domain = core::mem::take(&mut self.domain);
        if !domain.is_empty() {
            return Some(Field::DomainSpecific(domain));
        }
        let complement = core::mem::take(&mut self.complement);
        (!complement.is_empty()).then(|| Field::new(15, number(complement)))
    }
}

/// A big-endian number of at most 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::testing::UDP_EXAMPLE;
    use super::*;

    use std::vec::Vec;

    #[test]
    fn the_hops_of_the_example_are_read() {
        for (hop, (node, id, occupancy)) in UDP_EXAMPLE[16..].chunks_exact(8).zip([(2, 3, 1024), (1, 2, 256)]) {
            let fields: Vec<Field<'_>> = Fields::new(Instructions(0x9000), hop).expect("8 bytes").collect();
            assert_eq!(fields, [Field::NodeId(node), Field::Queue { id, occupancy }]);
        }
    }

    /// The words of each bit: 8 bytes for both timestamps and for logical interfaces, 4 for the rest.
    #[test]
    fn bits_ask_for_one_or_two_words() {
        let words = core::array::from_fn(|bit| Instructions(FIRST >> bit).words());
        assert_eq!(words, [1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(Instructions(0xffff).words(), 19);
    }

    #[test]
    fn fields_stand_in_the_order_of_their_bits() {
        let bytes = |bit: u8| u64::from(bit).to_be_bytes().into_iter().skip(8 - width(bit));
        let hop: Vec<u8> = (0..16).flat_map(bytes).collect();
        let fields: Vec<Field<'_>> = Fields::new(Instructions(0xffff), &hop).expect("19 words").collect();
        let expected: Vec<Field<'_>> = (0..16).map(|bit| Field::new(bit, bit.into())).collect();
        assert_eq!(fields, expected);
    }

    #[test]
    fn a_hop_that_is_too_short_is_refused() {
        assert!(Fields::new(Instructions(0x0400), &[0; 7]).is_err());
        assert!(Fields::new(Instructions(0x8001), &[0; 7]).is_err());
    }
}
