// SPDX-License-Identifier: GPL-2.0-only
//! `goodput.svg`: what each flow delivers over time.

use std::cmp::Reverse;
use std::collections::HashMap;

use anyhow::Result;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::{self, Grid};

use super::figure::STROKE;
use super::line_style::LineStyle;
use super::look::Look;
use super::staircase::Point;
use super::time_chart::{COLUMNS, Line, TimeChart};

/// Flows of a group that are told apart; of a larger group all lines look alike.
const TOLD_APART: usize = 4;
/// More lines of a group than this make a thicket.
const FLOWS: usize = 20;

/// The share of a step that a flow has to send in for its rate to be shown.
const SHORTEST: f64 = 0.2;

/// Draws the figure, if rates were recorded.
///
/// # Errors
/// If `goodput.csv` cannot be read, or by the plotting library.
pub fn draw(results: &Results, look: &Look) -> Result<Option<String>> {
    let span_ns = results.window.span_ns();
    let recorded = results.summary.files.get("goodput.csv").and_then(|file| file.rows).unwrap_or(0);
    if recorded == 0 || span_ns == 0 {
        return Ok(None);
    }
    let shown = shown(results)?;
    let grid = Grid::new(results.window.from_ns, span_ns, results.goodput_interval_ns(), COLUMNS);
    let line_of = |life: &Life| shown.iter().position(|(flow, ..)| flow.flow == life.flow);
    let rates = series::rates(results, grid, shown.len(), line_of)?;
    let lines = shown.iter().zip(&rates).map(|((life, name, style), rates)| Line {
        name: name.clone(),
        style: *style,
        points: points(life, rates, grid),
    });
    let chart = TimeChart {
        title: "Goodput per flow".to_owned(),
        subtitle: subtitle(shown.len() as u64, results.lives()),
        y_title: "Goodput (Gb/s)".to_owned(),
        span_ns: span_ns as f64,
        lines: lines.collect(),
    };
    chart.render(look).map(Some)
}

fn subtitle(shown: u64, all: u64) -> String {
    let rate = "rate of acknowledged payload";
    if shown == all {
        rate.to_owned()
    } else {
        format!("{rate}; {shown} of {all} flows, the longest-lived of each group")
    }
}

/// The flows to show, with name and style: small groups flow by flow, first, for they are drawn on top; of others one
/// name for all lines.
fn shown(results: &Results) -> Result<Vec<(Life, String, LineStyle)>> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    results.each_life(|life| *counts.entry(life.group).or_default() += 1)?;
    let mut groups: Vec<(u32, &str, usize)> = results
        .groups()
        .into_iter()
        .map(|(number, name)| (number, name, counts.get(&number).copied().unwrap_or(0)))
        .collect();
    groups.sort_by_key(|(.., all)| *all > TOLD_APART);
    let mut variant = 0;
    let mut shown = Vec::new();
    for (number, name, all) in groups {
        // Those of other groups come last.
        let order = |life: &Life| (life.group != number, Reverse(life.end_ns.saturating_sub(life.start_ns)));
        for life in results.first_lives(FLOWS, order)?.into_iter().filter(|life| life.group == number) {
            let told_apart = all <= TOLD_APART;
            let label = if told_apart { format!("{name}, {}", life.flow) } else { format!("{name} ({all})") };
            let width = if told_apart { STROKE } else { STROKE - 2 };
            shown.push((life, label, LineStyle::of_variant(variant, width)));
            variant += usize::from(told_apart);
        }
        variant += usize::from(all > TOLD_APART);
    }
    Ok(shown)
}

/// The rates of a flow while it sends, each in the middle of its step. Where it sends during a part of a step only, the
/// rate is that of the part, unless that is too short to say much.
fn points(life: &Life, rates: &[f64], grid: Grid) -> Vec<Point> {
    let mut points = Vec::new();
    for (step, rate) in (0u64..).zip(rates) {
        let begin = grid.origin_ns + step * grid.step_ns;
        let part = (begin + grid.step_ns).min(life.end_ns).saturating_sub(begin.max(life.start_ns));
        let share = part as f64 / grid.step_ns as f64;
        if share >= SHORTEST {
            points.push(((begin - grid.origin_ns + grid.step_ns / 2) as f64, rate / share));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_formats::results::{FctRecord, Summary};
    use hpcc_measures::results::in_memory;

    #[test]
    fn long_flows_have_names_and_an_incast_has_one() {
        let flow = |flow, group| FctRecord { flow, group, size: 1, fct_ns: 10, ..FctRecord::default() };
        let flows = (0..16).map(|number| flow(number, 1)).chain((16..19).map(|number| flow(number, 0))).collect();
        let summary = Summary { groups: vec!["long".into(), "incast".into()], ..Summary::default() };
        let results = in_memory(summary, flows, Vec::new());
        let shown = shown(&results).expect("in memory");
        let mut names: Vec<&str> = shown.iter().map(|(_, name, _)| name.as_str()).collect();
        names.dedup();
        assert_eq!(names, ["long, 16", "long, 17", "long, 18", "incast (16)"]);
        let colors: Vec<_> = shown.iter().map(|(_, _, style)| style.color).collect();
        assert!(colors[0] != colors[1] && colors[1] != colors[2] && colors[2] != colors[3] && colors[3] == colors[18]);
    }

    #[test]
    fn a_line_is_as_long_as_its_flow() {
        let life = Life { flow: 0, group: 0, src: 0, dst: 1, start_ns: 120, end_ns: 250, size: 1, bytes: 1 };
        let grid = Grid { origin_ns: 100, step_ns: 100, steps: 4 };
        assert_eq!(points(&life, &[0.8, 2.0, 0.0, 0.0], grid), [(50.0, 1.0), (150.0, 4.0)]);
    }
}
