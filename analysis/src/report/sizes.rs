// SPDX-License-Identifier: GPL-2.0-only
//! Slowdown by flow size.

use hpcc_formats::results::FctRecord;
use serde_json::{Value, json};

use super::number::short;
use crate::stats::FctStats;

/// Percentiles of the slowdown in each bin; null where a bin has no flow.
pub fn percentiles<'a>(flows: impl Iterator<Item = &'a FctRecord>, bounds: &[u64]) -> Value {
    let mut bins: Vec<Vec<&FctRecord>> = vec![Vec::new(); bounds.len()];
    for flow in flows {
        if let Some(bin) = bins.get_mut(bounds.partition_point(|bound| *bound < flow.size)) {
            bin.push(flow);
        }
    }
    let stats: Vec<FctStats> = bins.into_iter().map(FctStats::of).collect();
    let column = |of: fn(&FctStats) -> f64| -> Vec<Option<f64>> {
        stats.iter().map(|stats| (stats.flows > 0).then(|| short(of(stats)))).collect()
    };
    json!({
        "p50": column(|stats| stats.slowdown_p50),
        "p95": column(|stats| stats.slowdown_p95),
        "p99": column(|stats| stats.slowdown_p99),
        "flows": stats.iter().map(|stats| stats.flows).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_has_a_bin() {
        let flows: Vec<FctRecord> = (1..=1_000).map(|size| FctRecord { size, ..FctRecord::default() }).collect();
        assert_eq!(percentiles(flows.iter(), &[100, 200, 500, 1_000])["flows"], json!([100, 100, 300, 500]));
    }

    #[test]
    fn an_empty_bin_has_no_percentile() {
        let flow = FctRecord { size: 5, fct_ns: 30, ideal_ns: 10, ..FctRecord::default() };
        assert_eq!(percentiles([flow].iter(), &[5, 9])["p99"], json!([3.0, null]));
    }
}
