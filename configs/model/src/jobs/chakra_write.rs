// SPDX-License-Identifier: GPL-2.0-only
//! Writes a job as Chakra execution traces, which [`chakra`](super::chakra) reads: a file for each rank.

use super::chakra::{CPU, GPU};
use super::chakra_message::{Attribute, Inputs, Metadata, NodeMessage, Value};
use crate::job::{JobSpec, JobWork};
use hpcc_core::settings::Named;
use hpcc_core::workload::collective::{Kind, Plan};
use hpcc_core::workload::{Graph, Work};
use prost::Message;
use serde_json::json;
use std::collections::BTreeSet;

/// Types of nodes.
const METADATA: u64 = 1;
const COMPUTATION: u64 = 4;
const SEND: u64 = 5;
const RECEIVE: u64 = 6;
const COLLECTIVE: u64 = 7;

/// Tags are signed numbers of 32 bits.
const MOST_TAG: u64 = i32::MAX as u64;

/// Traces by rank, and what of the job they lack.
#[derive(Debug)]
pub struct Traces {
    /// The files.
    pub files: Vec<Vec<u8>>,
    /// What is lost.
    pub lost: BTreeSet<&'static str>,
}

/// A job as traces.
///
/// # Errors
/// What of the job they cannot say.
pub fn traces(job: &JobSpec) -> Result<Traces, String> {
    let mut lost = BTreeSet::new();
    let files = match &job.work {
        JobWork::Outside => return Err("what its ranks do is not known before the run".into()),
        JobWork::Graphs { graphs, collectives, .. } => {
            let files = graphs.iter().zip(0..).map(|(graph, rank)| {
                of_graph(graph, collectives, &mut lost).map_err(|why| format!("rank {rank} {why}"))
            });
            files.collect::<Result<_, String>>()?
        }
        JobWork::Collective(plan) => {
            let file = repeated(plan, &mut lost)?;
            vec![file; plan.group.len()]
        }
    };
    Ok(Traces { files, lost })
}

/// What depends on the end of others.
struct Node<'a> {
    id: u64,
    name: &'a str,
    kind: u64,
    after: Vec<u64>,
    nanos: u64,
}

/// One collective, iteration after iteration.
fn repeated(plan: &Plan, lost: &mut BTreeSet<&'static str>) -> Result<Vec<u8>, String> {
    let mut file = begun();
    put_groups(&mut file, 0, std::iter::once(plan));
    let mut last = None;
    let mut id = 1;
    for iteration in 0..plan.iterations {
        put_collective(
            &mut file,
            Node { id, name: "", kind: COLLECTIVE, after: last.into_iter().collect(), nanos: 0 },
            plan,
            lost,
        )?;
        last = Some(id);
        id += 1;
        if plan.gap.0 > 0 && iteration + 1 < plan.iterations {
            let gap = Node { id, name: "gap", kind: COMPUTATION, after: last.into_iter().collect(), nanos: plan.gap.0 };
            put(&mut file, &gap, vec![is_cpu_op(false)], None, lost);
            last = Some(id);
            id += 1;
        }
    }
    Ok(file)
}

fn of_graph(graph: &Graph, collectives: &[Plan], lost: &mut BTreeSet<&'static str>) -> Result<Vec<u8>, String> {
    let count = graph.works().count();
    let mut after: Vec<Vec<u64>> = vec![Vec::new(); count];
    for (other, operation, at_end) in graph.edges() {
        if !at_end {
            return Err(format!(
                "has an operation ({operation}) that waits for the begin of another one, and in traces they wait for ends"
            ));
        }
        after[operation as usize].push(other.into());
    }
    let mut file = begun();
    let mut used: Vec<&Plan> = Vec::new();
    for ((((work, resource), after), number), id) in
        graph.works().zip(graph.resources()).zip(after).zip(0_u32..).zip(0_u64..)
    {
        let node = |kind, nanos, after| Node { id, name: "", kind, after, nanos };
        let tag_of = |tag: u64| match i32::try_from(tag) {
            Ok(_) => Ok(Value::Uint64(tag)),
            Err(_) => Err(format!("has a message with the tag {tag}; those of traces are at most {MOST_TAG}")),
        };
        match work {
            Work::Send { to, tag, size, channel } => {
                lost.insert("one message of a rank leaves at a time");
                if *channel > 0 {
                    lost.insert("channels");
                }
                let attributes = vec![
                    is_cpu_op(false),
                    Attribute::new("comm_dst", Value::Uint64((*to).into())),
                    Attribute::new("comm_tag", tag_of(*tag)?),
                    Attribute::new("comm_size", Value::Uint64(*size)),
                ];
                put(&mut file, &node(SEND, 0, after), attributes, None, lost);
            }
            Work::Receive { from: Some(from), tag: Some(tag) } => {
                let attributes = vec![
                    is_cpu_op(false),
                    Attribute::new("comm_src", Value::Uint64((*from).into())),
                    Attribute::new("comm_tag", tag_of(*tag)?),
                ];
                put(&mut file, &node(RECEIVE, 0, after), attributes, None, lost);
            }
            Work::Receive { .. } => {
                return Err(format!(
                    "receives from any rank, or any tag (operation {number}), and in traces both are named"
                ));
            }
            Work::Compute(time) => {
                if resource.is_none_or(|resource| resource > GPU) {
                    lost.insert("what computes beside the CPU and the GPU takes turns with the GPU");
                }
                put(&mut file, &node(COMPUTATION, time.0, after), vec![is_cpu_op(resource == Some(CPU))], None, lost);
            }
            Work::Wait(time) => {
                lost.insert("times that only pass become computations");
                put(&mut file, &node(COMPUTATION, time.0, after), vec![is_cpu_op(false)], None, lost);
            }
            Work::Collective(collective) => {
                let plan = &collectives[collective.number() as usize];
                used.push(plan);
                put_collective(&mut file, node(COLLECTIVE, 0, after), plan, lost)?;
            }
            Work::Nothing | Work::Mark(_) => put(&mut file, &node(METADATA, 0, after), Vec::new(), None, lost),
        }
    }
    if !used.is_empty() {
        put_groups(&mut file, count as u64, used.into_iter());
    }
    Ok(file)
}

/// The name of a group of ranks.
fn name_of(group: &[u32]) -> String {
    let mut hash = blake3::Hasher::new();
    group.iter().for_each(|rank| _ = hash.update(&rank.to_le_bytes()));
    hash.finalize().to_hex()[..16].to_owned()
}

fn put_collective(
    file: &mut Vec<u8>,
    node: Node<'_>,
    plan: &Plan,
    lost: &mut BTreeSet<&'static str>,
) -> Result<(), String> {
    let kind = plan.pattern.kind;
    let number = match kind {
        Kind::AllReduce => 0,
        Kind::Reduce => 1,
        Kind::AllGather => 2,
        Kind::Broadcast => 5,
        Kind::AllToAll => 6,
        Kind::ReduceScatter => 7,
        Kind::Barrier => 9,
        Kind::SendReceive => return Err("sends to the next rank, which is no collective of traces".into()),
    };
    lost.insert("algorithms, protocols, channels and chunks of collectives are what the reader chooses");
    if plan.parts.is_some() {
        lost.insert("uneven exchanges become even");
    }
    let ranks = plan.group.len() as u64;
    if kind == Kind::AllGather && !plan.size.is_multiple_of(ranks) {
        lost.insert("sizes of all-gathers are rounded up to a multiple of their ranks");
    }
    // There a size is what a rank gives.
    let size = if kind == Kind::AllGather { plan.size.div_ceil(ranks) } else { plan.size };
    let group = name_of(&plan.group);
    let attributes = vec![
        is_cpu_op(false),
        Attribute::new("comm_type", Value::Uint64(number)),
        Attribute::new("comm_size", Value::Uint64(size)),
        Attribute::new("pg_name", Value::Text(group)),
    ];
    put(file, &Node { name: kind.name(), ..node }, attributes, None, lost);
    Ok(())
}

/// A node with the groups of collectives.
fn put_groups<'a>(file: &mut Vec<u8>, id: u64, plans: impl Iterator<Item = &'a Plan>) {
    let groups: BTreeSet<&[u32]> = plans.map(|plan| &*plan.group).collect();
    let list: Vec<_> = groups.into_iter().map(|ranks| json!({ "pg_name": name_of(ranks), "ranks": ranks })).collect();
    let node = Node { id, name: "process_groups", kind: METADATA, after: Vec::new(), nanos: 0 };
    put(file, &node, Vec::new(), Some(&json!(list).to_string()), &mut BTreeSet::new());
}

/// A file with its first message, which says its version.
fn begun() -> Vec<u8> {
    let mut file = Vec::new();
    put_message(&mut file, &Metadata { version: "0.0.4".into() });
    file
}

fn is_cpu_op(is_it: bool) -> Attribute {
    Attribute::new("is_cpu_op", Value::Bool(is_it))
}

/// Adds a node, whose duration is in microseconds.
fn put(
    file: &mut Vec<u8>,
    node: &Node<'_>,
    attributes: Vec<Attribute>,
    inputs: Option<&str>,
    lost: &mut BTreeSet<&'static str>,
) {
    let micros = (node.nanos + 500) / 1_000;
    // What takes no time takes a nanosecond there.
    if micros * 1_000 != node.nanos && !(micros == 0 && node.nanos == 1) {
        lost.insert("computations are rounded to microseconds");
    }
    let message = NodeMessage {
        id: node.id,
        name: node.name.into(),
        kind: node.kind,
        ctrl_deps: Vec::new(),
        data_deps: node.after.clone(),
        duration: micros,
        inputs: inputs.map(|inputs| Inputs { values: inputs.into() }),
        attributes,
    };
    put_message(file, &message);
}

/// Adds a message behind its length.
fn put_message(file: &mut Vec<u8>, message: &impl Message) {
    message.encode_length_delimited(file).expect("memory has room");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{CollectiveOptions, chakra};
    use crate::memory::Budget;
    use hpcc_core::units::Nanos;
    use hpcc_core::workload::GraphBuilder;

    use hpcc_core::workload::collective::Collective;
    use std::path::Path;
    use std::sync::Arc;

    fn job(work: JobWork, ranks: u32) -> JobSpec {
        let hosts: Vec<u32> = (0..ranks).collect();
        JobSpec { gpus: hosts.clone(), hosts, ..JobSpec::of(work) }
    }

    fn write(folder: &Path, traces: &Traces) {
        for (file, rank) in traces.files.iter().zip(0..) {
            std::fs::write(folder.join(format!("job.{rank}.et")), file).expect("file");
        }
    }

    fn plan(kind: Kind, size: u64) -> Plan {
        let ways = CollectiveOptions::default();
        // Of the first group that is read.
        Plan { first_channel: ways.channels_of(0), ..ways.plan(kind, [0, 1].into(), size, 0).expect("a plan") }
    }

    fn told(graphs: &[Graph]) -> Vec<String> {
        graphs
            .iter()
            .map(|graph| format!("{:?} {:?}", graph.works().collect::<Vec<_>>(), graph.edges().collect::<Vec<_>>()))
            .collect()
    }

    /// Messages, computations of both kinds, a collective and their order are read as they were.
    #[test]
    fn what_is_written_is_read_again() {
        let gather = plan(Kind::AllGather, 4_000);
        let graph = |rank: u32| {
            let mut graph = GraphBuilder::default();
            let first = graph.add(Work::Compute(Nanos(7_000)), Some(GPU));
            let message = match rank {
                0 => Work::Send { to: 1, tag: 9, size: 5 << 32, channel: 0 },
                _ => Work::Receive { from: Some(0), tag: Some(9) },
            };
            let message = graph.add(message, None);
            let collective = graph.add(Work::Collective(Box::new(Collective::new(gather.clone(), rank))), None);
            let last = graph.add(Work::Compute(Nanos(1)), Some(CPU));
            graph.require_end(message, first);
            graph.require_end(collective, message);
            graph.require_end(last, collective);
            // Groups come behind all.
            graph.add(Work::Nothing, None);
            graph.build().expect("no circle")
        };
        let graphs: Arc<[Graph]> = [graph(0), graph(1)].into();
        let work = JobWork::Graphs { graphs: graphs.clone(), collectives: [gather].into(), digest: String::new() };
        let traces = traces(&job(work, 2)).expect("traces");
        assert!(!traces.lost.iter().any(|lost| lost.contains("round")), "{:?}", traces.lost);
        let folder = tempfile::tempdir().expect("folder");
        write(folder.path(), &traces);
        let read = chakra::read(
            &folder.path().join("job"),
            None,
            2,
            &|_| CollectiveOptions::default(),
            &Budget::new().expect("memory"),
        )
        .expect("a trace");
        let mut known = told(&graphs);
        // The node of groups is one more.
        known.iter_mut().for_each(|text| *text = text.replacen("Nothing]", "Nothing, Nothing]", 1));
        assert_eq!(told(&read.graphs), known);
        assert_eq!(format!("{:?}", read.collectives), format!("{:?}", [plan(Kind::AllGather, 4_000)]));
    }

    #[test]
    fn iterations_of_a_collective_follow_each_other() {
        let plan = Plan { iterations: 3, gap: Nanos(2_400), ..plan(Kind::AllToAll, 1_000) };
        let traces = traces(&job(JobWork::Collective(plan), 2)).expect("traces");
        assert!(traces.lost.contains("computations are rounded to microseconds"));
        let folder = tempfile::tempdir().expect("folder");
        write(folder.path(), &traces);
        let read = chakra::read(
            &folder.path().join("job"),
            None,
            2,
            &|_| CollectiveOptions::default(),
            &Budget::new().expect("memory"),
        )
        .expect("a trace");
        let times: Vec<Nanos> = read.graphs[1].computations().collect();
        assert_eq!((read.collectives.len(), times), (3, vec![Nanos(2_000); 2]));
        assert_eq!(read.graphs[0].edges().count(), 4);
    }

    #[test]
    fn what_traces_cannot_say_is_refused() {
        let refused = |work: Work| {
            let mut builder = GraphBuilder::default();
            builder.add(work, None);
            of_graph(&builder.build().expect("no circle"), &[], &mut BTreeSet::new()).expect_err("refused")
        };
        assert!(refused(Work::Receive { from: None, tag: Some(1) }).contains("any rank"));
        assert!(refused(Work::Send { to: 0, tag: 1 << 31, size: 1, channel: 0 }).contains("the tag 2147483648"));
        let next = job(JobWork::Collective(plan(Kind::SendReceive, 5)), 2);
        assert!(traces(&next).expect_err("refused").contains("next rank"));
    }
}
