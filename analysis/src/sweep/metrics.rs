// SPDX-License-Identifier: GPL-2.0-only
//! What is measured of a run: the rows of `sweep.csv`.

use hpcc_formats::results::FctRecord;

use super::plan::Facts;
use crate::results::Results;
use crate::stats::{FctStats, SIZE_CLASSES, percentile};

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
        let classes = SIZE_CLASSES.map(|class| class.up_to());
        let bounds = bins.unwrap_or(&classes[..classes.len() - 1]);
        let (first, last) = (bounds.first(), bounds.last());
        Sizes { small_up_to: first.copied().unwrap_or(0), large_above: last.copied().unwrap_or(u64::MAX) }
    }

    /// Small flows.
    pub fn small(self, flow: &FctRecord) -> bool {
        flow.size <= self.small_up_to
    }

    /// Large flows.
    pub fn large(self, flow: &FctRecord) -> bool {
        flow.size > self.large_above
    }
}

/// A flow's rate from its start to its last acknowledgement, in Gb/s.
pub fn goodput_gbps(flow: &FctRecord) -> f64 {
    flow.size as f64 * 8.0 / flow.fct_ns.max(1) as f64
}

/// The rates of some flows, ascending.
pub fn goodputs<'a>(flows: impl IntoIterator<Item = &'a FctRecord>) -> Vec<f64> {
    let mut rates: Vec<f64> = flows.into_iter().map(goodput_gbps).collect();
    rates.sort_by(f64::total_cmp);
    rates
}

/// Jain's index of some rates: 1 where all are equal, 1 / n where one flow has everything.
fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// Every metric of a run with its value, in the order of the file. None depends on how fast the machine was. A
/// group without flows has none.
pub fn metrics(results: &Results, facts: &Facts, sizes: Sizes) -> Vec<(String, f64)> {
    let summary = &results.summary;
    let mut metrics = vec![
        ("flows".to_owned(), summary.flows_total as f64),
        ("flows_unfinished".to_owned(), summary.flows_total.saturating_sub(summary.flows_finished) as f64),
    ];
    let flows = &results.flows;
    push_slowdowns(&mut metrics, "slowdown", &FctStats::of(flows));
    push_slowdowns(&mut metrics, "slowdown_small", &FctStats::of(flows.iter().filter(|flow| sizes.small(flow))));
    push_slowdowns(&mut metrics, "slowdown_large", &FctStats::of(flows.iter().filter(|flow| sizes.large(flow))));
    let rates = goodputs(flows.iter().filter(|flow| sizes.large(flow)));
    if !rates.is_empty() {
        metrics.push(("goodput_large_p50_gbps".to_owned(), percentile(&rates, 50)));
        metrics.push(("goodput_large_mean_gbps".to_owned(), rates.iter().sum::<f64>() / rates.len() as f64));
        metrics.push(("goodput_large_jain".to_owned(), jain(&rates)));
    }
    let counts = [
        ("queue_p99_bytes", summary.queue_p99_bytes),
        ("queue_max_bytes", summary.queue_max_bytes),
        ("pfc_pauses", summary.pfc_pauses),
        ("pfc_pause_ns", summary.pfc_pause_ns),
        ("drops", summary.drops),
        ("resent_packets", summary.resent_packets),
        ("telemetry_bytes", summary.telemetry_bytes),
        ("feedback_packets", summary.feedback_packets),
        ("probes", summary.probes),
        ("telemetry_sender_bytes", facts.telemetry_sender_bytes as u64),
        ("telemetry_hop_bytes", facts.telemetry_hop_bytes as u64),
    ];
    metrics.extend(counts.map(|(name, count)| (name.to_owned(), count as f64)));
    let end = flows.iter().map(|flow| flow.start_ns + flow.fct_ns).max();
    if let Some(end) = end.filter(|&end| end > 0) {
        metrics.push(("feedback_per_ms".to_owned(), summary.feedback_packets as f64 * 1e6 / end as f64));
    }
    let payload: u64 = flows.iter().map(|flow| flow.size).sum();
    if payload > 0 {
        metrics.push(("telemetry_per_kb".to_owned(), summary.telemetry_bytes as f64 * 1e3 / payload as f64));
    }
    metrics
}

fn push_slowdowns(metrics: &mut Vec<(String, f64)>, name: &str, stats: &FctStats) {
    if stats.flows == 0 {
        return;
    }
    let values = [("p50", stats.slowdown_p50), ("p95", stats.slowdown_p95), ("p99", stats.slowdown_p99)];
    metrics.extend(values.map(|(percentile, value)| (format!("{name}_{percentile}"), value)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_are_the_outer_bins() {
        let flow = |size| FctRecord { size, ..FctRecord::default() };
        let sizes = Sizes::new(Some(&[1_000, 50_000]));
        assert!(sizes.small(&flow(1_000)) && !sizes.small(&flow(1_001)));
        assert!(sizes.large(&flow(50_001)) && !sizes.large(&flow(50_000)));
        assert_eq!(Sizes::new(None), Sizes { small_up_to: 10_000, large_above: 1_000_000 });
    }

    #[test]
    fn jains_index_is_one_for_equal_rates() {
        assert_eq!(jain(&[3.0, 3.0]), 1.0);
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), 0.25);
    }

    #[test]
    fn goodput_is_bits_per_nanosecond() {
        let flow = FctRecord { size: 1_250, fct_ns: 1_000, ..FctRecord::default() };
        assert_eq!(goodput_gbps(&flow), 10.0);
    }
}
