// SPDX-License-Identifier: GPL-2.0-only
//! Sizes of flows: those that there are, and those that a distribution has.

use hpcc_measures::stats::{SIZE_BOUNDS, SIZE_CLASSES, percentile};
use hpcc_model::generate::Cdf;

use super::lines;
use crate::human;
use crate::table::table;

/// How many sizes describe a distribution, at equal distances of probability.
const SAMPLES: u32 = 100_000;

/// Sizes in bytes, ascending.
pub struct Sizes(Vec<u64>);

impl Sizes {
    /// These sizes.
    pub fn of(mut sizes: Vec<u64>) -> Sizes {
        sizes.sort_unstable();
        Sizes(sizes)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// All together.
    pub fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, size| sum.saturating_add(*size))
    }

    /// Their mean; 0 of none.
    pub fn mean(&self) -> f64 {
        self.sum() as f64 / self.count().max(1) as f64
    }

    /// A percentile; the hundredth is the largest.
    pub fn percentile(&self, percent: usize) -> u64 {
        percentile(&self.0, percent)
    }
}

/// The share of flows and bytes in each class of sizes.
pub fn classes(sizes: &Sizes) -> String {
    let share = |part: f64, whole: f64| format!("{} %", human::three_digits(100.0 * part / whole.max(1.0)));
    let mut rows = Vec::new();
    let mut rest = sizes.0.as_slice();
    for (name, bound) in SIZE_CLASSES.into_iter().zip(SIZE_BOUNDS.into_iter().chain([u64::MAX])) {
        let (own, above) = rest.split_at(rest.partition_point(|size| *size <= bound));
        let (own, flows) = (Sizes(own.to_vec()), own.len() as f64);
        if flows > 0.0 {
            let bytes = share(own.sum() as f64, sizes.sum() as f64);
            rows.push(vec![name.to_owned(), share(flows, sizes.count() as f64), bytes]);
        }
        rest = above;
    }
    table(&["flow size", "of all flows", "of all bytes"], rows)
}

/// A distribution in words.
pub fn describe(cdf: &Cdf) -> String {
    let middle = |sample: u32| (f64::from(sample) + 0.5) * 100.0 / f64::from(SAMPLES);
    let sizes = Sizes::of((0..SAMPLES).map(|sample| cdf.size_at(middle(sample))).collect());
    let percentiles = [5, 25, 50, 75, 95, 99, 100].map(|percent| {
        let name = if percent == 100 { "largest".to_owned() } else { format!("p{percent}") };
        format!("{name} {}", human::bytes(cdf.size_at(f64::from(percent))))
    });
    let per_second = 100e9 / 8.0 / cdf.mean();
    let facts = [
        ("sizes", percentiles.join(", ")),
        ("mean", human::bytes(cdf.mean() as u64)),
        ("flows", format!("{} a second from a host that loads 100 Gb/s in full", human::count(per_second as u64))),
    ];
    format!("{}\n{}", classes(&sizes), lines(&facts))
}
