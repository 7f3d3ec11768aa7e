// SPDX-License-Identifier: GPL-2.0-only
//! How far the times of a fluid run are from those of the same scenario as packets.

use serde::{Deserialize, Serialize};

/// Errors of completion times: (fluid - packets) / packets, of flows that are over in both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredError {
    /// Packets were simulated up to here, in ns.
    pub until_ns: u64,
    /// Processor time of the packets, in seconds.
    pub packets_cpu_s: f64,
    /// All flows.
    pub all: ErrorFigures,
    /// By size: tenths of the flows, from the smallest on; fewer where many have one size.
    pub by_size: Vec<ErrorFigures>,
    /// Jobs that are over in both.
    pub jobs: Vec<JobError>,
}

/// The errors of some flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorFigures {
    /// The largest size, in bytes.
    pub most_bytes: u64,
    /// How many flows.
    pub flows: u64,
    /// Mean, with its sign: above 0 fluid is slower.
    pub mean: f64,
    /// Percentiles without sign.
    pub p50: f64,
    /// 90th.
    pub p90: f64,
    /// 99th.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// The error of the median and of the 99th percentile of completion times themselves.
    pub of_p50: f64,
    /// Likewise.
    pub of_p99: f64,
}

/// The error of a job's time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobError {
    /// Its group.
    pub group: u32,
    /// As fluid, in ns.
    pub fluid_ns: u64,
    /// As packets, in ns.
    pub packets_ns: u64,
    /// (fluid - packets) / packets.
    pub error: f64,
}

/// A flow that is over in both runs: its size in bytes, its times as fluid and as packets, in ns.
pub type Twice = (u64, u64, u64);

impl MeasuredError {
    /// The errors of flows, with those of jobs.
    pub fn of(mut flows: Vec<Twice>, jobs: Vec<JobError>) -> MeasuredError {
        flows.sort_unstable();
        MeasuredError { all: ErrorFigures::of(&flows), by_size: by_size(&flows), jobs, ..MeasuredError::default() }
    }
}

impl ErrorFigures {
    /// Of flows that are sorted by size.
    fn of(flows: &[Twice]) -> ErrorFigures {
        if flows.is_empty() {
            return ErrorFigures::default();
        }
        let signed: Vec<f64> = flows.iter().map(|&(_, fluid, packets)| relative(fluid, packets)).collect();
        let mut errors: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
        errors.sort_by(f64::total_cmp);
        let at = |percent: usize| errors.get(place(errors.len(), percent)).copied().unwrap_or_default();
        let of = |percent: usize| {
            let time = |of: fn(&Twice) -> u64| {
                let mut times: Vec<u64> = flows.iter().map(of).collect();
                times.sort_unstable();
                times.get(place(times.len(), percent)).copied().unwrap_or_default()
            };
            relative(time(|flow| flow.1), time(|flow| flow.2))
        };
        ErrorFigures {
            most_bytes: flows.last().map_or(0, |flow| flow.0),
            flows: flows.len() as u64,
            mean: signed.iter().fold(0.0, |sum, error| sum + error) / flows.len().max(1) as f64,
            p50: at(50),
            p90: at(90),
            p99: at(99),
            max: at(100),
            of_p50: of(50),
            of_p99: of(99),
        }
    }
}

/// The place of a percentile among so many sorted values: the least that so many percent do not exceed.
fn place(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100).saturating_sub(1)
}

fn relative(fluid: u64, packets: u64) -> f64 {
    fluid as f64 / packets.max(1) as f64 - 1.0
}

/// Tenths of flows that are sorted by size; flows of one size stay together.
fn by_size(flows: &[Twice]) -> Vec<ErrorFigures> {
    let mut tenths = Vec::new();
    let mut first = 0;
    for tenth in 1..=10 {
        let mut end = flows.len() * tenth / 10;
        while end > first && end < flows.len() && flows[end].0 == flows[end - 1].0 {
            end += 1;
        }
        if end > first {
            tenths.push(ErrorFigures::of(&flows[first..end]));
            first = end;
        }
    }
    tenths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_signs_in_the_mean_and_none_in_percentiles() {
        let flows = (1..=20).map(|size| (size, 90 + 20 * (size % 2), 100)).collect();
        let error = MeasuredError::of(flows, Vec::new());
        assert!(error.all.mean.abs() < 1e-9 && (error.all.p50 - 0.1).abs() < 1e-9, "{:?}", error.all);
        assert_eq!((error.by_size.len(), error.by_size[0].flows, error.by_size[9].most_bytes), (10, 2, 20));
    }

    #[test]
    fn flows_of_one_size_are_not_divided() {
        let error = MeasuredError::of(vec![(7, 1, 1); 30], Vec::new());
        assert_eq!(error.by_size.iter().map(|part| part.flows).collect::<Vec<_>>(), [30]);
    }
}
