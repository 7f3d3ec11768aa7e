// SPDX-License-Identifier: GPL-2.0-only
//! What a claim is about, measured in one run.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use bit_set::BitSet;
use hpcc_measures::quantity::{Quantity, Series};
use hpcc_measures::results::{Life, Results};
use hpcc_measures::select::Selection;
use hpcc_measures::series::{self, Grid};
use hpcc_measures::spread::{Distribution, Spread};
use hpcc_measures::stats::jain;
use hpcc_measures::window;
use hpcc_model::results::control_csv::{self, ControlRow};
use hpcc_model::results::{FctRecord, queue_csv};

use crate::jobs;

/// A measurement.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its quantity.
    pub what: Quantity,
    /// The percentile, 1 to 100, if one is asked for.
    pub percentile: Option<u8>,
    /// Only flows of more bytes count.
    pub above: u64,
    /// Only flows of at most so many bytes count.
    pub up_to: u64,
    /// What is waited for: a queue in bytes, a rate in Gb/s, or Jain's index.
    pub level: f64,
    /// Groups and window.
    pub selection: Selection,
}

impl Measure {
    /// The time series that it is made from, if it is; of a sweep that measures only a part of the run, or all of it.
    pub fn series(&self, of_part: bool) -> Option<Series> {
        let Selection { warm_up, until, .. } = self.selection;
        let cuts = of_part || warm_up.is_some() || until.is_some();
        let of_rates = matches!(self.what, Quantity::Goodput | Quantity::Fairness);
        // Only this series says what a cut flow delivered.
        self.what.def().series.or((of_rates && cuts).then_some(Series::Goodput))
    }

    /// Its value in a run, in the unit that readers see.
    ///
    /// # Errors
    /// If the run has nothing to measure, or a time series cannot be read.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no claim names another quantity")]
    pub fn value(&self, results: &Results) -> Result<f64> {
        let results = results.selected(&self.selection)?;
        match self.what {
            Quantity::Slowdown => self.of_flows(&results, FctRecord::slowdown),
            Quantity::CompletionTime => self.of_flows(&results, |flow| flow.fct_ns as f64 / 1e3),
            Quantity::Goodput => self.statistic(self.rates(&results)?),
            Quantity::Fairness => {
                let rates = self.rates(&results)?;
                ensure!(!rates.is_empty(), "no flow to measure");
                Ok(jain(&rates))
            }
            Quantity::TotalGoodput => {
                Ok(self.total_rates(&results, results.window.span_ns())?.first().copied().unwrap_or(0.0))
            }
            Quantity::Queue => Ok(window::queue(&results)?.percentile(self.percentile.unwrap_or(100)) / 1e3),
            Quantity::QueuePeaks => queue_peaks(&results),
            Quantity::QueueSettles => self.queue_settles(&results),
            Quantity::GoodputReaches => self.goodput_reaches(&results),
            Quantity::FairnessReaches => self.fairness_reaches(&results),
            Quantity::Utilisation => {
                self.statistic(self.control(&results)?.iter().filter_map(|row| row.utilisation).collect())
            }
            Quantity::TotalWindow => self.statistic(total_windows(&self.control(&results)?)),
            Quantity::PausedShare => Ok(100.0 * window::paused_share(&results)?),
            Quantity::JobTime => {
                let time = jobs::totals(&results.dir)?.time_ns.context("no job that is over")?;
                Ok(time / 1e3)
            }
            Quantity::BusBandwidth => jobs::totals(&results.dir)?.busbw.context("no collective that is over"),
            Quantity::Drops => Ok(results.summary.dropped() as f64),
            Quantity::Marks => Ok(results.summary.marks as f64),
            Quantity::Cnps => Ok(results.summary.cnps.unwrap_or(0) as f64),
            Quantity::Pauses => Ok(window::pauses(&results)?.0 as f64),
            Quantity::Resent => Ok(results.summary.resent_packets as f64),
            Quantity::Unfinished => {
                let (mut lost, mut all) = (0u64, 0u64);
                results.each_unfinished(|flow| lost += u64::from(self.counts(flow.size)))?;
                results.each_flow(|flow| all += u64::from(self.counts(flow.size)))?;
                all += lost;
                Ok(100.0 * lost as f64 / all.max(1) as f64)
            }
            _ => bail!("nothing that a claim measures"),
        }
    }

    fn counts(&self, size: u64) -> bool {
        size > self.above && size <= self.up_to
    }

    fn rates(&self, results: &Results) -> Result<Vec<f64>> {
        series::flow_rates(results, |life| self.counts(life.size))
    }

    /// The percentile, or the mean, of what is measured of each flow that finished.
    fn of_flows(&self, results: &Results, of: impl Fn(&FctRecord) -> f64) -> Result<f64> {
        let mut values = Spread::of(results.finished());
        results.each_flow(|flow| {
            if self.counts(flow.size) {
                values.push(of(flow));
            }
        })?;
        self.figure(&values.sorted())
    }

    /// The percentile, or the mean.
    fn statistic(&self, values: Vec<f64>) -> Result<f64> {
        self.figure(&Spread::Each(values).sorted())
    }

    fn figure(&self, values: &Distribution) -> Result<f64> {
        ensure!(!values.is_empty(), "no flow to measure");
        Ok(self.percentile.map_or(values.mean(), |percent| values.percentile(percent)))
    }

    /// What the flows deliver together, in Gb/s, in each step of the window.
    fn total_rates(&self, results: &Results, step_ns: u64) -> Result<Vec<f64>> {
        let grid = Grid::covering(results.window, step_ns)?;
        let line_of = |life: &Life| self.counts(life.size).then_some(0);
        Ok(series::rates(results, grid, 1, line_of)?.swap_remove(0))
    }

    fn goodput_reaches(&self, results: &Results) -> Result<f64> {
        let step_ns = results.goodput_interval_ns();
        Ok(wait_us(&self.total_rates(results, step_ns)?, self.level, step_ns))
    }

    fn fairness_reaches(&self, results: &Results) -> Result<f64> {
        let step_ns = results.goodput_interval_ns();
        let grid = Grid::covering(results.window, step_ns)?;
        Ok(wait_us(&series::fairness(results, grid, |life| self.counts(life.size))?, self.level, step_ns))
    }

    /// What was sampled of the selected flows in the window.
    fn control(&self, results: &Results) -> Result<Vec<ControlRow>> {
        let mut chosen = BitSet::new();
        results.each_life(|life| {
            if self.counts(life.size) {
                chosen.insert(life.flow as usize);
            }
        })?;
        let window = results.window.from_ns..results.window.until_ns;
        let mut kept = Vec::new();
        for row in control_csv::rows(&results.dir.join("control.csv"))? {
            let row = row?;
            if window.contains(&row.time_ns) && chosen.contains(row.flow as usize) {
                kept.push(row);
            }
        }
        Ok(kept)
    }

    fn queue_settles(&self, results: &Results) -> Result<f64> {
        let (from, until) = (results.window.from_ns, results.window.until_ns);
        let mut long = BTreeSet::new();
        let mut settled = from;
        for row in queue_csv::rows(&results.dir.join("queue.csv"))? {
            let row = row?;
            if row.time_ns >= until {
                break;
            }
            let port = (row.node, row.port);
            if row.qlen_bytes as f64 > self.level {
                long.insert(port);
            } else if long.remove(&port) {
                settled = settled.max(row.time_ns);
            }
        }
        let end = if long.is_empty() { settled } else { until };
        Ok(end.saturating_sub(from) as f64 / 1e3)
    }
}

/// Time until a step has at least this value, in microseconds; if none has, the time of all steps.
fn wait_us(values: &[f64], level: f64, step_ns: u64) -> f64 {
    let steps = values.iter().position(|value| *value >= level).unwrap_or(values.len());
    steps as f64 * step_ns as f64 / 1e3
}

/// The sum of all windows at each time with samples, which come in its order, in kB.
fn total_windows(rows: &[ControlRow]) -> Vec<f64> {
    let sum = |rows: &[ControlRow]| rows.iter().map(|row| row.window_bytes as f64 / 1e3).sum();
    rows.chunk_by(|one, next| one.time_ns == next.time_ns).map(sum).collect()
}

fn queue_peaks(results: &Results) -> Result<f64> {
    let (from, until) = (results.window.from_ns, results.window.until_ns);
    let (mut longest, mut at) = (0, from);
    for row in queue_csv::rows(&results.dir.join("queue.csv"))? {
        let row = row?;
        if (from..until).contains(&row.time_ns) && row.qlen_bytes > longest {
            (longest, at) = (row.qlen_bytes, row.time_ns);
        }
    }
    Ok((at - from) as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::units::{BitRate, Nanos};
    use hpcc_measures::results::in_memory;
    use hpcc_model::results::{ResultWriter, RowPlace, Summary, Versions};

    fn measure(what: Quantity) -> Measure {
        let selection = Selection::default();
        Measure { what, percentile: None, above: 0, up_to: u64::MAX, level: 0.0, selection }
    }

    #[test]
    fn sizes_and_percentiles_choose_flows() {
        let flow = |size, fct_ns| FctRecord { size, fct_ns, ideal_ns: 100, ..FctRecord::default() };
        let results = in_memory(Summary::default(), vec![flow(10, 200), flow(20, 400), flow(30, 900)], Vec::new());
        let all = measure(Quantity::Slowdown);
        assert_eq!(all.value(&results).expect("mean"), 5.0);
        let small = Measure { above: 10, up_to: 20, ..measure(Quantity::CompletionTime) };
        assert_eq!(small.value(&results).expect("one flow"), 0.4);
        let p95 = Measure { percentile: Some(95), ..measure(Quantity::Slowdown) };
        assert_eq!(p95.value(&results).expect("largest"), 9.0);
        let none = Measure { above: 30, ..measure(Quantity::Slowdown) };
        assert!(none.value(&results).expect_err("no flow").to_string().contains("no flow"));
    }

    /// A flow of 10,000 bytes in 10 us: nothing in the first 4, and the rest evenly; a queue from 2 to 6 us.
    fn run() -> (tempfile::TempDir, Results) {
        let root = tempfile::tempdir().expect("folder");
        let dir = root.path().join("out");
        let mut writer = ResultWriter::create(&dir).expect("create");
        let queue = writer.add_queue(9, 1);
        for (time, bytes) in [(2_000, 9_000), (4_000, 500), (6_000, 0)] {
            writer.queue_point(Nanos(time), queue, bytes);
        }
        writer.flow_finished(&FctRecord { size: 10_000, fct_ns: 10_000, ideal_ns: 1_000, ..FctRecord::default() });
        for (time, bytes) in [(4_000, 0), (6_000, 2_000), (8_000, 4_000), (10_000, 4_000)] {
            writer.goodput(RowPlace::of_sample(time, 0), Nanos(time), 0, BitRate(0), bytes);
        }
        writer.begin_control();
        for (time_ns, window_bytes, utilisation) in
            [(1_000, 3_000, None), (3_000, 2_000, Some(0.5)), (5_000, 1_000, Some(0.7))]
        {
            let row = ControlRow { time_ns, rate_bps: 1, window_bytes, utilisation, ..ControlRow::default() };
            writer.control(&row);
        }
        let scenario = serde_json::json!({ "monitor": { "goodput_interval_ns": 2_000 } });
        let versions = Versions { hpcc: "0.1.0".into(), ns3: "3.37".into() };
        writer.finish(&Summary { versions, scenario, ..Summary::default() }).expect("finish");
        let results = Results::load(&dir).expect("own results");
        (root, results)
    }

    #[test]
    fn waits_end_when_queue_and_rate_say_so() {
        let (_root, results) = run();
        let settles = |bytes| Measure { level: f64::from(bytes), ..measure(Quantity::QueueSettles) };
        assert_eq!([100, 1_000, 9_000].map(|bytes| settles(bytes).value(&results).expect("queue")), [6.0, 4.0, 0.0]);
        let reaches = |rate| Measure { level: rate, ..measure(Quantity::GoodputReaches) };
        assert_eq!([8.0, 16.0, 20.0].map(|rate| reaches(rate).value(&results).expect("rates")), [4.0, 6.0, 10.0]);
        assert_eq!(measure(Quantity::TotalGoodput).value(&results).expect("rate"), 8.0);
        let alone = Measure { level: 0.9, ..measure(Quantity::FairnessReaches) };
        assert_eq!(alone.value(&results).expect("one flow is fair to none"), 10.0);
        assert_eq!(measure(Quantity::Utilisation).value(&results).expect("two samples"), 0.6);
        assert_eq!(measure(Quantity::TotalWindow).value(&results).expect("three samples"), 2.0);
        let late = Selection { warm_up: Some(6_000), ..Selection::default() };
        let late = Measure { selection: late, ..measure(Quantity::TotalGoodput) };
        assert_eq!(late.value(&results).expect("rate"), 16.0);
        assert_eq!(measure(Quantity::QueuePeaks).value(&results).expect("peak"), 2.0);
        assert_eq!(measure(Quantity::Queue).value(&results).expect("longest"), 9.0);
    }
}
