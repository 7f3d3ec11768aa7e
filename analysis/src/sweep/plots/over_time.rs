// SPDX-License-Identifier: GPL-2.0-only
//! Time series of all variants: `queue-over-time.svg`, `goodput-over-time.svg`.

use std::iter;

use anyhow::Result;
use hpcc_measures::quantity::Quantity;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::{self, Grid};

use super::super::file::SweepFile;
use super::super::group::Group;
use super::{line, subtitle};
use crate::chart::{self, At, Axis, Chart, Line, highest};
use crate::plot::Figure;

/// Steps that a line has.
const STEPS: usize = 400;
/// More flows than this are shown by group.
const FLOWS: u64 = 8;

/// The queue of the busiest port of each variant, if one built up.
///
/// # Errors
/// If a `queue.csv` cannot be read.
pub fn queue(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    let span_ns = longest(groups);
    let grid = Grid::new(0, span_ns, 1, STEPS);
    let of_run = |results: &Results| {
        let queues = chart::queues(results, Grid { origin_ns: results.window.from_ns, ..grid }, 1, &[])?;
        Ok(queues.into_iter().next().map(|line| line.y).unwrap_or_default())
    };
    let of_group = |group: &&Group<'_>| {
        let seeds: Vec<Vec<Option<f64>>> = group.results().map(of_run).collect::<Result<_>>()?;
        Ok(line(file, group, Quantity::Queue, &seeds))
    };
    let lines: Vec<Line> = groups.iter().map(of_group).collect::<Result<_>>()?;
    if highest(&lines) <= 0.0 {
        return Ok(None);
    }
    Ok(Some(Figure {
        title: "Queue length".to_owned(),
        subtitle: subtitle(file, "the port with the longest queue", groups),
        charts: vec![over_time(file, "Queue length (kB)", span_ns, 1, (grid, lines))],
    }))
}

/// Goodput of each variant's flows: flow by flow where there are few, otherwise by group.
///
/// # Errors
/// If a `goodput.csv` cannot be read.
pub fn goodput(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    let span_ns = longest(groups);
    let mut charts = Vec::new();
    let by_flow = groups.iter().flat_map(|group| group.results()).all(|results| results.lives() <= FLOWS);
    for group in groups.iter().filter(|group| !group.runs.is_empty()) {
        // Steps are no shorter than the interval in which rates were recorded.
        let recorded_ns = group.results().map(Results::goodput_interval_ns).max().unwrap_or(1);
        let grid = Grid::new(0, span_ns, recorded_ns, STEPS);
        let of_run = |results: &Results| rates(results, Grid { origin_ns: results.window.from_ns, ..grid }, by_flow);
        let seeds: Vec<Vec<(String, Vec<Option<f64>>)>> = group.results().map(of_run).collect::<Result<_>>()?;
        let names: Vec<&String> =
            seeds.iter().max_by_key(|seed| seed.len()).into_iter().flatten().map(|(name, _)| name).collect();
        let of_name = |(place, name): (usize, &&String)| {
            let named = seeds.iter().filter_map(|seed| seed.iter().find(|(other, _)| other == *name));
            let values: Vec<_> = named.map(|(_, values)| values.clone()).collect();
            Line::of_seeds(place, name.as_str(), file.spread.of(&values, Quantity::Goodput.possible()))
        };
        let lines = names.iter().enumerate().map(of_name).collect();
        let title = format!("{}: goodput (Gb/s)", group.label);
        charts.push(over_time(file, &title, span_ns, groups.len(), (grid, lines)));
    }
    if charts.iter().all(|chart| chart.lines.is_empty()) {
        return Ok(None);
    }
    // One scale for all, as they stand side by side.
    let top = charts.iter().map(|chart| highest(&chart.lines)).fold(0.0, f64::max);
    charts.iter_mut().for_each(|chart| chart.y = Axis::value(&chart.title, top));
    let subtitle = subtitle(file, "rate of acknowledged payload", groups);
    Ok(Some(Figure { title: "Goodput".to_owned(), subtitle, charts }))
}

fn over_time(file: &SweepFile, title: &str, span_ns: u64, charts: usize, (grid, lines): (Grid, Vec<Line>)) -> Chart {
    let after_ns = file.selection.warm_up.unwrap_or(0);
    let x = Axis::time(span_ns as f64, after_ns, charts);
    let y = Axis::value(title, highest(&lines));
    Chart { title: title.to_owned(), x, at: At::grid(grid, 0.0), y, lines, stepped: false, points: false }
}

/// The time that the longest run took.
fn longest(groups: &[&Group<'_>]) -> u64 {
    let spans = groups.iter().flat_map(|group| group.results()).map(|results| results.window.span_ns());
    spans.max().unwrap_or(0)
}

/// Names of flows or groups, and their rates.
fn rates(results: &Results, grid: Grid, by_flow: bool) -> Result<Vec<(String, Vec<Option<f64>>)>> {
    let groups = results.groups();
    let flows = results.first_lives(FLOWS as usize, |_| ())?;
    let names: Vec<String> = if by_flow {
        flows.iter().map(|life| format!("{} {}", results.summary.group_name(life.group), life.flow)).collect()
    } else {
        groups.iter().map(|(_, name)| (*name).to_owned()).collect()
    };
    let line_of = |life: &Life| {
        if by_flow {
            flows.iter().position(|other| other.flow == life.flow)
        } else {
            groups.iter().position(|(group, _)| *group == life.group)
        }
    };
    let rates = series::rates(results, grid, names.len(), line_of)?;
    Ok(iter::zip(names, rates.into_iter().map(chart::finite)).collect())
}
