// SPDX-License-Identifier: GPL-2.0-only
//! Percentiles, and the classes of flow size that tables use.

use std::collections::BTreeSet;

use anyhow::Result;
use hpcc_model::results::FctRecord;

use crate::results::Results;
use crate::spread::{Distribution, Spread};

/// Element int(n * percent / 100) of n sorted values, the 2019 simulator's notion of a percentile; 0 if
/// there are none.
pub fn percentile<T: Copy + Default>(sorted: &[T], percent: usize) -> T {
    let rank = sorted.len() * percent / 100;
    sorted.get(rank).or(sorted.last()).copied().unwrap_or_default()
}

/// Whether fewer than ten of so many flows are above a percentile: it says more of chance than of a network then.
pub fn rests_on_few(flows: u64, percent: u64) -> bool {
    flows - flows * percent / 100 <= 10
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
/// Bins, three to a decade, are merged until each holds this many flows of each entry, which a 99th percentile needs.
const BIN_FLOWS: u64 = 100;

/// How many flows have which size, as far as bins need to know it.
#[derive(Clone, Debug, Default)]
pub struct SizeCensus {
    /// Different sizes, as far as they can be bins of their own, and at least one more if they cannot.
    distinct: BTreeSet<u64>,
    /// Flows up to each of [`bounds`], and above the one before; last those above all.
    counts: Vec<u64>,
    flows: u64,
    smallest: u64,
    largest: u64,
}

/// Possible bounds of bins: three to a decade.
fn bounds() -> impl Iterator<Item = u64> {
    (0..18).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u64.pow(power)))
}

impl SizeCensus {
    /// One more flow of so many bytes; 0 counts as 1.
    pub fn add(&mut self, size: u64) {
        let size = size.max(1);
        if self.distinct.len() <= DISTINCT_SIZES {
            self.distinct.insert(size);
        }
        if self.counts.is_empty() {
            self.counts.resize(bounds().count() + 1, 0);
        }
        let last = self.counts.len() - 1;
        self.counts[step_of(size).min(last)] += 1;
        self.smallest = if self.flows == 0 { size } else { self.smallest.min(size) };
        self.flows += 1;
        self.largest = self.largest.max(size);
    }

    /// The largest size, 0 without flows.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// The flows of another census, too.
    pub fn merge(&mut self, other: &SizeCensus) {
        self.distinct.extend(&other.distinct);
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        for (count, others) in self.counts.iter_mut().zip(&other.counts) {
            *count += others;
        }
        self.smallest = match (self.flows, other.flows) {
            (_, 0) => self.smallest,
            (0, _) => other.smallest,
            _ => self.smallest.min(other.smallest),
        };
        self.flows += other.flows;
        self.largest = self.largest.max(other.largest);
    }

    /// Upper bounds of bins: the given ones that separate flows, and the largest size; else those of [`SizeCensus::size_bounds`].
    pub fn bounds(&self, given: Option<&[u64]>, entries: u64) -> Vec<u64> {
        let Some(given) = given else { return self.size_bounds(entries) };
        let inner = given.iter().copied().filter(|bound| (self.smallest..self.largest).contains(bound));
        inner.chain([self.largest]).collect()
    }

    /// What is to be said of bins that were merged until there are but two of them, or one.
    pub fn note(&self, bounds: &[u64]) -> String {
        match bounds.len() {
            0..=2 if self.distinct.len() <= DISTINCT_SIZES => String::new(),
            1 => format!("; all sizes in one bin, as {} flows are too few for more", self.flows),
            2 => format!("; all sizes in two bins, as {} flows are too few for more", self.flows),
            _ => String::new(),
        }
    }

    /// Upper bounds of bins for the flows of so many entries side by side, ascending; the last is the largest size.
    pub fn size_bounds(&self, entries: u64) -> Vec<u64> {
        if self.distinct.len() <= DISTINCT_SIZES {
            return self.distinct.iter().copied().collect();
        }
        let enough = BIN_FLOWS * entries.max(1);
        let (mut chosen, mut below, mut up_to) = (Vec::new(), 0, 0);
        for (bound, count) in bounds().zip(&self.counts) {
            up_to += count;
            if bound < self.largest && up_to - below >= enough && self.flows - up_to >= enough {
                chosen.push(bound);
                below = up_to;
            }
        }
        chosen.push(self.largest);
        chosen
    }
}

/// Between which values flows are that finished.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// In bytes.
    pub sizes: SizeCensus,
    /// Completion times, in ns.
    pub times_ns: Extent,
    /// Completion times relative to ideal ones.
    pub slowdowns: Extent,
}

impl Extents {
    /// One more flow.
    pub fn add(&mut self, flow: &FctRecord) {
        self.sizes.add(flow.size);
        self.times_ns.add(flow.fct_ns as f64);
        self.slowdowns.add(flow.slowdown());
    }

    /// Adds the extents of other flows.
    pub fn merge(&mut self, other: &Extents) {
        self.sizes.merge(&other.sizes);
        self.times_ns.merge(other.times_ns);
        self.slowdowns.merge(other.slowdowns);
    }
}

/// The smallest and the largest of some values, none of them negative.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Infinite without values.
    pub low: f64,
    /// 0 without values.
    pub high: f64,
}

impl Default for Extent {
    fn default() -> Extent {
        Extent { low: f64::INFINITY, high: 0.0 }
    }
}

impl Extent {
    fn add(&mut self, value: f64) {
        self.merge(Extent { low: value, high: value });
    }

    fn merge(&mut self, other: Extent) {
        (self.low, self.high) = (self.low.min(other.low), self.high.max(other.high));
    }
}

/// The first of [`bounds`] that is not below a size.
fn step_of(size: u64) -> usize {
    let digits = size.ilog10();
    let unit = 10u64.pow(digits);
    let factor = [1, 2, 5].into_iter().filter(|factor| size.div_ceil(*factor) > unit).count();
    3 * digits as usize + factor
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
    /// Flows in the group that finished: those of the figures.
    pub flows: u64,
    /// Flows in the group that had not finished by the end, which the figures leave out.
    pub left_out: u64,
    /// Mean of FCT over ideal FCT.
    pub slowdown_mean: f64,
    /// Median of FCT over ideal FCT.
    pub slowdown_p50: f64,
    /// 95th percentile of the slowdown.
    pub slowdown_p95: f64,
    /// 99th percentile of the slowdown.
    pub slowdown_p99: f64,
    /// Median of the completion time, in ns.
    pub fct_p50_ns: u64,
    /// 99th percentile of the completion time, in ns.
    pub fct_p99_ns: u64,
}

/// Slowdowns and completion times of a set of flows.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Flows that had not finished.
    pub left_out: u64,
    /// Completion times relative to ideal ones.
    pub slowdowns: Distribution,
    /// Completion times, in ns.
    pub times_ns: Distribution,
}

impl Tally {
    /// The figures of tables.
    pub fn stats(&self) -> FctStats {
        FctStats {
            flows: self.slowdowns.len(),
            left_out: self.left_out,
            slowdown_mean: self.slowdowns.mean(),
            slowdown_p50: self.slowdowns.percentile(50),
            slowdown_p95: self.slowdowns.percentile(95),
            slowdown_p99: self.slowdowns.percentile(99),
            fct_p50_ns: self.times_ns.percentile(50) as u64,
            fct_p99_ns: self.times_ns.percentile(99) as u64,
        }
    }
}

/// A set of flows, as a whole and by size.
#[derive(Clone, Debug)]
pub struct Split {
    /// All flows.
    pub all: Tally,
    /// The flows in each bin of sizes: up to its bound, and above the one before.
    pub bins: Vec<Tally>,
}

impl Split {
    /// The figures of each bin.
    pub fn bin_stats(&self) -> Vec<FctStats> {
        self.bins.iter().map(Tally::stats).collect()
    }
}

/// Goes over the flows of runs once, and splits by size all flows, and the flows of each of some groups.
///
/// # Errors
/// If a file cannot be read.
pub fn split<'a>(
    runs: impl Iterator<Item = &'a Results> + Clone,
    groups: &[(u32, &str)],
    bounds: &[u64],
) -> Result<Vec<Split>> {
    let flows = runs.clone().map(Results::finished).sum();
    let empty = || (Spread::of(flows), Spread::of(flows), 0);
    let mut splits = vec![vec![empty(); 1 + bounds.len()]; 1 + groups.len()];
    // Sets and places in them to which a flow belongs.
    let places = |group: u32, size: u64| {
        let group = groups.iter().position(|(number, _)| *number == group).map(|group| 1 + group);
        let bin = 1 + bounds.partition_point(|bound| *bound < size);
        [Some(0), group].into_iter().flatten().flat_map(move |set| [(set, 0), (set, bin)])
    };
    for run in runs {
        run.each_flow(|flow| {
            for (set, place) in places(flow.group, flow.size) {
                if let Some((slowdowns, times, _)) = splits[set].get_mut(place) {
                    slowdowns.push(flow.slowdown());
                    times.push(flow.fct_ns as f64);
                }
            }
        })?;
        run.each_unfinished(|flow| {
            for (set, place) in places(flow.group, flow.size) {
                if let Some((_, _, left_out)) = splits[set].get_mut(place) {
                    *left_out += 1;
                }
            }
        })?;
    }
    let tally = |(slowdowns, times, left_out): (Spread, Spread, u64)| Tally {
        left_out,
        slowdowns: slowdowns.sorted(),
        times_ns: times.sorted(),
    };
    let split = |sets: Vec<(Spread, Spread, u64)>| {
        let mut tallies: Vec<Tally> = sets.into_iter().map(tally).collect();
        Split { all: tallies.remove(0), bins: tallies }
    };
    Ok(splits.into_iter().map(split).collect())
}

/// The figures of the flows in each bin of sizes: up to its bound, and above the one before.
///
/// # Errors
/// If a file cannot be read.
pub fn by_size<'a>(runs: impl Iterator<Item = &'a Results> + Clone, bounds: &[u64]) -> Result<Vec<FctStats>> {
    Ok(split(runs, &[], bounds)?[0].bin_stats())
}

/// The bounds of classes of flow size that tables use, in bytes, each up to and including its own; the last class has none.
pub const SIZE_BOUNDS: [u64; 3] = [10_000, 100_000, 1_000_000];
/// Names of the classes.
pub const SIZE_CLASSES: [&str; 4] = ["up to 10 kB", "10 - 100 kB", "100 kB - 1 MB", "over 1 MB"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::in_memory;
    use approx::assert_abs_diff_eq;
    use hpcc_model::results::Summary;
    use std::iter;

    #[test]
    fn percentiles_are_the_references() {
        let values: Vec<u64> = (0..200).collect();
        assert_eq!(percentile(&values, 50), 100);
        assert_eq!(percentile(&values, 99), 198);
        assert_eq!(percentile(&[7], 99), 7);
        assert_eq!(percentile(&[1, 2], 50), 2);
        assert_eq!(percentile(&[1, 2], 100), 2);
        assert_eq!(percentile::<u64>(&[], 99), 0);
    }

    #[test]
    fn a_percentile_needs_flows_above_it() {
        let least = |percent| (1..5_000).find(|flows| !rests_on_few(*flows, percent));
        assert_eq!([50, 95, 99].map(least), [Some(21), Some(201), Some(1_001)]);
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
        let size_bounds = |sizes: &mut dyn Iterator<Item = u64>| {
            let mut census = SizeCensus::default();
            sizes.for_each(|size| census.add(size));
            [1, 2].map(|entries| census.size_bounds(entries))
        };
        assert_eq!(size_bounds(&mut (1..=1_000)), [vec![100, 200, 500, 1_000], vec![200, 500, 1_000]]);
        assert_eq!(size_bounds(&mut [9, 5, 5].into_iter()), [[5, 9]; 2]);
        let (mut few, mut many) = (SizeCensus::default(), SizeCensus::default());
        (1..=7).for_each(|size| few.add(size));
        (1..=13).for_each(|size| many.add(100 * size));
        few.merge(&SizeCensus::default());
        assert_eq!(few.size_bounds(1), [1, 2, 3, 4, 5, 6, 7]);
        few.merge(&many);
        assert_eq!((few.size_bounds(1), few.flows), (vec![1_300], 20));
        assert_eq!(few.bounds(Some(&[1, 500, 2_000]), 1), [1, 500, 1_300], "those that separate flows");
        assert_eq!((few.note(&[1_300]).is_empty(), few.note(&[1, 2, 3]).is_empty()), (false, true));
        assert_eq!(size_bounds(&mut [0, u64::MAX].into_iter()), [[1, u64::MAX]; 2]);
        let steps: Vec<u64> = bounds().collect();
        for size in (1..3_000).chain([10u64.pow(17), 3 * 10u64.pow(17)]) {
            assert_eq!(step_of(size), steps.partition_point(|bound| *bound < size), "{size}");
        }
    }

    #[test]
    fn jains_index_is_one_for_equal_rates() {
        assert_eq!(jain(&[3.0, 3.0]), 1.0);
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), 0.25);
    }

    #[test]
    fn slowdown_and_time_have_percentiles_of_their_own() {
        let flow = |fct_ns, ideal_ns| FctRecord { fct_ns, ideal_ns, ..FctRecord::default() };
        let of = |flows: Vec<FctRecord>| {
            let run = in_memory(Summary::default(), flows, Vec::new());
            split(iter::once(&run), &[], &[]).expect("in memory")[0].all.stats()
        };
        let stats = of(vec![flow(300, 100), flow(1_000, 1_000), flow(90, 100)]);
        assert_eq!((stats.flows, stats.slowdown_p50, stats.slowdown_p99, stats.fct_p99_ns), (3, 1.0, 3.0, 1_000));
        assert_abs_diff_eq!(stats.slowdown_mean, (3.0 + 1.0 + 0.9) / 3.0, epsilon = 1e-12);
        assert_eq!(of(Vec::new()), FctStats::default());
    }
}
