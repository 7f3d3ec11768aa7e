// SPDX-License-Identifier: GPL-2.0-only
//! What the page shows over time: of an entry's first run.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use hpcc_formats::results::ports_csv::{self, PortRow};
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::{self, Fairness, Grid, Queues, Rates};
use serde_json::{Value, json};

use super::entry::Entry;
use super::number::short;
use crate::control::{self, Quantity};

/// Ports, receivers and flows that are shown by themselves.
const PORTS: usize = 4;
const RECEIVERS: usize = 4;
const FLOWS: usize = 12;
/// The finest step, in ns: a sample of the queues is not taken more often.
const FINEST_NS: u64 = 100;

/// The steps of the time axes that all entries share.
#[derive(Clone, Copy)]
pub struct Steps {
    /// Of what holds until it changes.
    pub states: Grid,
    /// Of rates: no finer than these were recorded.
    pub rates: Grid,
}

impl Steps {
    /// At most so many steps.
    pub fn of(entries: &[Entry], most: usize) -> Steps {
        let runs = || entries.iter().map(Entry::first);
        let span_ns = runs().map(|run| run.window.span_ns()).max().unwrap_or(0);
        let recorded_ns = runs().map(Results::goodput_interval_ns).max().unwrap_or(1);
        let of = |least_ns| Grid::new(0, span_ns, least_ns, most);
        Steps { states: of(FINEST_NS), rates: of(recorded_ns) }
    }
}

/// Of a time axis, as much as a run needs.
fn grid_of(results: &Results, steps: Grid) -> Grid {
    let needed = results.window.span_ns().div_ceil(steps.step_ns) as usize;
    Grid { origin_ns: results.window.from_ns, steps: needed.max(1), ..steps }
}

/// The series of a run; empty lists where nothing was recorded.
///
/// # Errors
/// If a file of the run cannot be read.
pub fn series(results: &Results, steps: Steps) -> Result<(Value, Queues)> {
    let grid = grid_of(results, steps.states);
    let ports = ports(results)?;
    let queues = series::queues(results, grid, PORTS)?;
    let scale = |values: &[u64]| values.iter().map(|bytes| short(*bytes as f64 / 1e3)).collect::<Vec<f64>>();
    let queue: Vec<Value> =
        queues.lines.iter().map(|(port, bytes)| line(&port_name(&ports, *port), &scale(bytes))).collect();
    let goodput = if is_recorded(results) {
        Goodput::of(results, grid_of(results, steps.rates), &ports)?
    } else {
        Goodput::default()
    };
    let series = json!({
        "queue": queue,
        "goodput": goodput.groups,
        "flows": goodput.flows,
        "utilisation": goodput.utilisation,
        "jain": goodput.jain,
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

/// What is drawn of `goodput.csv`.
#[derive(Default)]
struct Goodput {
    groups: Vec<Value>,
    /// Of the flows that delivered most.
    flows: Vec<Value>,
    /// The share of a receiver's links that acknowledged payload takes, for those that receive most.
    utilisation: Vec<Value>,
    jain: Vec<Value>,
}

impl Goodput {
    /// Goes over the file once.
    fn of(results: &Results, grid: Grid, ports: &[PortRow]) -> Result<Goodput> {
        let groups = results.groups();
        let flows = results.first_lives(FLOWS, |life| Reverse(life.bytes))?;
        let receivers = if ports.is_empty() { Vec::new() } else { receivers(results)? };
        let mut by_group = Rates::new(grid, groups.len());
        let mut by_flow = Rates::new(grid, flows.len());
        let mut by_receiver = Rates::new(grid, receivers.len());
        let mut fairness = Fairness::new(grid);
        let mut fairness_in: Vec<Fairness> = groups.iter().map(|_| Fairness::new(grid)).collect();
        series::deliveries(results, |delivery| {
            let life = &delivery.life;
            let group = groups.iter().position(|(number, _)| *number == life.group);
            by_group.add(group, delivery);
            by_flow.add(flows.iter().position(|flow| flow.flow == life.flow), delivery);
            by_receiver.add(receivers.iter().position(|node| *node == life.dst), delivery);
            fairness.add(delivery);
            group.and_then(|group| fairness_in.get_mut(group)).into_iter().for_each(|group| group.add(delivery));
        })?;
        let name = |life: &Life| format!("flow {} ({})", life.flow, results.summary.group_name(life.group));
        let flow_lines = flows.iter().zip(by_flow.finish()).map(|(life, rates)| line(&name(life), &rates));
        let group_lines = groups.iter().zip(by_group.finish()).map(|((_, name), rates)| line(name, &rates));
        let mut jain = Vec::new();
        if results.lives() > 1 {
            jain.push(line("all flows", &fairness.finish()));
        }
        if results.lives() > 1 && groups.len() > 1 {
            jain.extend(groups.iter().zip(fairness_in).map(|((_, name), group)| line(name, &group.finish())));
        }
        Ok(Goodput {
            groups: group_lines.collect(),
            flows: flow_lines.collect(),
            utilisation: utilisation(&receivers, &by_receiver.finish(), ports),
            jain,
        })
    }
}

/// The hosts that receive most, the most first.
fn receivers(results: &Results) -> Result<Vec<u32>> {
    let mut received: BTreeMap<u32, u64> = BTreeMap::new();
    results.each_life(|life| *received.entry(life.dst).or_default() += life.bytes)?;
    let mut receivers: Vec<(u32, u64)> = received.into_iter().collect();
    receivers.sort_by_key(|(node, bytes)| (Reverse(*bytes), *node));
    Ok(receivers.into_iter().map(|(node, _)| node).take(RECEIVERS).collect())
}

/// Rates into hosts as percentages of their links' capacity.
fn utilisation(receivers: &[u32], rates: &[Vec<f64>], ports: &[PortRow]) -> Vec<Value> {
    let lines = receivers.iter().zip(rates).map(|(node, rates)| {
        let capacity: u64 = ports.iter().filter(|port| port.node == *node).map(|port| port.rate_bps).sum();
        let shares: Vec<f64> = rates.iter().map(|gbps| gbps * 1e11 / capacity.max(1) as f64).collect();
        line(&format!("into host {node}"), &shares)
    });
    lines.collect()
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
