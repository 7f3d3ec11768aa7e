// SPDX-License-Identifier: GPL-2.0-only
//! `goodput.svg`: what each flow delivers over time.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use hpcc_formats::results::goodput_csv;

use super::decimate::{Point, decimate};
use super::figure::STROKE;
use super::time_chart::{COLUMNS, Line, TimeChart};
use crate::results::Results;

/// More lines than this make a thicket.
const FLOWS: usize = 20;

/// Draws the figure, if rates were recorded.
///
/// # Errors
/// If `goodput.csv` cannot be read, or by the plotting library.
pub fn draw(results: &Results) -> Result<Option<String>> {
    let file = results.dir.join("goodput.csv");
    let rows = rows_per_flow(&file)?;
    let flows = longest_lived(&rows);
    let origin_ns = results.first_start_ns();
    let (lines, last_ns) = lines(&file, &flows, origin_ns)?;
    let span_ns = last_ns.max(results.last_end_ns().saturating_sub(origin_ns) as f64);
    if lines.is_empty() || span_ns <= 0.0 {
        return Ok(None);
    }
    let chart = TimeChart {
        title: "Goodput per flow".to_owned(),
        subtitle: subtitle(flows.len(), rows.len()),
        y_title: "Goodput (Gb/s)".to_owned(),
        span_ns,
        stroke: STROKE,
        lines,
    };
    Ok(Some(chart.render()?))
}

fn subtitle(shown: usize, all: usize) -> String {
    let rate = "rate of acknowledged payload";
    if shown == all { rate.to_owned() } else { format!("{rate}; the {shown} longest-lived of {all} flows") }
}

fn rows_per_flow(file: &Path) -> Result<BTreeMap<u32, u64>> {
    let mut rows = BTreeMap::new();
    for row in goodput_csv::rows(file)? {
        *rows.entry(row?.flow).or_default() += 1;
    }
    Ok(rows)
}

/// The flows to show, by number.
fn longest_lived(rows: &BTreeMap<u32, u64>) -> Vec<u32> {
    let mut flows: Vec<u32> = rows.keys().copied().collect();
    flows.sort_by_key(|flow| Reverse(rows[flow]));
    flows.truncate(FLOWS);
    flows.sort_unstable();
    flows
}

/// The lines, and the time of the last point in ns since the origin.
fn lines(file: &Path, flows: &[u32], origin_ns: u64) -> Result<(Vec<Line>, f64)> {
    let mut series: Vec<Vec<Point>> = vec![Vec::new(); flows.len()];
    let mut last = 0.0;
    for row in goodput_csv::rows(file)? {
        let row = row?;
        let time = row.time_ns as f64 - origin_ns as f64;
        let Ok(flow) = flows.binary_search(&row.flow) else { continue };
        if time >= 0.0 {
            series[flow].push((time, row.goodput_bps as f64 / 1e9));
            last = f64::max(last, time);
        }
    }
    let lines = flows
        .iter()
        .zip(series)
        .map(|(flow, points)| Line { name: format!("flow {flow}"), points: decimate(&points, last, COLUMNS) });
    Ok((lines.collect(), last))
}
