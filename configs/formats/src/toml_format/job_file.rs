// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]` of the kinds that are files of other simulators with jobs.

use super::collective::ways;
use super::keys::{Form, Need, TEXT, TIME, Values, keys, whole};
use super::placement;
use super::traffic::Context;
use crate::error::InputError;
use crate::generate::Random;
use crate::job::{JobSpec, JobWork};
use crate::jobs::transformer::Transformer;
use crate::jobs::{JobFile, Tuning, Ways, chakra, connection_matrix, goal, simai};
use crate::text::{no_file, resolve};
use hpcc_core::settings::{Kind, Named};
use hpcc_core::workload::collective;
use std::path::{Path, PathBuf};

keys! {
    GOAL {
        /// Name of a GOAL file, as text or in binary form, relative to the scenario's folder, then to the working folder.
        path: TEXT;
        /// Time that each message takes of a CPU, at its sender before it leaves and at its receiver when it is there.
        o: TIME => Need::Else("0");
        /// Least time between two messages that a NIC sends.
        g: TIME => Need::Else("0");
        /// Time in nanoseconds that each byte of a message takes of a CPU in addition to `o`, but for the first.
        O: Form::One(Kind::Real { least: 0.0, most: 1e9 }) => Need::Else("0");
    }
    CHAKRA {
        /// Name of a Chakra trace without `.RANK.et` or `.RANK.json`: a file for each rank, relative to the scenario's folder,
        /// then to the working folder.
        path: TEXT;
        /// Name of a file of groups as ASTRA-sim has it, such as `{"1": [0, 1], "2": [2, 3]}`; without it, groups are those
        /// of the trace's metadata.
        groups: TEXT => Need::Optional;
    }
    SIMAI {
        /// Name of a workload of SimAI, relative to the scenario's folder, then to the working folder.
        path: TEXT;
        /// How often the layers are passed, forward and backward.
        passes: whole(1, 1_000_000) => Need::Else("1");
    }
    TRANSFORMER {
        /// Number of layers of the model.
        layers: whole(1, 10_000);
        /// Hidden size of the model: numbers for each token.
        hidden: whole(1, 1_000_000);
        /// Query heads that share a key and a value (grouped queries): 8 with 64 heads, of which 8 have keys and values; 1: each
        /// has its own.
        queries_per_key: whole(1, 1_000) => Need::Else("1");
        /// Size of the feed-forward part, or of one expert; by default four times the hidden size. With a gated one, such as
        /// Llama's, give one and a half times its size.
        feed_forward: whole(1, 10_000_000) => Need::Optional, "four times the hidden size";
        /// Tokens of a sequence.
        sequence: whole(1, 100_000_000);
        /// Tokens that the last layer tells apart; with 0 it costs nothing.
        vocabulary: whole(0, 10_000_000) => Need::Else("0");
        /// Sequences of a micro-batch.
        micro_batch: whole(1, 1_000_000) => Need::Else("1");
        /// Micro-batches that each pipeline passes in an iteration.
        micro_batches: whole(1, 100_000) => Need::Else("1");
        /// Ranks that share each layer (tensor parallelism).
        tensor: whole(1, 100_000) => Need::Else("1");
        /// Stages (pipeline parallelism), which have the same number of layers, or the first ones one more.
        pipeline: whole(1, 10_000) => Need::Else("1");
        /// Experts of each layer; 1: the model is dense.
        experts: whole(1, 10_000) => Need::Else("1");
        /// Data-parallel ranks among which experts are divided (expert parallelism); 1: each rank has all.
        expert: whole(1, 100_000) => Need::Else("1");
        /// Experts of each token; by default 2, of a dense model 1.
        top_k: whole(1, 1_000) => Need::Optional;
        /// What a GPU really computes, in 10^12 operations a second.
        teraflops: Form::One(Kind::Real { least: 1e-3, most: 1e9 });
        /// Buckets of the gradients of a stage, each all-reduced as soon as the last backward pass has it. They have the same
        /// number of layers, or the first ones one more.
        buckets: whole(1, 10_000) => Need::Else("1"), "one all-reduce of all gradients of a stage, behind its last backward pass";
        /// How many iterations follow each other.
        iterations: whole(1, 10_000) => Need::Else("1");
    }
    /// Of files with collectives: by which messages. By default the operation's first in the list of the page on jobs; `auto`
    /// chooses by NCCL's model of costs.
    ALGORITHMS {
        /// The algorithm of all_reduce.
        all_reduce: TEXT => Need::Optional;
        /// The algorithm of all_gather.
        all_gather: TEXT => Need::Optional;
        /// The algorithm of reduce_scatter.
        reduce_scatter: TEXT => Need::Optional;
        /// The algorithm of all_to_all.
        all_to_all: TEXT => Need::Optional;
    }
    CONNECTION_MATRIX {
        /// Name of a connection matrix of htsim (.cm), relative to the scenario's folder, then to the working folder.
        path: TEXT;
        /// Whether triggers that fire at one host and start a connection of another one are refused, or a message of a byte
        /// tells the other host. In htsim it knows at once.
        remote_triggers: Form::Word(&["refused", "message"]) => Need::Else("refused");
    }
}

/// The job of a section of a kind; `path` is the file that it names, if the kind has one.
pub(super) fn job(
    kind: &str,
    keys: &Values<'_>,
    context: &Context<'_>,
    random: &mut Random,
    path: impl FnOnce() -> Result<PathBuf, InputError>,
) -> Result<JobSpec, InputError> {
    let mut hosts = placement::hosts(keys, context.network, random)?;
    let tuning = Tuning::new(&hosts, context.servers, context.network);
    let ways = |kind: collective::Kind| ways(keys, kind.name(), &tuning);
    check_algorithms(keys, &ways)?;
    let most = most_ranks(keys, &hosts);
    let JobFile { graphs, collectives, digest } = match kind {
        "goal" => {
            let costs = goal::Costs { overhead: keys.the("o"), gap: keys.the("g"), per_byte: keys.the("O") };
            goal::read(&path()?, most, &costs, context.budget)?
        }
        "chakra" => chakra_file(keys, context, most, &ways)?,
        "connection_matrix" => {
            connection_matrix::read(&path()?, most, keys.the::<String>("remote_triggers") == "message")?
        }
        "transformer" => {
            let file = transformer(keys).job(hosts.len() as u32, &ways, context.budget);
            file.map_err(|(key, message)| keys.origin.error(&[key, "kind"], message))?
        }
        _ => simai::read(&path()?, keys.the("passes"), most, &ways, context.budget)?,
    };
    if hosts.len() < graphs.len() {
        let message =
            format!("the file has {} ranks, and these are {} hosts; expected as many", graphs.len(), hosts.len());
        return Err(keys.origin.error(&["ranks"], message));
    }
    hosts.truncate(graphs.len());
    let work = JobWork::Graphs { graphs: graphs.into(), collectives: collectives.into(), digest };
    Ok(placement::job(keys, hosts, work))
}

/// A Chakra trace, which has a file for each rank.
fn chakra_file(
    keys: &Values<'_>,
    &Context { config, budget, .. }: &Context<'_>,
    most: u32,
    ways: &dyn Fn(collective::Kind) -> Ways,
) -> Result<JobFile, InputError> {
    let name: String = keys.the("path");
    let beside = config.parent().unwrap_or(Path::new("")).join(&name);
    let prefix = [beside, PathBuf::from(&name)].into_iter().find(|prefix| chakra::is_there(prefix));
    let prefix = prefix.ok_or_else(|| {
        let expected = "expected files from the scenario's folder, or from the working folder";
        keys.origin.error(&["path"], format!("there is no {name}.0.et; {expected}"))
    })?;
    let find = |key: &str| {
        let name = keys.get::<String>(key)?;
        Some(resolve(config, &name).ok_or_else(|| keys.origin.error(&[key], no_file(key, &name))))
    };
    chakra::read(&prefix, find("groups").transpose()?.as_deref(), most, ways, budget)
}

fn transformer(keys: &Values<'_>) -> Transformer {
    let (hidden, experts) = (keys.the("hidden"), keys.the("experts"));
    Transformer {
        layers: keys.the("layers"),
        hidden,
        queries_per_key: keys.the("queries_per_key"),
        feed_forward: keys.get("feed_forward").unwrap_or(4 * hidden),
        sequence: keys.the("sequence"),
        vocabulary: keys.the("vocabulary"),
        micro_batch: keys.the("micro_batch"),
        micro_batches: keys.the("micro_batches"),
        tensor: keys.the("tensor"),
        pipeline: keys.the("pipeline"),
        experts,
        expert: keys.the("expert"),
        top_k: keys.get("top_k").unwrap_or(experts.min(2)),
        speed: keys.the::<f64>("teraflops") * 1e3,
        buckets: keys.the("buckets"),
        iterations: keys.the("iterations"),
    }
}

/// Refuses the name of an algorithm that an operation does not have.
fn check_algorithms(keys: &Values<'_>, ways: &dyn Fn(collective::Kind) -> Ways) -> Result<(), InputError> {
    for key in ALGORITHMS.iter().map(|key| key.name) {
        let kind = collective::Kind::ALL.iter().copied().find(|kind| kind.name() == key);
        let (Some(kind), Some(name)) = (kind, keys.get::<String>(key)) else { continue };
        if let Err((_, message)) = ways(kind).pattern(kind) {
            return Err(keys.origin.error(&[key], format!("\"{name}\" will not do: {message}")));
        }
    }
    Ok(())
}

/// Most ranks that a file may have: if they are listed, the list is to blame for those that it lacks.
fn most_ranks(keys: &Values<'_>, hosts: &[u32]) -> u32 {
    let hosts = hosts.len() as u32;
    if keys.has("ranks") { hosts.max(MOST_LISTED) } else { hosts }
}

/// Nobody lists more.
const MOST_LISTED: u32 = 100_000;
