// SPDX-License-Identifier: MIT OR Apache-2.0
//! All settings of a node, and what its host or switch runs by.
//!
//! A scenario file, a program's attributes and a test all fill the same [`NodeSettings`]. What was left to the simulator
//! is [resolved](NodeSettings::resolve) once the network is known, by the same rules for all of them; then the settings
//! are [checked](NodeSettings::check) against each other, and a host or switch is made of them.

#[cfg(test)]
mod auto;
mod border;
mod control;
mod counters;
mod host_transport;
mod idle;
mod links;
mod notifications;
mod part;
mod paths;
mod plan;
mod priorities;
mod probes;
mod protocol;
mod settle;
mod steering;
mod strip;

pub use border::TelemetryBorder;
pub use control::{ControlSettings, Finder};
pub use links::{LinkRates, lowest_rate};
pub use part::{Owner, Part};
pub use priorities::{check_flow, check_notifications, check_priority};
pub use settle::{Given, Kind, Misfit, Settled, settle};

use crate::balance::{LoadBalancer, LoadBalancingSettings};
use crate::cc::{Algorithm, Needs};
use crate::ecn::EcnThreshold;
use crate::fast_cnp::{FastCnpHostSettings, FastCnpSettings, FastCnpSwitchSettings};
use crate::host_transport::HostTransportSettings;
use crate::reference_faults::{FaultSettings, ReferenceFaults};
use crate::settings::{Conflict, Input, Setting, SettingError, Value};
use crate::switch::{BufferPlan, Overflow, SwitchConfig, SwitchSettings, Wait};
use crate::telemetry::{Layout, LayoutSettings, Reads, Sampling};
use crate::topology::Network;
use crate::topology::paths::FlowPaths;
use crate::topology::routes::PathMetrics;
use crate::transport::feedback::{FeedbackConfig, FeedbackSettings};
use crate::transport::receive::{ReceiveConfig, ReceiveSettings};
use crate::transport::{
    Entropy, HostConfig, LinkSpec, Protocol, ProtocolSettings, QueuePairs, TransportConfig, TransportSettings,
    UnloadedFlow,
};
use crate::units::{BitRate, Nanos};
use crate::wire::WireSettings;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The settings of a node, be it a host or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSettings {
    /// Bugs of the 2019 simulator that are repeated.
    pub faults: FaultSettings,
    /// Headers of every frame.
    pub wire: WireSettings,
    /// Layout of telemetry.
    pub layout: LayoutSettings,
    /// How telemetry comes back.
    pub feedback: FeedbackSettings,
    /// Congestion control.
    pub control: ControlSettings,
    /// The transport of hosts.
    pub protocol: ProtocolSettings,
    /// Which transport RDMA hosts have.
    pub host_transport: HostTransportSettings,
    /// How RDMA hosts send and acknowledge.
    pub transport: TransportSettings,
    /// How fast RDMA hosts take what arrives.
    pub receive: ReceiveSettings,
    /// The same of other hosts.
    pub other_receivers: Vec<ReceiveSettings>,
    /// Packet memory and marks of switches.
    pub switch: SwitchSettings,
    /// How their memory is divided, in place of what [`SwitchSettings`] says.
    pub buffer_plan: Option<Arc<BufferPlan>>,
    /// How switches choose among paths.
    pub load_balancing: LoadBalancingSettings,
    /// When ports of these rates mark frames, in place of what [`SwitchSettings`] says for all.
    pub ecn_thresholds: Option<Vec<EcnThreshold>>,
    /// What all of a network must know of Fast CNP.
    pub fast_cnp: FastCnpSettings,
    /// What switches do about Fast CNP.
    pub fast_cnp_switch: FastCnpSwitchSettings,
    /// What hosts do about Fast CNP.
    pub fast_cnp_host: FastCnpHostSettings,
}

impl NodeSettings {
    /// The defaults, with these algorithms to choose from; the first is the default.
    pub fn new(control: ControlSettings) -> Self {
        NodeSettings {
            faults: FaultSettings::default(),
            wire: WireSettings::default(),
            layout: LayoutSettings::default(),
            feedback: FeedbackSettings::default(),
            control,
            protocol: ProtocolSettings::default(),
            host_transport: HostTransportSettings::default(),
            transport: TransportSettings::default(),
            receive: ReceiveSettings::default(),
            other_receivers: Vec::new(),
            switch: SwitchSettings::default(),
            load_balancing: LoadBalancingSettings::default(),
            buffer_plan: None,
            ecn_thresholds: None,
            fast_cnp: FastCnpSettings::default(),
            fast_cnp_switch: FastCnpSwitchSettings::default(),
            fast_cnp_host: FastCnpHostSettings::default(),
        }
    }

    /// What the chosen algorithm needs.
    pub fn needs(&self) -> Needs {
        self.needs_of_transport().unwrap_or_else(|| self.control.chosen().needs()).with(&self.layout.config(false))
    }

    /// Whether a switch adds to telemetry, or a host has to do with it.
    pub fn knows_telemetry(&self, is_switch: bool) -> bool {
        if is_switch { self.switch.stamp_telemetry } else { self.feedback.is_any() }
    }

    /// The same for a node that knows nothing of telemetry, whose flows this algorithm controls. `given` are these settings
    /// before they were [resolved](NodeSettings::resolve): what the transport leaves to the algorithm, it leaves to this one.
    pub fn without_telemetry(
        &self,
        given: &TransportSettings,
        algorithm: Box<dyn Algorithm>,
        network: &Network,
    ) -> NodeSettings {
        let mut settings =
            NodeSettings { transport: given.clone(), feedback: FeedbackSettings::none(), ..self.clone() };
        settings.control.choose(algorithm);
        if settings.needs().tcp {
            settings.protocol.protocol = Protocol::Tcp;
        }
        settings.switch.stamp_telemetry = false;
        settings.transport.resolve(&settings.needs(), network, settings.switch.buffer.0);
        settings
    }

    /// Whether the chosen algorithm goes by marks.
    pub fn reads_marks(&self) -> bool {
        self.needs().ecn.is_some()
    }

    /// Leaves marks to an algorithm of other hosts of the network, where the chosen one reads none. Before the settings are
    /// [resolved](NodeSettings::resolve).
    pub fn mark_for(&mut self, other: &dyn Algorithm) {
        if !self.reads_marks()
            && let Some(ecn) = other.needs().ecn
        {
            self.switch.resolve(&ecn);
        }
    }

    /// Settles what was left to the simulator. What an algorithm that nobody chose would need counts for nothing.
    pub fn resolve(&mut self, network: &Network) {
        let needs = self.needs();
        self.resolve_protocol();
        self.resolve_host_transport(network);
        self.wire.resolve(self.faults().floored_times);
        let ways = if self.layout.is_judged() { FlowPaths::single(network) } else { self.ways(network) };
        self.layout.resolve(needs.reads, &ways, self.transport.mtu.0);
        self.switch.resolve(&needs.ecn.unwrap_or(EcnThreshold::USUAL));
        self.transport.resolve(&needs, network, self.switch.buffer.0);
        let pause = self.receive_pause();
        self.receive.resolve(network, pause);
        self.other_receivers.iter_mut().for_each(|other| other.resolve(network, pause));
    }

    /// Checks settings against each other and the network, once all is [resolved](NodeSettings::resolve).
    ///
    /// # Errors
    /// The first that contradicts another one, with its section.
    pub fn check(&self, network: &Network) -> Result<(), Located> {
        let (needs, wire) = (self.needs(), self.wire.profile);
        let algorithm = self.control.chosen();
        let faults = self.faults();
        self.check_protocol()?;
        self.check_host_transport()?;
        algorithm.check().map_err(in_section("congestion_control"))?;
        self.layout.check(algorithm.name(), needs.reads, wire).map_err(in_section("telemetry"))?;
        let feedback = self.feedback();
        if feedback.accumulates() && self.transport.ack_every.0 == 0 {
            let message =
                "records_per_ack above 1 needs transport.ack_every: without, each packet has an acknowledgement";
            return Err(in_section("telemetry")(Conflict::new("records_per_ack", message.into())));
        }
        feedback.check(&needs, &self.layout.config(faults.wide_pint)).map_err(in_section("telemetry"))?;
        self.check_border(network, &feedback)?;
        self.stripped(network)?;
        self.transport.check().map_err(in_section("transport"))?;
        if faults.floored_times && self.wire.exact_rates == Some(true) {
            let message = "exact_rates excludes the 2019 simulator's floored_times";
            return Err(in_section("wire")(Conflict::new("exact_rates", message.into())));
        }
        if faults.stale_round_robin && self.transport.classes.is_some() {
            let message = "classes exclude the 2019 simulator's stale_round_robin, whose hosts have none";
            return Err(in_section("transport")(Conflict::new("classes", message.into())));
        }
        if self.transport.queue_pairs == QueuePairs::PerPair && faults != ReferenceFaults::NONE {
            let message =
                "queue_pairs = \"per_pair\" excludes faults of the 2019 simulator, whose flows have a queue pair each";
            return Err(in_section("transport")(Conflict::new("queue_pairs", message.into())));
        }
        if self.transport.entropy != Entropy::Flow && (self.feedback.paths > 1 || self.fast_cnp.enabled) {
            let message = "entropy excludes telemetry.paths above 1 and fast_cnp, which know a flow by its port; expected \"flow\"";
            return Err(in_section("transport")(Conflict::new("entropy", message.into())));
        }
        self.check_plan()?;
        self.switch.check().map_err(in_section("switch"))?;
        let has_bitmaps = self.transport.recovery.answer_bytes > 0;
        if has_bitmaps && (self.transport.seal.is_some() || self.hides_telemetry()) {
            let message = "bitmaps are neither sealed nor told from telemetry by switches that hide it; expected neither transport.seal \
                           nor switch.telemetry_hidden_from";
            return Err(in_section("transport")(Conflict::new("recovery", message.into())));
        }
        let is_unable = self.host_transport.is_queue_pairs() && !self.transport.recovery.keeps;
        if self.switch.overflow == Overflow::Trim && is_unable {
            let message = "overflow = \"trim\" needs hosts that send single packets again; expected transport.recovery = \"selective_repeat\" or \"sack\"";
            return Err(in_section("switch")(Conflict::new("overflow", message.into())));
        }
        let is_unable = !self.host_transport.is_queue_pairs() || self.protocol.protocol != Protocol::Rdma;
        if self.switch.source_pause.is_some() && (is_unable || self.transport.seal.is_some()) {
            let message = "source_pause asks queue pairs, by notifications that switches cannot seal; expected transport.kind = \"roce\", \
                           transport.protocol = \"rdma\" and no transport.seal";
            return Err(in_section("switch")(Conflict::new("source_pause", message.into())));
        }
        self.load_balancing.check(network).map_err(in_section("load_balancing"))?;
        if self.feedback.paths > 1 && !self.load_balancing.keeps() {
            let message =
                "scheme excludes telemetry.paths above 1: a flow has no path that it could choose; expected \"ecmp\"";
            return Err(in_section("load_balancing")(Conflict::new("scheme", message.into())));
        }
        self.check_receivers(network).map_err(in_section("receive"))?;
        self.check_headroom()?;
        self.check_retry()?;
        self.check_credits()?;
        self.check_priorities()?;
        if needs.queue_lengths && self.switch.telemetry_queue == Wait::Sojourn {
            let message = "telemetry_queue = \"sojourn\" does not tell by how many bytes a queue grows, which \
                           link_rate = \"rx\" counts; expected \"length\"";
            return Err(in_section("switch")(Conflict::new("telemetry_queue", message.into())));
        }
        self.fast_cnp.check(wire).map_err(in_section("fast_cnp"))?;
        self.fast_cnp(network).map_err(in_section("fast_cnp"))
    }

    fn fast_cnp(&self, network: &Network) -> Result<(), Conflict> {
        self.fast_cnp_switch.threshold(BitRate::gbps(100))?;
        self.fast_cnp_switch.generator(&self.fast_cnp, network)?;
        self.fast_cnp_switch.capability(&self.fast_cnp, network)?;
        self.fast_cnp.notified(network)?;
        self.fast_cnp_host.sources(network)?;
        Ok(())
    }

    /// Bugs of the 2019 simulator that are repeated.
    pub fn faults(&self) -> ReferenceFaults {
        *self.faults.reference_faults
    }

    /// The layout of telemetry, once all is resolved.
    pub fn layout(&self) -> Layout {
        let layout = self.layout.config(self.faults().wide_pint);
        match self.switch.telemetry_queue {
            Wait::Length => layout,
            Wait::Sojourn => layout.by_sojourn().unwrap_or(layout),
        }
    }

    /// What a host runs by, once all is resolved and checked.
    pub fn host(&self) -> HostConfig {
        HostConfig {
            transport: self.transport(),
            algorithm: self.control.chosen().clone_algorithm(),
            layout: self.layout(),
            feedback: self.feedback(),
            sizes: self.sizes(),
        }
    }

    /// What a host runs by that takes what arrives slowly, once all is resolved and checked; `None` for others.
    pub fn receive(&self, network: &Network, node: u32) -> Option<ReceiveConfig> {
        self.receivers().find_map(|slow| slow.config(network, node, self.receive_pause()))
    }

    /// The settings of slow hosts.
    pub fn receivers(&self) -> impl Iterator<Item = &ReceiveSettings> {
        core::iter::once(&self.receive).chain(&self.other_receivers).filter(|slow| slow.is_any())
    }

    fn check_receivers(&self, network: &Network) -> Result<(), Conflict> {
        let mut slow = BTreeSet::new();
        for receive in self.receivers() {
            receive.check(network, self.receive_pause())?;
            if let Some(host) = receive.slow(network)?.iter().find(|&host| !slow.insert(host)) {
                return Err(Conflict::new("hosts", format!("host {host} is slow in two sections; expected one")));
            }
        }
        Ok(())
    }

    /// How hosts send and acknowledge, once all is resolved and checked.
    pub fn transport(&self) -> TransportConfig {
        let config = self.transport.config(&self.needs(), self.faults());
        let exact_rates = self.wire.exact_rates.unwrap_or(!config.faults.floored_times);
        TransportConfig { exact_rates, frame_gap: self.wire.frame_gap(), ..config }
    }

    /// How telemetry comes back, from switches that may leave hops out, or report the shares of classes.
    fn feedback(&self) -> FeedbackConfig {
        FeedbackConfig {
            ack_every: self.transport().ack_every,
            some_hops: self.switch.leaves_hops_out(),
            classes: self.switch.reported_classes(),
            ..self.feedback.config()
        }
    }

    /// Bytes of a full packet's frame as it leaves its host, with telemetry if every packet collects it; once all is
    /// resolved and checked.
    pub fn full_frame(&self) -> u32 {
        let mtu = u32::try_from(self.transport.mtu.0).unwrap_or(u32::MAX);
        let collects = self.feedback().sampling == Sampling::EveryPacket;
        let section = if collects { self.layout().len_after(0) } else { 0 };
        self.sizes().data(mtu, false, section as u32)
    }

    /// A flow alone in the network, whose host and switches have these settings, once all is resolved and checked.
    pub fn unloaded_flow(&self) -> UnloadedFlow {
        let flow = UnloadedFlow::new(&self.host(), self.wire.frame_gap(), self.switch.stamp_telemetry);
        match self.protocol.protocol {
            Protocol::Rdma => flow,
            Protocol::Tcp => flow.of_stack(),
            Protocol::Udp => flow.of_stack().unacknowledged(),
        }
    }

    /// The same as its ideal time counts it: a transport that is not queue pairs has packets of its own.
    pub fn ideal_flow(&self) -> UnloadedFlow {
        let (flow, transport) = (self.unloaded_flow(), self.host_transport.chosen());
        let is_own = !transport.is_controlled() && self.protocol.protocol == Protocol::Rdma;
        if is_own { flow.of_transport(transport.reads() != Reads::Nothing) } else { flow }
    }

    /// Whether all data of a flow takes one path, as long as routes stay as they are.
    pub fn takes_one_path(&self, priority: Option<u8>) -> bool {
        let probes = self.feedback.paths > 1 && self.host_transport.is_queue_pairs();
        self.load_balancing.keeps_priority(priority)
            && self.transport.entropy == Entropy::Flow
            && !probes
            && !self.fast_cnp_host.migrate
    }

    /// T of a flow on each of these paths, and the path's links, without those from a host to itself.
    fn round_trips(
        &self,
        flow: &UnloadedFlow,
        paths: impl Iterator<Item = (PathMetrics, Vec<LinkSpec>)>,
    ) -> Vec<(Nanos, Vec<LinkSpec>)> {
        let paths = paths.filter(|(_, links)| !links.is_empty());
        let mut own: Vec<_> = paths.map(|(path, links)| (flow.base_rtt(&path, &links), links)).collect();
        if self.transport.global_rtt {
            let longest = own.iter().map(|&(t, _)| t).max().unwrap_or_default();
            own.iter_mut().for_each(|(t, _)| *t = longest);
        }
        own
    }

    /// What a switch runs by whose ports have these rates, once all is resolved and checked.
    pub fn switch(&self, ports: &[BitRate]) -> SwitchConfig {
        let mut rates = ports.to_vec();
        rates.sort_unstable();
        rates.dedup();
        let thresholds = rates.into_iter().map(|rate| self.ecn_threshold(rate)).collect();
        let config = self.switch.config(thresholds, self.wire.profile, self.pause(), self.faults());
        SwitchConfig { plan: self.buffer_plan.clone(), ..config }
    }

    /// How a switch balances load, once all is resolved and checked; `None`: by its number, as all do without a setting.
    ///
    /// # Errors
    /// If something could not be read that [`NodeSettings::check`] refuses.
    pub fn balancer(&self, network: &Network, node: u32) -> Result<Option<Box<dyn LoadBalancer>>, Located> {
        self.load_balancing.balancer(network, node).map_err(in_section("load_balancing"))
    }

    /// When ports of this rate mark frames.
    pub fn ecn_threshold(&self, rate: BitRate) -> EcnThreshold {
        let own = self.ecn_thresholds.iter().flatten().find(|threshold| threshold.rate == rate);
        own.copied().unwrap_or_else(|| self.switch.ecn_threshold(rate))
    }

    /// The layout that a switch stamps.
    pub fn stamped_layout(&self) -> Layout {
        if self.switch.stamp_telemetry { self.layout() } else { Layout::none() }
    }

    /// The settings by section and key as files have them.
    pub fn parts(&self) -> Vec<Part<'_>> {
        part::parts(self)
    }

    /// The settings of a section, as they are declared; of algorithms those of the one that is named.
    pub fn section(&self, section: &str, algorithm: Option<&str>) -> Vec<Setting> {
        let parts = self.parts().into_iter().filter(|part| part.section == section && part.algorithm == algorithm);
        parts.flat_map(|part| part.settings.list()).collect()
    }

    /// The value of a setting.
    pub fn get(&self, section: &str, algorithm: Option<&str>, key: &str) -> Option<Value> {
        part::value(self, section, algorithm, key)
    }

    /// Changes a setting. In `congestion_control` that is a parameter of the algorithm that is named, or without one the choice of an
    /// algorithm.
    ///
    /// # Errors
    /// If there is none of that name, or the value cannot be used.
    pub fn set(
        &mut self,
        section: &str,
        algorithm: Option<&str>,
        key: &str,
        input: Input<'_>,
    ) -> Result<(), SettingError> {
        let parts = part::of_section(self, section, algorithm).into_iter();
        let known = parts.map(|settings| settings.set(key, input)).find(|set| *set != Err(SettingError::Unknown));
        known.unwrap_or(Err(SettingError::Unknown))
    }

    /// Whether a setting has any effect. Ask once all is resolved.
    pub fn counts(&self, part: &Part<'_>, setting: &Setting) -> bool {
        let has_use =
            self.foreign(part.section, setting.key).or_else(|| self.useless(part.section, setting.key)).is_none();
        has_use && !self.is_of_queue_pairs(part.section, setting.key) && setting.counts(part.settings)
    }

    /// Whether results depend on a setting: it counts, and somebody goes by it.
    pub fn decides(&self, part: &Part<'_>, setting: &Setting) -> bool {
        let is_of_marks = part.section == "switch" && setting.key.starts_with("ecn_");
        self.counts(part, setting) && (!is_of_marks || self.reads_marks())
    }

    /// Why a setting that a user gave does not count, if it does not: a sentence for the user. Ask once all is resolved.
    pub fn idle(&self, section: &str, key: &str) -> Option<String> {
        if let Some(reason) = self.foreign(section, key) {
            return Some(format!("{key} belongs to transport.protocol = \"rdma\": {reason}"));
        }
        if self.is_of_queue_pairs(section, key) {
            return Some(format!("{key} belongs to transport.kind = \"roce\""));
        }
        if let Some(other) = self.useless(section, key) {
            return Some(format!("{key} belongs to {other}"));
        }
        let parts = self.parts().into_iter().filter(|part| part.section == section);
        let settings = |part: &Part<'_>| part.settings.list().into_iter().find(|setting| setting.key == key);
        parts.filter_map(|part| settings(&part)?.idle(part.settings)).next()
    }
}

impl Default for NodeSettings {
    fn default() -> Self {
        NodeSettings::new(ControlSettings::default())
    }
}

/// A [`Conflict`] and the section of files that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The section of settings that it is in.
    pub section: &'static str,
    /// The setting and what is wrong.
    pub conflict: Conflict,
}

pub(crate) fn in_section(section: &'static str) -> impl Fn(Conflict) -> Located {
    move |conflict| Located { section, conflict }
}

impl core::fmt::Display for Located {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}: {}", self.section, self.conflict.key, self.conflict.message)
    }
}
