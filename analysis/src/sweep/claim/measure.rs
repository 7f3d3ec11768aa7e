// SPDX-License-Identifier: GPL-2.0-only
//! What a claim is about, measured in one run.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use bit_set::BitSet;
use hpcc_formats::results::control_csv::{self, ControlRow};
use hpcc_formats::results::{FctRecord, queue_csv};
use hpcc_measures::results::{Life, Results};
use hpcc_measures::select::Selection;
use hpcc_measures::series::{self, Grid};
use hpcc_measures::spread::{Distribution, Spread};
use hpcc_measures::stats::jain;
use hpcc_measures::window;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::jobs;
use crate::sweep::report::Series;

/// A kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Completion time relative to that in an empty network.
    Slowdown,
    /// Completion time in microseconds.
    CompletionTime,
    /// Rate of a flow while it sends, in Gb/s.
    Goodput,
    /// Rate of all selected flows together over the whole window, in Gb/s.
    TotalGoodput,
    /// Jain's index of the flows' rates.
    Fairness,
    /// Queue of the busiest switch port, in kB, over time.
    Queue,
    /// Time from the begin of the window until no switch port has a queue above `level` any more, in microseconds.
    QueueSettles,
    /// Time from the begin of the window until a queue is as long as any gets in it, in microseconds.
    QueuePeaks,
    /// Time from the begin of the window until the selected flows together reach the rate `level`, in microseconds;
    /// all of the window if they do not.
    GoodputReaches,
    /// Time from the begin of the window until Jain's index of the selected flows reaches `level`, in microseconds; all of
    /// the window if it does not.
    FairnessReaches,
    /// U of the busiest link as the senders of the selected flows compute it, over their samples.
    Utilisation,
    /// The windows of the selected flows together, in kB, over time.
    TotalWindow,
    /// Part of the time for which PFC paused ports, over all ports, in percent.
    PausedShare,
    /// Time of the longest job, in microseconds.
    JobTime,
    /// Bus bandwidth of all collectives, by their time, in GB/s.
    BusBandwidth,
    /// Packets dropped by switches in the whole run.
    Drops,
    /// Flows that did not finish, in percent of all.
    Unfinished,
}

/// What is to be known of a kind of measurement.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The unit of its values.
    pub unit: &'static str,
    /// The time series that it is made from, if it is.
    series: Option<Series>,
    /// Whether it is of flows, so that some can be chosen.
    pub of_flows: bool,
    /// Whether it can be measured in a part of the run.
    pub of_part: bool,
    /// Whether percentiles of it can be asked for.
    pub percentiles: bool,
    /// What its `level` is, if it waits for one.
    pub waits_for: Option<Awaited>,
}

impl What {
    /// What is to be known of it.
    pub fn kind(self) -> Kind {
        use Series::{Control, Goodput, Queues};
        let of_network =
            Kind { unit: "", series: None, of_flows: false, of_part: true, percentiles: false, waits_for: None };
        let of_flows = Kind { of_flows: true, ..of_network };
        let of_each = Kind { percentiles: true, ..of_flows };
        let time = Kind { unit: "us", ..of_network };
        match self {
            What::Slowdown => of_each,
            What::CompletionTime => Kind { unit: "us", ..of_each },
            What::Goodput => Kind { unit: "Gb/s", ..of_each },
            What::TotalGoodput => Kind { unit: "Gb/s", series: Some(Goodput), ..of_flows },
            What::Fairness => of_flows,
            What::Queue => Kind { unit: "kB", series: Some(Queues), percentiles: true, ..of_network },
            What::QueueSettles => Kind { series: Some(Queues), waits_for: Some(Awaited::Queue), ..time },
            What::QueuePeaks => Kind { series: Some(Queues), ..time },
            What::GoodputReaches => {
                Kind { series: Some(Goodput), of_flows: true, waits_for: Some(Awaited::Rate), ..time }
            }
            What::FairnessReaches => {
                Kind { series: Some(Goodput), of_flows: true, waits_for: Some(Awaited::Index), ..time }
            }
            What::Utilisation => Kind { series: Some(Control), ..of_each },
            What::TotalWindow => Kind { unit: "kB", series: Some(Control), ..of_each },
            What::PausedShare => Kind { unit: "%", ..of_network },
            What::JobTime => Kind { of_part: false, ..time },
            What::BusBandwidth => Kind { unit: "GB/s", of_part: false, ..of_network },
            What::Drops => Kind { of_part: false, ..of_network },
            What::Unfinished => Kind { unit: "%", ..of_flows },
        }
    }
}

/// What a measure can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A short queue.
    Queue,
    /// A rate.
    Rate,
    /// Jain's index.
    Index,
}

/// A measurement.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its kind.
    pub what: What,
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
        let of_rates = matches!(self.what, What::Goodput | What::Fairness);
        // Only this series says what a cut flow delivered.
        self.what.kind().series.or((of_rates && cuts).then_some(Series::Goodput))
    }

    /// Its value in a run.
    ///
    /// # Errors
    /// If the run has nothing to measure, or a time series cannot be read.
    pub fn value(&self, results: &Results) -> Result<f64> {
        let results = results.selected(&self.selection)?;
        match self.what {
            What::Slowdown => self.of_flows(&results, FctRecord::slowdown),
            What::CompletionTime => self.of_flows(&results, |flow| flow.fct_ns as f64 / 1e3),
            What::Goodput => self.statistic(self.rates(&results)?),
            What::Fairness => {
                let rates = self.rates(&results)?;
                ensure!(!rates.is_empty(), "no flow to measure");
                Ok(jain(&rates))
            }
            What::TotalGoodput => {
                Ok(self.total_rates(&results, results.window.span_ns())?.first().copied().unwrap_or(0.0))
            }
            What::Queue => Ok(window::queue(&results)?.percentile(self.percentile.unwrap_or(100)) / 1e3),
            What::QueuePeaks => queue_peaks(&results),
            What::QueueSettles => self.queue_settles(&results),
            What::GoodputReaches => self.goodput_reaches(&results),
            What::FairnessReaches => self.fairness_reaches(&results),
            What::Utilisation => {
                self.statistic(self.control(&results)?.iter().filter_map(|row| row.utilisation).collect())
            }
            What::TotalWindow => self.statistic(total_windows(&self.control(&results)?)),
            What::PausedShare => Ok(100.0 * window::paused_share(&results)?),
            What::JobTime => {
                let time = jobs::totals(&results.dir)?.time_ns.context("no job that is over")?;
                Ok(time / 1e3)
            }
            What::BusBandwidth => jobs::totals(&results.dir)?.busbw.context("no collective that is over"),
            What::Drops => Ok(results.summary.dropped() as f64),
            What::Unfinished => {
                let (mut lost, mut all) = (0u64, 0u64);
                results.each_unfinished(|flow| lost += u64::from(self.counts(flow.size)))?;
                results.each_flow(|flow| all += u64::from(self.counts(flow.size)))?;
                all += lost;
                Ok(100.0 * lost as f64 / all.max(1) as f64)
            }
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
    use hpcc_formats::results::{ResultWriter, RowPlace, Summary, Versions};
    use hpcc_measures::results::in_memory;

    fn measure(what: What) -> Measure {
        let selection = Selection::default();
        Measure { what, percentile: None, above: 0, up_to: u64::MAX, level: 0.0, selection }
    }

    #[test]
    fn sizes_and_percentiles_choose_flows() {
        let flow = |size, fct_ns| FctRecord { size, fct_ns, ideal_ns: 100, ..FctRecord::default() };
        let results = in_memory(Summary::default(), vec![flow(10, 200), flow(20, 400), flow(30, 900)], Vec::new());
        let all = measure(What::Slowdown);
        assert_eq!(all.value(&results).expect("mean"), 5.0);
        let small = Measure { above: 10, up_to: 20, ..measure(What::CompletionTime) };
        assert_eq!(small.value(&results).expect("one flow"), 0.4);
        let p95 = Measure { percentile: Some(95), ..measure(What::Slowdown) };
        assert_eq!(p95.value(&results).expect("largest"), 9.0);
        let none = Measure { above: 30, ..measure(What::Slowdown) };
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
        let settles = |bytes| Measure { level: f64::from(bytes), ..measure(What::QueueSettles) };
        assert_eq!([100, 1_000, 9_000].map(|bytes| settles(bytes).value(&results).expect("queue")), [6.0, 4.0, 0.0]);
        let reaches = |rate| Measure { level: rate, ..measure(What::GoodputReaches) };
        assert_eq!([8.0, 16.0, 20.0].map(|rate| reaches(rate).value(&results).expect("rates")), [4.0, 6.0, 10.0]);
        assert_eq!(measure(What::TotalGoodput).value(&results).expect("rate"), 8.0);
        let alone = Measure { level: 0.9, ..measure(What::FairnessReaches) };
        assert_eq!(alone.value(&results).expect("one flow is fair to none"), 10.0);
        assert_eq!(measure(What::Utilisation).value(&results).expect("two samples"), 0.6);
        assert_eq!(measure(What::TotalWindow).value(&results).expect("three samples"), 2.0);
        let late = Selection { warm_up: Some(6_000), ..Selection::default() };
        let late = Measure { selection: late, ..measure(What::TotalGoodput) };
        assert_eq!(late.value(&results).expect("rate"), 16.0);
        assert_eq!(measure(What::QueuePeaks).value(&results).expect("peak"), 2.0);
        assert_eq!(measure(What::Queue).value(&results).expect("longest"), 9.0);
    }
}
