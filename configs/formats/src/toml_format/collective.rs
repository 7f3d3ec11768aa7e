// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]` of the kind `collective`.

use super::keys::{Form, Need, TEXT, TIME, Values, keys, whole};
use super::placement;
use super::traffic::{Context, PAYLOAD};
use crate::error::InputError;
use crate::generate::Random;
use crate::job::{JobSpec, JobWork};
use crate::jobs::{Gpu, Protocol, Tuning, Ways};
use hpcc_core::settings::{Kind as SettingKind, Named};
use hpcc_core::workload::collective::{self, Collective, Parts, Plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;

keys! {
    COLLECTIVE {
        /// What the ranks do together.
        operation: Form::Word(collective::Kind::NAMES);
        /// By which messages: by default the operation's first in the list of the page on jobs; `auto` chooses by NCCL's model of
        /// costs.
        algorithm: TEXT => Need::Optional, "the first of the page on jobs for the operation";
        /// Bytes, as nccl-tests count them: the whole array, of which each rank has or gets a part in all_gather, reduce_scatter,
        /// all_to_all. A barrier has none.
        size: PAYLOAD => Need::Optional;
        /// How often it is done; a rank begins again as soon as it has ended.
        iterations: whole(1, 1_000_000) => Need::Else("1");
        /// Time between end and begin at a rank: a computation.
        gap: TIME => Need::Else("0");
        /// Name of a file for all_to_all, with a line for each rank that says how many bytes it has for each rank; the size is
        /// then the largest sum of a line, as the file says or scaled to `size`.
        matrix: TEXT => Need::Optional;
    }
    /// How collectives are done.
    WAYS {
        /// The data is divided among so many channels, each with a queue pair of its own between two ranks. More of them
        /// use more paths.
        channels: whole(1, Collective::MOST_CHANNELS as u64) => Need::Else("1"), "one queue pair between two ranks, so that a hash gives them one path";
        /// A channel's data is cut into pieces of at most so many bytes, which follow each other as in a pipeline; by default
        /// it is one piece, with `auto` messages have NCCL's 512 KiB.
        chunk: PAYLOAD => Need::Optional, "the data of a channel in one piece; with algorithm auto NCCL's 512 KiB";
        /// So many pieces of a channel are under way at once.
        depth: whole(1, 1024) => Need::Else("8");
        /// How data becomes messages: whole (simple), with a flag beside each 4 bytes (ll), or beside each 120 (ll128); by default
        /// whole, or as the model of `auto` chooses.
        protocol: Form::Word(Protocol::NAMES) => Need::Optional, "whole messages; with algorithm auto what NCCL's model chooses";
        /// The GPUs whose figures the model of `auto` has.
        gpu: Form::Word(Gpu::NAMES) => Need::Else("hopper");
        /// Whose CPUs the servers have, for the model of `auto`.
        cpu: Form::Word(&["intel", "amd"]) => Need::Else("intel");
        /// In an all_to_all the n-th rank of a group gets as much as n to the power of minus this, such as a popular expert; 0:
        /// all get the same.
        skew: Form::One(SettingKind::Real { least: 0.0, most: 16.0 }) => Need::Else("0");
        /// So many exchanges of a rank are under way at once in algorithms where none waits for another (direct); by default
        /// all.
        window: whole(1, u32::MAX as u64) => Need::Optional;
    }
}

/// The job of a section.
pub(super) fn job(
    keys: &Values<'_>,
    context: &Context<'_>,
    random: &mut Random,
    matrix: Option<PathBuf>,
) -> Result<JobSpec, InputError> {
    let refuse = |key: &str, message: String| Err(keys.origin.error(&[key], message));
    let hosts = placement::hosts(keys, context.network, random)?;
    let ranks = hosts.len() as u32;
    if ranks < 2 {
        return refuse("ranks", format!("there are {ranks} ranks; expected at least 2"));
    }
    let name: String = keys.the("operation");
    let kind = collective::Kind::ALL.iter().copied().find(|kind| kind.name() == name);
    let Some(kind) = kind else { return refuse("operation", format!("there is no operation {name}")) };
    for (key, given) in [("matrix", matrix.is_some()), ("skew", keys.the::<f64>("skew") > 0.0)] {
        if given && kind != collective::Kind::AllToAll {
            return refuse(key, format!("{name} has no {key}; expected all_to_all, or none"));
        }
    }
    let matrix = matrix.map(|path| read_matrix(&path, ranks)).transpose()?;
    let is_barrier = kind == collective::Kind::Barrier;
    let most = matrix.as_ref().and_then(|rows| rows.iter().map(|row| row.iter().sum()).max());
    let size = match keys.get::<u64>("size").or(most) {
        Some(_) if is_barrier => return refuse("size", "a barrier has no size; expected none".into()),
        None if !is_barrier => return refuse("size", "size is missing; expected the bytes of the data".into()),
        size => size.unwrap_or(0),
    };
    let tuning = Tuning::new(&hosts, context.servers, context.network);
    let plan = ways(keys, "algorithm", &tuning).plan(kind, (0..ranks).collect(), size, 0);
    let plan = plan.map_err(|(key, message)| keys.origin.error(&[key], message))?;
    let parts = matrix.map(|rows| Arc::new(Parts::new(&rows))).or(plan.parts);
    let plan = Plan { iterations: keys.the("iterations"), gap: keys.the("gap"), parts, ..plan };
    Ok(placement::job(keys, hosts, JobWork::Collective(plan)))
}

/// Bytes from rank to rank, a line for each that has them.
fn read_matrix(path: &Path, ranks: u32) -> Result<Vec<Vec<u64>>, InputError> {
    /// More would not be sent in a lifetime.
    const MOST: u64 = 1 << 48;
    let text = crate::text::read(path)?;
    let wrong = |line: usize, message: String| InputError::new(path, Some(line as u32 + 1), message);
    let mut rows: Vec<Vec<u64>> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let words = line.split([',', ' ', '\t']).filter(|word| !word.is_empty());
        let row: Result<Vec<u64>, _> =
            words.map(|word| word.parse().ok().filter(|&bytes| bytes <= MOST).ok_or(word)).collect();
        let row =
            row.map_err(|word| wrong(number, format!("\"{word}\" is no number of bytes; expected one up to {MOST}")))?;
        if row.len() as u32 != ranks {
            return Err(wrong(
                number,
                format!("there are {} numbers; expected one for each of {ranks} ranks", row.len()),
            ));
        }
        rows.push(row);
    }
    if rows.len() as u32 != ranks {
        return Err(InputError::new(
            path,
            None,
            format!("there are {} lines; expected one for each of {ranks} ranks", rows.len()),
        ));
    }
    Ok(rows)
}

/// How collectives are done, whose algorithm a key names.
pub(super) fn ways(keys: &Values<'_>, algorithm: &str, tuning: &Tuning) -> Ways {
    let mut tuning = tuning.clone();
    tuning.gpu = Gpu::from_name(&keys.the::<String>("gpu")).unwrap_or_default();
    tuning.is_amd = keys.the::<String>("cpu") == "amd";
    Ways {
        algorithm: keys.get(algorithm),
        protocol: keys.get::<String>("protocol").and_then(|name| Protocol::from_name(&name)),
        channels: keys.the("channels"),
        chunk: keys.get("chunk").unwrap_or(u64::MAX),
        depth: keys.the("depth"),
        window: keys.get("window").unwrap_or(u32::MAX),
        skew: keys.the("skew"),
        tuning,
    }
}
