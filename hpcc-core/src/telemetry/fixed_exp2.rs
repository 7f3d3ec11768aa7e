// SPDX-License-Identifier: MIT OR Apache-2.0
//! 2^x of a number with 15 binary places, from two tables: the inverse of [`super::fixed_log2`].

use super::fixed_log2::PLACES;

/// The lower places of a number, which one table is for; the other is for the places above them.
const LOW_PLACES: u32 = 7;
/// Places of the numbers that the tables are computed with.
const FIXED: u32 = 63;
const EXPONENT_BIAS: u32 = 1_023;
/// The largest power of 2 of its kind.
const LAST_EXPONENT: u32 = 1_023;
const FRACTION_BITS: u32 = 52;

/// 2^(n / 2^8) and 2^(n / 2^15). 3 KiB together.
static HIGH: [f64; 1 << (PLACES - LOW_PLACES)] = powers(PLACES - LOW_PLACES);
static LOW: [f64; 1 << LOW_PLACES] = powers(PLACES);

/// For each place of the table 2^(place / 2^places).
#[expect(clippy::indexing_slicing, reason = "a place of the table, which the compiler fills")]
const fn powers<const LEN: usize>(places: u32) -> [f64; LEN] {
    let roots = roots();
    let mut table = [0.0; LEN];
    let mut place = 0;
    while place < LEN {
        let mut power = 1_u128 << FIXED;
        let mut bit = 0;
        while bit < places {
            if place >> bit & 1 == 1 {
                power = (power * roots[(places - bit) as usize]) >> FIXED;
            }
            bit += 1;
        }
        table[place] = power as f64 / (1_u128 << FIXED) as f64;
        place += 1;
    }
    table
}

/// 2, its root, the root of that and so on, with 63 binary places.
#[expect(clippy::indexing_slicing, reason = "a place of the table, which the compiler fills")]
const fn roots() -> [u128; PLACES as usize + 1] {
    let mut roots = [2_u128 << FIXED; PLACES as usize + 1];
    let mut place = 1;
    while place < roots.len() {
        roots[place] = (roots[place - 1] << FIXED).isqrt();
        place += 1;
    }
    roots
}

/// 2^(value / 2^15), for values below 2^25, to some 2^-52 of it. Larger ones count as if they were smaller by a multiple of that.
#[inline]
#[expect(clippy::indexing_slicing, reason = "as many bits as places of the table")]
pub fn exp2(value: u32) -> f64 {
    let (whole, low) = (value >> PLACES & LAST_EXPONENT, value as usize & (LOW.len() - 1));
    let high = (value >> LOW_PLACES) as usize & (HIGH.len() - 1);
    let power_of_2 = f64::from_bits(u64::from(EXPONENT_BIAS + whole) << FRACTION_BITS);
    HIGH[high] * LOW[low] * power_of_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_equal_those_of_software_to_the_last_places() {
        for value in (0..128 << PLACES).step_by(17) {
            let expected = libm::exp2(f64::from(value) / f64::from(1 << PLACES));
            let error = (exp2(value) / expected - 1.0).abs();
            assert!(error <= 2.0 * f64::EPSILON, "{value}: {error:e}");
        }
    }
}
