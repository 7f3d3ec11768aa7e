// SPDX-License-Identifier: GPL-2.0-only
//! Which rank of a job is on which host.

use super::keys::keys;
use super::traffic::{Context, Port, Service, Start, node_list};
use crate::error::InputError;
use crate::generate::{Random, shuffled};
use crate::job::{JobSpec, JobWork};
use crate::jobs::hardware::Profiles;
use crate::scenario::host;
use hpcc_core::units::Nanos;

hpcc_core::named! {
    /// Which host has which rank.
    pub(super) enum Placement {
        Listed = "listed",
        Random = "random",
    }
}

keys! {
    /// Of every job.
    Placed {
        /// The hosts in the order of their ranks, such as `[1, 0]` or `"0-7"`; by default all. A host may have several ranks.
        ranks: Option<String>;
        /// Whether rank n is on the n-th of these hosts, or hosts are drawn in random order by the seed.
        placement: Placement = Placement::Listed;
        /// Time that passes at the sender before each message, such as NCCL's own.
        send_latency: Nanos = Nanos(0);
    }
}

keys! {
    /// What every job has.
    Job { placed: Placed, start: Start, service: Service, port: Port }
}

impl Job {
    /// Hosts in the order of their ranks.
    pub fn hosts(&self, context: &Context<'_>, random: &mut Random) -> Result<Vec<u32>, InputError> {
        let (network, Placed { ranks, placement, .. }) = (context.network, &self.placed);
        let refuse = |message: String| context.error("ranks", message);
        let listed = ranks.as_deref().map(|ranks| node_list(ranks, None, network)).transpose().map_err(refuse)?;
        let hosts = listed.unwrap_or_else(|| network.hosts().collect());
        if let Some(why) = hosts.iter().find_map(|&node| host(network, node).err()) {
            return Err(refuse(format!("a rank is at {why}")));
        }
        Ok(match placement {
            Placement::Listed => hosts,
            Placement::Random => shuffled(hosts, random),
        })
    }

    /// The job of a section.
    pub fn spec(&self, hosts: Vec<u32>, work: JobWork, profiles: Profiles) -> JobSpec {
        JobSpec {
            group: 0,
            start: self.start.start,
            hosts,
            send_latency: self.placed.send_latency,
            profiles,
            priority: self.service.priority,
            dport: self.port.dport,
            work,
        }
    }
}
