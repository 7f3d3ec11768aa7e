// SPDX-License-Identifier: GPL-2.0-only
//! `queue.svg`: the queues of the busiest ports over time.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use hpcc_formats::results::queue_csv::{self, QueueRow};

use super::decimate::{Point, decimate, staircase};
use super::figure::STROKE;
use super::time_chart::{COLUMNS, Line, TimeChart};
use crate::results::Results;

/// As many ports as can be told apart.
const PORTS: usize = 4;

/// A node and its port.
type Port = (u32, u32);

/// Draws the figure, if a queue built up while flows were active.
///
/// # Errors
/// If `queue.csv` cannot be read, or by the plotting library.
pub fn draw(results: &Results) -> Result<Option<String>> {
    let file = results.dir.join("queue.csv");
    let span_ns = results.last_end_ns().saturating_sub(results.first_start_ns()) as f64;
    let ports = busiest(&file)?;
    if ports.is_empty() || span_ns <= 0.0 {
        return Ok(None);
    }
    let chart = TimeChart {
        title: "Queue length".to_owned(),
        subtitle: subtitle(ports.len()),
        y_title: "Queue length (kB)".to_owned(),
        span_ns,
        // Queues swing by a frame from sample to sample: thin lines keep the swings apart.
        stroke: STROKE - 1,
        lines: lines(&file, &ports, results.first_start_ns(), span_ns)?,
    };
    Ok(Some(chart.render()?))
}

fn subtitle(ports: usize) -> String {
    match ports {
        1 => "the only switch port with a queue".to_owned(),
        _ => format!("the {ports} switch ports with the longest queues"),
    }
}

/// The ports with the longest queues, the longest first.
fn busiest(file: &Path) -> Result<Vec<Port>> {
    let mut longest: BTreeMap<Port, u64> = BTreeMap::new();
    for row in queue_csv::rows(file)? {
        let row = row?;
        let bytes = longest.entry((row.node, row.port)).or_default();
        *bytes = row.qlen_bytes.max(*bytes);
    }
    let mut ports: Vec<(Port, u64)> = longest.into_iter().collect();
    ports.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    ports.truncate(PORTS);
    Ok(ports.into_iter().map(|(port, _)| port).collect())
}

/// Reads the file again for the few ports that are drawn: it may be too long to keep.
fn lines(file: &Path, ports: &[Port], origin_ns: u64, span_ns: f64) -> Result<Vec<Line>> {
    let mut series: Vec<Vec<Point>> = vec![Vec::new(); ports.len()];
    for row in queue_csv::rows(file)? {
        let row = row?;
        let time = row.time_ns as f64 - origin_ns as f64;
        let port = ports.iter().position(|port| *port == (row.node, row.port));
        if let Some(port) = port.filter(|_| (0.0..=span_ns).contains(&time)) {
            series[port].push((time, kilobytes(&row)));
        }
    }
    let lines = ports.iter().zip(series).map(|((node, port), points)| Line {
        name: format!("node {node}, port {port}"),
        points: staircase(&decimate(&points, span_ns, COLUMNS), span_ns),
    });
    Ok(lines.collect())
}

fn kilobytes(row: &QueueRow) -> f64 {
    row.qlen_bytes as f64 / 1e3
}
