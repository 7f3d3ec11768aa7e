// SPDX-License-Identifier: GPL-2.0-only
//! A job as graphs of messages and computations, its collectives as the messages that they become.

use crate::job::{JobSpec, JobWork};
use crate::memory::Budget;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Plan;
use hpcc_core::workload::{Graph, GraphBuilder, Work};
use std::borrow::Cow;

/// The first resource, which what is computed between iterations takes.
const FIRST: u16 = 0;

/// The graphs of a job's ranks.
///
/// # Errors
/// Why there are none.
pub fn graphs(job: &JobSpec) -> Result<Cow<'_, [Graph]>, String> {
    let refused = |operations: u64| Budget::new()?.operations(operations.into());
    match &job.work {
        JobWork::Outside => Err("what its ranks do is not known before the run".into()),
        JobWork::Graphs { graphs, collectives, .. } if collectives.is_empty() => Ok(Cow::Borrowed(graphs)),
        JobWork::Graphs { graphs, collectives, .. } => {
            refused(collectives.iter().map(Plan::operations).fold(0, u64::saturating_add))?;
            let tag = |work: &Work| match *work {
                Work::Send { tag, .. } | Work::Receive { tag: Some(tag), .. } => tag,
                Work::Receive { tag: None, .. }
                | Work::Compute(_)
                | Work::Wait(_)
                | Work::Collective(_)
                | Work::Nothing
                | Work::Mark(_) => 0,
            };
            let mut next = graphs.iter().flat_map(Graph::works).map(tag).max().map_or(0, |last| last + 1);
            let mut first_tags = Vec::new();
            for plan in &**collectives {
                first_tags.push(next);
                next += plan.tags();
            }
            let unroll = |(graph, rank)| unrolled(graph, rank, collectives, &first_tags);
            graphs.iter().zip(0..).map(unroll).collect::<Result<Vec<_>, _>>().map(Cow::Owned)
        }
        JobWork::Collective(plan) => {
            refused(plan.operations().saturating_mul(plan.iterations.into()))?;
            (0..plan.group.len() as u32).map(|rank| repeated(plan, rank)).collect::<Result<Vec<_>, _>>().map(Cow::Owned)
        }
    }
}

/// A collective over and over.
fn repeated(plan: &Plan, rank: u32) -> Result<Graph, String> {
    let mut graph = GraphBuilder::default();
    let mut before = graph.add(Work::Nothing, Some(FIRST));
    for iteration in 0..plan.iterations {
        let gap = if iteration + 1 < plan.iterations { plan.gap } else { Nanos(0) };
        let after = graph.add(if gap > Nanos(0) { Work::Compute(gap) } else { Work::Nothing }, Some(FIRST));
        plan.unroll(rank, u64::from(iteration) * plan.tags(), (before, after), &mut graph);
        before = after;
    }
    built(graph)
}

/// A graph with messages in place of its collectives.
fn unrolled(graph: &Graph, rank: u32, collectives: &[Plan], first_tags: &[u64]) -> Result<Graph, String> {
    let mut new = GraphBuilder::default();
    // What stands for each operation: its begin, and its end.
    let mut places = Vec::new();
    for (work, resource) in graph.works().zip(graph.resources()) {
        let begin = match work {
            Work::Collective(_) => new.add(Work::Nothing, None),
            Work::Send { .. }
            | Work::Receive { .. }
            | Work::Compute(_)
            | Work::Wait(_)
            | Work::Nothing
            | Work::Mark(_) => new.add(work.clone(), resource),
        };
        let end = if matches!(work, Work::Collective(_)) { new.add(Work::Nothing, None) } else { begin };
        if let Work::Collective(collective) = work {
            let number = collective.number() as usize;
            let plan = &collectives[number];
            let place = plan.group.iter().position(|member| *member == rank).unwrap_or_default();
            plan.unroll(place as u32, first_tags[number], (begin, end), &mut new);
        }
        places.push((begin, end));
    }
    for (other, operation, at_end) in graph.edges() {
        let (begin, end) = places[other as usize];
        if at_end {
            new.require_end(places[operation as usize].0, end);
        } else {
            new.require_start(places[operation as usize].0, begin);
        }
    }
    built(new)
}

fn built(graph: GraphBuilder) -> Result<Graph, String> {
    graph.build().map_err(|circle| format!("operation {} waits for itself", circle.operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{CollectiveOptions, ideal, testing};
    use hpcc_core::workload::Job;

    use hpcc_core::workload::collective::{Collective, Kind, PATTERNS};

    fn spec(work: JobWork, ranks: u32) -> JobSpec {
        let hosts: Vec<u32> = (0..ranks).collect();
        JobSpec { gpus: hosts.clone(), hosts, ..JobSpec::of(work) }
    }

    fn time(job: Job) -> Nanos {
        let course = ideal::run(job, None, |message| Nanos(1_000 + message.size), |time| time);
        assert!(course.unfinished.is_empty(), "{:?}", course.unfinished);
        course.time
    }

    #[test]
    fn messages_take_as_long_as_their_collective() {
        for pattern in PATTERNS.iter().filter(|pattern| !pattern.in_servers) {
            let ways =
                CollectiveOptions { channels: Some(2), chunk: Some(9_000), depth: 64, ..CollectiveOptions::default() };
            let ways = CollectiveOptions { algorithm: Some(pattern.name.into()), ..ways };
            let plan = ways.plan(pattern.kind, (0..8).collect(), 80_000, 0).expect("a plan");
            let plan = Plan { iterations: 2, gap: Nanos(500), ..plan };
            let job = spec(JobWork::Collective(plan.clone()), 8);
            let graphs = graphs(&job).expect("graphs");
            assert_eq!(time(testing::job(&graphs)), time(job.job()), "{:?} {}", pattern.kind, pattern.name);
            let messages: u64 = graphs.iter().map(|graph| graph.traffic(|_| true).0).sum();
            assert_eq!(messages, plan.traffic(|_, _| true).0, "{:?} {}", pattern.kind, pattern.name);
        }
    }

    /// What a collective waits for, and what waits for it, does so still.
    #[test]
    fn a_collective_among_others_becomes_messages_in_its_place() {
        let plan = CollectiveOptions::default().plan(Kind::AllReduce, (0..4).collect(), 4_000, 0).expect("a plan");
        let graph = |rank: u32| {
            let mut graph = GraphBuilder::default();
            let first = graph.add(Work::Compute(Nanos(100 * u64::from(rank))), Some(0));
            let collective = graph.add(Work::Collective(Box::new(Collective::new(plan.clone(), rank))), Some(1));
            let last = graph.add(Work::Compute(Nanos(70)), Some(0));
            graph.require_end(collective, first);
            graph.require_end(last, collective);
            graph.build().expect("no circle")
        };
        let work = JobWork::Graphs {
            graphs: (0..4).map(graph).collect(),
            collectives: [plan.clone()].into(),
            digest: String::new(),
        };
        let job = spec(work, 4);
        let graphs = graphs(&job).expect("graphs");
        assert_eq!(time(job.job()), Nanos(300 + 6 * 2_000 + 70));
        assert_eq!(time(testing::job(&graphs)), time(job.job()));
        assert!(graphs.iter().flat_map(Graph::works).all(|work| !matches!(work, Work::Collective(_))));
    }
}
