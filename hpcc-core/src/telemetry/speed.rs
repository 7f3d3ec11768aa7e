// SPDX-License-Identifier: MIT OR Apache-2.0
//! Link rates as the 4-bit codes that telemetry carries.
//!
//! No draft of HPCC++ defines them. These are IFA 2.0's, with 800 Gb/s added. Where HPCC's own metadata
//! have 64 bits for rate and bytes sent, every rate can be told:
//!
//! ```text
//! code (4) | txBytes (60)                                             a rate that has a code
//! 14 (4) | exponent (4) | mantissa (24) | txBytes (32) of 128 B       any other: mantissa * 10^exponent b/s
//! ```
//! A mantissa has seven digits or more. txBytes is read modulo 2^39 of either: links that are told in different ways may be on one
//! path.

use crate::units::BitRate;

/// The rates that have a code, by their codes.
pub const RATES: [BitRate; 8] = [
    BitRate::gbps(10),
    BitRate::gbps(25),
    BitRate::gbps(40),
    BitRate::gbps(50),
    BitRate::gbps(100),
    BitRate::gbps(200),
    BitRate::gbps(400),
    BitRate::gbps(800),
];

/// The code of a rate; `None` if it has none.
#[inline]
pub fn code(rate: BitRate) -> Option<u8> {
    RATES.iter().position(|&r| r == rate).map(|code| code as u8)
}

/// The rate of a code, whose upper bits must be 0; `None` if none has it.
#[inline]
pub fn rate(code: u8) -> Option<BitRate> {
    RATES.get(usize::from(code)).copied()
}

/// The code that says: the rate follows.
pub const EXPLICIT: u64 = 14;
/// The code of a rate that is not known.
pub const UNKNOWN: u8 = 0xf;
const CODE: u32 = 60;
const EXPONENT: u32 = 56;
const MANTISSA: u32 = 32;
const MOST: u64 = (1 << 24) - 1;
const TX_UNIT: u64 = 128;
/// Where the bytes sent of a word wrap.
pub const TX_MODULUS: u64 = TX_UNIT << 32;

/// A rate and the bytes that its link has sent, in a word.
#[inline]
pub fn word(rate: BitRate, tx_bytes: u64) -> u64 {
    match code(rate) {
        Some(code) => u64::from(code) << CODE | tx_bytes & ((1 << CODE) - 1),
        None => explicit(rate) | (tx_bytes / TX_UNIT) & u64::from(u32::MAX),
    }
}

/// The upper half of a word that spells its rate out, rounded to the mantissa.
fn explicit(rate: BitRate) -> u64 {
    let (mut mantissa, mut exponent) = (rate.0, 0);
    while mantissa > MOST || mantissa >= 10 && mantissa.is_multiple_of(10) && exponent < 15 {
        (mantissa, exponent) = (if mantissa > MOST { (mantissa + 5) / 10 } else { mantissa / 10 }, exponent + 1);
    }
    EXPLICIT << CODE | exponent << EXPONENT | mantissa << MANTISSA
}

/// The rate and the bytes sent of a word; `None` if it tells no rate.
#[inline]
pub fn parse(word: u64) -> Option<(BitRate, u64)> {
    if word >> CODE != EXPLICIT {
        return Some((rate((word >> CODE) as u8)?, word % TX_MODULUS));
    }
    let power = 10_u64.pow((word >> EXPONENT) as u32 & 0xf);
    let told = BitRate((word >> MANTISSA & MOST).saturating_mul(power));
    Some((told, (word & u64::from(u32::MAX)) * TX_UNIT)).filter(|_| told.0 > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_can_be_spelt_out() {
        let rates = [10_000_000, 123_456_789, 1_000_000_000, 160_000_000_000, 2_400_000_000_000, 10_000_000_000_000];
        for rate in rates.map(BitRate).into_iter().chain(RATES) {
            let (told, sent) = parse(word(rate, 3 * TX_MODULUS + 1_000_000 * TX_UNIT)).expect("a rate");
            assert!(told.0.abs_diff(rate.0) <= rate.0 >> 21, "{told} for {rate}");
            assert_eq!(sent, 1_000_000 * TX_UNIT);
        }
        assert_eq!(word(BitRate::gbps(100), 0xabc), 4 << 60 | 0xabc, "a rate with a code has it");
        assert_eq!(word(BitRate::gbps(160), 256), 14 << 60 | 10 << 56 | 16 << 32 | 2);
        assert_eq!([8, 13, 15].map(|code| parse(code << CODE)), [None; 3]);
        assert_eq!(parse(EXPLICIT << CODE), None, "no rate at all");
    }

    #[test]
    fn codes_are_those_of_ifa() {
        let gbps = [10, 25, 40, 50, 100, 200, 400];
        for (n, gbps) in (0..).zip(gbps) {
            assert_eq!((code(BitRate::gbps(gbps)), rate(n)), (Some(n), Some(BitRate::gbps(gbps))));
        }
        assert_eq!((code(BitRate::gbps(1)), rate(8), rate(15)), (None, None, None));
    }
}
