// SPDX-License-Identifier: GPL-2.0-only
//! `queue.svg`, `goodput.svg` and `control.svg`: what happened in a run over time.

use std::cmp::Reverse;
use std::collections::HashMap;

use anyhow::Result;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::Grid;
use hpcc_model::results::ports_csv;

use super::figure::Figure;
use crate::chart::{self, At, Axis, Chart, Line, LineLook, STROKE, Watched, highest};

/// About the width of a chart in pixels.
const COLUMNS: usize = 1_000;
/// Steps of a line where there are several charts side by side.
const FEWER_COLUMNS: usize = 400;
/// As many ports as can be told apart.
const PORTS: usize = 4;
/// Flows that can be told apart.
const WATCHED: usize = 8;
/// Flows of a group that have colours of their own; of a larger group all lines look alike.
const TOLD_APART: usize = 4;
/// More lines of a group than this make a thicket.
const FLOWS: usize = 20;

fn over_time(title: &str, results: &Results, at: At, charts: usize, lines: Vec<Line>) -> Chart {
    let x = Axis::time(results.window.span_ns() as f64, results.window.after_ns, charts);
    let y = Axis::value(title, highest(&lines));
    Chart { title: title.to_owned(), x, at, y, lines, stepped: false, points: false }
}

/// The queues of the busiest ports, if one built up while flows were active.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queue(results: &Results) -> Result<Option<Figure>> {
    let span_ns = results.window.span_ns();
    let grid = Grid::new(results.window.from_ns, span_ns, 1, COLUMNS);
    let ports = ports_csv::read(&results.dir.join("ports.csv"))?;
    let mut lines = chart::queues(results, grid, PORTS, &ports)?;
    let longest = highest(&lines);
    if longest <= 0.0 || span_ns == 0 {
        return Ok(None);
    }
    let (unit, kilobytes) = if longest < 2e3 { ("kB", 1.0) } else { ("MB", 1e3) };
    lines.iter_mut().flat_map(|line| line.y.iter_mut().flatten()).for_each(|value| *value /= kilobytes);
    let subtitle = match lines.len() {
        1 => "the only switch port with a queue".to_owned(),
        several => format!("the {several} switch ports with the longest queues"),
    };
    let chart = over_time(&format!("Queue length ({unit})"), results, At::grid(grid, 0.0), 1, lines);
    let charts = vec![Chart { stepped: true, ..chart }];
    Ok(Some(Figure { title: "Queue length".to_owned(), subtitle, charts }))
}

/// Goodput of each flow, if rates were recorded.
///
/// # Errors
/// If `goodput.csv` cannot be read.
pub fn goodput(results: &Results) -> Result<Option<Figure>> {
    let span_ns = results.window.span_ns();
    if !chart::rates_of(results) || span_ns == 0 {
        return Ok(None);
    }
    let grid = Grid::new(results.window.from_ns, span_ns, results.goodput_interval_ns(), COLUMNS);
    let lines = chart::goodput(results, grid, &shown(results)?)?;
    let rate = "rate of acknowledged payload";
    let all = results.lives();
    let subtitle = match lines.len() {
        shown if shown as u64 == all => rate.to_owned(),
        shown => format!("{rate}; {shown} of {all} flows, the longest-lived of each group"),
    };
    let charts = vec![over_time("Goodput (Gb/s)", results, At::grid(grid, 0.5), 1, lines)];
    Ok(Some(Figure { title: "Goodput per flow".to_owned(), subtitle, charts }))
}

/// The flows to show, with name and look: small groups flow by flow, first, for they are drawn on top; of others one
/// name for all lines.
fn shown(results: &Results) -> Result<Vec<(Life, String, LineLook)>> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    results.each_life(|life| *counts.entry(life.group).or_default() += 1)?;
    let mut groups = results.groups();
    let count = |group: u32| counts.get(&group).copied().unwrap_or(0);
    groups.sort_by_key(|(number, _)| count(*number) > TOLD_APART);
    let mut variant = 0;
    let mut shown = Vec::new();
    for (number, name) in groups {
        let all = count(number);
        // Other groups come last.
        let order = |life: &Life| (life.group != number, Reverse(life.end_ns.saturating_sub(life.start_ns)));
        for life in results.first_lives(FLOWS, order)?.into_iter().filter(|life| life.group == number) {
            let told_apart = all <= TOLD_APART;
            let label = if told_apart { chart::flow_name(results, &life) } else { format!("{name} ({all})") };
            shown.push((life, label, LineLook::plain(variant, if told_apart { STROKE } else { STROKE - 2 })));
            variant += usize::from(told_apart);
        }
        variant += usize::from(all > TOLD_APART);
    }
    Ok(shown)
}

/// Congestion control of watched flows, if there are some.
///
/// # Errors
/// If `control.csv` cannot be read.
pub fn control(results: &Results) -> Result<Option<Figure>> {
    let span_ns = results.window.span_ns();
    let grid = Grid::new(results.window.from_ns, span_ns, 1, FEWER_COLUMNS);
    let mut watched = chart::control(results, grid, WATCHED)?;
    let has_window = watched.iter().any(|(quantity, _)| *quantity == Watched::Window);
    let bound = if has_window { Watched::Window } else { Watched::InFlight };
    watched.retain(|(quantity, _)| [Watched::Rate, bound, Watched::Utilisation].contains(quantity));
    if watched.is_empty() || span_ns == 0 {
        return Ok(None);
    }
    let count = watched.len();
    let chart = |(quantity, lines): (Watched, Vec<Line>)| {
        over_time(quantity.title(), results, At::grid(grid, 0.5), count, lines)
    };
    Ok(Some(Figure {
        title: "Congestion control per flow".to_owned(),
        subtitle: "of the watched flows that sent most; U is 1 where the bytes in flight equal capacity times T"
            .to_owned(),
        charts: watched.into_iter().map(chart).collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_measures::results::in_memory;
    use hpcc_model::results::{FctRecord, Summary};

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
        let colors: Vec<usize> = shown.iter().map(|(.., look)| look.color).collect();
        assert!(colors[0] != colors[1] && colors[1] != colors[2] && colors[2] != colors[3] && colors[3] == colors[18]);
    }
}
