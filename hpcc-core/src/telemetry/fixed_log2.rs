// SPDX-License-Identifier: MIT OR Apache-2.0
//! log2 of 16 leading bits in fixed point with 15 binary places, truncated; exact, from a table.

/// Binary places of a logarithm.
pub const PLACES: u32 = 15;

/// For each number between 1 and 2 with 15 binary places, the places of its logarithm. 64 KiB.
static FRACTIONS: [u16; 1 << PLACES] = fractions();

#[expect(clippy::indexing_slicing, reason = "a place of the table, which the compiler fills")]
const fn fractions() -> [u16; 1 << PLACES] {
    let mut table = [0; 1 << PLACES];
    let mut place = 0;
    while place < table.len() {
        table[place] = fraction(((1 << PLACES) + place) as u64);
        place += 1;
    }
    table
}

/// The places of a number's logarithm, of which 15 bits are behind the point: squaring a number doubles its logarithm, and
/// where the square exceeds 2 the next bit is set. The product keeps 63 places, of which 15 squarings use up few.
const fn fraction(number: u64) -> u16 {
    let mut number = (number << (63 - PLACES)) as u128;
    let mut bits = 0;
    let mut place = 0;
    while place < PLACES {
        number = (number * number) >> 63;
        let bit = (number >> 64) as u16;
        number >>= bit;
        bits = bits << 1 | bit;
        place += 1;
    }
    bits
}

/// 2^15 log2 of a value, truncated; `None` for 0. What is behind the 16 leading bits of the value does not count.
#[inline]
pub fn log2(value: u64) -> Option<u32> {
    let top = value.checked_ilog2()?;
    let leading = (value << (63 - top)) >> (63 - PLACES);
    let fraction = FRACTIONS.get(leading as usize & ((1 << PLACES) - 1)).copied().unwrap_or_default();
    Some(top << PLACES | u32::from(fraction))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    /// The C library's logarithm, as the 2019 simulator takes it.
    fn platform(value: u64) -> Option<u32> {
        Some(((value as f64).log2() * f64::from(1 << PLACES)).trunc() as u32)
    }

    #[test]
    fn logarithms_equal_the_platforms() {
        assert_eq!(log2(0), None);
        for value in 1..=1 << 16 {
            assert_eq!(log2(value), platform(value), "{value}");
        }
        for shift in 1..48 {
            for leading in (1 << 15..1 << 16).step_by(7) {
                assert_eq!(log2(leading << shift), platform(leading << shift), "{leading} << {shift}");
            }
        }
    }
}
