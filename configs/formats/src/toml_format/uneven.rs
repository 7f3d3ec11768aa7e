// SPDX-License-Identifier: GPL-2.0-only
//! Computations of a job that take longer than its file or model says: stragglers, and jitter.

use super::keys::keys;
use super::settings::numbers;
use super::traffic::Context;
use hpcc_core::units::Nanos;
use hpcc_model::error::InputError;
use hpcc_model::generate::{Random, exponential};
use hpcc_model::job::{JobSpec, JobWork};
use std::collections::HashSet;
use std::sync::Arc;

keys! {
    /// Of jobs that compute.
    Uneven {
        /// Numbers of the ranks whose computations take `slow_by` times as long, such as `"3"` or `"0-7"`: GPUs that throttle.
        slow_ranks: Option<String>;
        /// How many times as long those take.
        slow_by: Option<f64> {1.0..=1e4};
        /// How much longer each computation of each rank takes on average, as a share of its time: 0.05 is 5 %. The
        /// seed draws each from an exponential distribution. Give it to see what collectives lose that wait for the
        /// slowest of many.
        jitter: f64 {0.0..=100.0} = 0.0;
    }
}

impl Uneven {
    /// The same job with these computations.
    pub fn of(&self, job: JobSpec, context: &Context<'_>, random: &mut Random) -> Result<JobSpec, InputError> {
        let slow = self.slow(job.hosts.len() as u32, context)?;
        let JobWork::Graphs { mut graphs, collectives, digest } = job.work else { return Ok(job) };
        let mut words = Vec::new();
        if let (Some(ranks), Some(by)) = (&self.slow_ranks, self.slow_by) {
            words.push(format!("those of ranks {ranks} take {by} times as long"));
        }
        if self.jitter > 0.0 {
            words.push(format!("each takes longer by a random share of {} on average", self.jitter));
        }
        if !words.is_empty() {
            for (rank, graph) in (0..).zip(Arc::make_mut(&mut graphs)) {
                let by = self.slow_by.filter(|_| slow.contains(&rank)).unwrap_or(1.0);
                graph.change_computations(|time| {
                    let jitter = if self.jitter > 0.0 { self.jitter * exponential(random) } else { 0.0 };
                    Nanos((time.0 as f64 * by * (1.0 + jitter)) as u64).min(Nanos::LONGEST)
                });
            }
        }
        let computations = Some(words.join("; ")).filter(|words| !words.is_empty());
        Ok(JobSpec { work: JobWork::Graphs { graphs, collectives, digest }, computations, ..job })
    }

    /// The slow ones of so many ranks.
    fn slow(&self, count: u32, context: &Context<'_>) -> Result<HashSet<u32>, InputError> {
        let text = match (&self.slow_ranks, self.slow_by) {
            (None, None) => return Ok(HashSet::new()),
            (Some(text), Some(_)) => text,
            (Some(_), None) => {
                return Err(context.error("slow_ranks", "how slow they are is not said; expected slow_by as well"));
            }
            (None, Some(_)) => {
                return Err(context.error("slow_by", "which ranks are slow is not said; expected slow_ranks as well"));
            }
        };
        let ranks = numbers(text).ok_or_else(|| {
            context.error(
                "slow_ranks",
                format!("\"{text}\" is no list of ranks; expected numbers such as \"3\" or \"0-7\""),
            )
        })?;
        match ranks.iter().find(|&&rank| rank >= count) {
            Some(rank) => {
                Err(context.error("slow_ranks", format!("there is no rank {rank}; expected 0 to {}", count - 1)))
            }
            None => Ok(ranks.into_iter().collect()),
        }
    }
}
