// SPDX-License-Identifier: GPL-2.0-only
//! Chakra execution traces: a file for each rank, with its computations, messages and collectives.

use super::chakra_file::{self, Node};
use super::{CollectiveOptions, JobFile, digest, matching};
use crate::error::InputError;
use crate::flow::MOST_BYTES;
use crate::memory::Budget;
use crate::place::Place;
use crate::text::{json_line, unreadable};
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{Collective, Kind, Plan};
use hpcc_core::workload::{Graph, GraphBuilder, Work};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One of each at a time.
pub(super) const CPU: u16 = 0;
pub(super) const GPU: u16 = 1;
const COMMUNICATION: u16 = 2;

/// A communicator: its name and its ranks.
type Group = (String, Arc<[u32]>);

/// The ranks of groups by name.
type Groups = BTreeMap<String, Arc<[u32]>>;

/// A collective of a group, as the first rank that has it says.
struct Common {
    plan: Plan,
    /// Of that rank.
    rank: u32,
    name: String,
    /// How many ranks have it.
    ranks: u32,
}

/// What the ranks of a trace have in common.
struct Trace<'a> {
    ways: &'a dyn Fn(Kind) -> CollectiveOptions,
    all: Arc<[u32]>,
    /// Groups of the file of groups.
    groups: Groups,
    /// By group, in its order.
    collectives: HashMap<Group, Vec<Common>>,
    count: u32,
}

/// The file of a rank: `PREFIX.RANK.et`, or `.json`.
fn file(prefix: &Path, rank: u32) -> Option<PathBuf> {
    let mut names = ["et", "json"].map(|extension| {
        let mut name = prefix.as_os_str().to_owned();
        name.push(format!(".{rank}.{extension}"));
        PathBuf::from(name)
    });
    names.iter_mut().find(|name| name.is_file()).map(std::mem::take)
}

/// Whether there is a trace of this name.
pub fn is_there(prefix: &Path) -> bool {
    file(prefix, 0).is_some()
}

/// Reads the files of at most so many ranks.
///
/// # Errors
/// What is no trace, groups that nobody knows, collectives that ranks do not agree on, messages without a counterpart.
pub fn read(
    prefix: &Path,
    groups: Option<&Path>,
    most_ranks: u32,
    ways: &dyn Fn(Kind) -> CollectiveOptions,
    budget: &Budget,
) -> Result<JobFile, InputError> {
    let files: Vec<PathBuf> = (0..).map_while(|rank| file(prefix, rank)).collect();
    let count = files.len() as u32;
    if count == 0 || count > most_ranks {
        let message =
            format!("there are {count} files PREFIX.RANK.et and {most_ranks} hosts; expected 1 to {most_ranks}");
        return Err(Place::file(prefix).error(message));
    }
    let mut hash = vec![format!("{:?}", Kind::ALL.iter().map(|kind| ways(*kind)).collect::<Vec<_>>()).into_bytes()];
    let all: Arc<[u32]> = (0..count).collect();
    let mut trace = Trace { ways, all, groups: Groups::new(), collectives: HashMap::new(), count: 0 };
    if let Some(path) = groups {
        let place = Place::file(path);
        let bytes = crate::input::read(path).map_err(|error| unreadable(&place, &error))?;
        trace.groups = group_file(&place, &bytes, count)?;
        hash.push(bytes);
    }
    let (mut graphs, mut sizeless) = (Vec::new(), Sizeless::default());
    for (path, rank) in files.iter().zip(0..) {
        let (nodes, bytes) = chakra_file::read(path, budget)?;
        budget.operations(nodes.len() as u128).map_err(|message| Place::file(path).error(message))?;
        hash.push(blake3::hash(&bytes).as_bytes().to_vec());
        sizeless.see(rank, &nodes);
        graphs.push(trace.rank(&Place::file(path), rank, nodes)?);
    }
    let named = |rank: u32, operation: u32| {
        let path = &files[rank as usize];
        let nodes = chakra_file::read(path, budget).map(|(nodes, _)| nodes).unwrap_or_default();
        let name = sorted(nodes).get(operation as usize).map(told).unwrap_or_default();
        (Place::file(path), name)
    };
    let mut plans = vec![None; trace.count as usize];
    for ((name, ranks), list) in trace.collectives {
        for Common { plan, rank, name: node, ranks: count } in list {
            if count < ranks.len() as u32 {
                return Err(Place::file(&files[rank as usize]).error(format!(
                    "rank {rank}, {node}: {count} ranks take part, and group {name} has {}; expected all of them",
                    ranks.len()
                )));
            }
            let number = plan.number as usize;
            plans[number] = Some(plan);
        }
    }
    matching::check(&graphs, named)?;
    let digest = digest(hash.iter().map(Vec::as_slice));
    Ok(JobFile {
        graphs,
        collectives: plans.into_iter().flatten().collect(),
        digest,
        notes: sizeless.note(prefix).into_iter().collect(),
    })
}

/// Nodes that send, and say no size: whoever wrote the trace may not have known it.
#[derive(Default)]
struct Sizeless {
    count: u64,
    /// Rank and node.
    first: Option<String>,
}

impl Sizeless {
    fn see(&mut self, rank: u32, nodes: &[Node]) {
        const BARRIER: u64 = 9;
        let sends = |node: &&Node| node.kind == 5 || (node.kind == 7 && node.comm_type != Some(BARRIER));
        for node in nodes.iter().filter(sends).filter(|node| node.comm_size == 0) {
            self.count += 1;
            self.first.get_or_insert_with(|| format!("rank {rank}, {}", told(node)));
        }
    }

    fn note(self, prefix: &Path) -> Option<String> {
        let Sizeless { count, first } = self;
        let first = first?;
        let what = format!("{count} sends and collectives have comm_size 0, the first of them {first}");
        Some(Place::file(prefix).error(format!("{what}: their messages take a byte each")).to_string())
    }
}

/// A node as an error names it.
fn told(node: &Node) -> String {
    format!("node {} ({})", node.id, node.name)
}

/// Nodes in the order in which they begin where several could.
fn sorted(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_by_key(|node| node.id);
    nodes
}

fn group_file(place: &Place, bytes: &[u8], count: u32) -> Result<Groups, InputError> {
    let groups: BTreeMap<String, Vec<u32>> = serde_json::from_slice(bytes).map_err(|error| {
        let message = format!("no groups: {error}; expected such as {{\"1\": [0, 1], \"2\": [2, 3]}}");
        place.at(json_line(&error, bytes)).error(message)
    })?;
    for (name, ranks) in &groups {
        if let Some(rank) = ranks.iter().find(|rank| **rank >= count) {
            return Err(
                place.error(format!("group {name} has rank {rank}, and there are {count}; expected lower numbers"))
            );
        }
    }
    Ok(groups.into_iter().map(|(name, ranks)| (name, ranks.into())).collect())
}

/// A group of processes in a node of PyTorch; without ranks it has all.
#[derive(Deserialize)]
struct ProcessGroup {
    pg_name: String,
    #[serde(default)]
    ranks: Vec<u32>,
}

impl Trace<'_> {
    /// The graph of a rank.
    fn rank(&mut self, place: &Place, rank: u32, nodes: Vec<Node>) -> Result<Graph, InputError> {
        let nodes = sorted(nodes);
        let wrong = |node: &Node, message: String| place.error(format!("rank {rank}, {}: {message}", told(node)));
        let mut groups = self.groups.clone();
        for node in nodes.iter().filter(|node| node.kind == 1) {
            // Others are of no use here.
            for ProcessGroup { pg_name, ranks } in
                serde_json::from_str::<Vec<ProcessGroup>>(&node.inputs).unwrap_or_default()
            {
                if let Some(other) = ranks.iter().find(|other| **other as usize >= self.all.len()) {
                    return Err(wrong(
                        node,
                        format!("group {pg_name} has rank {other}, and there are {}", self.all.len()),
                    ));
                }
                let ranks = if ranks.is_empty() { self.all.clone() } else { ranks.into() };
                groups.entry(pg_name).or_insert(ranks);
            }
        }
        let mut builder = GraphBuilder::default();
        let mut orders: HashMap<Group, usize> = HashMap::new();
        for node in &nodes {
            let (work, resource) =
                self.work(rank, node, &groups, &mut orders).map_err(|message| wrong(node, message))?;
            builder.add(work, resource);
        }
        for (node, number) in nodes.iter().zip(0..) {
            for id in node.data_deps.iter().chain(&node.ctrl_deps) {
                let other = nodes.binary_search_by_key(id, |node| node.id).map_err(|_| {
                    wrong(node, format!("it depends on node {id}, which is not there; expected the id of a node"))
                })?;
                builder.require_end(number, other as u32);
            }
        }
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(wrong(&pair[1], "its id is there twice; expected one node of an id".into()));
        }
        builder.build().map_err(|circle| {
            wrong(&nodes[circle.operation as usize], "it depends on itself, by others; expected no circle".into())
        })
    }

    /// What a node does, and what it takes.
    fn work(
        &mut self,
        rank: u32,
        node: &Node,
        groups: &Groups,
        orders: &mut HashMap<Group, usize>,
    ) -> Result<(Work, Option<u16>), String> {
        let peer = |other: u32| match self.all.get(other as usize) {
            Some(_) => Ok(other),
            None => Err(format!("rank {other} is none of the {} ranks", self.all.len())),
        };
        let time = || {
            let time = node.duration.checked_mul(1000).filter(|time| *time <= Nanos::LONGEST.0);
            let time = time.ok_or_else(|| {
                format!("{} microseconds are too long; expected at most {}", node.duration, Nanos::LONGEST.0 / 1000)
            });
            time.map(|time| Work::Compute(Nanos(time.max(1))))
        };
        let size = Some(node.comm_size).filter(|size| *size <= MOST_BYTES);
        let size = size.ok_or_else(|| format!("comm_size is {}; expected at most {MOST_BYTES}", node.comm_size))?;
        Ok(match node.kind {
            0 | 1 => (Work::Nothing, None),
            2 | 3 => (time()?, Some(COMMUNICATION)),
            4 => (time()?, Some(if node.is_cpu_op { CPU } else { GPU })),
            5 => {
                let (to, tag) = (peer(node.comm_dst)?, node.comm_tag.into());
                (Work::Send { to, tag, size, channel: 0 }, Some(COMMUNICATION))
            }
            6 => (Work::Receive { from: Some(peer(node.comm_src)?), tag: Some(node.comm_tag.into()) }, None),
            7 => (self.collective(rank, node, size, groups, orders)?, Some(COMMUNICATION)),
            kind => return Err(format!("its type is {kind}; expected 0 to 7")),
        })
    }

    fn collective(
        &mut self,
        rank: u32,
        node: &Node,
        size: u64,
        groups: &Groups,
        orders: &mut HashMap<Group, usize>,
    ) -> Result<Work, String> {
        let name = if node.pg_name.is_empty() { "0" } else { &node.pg_name };
        let group = groups.get(name).cloned().or_else(|| (name == "0").then(|| self.all.clone()));
        let group = group.ok_or_else(|| {
            format!(
                "there is no group {name}; expected a file of groups (traffic.groups), or a node of metadata with it"
            )
        })?;
        let place = group.iter().position(|other| *other == rank);
        let place = place.ok_or_else(|| format!("it is no member of group {name}"))? as u32;
        let kind = match node.comm_type {
            Some(0) => Kind::AllReduce,
            Some(1) => Kind::Reduce,
            Some(2) => Kind::AllGather,
            Some(5) => Kind::Broadcast,
            Some(6) => Kind::AllToAll,
            Some(7 | 8) => Kind::ReduceScatter,
            Some(9) => Kind::Barrier,
            Some(other) => {
                return Err(format!("comm_type is {other}; expected 0, 1, 2, or 5 to 9: no gather, no scatter"));
            }
            None => return Err("comm_type is missing; expected the kind of the collective".into()),
        };
        if group.len() < 2 {
            return Ok(Work::Nothing);
        }
        // Here a size is the whole array, there what a rank gives.
        let size = if kind == Kind::AllGather { size.saturating_mul(group.len() as u64) } else { size };
        let key = (name.to_owned(), group.clone());
        let order = orders.entry(key.clone()).or_default();
        let next = self.collectives.len();
        let list = self.collectives.entry(key).or_default();
        if *order == list.len() {
            if self.count == Plan::MOST {
                return Err(format!("it is one of more than {} collectives", Plan::MOST));
            }
            let ways = (self.ways)(kind);
            let plan =
                ways.plan(kind, group, size, self.count).map_err(|(key, message)| format!("{key}: {message}"))?;
            self.count += 1;
            // Those of a group have the same queue pairs, and other groups others.
            let first_channel = list.first().map_or(ways.channels_of(next), |first| first.plan.first_channel);
            list.push(Common { plan: Plan { first_channel, ..plan }, rank, name: told(node), ranks: 0 });
        }
        let common = &mut list[*order];
        *order += 1;
        common.ranks += 1;
        if common.plan.pattern.kind != kind || common.plan.size != size {
            return Err(format!(
                "collective {} of group {name} is another one at rank {}: {}; expected the same kind and size",
                *order - 1,
                common.rank,
                common.name
            ));
        }
        Ok(Work::Collective(Box::new(Collective::new(common.plan.clone(), place))))
    }
}

#[cfg(test)]
mod tests;
