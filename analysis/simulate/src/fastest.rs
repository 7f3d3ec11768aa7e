// SPDX-License-Identifier: GPL-2.0-only
//! `algorithm = "fastest"`: each algorithm by which a collective can be done is run alone on the scenario's network, and the soonest
//! is taken. A file says which there are; only here can they be tried.

use crate::fluid;
use crate::jobs::jobs;
use crate::outcome::say;
use crate::setup::engine;
use crate::trial;
use hpcc_core::engine::Stop;
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Plan;
use hpcc_model::job::{JobSpec, Trial};
use hpcc_model::scenario::Scenario;
use std::collections::{BTreeMap, HashMap};

/// So many packet-hops of all algorithms of a collective together are simulated, which takes seconds; more are tried as fluid.
const MOST_HOPS: u64 = 20_000_000;
/// Links of a path, about.
const HOPS: u64 = 4;
/// An algorithm that takes so much more than was expected does not end.
const PATIENCE: u64 = 10;
/// Simulated time between two looks at what is over.
const SLICE: Nanos = Nanos(1_000_000);
/// Choices that are told each in a sentence.
const MOST_TOLD: usize = 8;

/// How an algorithm is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Packets,
    Fluid,
}

impl By {
    fn told(self) -> &'static str {
        match self {
            By::Packets => "by packets",
            By::Fluid => "as fluid",
        }
    }
}

/// The scenario with the fastest algorithms where they are asked for; what was chosen, and the times, are among its notes. If it
/// `is_fluid`, all are tried as fluid.
///
/// # Errors
/// If an engine cannot be made.
pub fn resolve(mut scenario: Scenario, is_fluid: bool, is_quiet: bool) -> Result<Scenario, String> {
    if scenario.flows.jobs.iter().all(|job| job.trials.is_empty()) {
        return Ok(scenario);
    }
    let fails = !(scenario.link_failures.is_empty() && scenario.degraded.is_empty() && scenario.storms.is_empty());
    let aside = if fails { ", without [failures]" } else { "" };
    let mut trials =
        Trials { alone: trial::network(&scenario), aside, is_fluid, known: HashMap::new(), told: Vec::new() };
    let listed = std::mem::take(&mut scenario.flows.jobs);
    for job in &listed {
        let name = &scenario.flows.groups[job.group as usize];
        scenario.flows.jobs.push(trials.settle(job, name)?);
    }
    let more = trials.told.len().saturating_sub(MOST_TOLD);
    trials.told.truncate(MOST_TOLD);
    trials.told.extend((more > 0).then(|| format!("fastest: {more} collectives more were tried")));
    if !is_quiet {
        trials.told.iter().for_each(|note| say(&format!("note: {note}")));
    }
    scenario.notes.extend(trials.told);
    Ok(scenario)
}

/// A collective of a job: what it is, and the GPUs of its ranks, by their places in the server if they are in one.
type Key = (u32, &'static str, u64, Vec<u32>);

/// What was tried.
struct Trials {
    alone: Scenario,
    /// What of the scenario a trial has not, for notes.
    aside: &'static str,
    is_fluid: bool,
    /// The place of the soonest.
    known: HashMap<Key, usize>,
    told: Vec<String>,
}

impl Trials {
    /// A job with its fastest algorithms.
    fn settle(&mut self, job: &JobSpec, name: &str) -> Result<JobSpec, String> {
        let mut chosen = BTreeMap::new();
        for Trial(plans) in &job.trials {
            let key = self.key(job, &plans[0]);
            let place = match self.known.get(&key) {
                Some(&place) => place,
                None => {
                    let place = self.soonest(job, plans, name)?;
                    self.known.insert(key, place);
                    place
                }
            };
            chosen.insert(plans[place].number, &plans[place]);
        }
        let settled =
            job.with_plans(|plan| chosen.get(&plan.number).map_or_else(|| plan.clone(), |&plan| plan.clone()));
        Ok(JobSpec { trials: Vec::new(), ..settled })
    }

    fn key(&self, job: &JobSpec, plan: &Plan) -> Key {
        let mut gpus: Vec<u32> = plan.group.iter().map(|&rank| job.gpus[rank as usize]).collect();
        if let Some(servers) = self.alone.servers
            && gpus.iter().all(|gpu| gpu / servers.gpus == gpus[0] / servers.gpus)
        {
            gpus.iter_mut().for_each(|gpu| *gpu %= servers.gpus);
        }
        (job.group, plan.pattern.kind.name(), plan.size, gpus)
    }

    /// The place of the plan that takes least.
    fn soonest(&mut self, job: &JobSpec, plans: &[Plan], name: &str) -> Result<usize, String> {
        let jobs: Vec<JobSpec> = plans.iter().map(|plan| trial::only(job, plan)).collect();
        let (by, times) = self.times(&jobs)?;
        let ended = (0..).zip(&times).filter_map(|(place, time)| Some((place, (*time)?)));
        let kind = plans[0].pattern.kind.name();
        let best: Option<(usize, Nanos)> = ended.min_by_key(|(_, time)| *time);
        let Some((best, _)) = best else {
            self.told
                .push(format!("fastest: no algorithm of {kind} of {name} ends by run.stop: {}", plans[0].pattern.name));
            return Ok(0);
        };
        let told = |(plan, time): (&Plan, &Option<Nanos>)| match time {
            Some(time) => format!("{} {:.1} us", plan.pattern.name, time.0 as f64 / 1e3),
            None => format!("{} more", plan.pattern.name),
        };
        let all: Vec<String> = plans.iter().zip(&times).map(told).collect();
        let Plan { size, group, pattern, .. } = &plans[best];
        self.told.push(format!(
            "fastest: {kind} of {size} bytes among {} ranks of {name} is {}: {}, each once, alone, {}{}",
            group.len(),
            pattern.name,
            all.join(", "),
            by.told(),
            self.aside
        ));
        Ok(best)
    }

    /// The time of each of these jobs, `None` if it does not end or, as fluid, is later than another one: those with the fewest bytes
    /// go first.
    fn times(&self, jobs: &[JobSpec]) -> Result<(By, Vec<Option<Nanos>>), String> {
        let by = self.by(jobs)?;
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&place| self.hops(&jobs[place]));
        let (mut times, mut best) = (vec![None; jobs.len()], self.alone.stop);
        for place in order {
            times[place] = self.time(jobs[place].clone(), by, best)?;
            best = times[place].filter(|_| by == By::Fluid).unwrap_or(best).min(best);
        }
        Ok((by, times))
    }

    /// How algorithms are compared: all in one way.
    fn by(&self, jobs: &[JobSpec]) -> Result<By, String> {
        let hops: u64 = jobs.iter().map(|job| self.hops(job)).fold(0, u64::saturating_add);
        let is_fluid = self.is_fluid || hops > MOST_HOPS || engine(&self.alone)?.calls_program();
        // What fluid runs do not have is tried by packets, whatever that costs.
        let can_be = self.is_fluid || fluid::can_run(&self.alone);
        Ok(if is_fluid && can_be { By::Fluid } else { By::Packets })
    }

    /// Packet-hops that a job takes, about.
    fn hops(&self, job: &JobSpec) -> u64 {
        let (messages, bytes) = job.traffic(self.alone.servers);
        let packets = messages.saturating_add(bytes / self.alone.settings.transport.mtu.0.max(1));
        packets.saturating_mul(HOPS)
    }

    /// The time of a job alone; `None` if it does not end by then.
    fn time(&self, job: JobSpec, by: By, stop: Nanos) -> Result<Option<Nanos>, String> {
        let most = self.hops(&job).max(MOST_HOPS).saturating_mul(PATIENCE);
        let (scenario, mut ends) = trial::scenario(&self.alone, job, stop);
        if by == By::Fluid {
            return trial::fluid_time(&scenario, ends);
        }
        let mut engine = engine(&scenario)?;
        engine.add_jobs(jobs(&scenario, 0));
        let mut end = SLICE;
        loop {
            if engine.run_until(end) == Stop::Fault || engine.packet_hops() > most {
                return Ok(None);
            }
            drop((engine.take_started(), engine.take_completed()));
            if ends.see(engine.take_notes()) {
                return Ok(Some(ends.last));
            }
            let Some(next) = engine.next_time().filter(|_| end < stop) else { return Ok(None) };
            end = Nanos(next.0.max(end.0).saturating_add(SLICE.0));
        }
    }
}
