// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown.svg`: completion times relative to the ideal, by flow size.

use anyhow::Result;
use hpcc_formats::results::FctRecord;
use plotters::prelude::*;

use super::axes::{size_axis, slowdown_axis, slowdown_scale};
use super::figure::{self, Area, DOT, LegendEntry, Mark, STROKE};
use super::palette::{self, FAINT};
use crate::human;
use crate::results::Results;
use crate::stats::FctStats;

/// With at most this many sizes, each is a group of its own.
const DISTINCT_SIZES: usize = 12;
/// Otherwise groups are equally large: at most as many as the reference's analysis makes,
const MOST_GROUPS: usize = 20;
/// fewer if they would hold less than this many flows, which makes for poor percentiles,
const GROUP_FLOWS: usize = 20;
/// but not so few that they say nothing about sizes.
const LEAST_GROUPS: usize = 4;
/// Fewer flows than this are drawn one by one, too.
const FEW_FLOWS: usize = 200;

/// Flows of similar size.
struct Group {
    /// Size of the largest, in bytes.
    size: f64,
    stats: FctStats,
}

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(results: &Results) -> Result<Option<String>> {
    if results.flows.is_empty() {
        return Ok(None);
    }
    let mut flows = results.flows.clone();
    flows.sort_by_key(|flow| flow.size);
    let groups = group(&flows);
    let subtitle =
        format!("completion time relative to an empty network, {}", human::counted(flows.len() as u64, "flow"));
    let svg = figure::render("Slowdown by flow size", &subtitle, &legend(flows.len()), |area| {
        draw_chart(area, &flows, &groups)
    })?;
    Ok(Some(svg))
}

fn legend(flows: usize) -> Vec<LegendEntry> {
    let entry = |text: &str, color, mark| LegendEntry { text: text.to_owned(), color, mark };
    let names = ["p99", "p95", "p50"];
    let lines = names.iter().enumerate().map(|(index, name)| entry(name, color(index), Mark::Line));
    let dots = (flows < FEW_FLOWS).then(|| entry("single flows", FAINT, Mark::Dot));
    lines.chain(dots).collect()
}

/// Splits flows, sorted by size.
fn group(flows: &[FctRecord]) -> Vec<Group> {
    let by_size: Vec<&[FctRecord]> = flows.chunk_by(|a, b| a.size == b.size).collect();
    if by_size.len() <= DISTINCT_SIZES {
        return by_size.into_iter().map(Group::of).collect();
    }
    let groups = (flows.len() / GROUP_FLOWS).clamp(LEAST_GROUPS, MOST_GROUPS);
    flows.chunks(flows.len().div_ceil(groups)).map(Group::of).collect()
}

impl Group {
    fn of(flows: &[FctRecord]) -> Group {
        Group { size: flows.last().map_or(1.0, plotted_size), stats: FctStats::of(flows) }
    }
}

/// A flow's size in bytes, fit for a logarithm.
fn plotted_size(flow: &FctRecord) -> f64 {
    flow.size.max(1) as f64
}

fn draw_chart(area: &Area<'_>, flows: &[FctRecord], groups: &[Group]) -> Result<()> {
    let highest = highest_drawn(flows, groups);
    let scale = slowdown_scale(highest);
    let sizes = flows.first().map_or(1.0, plotted_size)..flows.last().map_or(1.0, plotted_size);
    let mut chart = figure::chart(area, &size_axis(sizes), &slowdown_axis("Slowdown (FCT / ideal FCT)", highest))?;
    if flows.len() < FEW_FLOWS {
        let dot =
            |flow: &FctRecord| Circle::new((plotted_size(flow).log10(), scale(flow.slowdown())), DOT, FAINT.filled());
        chart.draw_series(flows.iter().map(dot))?;
    }
    let percentiles: [fn(&FctStats) -> f64; 3] =
        [|stats| stats.slowdown_p99, |stats| stats.slowdown_p95, |stats| stats.slowdown_p50];
    for (index, percentile) in percentiles.iter().enumerate() {
        let points = || groups.iter().map(|group| (group.size.log10(), scale(percentile(&group.stats))));
        chart.draw_series(LineSeries::new(points(), color(index).stroke_width(STROKE)))?;
        // From large to small, so that markers at one place stay visible around each other.
        let radius = 8 - index as i32;
        chart.draw_series(points().map(|point| Circle::new(point, radius, color(index).filled())))?;
    }
    Ok(())
}

fn highest_drawn(flows: &[FctRecord], groups: &[Group]) -> f64 {
    if flows.len() < FEW_FLOWS {
        return flows.iter().map(FctRecord::slowdown).fold(1.0, f64::max);
    }
    groups.iter().map(|group| group.stats.slowdown_p99).fold(1.0, f64::max)
}

fn color(index: usize) -> RGBColor {
    palette::line([1, 5, 0][index], 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(sizes: impl Iterator<Item = u64>) -> Vec<FctRecord> {
        sizes.map(|size| FctRecord { size, fct_ns: size, ideal_ns: 1, ..FctRecord::default() }).collect()
    }

    #[test]
    fn few_sizes_are_groups_of_their_own() {
        let groups = group(&flows([1_000, 1_000, 5_000].into_iter()));
        let found: Vec<_> = groups.iter().map(|group| (group.size, group.stats.flows)).collect();
        assert_eq!(found, [(1_000.0, 2), (5_000.0, 1)]);
    }

    #[test]
    fn many_sizes_make_equal_groups() {
        let groups = group(&flows(1..=1_000));
        assert_eq!(groups.len(), MOST_GROUPS);
        assert!(groups.iter().all(|group| group.stats.flows == 50));
        assert_eq!(groups[0].size, 50.0);
        assert_eq!(group(&flows(1..=100)).len(), 5);
        assert_eq!(group(&flows(1..=13)).len(), 4);
    }
}
