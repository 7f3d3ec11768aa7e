// SPDX-License-Identifier: GPL-2.0-only
//! Percentiles, and the classes of flow size that tables use.

use hpcc_formats::results::FctRecord;

/// Element int(n * percent / 100) of n sorted values, the reference simulator's notion of a percentile; 0 if
/// there are none.
pub fn percentile<T: Copy + Default>(sorted: &[T], percent: usize) -> T {
    percentile_behind(0, sorted, percent)
}

/// The same with so many zeros before the sorted values, none of which is negative.
pub fn percentile_behind<T: Copy + Default>(zeros: usize, sorted: &[T], percent: usize) -> T {
    let rank = (zeros + sorted.len()) * percent / 100;
    let Some(rank) = rank.checked_sub(zeros) else { return T::default() };
    sorted.get(rank).or(sorted.last()).copied().unwrap_or_default()
}

/// The middle one of some values in any order; of an even count, the mean of the middle two. NaN if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get((sorted.len().max(1) - 1) / 2..=sorted.len() / 2).unwrap_or_default();
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// With at most this many sizes, each is a bin of its own.
const DISTINCT_SIZES: usize = 12;
/// Bins, three to a decade, are merged until each holds this many flows, which a 99th percentile needs.
const BIN_FLOWS: usize = 100;

/// Upper bounds of bins for flows of these sizes, ascending; the last is the largest size.
pub fn size_bounds(mut sizes: Vec<u64>) -> Vec<u64> {
    sizes.sort_unstable();
    let mut distinct = sizes.clone();
    distinct.dedup();
    if distinct.len() <= DISTINCT_SIZES {
        return distinct;
    }
    let largest = sizes[sizes.len() - 1];
    let (mut bounds, mut below) = (Vec::new(), 0);
    for bound in (0..18).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u64.pow(power))) {
        let up_to = sizes.partition_point(|size| *size <= bound);
        if bound < largest && up_to - below >= BIN_FLOWS && sizes.len() - up_to >= BIN_FLOWS {
            bounds.push(bound);
            below = up_to;
        }
    }
    bounds.push(largest);
    bounds
}

/// Jain's index of some rates: 1 where all are equal, 1 / n where one flow has everything.
pub fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// Completion times of a group of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FctStats {
    /// Flows in the group.
    pub flows: usize,
    /// Mean of FCT over ideal FCT; at least 1.
    pub slowdown_mean: f64,
    /// Median of FCT over ideal FCT; at least 1.
    pub slowdown_p50: f64,
    /// 95th percentile of the slowdown.
    pub slowdown_p95: f64,
    /// 99th percentile of the slowdown.
    pub slowdown_p99: f64,
    /// 99th percentile of the completion time, in ns.
    pub fct_p99_ns: u64,
}

impl FctStats {
    /// The figures of some flows, in any order.
    pub fn of<'a>(flows: impl IntoIterator<Item = &'a FctRecord>) -> FctStats {
        let (mut slowdowns, mut times): (Vec<f64>, Vec<u64>) =
            flows.into_iter().map(|flow| (flow.slowdown(), flow.fct_ns)).unzip();
        slowdowns.sort_by(f64::total_cmp);
        times.sort_unstable();
        FctStats {
            flows: times.len(),
            slowdown_mean: slowdowns.iter().sum::<f64>() / slowdowns.len().max(1) as f64,
            slowdown_p50: percentile(&slowdowns, 50),
            slowdown_p95: percentile(&slowdowns, 95),
            slowdown_p99: percentile(&slowdowns, 99),
            fct_p99_ns: percentile(&times, 99),
        }
    }
}

/// A class of flow sizes: above one bound, up to and including the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// For the table.
    pub label: &'static str,
    above: u64,
    up_to: u64,
}

/// Every flow of at least one byte falls into one of these.
pub const SIZE_CLASSES: [SizeClass; 4] = [
    SizeClass { label: "up to 10 kB", above: 0, up_to: 10_000 },
    SizeClass { label: "10 - 100 kB", above: 10_000, up_to: 100_000 },
    SizeClass { label: "100 kB - 1 MB", above: 100_000, up_to: 1_000_000 },
    SizeClass { label: "over 1 MB", above: 1_000_000, up_to: u64::MAX },
];

impl SizeClass {
    /// Size of the largest flows that belong here, in bytes.
    pub fn up_to(&self) -> u64 {
        self.up_to
    }

    /// Whether a flow of this many bytes belongs here.
    pub fn contains(&self, bytes: u64) -> bool {
        bytes.max(1) > self.above && bytes <= self.up_to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_the_references() {
        let values: Vec<u64> = (0..200).collect();
        assert_eq!(percentile(&values, 50), 100);
        assert_eq!(percentile(&values, 99), 198);
        assert_eq!(percentile(&[7], 99), 7);
        assert_eq!(percentile(&[1, 2], 50), 2);
        assert_eq!(percentile(&[1, 2], 100), 2);
        assert_eq!(percentile::<u64>(&[], 99), 0);
        assert_eq!([49, 50, 100].map(|percent| percentile_behind(2, &[8, 9], percent)), [0, 8, 9]);
    }

    #[test]
    fn the_median_is_the_middle_one_or_the_mean_of_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), 3.0);
        assert_eq!(median(&[7.0]), 7.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn bins_hold_enough_flows() {
        assert_eq!(size_bounds((1..=1_000).collect()), [100, 200, 500, 1_000]);
        assert_eq!(size_bounds(vec![9, 5, 5]), [5, 9]);
    }

    #[test]
    fn jains_index_is_one_for_equal_rates() {
        assert_eq!(jain(&[3.0, 3.0]), 1.0);
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), 0.25);
    }

    #[test]
    fn each_size_has_one_class() {
        for bytes in [0, 1, 10_000, 10_001, 100_000, 1_000_000, 1_000_001, u64::MAX] {
            assert_eq!(SIZE_CLASSES.iter().filter(|class| class.contains(bytes)).count(), 1, "{bytes}");
        }
        assert!(SIZE_CLASSES[2].contains(1_000_000));
    }

    #[test]
    fn slowdown_and_time_have_percentiles_of_their_own() {
        let flow = |fct_ns, ideal_ns| FctRecord { fct_ns, ideal_ns, ..FctRecord::default() };
        let stats = FctStats::of(&[flow(300, 100), flow(1_000, 1_000), flow(90, 100)]);
        assert_eq!((stats.flows, stats.slowdown_p50, stats.slowdown_p99, stats.fct_p99_ns), (3, 1.0, 3.0, 1_000));
        assert!((stats.slowdown_mean - (3.0 + 1.0 + 1.0) / 3.0).abs() < 1e-12);
        assert_eq!(FctStats::of(&[]).flows, 0);
    }
}
