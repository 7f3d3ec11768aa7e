// SPDX-License-Identifier: GPL-2.0-only
//! Time series of a run, brought onto a grid of equal steps: queues, goodput, Jain's index.

use std::collections::HashMap;

use anyhow::{Error, Result};
use hpcc_model::memory::{self, Budget};
use hpcc_model::results::{goodput_csv, queue_csv};

use crate::results::{Life, Results, Window};
use crate::stats::jain;

/// A node and its port.
pub type Port = (u32, u32);

/// So many rows at a time take their memory.
const MANY_ROWS: u64 = 1 << 20;

/// Bytes of a step in sums, and in what is made of them.
const PER_STEP: u64 = 32;

/// Equal steps of simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Begin of the first step, in ns.
    pub origin_ns: u64,
    /// Length of a step, in ns; at least 1.
    pub step_ns: u64,
    /// How many there are; at least 1.
    pub steps: usize,
}

impl Grid {
    /// At most `most` steps from `origin_ns` on that cover `span_ns`, none shorter than `least_ns`.
    pub fn new(origin_ns: u64, span_ns: u64, least_ns: u64, most: usize) -> Grid {
        let step_ns = span_ns.div_ceil(most.max(1) as u64).max(least_ns).max(1);
        Grid { origin_ns, step_ns, steps: (span_ns.div_ceil(step_ns) as usize).max(1) }
    }

    /// Steps of this length in a window, at least one.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn covering(window: Window, step_ns: u64) -> Result<Grid> {
        let step_ns = step_ns.max(1);
        let bytes = (window.span_ns() / step_ns).saturating_mul(PER_STEP);
        memory::refuse(bytes, &format!("a series in steps of {step_ns} ns")).map_err(Error::msg)?;
        Ok(Grid { origin_ns: window.from_ns, step_ns, steps: (window.span_ns() / step_ns).max(1) as usize })
    }

    /// Hands `add` each step that an interval overlaps with, and for how long, in ns.
    pub fn overlaps(&self, from_ns: u64, until_ns: u64, mut add: impl FnMut(usize, u64)) {
        let end = self.origin_ns + self.step_ns * self.steps as u64;
        let (mut from, until) = (from_ns.max(self.origin_ns), until_ns.min(end));
        while from < until {
            let step = (from - self.origin_ns) / self.step_ns;
            let next = (self.origin_ns + (step + 1) * self.step_ns).min(until);
            add(step as usize, next - from);
            from = next;
        }
    }
}

/// Bytes of a flow that were acknowledged in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// From when to when it lived.
    pub life: Life,
    /// Begin, in ns.
    pub from_ns: u64,
    /// End, in ns; later than the begin.
    pub until_ns: u64,
    /// Payload, in bytes.
    pub bytes: u64,
}

impl Delivery {
    fn bytes_per_ns(&self) -> f64 {
        self.bytes as f64 / (self.until_ns - self.from_ns) as f64
    }
}

/// Hands `see` the deliveries of each flow that sends in the window, interval by interval, as in `goodput.csv`: flow by
/// flow, in the order in which they end. Rows wait in memory until their flow does.
///
/// # Errors
/// If a file cannot be read.
pub fn deliveries(results: &Results, mut see: impl FnMut(&Delivery)) -> Result<()> {
    let mut rows = goodput_csv::rows(&results.dir.join("goodput.csv"))?.peekable();
    let mut waiting: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
    let budget = Budget::new().map_err(Error::msg)?;
    let (mut held, mut taken) = (0_u64, 0_u64);
    results.every_life(|life, counts| {
        while let Some(row) = rows.next_if(|row| row.as_ref().map_or(true, |row| row.time_ns <= life.end_ns)) {
            let row = row?;
            let points = waiting.entry(row.flow).or_default();
            match points.last_mut() {
                // A flow that ends at the time of a sample has two rows of it.
                Some((time_ns, bytes)) if *time_ns == row.time_ns => *bytes += row.bytes,
                _ => {
                    points.push((row.time_ns, row.bytes));
                    held += 1;
                }
            }
            if held > taken {
                budget.take(MANY_ROWS * PER_STEP, "rows of goodput.csv of flows that go on").map_err(Error::msg)?;
                taken += MANY_ROWS;
            }
        }
        let mut from_ns = life.start_ns;
        let rows = waiting.remove(&life.flow).unwrap_or_default();
        held -= rows.len() as u64;
        for (until_ns, bytes) in rows {
            if counts && until_ns > from_ns {
                see(&Delivery { life, from_ns, until_ns, bytes });
            }
            from_ns = until_ns;
        }
        Ok(())
    })
}

/// Rates of sums of flows over time.
pub struct Rates {
    grid: Grid,
    bits: Vec<Vec<f64>>,
}

impl Rates {
    /// So many sums, empty ones.
    pub fn new(grid: Grid, lines: usize) -> Rates {
        Rates { grid, bits: vec![vec![0.0; grid.steps]; lines] }
    }

    /// Adds a flow's delivery to the sum with this number, if there is one.
    pub fn add(&mut self, line: Option<usize>, delivery: &Delivery) {
        let Some(line) = line.and_then(|line| self.bits.get_mut(line)) else { return };
        let rate = delivery.bytes as f64 * 8.0 / (delivery.until_ns - delivery.from_ns) as f64;
        self.grid.overlaps(delivery.from_ns, delivery.until_ns, |step, ns| line[step] += rate * ns as f64);
    }

    /// Each in Gb/s.
    pub fn finish(self) -> Vec<Vec<f64>> {
        let step_ns = self.grid.step_ns as f64;
        self.bits.into_iter().map(|line| line.into_iter().map(|bits| bits / step_ns).collect()).collect()
    }
}

/// Rates of some sums of flows over time, in Gb/s: `line_of` says which line a flow belongs to, if any.
///
/// # Errors
/// If a file cannot be read.
pub fn rates(
    results: &Results,
    grid: Grid,
    lines: usize,
    line_of: impl Fn(&Life) -> Option<usize>,
) -> Result<Vec<Vec<f64>>> {
    let mut rates = Rates::new(grid, lines);
    deliveries(results, |delivery| rates.add(line_of(&delivery.life), delivery))?;
    Ok(rates.finish())
}

/// Jain's index of the rates of flows over time.
pub struct Fairness {
    grid: Grid,
    sums: Vec<RateSums>,
    /// A flow, its step, the bytes that it delivered in the step, and for how long it sent, in ns.
    open: Option<(u32, usize, f64, u64)>,
}

impl Fairness {
    /// Of no flow yet.
    pub fn new(grid: Grid) -> Fairness {
        Fairness { grid, sums: vec![RateSums::default(); grid.steps], open: None }
    }

    /// Adds a flow's delivery; deliveries of one flow come one after the other.
    pub fn add(&mut self, delivery: &Delivery) {
        let (flow, rate, grid) = (delivery.life.flow, delivery.bytes_per_ns(), self.grid);
        grid.overlaps(delivery.from_ns, delivery.until_ns, |step, ns| {
            if self.open.is_none_or(|open| (open.0, open.1) != (flow, step)) {
                self.close();
                self.open = Some((flow, step, 0.0, 0));
            }
            if let Some((_, _, bytes, time)) = &mut self.open {
                *bytes += rate * ns as f64;
                *time += ns;
            }
        });
    }

    fn close(&mut self) {
        if let Some((_, step, bytes, ns)) = self.open.take() {
            self.sums[step].add(bytes / ns.max(1) as f64);
        }
    }

    /// The index in each step; NaN where fewer than two flows send.
    pub fn finish(mut self) -> Vec<f64> {
        self.close();
        self.sums.iter().map(RateSums::jain).collect()
    }
}

/// Jain's index of the rates of all flows that send in a step; NaN where fewer than two do.
///
/// # Errors
/// If a file cannot be read.
pub fn fairness(results: &Results, grid: Grid, counts: impl Fn(&Life) -> bool) -> Result<Vec<f64>> {
    let mut fairness = Fairness::new(grid);
    deliveries(results, |delivery| {
        if counts(&delivery.life) {
            fairness.add(delivery);
        }
    })?;
    Ok(fairness.finish())
}

#[derive(Clone, Copy, Default)]
struct RateSums {
    flows: u32,
    sum: f64,
    squares: f64,
}

impl RateSums {
    fn add(&mut self, rate: f64) {
        self.flows += 1;
        self.sum += rate;
        self.squares += rate * rate;
    }

    fn jain(&self) -> f64 {
        if self.flows < 2 || self.squares <= 0.0 {
            return f64::NAN;
        }
        self.sum * self.sum / (f64::from(self.flows) * self.squares)
    }
}

/// The rate of each selected flow in the window, in Gb/s, over the time that it sends in it. A flow that the window
/// cuts needs `goodput.csv` to be known; without it, it is left out.
///
/// # Errors
/// If `goodput.csv` cannot be read.
pub fn flow_rates(results: &Results, counts: impl Fn(&Life) -> bool) -> Result<Vec<f64>> {
    let window = results.window;
    let is_whole = |life: &Life| !window.chosen || (life.start_ns >= window.from_ns && life.end_ns <= window.until_ns);
    let mut cut: HashMap<u32, (f64, u64)> = HashMap::new();
    if window.chosen {
        let grid = Grid { origin_ns: window.from_ns, step_ns: window.span_ns().max(1), steps: 1 };
        deliveries(results, |delivery| {
            if !counts(&delivery.life) || is_whole(&delivery.life) {
                return;
            }
            let rate = delivery.bytes_per_ns();
            grid.overlaps(delivery.from_ns, delivery.until_ns, |_, ns| {
                let (bytes, time) = cut.entry(delivery.life.flow).or_default();
                *bytes += rate * ns as f64;
                *time += ns;
            });
        })?;
    }
    let mut rates = Vec::new();
    results.each_life(|life| {
        if !counts(&life) {
            return;
        }
        if is_whole(&life) {
            let ns = life.end_ns.saturating_sub(life.start_ns);
            if ns > 0 {
                rates.push(life.bytes as f64 * 8.0 / ns as f64);
            }
        } else if let Some((bytes, ns)) = cut.get(&life.flow) {
            rates.push(bytes * 8.0 / *ns as f64);
        }
    })?;
    rates.sort_by(f64::total_cmp);
    Ok(rates)
}

/// Mean and Jain's index of some rates, if there are any.
pub fn mean_and_jain(rates: &[f64]) -> Option<(f64, f64)> {
    (!rates.is_empty()).then(|| (rates.iter().sum::<f64>() / rates.len() as f64, jain(rates)))
}

/// The longest queues of ports within a grid.
#[derive(Debug, Default)]
pub struct Queues {
    /// The ports with the longest queues, the longest first, and the longest that each had in every step, in bytes.
    pub lines: Vec<(Port, Vec<u64>)>,
    /// How long, in ns, the queue of the first of them had which length, ascending. It was empty otherwise.
    pub busiest: Vec<(u64, u64)>,
}

/// Reads the queues of switch ports.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queues(results: &Results, grid: Grid, ports: usize) -> Result<Queues> {
    let file = results.dir.join("queue.csv");
    let end = grid.origin_ns + grid.step_ns * grid.steps as u64;
    let mut longest: HashMap<Port, u64> = HashMap::new();
    for row in queue_csv::rows(&file)? {
        let row = row?;
        let bytes = longest.entry((row.node, row.port)).or_default();
        if row.time_ns <= grid.origin_ns {
            // The queue when the grid begins.
            *bytes = row.qlen_bytes;
        } else if row.time_ns < end {
            *bytes = row.qlen_bytes.max(*bytes);
        }
    }
    let mut order: Vec<(Port, u64)> = longest.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    order.sort_by_key(|(port, bytes)| (std::cmp::Reverse(*bytes), *port));
    let chosen: Vec<Port> = order.iter().map(|(port, _)| *port).take(ports).collect();

    let mut lines = vec![vec![0; grid.steps]; chosen.len()];
    let mut busiest = HashMap::<u64, u64>::new();
    let mut add = |port: Port, (since, bytes): (u64, u64), until: u64| {
        let ns = until.min(end).saturating_sub(since.max(grid.origin_ns));
        if bytes == 0 || ns == 0 {
            return;
        }
        let Some(line) = chosen.iter().position(|one| *one == port) else { return };
        if line == 0 {
            *busiest.entry(bytes).or_default() += ns;
        }
        grid.overlaps(since, until, |step, _| lines[line][step] = bytes.max(lines[line][step]));
    };
    let mut last: HashMap<Port, (u64, u64)> = HashMap::new();
    for row in queue_csv::rows(&file)? {
        let row = row?;
        if let Some(state) = last.insert((row.node, row.port), (row.time_ns, row.qlen_bytes)) {
            add((row.node, row.port), state, row.time_ns);
        }
    }
    for (port, state) in last {
        add(port, state, end);
    }
    let mut busiest: Vec<(u64, u64)> = busiest.into_iter().collect();
    busiest.sort_unstable();
    Ok(Queues { lines: chosen.into_iter().zip(lines).collect(), busiest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::in_memory;
    use approx::assert_abs_diff_eq;
    use hpcc_core::units::{BitRate, Nanos};
    use hpcc_model::results::{FctRecord, ResultWriter, RowPlace, Summary, Versions};

    /// Two flows of 1,000 bytes: one from 1,000 to 2,000 ns, of which the last 100 come at the time of a sample, one from 1,000
    /// to 3,000.
    fn run() -> (tempfile::TempDir, Results) {
        let root = tempfile::tempdir().expect("folder");
        let dir = root.path().join("out");
        let mut writer = ResultWriter::create(&dir).expect("create");
        let queue = writer.add_queue(9, 1);
        writer.queue_point(Nanos(1_200), queue, 500);
        writer.queue_point(Nanos(1_700), queue, 0);
        for (flow, fct_ns) in [(0, 1_000), (1, 2_000)] {
            writer.flow_finished(&FctRecord {
                flow,
                dst: 2,
                size: 1_000,
                start_ns: 1_000,
                fct_ns,
                ideal_ns: 500,
                ..FctRecord::default()
            });
        }
        let samples = [(1_500, 0, 500), (1_500, 1, 250), (2_000, 0, 400), (2_000, 1, 250)];
        for (time, flow, bytes) in samples.into_iter().chain([(2_000, 0, 100), (3_000, 1, 500)]) {
            writer.goodput(RowPlace::of_sample(time, flow), Nanos(time), flow, BitRate(0), bytes);
        }
        let versions = Versions { hpcc: "0.1.0".into(), ns3: "3.37".into() };
        writer.finish(&Summary { versions, flows_total: 2, flows_finished: 2, ..Summary::default() }).expect("finish");
        let results = Results::load(&dir).expect("own results");
        (root, results)
    }

    #[test]
    fn a_grid_covers_the_span() {
        assert_eq!(Grid::new(5, 1_000, 1, 10), Grid { origin_ns: 5, step_ns: 100, steps: 10 });
        assert_eq!(Grid::new(5, 1_001, 300, 10).steps, 4);
        let mut found = Vec::new();
        Grid::new(100, 300, 100, 3).overlaps(50, 250, |step, ns| found.push((step, ns)));
        assert_eq!(found, [(0, 100), (1, 50)]);
    }

    #[test]
    fn every_byte_is_in_the_rates() {
        let (_root, results) = run();
        let grid = Grid::new(1_000, 2_000, 1, 4);
        let rates = rates(&results, grid, 1, |_| Some(0)).expect("rates");
        assert_eq!(rates[0], [12.0, 12.0, 4.0, 4.0]);
        let bytes: f64 = rates[0].iter().map(|rate| rate * grid.step_ns as f64 / 8.0).sum();
        assert_eq!(bytes, 2_000.0);
    }

    #[test]
    fn fairness_is_of_the_flows_that_send() {
        let (_root, results) = run();
        let index = fairness(&results, Grid::new(1_000, 2_000, 1, 2), |_| true).expect("index");
        assert_abs_diff_eq!(index[0], 0.9, epsilon = 1e-12);
        assert!(index[1].is_nan(), "one flow alone");
    }

    #[test]
    fn a_window_cuts_flows_and_their_rates() {
        let (_root, mut results) = run();
        assert_eq!(flow_rates(&results, |_| true).expect("rates"), [4.0, 8.0]);
        crate::select::Selection { warm_up: Some(1_000), ..Default::default() }.apply(&mut results).expect("a window");
        assert_eq!(flow_rates(&results, |_| true).expect("rates"), [4.0]);
    }

    #[test]
    fn queues_keep_their_longest_and_their_time() {
        let (_root, results) = run();
        let queues = queues(&results, Grid::new(1_000, 2_000, 1, 4), 3).expect("queues");
        assert_eq!(queues.lines, [((9, 1), vec![500, 500, 0, 0])]);
        assert_eq!(queues.busiest, [(500, 500)]);
    }

    #[test]
    fn flows_that_never_end_have_a_rate() {
        let endless = hpcc_model::results::UnfinishedFlow { start_ns: 100, acked_bytes: 1_000, ..Default::default() };
        let summary = Summary { simulated_ns: 1_100, ..Summary::default() };
        let results = in_memory(summary, Vec::new(), vec![endless]);
        assert_eq!(flow_rates(&results, |_| true).expect("rates"), [8.0]);
    }
}
