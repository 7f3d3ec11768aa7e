// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]` of the kind `collective`.

use super::keys::{Form, Need, TEXT, TIME, Values, keys, whole};
use super::placement;
use super::traffic::PAYLOAD;
use crate::error::InputError;
use crate::generate::Random;
use crate::job::{JobSpec, JobWork};
use crate::jobs::Ways;
use hpcc_core::settings::Named;
use hpcc_core::topology::Network;
use hpcc_core::workload::collective::{self, Collective, Plan};

keys! {
    COLLECTIVE {
        /// What the ranks do together.
        operation: Form::Word(collective::Kind::NAMES);
        /// By which messages: by default the operation's first in the list of the page on jobs.
        algorithm: TEXT => Need::Optional;
        /// Bytes, as nccl-tests count them: the whole array, of which each rank has or gets a part in all_gather, reduce_scatter,
        /// all_to_all. A barrier has none.
        size: PAYLOAD => Need::Optional;
        /// How often it is done; a rank begins again as soon as it has ended.
        iterations: whole(1, 1_000_000) => Need::Else("1");
        /// Time between end and begin at a rank: a computation.
        gap: TIME => Need::Else("0");
    }
    /// How collectives are done.
    WAYS {
        /// The data is divided among so many channels, each with a queue pair of its own between two ranks. More of them
        /// use more paths.
        channels: whole(1, Collective::MOST_CHANNELS as u64) => Need::Else("1");
        /// A channel's data is cut into pieces of at most so many bytes, which follow each other as in a pipeline; by default
        /// it is one piece.
        chunk: PAYLOAD => Need::Optional;
        /// So many pieces of a channel are under way at once.
        depth: whole(1, 1024) => Need::Else("8");
        /// So many exchanges of a rank are under way at once in algorithms where none waits for another (direct); by default
        /// all.
        window: whole(1, u32::MAX as u64) => Need::Optional;
    }
}

/// The job of a section.
pub(super) fn job(keys: &Values<'_>, network: &Network, random: &mut Random) -> Result<JobSpec, InputError> {
    let refuse = |key: &str, message: String| Err(keys.origin.error(&[key], message));
    let hosts = placement::hosts(keys, network, random)?;
    let ranks = hosts.len() as u32;
    if ranks < 2 {
        return refuse("ranks", format!("there are {ranks} ranks; expected at least 2"));
    }
    let name: String = keys.the("operation");
    let kind = collective::Kind::ALL.iter().copied().find(|kind| kind.name() == name);
    let Some(kind) = kind else { return refuse("operation", format!("there is no operation {name}")) };
    let is_barrier = kind == collective::Kind::Barrier;
    let size = match keys.get::<u64>("size") {
        Some(_) if is_barrier => return refuse("size", "a barrier has no size; expected none".into()),
        None if !is_barrier => return refuse("size", "size is missing; expected the bytes of the data".into()),
        size => size.unwrap_or(0),
    };
    let plan = ways(keys, "algorithm").plan(kind, (0..ranks).collect(), size, 0);
    let plan = plan.map_err(|(key, message)| keys.origin.error(&[key], message))?;
    let plan = Plan { iterations: keys.the("iterations"), gap: keys.the("gap"), ..plan };
    Ok(placement::job(keys, hosts, JobWork::Collective(plan)))
}

/// How collectives are done, whose algorithm a key names.
pub(super) fn ways(keys: &Values<'_>, algorithm: &str) -> Ways {
    Ways {
        algorithm: keys.get(algorithm),
        channels: keys.the("channels"),
        chunk: keys.get("chunk").unwrap_or(u64::MAX),
        depth: keys.the("depth"),
        window: keys.get("window").unwrap_or(u32::MAX),
    }
}
