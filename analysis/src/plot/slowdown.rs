// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown.svg`: completion times relative to the ideal, by flow size.

use std::{iter, slice};

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_measures::stats::{self, FctStats, Split};
use plotters::prelude::*;

use super::figure::{self, DOT, LegendEntry, Sign};
use super::look::Look;
use super::palette::FAINT;
use super::picture::Picture;
use crate::chart::{self, At, Axis, Chart, Line, LineLook, Mark, STROKE};
use crate::human;

/// Fewer flows than this are drawn one by one, too.
const FEW_FLOWS: u64 = 200;
/// More groups than this are drawn together: nobody could tell their lines apart.
const GROUPS: usize = 4;

/// A percentile, with its line: one may hide another, so that the highest are the widest, and drawn first. Colours tell them
/// apart, or groups where there are some.
struct Percentile {
    name: &'static str,
    percent: u64,
    of: fn(&FctStats) -> f64,
    look: LineLook,
}

const fn look(color: usize, dash: usize, width: u32, shape: usize, size: f64) -> LineLook {
    LineLook { color, dash, width, mark: Some(Mark { shape, size, edged: true }) }
}

const PERCENTILES: [Percentile; 3] = [
    Percentile { name: "p99", percent: 99, of: |stats| stats.slowdown_p99, look: look(1, 0, STROKE + 3, 1, 13.5) },
    Percentile { name: "p95", percent: 95, of: |stats| stats.slowdown_p95, look: look(5, 1, STROKE, 2, 7.65) },
    Percentile { name: "p50", percent: 50, of: |stats| stats.slowdown_p50, look: look(0, 0, STROKE - 1, 0, 6.3) },
];

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(results: &Results, look: &Look) -> Result<Option<Picture>> {
    if results.finished() == 0 {
        return Ok(None);
    }
    let bounds = results.extents().sizes.size_bounds(1);
    let groups = bins(results, &bounds)?;
    let has_groups = groups.len() > 1;
    let mut few: Vec<(f64, f64)> = Vec::new();
    if results.finished() < FEW_FLOWS {
        results.each_flow(|flow| few.push((flow.size.max(1) as f64, flow.slowdown())))?;
    }
    let line = |group: usize, percentile: &Percentile| {
        let (name, bins) = &groups[group];
        let name = name.as_ref().map_or(percentile.name.to_owned(), |name| format!("{name}, {}", percentile.name));
        let color = if has_groups { group } else { percentile.look.color };
        let look = LineLook { color, ..percentile.look };
        let few = chart::few_in_bins(slice::from_ref(bins), percentile.percent);
        Line { look, few, ..Line::of_variant(0, name, chart::of_bins(bins, percentile.of)) }
    };
    // A group without a finished flow has no lines.
    let shown = || (0..groups.len()).filter(|group| groups[*group].1.iter().any(|stats| stats.flows > 0));
    let entry = |line: Line| LegendEntry { text: line.name, sign: Sign::Line(line.look) };
    let entries = shown().flat_map(|group| PERCENTILES.iter().map(move |percentile| entry(line(group, percentile))));
    let mut legend: Vec<LegendEntry> = entries.collect();
    legend.extend((!few.is_empty()).then(|| LegendEntry { text: "single flows".to_owned(), sign: Sign::Dot }));
    let mut lines: Vec<Line> =
        PERCENTILES.iter().flat_map(|percentile| shown().map(|group| line(group, percentile))).collect();
    lines.reverse();
    legend.extend(LegendEntry::few(lines.iter()));
    let highest = few.iter().map(|(_, slowdown)| *slowdown).fold(1.0, f64::max).max(chart::highest(&lines));
    let at: Vec<f64> = bounds.iter().map(|bound| *bound as f64).collect();
    let used = (0..at.len()).filter(|bin| lines.iter().any(|line| line.y[*bin].is_some())).map(|bin| at[bin]);
    let smallest = few.iter().map(|(size, _)| *size).chain(used).fold(f64::INFINITY, f64::min);
    let chart = Chart {
        title: "Slowdown by flow size".to_owned(),
        x: Axis::sizes("Flow size", smallest..results.extents().sizes.largest() as f64),
        at: At::Each(at),
        y: Axis::slowdown("Slowdown (FCT / ideal FCT)", highest),
        lines,
        stepped: false,
        points: true,
    };
    let subtitle =
        format!("completion time relative to an empty network, {}", human::counted(results.finished(), "flow"));
    let svg = figure::render(look, &chart.title, &subtitle, &legend, |area| {
        let mut drawn = figure::axes(look, area, &chart.x, &chart.y)?;
        let at = |&(size, slowdown): &(f64, f64)| (chart.x.scaled(size), chart.y.scaled(slowdown));
        drawn.draw_series(few.iter().map(|flow| Circle::new(at(flow), look.px(DOT), FAINT.filled())))?;
        figure::draw_lines(look, area, &drawn, &chart)
    })?;
    Picture::new(svg, &[&chart]).map(Some)
}

/// The figures of each bin of sizes, by group if there are some, but few.
fn bins(results: &Results, bounds: &[u64]) -> Result<Vec<(Option<String>, Vec<FctStats>)>> {
    let mut groups = results.groups();
    if groups.len() < 2 || groups.len() > GROUPS {
        groups.clear();
    }
    let splits = stats::split(iter::once(results), &groups, bounds)?;
    let names = groups.iter().map(|(_, name)| Some((*name).to_owned()));
    let names = iter::once(None).chain(names).zip(splits.iter().map(Split::bin_stats));
    Ok(names.skip(usize::from(!groups.is_empty())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::look::Style;
    use hpcc_measures::results::in_memory;
    use hpcc_model::results::{FctRecord, Summary, UnfinishedFlow};

    #[test]
    fn groups_are_drawn_apart() {
        let flow = |group, size, fct_ns| FctRecord { group, size, fct_ns, ideal_ns: 1, ..FctRecord::default() };
        let summary = Summary { groups: vec!["a".into(), "b".into(), "c".into()], ..Summary::default() };
        let endless = UnfinishedFlow { group: 2, ..UnfinishedFlow::default() };
        let results = in_memory(summary, vec![flow(0, 10, 2), flow(0, 20, 3), flow(1, 20, 9)], vec![endless]);
        let svg = draw(&results, &Style::Screen.look()).expect("drawn").expect("a figure").svg;
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
            let svg = draw(&results, &style.look()).expect("drawn").expect("a figure").svg;
            assert!(svg.contains(size) && svg.contains("<text") && !svg.contains("Slowdown by flow size"), "{svg}");
        }
    }
}
