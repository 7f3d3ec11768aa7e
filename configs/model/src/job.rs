// SPDX-License-Identifier: GPL-2.0-only
//! Jobs: ranks whose messages wait for others.

use crate::flow::Flow;
use crate::jobs::alike::Alike;
use crate::jobs::hardware::Profiles;
use crate::jobs::{Request, protocol_name};
use hpcc_core::engine::FlowOptions;
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{Collective, Plan};
use hpcc_core::workload::{Graph, Job, Leaving, Outside, Program, Servers, Work};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

hpcc_core::named! {
    /// How messages leave a host of which several links lead to their destination.
    #[derive(Default)]
    pub enum Links {
        /// In a part for each link.
        #[default]
        Striped = "striped",
        /// Whole, by one that a hash of the queue pair chooses.
        Hashed = "hashed",
        /// Whole, by the next one for each channel.
        ByChannel = "by_channel",
    }
}

/// A job of a scenario, checked.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The number of its group of flows: its name in results.
    pub group: u32,
    /// When it begins.
    pub start: Nanos,
    /// The host of each rank.
    pub hosts: Vec<u32>,
    /// The GPU of each rank: its host, unless servers have fewer hosts than GPUs.
    pub gpus: Vec<u32>,
    /// Passes before each message is sent.
    pub send_latency: Nanos,
    /// For so long each channel to a rank of another server is set up, when it is first used.
    pub connection_setup: Nanos,
    /// The hardware that it runs on.
    pub profiles: Profiles,
    /// Priority of its packets.
    pub priority: u8,
    /// Destination port of its first channel.
    pub dport: u16,
    /// How messages leave hosts with several links; `None`: nobody says.
    pub links: Option<Links>,
    /// The same on this network.
    pub leaving: Leaving,
    /// What its ranks do.
    pub work: JobWork,
    /// How its computations differ from those of its file or model, in words.
    pub computations: Option<String>,
    /// The requests that it serves, in the order in which they come.
    pub requests: Arc<[Request]>,
    /// Collectives whose fastest algorithm is to be tried before the run, and is the usual one until then.
    pub trials: Vec<Trial>,
    /// Nobody says how long the pieces of its collectives are.
    pub has_usual_pieces: bool,
}

/// All ways to do a collective that can be done, at least two.
#[derive(Clone, Debug)]
pub struct Trial(pub Vec<Plan>);

/// What the ranks of a job do.
#[derive(Clone)]
pub enum JobWork {
    /// One collective, over and over.
    Collective(Plan),
    /// Each its own graph of operations, from a file.
    Graphs {
        /// By rank.
        graphs: Arc<[Graph]>,
        /// Collectives in them, by number.
        collectives: Arc<[Plan]>,
        /// Hash of the file.
        digest: String,
    },
    /// What somebody asks for while the run goes on.
    Outside,
}

impl JobSpec {
    /// This work, from time 0 on, of no ranks yet.
    pub fn of(work: JobWork) -> JobSpec {
        JobSpec {
            group: 0,
            start: Nanos(0),
            hosts: Vec::new(),
            gpus: Vec::new(),
            send_latency: Nanos(0),
            connection_setup: Nanos(0),
            profiles: Profiles::default(),
            priority: 0,
            dport: 0,
            links: None,
            leaving: Leaving::Hashed,
            work,
            computations: None,
            requests: Arc::new([]),
            trials: Vec::new(),
            has_usual_pieces: false,
        }
    }
}

impl fmt::Debug for JobWork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobWork::Collective(plan) => plan.fmt(out),
            JobWork::Graphs { digest, .. } => out.write_str(digest),
            JobWork::Outside => out.write_str("outside"),
        }
    }
}

/// How messages leave, for the summary; nothing where hosts have one link.
fn leaving(leaving: Leaving) -> Option<String> {
    match leaving {
        Leaving::Hashed => None,
        Leaving::Striped(links) => Some(format!("{} {links}", Links::Striped.name())),
        Leaving::ByChannel(links) => Some(format!("{} {links}", Links::ByChannel.name())),
    }
}

impl JobSpec {
    /// The job, as the engine runs it.
    pub fn job(&self) -> Job {
        let program = |rank: u32| -> Box<dyn Program> {
            match &self.work {
                JobWork::Collective(plan) => Box::new(Collective::new(plan.clone(), rank)),
                JobWork::Graphs { graphs, .. } => Box::new(graphs[rank as usize].clone()),
                JobWork::Outside => Box::new(Outside::default()),
            }
        };
        let ranks = self.gpus.iter().zip(0..).map(|(&gpu, rank)| (gpu, program(rank))).collect();
        let &JobSpec { start, send_latency, connection_setup, profiles, priority, dport, leaving, .. } = self;
        let (nic_interval, costs) = (profiles.nic_interval(), profiles.of_messages());
        Job { start, ranks, send_latency, connection_setup, nic_interval, costs, priority, dport, leaving }
    }

    /// Whether what its ranks do is known before the run.
    pub fn is_known(&self) -> bool {
        !matches!(self.work, JobWork::Outside)
    }

    /// At most so many messages, computations and receives it is, from what takes no time to count.
    pub fn operations(&self) -> u64 {
        let works = if let JobWork::Graphs { graphs, .. } = &self.work { &graphs[..] } else { &[] };
        let of_graphs = works.iter().map(|graph| graph.works().count() as u64).sum::<u64>();
        let of_plan = |plan: &Plan| plan.operations().saturating_mul(plan.iterations.into());
        self.collectives().iter().map(of_plan).fold(of_graphs, u64::saturating_add)
    }

    /// How many messages it sends over the network, and their bytes.
    pub fn traffic(&self, servers: Option<Servers>) -> (u64, u64) {
        let is_inside = |src, dst| servers.is_some_and(|servers| servers.are_together(src, dst));
        let crosses = |from: u32, to: u32| {
            let (src, dst) = (self.hosts[from as usize], self.hosts[to as usize]);
            src != dst && !is_inside(src, dst)
        };
        let add = |sum: (u64, u64), one: (u64, u64)| (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1));
        match &self.work {
            JobWork::Collective(plan) => plan.traffic(crosses),
            JobWork::Graphs { graphs, collectives, .. } => {
                let of_ranks = graphs.iter().zip(0..).map(|(graph, rank)| graph.traffic(|to| crosses(rank, to)));
                let of_class = |(first, count): (u32, u64)| {
                    let (messages, bytes) = collectives[first as usize].traffic(crosses);
                    (messages.saturating_mul(count), bytes.saturating_mul(count))
                };
                of_ranks.chain(Alike::new(collectives).classes.into_iter().map(of_class)).fold((0, 0), add)
            }
            JobWork::Outside => (0, 0),
        }
    }

    /// What it is, for the summary.
    pub fn effective(&self, groups: &[String]) -> Value {
        let work = match &self.work {
            JobWork::Collective(plan) => json!({
                "operation": plan.pattern.kind.name(),
                "algorithm": if self.trials.is_empty() { plan.pattern.name } else { "fastest" },
                "size_bytes": plan.size,
                "message_bytes_per_byte": f64::from(plan.wire.0) / f64::from(plan.wire.1),
                "is_uneven": plan.parts.is_some(),
                "protocol": protocol_name(plan),
                "channels": plan.channels,
                "chunk_bytes": Some(plan.chunk).filter(|&chunk| chunk < u64::MAX),
                "depth": plan.depth,
                "window": Some(plan.window).filter(|&window| window < u32::MAX),
                "iterations": plan.iterations,
                "gap_ns": plan.gap.0,
            }),
            JobWork::Graphs { digest, .. } => json!({ "blake3": digest }),
            JobWork::Outside => json!("outside"),
        };
        let mut effective = json!({
            "name": groups[self.group as usize],
            "hosts": self.hosts,
            "start_ns": self.start.0,
            "send_latency_ns": self.send_latency.0,
            "priority": self.priority,
            "dport": self.dport,
            "work": work,
        });
        if self.gpus != self.hosts {
            effective["gpus"] = json!(self.gpus);
        }
        if self.connection_setup > Nanos(0) {
            effective["connection_setup_ns"] = json!(self.connection_setup.0);
        }
        if !self.requests.is_empty() {
            effective["requests"] = json!(self.requests.len());
        }
        if let Some(computations) = &self.computations {
            effective["computations"] = json!(computations);
        }
        if let Some(leaving) = leaving(self.leaving) {
            effective["links"] = json!(leaving);
        }
        if self.profiles != Profiles::default() {
            effective["hardware"] = self.profiles.names();
        }
        effective
    }

    /// A collective of the job, by its number.
    pub fn collective(&self, number: u32) -> Option<&Plan> {
        match &self.work {
            JobWork::Collective(plan) => Some(plan),
            JobWork::Graphs { .. } | JobWork::Outside => self.collectives().get(number as usize),
        }
    }

    /// The collectives of the job, by their numbers.
    pub fn collectives(&self) -> &[Plan] {
        match &self.work {
            JobWork::Collective(plan) => std::slice::from_ref(plan),
            JobWork::Graphs { collectives, .. } => collectives,
            JobWork::Outside => &[],
        }
    }

    /// The same job whose collectives use all NICs of servers; `None` if they do as it is.
    pub fn by_all_nics(&self) -> Option<JobSpec> {
        let nics = |plan: &Plan| plan.pattern.channels(plan.layout.as_deref());
        if self.collectives().iter().all(|plan| plan.channels >= nics(plan)) {
            return None;
        }
        Some(self.with_plans(|plan| Plan { channels: plan.channels.max(nics(plan)), ..plan.clone() }))
    }

    /// The same job with other plans of its collectives.
    pub fn with_plans(&self, other: impl Fn(&Plan) -> Plan) -> JobSpec {
        let work = match &self.work {
            JobWork::Collective(plan) => JobWork::Collective(other(plan)),
            JobWork::Graphs { graphs, collectives, digest } => {
                let collectives: Arc<[Plan]> = collectives.iter().map(other).collect();
                let graphs = graphs.iter().map(|graph| graph.with_plans(&collectives)).collect();
                JobWork::Graphs { graphs, collectives, digest: digest.clone() }
            }
            JobWork::Outside => JobWork::Outside,
        };
        JobSpec { work, ..self.clone() }
    }

    /// How messages leave hosts with several links: as somebody says, by channel where a file names several NICs, else in parts.
    pub fn usual_links(&self) -> Links {
        let is_of_nics = |work: &Work| matches!(work, Work::Send { channel: 1.., .. });
        let names_nics = || match &self.work {
            JobWork::Graphs { graphs, .. } => graphs.iter().any(|graph| graph.works().any(is_of_nics)),
            JobWork::Collective(_) | JobWork::Outside => false,
        };
        self.links.unwrap_or_else(|| if names_nics() { Links::ByChannel } else { Links::Striped })
    }

    /// Flows over the network by which the job is checked as others are: the first rank and each other one, and neighbours.
    pub fn samples(&self, servers: Option<Servers>) -> impl Iterator<Item = Flow> + '_ {
        let size = if let JobWork::Collective(plan) = &self.work { plan.size.max(1) } else { 1 };
        let flow = move |src, dst| Flow {
            src,
            dst,
            priority: self.priority,
            dport: self.dport,
            size,
            start: Nanos(0),
            options: FlowOptions::NONE,
        };
        let ends = self.hosts.iter().zip(self.hosts.iter().skip(1));
        let first = self.hosts.first().copied().unwrap_or_default();
        let pairs = ends.flat_map(move |(&one, &next)| [(one, next), (first, next), (next, first)]);
        let over_network = move |(src, dst): (u32, u32)| {
            let src = servers.map_or(src, |servers| servers.leaves_by(src, dst));
            let is_inside = src == dst || servers.is_some_and(|servers| servers.are_together(src, dst));
            (!is_inside).then(|| flow(src, dst))
        };
        pairs.filter_map(over_network)
    }
}
