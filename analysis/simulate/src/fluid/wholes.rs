// SPDX-License-Identifier: GPL-2.0-only
//! Collectives inside one server, each as a whole: when its last rank has come, all have it as much later as it takes alone.
//!
//! In a job of tensor parallelism they are most of the messages, and none of those takes the network. Each kind is run once with
//! all its messages. In its place ranks then wait for each other by a barrier, and let the rest of the time pass.

use crate::trial;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{Kind, Plan, find};
use hpcc_core::workload::{Hardware, Servers};
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::scenario::Scenario;

/// The scenario with such collectives as wholes, and how many of them there are.
///
/// # Errors
/// What a fluid run does not have.
pub fn with_wholes(scenario: &Scenario) -> Result<(Scenario, usize), String> {
    let mut changed = scenario.clone();
    let mut count = 0;
    // The messages of a timeline are those that there were.
    let Some(servers) = scenario.servers.filter(|_| !scenario.monitor.timeline) else { return Ok((changed, 0)) };
    let network = trial::network(scenario);
    for (job, changed) in scenario.flows.jobs.iter().zip(&mut changed.flows.jobs) {
        let JobWork::Graphs { collectives, .. } = &job.work else { continue };
        let mut wholes = Wholes { network: &network, job, servers, known: Vec::new() };
        let plans = collectives.iter().map(|plan| wholes.of(plan)).collect::<Result<Vec<_>, _>>()?;
        count += plans.iter().flatten().count();
        *changed = job.with_plans(|plan| match &plans[plan.number as usize] {
            Some(whole) => whole.clone(),
            None => plan.clone(),
        });
    }
    Ok((changed, count))
}

/// A kind of collective: one that was tried, the places of its ranks in their server, and the time that a barrier leaves of its own.
struct Known<'a> {
    plan: &'a Plan,
    places: Vec<u32>,
    rest: Option<Nanos>,
}

/// The kinds of collectives of a job.
struct Wholes<'a> {
    network: &'a Scenario,
    job: &'a JobSpec,
    servers: Servers,
    known: Vec<Known<'a>>,
}

impl<'a> Wholes<'a> {
    /// A collective as a whole, if it can be.
    fn of(&mut self, plan: &'a Plan) -> Result<Option<Plan>, String> {
        let gpus = || plan.group.iter().map(|&rank| self.job.gpus[rank as usize]);
        let is_inside =
            gpus().all(|gpu| gpu / self.servers.gpus == self.job.gpus[plan.group[0] as usize] / self.servers.gpus);
        if !is_inside || !ends_together(plan) {
            return Ok(None);
        }
        let places = || gpus().map(|gpu| gpu % self.servers.gpus);
        let same = |known: &&Known<'_>| are_alike(known.plan, plan) && places().eq(known.places.iter().copied());
        let rest = match self.known.iter().find(same) {
            Some(known) => known.rest,
            None => {
                let (places, rest) = (places().collect(), self.rest(plan)?);
                self.known.push(Known { plan, places, rest });
                rest
            }
        };
        Ok(rest.map(|rest| barrier(plan, rest)))
    }

    /// What a collective takes longer than a barrier; nothing if that is not so.
    fn rest(&self, plan: &Plan) -> Result<Option<Nanos>, String> {
        let [own, least] = [plan, &barrier(plan, Nanos(0))].map(|plan| {
            let (scenario, ends) = trial::scenario(self.network, trial::only(self.job, plan), self.network.stop);
            trial::fluid_time(&scenario, ends)
        });
        let both = own?.zip(least?);
        Ok(both.and_then(|(own, least)| own.0.checked_sub(least.0)).map(Nanos))
    }
}

/// Whether all ranks of a collective have it at about the same time, and none before the last one has come.
fn ends_together(plan: &Plan) -> bool {
    match plan.pattern.kind {
        Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter | Kind::AllToAll => plan.parts.is_none(),
        Kind::Broadcast | Kind::Reduce | Kind::SendReceive | Kind::Barrier => false,
    }
}

/// In place of a collective: a barrier, before which some time passes at each rank.
fn barrier(plan: &Plan, rest: Nanos) -> Plan {
    let pattern = find(Kind::Barrier, None).unwrap_or(plan.pattern);
    let hardware = Hardware { launch: rest, ..Hardware::default() };
    Plan { pattern, size: 0, channels: 1, hardware, ..plan.clone() }
}

/// Whether two collectives of a job differ only by their ranks and numbers.
fn are_alike(one: &Plan, other: &Plan) -> bool {
    #[rustfmt::skip]
    let Plan {
        pattern, layout, size, parts, wire, channels, chunk, depth, window, hardware,
        group: _, first_channel: _, iterations: _, gap: _, number: _,
    } = one;
    std::ptr::eq(*pattern, other.pattern)
        && (layout, size, wire) == (&other.layout, &other.size, &other.wire)
        && (channels, chunk, depth, window) == (&other.channels, &other.chunk, &other.depth, &other.window)
        && parts.is_none() == other.parts.is_none()
        && *hardware == other.hardware
}
