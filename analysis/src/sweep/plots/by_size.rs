// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-size.svg`: median and 99th percentile by flow size.

use anyhow::Result;
use hpcc_measures::stats::FctStats;

use super::super::file::SweepFile;
use super::super::group::{Group, sorted_sizes};
use super::{Percentile, by_size, line_of_bins, subtitle};
use crate::chart::{At, Axis, Chart, Line, highest};
use crate::plot::Figure;

/// With at most this many sizes, each is a bin of its own.
const DISTINCT_SIZES: usize = 12;
/// Otherwise bins are steps of 1 and 3 times a power of ten, merged until they hold this many flows of each
/// variant: a 99th percentile needs them.
const BIN_FLOWS: usize = 200;

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    let sizes: Vec<u64> = sorted_sizes(groups)?.into_iter().map(|size| size.max(1)).collect();
    let (Some(&smallest), Some(&largest)) = (sizes.first(), sizes.last()) else { return Ok(None) };
    let bounds = match &file.size_bins {
        Some(bins) => inner_bounds(bins, smallest, largest),
        None => bounds(&sizes, groups.len()),
    };
    let mut binned: Vec<Vec<Vec<FctStats>>> = Vec::new();
    for group in groups {
        binned.push(by_size(group, &bounds)?);
    }
    let percentiles: [(&str, Percentile); 2] = [
        ("Median slowdown", (50, |stats| stats.slowdown_p50)),
        ("99th percentile of the slowdown", (99, |stats| stats.slowdown_p99)),
    ];
    let lines = percentiles.map(|(_, of)| -> Vec<Line> {
        groups.iter().zip(&binned).map(|(group, seeds)| line_of_bins(file, group, seeds, of)).collect()
    });
    // One scale, as they stand side by side.
    let top = lines.iter().map(|lines| highest(lines)).fold(1.0, f64::max);
    let at = At::Each(bounds.iter().map(|bound| *bound as f64).collect());
    let charts = percentiles.iter().zip(lines).map(|((title, _), lines)| Chart {
        title: (*title).to_owned(),
        x: Axis::sizes("Flow size", bounds.first().map_or(1.0, |size| *size as f64)..largest as f64),
        at: at.clone(),
        y: Axis::slowdown(title, top),
        lines,
        stepped: false,
        points: true,
    });
    let figure = Figure {
        title: "Slowdown by flow size".to_owned(),
        subtitle: subtitle(file, "completion time relative to an empty network", groups),
        charts: charts.collect(),
    };
    Ok(Some(figure))
}

/// Upper bounds of bins; `sizes` are the sizes of all variants' flows, ascending.
fn bounds(sizes: &[u64], variants: usize) -> Vec<u64> {
    let mut distinct = sizes.to_vec();
    distinct.dedup();
    if distinct.len() <= DISTINCT_SIZES {
        return distinct;
    }
    let enough = BIN_FLOWS * variants.max(1);
    let largest = sizes.last().copied().unwrap_or(0);
    let (mut bounds, mut below) = (Vec::new(), 0);
    for bound in (0..18).flat_map(|power| [10u64.pow(power), 3 * 10u64.pow(power)]) {
        let up_to = sizes.partition_point(|size| *size <= bound);
        if bound < largest && up_to - below >= enough && sizes.len() - up_to >= enough {
            bounds.push(bound);
            below = up_to;
        }
    }
    bounds.push(largest);
    bounds
}

/// The given bounds that separate flows, and one for the largest.
fn inner_bounds(bins: &[u64], smallest: u64, largest: u64) -> Vec<u64> {
    let inner = bins.iter().copied().filter(|bound| (smallest..largest).contains(bound));
    inner.chain([largest]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_enough_flows() {
        let sizes: Vec<u64> = (1..=1_000).collect();
        assert_eq!(bounds(&sizes, 1), [300, 1_000]);
        assert_eq!(bounds(&sizes, 5), [1_000]);
        let sizes: Vec<u64> = (1..=10_000).collect();
        assert_eq!(bounds(&sizes, 1), [300, 1_000, 3_000, 10_000]);
        assert_eq!(bounds(&[7, 7, 9], 1), [7, 9]);
    }

    #[test]
    fn given_bins_are_cut_to_the_flows() {
        assert_eq!(inner_bounds(&[10, 100, 1_000], 20, 500), [100, 500]);
        assert_eq!(inner_bounds(&[10], 20, 500), [500]);
    }
}
