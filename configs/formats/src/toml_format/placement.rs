// SPDX-License-Identifier: GPL-2.0-only
//! Which rank of a job is on which host.

use super::keys::keys;
use super::traffic::{Context, Port, Service, Start, node_list};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Leaving, Servers};
use hpcc_model::error::InputError;
use hpcc_model::generate::{Random, shuffled};
use hpcc_model::job::{JobSpec, JobWork, Links};
use hpcc_model::scenario::host;

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
        /// The GPUs in the order of their ranks, such as `[1, 0]` or `"0-7"`; by default all. A GPU is a host, unless
        /// `servers.nics` has several share one; it may have several ranks.
        ranks: Option<String>;
        /// Whether rank n is on the n-th of these GPUs, or GPUs are drawn in random order by the seed.
        placement: Placement = Placement::Listed;
        /// How messages leave a host of which several links lead to their destination: divided among all of them, whole
        /// by one that a hash of its queue pair chooses, or whole by the next link for each channel, as GOAL's `nic`.
        /// By default messages of GOAL leave by channel if its file has several `nic`, all others are divided.
        links: Option<Links>;
        /// Time that passes at the sender before each message, such as NCCL's own.
        send_latency: Nanos = Nanos(0);
        /// How long a rank needs to set up a channel to a rank of another server, when it first sends there: the exchange of queue
        /// pairs' numbers, and their states. Messages of this channel wait for it.
        connection_setup: Nanos = Nanos(0);
    }
}

keys! {
    /// What every job has.
    Job { placed: Placed, start: Start, service: Service, port: Port }
}

impl Job {
    /// GPUs in the order of their ranks.
    pub fn gpus(&self, context: &Context<'_>, random: &mut Random) -> Result<Vec<u32>, InputError> {
        let Placed { ranks, placement, .. } = &self.placed;
        let refuse = |message: String| context.error("ranks", message);
        let all = Servers::all_gpus(context.servers, context.network);
        // Where GPUs share hosts, their numbers are not those of nodes.
        let of_gpus = context.servers.filter(|servers| servers.gpus > servers.nics);
        let of_gpus = of_gpus.map(|_| Network { nodes: vec![NodeKind::Host; all.len()], links: Vec::new() });
        let network = of_gpus.as_ref().unwrap_or(context.network);
        let listed = ranks.as_deref().map(|ranks| node_list(ranks, None, network)).transpose().map_err(refuse)?;
        let gpus = listed.unwrap_or(all);
        if let Some(why) = gpus.iter().find_map(|&node| host(network, node).err()) {
            return Err(refuse(format!("a rank is at {why}")));
        }
        Ok(match placement {
            Placement::Listed => gpus,
            Placement::Random => shuffled(gpus, random),
        })
    }

    /// The job of a section, each rank at one of these GPUs.
    pub fn spec(&self, gpus: Vec<u32>, work: JobWork, context: &Context<'_>) -> JobSpec {
        JobSpec {
            group: 0,
            start: self.start.start,
            hosts: context.hosts_of(&gpus),
            gpus,
            send_latency: self.placed.send_latency,
            connection_setup: self.placed.connection_setup,
            profiles: context.profiles,
            priority: self.service.priority,
            dport: self.port.dport,
            links: self.placed.links,
            leaving: Leaving::Hashed,
            work,
            computations: None,
            requests: std::sync::Arc::new([]),
            trials: Vec::new(),
            has_usual_pieces: false,
        }
    }
}
