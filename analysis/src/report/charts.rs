// SPDX-License-Identifier: GPL-2.0-only
//! The charts of the page. All entries share the axes of each.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter;

use anyhow::Result;
use hpcc_measures::quantity::Quantity;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::{self, Fairness, Grid, Rates};
use hpcc_measures::stats::{self, Extents, FctStats, Split};
use hpcc_model::results::ports_csv::{self, PortRow};
use serde::Serialize;

use super::entry::Entry;
use crate::chart::{self, At, Axis, Chart, Line, Steps, Unit, Watched, cdf, few_in_bins, highest, of_bins};

/// Steps of the time axis of all entries together, and of one at least and at most.
const STEPS: usize = 9_000;
const LEAST_STEPS: usize = 300;
const MOST_STEPS: usize = 3_000;
/// Ports, receivers and flows that are shown by themselves.
const PORTS: usize = 4;
const RECEIVERS: usize = 4;
const FLOWS: usize = 12;

/// The selection of all flows.
const ALL: &str = "all flows";
const NO_FLOW: &str = "No selected flow has finished.";
const NO_QUEUE: &str = "No queue was recorded: monitor.queue_interval is off, or all queues stayed empty.";
const NO_GOODPUT: &str = "No goodput was recorded: monitor.goodput_interval is off.";
const NO_JAIN: &str = "No goodput was recorded: monitor.goodput_interval is off, or there is one flow only.";

/// A place on the page for a chart.
#[derive(Debug, Serialize)]
pub struct Slot {
    /// The section that it is in.
    section: &'static str,
    /// Its name, where one of several charts can be chosen.
    name: &'static str,
    /// Heading.
    title: &'static str,
    /// Whether it shows only the chosen flows; otherwise it shows the lines of the chosen group.
    by_selection: bool,
    /// Whether percentiles are marked on its vertical axis.
    percentiles: bool,
    /// The charts, one if there is nothing to choose; each is named by its title.
    charts: Vec<Chart>,
    /// The words where no line is shown.
    why: &'static str,
}

/// All of them, and what is to be said of bins of sizes.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn charts(entries: &[Entry]) -> Result<(Vec<Slot>, String)> {
    let (mut slots, note) = of_flows(entries)?;
    slots.extend(over_time(entries)?);
    let shortened = |charts: Vec<Chart>| charts.into_iter().map(Chart::shortened).collect();
    slots.iter_mut().for_each(|slot| slot.charts = shortened(std::mem::take(&mut slot.charts)));
    Ok((slots, note))
}

fn new(title: &str, x: Axis, at: At, y: Axis, lines: Vec<Line>) -> Chart {
    Chart { title: title.to_owned(), x, at, y, lines, stepped: false, points: false }
}

fn slot(section: &'static str, title: &'static str, chart: Chart, why: &'static str) -> Slot {
    Slot { section, name: "", title, by_selection: false, percentiles: false, charts: vec![chart], why }
}

fn line(entry: usize, name: &str, y: Vec<Option<f64>>) -> Line {
    Line { entry, of: Some(name.to_owned()), ..Line::of_variant(0, name, y) }
}

/// Heading, the percentile, and the value of a bin.
type Percentile = (&'static str, u64, fn(&FctStats) -> f64);

/// Slowdown by size, and distributions.
fn of_flows(entries: &[Entry]) -> Result<(Vec<Slot>, String)> {
    let mut all = Extents::default();
    entries.iter().flat_map(|entry| &entry.runs).for_each(|run| all.merge(run.extents()));
    let shown = &entries[0].shown;
    let bounds = all.sizes.bounds(shown.size_bins.as_deref(), entries.len() as u64);
    let possible = Quantity::Slowdown.possible();
    let fct_us = cdf::axis(all.times_ns.low / 1e3, all.times_ns.high / 1e3);
    let slowdowns = cdf::axis(all.slowdowns.low, all.slowdowns.high);
    let percentiles: [Percentile; 3] = [
        ("Median", 50, |stats| stats.slowdown_p50),
        ("95th percentile", 95, |stats| stats.slowdown_p95),
        ("99th percentile", 99, |stats| stats.slowdown_p99),
    ];
    let (mut by_size, mut by_fct, mut by_slowdown) = ([(); 3].map(|()| Vec::new()), Vec::new(), Vec::new());
    // Rounded, as a product may be a little less than the time that it stands for.
    let fct_ns: Vec<f64> = fct_us.iter().map(|us| (us * 1e6).round() / 1e3).collect();
    for (index, entry) in entries.iter().enumerate() {
        let splits = stats::split(entry.runs.iter(), &entry.groups(), &bounds)?;
        let of_run = |run| stats::split(iter::once(run), &entry.groups(), &bounds);
        let seeds: Vec<Vec<Split>> = entry.runs.iter().map(of_run).collect::<Result<_>>()?;
        let named = selection_names(entry).into_iter().zip(&splits).enumerate();
        for (place, (name, Split { all, .. })) in named.filter(|(_, (_, split))| !split.all.times_ns.is_empty()) {
            let name = name.as_str();
            let seeds: Vec<Vec<FctStats>> = seeds.iter().map(|splits| splits[place].bin_stats()).collect();
            for ((_, percent, of), lines) in percentiles.iter().zip(&mut by_size) {
                let values: Vec<_> = seeds.iter().map(|bins| of_bins(bins, *of)).collect();
                let pooled = Line::of_seeds(0, name, shown.spread.of(&values, possible));
                let few = few_in_bins(&seeds, *percent);
                lines.push(Line { entry: index, of: Some(name.to_owned()), few, ..pooled });
            }
            by_fct.push(line(index, name, cdf::share_up_to(&all.times_ns, &fct_ns)));
            by_slowdown.push(line(index, name, cdf::share_up_to(&all.slowdowns, &slowdowns)));
        }
    }
    let at = At::Each(bounds.iter().map(|bound| *bound as f64).collect());
    let sizes = || Axis::sizes("Flow size", 1.0..all.sizes.largest().max(1) as f64);
    let logarithmic = |title: &str| Axis { log: true, ..Axis::value(title, 1.0) };
    let mut slots: Vec<Slot> = Vec::new();
    for ((title, ..), lines) in percentiles.iter().zip(by_size) {
        let top = highest(&lines).max(1.0);
        let chart = new(title, sizes(), at.clone(), Axis::slowdown("Slowdown", top), lines);
        slots.push(slot("slowdown", title, Chart { points: true, ..chart }, NO_FLOW));
    }
    let share = || Axis::up_to("Fraction of flows", 1.02);
    let times = logarithmic("Completion time").unit(Unit::Micros);
    let fct = new("Completion time", times, At::Each(fct_us), share(), by_fct);
    slots.push(Slot { percentiles: true, ..slot("distributions", "Completion time", fct, NO_FLOW) });
    let slowdown = new("Slowdown", logarithmic("Slowdown"), At::Each(slowdowns), share(), by_slowdown);
    slots.push(Slot { percentiles: true, ..slot("distributions", "Slowdown", slowdown, NO_FLOW) });
    slots.iter_mut().for_each(|slot| slot.by_selection = true);
    Ok((slots, all.sizes.note(&bounds)))
}

/// The possible selections of an entry's flows.
pub fn selection_names(entry: &Entry) -> Vec<String> {
    iter::once(ALL).chain(entry.groups().into_iter().map(|(_, name)| name)).map(str::to_owned).collect()
}

/// The page's charts over time, of each entry's first run, and of the distribution of queue lengths.
fn over_time(entries: &[Entry]) -> Result<Vec<Slot>> {
    let most = (STEPS / entries.len().max(1)).clamp(LEAST_STEPS, MOST_STEPS);
    let steps = Steps::of(entries.iter().map(Entry::first), most);
    let mut queue = Vec::new();
    let mut of_rates = OfRates::default();
    let mut control: Vec<(Watched, Vec<Line>)> = Watched::ALL.map(|quantity| (quantity, Vec::new())).into();
    for (entry, run) in entries.iter().map(Entry::first).enumerate() {
        let ports = ports_csv::read(&run.dir.join("ports.csv"))?;
        let states = Steps::of_run(steps.states, run);
        let own = |line: Line| Line { entry, ..line };
        queue.extend(chart::queues(run, states, PORTS, &ports)?.into_iter().map(own));
        if chart::rates_of(run) {
            of_rates.add(entry, run, Steps::of_run(steps.rates, run), &ports)?;
        }
        for (quantity, lines) in chart::control(run, states, FLOWS)? {
            control[quantity as usize].1.extend(lines.into_iter().map(own));
        }
    }
    let after_ns = entries[0].first().window.after_ns;
    let x = |grid: Grid| {
        let end = (grid.step_ns * grid.steps as u64) as f64;
        Axis { title: format!("Time since {}", Axis::origin(after_ns)), ..Axis::time(end, after_ns, 1) }
    };
    let (states, rates) =
        ((x(steps.states), At::grid(steps.states, 1.0)), (x(steps.rates), At::grid(steps.rates, 1.0)));
    let value = |title: &str, lines: &[Line]| Axis::value(title, highest(lines));
    let over = |(x, at): &(Axis, At), title: &str, y: Axis, lines| new(title, x.clone(), at.clone(), y, lines);
    let slot = |title, chart, why| slot("time", title, chart, why);
    let longest = value("Longest queue", &queue).unit(Unit::Kilobytes);
    let queues = Chart { stepped: true, ..over(&states, "Queue length", longest, queue) };
    let rate = |title: &str, lines: Vec<Line>| over(&rates, title, value("Goodput (Gb/s)", &lines), lines);
    let goodput = vec![rate("sum of each group", of_rates.groups), rate("the largest flows", of_rates.flows)];
    let used = value("Utilisation (%)", &of_rates.utilisation);
    let used = over(&rates, "Utilisation", used, of_rates.utilisation);
    let jain = over(&rates, "Jain's index", Axis::up_to("1: all flows are equally fast", 1.04), of_rates.jain);
    let mut slots = vec![
        queue_above(entries)?,
        slot("Queue length", queues, NO_QUEUE),
        Slot { name: "goodput", charts: goodput, ..slot("Goodput", jain.clone(), NO_GOODPUT) },
        slot("Utilisation: payload acknowledged, of the receiver's links", used, NO_GOODPUT),
        slot("Jain's index of goodput", jain.clone(), NO_JAIN),
    ];
    control.retain(|(_, lines)| !lines.is_empty());
    if !control.is_empty() {
        let chart = |(quantity, lines): (Watched, Vec<Line>)| {
            let title = quantity.title();
            Chart { stepped: true, ..over(&states, title, value(title, &lines), lines) }
        };
        let why = "No flow of these runs was watched.";
        let charts = control.into_iter().map(chart).collect();
        slots.push(Slot { name: "control", charts, ..slot("Congestion control", jain.clone(), why) });
    }
    Ok(slots)
}

/// The share of time that queues were longer than so many bytes.
fn queue_above(entries: &[Entry]) -> Result<Slot> {
    let name = if entries.len() > 1 { "" } else { "busiest port" };
    let lengths = entries.iter().map(|entry| chart::lengths(entry.runs.iter())).collect::<Result<Vec<_>>>()?;
    let line = |entry, pooled| Line { entry, ..Line::of_seeds(0, name, pooled) };
    let chart = chart::queue_above(&lengths, entries[0].shown.spread, line);
    Ok(slot("distributions", "Queue of the busiest port", chart, NO_QUEUE))
}

/// The data of `goodput.csv`.
#[derive(Default)]
struct OfRates {
    groups: Vec<Line>,
    /// Of the flows that delivered most.
    flows: Vec<Line>,
    /// The share of a receiver's links that acknowledged payload takes, for those that receive most.
    utilisation: Vec<Line>,
    jain: Vec<Line>,
}

impl OfRates {
    /// Goes over the file of a run once.
    fn add(&mut self, entry: usize, results: &Results, grid: Grid, ports: &[PortRow]) -> Result<()> {
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
        let of_group = |name: &str, values: Vec<f64>| line(entry, name, chart::finite(values));
        let alone = |name: String, values: Vec<f64>| Line { of: None, ..of_group(&name, values) };
        let name = |life: &Life| chart::flow_name(results, life);
        self.groups.extend(groups.iter().zip(by_group.finish()).map(|((_, name), rates)| of_group(name, rates)));
        self.flows.extend(flows.iter().zip(by_flow.finish()).map(|(life, rates)| alone(name(life), rates)));
        if results.lives() > 1 {
            self.jain.push(of_group(ALL, fairness.finish()));
            let several = groups.iter().zip(fairness_in).filter(|_| groups.len() > 1);
            self.jain.extend(several.map(|((_, name), group)| of_group(name, group.finish())));
        }
        for (node, rates) in receivers.iter().zip(by_receiver.finish()) {
            // In percent of the capacity of its links.
            let capacity: u64 = ports.iter().filter(|port| port.node == *node).map(|port| port.rate_bps).sum();
            let shares = rates.iter().map(|gbps| gbps * 1e11 / capacity.max(1) as f64).collect();
            self.utilisation.push(alone(format!("into host {node}"), shares));
        }
        Ok(())
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
