// SPDX-License-Identifier: GPL-2.0-only
//! Which rank of a job is on which host.

use super::keys::{Form, Need, TEXT, TIME, Values, keys};
use super::traffic::node_list;
use crate::error::InputError;
use crate::generate::{Random, shuffled};
use crate::job::{JobSpec, JobWork};
use crate::scenario::host;
use hpcc_core::topology::Network;

keys! {
    /// Of every job.
    PLACED {
        /// The hosts in the order of their ranks, such as `[1, 0]` or `"0-7"`; by default all. A host may have several ranks.
        ranks: TEXT => Need::Optional;
        /// Whether rank n is on the n-th of these hosts, or hosts are drawn in random order by the seed.
        placement: Form::Word(&["listed", "random"]) => Need::Else("listed");
        /// Time that passes at the sender before each message, such as NCCL's own.
        send_latency: TIME => Need::Else("0");
    }
}

/// Hosts in the order of their ranks.
pub(super) fn hosts(keys: &Values<'_>, network: &Network, random: &mut Random) -> Result<Vec<u32>, InputError> {
    let hosts = node_list(keys, "ranks", network)?.unwrap_or_else(|| network.hosts().collect());
    if let Some(why) = hosts.iter().find_map(|&node| host(network, node).err()) {
        return Err(keys.origin.error(&["ranks"], format!("a rank is at {why}")));
    }
    Ok(if keys.the::<String>("placement") == "random" { shuffled(hosts, random) } else { hosts })
}

/// The job of a section.
pub(super) fn job(keys: &Values<'_>, hosts: Vec<u32>, work: JobWork) -> JobSpec {
    JobSpec {
        group: 0,
        start: keys.the("start"),
        hosts,
        send_latency: keys.the("send_latency"),
        priority: keys.the("priority"),
        dport: keys.the("dport"),
        work,
    }
}
