// SPDX-License-Identifier: GPL-2.0-only
//! The metrics of a run: one table says of each what it is called, how it is reckoned, how tables head and write it, and what a
//! run has to record for it. They are the rows of `sweep.csv`.

use std::iter;

use anyhow::Result;
use hpcc_formats::results::Summary;
use hpcc_measures::results::Results;
use hpcc_measures::stats::{self, FctStats, SIZE_BOUNDS, percentile};
use hpcc_measures::{series, window};

use super::growth::growth_ns;
use super::report::Series;
use super::run::Facts;
use crate::human;
use crate::jobs::{self, Totals as Jobs};

/// Heading of the metrics of small flows.
pub const SMALL: &str = "small flows";
/// Heading of the metrics of large flows.
pub const LARGE: &str = "large flows";

/// A metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name in `sweep.csv`, without brackets.
    pub name: &'static str,
    /// The flows or queue that it is of; empty where brackets say so.
    pub whose: &'static str,
    /// Its heading, with its unit.
    pub what: &'static str,
    style: Style,
    /// The records that it needs of a run.
    pub needs: Needs,
    /// The source of its value.
    pub of: Of,
}

/// How its value is written.
#[derive(Clone, Copy, Debug)]
enum Style {
    Count,
    TwoDigits,
    ThreeDigits,
    Index,
    Kilobytes,
    Microseconds,
}

/// The records that it needs of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Needs {
    /// No more than all runs record.
    Nothing,
    /// Lengths of queues in time.
    Queues,
    /// Lengths of queues in time, where only a part of the run is measured.
    QueuesOfPart,
    /// Goodput over time, where only a part of the run is measured and some flows are cut.
    GoodputOfPart,
    /// That all of the run is measured.
    WholeRun,
    /// And all flows.
    AllFlows,
}

/// The source of a value.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// The run; its name has no brackets.
    Run(fn(&Known<'_>) -> Option<f64>),
    /// All flows, or the flows of the group or the sizes in brackets.
    Flows(fn(&Set) -> Option<f64>),
    /// The flows of the group in brackets.
    Group(fn(&Set) -> Option<f64>),
}

/// Figures of a set of flows.
#[derive(Debug, Default)]
pub struct Set {
    flows: u64,
    /// Of them, those that had not finished, which figures leave out.
    left_out: u64,
    /// If some finished.
    stats: Option<FctStats>,
    /// Median and mean rate in Gb/s, and Jain's index, if some have a rate.
    goodput: Option<[f64; 3]>,
}

impl Set {
    fn of(stats: FctStats, rates: &[f64]) -> Set {
        let goodput = series::mean_and_jain(rates).map(|(mean, jain)| [percentile(rates, 50), mean, jain]);
        Set {
            flows: stats.flows + stats.left_out,
            left_out: stats.left_out,
            stats: (stats.flows > 0).then_some(stats),
            goodput,
        }
    }

    fn stat(&self, of: impl Fn(&FctStats) -> f64) -> Option<f64> {
        self.stats.as_ref().map(of)
    }

    fn rate(&self, place: usize) -> Option<f64> {
        self.goodput.map(|rates| rates[place]).filter(|rate| rate.is_finite())
    }
}

/// Figures of a run.
pub struct Known<'a> {
    results: &'a Results,
    summary: &'a Summary,
    facts: &'a Facts,
    all: Set,
    small: Set,
    large: Set,
    /// Percentiles 50, 95, 99 and 100 of the queue in the window, if queues are recorded.
    queue: Option<[f64; 4]>,
    /// How long the longest queue grew in that part.
    growth_ns: Option<f64>,
    /// PFC's pauses, and their length in ns.
    pauses: (u64, u64),
    /// How long ports were paused within the window, in ns.
    paused_ns: u64,
    /// Bytes that all flows delivered, unfinished ones too.
    payload: u64,
    jobs: Jobs,
}

impl Known<'_> {
    /// A figure that only the whole run has.
    fn whole(&self, figure: u64) -> Option<f64> {
        (!self.results.window.chosen).then_some(figure as f64)
    }

    /// Of the time in which flows sent.
    fn feedback_per_ms(&self) -> Option<f64> {
        let span_ns = self.results.window.span_ns();
        let is_known = !self.results.is_part() && span_ns > 0;
        is_known.then(|| self.summary.feedback_packets as f64 * 1e6 / span_ns as f64)
    }

    /// So many bytes, if frames had telemetry: of a controller of the user's own the command does not know what it reads.
    fn telemetry(&self, bytes: usize) -> Option<f64> {
        Some(if self.summary.telemetry_bytes > 0 { bytes as f64 } else { 0.0 })
    }

    /// Telemetry of each kB that all flows delivered.
    fn telemetry_per_kb(&self) -> Option<f64> {
        let is_known = !self.results.is_part() && self.payload > 0;
        is_known.then(|| self.summary.telemetry_bytes as f64 * 1e3 / self.payload as f64)
    }

    /// A percentile of the busiest queue; for a whole run, the summary's.
    fn end_of_queue(&self, place: usize) -> Option<f64> {
        let of_summary = [self.summary.queue_p99_bytes, self.summary.queue_max_bytes][place - 2];
        let recorded = self.queue_at(place);
        if self.results.window.chosen { recorded } else { Some(of_summary as f64) }
    }

    fn queue_at(&self, place: usize) -> Option<f64> {
        self.queue.map(|queue| queue[place])
    }

    /// Share of the time of all ports, in percent.
    fn paused(&self) -> f64 {
        let time = self.facts.ports as f64 * self.results.window.span_ns() as f64;
        if time > 0.0 { 100.0 * self.paused_ns as f64 / time } else { 0.0 }
    }
}

const fn flows(name: &'static str, what: &'static str, style: Style, of: fn(&Set) -> Option<f64>) -> Metric {
    Metric { name, whose: "all flows", what, style, needs: Needs::Nothing, of: Of::Flows(of) }
}

const fn group(name: &'static str, what: &'static str, style: Style, of: fn(&Set) -> Option<f64>) -> Metric {
    Metric { name, whose: "", what, style, needs: Needs::GoodputOfPart, of: Of::Group(of) }
}

const fn run(
    name: &'static str,
    (whose, what): (&'static str, &'static str),
    style: Style,
    needs: Needs,
    of: fn(&Known<'_>) -> Option<f64>,
) -> Metric {
    Metric { name, whose, what, style, needs, of: Of::Run(of) }
}

use Needs::{AllFlows, GoodputOfPart, Nothing, Queues, QueuesOfPart, WholeRun};
use Style::{Count, Index, Kilobytes, Microseconds, ThreeDigits, TwoDigits};

/// Heading of the metrics of the busiest queue.
const QUEUE: &str = "busiest queue";

/// All metrics, in the order of `sweep.csv`, in which those with brackets come before the last.
pub const METRICS: &[Metric] = &[
    flows("flows", "flows", Count, |set| Some(set.flows as f64)),
    flows("flows_unfinished", "unfinished", Count, |set| Some(set.left_out as f64)),
    flows("slowdown_mean", "slowdown mean", TwoDigits, |set| set.stat(|stats| stats.slowdown_mean)),
    flows("slowdown_p50", "slowdown p50", TwoDigits, |set| set.stat(|stats| stats.slowdown_p50)),
    flows("slowdown_p95", "slowdown p95", TwoDigits, |set| set.stat(|stats| stats.slowdown_p95)),
    flows("slowdown_p99", "slowdown p99", TwoDigits, |set| set.stat(|stats| stats.slowdown_p99)),
    flows("fct_p50_ns", "FCT p50 (us)", Microseconds, |set| set.stat(|stats| stats.fct_p50_ns as f64)),
    flows("fct_p99_ns", "FCT p99 (us)", Microseconds, |set| set.stat(|stats| stats.fct_p99_ns as f64)),
    run("flows_small_unfinished", (SMALL, "unfinished"), Count, Nothing, |k| Some(k.small.left_out as f64)),
    run("flows_large_unfinished", (LARGE, "unfinished"), Count, Nothing, |k| Some(k.large.left_out as f64)),
    run("slowdown_small_mean", (SMALL, "slowdown mean"), TwoDigits, Nothing, |k| k.small.stat(|s| s.slowdown_mean)),
    run("slowdown_small_p50", (SMALL, "slowdown p50"), TwoDigits, Nothing, |k| k.small.stat(|s| s.slowdown_p50)),
    run("slowdown_small_p95", (SMALL, "slowdown p95"), TwoDigits, Nothing, |k| k.small.stat(|s| s.slowdown_p95)),
    run("slowdown_small_p99", (SMALL, "slowdown p99"), TwoDigits, Nothing, |k| k.small.stat(|s| s.slowdown_p99)),
    run("slowdown_large_mean", (LARGE, "slowdown mean"), TwoDigits, Nothing, |k| k.large.stat(|s| s.slowdown_mean)),
    run("slowdown_large_p50", (LARGE, "slowdown p50"), TwoDigits, Nothing, |k| k.large.stat(|s| s.slowdown_p50)),
    run("slowdown_large_p95", (LARGE, "slowdown p95"), TwoDigits, Nothing, |k| k.large.stat(|s| s.slowdown_p95)),
    run("slowdown_large_p99", (LARGE, "slowdown p99"), TwoDigits, Nothing, |k| k.large.stat(|s| s.slowdown_p99)),
    run("goodput_large_p50_gbps", (LARGE, "Gb/s, median"), TwoDigits, GoodputOfPart, |k| k.large.rate(0)),
    run("goodput_large_mean_gbps", (LARGE, "Gb/s, mean"), TwoDigits, GoodputOfPart, |k| k.large.rate(1)),
    run("goodput_large_jain", (LARGE, "Jain's index"), Index, GoodputOfPart, |k| k.large.rate(2)),
    run("queue_p50_bytes", (QUEUE, "p50 (kB)"), Kilobytes, Queues, |k| k.queue_at(0)),
    run("queue_p95_bytes", (QUEUE, "p95 (kB)"), Kilobytes, Queues, |k| k.queue_at(1)),
    run("queue_p99_bytes", (QUEUE, "p99 (kB)"), Kilobytes, QueuesOfPart, |k| k.end_of_queue(2)),
    run("queue_max_bytes", (QUEUE, "max (kB)"), Kilobytes, QueuesOfPart, |k| k.end_of_queue(3)),
    run("pfc_pauses", ("PFC", "pauses"), Count, Nothing, |k| Some(k.pauses.0 as f64)),
    run("pfc_pause_ns", ("PFC", "paused (us)"), Microseconds, Nothing, |k| Some(k.pauses.1 as f64)),
    run("pfc_paused_percent", ("PFC, paused", "of all time (%)"), ThreeDigits, Nothing, |k| Some(k.paused())),
    run("drops", ("packets", "dropped"), Count, WholeRun, |k| k.whole(k.summary.dropped())),
    run("resent_packets", ("packets", "sent again"), Count, WholeRun, |k| k.whole(k.summary.resent_packets)),
    run("telemetry_bytes", ("telemetry", "bytes"), Count, WholeRun, |k| k.whole(k.summary.telemetry_bytes)),
    run("feedback_packets", ("feedback", "packets"), Count, WholeRun, |k| k.whole(k.summary.feedback_packets)),
    run("probes", ("telemetry", "probes"), Count, WholeRun, |k| k.whole(k.summary.probes)),
    run("telemetry_sender_bytes", ("telemetry", "B from sender"), Count, Nothing, |k| {
        k.telemetry(k.facts.sender_bytes)
    }),
    run("telemetry_hop_bytes", ("telemetry", "B from a switch"), Count, Nothing, |k| k.telemetry(k.facts.hop_bytes)),
    run("feedback_per_ms", ("feedback", "packets per ms"), Count, AllFlows, |k| k.feedback_per_ms()),
    run("telemetry_per_kb", ("telemetry", "B per kB"), ThreeDigits, AllFlows, |k| k.telemetry_per_kb()),
    run("job_time_ns", ("longest job", "time (us)"), Microseconds, WholeRun, |k| k.jobs.time_ns),
    run("busbw_gbytes", ("collectives", "busbw (GB/s)"), TwoDigits, WholeRun, |k| k.jobs.busbw),
    group("goodput_p50_gbps", "Gb/s, median", TwoDigits, |set| set.rate(0)),
    group("goodput_mean_gbps", "Gb/s, mean", TwoDigits, |set| set.rate(1)),
    group("goodput_jain", "Jain's index", Index, |set| set.rate(2)),
    run("queue_growth_ns", ("longest queue", "grew for (us)"), Microseconds, Queues, |k| k.growth_ns),
];

impl Metric {
    /// The metric of a name, whatever its brackets.
    pub fn of(name: &str) -> Option<&'static Metric> {
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// The metric that says how many flows one leaves out because they had not finished, if it is of flows that have: of the same
    /// brackets.
    pub fn left_out(name: &str) -> Option<String> {
        let brackets = name.find('[').map_or("", |at| &name[at..]);
        let of = [("slowdown_small_", "_small"), ("slowdown_large_", "_large"), ("slowdown_", ""), ("fct_", "")];
        let (_, whose) = of.into_iter().find(|(begin, _)| name.starts_with(begin))?;
        Some(format!("flows{whose}_unfinished{brackets}"))
    }

    /// Whether it is of queues, or of what happens to packets, or of what they carry.
    fn is_of_packets(&self) -> bool {
        let of = ["queue_", "pfc_", "drops", "resent_", "telemetry_", "feedback_", "probes"];
        of.iter().any(|begin| self.name.starts_with(begin))
    }

    /// A value as tables have it.
    pub fn write(&self, value: f64) -> String {
        match self.style {
            // Small means over seeds need not be whole.
            Style::Count if value.fract() == 0.0 || value >= 100.0 => human::count(value.round() as u64),
            Style::TwoDigits => format!("{value:.2}"),
            Style::Count | Style::ThreeDigits => human::three_digits(value),
            Style::Index => format!("{value:.3}"),
            Style::Kilobytes | Style::Microseconds => human::three_digits(value / 1e3),
        }
    }

    fn of_run(&self, known: &Known<'_>) -> Option<f64> {
        match self.of {
            Of::Run(of) => of(known),
            Of::Flows(of) => of(&known.all),
            Of::Group(_) => None,
        }
    }

    fn of_set(&self, set: &Set) -> Option<f64> {
        match self.of {
            Of::Run(_) => None,
            Of::Flows(of) => of(set).filter(|_| set.flows > 0),
            Of::Group(of) => of(set),
        }
    }
}

/// Which flows are small, and which large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Flows up to this many bytes are small.
    pub small_up_to: u64,
    /// Flows of more bytes are large.
    pub large_above: u64,
}

impl Sizes {
    /// The first and the last bin, or the classes of a run's own table.
    pub fn new(bins: Option<&[u64]>) -> Sizes {
        let bounds = bounds(bins);
        Sizes { small_up_to: bounds[0], large_above: bounds[bounds.len() - 1] }
    }
}

/// Metrics by name. Brackets behind a name say which flows it is of: `[incast]` a group's, `[0..10000]` flows of more
/// bytes than the first number, up to the second.
pub type Metrics = Vec<(String, f64)>;

/// Every metric of a run with its value, in the order of the file. None depends on how fast the machine was. A metric
/// without flows or records is missing. Groups are there if several have flows, or if they are asked for.
///
/// # Errors
/// If a time series cannot be read.
pub fn metrics(
    results: &Results,
    facts: &Facts,
    sizes: Sizes,
    bins: Option<&[u64]>,
    of_groups: bool,
) -> Result<Metrics> {
    let groups = results.groups();
    let splits = stats::split(iter::once(results), &groups, &[bounds(bins), vec![u64::MAX]].concat())?;
    let by_size = splits[0].bin_stats();
    let large = series::flow_rates(results, |life| life.size > sizes.large_above)?;
    let has_queues = facts.records(Series::Queues) && !results.summary.is_fluid();
    let recorded = has_queues.then(|| window::queue(results)).transpose()?;
    let mut payload = 0u64;
    results.each_life(|life| payload = payload.saturating_add(life.bytes))?;
    let summary = &results.summary;
    let whole = (summary.pfc_pauses, summary.pfc_pause_ns);
    // Pauses may go on behind the last flow.
    let is_cut = results.window.chosen || (whole.1 > 0 && summary.busy_until_ns < summary.simulated_ns);
    let within = if is_cut { window::pauses(results)? } else { whole };
    let growth = if recorded.is_some() { growth_ns(&results.dir)? } else { None };
    let known = Known {
        results,
        summary,
        facts,
        all: Set::of(splits[0].all.stats(), &[]),
        small: Set::of(by_size[0], &[]),
        large: Set::of(by_size[by_size.len() - 1], &large),
        queue: recorded.map(|queue| [50, 95, 99, 100].map(|percent| queue.percentile(percent))),
        growth_ns: growth.map(|ns| ns as f64),
        pauses: if results.window.chosen { within } else { whole },
        paused_ns: within.1,
        payload,
        jobs: jobs::totals(&results.dir)?,
    };
    // A fluid run has measured nothing of packets: its zeros are no figures.
    let is_measured = |metric: &Metric| !(summary.is_fluid() && metric.is_of_packets());
    let of_run =
        |metric: &Metric| Some((metric.name.to_owned(), metric.of_run(&known).filter(|_| is_measured(metric))?));
    let (begin, last) = METRICS.split_at(METRICS.len() - 1);
    let mut metrics: Metrics = begin.iter().filter_map(of_run).collect();
    let sets = bin_names(bins).into_iter().zip(&by_size).map(|(of, stats)| (of, Set::of(*stats, &[])));
    let mut sets: Vec<(String, Set)> = sets.collect();
    for ((number, name), split) in groups.iter().zip(&splits[1..]).filter(|_| of_groups || groups.len() > 1) {
        let rates = series::flow_rates(results, |life| life.group == *number)?;
        sets.push((format!("[{name}]"), Set::of(split.all.stats(), &rates)));
    }
    for (of, set) in &sets {
        let of_set = |metric: &Metric| Some((format!("{}{of}", metric.name), metric.of_set(set)?));
        metrics.extend(METRICS.iter().filter_map(of_set));
    }
    metrics.extend(last.iter().filter_map(of_run));
    Ok(metrics)
}

/// Upper bounds of the classes of size; by default those of a run's table.
fn bounds(bins: Option<&[u64]>) -> Vec<u64> {
    bins.unwrap_or(&SIZE_BOUNDS).to_vec()
}

/// Names of classes of size behind a metric; without bounds the classes of a run's table.
pub fn bin_names(bins: Option<&[u64]>) -> Vec<String> {
    let bounds = bounds(bins);
    let begins = iter::once(0).chain(bounds.iter().copied());
    let ends = bounds.iter().map(u64::to_string).chain([String::new()]);
    begins.zip(ends).map(|(above, end)| format!("[{above}..{end}]")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::columns::Column;
    use hpcc_formats::results::{FctRecord, UnfinishedFlow};
    use hpcc_measures::results::in_memory;
    use hpcc_measures::select::Selection;

    const FACTS: Facts = Facts { sender_bytes: 0, hop_bytes: 0, switch_ports: 0, ports: 0, records: [false; 3] };

    fn value(metrics: &Metrics, name: &str) -> Option<f64> {
        metrics.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    #[test]
    fn bins_and_groups_have_rows_of_their_own() {
        let flow = |group, size, fct_ns| FctRecord { group, size, fct_ns, ideal_ns: 10, ..FctRecord::default() };
        let summary = Summary { groups: vec!["a".into(), "b".into()], ..Summary::default() };
        let results = in_memory(summary, vec![flow(0, 500, 20), flow(0, 500, 40), flow(1, 2_000, 10)], Vec::new());
        let metrics = metrics(&results, &FACTS, Sizes::new(Some(&[1_000])), Some(&[1_000]), false).expect("metrics");
        for (name, expected) in [
            ("slowdown_mean[0..1000]", 3.0),
            ("slowdown_p99[1000..]", 1.0),
            ("flows[a]", 2.0),
            ("slowdown_p50[b]", 1.0),
            ("goodput_mean_gbps[b]", 1_600.0),
            ("fct_p50_ns", 20.0),
            ("fct_p99_ns[a]", 40.0),
            ("fct_p50_ns[1000..]", 10.0),
            ("slowdown_mean", 7.0 / 3.0),
            ("slowdown_small_p99", 4.0),
        ] {
            assert_eq!(value(&metrics, name), Some(expected), "{name}");
        }
        for (name, _) in &metrics {
            Column::parse(name, Some(&[1_000])).unwrap_or_else(|error| panic!("no column can have {name}: {error}"));
        }
    }

    /// Every figure of completion times has a metric beside it that says what is missing.
    #[test]
    fn what_figures_leave_out_is_known_of_each() {
        let flow = |group, size| FctRecord { group, size, fct_ns: 20, ideal_ns: 10, ..FctRecord::default() };
        let left = |group, size| UnfinishedFlow { group, size, ..UnfinishedFlow::default() };
        let summary = Summary { groups: vec!["a".into(), "b".into()], ..Summary::default() };
        let unfinished = vec![left(0, 500), left(1, 2_000), left(1, 2_000)];
        let results = in_memory(summary, vec![flow(0, 500), flow(0, 2_000)], unfinished);
        let metrics = metrics(&results, &FACTS, Sizes::new(Some(&[1_000])), Some(&[1_000]), false).expect("metrics");
        for (of, left_out) in [
            ("slowdown_p99", 3.0),
            ("fct_p50_ns", 3.0),
            ("slowdown_small_p99", 1.0),
            ("slowdown_large_mean", 2.0),
            ("slowdown_p50[a]", 1.0),
            ("fct_p99_ns[1000..]", 2.0),
        ] {
            let name = Metric::left_out(of).expect("a figure of flows that finished");
            assert!(value(&metrics, of).is_some(), "{of}");
            assert_eq!(value(&metrics, &name), Some(left_out), "{of}: {name}");
        }
        assert_eq!(
            ["flows[b]", "flows_unfinished[b]", "slowdown_p50[b]"].map(|name| value(&metrics, name)),
            [Some(2.0), Some(2.0), None]
        );
        assert_eq!(Metric::left_out("queue_p99_bytes"), None);
    }

    #[test]
    fn frames_without_telemetry_have_no_bytes_of_it() {
        let facts = Facts { sender_bytes: 2, hop_bytes: 8, ..FACTS };
        for (telemetry_bytes, expected) in [(0, [0.0, 0.0]), (168, [2.0, 8.0])] {
            let results = in_memory(Summary { telemetry_bytes, ..Summary::default() }, Vec::new(), Vec::new());
            let metrics = metrics(&results, &facts, Sizes::new(None), None, false).expect("metrics");
            let names = ["telemetry_sender_bytes", "telemetry_hop_bytes"];
            assert_eq!(names.map(|name| value(&metrics, name)), expected.map(Some));
        }
    }

    /// Nobody has measured queues, pauses or drops of a run without packets, whatever its scenario asks for.
    #[test]
    fn fluid_runs_have_no_figures_of_packets() {
        let names = |simulator: &str, records| {
            let flow = FctRecord { size: 1_000, fct_ns: 20, ideal_ns: 10, ..FctRecord::default() };
            let summary = Summary { simulator: simulator.into(), simulated_ns: 1_000, ..Summary::default() };
            let results = in_memory(summary, vec![flow], Vec::new());
            let facts = Facts { records, ..FACTS };
            let metrics = metrics(&results, &facts, Sizes::new(None), None, false).expect("metrics");
            metrics.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let (core, fluid) = (names("core", [false; 3]), names("fluid", [true; 3]));
        for name in ["queue_max_bytes", "pfc_pauses", "pfc_paused_percent", "drops", "resent_packets", "probes"] {
            let is_in = |names: &[String]| names.iter().any(|other| other == name);
            assert_eq!((is_in(&core), is_in(&fluid)), (true, false), "{name}");
        }
        assert!(fluid.contains(&"slowdown_p99".to_owned()), "{fluid:?}");
    }

    #[test]
    fn telemetry_is_spread_over_what_all_flows_delivered() {
        let flow =
            FctRecord { size: 1_000, start_ns: 2_000_000, fct_ns: 100_000, ideal_ns: 10, ..FctRecord::default() };
        let endless = UnfinishedFlow {
            flow: 1,
            group: 1,
            size: u64::MAX,
            start_ns: 2_050_000,
            acked_bytes: 3_000,
            ..UnfinishedFlow::default()
        };
        let summary = Summary {
            groups: vec!["a".into(), "b".into()],
            simulated_ns: 4_000_000,
            telemetry_bytes: 168,
            feedback_packets: 8,
            ..Summary::default()
        };
        let values = |groups: &[&str], names: &[&str], of_groups| {
            // The last one starts when the run has ended.
            let late = UnfinishedFlow { flow: 2, start_ns: 9_000_000, acked_bytes: 0, ..endless };
            let mut results = in_memory(summary.clone(), vec![flow], vec![endless, late]);
            let groups = groups.iter().map(ToString::to_string).collect();
            Selection { groups, ..Selection::default() }.apply(&mut results).expect("a group");
            let metrics = metrics(&results, &FACTS, Sizes::new(None), None, of_groups).expect("metrics");
            names.iter().map(|name| value(&metrics, name)).collect::<Vec<_>>()
        };
        let ratios = ["telemetry_per_kb", "feedback_per_ms"];
        assert_eq!(values(&[], &ratios, false), [Some(42.0), Some(4.0)]);
        // Nobody knows what part of it is a group's.
        assert_eq!(values(&["a"], &ratios, false), [None; 2]);
        // A group has metrics of its own where it is one of several, or where they are asked for.
        assert_eq!(values(&[], &["flows[a]", "goodput_large_jain"], false), [Some(1.0), Some(1.0)]);
        assert_eq!(values(&["a"], &["flows[a]"], false), [None]);
        assert_eq!(values(&["a"], &["flows[a]", "fct_p99_ns[a]"], true), [Some(1.0), Some(100_000.0)]);
    }
}
