// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]` of the kinds that are files of other simulators with jobs.

use super::collective::ways;
use super::keys::{Form, Need, TEXT, TIME, Values, keys, whole};
use super::placement;
use crate::error::InputError;
use crate::generate::Random;
use crate::job::{JobSpec, JobWork};
use crate::jobs::{JobFile, chakra, connection_matrix, goal, simai};
use crate::text::{no_file, resolve};
use hpcc_core::settings::{Kind, Named};
use hpcc_core::topology::Network;
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
    /// Of files with collectives: by which messages. By default the operation's first in the list of the page on jobs.
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

/// The job of a GOAL file.
pub(super) fn goal(
    keys: &Values<'_>,
    network: &Network,
    random: &mut Random,
    path: &Path,
) -> Result<JobSpec, InputError> {
    let hosts = placement::hosts(keys, network, random)?;
    let costs = goal::Costs { overhead: keys.the("o"), gap: keys.the("g"), per_byte: keys.the("O") };
    let file = goal::read(path, hosts.len() as u32, &costs)?;
    Ok(job(keys, hosts, file))
}

/// The job of a Chakra trace.
pub(super) fn chakra(
    keys: &Values<'_>,
    network: &Network,
    random: &mut Random,
    config: &Path,
) -> Result<JobSpec, InputError> {
    let hosts = placement::hosts(keys, network, random)?;
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
    let groups = find("groups").transpose()?;
    let file = chakra::read(&prefix, groups.as_deref(), hosts.len() as u32, &|kind| ways(keys, kind.name()))?;
    Ok(job(keys, hosts, file))
}

/// The job of a connection matrix.
pub(super) fn connection_matrix(
    keys: &Values<'_>,
    network: &Network,
    random: &mut Random,
    path: &Path,
) -> Result<JobSpec, InputError> {
    let hosts = placement::hosts(keys, network, random)?;
    let by_message = keys.the::<String>("remote_triggers") == "message";
    let file = connection_matrix::read(path, hosts.len() as u32, by_message)?;
    Ok(job(keys, hosts, file))
}

/// The job of a workload of SimAI.
pub(super) fn simai(
    keys: &Values<'_>,
    network: &Network,
    random: &mut Random,
    path: &Path,
) -> Result<JobSpec, InputError> {
    let hosts = placement::hosts(keys, network, random)?;
    let file = simai::read(path, keys.the("passes"), hosts.len() as u32, &|kind| ways(keys, kind.name()))?;
    Ok(job(keys, hosts, file))
}

/// The job of a file, on as many of the hosts as it has ranks.
fn job(keys: &Values<'_>, mut hosts: Vec<u32>, file: JobFile) -> JobSpec {
    hosts.truncate(file.graphs.len());
    let JobFile { graphs, collectives, digest } = file;
    let work = JobWork::Graphs { graphs: graphs.into(), collectives: collectives.into(), digest };
    placement::job(keys, hosts, work)
}
