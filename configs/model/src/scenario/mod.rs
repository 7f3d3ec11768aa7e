// SPDX-License-Identifier: GPL-2.0-only
//! The one description of a simulation that every front end uses.
//!
//! The crate `hpcc-formats` reads it from TOML or from the 2019 simulator's `config.txt`; [`Scenario::effective`] says
//! what was understood, so that a result can be traced to its settings.

pub mod compatibility;
mod digest;
mod effective;
mod effective_buffer;
mod finding;
mod flow_paths;
mod network;
mod order;
mod skip_mode;

pub use compatibility::settings as compatibility_settings;
pub use finding::{Assumed, Finding, Level};
pub use order::EventOrder;
pub use skip_mode::SkipMode;

pub use compatibility::Compatibility;
pub use flow_paths::{states, ways};

pub use network::{MAX_NODES, MAX_PORTS, NetworkBuilder, host};

use crate::flows::FlowList;
use crate::results::{CaptureFormat, Note};
use hpcc_core::attack::AttackSettings;
use hpcc_core::cc::{Algorithm, DcqcnConfig};
use hpcc_core::engine::{LinkFailure, Quality};
use hpcc_core::node::NodeSettings;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::telemetry::Layout;
use hpcc_core::topology::{Link, Network};
use hpcc_core::transport::{Protocol, TransportConfig};
use hpcc_core::units::Nanos;
use hpcc_core::workload::Servers;
use std::path::Path;

/// What a note begins with of keys of a file that do not count, for the command line names another algorithm: told also where other
/// notes are not.
pub const ANOTHER_ALGORITHM: &str = "another algorithm than the file's";

/// One simulation, checked: whatever `hpcc_formats::load` gives a simulator can run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// File name without folder and extension.
    pub name: String,
    /// Seed of every random choice (traffic, losses, ECN marks); ECMP's hash does not follow it.
    pub seed: u64,
    /// Which of several events of the same nanosecond runs first.
    pub order: EventOrder,
    /// Simulated time at which the run ends; above 0.
    pub stop: Nanos,
    /// Nodes and links.
    pub network: Network,
    /// All flows.
    pub flows: FlowList,
    /// What hosts and switches run by, resolved for the network and checked. The ECN thresholds cover exactly the link
    /// rates of the network's switch ports, by ascending rate.
    pub settings: NodeSettings,
    /// Loss probability of a frame on links whose own loss is 0; 0 to 1.
    pub default_loss: f64,
    /// Nodes that know nothing of telemetry.
    pub legacy: Legacy,
    /// Hosts that are the GPUs of servers, for jobs.
    pub servers: Option<Servers>,
    /// Links that fail during the run, by ascending time.
    pub link_failures: Vec<LinkFailure>,
    /// Links that are worse for a time, by ascending time.
    pub degraded: Vec<DegradedLinks>,
    /// NICs that pause without end.
    pub storms: Vec<NicStorm>,
    /// What the run does in a deadlock.
    pub on_deadlock: OnDeadlock,
    /// What the run leaves out.
    pub skip: SkipMode,
    /// The edge of the domain in which switches notify senders.
    pub borders: Vec<FastCnpBorder>,
    /// Attacks, each of them possible in this network.
    pub attacks: Vec<AttackSettings>,
    /// What to record besides flow completions.
    pub monitor: Monitor,
    /// Harmless things that the user should know, one sentence each, those that lints found included.
    pub notes: Vec<String>,
    /// What lints found.
    pub findings: Vec<Finding>,
    /// Defaults that decide results, of keys that nobody has given.
    pub assumed: Vec<Assumed>,
}

impl Scenario {
    /// The notes that are told, also by who is to be quiet: those of what a file says and does not count.
    pub fn told_notes(&self, is_quiet: bool) -> impl Iterator<Item = &String> {
        self.notes.iter().filter(move |note| !is_quiet || note.starts_with(ANOTHER_ALGORITHM))
    }

    /// Which of the 2019 simulator's faults the run repeats: the same at hosts and switches.
    pub fn faults(&self) -> ReferenceFaults {
        self.settings.faults()
    }

    /// Congestion control of flows from hosts that are not [`Legacy`].
    pub fn algorithm(&self) -> &dyn Algorithm {
        self.settings.control.chosen()
    }

    /// How telemetry is laid out in a frame.
    pub fn layout(&self) -> Layout {
        self.settings.layout()
    }

    /// How hosts send and acknowledge.
    pub fn transport(&self) -> TransportConfig {
        self.settings.transport()
    }

    /// What there is to say of it, each with the lint that has found it.
    pub fn remarks(&self) -> impl Iterator<Item = Note> + '_ {
        let found = |text: &String| self.findings.iter().find(|finding| finding.message == *text);
        self.notes
            .iter()
            .map(move |text| Note::new(found(text).map_or("scenario", |finding| finding.id), text.as_str()))
    }

    /// The settings of one node: a [`Legacy`] node lacks what it does not know.
    pub fn node_settings(&self, node: u32) -> NodeSettings {
        let legacy = self.legacy.settings.as_ref().filter(|_| self.legacy.nodes.contains(&node));
        legacy.unwrap_or(&self.settings).clone()
    }

    /// What carries flows from a host.
    pub fn protocol(&self, host: u32) -> Protocol {
        let legacy = self.legacy.settings.as_ref().filter(|_| self.legacy.nodes.contains(&host));
        legacy.unwrap_or(&self.settings).protocol.protocol
    }

    /// The protocol of ns-3's stack that some hosts have, if any.
    pub fn stack(&self) -> Option<Protocol> {
        self.network.hosts().map(|host| self.protocol(host)).find(|protocol| protocol.is_of_stack())
    }

    /// Numbers of the groups of flows that an attack is about; `None`: all.
    pub fn attacked_groups(&self, attack: &AttackSettings) -> Option<Vec<u32>> {
        let number = |name: &str| self.flows.groups.iter().position(|group| group == name).map(|number| number as u32);
        attack.traffic().map(|names| names.filter_map(number).collect())
    }

    /// Whether switches, hosts or borders have anything to do about Fast CNP.
    pub fn has_fast_cnp(&self) -> bool {
        self.settings.fast_cnp.enabled || !self.borders.is_empty()
    }
}

/// Nodes of a network that know nothing of telemetry: switches that do not stamp it, hosts that neither collect nor answer
/// it.
#[derive(Clone, Debug, Default)]
pub struct Legacy {
    /// The nodes, all of them in the network.
    pub nodes: Vec<u32>,
    /// Their settings, which have the congestion control of flows from these hosts; of a file of the 2019 simulator
    /// none.
    pub settings: Option<NodeSettings>,
}

impl Legacy {
    /// The settings, if its hosts have TCP beside others that have not.
    pub fn tcp(&self) -> Option<&NodeSettings> {
        self.settings.as_ref().filter(|settings| settings.needs().tcp)
    }

    /// The congestion control of legacy hosts for which a file chooses none.
    pub fn algorithm() -> Box<dyn Algorithm> {
        Box::new(DcqcnConfig::default())
    }
}

/// A switch's links to a node outside the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastCnpBorder {
    /// Number of the switch.
    pub node: u32,
    /// The other node, to which it has a link.
    pub outside: u32,
}

/// Links that are worse for a time.
#[derive(Clone, Debug, PartialEq)]
pub struct DegradedLinks {
    /// Simulated time at which it begins.
    pub time: Nanos,
    /// When they are again as they were; `None`: never.
    pub until: Option<Nanos>,
    /// Indices of the links in the network; not empty.
    pub links: Vec<u32>,
    /// What they are between.
    pub quality: Quality,
}

impl DegradedLinks {
    /// One of them as it is meanwhile.
    pub fn of(&self, network: &Network, link: u32) -> Link {
        let own = network.links[link as usize];
        Link { rate: self.quality.rate.unwrap_or(own.rate), ..own }
    }
}

/// A host whose NICs pause a priority, whatever arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicStorm {
    /// Simulated time at which it begins.
    pub time: Nanos,
    /// When it ends; `None`: never.
    pub until: Option<Nanos>,
    /// Number of the host.
    pub host: u32,
    /// 1 to 7.
    pub priority: u8,
}

hpcc_core::named! {
    /// What a run does in a deadlock of pauses.
    #[derive(Default)]
    pub enum OnDeadlock {
        /// It goes on.
        #[default]
        GoOn = "go_on",
        /// It ends there.
        End = "end",
    }
}

/// What to record besides flow completions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitor {
    /// The 2019 simulator's histogram of queue lengths; `None` is off.
    pub queue_histogram: Option<QueueHistogram>,
    /// Interval of the time series of queue lengths, above 0; `None` is off.
    pub queue_interval: Option<Nanos>,
    /// Interval of the time series of each flow's goodput, above 0; `None` is off.
    pub goodput_interval: Option<Nanos>,
    /// Interval of the time series of what each port sends, above 0; `None` is off.
    pub sent_interval: Option<Nanos>,
    /// Interval of the time series of what congestion control makes of flows, above 0; `None` is off.
    pub control_interval: Option<Nanos>,
    /// The flows of that series, by number; all if there are none here.
    pub control_flows: Vec<u32>,
    /// Whether each pause is recorded with its reason.
    pub pauses: bool,
    /// Whether all that ranks of jobs do is recorded.
    pub timeline: bool,
    /// Nodes whose packets are traced, all of them in the network.
    pub trace_nodes: Vec<u32>,
    /// Nodes whose frames are captured as bytes, all of them in the network.
    pub capture_nodes: Vec<u32>,
    /// Format of that capture.
    pub capture_format: CaptureFormat,
}

/// When the 2019 simulator's histogram samples: each 100 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueHistogram {
    /// Simulated time of the first sample.
    pub start: Nanos,
    /// After this time there is no sample but the first.
    pub end: Nanos,
}

impl QueueHistogram {
    /// It is written at multiples of this.
    pub const PRINT_INTERVAL: Nanos = Nanos(100_000_000);
}

/// The file's name without folder and extension.
pub fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
