// SPDX-License-Identifier: GPL-2.0-only
//! Collectives inside one server, each as a whole: it lasts as long as it does alone.
//!
//! In a job of tensor parallelism they are most of the messages, and none of those takes the network. Each kind is run once with
//! all its messages. In its place ranks then wait for each other by a barrier, and let the rest of the time pass. That is right
//! where nothing else is on the links inside the server and ranks come together: the first is known before the run or is
//! [watched](Watch), as is the second; where it is not so, all messages are simulated.

use crate::trial;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{Kind, Plan, find};
use hpcc_core::workload::{Hardware, Note, Noted, Servers, Work};
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::scenario::Scenario;
use std::collections::HashMap;

/// Ranks may begin a collective so many times sooner or later than it lasts.
const APART: u64 = 100;

/// A scenario with such collectives as wholes.
pub struct WithWholes {
    pub scenario: Scenario,
    pub watch: Watch,
}

/// The scenario with wholes, if it may have any.
///
/// # Errors
/// What a fluid run does not have.
pub fn with_wholes(scenario: &Scenario) -> Result<Option<WithWholes>, String> {
    // The messages of a timeline are those that there were.
    let Some(servers) = scenario.servers.filter(|_| !scenario.monitor.timeline) else { return Ok(None) };
    let mut changed = scenario.clone();
    let mut count = 0;
    let network = trial::network(scenario);
    let mut watch = Watch { gpus: Vec::new(), wholes: Vec::new(), busy: HashMap::new(), begun: HashMap::new() };
    for (job, changed) in scenario.flows.jobs.iter().zip(&mut changed.flows.jobs) {
        let JobWork::Graphs { collectives, .. } = &job.work else { return Ok(None) };
        let mut wholes = Wholes { network: &network, job, servers, known: Vec::new() };
        let plans = collectives.iter().map(|plan| wholes.of(plan)).collect::<Result<Vec<_>, _>>()?;
        if has_others_inside(job, &plans, servers) {
            return Ok(None);
        }
        count += plans.iter().flatten().count();
        *changed = job.with_plans(|plan| match &plans[plan.number as usize] {
            Some(whole) => whole.clone(),
            None => plan.clone(),
        });
        watch.gpus.push(job.gpus.clone());
        watch.wholes.push(plans.iter().map(|whole| whole.as_ref().map(|whole| whole.hardware.launch)).collect());
    }
    Ok((count > 0).then_some(WithWholes { scenario: changed, watch }))
}

/// Whether messages of a job take links inside servers beside its wholes: between ranks of a server, or to another place of
/// another server, where they may change rails.
fn has_others_inside(job: &JobSpec, wholes: &[Option<Plan>], servers: Servers) -> bool {
    let place = |rank: u32| job.gpus[rank as usize] % servers.gpus;
    let server = |rank: u32| job.gpus[rank as usize] / servers.gpus;
    let leaves_directly = |from: u32, to: u32| server(from) != server(to) && place(from) == place(to);
    let is_apart = |plan: &Plan| {
        let first = plan.group.first().copied().unwrap_or_default();
        let mut known: Vec<u32> = plan.group.iter().map(|&rank| server(rank)).collect();
        known.sort_unstable();
        known.dedup();
        known.len() == plan.group.len() && plan.group.iter().all(|&rank| place(rank) == place(first))
    };
    let JobWork::Graphs { graphs, collectives, .. } = &job.work else { return true };
    let others = collectives.iter().zip(wholes).filter(|(_, whole)| whole.is_none());
    let crosses = |(rank, work): (u32, &Work)| match *work {
        Work::Send { to, .. } => !leaves_directly(rank, to),
        Work::Receive { .. }
        | Work::Compute(_)
        | Work::Wait(_)
        | Work::Collective(_)
        | Work::Nothing
        | Work::Mark(_) => false,
    };
    !others.map(|(plan, _)| plan).all(is_apart)
        || (0..).zip(graphs.iter()).any(|(rank, graph)| graph.works().any(|work| crosses((rank, work))))
}

/// Sees whether wholes are alone on the links of their servers, and whether their ranks come together.
pub struct Watch {
    /// By job: the GPU of each rank, and how long each collective that is a whole takes longer than its barrier.
    gpus: Vec<Vec<u32>>,
    wholes: Vec<Vec<Option<Nanos>>>,
    /// GPUs that are in one, and when the first rank began each, by job, number and iteration.
    busy: HashMap<u32, u32>,
    begun: HashMap<(u32, u32, u32), Nanos>,
}

impl Watch {
    /// Takes in what ranks have noted. Returns whether all was well.
    pub fn see(&mut self, notes: &[Noted]) -> bool {
        notes.iter().all(|noted| self.see_one(noted))
    }

    fn see_one(&mut self, &Noted { job, rank, note, at }: &Noted) -> bool {
        let gpu = self.gpus[job as usize][rank as usize];
        let rest = |number: u32| self.wholes[job as usize].get(number as usize).copied().flatten();
        match note {
            Note::Begin { collective, iteration } => {
                let Some(rest) = rest(collective) else { return true };
                let first = *self.begun.entry((job, collective, iteration)).or_insert(at);
                let under_way = self.busy.entry(gpu).or_default();
                *under_way += 1;
                *under_way == 1 && (at - first).0 <= rest.0 / APART
            }
            Note::End { collective, .. } if rest(collective).is_some() => {
                self.busy.entry(gpu).and_modify(|under_way| *under_way -= 1);
                true
            }
            Note::End { .. } | Note::Mark { .. } | Note::Completion { .. } | Note::Over { .. } => true,
        }
    }
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
