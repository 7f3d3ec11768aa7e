// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-rank.svg`: tails of the slowdown by flow size, on the axes of HPCC's figure 11: each twentieth of the
//! flows has the same width, whatever their sizes.

use anyhow::Result;

use super::super::file::SweepFile;
use super::super::group::{Group, sorted_sizes};
use super::{by_size, line_of_bins, subtitle};
use crate::chart::{At, Axis, Chart, Line, highest};
use crate::human;
use crate::plot::Figure;

/// Parts that flows are divided into by rank.
const PARTS: usize = 20;

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    let sizes = sorted_sizes(groups)?;
    if sizes.is_empty() {
        return Ok(None);
    }
    let (ranks, bounds): (Vec<f64>, Vec<u64>) = bounds(&sizes).into_iter().unzip();
    let line =
        |group: &&Group<'_>| Ok(line_of_bins(file, group, &by_size(group, &bounds)?, (95, |stats| stats.slowdown_p95)));
    let lines: Vec<Line> = groups.iter().map(line).collect::<Result<_>>()?;
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
        subtitle: subtitle(file, "each twentieth of the flows has the same width", groups),
        charts: vec![chart],
    };
    Ok(Some(figure))
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
