// SPDX-License-Identifier: GPL-2.0-only
//! What is measured of a run: the rows of `sweep.csv`.

use std::iter;

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_measures::stats::{self, FctStats, SIZE_CLASSES, Tally, percentile};
use hpcc_measures::{series, window};

use super::plan::Facts;

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
        let classes = usual_bounds();
        let bounds = bins.unwrap_or(&classes);
        let (first, last) = (bounds.first(), bounds.last());
        Sizes { small_up_to: first.copied().unwrap_or(0), large_above: last.copied().unwrap_or(u64::MAX) }
    }

    /// Whether a flow of so many bytes is small.
    pub fn is_small(self, size: u64) -> bool {
        size <= self.small_up_to
    }

    /// Whether a flow of so many bytes is large.
    pub fn is_large(self, size: u64) -> bool {
        size > self.large_above
    }
}

/// Metrics by name. Brackets behind a name say which flows it is of: `[incast]` those of a group, `[0..10000]` those of
/// more bytes than the first number, up to the second.
pub type Metrics = Vec<(String, f64)>;

/// Every metric of a run with its value, in the order of the file. None depends on how fast the machine was. What has
/// no flows, or was not recorded, is not there. Groups are there if several have flows, or if they are asked for.
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
    let summary = &results.summary;
    let mut of_flows = OfFlows::of(results, sizes, bins)?;
    of_flows.groups.retain(|_| of_groups || results.groups().len() > 1);
    let mut metrics = vec![
        ("flows".to_owned(), (results.finished() + results.unfinished()) as f64),
        ("flows_unfinished".to_owned(), results.unfinished() as f64),
    ];
    push_slowdowns(&mut metrics, "slowdown", "", &of_flows.all);
    push_times(&mut metrics, "", &of_flows.all);
    push_slowdowns(&mut metrics, "slowdown_small", "", &of_flows.small);
    push_slowdowns(&mut metrics, "slowdown_large", "", &of_flows.large);
    push_goodput(&mut metrics, "goodput_large", "", &series::flow_rates(results, |life| sizes.is_large(life.size))?);
    push_queue_and_pauses(&mut metrics, results, facts)?;
    if !results.window.chosen {
        let counts = [
            ("drops", summary.dropped()),
            ("resent_packets", summary.resent_packets),
            ("telemetry_bytes", summary.telemetry_bytes),
            ("feedback_packets", summary.feedback_packets),
            ("probes", summary.probes),
        ];
        metrics.extend(counts.map(|(name, count)| (name.to_owned(), count as f64)));
    }
    let bytes =
        [("telemetry_sender_bytes", facts.telemetry_sender_bytes), ("telemetry_hop_bytes", facts.telemetry_hop_bytes)];
    metrics.extend(bytes.map(|(name, bytes)| (name.to_owned(), bytes as f64)));
    if !results.is_part() {
        push_telemetry(&mut metrics, results)?;
    }
    for (of, stats) in &of_flows.bins {
        push_group(&mut metrics, of, stats);
    }
    for ((number, name), stats) in of_flows.groups {
        let of = format!("[{name}]");
        push_group(&mut metrics, &of, &stats);
        push_goodput(&mut metrics, "goodput", &of, &series::flow_rates(results, |life| life.group == number)?);
    }
    Ok(metrics)
}

/// How sets of the flows did that finished.
struct OfFlows<'a> {
    all: FctStats,
    small: FctStats,
    large: FctStats,
    /// By size, each with what names it behind a metric.
    bins: Vec<(String, FctStats)>,
    /// By number and name of the group.
    groups: Vec<((u32, &'a str), FctStats)>,
}

impl<'a> OfFlows<'a> {
    /// Goes over the flows once.
    fn of(results: &'a Results, sizes: Sizes, bins: Option<&[u64]>) -> Result<OfFlows<'a>> {
        let classes = usual_bounds();
        let bounds = bins.unwrap_or(&classes);
        let ends: Vec<u64> = bounds.iter().copied().chain([u64::MAX]).collect();
        let groups = results.groups();
        let first_group = 3 + ends.len();
        let tallies = stats::tally(iter::once(results), first_group + groups.len(), |flow, add| {
            add(0);
            if sizes.is_small(flow.size) {
                add(1);
            }
            if sizes.is_large(flow.size) {
                add(2);
            }
            // A flow without a byte is in no bin.
            if flow.size > 0 {
                add(3 + stats::bin_of(&ends, flow));
            }
            let group = groups.iter().position(|(number, _)| *number == flow.group);
            group.into_iter().for_each(|group| add(first_group + group));
        })?;
        let mut found = tallies.iter().map(Tally::stats);
        let mut next = || found.next().unwrap_or_default();
        let (all, small, large) = (next(), next(), next());
        let bins = bin_names(Some(bounds)).into_iter().map(|name| (name, next())).collect();
        let groups = groups.into_iter().map(|group| (group, next())).collect();
        Ok(OfFlows { all, small, large, bins, groups })
    }
}

/// Upper bounds of the classes of a run's own table.
fn usual_bounds() -> Vec<u64> {
    let classes = SIZE_CLASSES.map(|class| class.up_to());
    classes[..classes.len() - 1].to_vec()
}

/// What names classes of size behind a metric; those of a run's own table unless there are bounds.
pub fn bin_names(bounds: Option<&[u64]>) -> Vec<String> {
    let bounds = bounds.map_or_else(usual_bounds, <[u64]>::to_vec);
    let begins = iter::once(0).chain(bounds.iter().copied());
    let ends = bounds.iter().map(u64::to_string).chain([String::new()]);
    begins.zip(ends).map(|(above, end)| format!("[{above}..{end}]")).collect()
}

fn push_goodput(metrics: &mut Metrics, name: &str, of: &str, rates: &[f64]) {
    let Some((mean, jain)) = series::mean_and_jain(rates) else { return };
    metrics.push((format!("{name}_p50_gbps{of}"), percentile(rates, 50)));
    metrics.push((format!("{name}_mean_gbps{of}"), mean));
    if jain.is_finite() {
        metrics.push((format!("{name}_jain{of}"), jain));
    }
}

/// Of the whole run, or of the window, as far as it was recorded.
fn push_queue_and_pauses(metrics: &mut Metrics, results: &Results, facts: &Facts) -> Result<()> {
    let summary = &results.summary;
    let mut push = |name: &str, value: f64| metrics.push((name.to_owned(), value));
    let recorded = facts.records_queues.then(|| window::queue(results)).transpose()?;
    if let Some(queue) = &recorded {
        push("queue_p50_bytes", queue.percentile(50) as f64);
        push("queue_p95_bytes", queue.percentile(95) as f64);
    }
    let (ends, pauses) = if results.window.chosen {
        (recorded.map(|queue| (queue.percentile(99), queue.percentile(100))), window::pauses(results)?)
    } else {
        (Some((summary.queue_p99_bytes, summary.queue_max_bytes)), (summary.pfc_pauses, summary.pfc_pause_ns))
    };
    if let Some((p99, max)) = ends {
        push("queue_p99_bytes", p99 as f64);
        push("queue_max_bytes", max as f64);
    }
    push("pfc_pauses", pauses.0 as f64);
    push("pfc_pause_ns", pauses.1 as f64);
    let time = facts.ports as f64 * results.window.span_ns() as f64;
    push("pfc_paused_percent", if time > 0.0 { 100.0 * pauses.1 as f64 / time } else { 0.0 });
    Ok(())
}

/// What the whole network spent, over what all flows delivered, also those that did not finish, and the time in which they
/// did.
fn push_telemetry(metrics: &mut Metrics, results: &Results) -> Result<()> {
    let summary = &results.summary;
    let mut payload = 0u64;
    results.each_life(|life| payload = payload.saturating_add(life.bytes))?;
    let span_ns = results.window.span_ns();
    if span_ns > 0 {
        metrics.push(("feedback_per_ms".to_owned(), summary.feedback_packets as f64 * 1e6 / span_ns as f64));
    }
    if payload > 0 {
        metrics.push(("telemetry_per_kb".to_owned(), summary.telemetry_bytes as f64 * 1e3 / payload as f64));
    }
    Ok(())
}

fn push_group(metrics: &mut Metrics, of: &str, stats: &FctStats) {
    if stats.flows > 0 {
        metrics.push((format!("flows{of}"), stats.flows as f64));
        push_slowdowns(metrics, "slowdown", of, stats);
        push_times(metrics, of, stats);
    }
}

/// Completion times of flows as they are, whatever an idle network would take.
fn push_times(metrics: &mut Metrics, of: &str, stats: &FctStats) {
    if stats.flows > 0 {
        metrics.push((format!("fct_p50_ns{of}"), stats.fct_p50_ns as f64));
        metrics.push((format!("fct_p99_ns{of}"), stats.fct_p99_ns as f64));
    }
}

fn push_slowdowns(metrics: &mut Metrics, name: &str, of: &str, stats: &FctStats) {
    if stats.flows == 0 {
        return;
    }
    let values = [
        ("mean", stats.slowdown_mean),
        ("p50", stats.slowdown_p50),
        ("p95", stats.slowdown_p95),
        ("p99", stats.slowdown_p99),
    ];
    metrics.extend(values.map(|(figure, value)| (format!("{name}_{figure}{of}"), value)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::columns::Column;
    use hpcc_formats::results::{FctRecord, Summary, UnfinishedFlow};
    use hpcc_measures::results::in_memory;
    use hpcc_measures::select::Selection;

    const FACTS: Facts = Facts {
        telemetry_sender_bytes: 0,
        telemetry_hop_bytes: 0,
        switch_ports: 0,
        ports: 0,
        stack: false,
        records_queues: false,
        records_goodput: false,
        records_control: false,
    };

    #[test]
    fn small_and_large_are_the_outer_bins() {
        let sizes = Sizes::new(Some(&[1_000, 50_000]));
        assert!(sizes.is_small(1_000) && !sizes.is_small(1_001));
        assert!(sizes.is_large(50_001) && !sizes.is_large(50_000));
        assert_eq!(Sizes::new(None), Sizes { small_up_to: 10_000, large_above: 1_000_000 });
    }

    #[test]
    fn bins_and_groups_have_rows_of_their_own() {
        let flow = |group, size, fct_ns| FctRecord { group, size, fct_ns, ideal_ns: 10, ..FctRecord::default() };
        let summary = Summary { groups: vec!["a".into(), "b".into()], ..Summary::default() };
        let results = in_memory(summary, vec![flow(0, 500, 20), flow(0, 500, 40), flow(1, 2_000, 10)], Vec::new());
        let metrics = metrics(&results, &FACTS, Sizes::new(Some(&[1_000])), Some(&[1_000]), false).expect("metrics");
        let value = |name: &str| metrics.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        assert_eq!((value("slowdown_mean[0..1000]"), value("slowdown_p99[1000..]")), (Some(3.0), Some(1.0)));
        assert_eq!((value("flows[a]"), value("slowdown_p50[b]")), (Some(2.0), Some(1.0)));
        assert_eq!(value("goodput_mean_gbps[b]"), Some(1_600.0));
        assert_eq!(
            (value("fct_p50_ns"), value("fct_p99_ns[a]"), value("fct_p50_ns[1000..]")),
            (Some(20.0), Some(40.0), Some(10.0))
        );
        assert_eq!(value("slowdown_mean"), Some(7.0 / 3.0));
        for (name, _) in &metrics {
            Column::parse(name, Some(&[1_000])).unwrap_or_else(|error| panic!("no column can have {name}: {error}"));
        }
    }

    #[test]
    fn flows_that_never_end_have_goodput_and_fairness() {
        let endless =
            |flow, acked_bytes| UnfinishedFlow { flow, size: u64::MAX, acked_bytes, ..UnfinishedFlow::default() };
        let summary = Summary { simulated_ns: 1_000, ..Summary::default() };
        let results = in_memory(summary, Vec::new(), vec![endless(0, 1_000), endless(1, 3_000)]);
        let metrics = metrics(&results, &FACTS, Sizes::new(None), None, false).expect("metrics");
        let value = |name: &str| metrics.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        assert_eq!((value("goodput_large_mean_gbps"), value("goodput_large_jain")), (Some(16.0), Some(0.8)));
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
            let late = UnfinishedFlow { start_ns: 9_000_000, ..endless };
            let late = UnfinishedFlow { flow: 2, acked_bytes: 0, ..late };
            let mut results = in_memory(summary.clone(), vec![flow], vec![endless, late]);
            let groups = groups.iter().map(ToString::to_string).collect();
            Selection { groups, ..Selection::default() }.apply(&mut results).expect("a group");
            let metrics = metrics(&results, &FACTS, Sizes::new(None), None, of_groups).expect("metrics");
            let value = |name: &&str| metrics.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
            names.iter().map(value).collect::<Vec<_>>()
        };
        let ratios = ["telemetry_per_kb", "feedback_per_ms"];
        assert_eq!(values(&[], &ratios, false), [Some(42.0), Some(4.0)]);
        // Nobody knows what part of it is a group's.
        assert_eq!(values(&["a"], &ratios, false), [None; 2]);
        // A group has metrics of its own where it is one of several, or where they are asked for.
        assert_eq!(values(&[], &["flows[a]"], false), [Some(1.0)]);
        assert_eq!(values(&["a"], &["flows[a]"], false), [None]);
        assert_eq!(values(&["a"], &["flows[a]", "fct_p99_ns[a]"], true), [Some(1.0), Some(100_000.0)]);
    }
}
