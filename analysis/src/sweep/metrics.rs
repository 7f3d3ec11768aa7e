// SPDX-License-Identifier: GPL-2.0-only
//! The metrics of a run: values of the table of [`quantity`](hpcc_measures::quantity). They are the rows of `sweep.csv`.

use std::iter;

use anyhow::Result;
use hpcc_measures::quantity::{Figure, METRICS, Metric, Of, Quantity, Series, Unit, Whose};
use hpcc_measures::results::Results;
use hpcc_measures::spread::{Distribution, Spread};
use hpcc_measures::stats::{self, SIZE_BOUNDS, Tally, jain};
use hpcc_measures::{series, window};
use hpcc_model::results::Summary;

use super::growth::growth_ns;
use super::run::Facts;
use crate::human;
use crate::jobs::{self, Totals as Jobs};

/// A set of flows.
struct Set<'a> {
    tally: &'a Tally,
    /// Rates in Gb/s, ascending.
    rates: Vec<f64>,
}

impl Set<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "others are not of flows")]
    fn value(&self, metric: &Metric) -> Option<f64> {
        let Tally { left_out, slowdowns, times_ns } = self.tally;
        match metric.quantity {
            Quantity::Flows => Some((slowdowns.len() + left_out) as f64),
            Quantity::FlowsUnfinished => Some(*left_out as f64),
            Quantity::Slowdown => figure(metric.figure, slowdowns),
            Quantity::CompletionTime => figure(metric.figure, times_ns).map(f64::floor),
            Quantity::Goodput => figure(metric.figure, &Spread::Each(self.rates.clone()).sorted()),
            Quantity::Fairness => Some(jain(&self.rates)).filter(|index| index.is_finite()),
            _ => None,
        }
    }
}

fn figure(figure: Figure, values: &Distribution) -> Option<f64> {
    let value = match figure {
        Figure::Mean | Figure::Value => values.mean(),
        Figure::Percentile(percent) => values.percentile(percent),
    };
    (!values.is_empty()).then_some(value)
}

/// Figures of a run.
struct Known<'a> {
    results: &'a Results,
    summary: &'a Summary,
    facts: &'a Facts,
    all: Set<'a>,
    small: Set<'a>,
    large: Set<'a>,
    /// The queue of the busiest port in the window, if queues are recorded.
    queue: Option<Distribution>,
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
    fn value(&self, metric: &Metric) -> Option<f64> {
        match metric.whose {
            Whose::Flows => self.all.value(metric),
            Whose::Small => self.small.value(metric),
            Whose::Large => self.large.value(metric),
            Whose::Group => None,
            Whose::Run => self.of_run(metric),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "others are of flows, or of claims")]
    fn of_run(&self, metric: &Metric) -> Option<f64> {
        let (summary, results) = (self.summary, self.results);
        let is_whole = !results.window.chosen;
        if metric.quantity.def().of == Of::Run && !is_whole {
            return None;
        }
        match metric.quantity {
            Quantity::Queue => self.queue_at(metric.figure),
            Quantity::QueueGrowth => self.growth_ns,
            Quantity::Pauses => Some(self.pauses.0 as f64),
            Quantity::PauseTime => Some(self.pauses.1 as f64),
            Quantity::PausedShare => Some(self.paused()),
            Quantity::Drops => Some(summary.dropped() as f64),
            Quantity::Resent => Some(summary.resent_packets as f64),
            Quantity::Telemetry => Some(summary.telemetry_bytes as f64),
            Quantity::Feedback => Some(summary.feedback_packets as f64),
            Quantity::Probes => Some(summary.probes as f64),
            Quantity::SenderBytes => self.telemetry(self.facts.sender_bytes),
            Quantity::HopBytes => self.telemetry(self.facts.hop_bytes),
            Quantity::FeedbackPerMs => self.per(summary.feedback_packets as f64 * 1e6, results.window.span_ns()),
            Quantity::TelemetryPerKb => self.per(summary.telemetry_bytes as f64 * 1e3, self.payload),
            Quantity::JobTime => self.jobs.time_ns,
            Quantity::BusBandwidth => self.jobs.busbw,
            _ => None,
        }
    }

    /// Known of all flows only.
    fn per(&self, value: f64, whole: u64) -> Option<f64> {
        (!self.results.is_part() && whole > 0).then(|| value / whole as f64)
    }

    /// So many bytes, if frames had telemetry: of a controller of the user's own the command does not know what it reads. Without
    /// flows there is no frame.
    fn telemetry(&self, bytes: usize) -> Option<f64> {
        (self.results.lives() > 0).then_some(if self.summary.telemetry_bytes > 0 { bytes as f64 } else { 0.0 })
    }

    /// Of a whole run, the summary has the last two.
    fn queue_at(&self, at: Figure) -> Option<f64> {
        match at {
            Figure::Percentile(99) if !self.results.window.chosen => Some(self.summary.queue_p99_bytes as f64),
            Figure::Percentile(100) if !self.results.window.chosen => Some(self.summary.queue_max_bytes as f64),
            Figure::Mean | Figure::Percentile(_) | Figure::Value => {
                self.queue.as_ref().and_then(|queue| figure(at, queue))
            }
        }
    }

    /// Share of the time of all ports, in percent.
    fn paused(&self) -> f64 {
        let time = self.facts.ports as f64 * self.results.window.span_ns() as f64;
        if time > 0.0 { 100.0 * self.paused_ns as f64 / time } else { 0.0 }
    }
}

/// A value of a metric as tables have it.
pub fn write(unit: Unit, value: f64) -> String {
    match unit {
        // Small means over seeds need not be whole.
        Unit::Count if value.fract() == 0.0 || value >= 100.0 => human::count(value.round() as u64),
        Unit::Ratio | Unit::Gbps | Unit::Gbytes => format!("{value:.2}"),
        Unit::Index => format!("{value:.3}"),
        Unit::Count | Unit::Small | Unit::Percent | Unit::Bytes | Unit::Nanos => {
            human::three_digits(value / unit.scale())
        }
    }
}

/// Whether it is of queues, or of what happens to packets, or of what they carry: a fluid run has measured nothing of it.
fn is_of_packets(metric: &Metric) -> bool {
    metric.whose == Whose::Run && !matches!(metric.quantity, Quantity::JobTime | Quantity::BusBandwidth)
}

/// Which flows are small, and which large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Flows up to this many bytes are small.
    pub small_up_to: u64,
    /// Flows of more bytes are large.
    pub large_above: u64,
}

impl Default for Sizes {
    /// The first and the last class of a run's own table.
    fn default() -> Sizes {
        Sizes { small_up_to: SIZE_BOUNDS[0], large_above: SIZE_BOUNDS[SIZE_BOUNDS.len() - 1] }
    }
}

/// Metrics by name. Brackets behind a name say which flows it is of: `[incast]` a group's, `[0..10000]` flows of more
/// bytes than the first number, up to the second.
pub type Metrics = Vec<(String, f64)>;

/// Every metric of a run with its value, in the order of the file. None depends on how fast the machine was. A metric
/// without flows or records is missing, but a number of flows is 0. Groups are there if there are several, or if they are
/// asked for.
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
    let groups = results.known_groups();
    let splits = stats::split(iter::once(results), &groups, &[bounds(bins), vec![u64::MAX]].concat())?;
    let sized = stats::split(iter::once(results), &[], &[sizes.small_up_to])?;
    let rest = stats::split(iter::once(results), &[], &[sizes.large_above, u64::MAX])?;
    let summary = &results.summary;
    let is_fluid = summary.is_fluid();
    let recorded = (facts.records(Series::Queues) && !is_fluid).then(|| window::queue(results)).transpose()?;
    let mut payload = 0u64;
    results.each_life(|life| payload = payload.saturating_add(life.bytes))?;
    let whole = (summary.pfc_pauses, summary.pfc_pause_ns);
    // Pauses may go on behind the last flow.
    let is_cut = results.window.chosen || (whole.1 > 0 && summary.busy_until_ns < summary.simulated_ns);
    let within = if is_cut { window::pauses(results)? } else { whole };
    let growth = if recorded.is_some() { growth_ns(&results.dir, results.queue_interval_ns())? } else { None };
    let without_rates = |tally| Set { tally, rates: Vec::new() };
    let large = series::flow_rates(results, |life| life.size > sizes.large_above)?;
    let known = Known {
        results,
        summary,
        facts,
        all: without_rates(&splits[0].all),
        small: without_rates(&sized[0].bins[0]),
        large: Set { tally: &rest[0].bins[1], rates: large },
        queue: recorded,
        growth_ns: growth.map(|ns| ns as f64),
        pauses: if results.window.chosen { within } else { whole },
        paused_ns: within.1,
        payload,
        jobs: jobs::totals(&results.dir)?,
    };
    let of_run = |metric: &Metric| {
        let value = known.value(metric).filter(|_| !(is_fluid && is_of_packets(metric)))?;
        Some((metric.name.to_owned(), value))
    };
    let (begin, last) = METRICS.split_at(METRICS.len() - 1);
    let mut metrics: Metrics = begin.iter().filter_map(of_run).collect();
    let mut sets: Vec<(String, Set<'_>)> =
        bin_names(bins).into_iter().zip(&splits[0].bins).map(|(of, tally)| (of, without_rates(tally))).collect();
    for ((number, name), split) in groups.iter().zip(&splits[1..]).filter(|_| of_groups || groups.len() > 1) {
        let rates = series::flow_rates(results, |life| life.group == *number)?;
        sets.push((format!("[{name}]"), Set { tally: &split.all, rates }));
    }
    for (of, set) in &sets {
        let has = |metric: &&Metric| match metric.whose {
            Whose::Flows | Whose::Group => true,
            Whose::Small | Whose::Large | Whose::Run => false,
        };
        let of_set = |metric: &Metric| Some((format!("{}{of}", metric.name), set.value(metric)?));
        metrics.extend(METRICS.iter().filter(has).filter_map(of_set));
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
    use hpcc_measures::results::in_memory;
    use hpcc_measures::select::Selection;
    use hpcc_model::results::{FctRecord, UnfinishedFlow};

    const FACTS: Facts = Facts { sender_bytes: 0, hop_bytes: 0, switch_ports: 0, ports: 0, records: [false; 3] };

    const SIZES: Sizes = Sizes { small_up_to: 1_000, large_above: 1_000 };

    fn value(metrics: &Metrics, name: &str) -> Option<f64> {
        metrics.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    #[test]
    fn bins_and_groups_have_rows_of_their_own() {
        let flow = |group, size, fct_ns| FctRecord { group, size, fct_ns, ideal_ns: 10, ..FctRecord::default() };
        let summary = Summary { groups: vec!["a".into(), "b".into()], ..Summary::default() };
        let results = in_memory(summary, vec![flow(0, 500, 20), flow(0, 500, 40), flow(1, 2_000, 10)], Vec::new());
        let metrics = metrics(&results, &FACTS, SIZES, Some(&[1_000]), false).expect("metrics");
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

    /// In a run without flows of a group or a size there are 0, not no value: a mean over seeds counts it.
    #[test]
    fn a_number_of_flows_is_0_where_there_are_none() {
        let flow = FctRecord { size: 500, fct_ns: 20, ideal_ns: 10, ..FctRecord::default() };
        let summary = Summary { groups: vec!["all".into(), "web".into()], ..Summary::default() };
        let mut results = in_memory(summary, vec![flow], Vec::new());
        let values = |results: &Results, of: &str| {
            let metrics = metrics(results, &FACTS, SIZES, Some(&[1_000]), false).expect("metrics");
            ["flows", "flows_unfinished", "slowdown_mean", "fct_p99_ns"]
                .map(|name| value(&metrics, &format!("{name}{of}")))
        };
        for of in ["[web]", "[1000..]"] {
            assert_eq!(values(&results, of), [Some(0.0), Some(0.0), None, None], "{of}");
        }
        assert_eq!(values(&results, "[all]"), [Some(1.0), Some(0.0), Some(2.0), Some(20.0)]);
        Selection { groups: vec!["all".into()], ..Selection::default() }.apply(&mut results).expect("a group");
        assert_eq!(values(&results, "[web]"), [None; 4], "nobody measures it");
    }

    /// A gap without flows is a part of the time.
    #[test]
    fn feedback_is_spread_from_the_first_start_to_the_last_end() {
        let flow = |start_ns| FctRecord { start_ns, fct_ns: 1_000_000, ideal_ns: 10, size: 1, ..FctRecord::default() };
        let summary = Summary { feedback_packets: 80, ..Summary::default() };
        let results = in_memory(summary, vec![flow(1_000_000), flow(8_000_000)], Vec::new());
        let metrics = metrics(&results, &FACTS, Sizes::default(), None, false).expect("metrics");
        assert_eq!(value(&metrics, "feedback_per_ms"), Some(10.0));
        assert!(Quantity::FeedbackPerMs.def().is.ends_with("from the first flow's start to the last one's end."));
    }

    /// Every figure of completion times has a metric beside it that says what is missing.
    #[test]
    fn what_figures_leave_out_is_known_of_each() {
        let flow = |group, size| FctRecord { group, size, fct_ns: 20, ideal_ns: 10, ..FctRecord::default() };
        let left = |group, size| UnfinishedFlow { group, size, ..UnfinishedFlow::default() };
        let summary = Summary { groups: vec!["a".into(), "b".into()], ..Summary::default() };
        let unfinished = vec![left(0, 500), left(1, 2_000), left(1, 2_000)];
        let results = in_memory(summary, vec![flow(0, 500), flow(0, 2_000)], unfinished);
        let metrics = metrics(&results, &FACTS, SIZES, Some(&[1_000]), false).expect("metrics");
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
            let flow = FctRecord { size: 1_000, fct_ns: 20, ideal_ns: 10, ..FctRecord::default() };
            let results = in_memory(Summary { telemetry_bytes, ..Summary::default() }, vec![flow], Vec::new());
            let metrics = metrics(&results, &facts, Sizes::default(), None, false).expect("metrics");
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
            let metrics = metrics(&results, &facts, Sizes::default(), None, false).expect("metrics");
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
            let metrics = metrics(&results, &FACTS, Sizes::default(), None, of_groups).expect("metrics");
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
