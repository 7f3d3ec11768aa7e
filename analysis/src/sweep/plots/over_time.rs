// SPDX-License-Identifier: GPL-2.0-only
//! Time series of all variants: `queue-over-time.svg`, `goodput-over-time.svg`. They show the first seed.

use anyhow::Result;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::{self, Grid};

use super::super::file::SweepFile;
use super::super::group::Group;
use super::{Drawn, Seeds, names, subtitle};
use crate::plot::panels::{Panel, Panels};
use crate::plot::{Look, time_axis, value_axis};

/// Steps that a line has.
const STEPS: usize = 400;
/// More flows than this are shown by group.
const FLOWS: usize = 8;

/// A line: its name and a value for each step.
type Series = (String, Vec<f64>);

/// The queue of the busiest port of each variant, if one built up.
///
/// # Errors
/// If a `queue.csv` cannot be read, or by the plotting library.
pub fn queue(file: &SweepFile, look: &Look, groups: &[&Group<'_>]) -> Result<Option<Drawn>> {
    let (groups, runs) = first_runs(groups);
    let span_ns = longest(&runs);
    let mut lines: Vec<Series> = Vec::new();
    for (group, results) in groups.iter().zip(&runs) {
        let grid = Grid::new(results.window.from_ns, span_ns, 1, STEPS);
        let bytes = series::queues(results, grid, 1)?.lines.into_iter().next().map(|(_, bytes)| bytes);
        let kilobytes = bytes.unwrap_or_default().into_iter().map(|bytes| bytes as f64 / 1e3).collect();
        lines.push((group.variant.to_owned(), kilobytes));
    }
    let highest = lines.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max);
    if highest <= 0.0 {
        return Ok(None);
    }
    let step_ns = Grid::new(0, span_ns, 1, STEPS).step_ns as f64;
    let (x, unit_ns) = time_axis(span_ns as f64, 1);
    let figure = Panels {
        title: "Queue length".to_owned(),
        subtitle: subtitle(file, "the port with the longest queue", &groups, Seeds::First),
        variants: names(&groups),
        panels: vec![Panel {
            x,
            y: value_axis("Queue length (kB)", highest),
            lines: lines.iter().map(|(_, values)| points(values, step_ns / unit_ns)).collect(),
            every_point: false,
        }],
    };
    let mut text = "variant,time_us,queue_kB\n".to_owned();
    for (name, values) in &lines {
        text += &rows(name, values, step_ns);
    }
    Ok(Some(Drawn { svg: figure.render(look)?, csv: Some(text) }))
}

/// What the flows of each variant deliver: flow by flow where there are few, else by group.
///
/// # Errors
/// If a `goodput.csv` cannot be read, or by the plotting library.
pub fn goodput(file: &SweepFile, look: &Look, groups: &[&Group<'_>]) -> Result<Option<Drawn>> {
    let (groups, runs) = first_runs(groups);
    let span_ns = longest(&runs);
    // Each with steps of its own.
    let mut all: Vec<(f64, Vec<Series>)> = Vec::new();
    for results in &runs {
        all.push(rates(results, span_ns)?);
    }
    let most = all.iter().map(|(_, lines)| lines).max_by_key(|lines| lines.len());
    let Some(most) = most.filter(|lines| !lines.is_empty()) else {
        return Ok(None);
    };
    let variants = most.iter().enumerate().map(|(index, (name, _))| (index, name.clone())).collect();
    let highest = all.iter().flat_map(|(_, lines)| lines).flat_map(|(_, values)| values).copied().fold(0.0, f64::max);
    let panel = |group: &&Group<'_>, (step_ns, lines): &(f64, Vec<Series>)| {
        let (x, unit_ns) = time_axis(span_ns as f64, groups.len());
        let y = value_axis(&format!("{}: goodput (Gb/s)", group.variant), highest);
        let lines = lines.iter().map(|(_, values)| points(values, step_ns / unit_ns)).collect();
        Panel { x, y, lines, every_point: false }
    };
    let figure = Panels {
        title: "Goodput".to_owned(),
        subtitle: subtitle(file, "rate of acknowledged payload", &groups, Seeds::First),
        variants,
        panels: groups.iter().zip(&all).map(|(group, lines)| panel(group, lines)).collect(),
    };
    let mut text = "variant,flow,time_us,goodput_gbps\n".to_owned();
    for (group, (step_ns, lines)) in groups.iter().zip(&all) {
        for (name, values) in lines {
            text += &rows(&format!("{},{name}", group.variant), values, *step_ns);
        }
    }
    Ok(Some(Drawn { svg: figure.render(look)?, csv: Some(text) }))
}

/// The first run of each variant that has one.
fn first_runs<'a>(groups: &[&'a Group<'a>]) -> (Vec<&'a Group<'a>>, Vec<&'a Results>) {
    groups.iter().filter_map(|group| Some((*group, group.runs.first()?.results))).unzip()
}

fn longest(runs: &[&Results]) -> u64 {
    runs.iter().map(|results| results.window.span_ns()).max().unwrap_or(0)
}

/// The length of a step, in ns, which is no shorter than the interval in which rates were recorded, and the lines.
fn rates(results: &Results, span_ns: u64) -> Result<(f64, Vec<Series>)> {
    let grid = Grid::new(results.window.from_ns, span_ns, results.goodput_interval_ns(), STEPS);
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
    let lines = series::rates(results, grid, names.len(), line_of)?;
    Ok((grid.step_ns as f64, names.into_iter().zip(lines).collect()))
}

fn points(values: &[f64], step: f64) -> Vec<(f64, f64)> {
    values.iter().enumerate().map(|(index, value)| (index as f64 * step, *value)).collect()
}

fn rows(name: &str, values: &[f64], step_ns: f64) -> String {
    let row = |(index, value): (usize, &f64)| format!("{name},{:.3},{value:.4}\n", index as f64 * step_ns / 1e3);
    values.iter().enumerate().map(row).collect()
}
