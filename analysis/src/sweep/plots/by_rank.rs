// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-rank.svg`: tails of the slowdown by flow size, on the axes of HPCC's figure 11: each twentieth of the
//! flows has the same width, whatever their sizes.

use anyhow::Result;
use hpcc_measures::stats::{self, FctStats};

use super::super::file::SweepFile;
use super::super::group::{Group, sorted_sizes};
use super::{Drawn, Seeds, line, subtitle};
use crate::chart::{At, Axis, Chart, highest, of_bins};
use crate::human;
use crate::plot::Figure;

/// Parts that flows are divided into by rank.
const PARTS: usize = 20;

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Drawn>> {
    let sizes = sorted_sizes(groups)?;
    if sizes.is_empty() {
        return Ok(None);
    }
    let (ranks, bounds): (Vec<f64>, Vec<u64>) = bounds(&sizes).into_iter().unzip();
    let mut parts: Vec<Vec<FctStats>> = Vec::new();
    for group in groups {
        parts.push(stats::by_size(group.results(), &bounds)?);
    }
    let of_group =
        |(group, bins): (&&Group<'_>, &Vec<FctStats>)| line(group, of_bins(bins, |stats| stats.slowdown_p95));
    let lines: Vec<_> = groups.iter().zip(&parts).map(of_group).collect();
    let title = "95th percentile of the slowdown";
    // Every other part is labelled with its largest size.
    let every = if bounds.len() > PARTS / 2 { 2 } else { 1 };
    let labels = ranks.iter().zip(&bounds).rev().step_by(every);
    let ticks = labels.map(|(rank, bytes)| (*rank, human::bytes(*bytes))).collect();
    let chart = Chart {
        title: title.to_owned(),
        x: Axis::labelled("Flow size", 0.0..1.02, ticks),
        at: At::Each(ranks),
        y: Axis::slowdown(title, highest(&lines).max(1.0)),
        lines,
        stepped: false,
        points: true,
    };
    let figure = Figure {
        title: format!("{title} by flow size"),
        subtitle: subtitle(file, "each twentieth of the flows has the same width", groups, Seeds::All),
        charts: vec![chart],
    };
    Ok(Some(Drawn { figure, csv: Some(csv(groups, &bounds, &parts)) }))
}

/// The rank, from 0 to 1, at which each part ends, and the largest size in it. Parts that end with the same size are one.
fn bounds(sizes: &[u64]) -> Vec<(f64, u64)> {
    let mut bounds: Vec<(f64, u64)> = Vec::new();
    for part in 1..=PARTS {
        let bound = sizes[(sizes.len() * part).div_ceil(PARTS) - 1];
        let rank = part as f64 / PARTS as f64;
        match bounds.last_mut().filter(|(_, last)| *last == bound) {
            Some((end, _)) => *end = rank,
            None => bounds.push((rank, bound)),
        }
    }
    bounds
}

fn csv(groups: &[&Group<'_>], bounds: &[u64], parts: &[Vec<FctStats>]) -> String {
    let mut text = "variant,size_up_to_bytes,flows,slowdown_p50,slowdown_p95,slowdown_p99\n".to_owned();
    for (group, bins) in groups.iter().zip(parts) {
        for (bound, stats) in bounds.iter().zip(bins).filter(|(_, stats)| stats.flows > 0) {
            let FctStats { flows, slowdown_p50, slowdown_p95, slowdown_p99, .. } = stats;
            text +=
                &format!("{},{bound},{flows},{slowdown_p50:.4},{slowdown_p95:.4},{slowdown_p99:.4}\n", group.variant);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_equal_shares_and_equal_sizes_are_not_torn_apart() {
        let sizes: Vec<u64> = (1..=100).collect();
        assert_eq!(bounds(&sizes)[..2], [(0.05, 5), (0.1, 10)]);
        assert_eq!(bounds(&[7; 30]), [(1.0, 7)]);
        assert_eq!(bounds(&[1, 1, 9, 9]), [(0.5, 1), (1.0, 9)]);
        assert_eq!(bounds(&[5]), [(1.0, 5)]);
    }
}
