// SPDX-License-Identifier: GPL-2.0-only
//! Writes a job as GOAL's text, which [`goal`](super::goal) reads.

use super::messages;
use crate::job::JobSpec;
use hpcc_core::workload::{Graph, Work};
use std::borrow::Cow;
use std::io::{self, Write};

/// CPUs that GOAL numbers.
const CPUS: u16 = 256;

/// The graphs of a job, if GOAL can say them; collectives as the messages that they become.
///
/// # Errors
/// What of the job it cannot say.
pub fn graphs(job: &JobSpec) -> Result<Cow<'_, [Graph]>, String> {
    let graphs = messages::graphs(job)?;
    graphs.iter().zip(0..).try_for_each(|(graph, rank)| check(graph, rank))?;
    Ok(graphs)
}

fn check(graph: &Graph, rank: u32) -> Result<(), String> {
    let refuse = |what: String| Err(format!("rank {rank} {what}"));
    for (work, resource) in graph.works().zip(graph.resources()) {
        match *work {
            Work::Send { tag, .. } | Work::Receive { tag: Some(tag), .. } if tag >= u32::MAX.into() => {
                return refuse(format!("has a message with the tag {tag}; GOAL's are below {}", u32::MAX));
            }
            Work::Send { channel, .. } if channel >= CPUS => {
                return refuse(format!(
                    "has {channel} channels or more, which GOAL calls NICs; expected at most {CPUS}"
                ));
            }
            Work::Compute(_) if resource.is_none() => {
                return refuse("has computations that take no CPU, which GOAL has not; expected none".into());
            }
            Work::Wait(_) => return refuse("lets time pass without a computation, which GOAL cannot say".into()),
            Work::Send { .. }
            | Work::Receive { .. }
            | Work::Compute(_)
            | Work::Collective(_)
            | Work::Nothing
            | Work::Mark(_) => {}
        }
    }
    match idle_cpu(graph) {
        Some(_) => Ok(()),
        None => refuse(format!("uses {CPUS} resources or more; GOAL has {CPUS} CPUs, one of them for messages")),
    }
}

/// A CPU that computes nothing: messages there wait for no computation.
fn idle_cpu(graph: &Graph) -> Option<u16> {
    let last = graph.resources().flatten().max();
    Some(last.map_or(0, |last| last + 1)).filter(|&cpu| cpu < CPUS)
}

/// Writes the graphs of a job's ranks.
///
/// # Errors
/// Those of the output.
pub fn write(graphs: &[Graph], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "num_ranks {}", graphs.len())?;
    for (graph, rank) in graphs.iter().zip(0..) {
        write_rank(graph, rank, out)?;
    }
    Ok(())
}

fn write_rank(graph: &Graph, rank: u32, out: &mut dyn Write) -> io::Result<()> {
    let any = |number: Option<u64>| number.map_or_else(|| "-1".to_owned(), |number| number.to_string());
    let idle = idle_cpu(graph).unwrap_or_default();
    writeln!(out, "rank {rank} {{")?;
    for ((work, resource), number) in graph.works().zip(graph.resources()).zip(0_u32..) {
        let cpu = resource.unwrap_or(idle);
        match work {
            Work::Send { to, tag, size, channel } => {
                writeln!(out, "l{number}: send {size}b to {to} tag {tag} cpu {idle} nic {channel}")?;
            }
            Work::Receive { from, tag } => {
                let from = any(from.map(Into::into));
                writeln!(out, "l{number}: recv 0b from {from} tag {} cpu {idle}", any(*tag))?;
            }
            Work::Compute(time) | Work::Wait(time) => writeln!(out, "l{number}: calc {} cpu {cpu}", time.0)?,
            Work::Collective(_) | Work::Nothing | Work::Mark(_) => writeln!(out, "l{number}: calc 0 cpu {cpu}")?,
        }
    }
    for (other, operation, at_end) in graph.edges() {
        let word = if at_end { "requires" } else { "irequires" };
        writeln!(out, "l{operation} {word} l{other}")?;
    }
    writeln!(out, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::goal::{self, Costs};
    use crate::memory::Budget;
    use hpcc_core::units::Nanos;
    use hpcc_core::workload::GraphBuilder;

    /// Two CPUs, two NICs, a message from anybody, and operations that wait for the begin of others.
    fn job() -> Vec<Graph> {
        let mut first = GraphBuilder::default();
        let computation = first.add(Work::Compute(Nanos(700)), Some(0));
        let other = first.add(Work::Compute(Nanos(300)), Some(1));
        let send = first.add(Work::Send { to: 1, tag: 7, size: 5_000, channel: 1 }, None);
        let join = first.add(Work::Nothing, Some(0));
        first.require_end(send, computation);
        first.require_start(send, other);
        first.require_end(join, send);
        let mut second = GraphBuilder::default();
        let receive = second.add(Work::Receive { from: None, tag: None }, None);
        let computation = second.add(Work::Compute(Nanos(100)), Some(0));
        second.require_end(computation, receive);
        vec![first.build().expect("no circle"), second.build().expect("no circle")]
    }

    fn text(graphs: &[Graph]) -> String {
        let mut text = Vec::new();
        write(graphs, &mut text).expect("memory");
        String::from_utf8(text).expect("ASCII")
    }

    #[test]
    fn what_is_written_is_read_again() {
        let written = text(&job());
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("job.goal");
        std::fs::write(&path, &written).expect("file");
        let free = Costs { overhead: Nanos(0), gap: Nanos(0), per_byte: 0.0 };
        let read = goal::read(&path, 2, &free, None, &Budget::new().expect("memory")).expect("GOAL");
        assert_eq!(text(&read.graphs), written);
        for (read, graph) in read.graphs.iter().zip(job()) {
            assert!(
                format!("{:?}", read.works().collect::<Vec<_>>()) == format!("{:?}", graph.works().collect::<Vec<_>>())
            );
            assert!(read.edges().eq(graph.edges()));
        }
    }

    #[test]
    fn what_goal_cannot_say_is_refused() {
        let refused = |work: Work| {
            let mut builder = GraphBuilder::default();
            builder.add(work, None);
            check(&builder.build().expect("no circle"), 3).expect_err("refused")
        };
        let send = |tag, channel| Work::Send { to: 0, tag, size: 1, channel };
        assert!(refused(send(1 << 40, 0)).starts_with("rank 3 has a message with the tag 1099511627776"));
        assert!(refused(send(0, 256)).contains("256 channels"));
        assert!(refused(Work::Compute(Nanos(5))).contains("take no CPU"));
    }
}
