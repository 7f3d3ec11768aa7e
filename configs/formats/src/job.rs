// SPDX-License-Identifier: GPL-2.0-only
//! Jobs: ranks whose messages wait for others.

use crate::flows::Flow;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{Collective, Plan};
use hpcc_core::workload::{Graph, Job, Program};
use std::fmt;
use std::sync::Arc;

/// A job of a scenario, checked.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The number of its group of flows: its name in results.
    pub group: u32,
    /// When it begins.
    pub start: Nanos,
    /// The host of each rank.
    pub hosts: Vec<u32>,
    /// Passes before each message is sent.
    pub send_latency: Nanos,
    /// Priority of its packets.
    pub priority: u8,
    /// Destination port of its first channel.
    pub dport: u16,
    /// What its ranks do.
    pub work: JobWork,
}

/// What the ranks of a job do.
#[derive(Clone)]
pub enum JobWork {
    /// One collective, over and over.
    Collective(Plan),
    /// Each its own graph of operations, from a file.
    Graphs {
        /// By rank.
        graphs: Arc<[Graph]>,
        /// Collectives in them, by number.
        collectives: Arc<[Plan]>,
        /// Hash of the file.
        digest: String,
    },
}

impl fmt::Debug for JobWork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobWork::Collective(plan) => plan.fmt(out),
            JobWork::Graphs { digest, .. } => out.write_str(digest),
        }
    }
}

impl JobSpec {
    /// The job, as the engine runs it.
    pub fn job(&self) -> Job {
        let program = |rank: u32| -> Box<dyn Program> {
            match &self.work {
                JobWork::Collective(plan) => Box::new(Collective::new(plan.clone(), rank)),
                JobWork::Graphs { graphs, .. } => Box::new(graphs[rank as usize].clone()),
            }
        };
        let ranks = self.hosts.iter().zip(0..).map(|(&host, rank)| (host, program(rank))).collect();
        let &JobSpec { start, send_latency, priority, dport, .. } = self;
        Job { start, ranks, send_latency, priority, dport }
    }

    /// How many messages it sends, and their bytes.
    pub fn traffic(&self) -> (u64, u64) {
        let add = |sum: (u64, u64), one: (u64, u64)| (sum.0 + one.0, sum.1.saturating_add(one.1));
        match &self.work {
            JobWork::Collective(plan) => plan.traffic(),
            JobWork::Graphs { graphs, collectives, .. } => {
                graphs.iter().map(Graph::traffic).chain(collectives.iter().map(Plan::traffic)).fold((0, 0), add)
            }
        }
    }

    /// A collective of the job, by its number.
    pub fn collective(&self, number: u32) -> Option<&Plan> {
        match &self.work {
            JobWork::Collective(plan) => Some(plan),
            JobWork::Graphs { collectives, .. } => collectives.get(number as usize),
        }
    }

    /// Flows by which the job is checked as others are: the first rank and each other one, and neighbours.
    pub(crate) fn samples(&self) -> impl Iterator<Item = Flow> + '_ {
        let size = if let JobWork::Collective(plan) = &self.work { plan.size.max(1) } else { 1 };
        let flow =
            move |src, dst| Flow { src, dst, priority: self.priority, dport: self.dport, size, start: self.start };
        let ends = self.hosts.iter().zip(self.hosts.iter().skip(1));
        let first = self.hosts.first().copied().unwrap_or_default();
        let pairs = ends.flat_map(move |(&one, &next)| [(one, next), (first, next), (next, first)]);
        pairs.filter(|(src, dst)| src != dst).map(move |(src, dst)| flow(src, dst))
    }
}
