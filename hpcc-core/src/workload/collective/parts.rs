// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exchanges in which ranks get different amounts: an all-to-all-v, such as that of experts of which some are popular.

use alloc::vec::Vec;

/// How a rank's bytes are divided among the ranks that get them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Weights of the ranks that get them, added up from the first on, for each rank that has them; one row is that of all.
    sums: Vec<Vec<u64>>,
    /// The weights of the rank that has most.
    most: u64,
    /// The bytes go back to the ranks that had them.
    is_return: bool,
}

impl Parts {
    /// Division by weights: a row for each rank, or one for all. The rank with the largest sum has all bytes, others less in
    /// proportion.
    ///
    /// # Panics
    /// If there is no row, or weights of 64 bits overflow.
    pub fn new(weights: &[Vec<u64>]) -> Parts {
        let sum = |row: &Vec<u64>| {
            let mut sum = 0;
            row.iter()
                .map(|weight| {
                    sum += weight;
                    sum
                })
                .collect()
        };
        let sums: Vec<Vec<u64>> = weights.iter().map(sum).collect();
        let most = sums.iter().filter_map(|row| row.last().copied()).max().expect("a row");
        Parts { sums, most: most.max(1), is_return: false }
    }

    /// The exchange in which each rank gets back what it has sent in this one.
    #[must_use]
    pub fn returned(&self) -> Parts {
        Parts { is_return: !self.is_return, ..self.clone() }
    }

    /// Bytes for one rank from another, of `size`.
    pub(super) fn between(&self, size: u64, from: u32, to: u32) -> u64 {
        let (from, to) = if self.is_return { (to, from) } else { (from, to) };
        let row = &self.sums[from as usize % self.sums.len()];
        let up_to = |sum: u64| (u128::from(size) * u128::from(sum) / u128::from(self.most)) as u64;
        let before = to.checked_sub(1).map_or(0, |before| row[before as usize]);
        up_to(row[to as usize]) - up_to(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn what_was_sent_comes_back() {
        let there = Parts::new(&[vec![1, 2, 4]]);
        let back = there.returned();
        assert_eq!((there.between(700, 0, 2), there.between(700, 2, 0)), (400, 100));
        for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            assert_eq!(back.between(700, from, to), there.between(700, to, from));
        }
    }
}
