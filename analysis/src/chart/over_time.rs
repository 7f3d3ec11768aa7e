// SPDX-License-Identifier: GPL-2.0-only
//! Queues and rates over time.

use std::collections::BTreeMap;

use anyhow::Result;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::{self, Grid};
use hpcc_model::results::ports_csv::PortRow;

use super::{At, Line, LineLook, STROKE};

/// The steps of time axes that several runs share.
#[derive(Clone, Copy)]
pub struct Steps {
    /// Steps for quantities that hold until they change.
    pub states: Grid,
    /// Of rates: no finer than these were recorded.
    pub rates: Grid,
}

/// The finest step, in ns: a sample of the queues is not taken more often.
const FINEST_NS: u64 = 100;

impl Steps {
    /// At most so many steps.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Results> + Clone, most: usize) -> Steps {
        let span_ns = runs.clone().map(|run| run.window.span_ns()).max().unwrap_or(0);
        let recorded_ns = runs.map(Results::goodput_interval_ns).max().unwrap_or(1);
        let of = |least_ns| Grid::new(0, span_ns, least_ns, most);
        Steps { states: of(FINEST_NS), rates: of(recorded_ns) }
    }

    /// Of a time axis, as much as a run needs.
    pub fn of_run(steps: Grid, results: &Results) -> Grid {
        let needed = results.window.span_ns().div_ceil(steps.step_ns) as usize;
        Grid { origin_ns: results.window.from_ns, steps: needed.max(1), ..steps }
    }
}

impl At {
    /// The times of a grid's steps in microseconds, the first of them at this part of its step.
    pub fn grid(grid: Grid, part: f64) -> At {
        let step = grid.step_ns as f64 / 1e3;
        At::Steps { first: part * step, step, steps: grid.steps }
    }
}

/// The name of a flow.
pub fn flow_name(results: &Results, life: &Life) -> String {
    format!("{}, {}", results.summary.group_name(life.group), life.flow)
}

/// The ports with the longest queues, and these in kB.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queues(results: &Results, grid: Grid, most: usize, ports: &[PortRow]) -> Result<Vec<Line>> {
    let names: BTreeMap<(u32, u32), u32> = ports.iter().map(|row| ((row.node, row.port), row.peer)).collect();
    let queues = series::queues(results, grid, most)?.lines;
    let name = |(node, port): (u32, u32)| match names.get(&(node, port)) {
        Some(peer) => format!("node {node} to {peer}"),
        None => format!("node {node}, port {port}"),
    };
    let line = |(variant, (port, bytes)): (usize, &((u32, u32), Vec<u64>))| Line {
        // Queues swing by a frame from sample to sample: thin lines keep the swings apart.
        look: LineLook::plain(variant, STROKE - 1),
        ..Line::of_variant(variant, name(*port), bytes.iter().map(|bytes| Some(*bytes as f64 / 1e3)).collect())
    };
    Ok(queues.iter().enumerate().map(line).collect())
}

/// Whether the run recorded goodput.
pub fn rates_of(results: &Results) -> bool {
    results.summary.files.get("goodput.csv").and_then(|file| file.rows).is_some_and(|rows| rows > 0)
}

/// The share of a step that a flow has to send in for its rate to be shown.
const SHORTEST: f64 = 0.2;

/// Goodput of flows, each in Gb/s while it sends. A flow that sends during a part of a step has the rate of that part,
/// unless the part is too short.
///
/// # Errors
/// If `goodput.csv` cannot be read.
pub fn goodput(results: &Results, grid: Grid, flows: &[(Life, String, LineLook)]) -> Result<Vec<Line>> {
    let line_of = |life: &Life| flows.iter().position(|(flow, ..)| flow.flow == life.flow);
    let rates = series::rates(results, grid, flows.len(), line_of)?;
    let line = |((life, name, look), rates): (&(Life, String, LineLook), &Vec<f64>)| {
        let y = while_sending(life, rates, grid);
        Line { look: *look, ..Line::of_variant(0, name, y) }
    };
    Ok(flows.iter().zip(&rates).map(line).collect())
}

fn while_sending(life: &Life, rates: &[f64], grid: Grid) -> Vec<Option<f64>> {
    let rate = |(step, rate): (u64, &f64)| {
        let begin = grid.origin_ns + step * grid.step_ns;
        let part = (begin + grid.step_ns).min(life.end_ns).saturating_sub(begin.max(life.start_ns));
        let share = part as f64 / grid.step_ns as f64;
        (share >= SHORTEST).then(|| rate / share)
    };
    (0..).zip(rates).map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_long_as_its_flow() {
        let life = Life { flow: 0, group: 0, src: 0, dst: 1, start_ns: 120, end_ns: 250, size: 1, bytes: 1 };
        let grid = Grid { origin_ns: 100, step_ns: 100, steps: 4 };
        assert_eq!(while_sending(&life, &[0.8, 2.0, 0.0, 0.0], grid), [Some(1.0), Some(4.0), None, None]);
    }
}
