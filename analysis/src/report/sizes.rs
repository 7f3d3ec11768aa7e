// SPDX-License-Identifier: GPL-2.0-only
//! Slowdown by flow size.

use hpcc_measures::stats::FctStats;
use serde_json::{Value, json};

use super::number::short;

/// Percentiles of the slowdown in each bin; null where a bin has no flow.
pub fn percentiles(bins: &[FctStats]) -> Value {
    let column = |of: fn(&FctStats) -> f64| -> Vec<Option<f64>> {
        bins.iter().map(|stats| (stats.flows > 0).then(|| short(of(stats)))).collect()
    };
    json!({
        "p50": column(|stats| stats.slowdown_p50),
        "p95": column(|stats| stats.slowdown_p95),
        "p99": column(|stats| stats.slowdown_p99),
        "flows": bins.iter().map(|stats| stats.flows).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_formats::results::{FctRecord, Summary};
    use hpcc_measures::results::in_memory;
    use hpcc_measures::stats::by_size;
    use std::iter;

    fn binned(flows: Vec<FctRecord>, bounds: &[u64]) -> Value {
        let run = in_memory(Summary::default(), flows, Vec::new());
        percentiles(&by_size(iter::once(&run), bounds).expect("in memory"))
    }

    #[test]
    fn every_flow_has_a_bin() {
        let flows = (1..=1_000).map(|size| FctRecord { size, ..FctRecord::default() }).collect();
        assert_eq!(binned(flows, &[100, 200, 500, 1_000])["flows"], json!([100, 100, 300, 500]));
    }

    #[test]
    fn an_empty_bin_has_no_percentile() {
        let flow = FctRecord { size: 5, fct_ns: 30, ideal_ns: 10, ..FctRecord::default() };
        assert_eq!(binned(vec![flow], &[5, 9])["p99"], json!([3.0, null]));
    }
}
