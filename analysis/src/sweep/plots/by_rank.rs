// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-rank.svg`: tails of the slowdown by flow size, on the axes of HPCC's figure 11: each twentieth of the
//! flows has the same width, whatever their sizes.

use anyhow::Result;
use hpcc_measures::stats::{self, FctStats};

use super::super::file::SweepFile;
use super::super::group::{Group, sorted_sizes};
use super::{Drawn, Seeds, names, subtitle};
use crate::human;
use crate::plot::panels::{Panel, Panels};
use crate::plot::{Axis, Look, Ruler, slowdown_axis, slowdown_scale};

/// Parts that flows are divided into by rank.
const PARTS: usize = 20;

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(file: &SweepFile, look: &Look, groups: &[&Group<'_>]) -> Result<Option<Drawn>> {
    let sizes = sorted_sizes(groups)?;
    if sizes.is_empty() {
        return Ok(None);
    }
    let bounds = bounds(&sizes);
    let lines: Vec<Vec<(f64, FctStats)>> = groups.iter().map(|group| parts(group, &bounds)).collect::<Result<_>>()?;
    let highest = lines.iter().flatten().map(|(_, stats)| stats.slowdown_p95).fold(1.0, f64::max);
    let scale = slowdown_scale(highest);
    let scaled = |line: &Vec<(f64, FctStats)>| line.iter().map(|(x, stats)| (*x, scale(stats.slowdown_p95))).collect();
    let figure = Panels {
        title: "95th percentile of the slowdown by flow size".to_owned(),
        subtitle: subtitle(file, "each twentieth of the flows has the same width", groups, Seeds::All),
        variants: names(groups),
        panels: vec![Panel {
            x: rank_axis(&bounds),
            y: slowdown_axis("95th percentile of the slowdown", highest),
            lines: lines.iter().map(scaled).collect(),
            every_point: true,
        }],
    };
    Ok(Some(Drawn { svg: figure.render(look)?, csv: Some(csv(groups, &bounds, &lines)) }))
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

/// The end of each part that has flows, and how they did.
fn parts(group: &Group<'_>, bounds: &[(f64, u64)]) -> Result<Vec<(f64, FctStats)>> {
    let (ranks, sizes): (Vec<f64>, Vec<u64>) = bounds.iter().copied().unzip();
    let parts = ranks.into_iter().zip(stats::by_size(group.results(), &sizes)?);
    Ok(parts.filter(|(_, stats)| stats.flows > 0).collect())
}

/// Every other part is labelled with its largest size.
fn rank_axis(bounds: &[(f64, u64)]) -> Axis {
    let every = if bounds.len() > PARTS / 2 { 2 } else { 1 };
    let labelled: Vec<(f64, u64)> = bounds.iter().rev().step_by(every).copied().collect();
    let ruler = Ruler { range: 0.0..1.02, ticks: labelled.iter().map(|(rank, _)| *rank).collect() };
    let label = move |at: f64| {
        let named = labelled.iter().find(|(rank, _)| (rank - at).abs() < 1e-9);
        named.map(|(_, bytes)| human::bytes(*bytes)).unwrap_or_default()
    };
    Axis { title: "Flow size".to_owned(), ruler, label: Box::new(label) }
}

fn csv(groups: &[&Group<'_>], bounds: &[(f64, u64)], lines: &[Vec<(f64, FctStats)>]) -> String {
    let mut text = "variant,size_up_to_bytes,flows,slowdown_p50,slowdown_p95,slowdown_p99\n".to_owned();
    for (group, line) in groups.iter().zip(lines) {
        for (rank, stats) in line {
            let bound = bounds.iter().find(|(end, _)| end == rank).map_or(0, |(_, bound)| *bound);
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
