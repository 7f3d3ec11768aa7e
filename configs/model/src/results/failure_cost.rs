// SPDX-License-Identifier: GPL-2.0-only
//! What the failures of a run have cost: its times, less those of the same run without them.

use super::jobs_csv::JobRow;
use serde::{Deserialize, Serialize};

/// The cost of all failures of a run together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailureCost {
    /// The folder of the run without failures, by its name; it is beside that of the run.
    pub without: String,
    /// Of each job, in the order of `jobs.csv`.
    pub jobs: Vec<JobCost>,
    /// Of flows that are not of jobs, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowCost>,
}

/// What failures have cost a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCost {
    /// Its group.
    pub group: u32,
    /// Its time with failures, in ns; none if it was not over.
    pub time_ns: Option<u64>,
    /// Its time without, likewise.
    pub without_ns: Option<u64>,
    /// How much longer it took, in ns: below 0 if failures made it faster; none if it was not over in both runs.
    pub cost_ns: Option<i64>,
    /// How much longer ranks waited for communication that no computation hides, in ns: the mean of all ranks; likewise.
    pub exposed_ns: Option<i64>,
}

/// What failures have cost flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowCost {
    /// Flows that are over in both runs.
    pub both: u64,
    /// Of them, how much longer they took on average, in ns.
    pub mean_ns: f64,
    /// How much longer the flow took that lost most, in ns.
    pub most_ns: i64,
    /// Flows that are over without failures and not with them.
    pub unfinished: u64,
}

impl JobCost {
    /// Of a job with failures, and the same without.
    pub fn of(with: &JobRow, without: &JobRow) -> JobCost {
        let both = with.time_ns.zip(without.time_ns);
        let more = |with: u64, without: u64| with as i64 - without as i64;
        JobCost {
            group: with.group,
            time_ns: with.time_ns,
            without_ns: without.time_ns,
            cost_ns: both.map(|(with, without)| more(with, without)),
            exposed_ns: both.map(|_| more(with.exposed_ns, without.exposed_ns)),
        }
    }
}

impl FlowCost {
    /// Of flows that are over without failures: their times with failures, if they are over, and without, in ns.
    pub fn of(flows: impl IntoIterator<Item = (Option<u64>, u64)>) -> FlowCost {
        let mut cost = FlowCost::default();
        let mut sum = 0_i128;
        for (with, without) in flows {
            let Some(with) = with else {
                cost.unfinished += 1;
                continue;
            };
            let more = with as i64 - without as i64;
            cost.most_ns = if cost.both == 0 { more } else { cost.most_ns.max(more) };
            cost.both += 1;
            sum += i128::from(more);
        }
        FlowCost { mean_ns: sum as f64 / cost.both.max(1) as f64, ..cost }
    }
}
