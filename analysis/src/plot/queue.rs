// SPDX-License-Identifier: GPL-2.0-only
//! `queue.svg`: the queues of the busiest ports over time.

use std::collections::BTreeMap;

use anyhow::Result;
use hpcc_formats::results::ports_csv;
use hpcc_measures::results::Results;
use hpcc_measures::series::{self, Grid, Port};

use super::figure::STROKE;
use super::line_style::LineStyle;
use super::look::Look;
use super::staircase::{Point, staircase};
use super::time_chart::{COLUMNS, Line, TimeChart};

/// As many ports as can be told apart.
const PORTS: usize = 4;

/// Draws the figure, if a queue built up while flows were active.
///
/// # Errors
/// If `queue.csv` cannot be read, or by the plotting library.
pub fn draw(results: &Results, look: &Look) -> Result<Option<String>> {
    let grid = Grid::new(results.window.from_ns, results.window.span_ns(), 1, COLUMNS);
    let queues = series::queues(results, grid, PORTS)?;
    let longest = queues.lines.iter().flat_map(|(_, bytes)| bytes).max().copied().unwrap_or(0);
    if longest == 0 || results.window.span_ns() == 0 {
        return Ok(None);
    }
    let (unit, bytes_per_unit) = unit(longest);
    let names = port_names(results)?;
    let lines = queues.lines.iter().zip(0..).map(|((port, bytes), index)| Line {
        name: names.get(port).cloned().unwrap_or_else(|| format!("node {}, port {}", port.0, port.1)),
        // Queues swing by a frame from sample to sample: thin lines keep the swings apart.
        style: LineStyle::of_variant(index, STROKE - 1),
        points: points(bytes, grid, bytes_per_unit),
    });
    let chart = TimeChart {
        title: "Queue length".to_owned(),
        subtitle: subtitle(queues.lines.len()),
        y_title: format!("Queue length ({unit})"),
        span_ns: results.window.span_ns() as f64,
        lines: lines.collect(),
    };
    chart.render(look).map(Some)
}

fn subtitle(ports: usize) -> String {
    match ports {
        1 => "the only switch port with a queue".to_owned(),
        _ => format!("the {ports} switch ports with the longest queues"),
    }
}

/// The unit that suits a length, and its bytes.
fn unit(bytes: u64) -> (&'static str, f64) {
    match bytes {
        0..2_000_000 => ("kB", 1e3),
        2_000_000..2_000_000_000 => ("MB", 1e6),
        _ => ("GB", 1e9),
    }
}

/// Ports by what they lead to.
fn port_names(results: &Results) -> Result<BTreeMap<Port, String>> {
    let rows = ports_csv::read(&results.dir.join("ports.csv"))?;
    Ok(rows.into_iter().map(|row| ((row.node, row.port), format!("node {} to {}", row.node, row.peer))).collect())
}

/// A staircase through the longest queue of each step.
fn points(bytes: &[u64], grid: Grid, bytes_per_unit: f64) -> Vec<Point> {
    let corners: Vec<Point> = (0u64..)
        .zip(bytes)
        .map(|(step, bytes)| ((step * grid.step_ns) as f64, *bytes as f64 / bytes_per_unit))
        .collect();
    staircase(&corners, (grid.step_ns * grid.steps as u64) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_the_longest_queue() {
        assert_eq!([900_000, 20_000_000, 3_000_000_000].map(|bytes| unit(bytes).0), ["kB", "MB", "GB"]);
        let grid = Grid { origin_ns: 0, step_ns: 10, steps: 2 };
        assert_eq!(points(&[0, 20_000_000], grid, 1e6).last(), Some(&(20.0, 20.0)));
    }
}
