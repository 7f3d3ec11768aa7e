// SPDX-License-Identifier: GPL-2.0-only
//! A collective of a job alone on a scenario's network, once.

use crate::fluid;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Plan;
use hpcc_core::workload::{Note, Noted};
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::scenario::{Monitor, Scenario};

/// The network of a scenario, on which nothing happens.
pub fn network(scenario: &Scenario) -> Scenario {
    let mut network = scenario.clone();
    network.flows = Default::default();
    network.monitor = Monitor::default();
    network.link_failures.clear();
    network.degraded.clear();
    network.storms.clear();
    network.attacks.clear();
    network
}

/// A job of one of its collectives, once.
pub fn only(job: &JobSpec, plan: &Plan) -> JobSpec {
    let of_group = |list: &[u32]| plan.group.iter().map(|&rank| list[rank as usize]).collect();
    let (hosts, gpus) = (of_group(&job.hosts), of_group(&job.gpus));
    let group = (0..plan.group.len() as u32).collect();
    let plan = Plan { group, number: 0, first_channel: 0, iterations: 1, gap: Nanos(0), ..plan.clone() };
    let (trials, work) = (Vec::new(), JobWork::Collective(plan));
    JobSpec { group: 0, start: Nanos(0), hosts, gpus, trials, work, ..job.clone() }
}

/// A job on such a network, until a time, and what is to be seen of it.
pub fn scenario(network: &Scenario, job: JobSpec, stop: Nanos) -> (Scenario, Ends) {
    let ends = Ends { ranks: job.hosts.len(), over: 0, last: Nanos(0) };
    let mut scenario = Scenario { stop, ..network.clone() };
    scenario.flows.groups = vec!["trial".into()];
    scenario.flows.jobs = vec![job];
    (scenario, ends)
}

/// How long it takes as fluid; `None` if it does not end.
///
/// # Errors
/// What a fluid run does not have.
pub fn fluid_time(scenario: &Scenario, mut ends: Ends) -> Result<Option<Nanos>, String> {
    Ok(fluid::run_jobs(scenario, |notes| ends.see(notes))?.then_some(ends.last))
}

/// The ranks of a job that are over.
pub struct Ends {
    ranks: usize,
    over: usize,
    /// When the last of them was.
    pub last: Nanos,
}

impl Ends {
    /// Returns whether all are.
    pub fn see(&mut self, notes: Vec<Noted>) -> bool {
        for Noted { at, .. } in notes.into_iter().filter(|noted| matches!(noted.note, Note::Over { .. })) {
            self.over += 1;
            self.last = self.last.max(at);
        }
        self.over == self.ranks
    }
}
