// SPDX-License-Identifier: GPL-2.0-only
//! Slowdown by flow size.

use hpcc_formats::results::FctRecord;
use serde_json::{Value, json};

use super::data::short;
use crate::stats::FctStats;

/// With at most this many sizes, each is a bin of its own.
const DISTINCT_SIZES: usize = 12;
/// Bins, three to a decade, are merged until the flows of all entries together have this many in each.
const BIN_FLOWS: usize = 100;

/// Upper bounds of bins for flows of these sizes, ascending; the last is the largest size.
pub fn bounds(mut sizes: Vec<u64>) -> Vec<u64> {
    sizes.sort_unstable();
    let mut distinct = sizes.clone();
    distinct.dedup();
    if distinct.len() <= DISTINCT_SIZES {
        return distinct;
    }
    let largest = sizes[sizes.len() - 1];
    let (mut bounds, mut below) = (Vec::new(), 0);
    for bound in (0..18).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u64.pow(power))) {
        let up_to = sizes.partition_point(|size| *size <= bound);
        if bound < largest && up_to - below >= BIN_FLOWS && sizes.len() - up_to >= BIN_FLOWS {
            bounds.push(bound);
            below = up_to;
        }
    }
    bounds.push(largest);
    bounds
}

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
    fn bins_have_enough_flows_and_every_flow_has_a_bin() {
        let sizes: Vec<u64> = (1..=1_000).collect();
        let bounds = bounds(sizes.clone());
        assert_eq!(bounds, [100, 200, 500, 1_000]);
        let flows: Vec<FctRecord> = sizes.iter().map(|&size| FctRecord { size, ..FctRecord::default() }).collect();
        assert_eq!(percentiles(flows.iter(), &bounds)["flows"], json!([100, 100, 300, 500]));
        assert_eq!(super::bounds(vec![5, 5, 9]), [5, 9]);
    }

    #[test]
    fn an_empty_bin_has_no_percentile() {
        let flow = FctRecord { size: 5, fct_ns: 30, ideal_ns: 10, ..FctRecord::default() };
        assert_eq!(percentiles([flow].iter(), &[5, 9])["p99"], json!([3.0, null]));
    }
}
