// SPDX-License-Identifier: GPL-2.0-only
//! Time series of all variants: `queue-over-time.svg`, `goodput-over-time.svg`. They show the first seed.

use anyhow::Result;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::{self, Grid};

use super::super::file::SweepFile;
use super::super::group::Group;
use super::{Drawn, Seeds, line, subtitle};
use crate::chart::{self, At, Axis, Chart, Line, highest};
use crate::plot::Figure;

/// Steps that a line has.
const STEPS: usize = 400;
/// More flows than this are shown by group.
const FLOWS: usize = 8;

/// The queue of the busiest port of each variant, if one built up.
///
/// # Errors
/// If a `queue.csv` cannot be read.
pub fn queue(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Drawn>> {
    let (groups, runs) = first_runs(groups);
    let span_ns = longest(&runs);
    let grid = Grid::new(0, span_ns, 1, STEPS);
    let mut lines: Vec<Line> = Vec::new();
    for (group, results) in groups.iter().zip(&runs) {
        let grid = Grid { origin_ns: results.window.from_ns, ..grid };
        let (queues, _) = chart::queues(results, grid, 1, &[])?;
        lines.push(line(group, queues.into_iter().next().map(|line| line.y).unwrap_or_default()));
    }
    if highest(&lines) <= 0.0 {
        return Ok(None);
    }
    let mut text = "variant,time_us,queue_kB\n".to_owned();
    lines.iter().for_each(|line| text += &rows(&line.name, line, grid));
    let figure = Figure {
        title: "Queue length".to_owned(),
        subtitle: subtitle(file, "the port with the longest queue", &groups, Seeds::First),
        charts: vec![over_time("Queue length (kB)", span_ns, 1, grid, lines)],
    };
    Ok(Some(Drawn { figure, csv: Some(text) }))
}

/// Goodput of each variant's flows: flow by flow where there are few, otherwise by group.
///
/// # Errors
/// If a `goodput.csv` cannot be read.
pub fn goodput(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Drawn>> {
    let (groups, runs) = first_runs(groups);
    let span_ns = longest(&runs);
    let mut text = "variant,flow,time_us,goodput_gbps\n".to_owned();
    let mut charts = Vec::new();
    for (group, results) in groups.iter().zip(&runs) {
        // Steps are no shorter than the interval in which rates were recorded.
        let grid = Grid::new(results.window.from_ns, span_ns, results.goodput_interval_ns(), STEPS);
        let lines = rates(results, grid)?;
        lines.iter().for_each(|line| text += &rows(&format!("{},{}", group.variant, line.name), line, grid));
        let title = format!("{}: goodput (Gb/s)", group.variant);
        charts.push(over_time(&title, span_ns, groups.len(), grid, lines));
    }
    if charts.iter().all(|chart| chart.lines.is_empty()) {
        return Ok(None);
    }
    // One scale for all, as they stand side by side.
    let top = charts.iter().map(|chart| highest(&chart.lines)).fold(0.0, f64::max);
    charts.iter_mut().for_each(|chart| chart.y = Axis::value(&chart.title, top));
    let subtitle = subtitle(file, "rate of acknowledged payload", &groups, Seeds::First);
    Ok(Some(Drawn { figure: Figure { title: "Goodput".to_owned(), subtitle, charts }, csv: Some(text) }))
}

fn over_time(title: &str, span_ns: u64, charts: usize, grid: Grid, lines: Vec<Line>) -> Chart {
    let x = Axis::time(span_ns as f64, charts);
    let y = Axis::value(title, highest(&lines));
    Chart { title: title.to_owned(), x, at: At::grid(grid, 0.0), y, lines, stepped: false, points: false }
}

/// The first run of each variant that has one.
fn first_runs<'a>(groups: &[&'a Group<'a>]) -> (Vec<&'a Group<'a>>, Vec<&'a Results>) {
    groups.iter().filter_map(|group| Some((*group, group.runs.first()?.results))).unzip()
}

fn longest(runs: &[&Results]) -> u64 {
    runs.iter().map(|results| results.window.span_ns()).max().unwrap_or(0)
}

fn rates(results: &Results, grid: Grid) -> Result<Vec<Line>> {
    let groups = results.groups();
    let flows = results.first_lives(FLOWS, |_| ())?;
    let by_flow = flows.len() as u64 == results.lives();
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
    let line = |(variant, (name, rates))| Line::of_variant(variant, name, chart::finite(rates));
    Ok(names.into_iter().zip(rates).enumerate().map(line).collect())
}

fn rows(name: &str, line: &Line, grid: Grid) -> String {
    let row =
        |(index, value): (usize, f64)| format!("{name},{:.3},{value:.4}\n", index as f64 * grid.step_ns as f64 / 1e3);
    line.values().enumerate().map(row).collect()
}
