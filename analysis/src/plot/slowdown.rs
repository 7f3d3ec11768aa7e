// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown.svg`: completion times relative to the ideal, by flow size.

use std::iter;

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_measures::stats::{self, FctStats, Tally};
use plotters::prelude::*;

use super::axes::{size_axis, slowdown_axis, slowdown_scale};
use super::figure::{self, DOT, LegendEntry, STROKE, Sample};
use super::line_style::LineStyle;
use super::look::{Area, Look};
use super::marker::{self, marker};
use super::palette::{self, FAINT};
use crate::human;

/// Fewer flows than this are drawn one by one, too.
const FEW_FLOWS: u64 = 200;
/// More groups than this are drawn together: nobody could tell their lines apart.
const GROUPS: usize = 4;

/// A percentile, with its line: one may hide another, so that the highest are the widest, and drawn first.
struct Percentile {
    name: &'static str,
    of: fn(&FctStats) -> f64,
    width: u32,
    dash: usize,
    marker: usize,
    size: f64,
}

const PERCENTILES: [Percentile; 3] = [
    Percentile { name: "p99", of: |stats| stats.slowdown_p99, width: STROKE + 3, dash: 0, marker: 1, size: 1.5 },
    Percentile { name: "p95", of: |stats| stats.slowdown_p95, width: STROKE, dash: 1, marker: 2, size: 0.85 },
    Percentile { name: "p50", of: |stats| stats.slowdown_p50, width: STROKE - 1, dash: 0, marker: 0, size: 0.7 },
];

/// The flows of a group by size.
struct Bins {
    group: Option<String>,
    /// The largest size in each bin that has flows, in bytes, and what its flows did.
    bins: Vec<(u64, FctStats)>,
}

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(results: &Results, look: &Look) -> Result<Option<String>> {
    if results.finished() == 0 {
        return Ok(None);
    }
    let points = Points::of(results)?;
    let bins = bins(results, &results.extents().sizes.size_bounds(1))?;
    let subtitle =
        format!("completion time relative to an empty network, {}", human::counted(results.finished(), "flow"));
    let svg = figure::render(look, "Slowdown by flow size", &subtitle, &legend(&bins, points.few), |area| {
        draw_chart(look, area, &points, &bins)
    })?;
    Ok(Some(svg))
}

/// The flows that are drawn one by one.
struct Points {
    /// Whether there are few enough.
    few: bool,
    /// Size in bytes, fit for a logarithm, and slowdown.
    each: Vec<(f64, f64)>,
    /// The largest of all sizes, in bytes.
    largest: f64,
}

impl Points {
    fn of(results: &Results) -> Result<Points> {
        let largest = results.extents().sizes.largest() as f64;
        let mut points = Points { few: results.finished() < FEW_FLOWS, each: Vec::new(), largest };
        if points.few {
            results.each_flow(|flow| points.each.push((flow.size.max(1) as f64, flow.slowdown())))?;
        }
        Ok(points)
    }
}

fn bins(results: &Results, bounds: &[u64]) -> Result<Vec<Bins>> {
    let groups = results.groups();
    let groups: Vec<Option<(u32, &str)>> =
        if groups.len() < 2 || groups.len() > GROUPS { vec![None] } else { groups.into_iter().map(Some).collect() };
    let tallies = stats::tally(iter::once(results), groups.len() * bounds.len(), |flow, add| {
        let of = |group: &Option<(u32, &str)>| group.is_none_or(|(number, _)| number == flow.group);
        if let Some(group) = groups.iter().position(of) {
            add(group * bounds.len() + stats::bin_of(bounds, flow));
        }
    })?;
    let of = |(group, tallies): (&Option<(u32, &str)>, &[Tally])| Bins {
        group: group.map(|(_, name)| name.to_owned()),
        bins: bounds
            .iter()
            .copied()
            .zip(tallies.iter().map(Tally::stats))
            .filter(|(_, stats)| stats.flows > 0)
            .collect(),
    };
    Ok(groups.iter().zip(tallies.chunks(bounds.len().max(1))).map(of).collect())
}

/// Colours tell percentiles apart, or groups where there are some.
fn style(percentile: usize, group: usize, groups: usize) -> LineStyle {
    let color = if groups > 1 { palette::variant(group) } else { palette::variant([1, 5, 0][percentile]) };
    LineStyle { color, dash: PERCENTILES[percentile].dash, width: PERCENTILES[percentile].width }
}

fn legend(bins: &[Bins], few: bool) -> Vec<LegendEntry> {
    let mut entries = Vec::new();
    // A group of which no flow finished has nothing to be told apart.
    for (group, Bins { group: name, .. }) in bins.iter().enumerate().filter(|(_, bins)| !bins.bins.is_empty()) {
        for (index, percentile) in PERCENTILES.iter().enumerate() {
            let text = name.as_ref().map_or(percentile.name.to_owned(), |name| format!("{name}, {}", percentile.name));
            let sample = Sample::Marked(style(index, group, bins.len()), percentile.marker);
            entries.push(LegendEntry { text, sample });
        }
    }
    if few {
        entries.push(LegendEntry { text: "single flows".to_owned(), sample: Sample::Dot(FAINT) });
    }
    entries
}

fn draw_chart(look: &Look, area: &Area<'_>, points: &Points, bins: &[Bins]) -> Result<()> {
    let highest = highest_drawn(points, bins);
    let scale = slowdown_scale(highest);
    let smallest = bins.iter().filter_map(|bins| bins.bins.first()).map(|(size, _)| *size as f64);
    let sizes = points.each.iter().map(|(size, _)| *size).chain(smallest).fold(f64::INFINITY, f64::min)..points.largest;
    let y = slowdown_axis("Slowdown (FCT / ideal FCT)", highest);
    let mut chart = figure::chart(look, area, &size_axis(sizes), &y)?;
    let at = |&(size, slowdown): &(f64, f64)| (size.log10(), scale(slowdown));
    chart.draw_series(points.each.iter().map(|flow| Circle::new(at(flow), look.px(DOT), FAINT.filled())))?;
    for (index, percentile) in PERCENTILES.iter().enumerate() {
        for (group, Bins { bins: of_group, .. }) in bins.iter().enumerate() {
            let style = style(index, group, bins.len());
            let points =
                || of_group.iter().map(|(size, stats)| ((*size as f64).log10(), scale((percentile.of)(stats))));
            figure::draw_line(look, area, &chart, style, points())?;
            for point in points() {
                let at = figure::pixel(area, &chart, point);
                let size = percentile.size * look.scale * marker::SIZE;
                // A white edge keeps markers apart where percentiles are equal.
                area.draw(&marker(percentile.marker, at, size + 3.0 * look.scale, WHITE))?;
                area.draw(&marker(percentile.marker, at, size, style.color))?;
            }
        }
    }
    Ok(())
}

fn highest_drawn(points: &Points, bins: &[Bins]) -> f64 {
    if points.few {
        return points.each.iter().map(|(_, slowdown)| *slowdown).fold(1.0, f64::max);
    }
    bins.iter().flat_map(|bins| &bins.bins).map(|(_, stats)| stats.slowdown_p99).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::look::Style;
    use hpcc_formats::results::{FctRecord, Summary, UnfinishedFlow};
    use hpcc_measures::results::in_memory;

    #[test]
    fn groups_are_drawn_apart() {
        let flow = |group, size, fct_ns| FctRecord { group, size, fct_ns, ideal_ns: 1, ..FctRecord::default() };
        let summary = Summary { groups: vec!["a".into(), "b".into(), "c".into()], ..Summary::default() };
        let endless = UnfinishedFlow { group: 2, ..UnfinishedFlow::default() };
        let results = in_memory(summary, vec![flow(0, 10, 2), flow(0, 20, 3), flow(1, 20, 9)], vec![endless]);
        let bins = bins(&results, &[10, 20]).expect("in memory");
        let found: Vec<_> = bins.iter().map(|bins| (bins.group.as_deref(), bins.bins.len())).collect();
        assert_eq!(found, [(Some("a"), 2), (Some("b"), 1), (Some("c"), 0)]);
        assert_eq!(bins[0].bins[1].1.slowdown_p50, 3.0);
        let svg = draw(&results, &Style::Screen.look()).expect("drawn").expect("a figure");
        assert!(["a, p99", "a, p50", "b, p95"].iter().all(|name| svg.contains(name)), "{svg}");
        assert!(!svg.contains("c, p99"), "{svg}");
    }

    #[test]
    fn figures_for_paper_have_their_size_and_text_as_text() {
        let flows = vec![FctRecord { size: 10, fct_ns: 2, ideal_ns: 1, ..FctRecord::default() }];
        let results = in_memory(Summary::default(), flows, Vec::new());
        for (style, size) in
            [(Style::Paper, "width=\"88mm\" height=\"55mm\""), (Style::PaperWide, "width=\"181mm\" height=\"70.")]
        {
            let svg = draw(&results, &style.look()).expect("drawn").expect("a figure");
            assert!(svg.contains(size) && svg.contains("<text") && !svg.contains("Slowdown by flow size"), "{svg}");
        }
    }
}
