// SPDX-License-Identifier: GPL-2.0-only
//! How the jobs of a run go: what their ranks have noted, and who waits for whom if they stand still.

use crate::fleet::Paused;
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Jobs, Note, Noted, Servers, Unfinished};
use hpcc_formats::job::JobSpec;
use hpcc_formats::results::collectives_csv::CollectiveRow;
use hpcc_formats::results::jobs_csv::JobRow;
use hpcc_formats::scenario::Scenario;
use std::collections::BTreeMap;

/// Most ranks of a chain that is told.
const LONGEST_CHAIN: usize = 8;

/// One iteration of a collective.
#[derive(Clone, Copy, Debug)]
struct Iteration {
    begin: Nanos,
    end: Nanos,
    slowest: u32,
    ended: u32,
}

/// A job so far.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    over: u32,
    last: Nanos,
    messages: u64,
    bytes: u64,
}

/// The jobs of a run so far.
pub struct JobResults {
    specs: Vec<JobSpec>,
    courses: Vec<Course>,
    /// By job, collective and iteration.
    iterations: BTreeMap<(u32, u32, u32), Iteration>,
}

/// The jobs for an engine, whose messages are numbered behind `flows` flows.
pub fn jobs(specs: &[JobSpec], flows: u32, servers: Option<Servers>) -> Jobs {
    let mut jobs = Jobs::new(flows, servers);
    specs.iter().for_each(|spec| _ = jobs.add(spec.job()));
    jobs
}

impl JobResults {
    pub fn new(specs: &[JobSpec]) -> JobResults {
        JobResults { specs: specs.to_vec(), courses: vec![Course::default(); specs.len()], iterations: BTreeMap::new() }
    }

    /// Whether all are over.
    pub fn is_done(&self) -> bool {
        self.specs.iter().zip(&self.courses).all(|(spec, course)| course.over as usize == spec.hosts.len())
    }

    /// The number of a job's group.
    pub fn group(&self, job: u32) -> u32 {
        self.specs[job as usize].group
    }

    /// A message of a job has finished.
    pub fn count(&mut self, job: u32, bytes: u64) {
        let course = &mut self.courses[job as usize];
        course.messages += 1;
        course.bytes += bytes;
    }

    /// Takes in what ranks have noted.
    pub fn take(&mut self, engine: &mut Paused<'_>) {
        for Noted { job, rank, note, at } in engine.take_notes() {
            match note {
                Note::Begin { collective, iteration } => {
                    let known = self.iterations.entry((job, collective, iteration)).or_insert(Iteration {
                        begin: at,
                        end: at,
                        slowest: rank,
                        ended: 0,
                    });
                    known.begin = known.begin.min(at);
                }
                Note::End { collective, iteration } => {
                    let Some(known) = self.iterations.get_mut(&(job, collective, iteration)) else { continue };
                    known.ended += 1;
                    // Of several at one time the first rank, however the run was divided.
                    if at > known.end || (at == known.end && rank < known.slowest) {
                        (known.end, known.slowest) = (at, rank);
                    }
                }
                Note::Over => {
                    let course = &mut self.courses[job as usize];
                    course.over += 1;
                    course.last = course.last.max(at);
                }
            }
        }
    }

    /// The rows of `jobs.csv` and `collectives.csv`.
    pub fn rows(&self) -> (Vec<JobRow>, Vec<CollectiveRow>) {
        let job = |(spec, course): (&JobSpec, &Course)| {
            let ranks = spec.hosts.len() as u32;
            let time_ns = (course.over == ranks).then(|| (course.last - spec.start).0);
            let &Course { over: finished, messages, bytes, .. } = course;
            JobRow { group: spec.group, ranks, finished, start_ns: spec.start.0, time_ns, messages, bytes }
        };
        let row = |(&(job, collective, iteration), known): (&(u32, u32, u32), &Iteration)| {
            let spec = &self.specs[job as usize];
            let plan = spec.collective(collective)?;
            let ranks = plan.group.len() as u32;
            if known.ended < ranks {
                return None;
            }
            let time = known.end - known.begin;
            let algbw = plan.size as f64 / (time.0 as f64).max(1.0);
            Some(CollectiveRow {
                group: spec.group,
                collective,
                operation: plan.pattern.kind.name().into(),
                algorithm: plan.pattern.name.into(),
                ranks,
                size: plan.size,
                iteration,
                start_ns: known.begin.0,
                time_ns: time.0,
                algbw,
                busbw: algbw * plan.pattern.kind.bus_factor(ranks),
                slowest: known.slowest,
            })
        };
        (self.specs.iter().zip(&self.courses).map(job).collect(), self.iterations.iter().filter_map(row).collect())
    }

    /// A sentence for each job that is not over: which of its ranks waits for which.
    pub fn stalls(&self, engine: &Paused<'_>, scenario: &Scenario, is_still: bool) -> Vec<String> {
        let mut by_job: BTreeMap<u32, BTreeMap<u32, Unfinished>> = BTreeMap::new();
        for rank in engine.unfinished_ranks() {
            by_job.entry(rank.job).or_default().insert(rank.rank, rank);
        }
        let stall = |(job, ranks): (u32, BTreeMap<u32, Unfinished>)| {
            let name = &scenario.flows.groups[self.group(job) as usize];
            let (start, total) = (self.specs[job as usize].start, self.specs[job as usize].hosts.len());
            if start >= scenario.stop {
                return format!("job {name} begins at {start}, and the run ends at {}", scenario.stop);
            }
            format!("job {name}: {} of {total} ranks are not over: {}", ranks.len(), chain(&ranks, is_still))
        };
        by_job.into_iter().map(stall).collect()
    }
}

/// Who waits for whom, from the first rank that waits for another one on; `is_still`: no message is under way.
fn chain(ranks: &BTreeMap<u32, Unfinished>, is_still: bool) -> String {
    let first = ranks.values().find(|rank| rank.awaits.is_some()).or_else(|| ranks.values().next());
    let mut seen = Vec::new();
    let mut next = first.map(|rank| rank.rank);
    let mut links = Vec::new();
    while let Some(rank) = next {
        if seen.contains(&rank) {
            links.extend(is_still.then(|| format!("which is rank {rank} again: they wait for each other")));
            break;
        }
        if seen.len() == LONGEST_CHAIN {
            links.push("and so on".into());
            break;
        }
        seen.push(rank);
        let Some(known) = ranks.get(&rank) else {
            links.push(format!("rank {rank} is over and has not sent it"));
            break;
        };
        let Some((from, tag)) = known.awaits else {
            links.push(format!("rank {rank} (host {}) sends or computes", known.host));
            break;
        };
        let tag = tag.map_or_else(String::new, |tag| format!(" with tag {tag}"));
        let source = from.map_or_else(|| "any rank".into(), |from| format!("rank {from}"));
        links.push(format!("rank {rank} (host {}) waits for a message from {source}{tag}", known.host));
        next = from;
    }
    links.join(", ")
}
