// SPDX-License-Identifier: GPL-2.0-only
//! Everything that the page shows, as JSON.

use anyhow::Result;
use hpcc_formats::results::FctRecord;
use serde_json::{Value, json};

use super::entry::Entry;
use super::number::short;
use super::{cdf, config, flows, map, sizes, time};
use crate::series::{Grid, Queues};
use crate::stats::{FctStats, SIZE_CLASSES, size_bounds};
use crate::{human, table};

/// Steps of the time axis of all entries together, and of one at least and at most.
const STEPS: usize = 9_000;
const LEAST_STEPS: usize = 300;
const MOST_STEPS: usize = 3_000;
/// The finest step, in ns: a sample of the queues is not taken more often.
const FINEST_NS: u64 = 100;

/// The data of a page.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn data(entries: &[Entry]) -> Result<Value> {
    let all = || entries.iter().flat_map(Entry::flows);
    let axes = Axes {
        sizes: size_bounds(all().map(|flow| flow.size.max(1)).collect()),
        fct_us: axis_of(all().map(fct_us)),
        slowdown: axis_of(all().map(FctRecord::slowdown)),
    };
    let span_ns = entries.iter().map(|entry| entry.first().window.span_ns()).max().unwrap_or(0);
    let steps = (STEPS / entries.len().max(1)).clamp(LEAST_STEPS, MOST_STEPS);
    let step = Grid::new(0, span_ns, FINEST_NS, steps);
    let mut shown = Vec::new();
    let mut queues = Vec::new();
    for entry in entries {
        let (value, queue) = entry_data(entry, entries.len(), &axes, step)?;
        shown.push(value);
        queues.push(queue);
    }
    let queue_kb = add_queue_cdfs(entries, &queues, &mut shown);
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "sizes": axes.sizes,
        "fct_us": axes.fct_us,
        "slowdown": axes.slowdown,
        "queue_kb": queue_kb,
        "time": { "step_us": step.step_ns as f64 / 1e3, "steps": step.steps },
        "entries": shown,
    }))
}

/// What the entries share.
struct Axes {
    sizes: Vec<u64>,
    fct_us: Vec<f64>,
    slowdown: Vec<f64>,
}

fn fct_us(flow: &FctRecord) -> f64 {
    flow.fct_ns as f64 / 1e3
}

fn axis_of(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high), value| (value.min(low), value.max(high)));
    if high > 0.0 { cdf::axis(low, high) } else { Vec::new() }
}

fn entry_data(entry: &Entry, entries: usize, axes: &Axes, step: Grid) -> Result<(Value, Queues)> {
    let first = entry.first();
    let grid = Grid {
        origin_ns: first.window.from_ns,
        steps: (first.window.span_ns().div_ceil(step.step_ns) as usize).max(1),
        ..step
    };
    let (series, queues) = time::series(first, grid)?;
    let groups = first.groups();
    let mut selections: Vec<Value> = vec![selection("all flows", entry.flows().collect(), axes)];
    if groups.len() > 1 {
        for (number, name) in &groups {
            let flows = entry.flows().filter(|flow| flow.group == *number).collect();
            selections.push(selection(name, flows, axes));
        }
    }
    let totals: Vec<Value> =
        table::total_lines(&first.summary).into_iter().map(|(name, text)| json!([name, text])).collect();
    let value = json!({
        "name": entry.name,
        "folder": first.dir.display().to_string(),
        "seeds": entry.runs.iter().map(|run| run.summary.seed).collect::<Vec<_>>(),
        "finished": entry.runs.iter().map(|run| run.summary.flows_finished).sum::<u64>(),
        "total": entry.runs.iter().map(|run| run.summary.flows_total).sum::<u64>(),
        "window": first.window.chosen.then(|| [
            short(first.window.from_ns as f64 / 1e3),
            short(first.window.until_ns as f64 / 1e3),
        ]),
        "versions": format!("hpcc {}, ns-3 {}", first.summary.versions.hpcc, first.summary.versions.ns3),
        "groups": first.summary.groups,
        "rows": size_rows(entry),
        "totals": totals,
        "config": config::flat(&first.summary.scenario),
        "selections": selections,
        "time": series,
        "pauses": time::pauses(first)?,
        "map": map::map(first)?,
        "flows": flows::columns(entry, entries),
    });
    Ok((value, queues))
}

/// Distributions of some flows.
fn selection(name: &str, flows: Vec<&FctRecord>, axes: &Axes) -> Value {
    let sorted = |of: fn(&FctRecord) -> f64| {
        let mut values: Vec<f64> = flows.iter().map(|flow| of(flow)).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let share = |of: fn(&FctRecord) -> f64, axis: &[f64]| {
        if flows.is_empty() { Vec::new() } else { cdf::share_up_to(&sorted(of), axis) }
    };
    json!({
        "name": name,
        "bySize": sizes::percentiles(flows.iter().copied(), &axes.sizes),
        "fct": share(fct_us, &axes.fct_us),
        "slowdown": share(FctRecord::slowdown, &axes.slowdown),
    })
}

/// Adds the share of time that queues were longer than so many kB to each entry, and returns the axis. Of the busiest
/// port, for averages over ports say more of their number than of queues.
fn add_queue_cdfs(entries: &[Entry], queues: &[Queues], shown: &mut [Value]) -> Vec<f64> {
    let longest = queues.iter().filter_map(|queues| queues.busiest.last()).map(|(bytes, _)| *bytes).max().unwrap_or(0);
    if longest == 0 {
        return Vec::new();
    }
    let shortest =
        queues.iter().filter_map(|queues| queues.busiest.first()).map(|(bytes, _)| *bytes).min().unwrap_or(1);
    let axis = cdf::axis(shortest as f64 / 1.01, longest as f64);
    for ((entry, queues), value) in entries.iter().zip(queues).zip(shown) {
        let span = entry.first().window.span_ns().max(1) as f64;
        value["queueAbove"] = json!(cdf::share_above(&queues.busiest, span, &axis));
    }
    axis.into_iter().map(|bytes| short(bytes / 1e3)).collect()
}

/// The table of completion times: by size, of all, and by group.
fn size_rows(entry: &Entry) -> Vec<Value> {
    let row = |label: &str, stats: FctStats| {
        let values = [stats.slowdown_mean, stats.slowdown_p50, stats.slowdown_p95, stats.slowdown_p99];
        let mut cells = vec![json!(label), json!(human::count(stats.flows as u64))];
        cells.extend(values.map(|value| json!(format!("{value:.2}"))));
        cells.push(json!(format!("{:.1}", stats.fct_p99_ns as f64 / 1e3)));
        (stats.flows > 0).then_some(Value::Array(cells))
    };
    let classes = SIZE_CLASSES
        .iter()
        .map(|class| row(class.label, FctStats::of(entry.flows().filter(|flow| class.contains(flow.size)))));
    let all = std::iter::once(row("all", FctStats::of(entry.flows())));
    let groups = entry.first().groups();
    let by_group = groups
        .iter()
        .filter(|_| groups.len() > 1)
        .map(|(number, name)| row(name, FctStats::of(entry.flows().filter(|flow| flow.group == *number))));
    classes.chain(all).chain(by_group).flatten().collect()
}
