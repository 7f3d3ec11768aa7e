// SPDX-License-Identifier: MIT OR Apache-2.0
//! `rand()` of the GNU C library: its additive-feedback generator of degree 31 (TYPE_3).
//!
//! Each value is the sum, modulo 2^32, of those 3 and 31 draws ago; the lowest bit is dropped.

const DEGREE: usize = 31;
const SEPARATION: usize = 3;
/// Draws that the library throws away after seeding.
const DISCARDED: usize = 10 * DEGREE;
/// The multiplicative generator that fills the state: modulus 2^31 - 1.
const FILL_MODULUS: i64 = 2_147_483_647;
const FILL_MULTIPLIER: i64 = 16_807;

/// One sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlibcRand {
    state: [u32; DEGREE],
    oldest: usize,
}

impl GlibcRand {
    /// The sequence after `srand(seed)`; a program that does not seed has 1, and 0 counts as 1.
    pub fn new(seed: u32) -> Self {
        let mut state = [0; DEGREE];
        // The library's seed is a signed number.
        let mut word = i64::from(seed.max(1) as i32);
        for (index, slot) in state.iter_mut().enumerate() {
            if index > 0 {
                word = (FILL_MULTIPLIER * word) % FILL_MODULUS;
                word += if word < 0 { FILL_MODULUS } else { 0 };
            }
            *slot = word as u32;
        }
        // The library starts with its front pointer `SEPARATION` places on.
        let mut rand = GlibcRand { state, oldest: SEPARATION };
        for _ in 0..DISCARDED {
            rand.draw();
        }
        rand
    }

    /// The next value, 0 to 2^31 - 1.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let recent = (self.oldest + DEGREE - SEPARATION) % DEGREE;
        let sum = self.state[self.oldest].wrapping_add(self.state[recent]);
        self.state[self.oldest] = sum;
        self.oldest = (self.oldest + 1) % DEGREE;
        sum >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What glibc 2.36 printed.
    #[test]
    fn the_values_are_those_of_the_c_library() {
        let mut rand = GlibcRand::new(1);
        let first: [u32; 8] = core::array::from_fn(|_| rand.draw());
        assert_eq!(
            first,
            [
                1_804_289_383,
                846_930_886,
                1_681_692_777,
                1_714_636_915,
                1_957_747_793,
                424_238_335,
                719_885_386,
                1_649_760_492
            ]
        );
        let after = |draws: usize| {
            let mut rand = GlibcRand::new(1);
            (0..draws).map(|_| rand.draw()).last()
        };
        assert_eq!(after(1_000), Some(1_143_565_421));
        assert_eq!(after(100_000), Some(660_658_275));
    }

    #[test]
    fn seeds_count_as_in_the_c_library() {
        let first = |seed| {
            let mut rand = GlibcRand::new(seed);
            [rand.draw(), rand.draw(), rand.draw(), rand.draw()]
        };
        assert_eq!(first(42), [71_876_166, 708_592_740, 1_483_128_881, 907_283_241]);
        assert_eq!(first(4_000_000_000), [1_111_130_805, 1_380_198_982, 1_306_113_867, 1_557_021_840]);
        assert_eq!(first(0), first(1));
    }
}
