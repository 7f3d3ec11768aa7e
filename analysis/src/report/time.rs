// SPDX-License-Identifier: GPL-2.0-only
//! What the page shows over time: of an entry's first run.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use hpcc_formats::results::ports_csv::{self, PortRow};
use serde_json::{Value, json};

use super::number::short;
use crate::control::{self, Quantity};
use crate::results::{Life, Results};
use crate::series::{self, Grid, Queues};

/// Ports, receivers and flows that are shown by themselves.
const PORTS: usize = 4;
const RECEIVERS: usize = 4;
const FLOWS: usize = 12;

/// The series of a run on a grid; empty lists where nothing was recorded.
///
/// # Errors
/// If a file of the run cannot be read.
pub fn series(results: &Results, grid: Grid) -> Result<(Value, Queues)> {
    let ports = ports(results)?;
    let queues = series::queues(results, grid, PORTS)?;
    let scale = |values: &[u64]| values.iter().map(|bytes| short(*bytes as f64 / 1e3)).collect::<Vec<f64>>();
    let queue: Vec<Value> =
        queues.lines.iter().map(|(port, bytes)| line(&port_name(&ports, *port), &scale(bytes))).collect();
    let series = json!({
        "queue": queue,
        "goodput": goodput_by_group(results, grid)?,
        "flows": goodput_by_flow(results, grid)?,
        "utilisation": utilisation(results, grid, &ports)?,
        "jain": jain(results, grid)?,
        "control": control(results, grid)?,
    });
    Ok((series, queues))
}

/// A line of a chart; what is not a number is a gap.
fn line(name: &str, values: &[f64]) -> Value {
    let values: Vec<Option<f64>> = values.iter().map(|value| value.is_finite().then(|| short(*value))).collect();
    json!({ "name": name, "y": values })
}

/// The ports of the network; none in a folder that lists none.
fn ports(results: &Results) -> Result<Vec<PortRow>> {
    Ok(ports_csv::read(&results.dir.join("ports.csv"))?)
}

/// A port by what its link leads to.
fn port_name(ports: &[PortRow], (node, port): (u32, u32)) -> String {
    match ports.iter().find(|row| (row.node, row.port) == (node, port)) {
        Some(row) => format!("{node} → {}", row.peer),
        None => format!("node {node}, port {port}"),
    }
}

fn is_recorded(results: &Results) -> bool {
    results.summary.files.get("goodput.csv").and_then(|file| file.rows).is_some_and(|rows| rows > 0)
}

fn goodput_by_group(results: &Results, grid: Grid) -> Result<Vec<Value>> {
    if !is_recorded(results) {
        return Ok(Vec::new());
    }
    let groups = results.groups();
    let line_of = |life: &Life| groups.iter().position(|(number, _)| *number == life.group);
    let rates = series::rates(results, grid, groups.len(), line_of)?;
    Ok(groups.iter().zip(&rates).map(|((_, name), rates)| line(name, rates)).collect())
}

fn goodput_by_flow(results: &Results, grid: Grid) -> Result<Vec<Value>> {
    if !is_recorded(results) {
        return Ok(Vec::new());
    }
    let mut flows: Vec<&Life> = results.lives.iter().collect();
    flows.sort_by_key(|life| (Reverse(life.bytes), life.flow));
    flows.truncate(FLOWS);
    flows.sort_by_key(|life| life.flow);
    let line_of = |life: &Life| flows.iter().position(|flow| flow.flow == life.flow);
    let rates = series::rates(results, grid, flows.len(), line_of)?;
    let name = |life: &Life| format!("flow {} ({})", life.flow, results.summary.group_name(life.group));
    Ok(flows.iter().zip(&rates).map(|(life, rates)| line(&name(life), rates)).collect())
}

/// The share of a receiver's links that acknowledged payload takes, for those that receive most.
fn utilisation(results: &Results, grid: Grid, ports: &[PortRow]) -> Result<Vec<Value>> {
    if !is_recorded(results) || ports.is_empty() {
        return Ok(Vec::new());
    }
    let mut received: BTreeMap<u32, u64> = BTreeMap::new();
    for life in &results.lives {
        *received.entry(life.dst).or_default() += life.bytes;
    }
    let mut receivers: Vec<(u32, u64)> = received.into_iter().collect();
    receivers.sort_by_key(|(node, bytes)| (Reverse(*bytes), *node));
    receivers.truncate(RECEIVERS);
    let line_of = |life: &Life| receivers.iter().position(|(node, _)| *node == life.dst);
    let rates = series::rates(results, grid, receivers.len(), line_of)?;
    let lines = receivers.iter().zip(rates).map(|((node, _), rates)| {
        let capacity: u64 = ports.iter().filter(|port| port.node == *node).map(|port| port.rate_bps).sum();
        let shares: Vec<f64> = rates.iter().map(|gbps| gbps * 1e11 / capacity.max(1) as f64).collect();
        line(&format!("into host {node}"), &shares)
    });
    Ok(lines.collect())
}

/// What congestion control made of the flows that were watched: lines of each quantity; nothing where none were.
fn control(results: &Results, grid: Grid) -> Result<Value> {
    let watched = control::watched(results, grid, FLOWS)?;
    let lines_of = |quantity: Quantity| -> Vec<Value> {
        if !watched.has(quantity) {
            return Vec::new();
        }
        let name = |life: &Life| format!("flow {} ({})", life.flow, results.summary.group_name(life.group));
        watched.flows.iter().map(|(life, values)| line(&name(life), &values[quantity as usize])).collect()
    };
    let lines = Quantity::ALL.map(|quantity| (quantity.name().to_owned(), Value::Array(lines_of(quantity))));
    Ok(Value::Object(lines.into_iter().collect()))
}

fn jain(results: &Results, grid: Grid) -> Result<Vec<Value>> {
    if !is_recorded(results) || results.lives.len() < 2 {
        return Ok(Vec::new());
    }
    let groups = results.groups();
    let mut lines = vec![line("all flows", &series::fairness(results, grid, |_| true)?)];
    if groups.len() > 1 {
        for (number, name) in groups {
            lines.push(line(name, &series::fairness(results, grid, |life| life.group == number)?));
        }
    }
    Ok(lines)
}

/// The ports that PFC paused, the longest-paused first: where the pause took effect, for how long, and as a share of the
/// time that flows were sending.
///
/// # Errors
/// If `ports.csv` cannot be read.
pub fn pauses(results: &Results) -> Result<Vec<Value>> {
    let mut paused: Vec<PortRow> = ports(results)?.into_iter().filter(|port| port.paused_ns > 0).collect();
    paused.sort_by_key(|port| (Reverse(port.paused_ns), port.node, port.port));
    let span = results.last_end_ns().saturating_sub(results.first_start_ns()).max(1);
    let kind = |is_switch: u8| if is_switch == 1 { "switch" } else { "host" };
    let row = |port: &PortRow| {
        json!({
            "link": format!("{} {} → {}", kind(port.is_switch), port.node, port.peer),
            "us": short(port.paused_ns as f64 / 1e3),
            "share": short((port.paused_ns as f64 / span as f64).min(1.0)),
        })
    };
    Ok(paused.iter().map(row).collect())
}
