// SPDX-License-Identifier: GPL-2.0-only
//! The network as the ns-3 module builds it up and, once it is started, the engine that runs it.

use crate::frame::ffi::Frame;
use crate::notices::Notices;
use crate::panic_report;
use crate::settings::ffi::Holder;
use crate::settings::{Settings, told};
use hpcc_core::address::host_address;
use hpcc_core::attack::{Attack, AttackSettings};
use hpcc_core::engine::{self, Engine, FlowOptions, FlowRequest, NoticeTotals, Order, Stop, Streams};
use hpcc_core::fabric::IdealFlow;
use hpcc_core::node::{self, Located, NodeSettings, lowest_rate};
use hpcc_core::settings::Named;
use hpcc_core::settings::{Conflict, Input, SettingError, Settings as _};
use hpcc_core::switch::{FlowKey, Priorities};
use hpcc_core::topology::{Link, Network as CoreNetwork, NodeKind};
use hpcc_core::transport::CongestionNotification;
use hpcc_core::transport::Counters;
use hpcc_core::units::{BitRate, Nanos, Rounding};
use hpcc_core::wire::WireProfile;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// `hpcc_core::topology::Link`, without the loss rate.
    #[derive(Clone, Copy)]
    struct LinkSpec {
        a: u32,
        b: u32,
        rate_bps: u64,
        delay_ns: u64,
    }

    /// A flow whose time alone is asked for.
    #[derive(Clone, Copy)]
    struct StandaloneFlow {
        src: u32,
        dst: u32,
        size_bytes: u64,
        /// Whether its ports are known, which choose among equal paths; otherwise it takes the first.
        has_ports: bool,
        sport: u16,
        dport: u16,
    }

    /// How a network starts.
    #[derive(Clone, Copy)]
    struct StartParameters {
        /// The order of events of the same nanosecond.
        canonical: bool,
        /// Global seed of marks and losses.
        seed: u32,
        /// First stream of ECN marks.
        ecn_stream: u64,
        /// Seed of PINT's draws.
        pint_seed: u32,
    }

    /// Why a network under way pauses.
    #[derive(Clone, Copy, Debug)]
    enum Pause {
        /// The time that was given has come.
        Time,
        /// There is something to tell.
        Told,
        /// It is time for a sample.
        Sample,
        /// The run cannot go on: `take_fault` says why.
        Fault,
    }

    /// A flow that begins now.
    #[derive(Clone, Copy)]
    struct FlowStart {
        id: u32,
        src: u32,
        dst: u32,
        dport: u16,
        priority: u8,
        size_bytes: u64,
    }

    /// What has become of it.
    #[derive(Clone, Copy, Default)]
    struct FlowStarted {
        /// Whether it is simulated here.
        present: bool,
        sport: u16,
        queue_pair: u32,
        /// Number of its first byte there.
        first_seq: u64,
    }

    /// A flow that has finished now.
    #[derive(Clone, Copy)]
    struct FlowEnd {
        id: u32,
        is_steered: bool,
    }

    /// `hpcc_core::engine::ControlState`.
    #[derive(Clone, Copy, Debug)]
    struct ControlState {
        rate_bps: u64,
        window_bytes: u64,
        in_flight_bytes: u64,
        /// Not a number if the algorithm reckons none.
        utilisation: f64,
        /// -1 if not known.
        bottleneck: i16,
        is_steered: bool,
    }

    /// `hpcc_core::engine::PortState` and `PortCounts`.
    #[derive(Clone, Copy)]
    struct PortState {
        queued: u64,
        paused: u8,
        is_up: bool,
        frames: u64,
        telemetry_bytes: u64,
        losses: u64,
    }

    /// `hpcc_core::engine::SwitchCounts`.
    #[derive(Clone, Copy)]
    struct SwitchCounters {
        overflows: u64,
        link_drops: u64,
        unroutable: u64,
        expired: u64,
        marks: u64,
    }

    /// `hpcc_core::transport::Counters`.
    #[derive(Clone, Copy, Debug, Default)]
    struct HostCounters {
        resent: u64,
        timeouts: u64,
        probes: u64,
        feedback: u64,
        rejected_by_seal: u64,
        rejected_by_guard: u64,
        baseline_resets: u64,
        cnps: u64,
        /// `hpcc_core::transport::Refused`.
        unsent_acks: u64,
        unasked_cnps: u64,
        marks_merged: u64,
        marks_heard: u64,
        unsealed_answers: u64,
        moves: u64,
        /// Frames that the NICs of slow receivers had no room for.
        receive_dropped: u64,
        /// Pauses that these NICs sent.
        receive_pauses: u64,
    }

    /// What a node did about Fast CNP, as far as programs ask.
    #[derive(Clone, Copy, Debug, Default)]
    struct FastCnpCounters {
        sent: u64,
        dropped: u64,
        accepted: u64,
        /// By reason, as `fast_cnp_refusals` names them.
        refused: [u64; 6],
        migrations: u64,
        reports: u64,
    }

    /// What an attacker did.
    #[derive(Clone, Copy, Debug, Default)]
    struct AttackCounters {
        sent: u64,
        altered: u64,
    }

    /// A setting of an attack, as a file has it.
    #[derive(Clone, Debug)]
    struct AttackEntry {
        key: String,
        value: String,
    }

    /// `hpcc_core::switch::FlowKey`.
    #[derive(Clone, Copy)]
    struct FlowKey {
        src_address: u32,
        dst_address: u32,
        sport: u16,
        dport: u16,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/frame.rs.h");
        include!("ns3-bridge/src/settings.rs.h");
        type Frame = crate::frame::ffi::Frame;
        type Holder = crate::settings::ffi::Holder;
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// Nodes, links, and the routes between them.
        #[derive(ExternType)]
        type Network;
        fn new_network() -> Box<Network>;
        /// Adds a node; returns its index.
        fn add_node(self: &mut Network, is_switch: bool) -> u32;
        /// Adds a link between two nodes that exist; returns false (and adds nothing) otherwise.
        fn add_link(self: &mut Network, link: &LinkSpec) -> bool;
        /// Takes over the resolved settings of the next node, in the order of their indices, with those that its part in Fast CNP
        /// has. A switch must keep memory for the same priorities as the others.
        fn add_settings(self: &mut Network, settings: &Settings, fast_cnp: &Settings) -> Result<()>;
        /// Links between these two are at the edge of the domain of Fast CNP, on the side of `node`.
        fn add_border(self: &mut Network, node: u32, outside: u32);
        /// Starts the engine, once nodes, links and settings are complete.
        fn start(self: &mut Network, parameters: &StartParameters) -> Result<()>;
        /// Refuses a priority for which switches keep no memory; `what` begins the sentence.
        fn check_priority(self: &Network, what: &str, priority: u8) -> Result<()>;
        /// Refuses a flow whose priorities switches keep no memory for; its receiver has these settings.
        fn check_flow(self: &Network, priority: u8, receiver: &Settings) -> Result<()>;
        /// Refuses a flow of more bytes than a window, on whose path telemetry of a host with these settings has no room; as the
        /// path is at the start.
        fn check_hops(self: &Network, host: &Settings, src: u32, dst: u32, bytes: u64) -> Result<()>;
        /// Whether telemetry comes back to a host with these settings before its counters may wrap, and its probes leave data
        /// room, on every path.
        fn check_sampling(self: &Network, host: &Settings) -> Result<()>;
        /// Settles what the settings of a node leave to the simulator and checks them all; the error names the
        /// contradiction.
        fn resolve(settings: &mut Settings, network: &Network) -> Result<()>;
        /// A host whose packets are a stack's takes over the units in which another one counts telemetry. Before they are
        /// resolved.
        fn inherit_units(settings: &mut Settings, host: &Settings, network: &Network);
        /// Refuses an attribute that was changed, and counts for nothing beside the others. Before they are resolved.
        fn check_given(settings: &Settings, network: &Network, holder: Holder) -> Result<()>;
        /// Rates of the links, for checks of all nodes.
        #[derive(ExternType)]
        type LinkRates;
        fn link_rates(self: &Network) -> Box<LinkRates>;
        /// Checks the lowest sending rate of a host with these resolved settings, or a switch's ECN thresholds.
        fn check_node(self: &LinkRates, settings: &Settings, is_switch: bool) -> Result<()>;
        /// Checks the resolved settings of a switch against its links; its telemetry if `is_read`.
        fn check_switch(self: &Network, node: u32, settings: &Settings, is_read: bool) -> Result<()>;
        /// The links between two nodes, up or down, in the order in which they were added.
        fn links_between(self: &Network, a: u32, b: u32) -> Vec<u32>;
        /// Takes links down now, or brings them up. Returns those that changed: not a link that was so before, nor one that comes up
        /// though the reference uses another between the same nodes.
        fn set_links(self: &Network, links: &[u32], up: bool) -> Vec<u32>;
        /// The longest base round-trip time between two hosts.
        fn max_rtt_ns(self: &Network) -> u64;
        /// The largest bandwidth-delay product between two hosts.
        fn max_bdp_bytes(self: &Network) -> u64;
        /// Whether routes lead from one host to another now: around failed links, once a link has failed.
        fn leads(self: &Network, src: u32, dst: u32) -> bool;
        /// Base round-trip time of a pair, 0 if unconnected.
        fn pair_rtt_ns(self: &Network, src: u32, dst: u32) -> u64;
        /// Flow completion time on an idle path from a host with these settings, 0 if unconnected.
        fn standalone_fct_ns(self: &Network, flow: &StandaloneFlow, host: &Settings) -> Result<u64>;
        /// IPv4 address of a host, as an integer.
        fn address(self: &Network, node: u32) -> u32;
        /// The time that a frame occupies a link, rounded to nearest or as the reference does.
        fn tx_time(rate_bps: u64, bytes: u32, floored: bool) -> u64;
        /// Checks what a host, or a switch, does about Fast CNP.
        fn check_fast_cnp(network: &Network, node: u32, fast_cnp: &Settings, settings: &Settings) -> Result<()>;
        /// Refuses a border where frames are not IPv6: notifications are.
        fn check_border(node: u32, switch_settings: &Settings) -> Result<()>;
        /// Whether a host believes notifications by switches.
        fn accepts_notifications(network: &Network, node: u32, fast_cnp: &Settings) -> bool;
        /// Whether a host notifies senders by Fast CNPs.
        fn notifies_by_fast_cnp(settings: &Settings) -> bool;

        /// Runs all that happens before a time, unless something is to be told.
        fn run(self: &Network, until_ns: u64) -> Pause;
        /// It is now this time: all before has happened, and nothing of now has.
        fn advance(self: &Network, now_ns: u64);
        fn now_ns(self: &Network) -> u64;
        /// When something happens next; the largest value: never.
        fn next_ns(self: &Network) -> u64;
        /// Why the run cannot go on.
        fn take_fault(self: &Network) -> String;
        fn events(self: &Network) -> u64;
        fn packet_hops(self: &Network) -> u64;
        /// A flow begins now; one that cannot is a fault.
        fn start_flow(self: &Network, flow: &FlowStart) -> FlowStarted;
        /// Takes the flows that have finished since the last call.
        fn take_ended(self: &Network) -> Vec<FlowEnd>;
        /// Tells what happens to frames at a port from now on.
        fn watch_port(self: &Network, node: u32, port: u16);
        /// Tells what happens at a node besides from now on.
        fn watch_node(self: &Network, node: u32);
        /// Measures round-trip times from now on.
        fn measure_rtts(self: &Network);
        /// What comes to ports, given as node and port by turns, is lost with a probability.
        fn lose(self: &Network, ports: &[u32], seed: u32, stream: u64, probability: f64);
        fn port_state(self: &Network, node: u32, port: u16) -> PortState;
        /// Bytes that wait in a queue of a port.
        fn queued(self: &Network, node: u32, port: u16, queue: u8) -> u64;
        /// Bytes that wait at a switch for a port, as the switch accounts for them.
        fn accounted(self: &Network, node: u32, port: u16) -> u32;
        /// Bytes that a switch has sent by a port.
        fn sent(self: &Network, node: u32, port: u16) -> u64;
        fn switch_counters(self: &Network, node: u32) -> SwitchCounters;
        fn host_counters(self: &Network, node: u32) -> HostCounters;
        fn fast_cnp_counters(self: &Network, node: u32) -> FastCnpCounters;
        /// What congestion control has made of a queue pair.
        fn control(self: &Network, host: u32, queue_pair: u32) -> ControlState;
        /// Acknowledged bytes of a flow whose first byte has this number on its queue pair.
        fn acked(self: &Network, host: u32, queue_pair: u32, first_seq: u64) -> u64;
        /// The first sequence number that a queue pair has never sent.
        fn sent_end(self: &Network, host: u32, queue_pair: u32) -> u64;
        /// Whether a host has, or had, a queue pair with this key.
        fn knows(self: &Network, host: u32, queue_pair: u32) -> bool;
        /// Most bytes of a frame's telemetry.
        fn room(self: &Network) -> usize;
        /// The port by which a host's packet with these addresses and ports leaves, or -1.
        fn port_to(self: &Network, host: u32, key: &FlowKey, dst: u32) -> i32;
        /// Sends a frame that begins at a node by a port's queue; returns its place among all.
        fn send_frame(self: &Network, node: u32, port: u16, queue: u8, frame: &Frame, section: &[u8]) -> u32;
        /// Sends a frame that begins at a switch.
        fn send_by_switch(self: &Network, node: u32, frame: &Frame, section: &[u8]);
        /// A node pauses a priority at the far end of a port, or resumes it.
        fn pause(self: &Network, node: u32, port: u16, priority: u8, pause: bool);
        /// The attack of a program, among hosts and switches with such settings; returns its number.
        fn attack(
            self: &Network,
            node: u32,
            entries: &[AttackEntry],
            host: &Settings,
            notifier: &Settings,
        ) -> Result<u32>;
        /// The attacker goes.
        fn end_attack(self: &Network, attack: u32);
        fn attack_counters(self: &Network, attack: u32) -> AttackCounters;
    }

    impl Vec<LinkSpec> {}
}

#[derive(Default)]
pub struct Network {
    network: CoreNetwork,
    /// Links of each node, in the order of its ports.
    links_of: Vec<Vec<u32>>,
    /// Of each node, shared by those that are alike.
    settings: Vec<Rc<NodeSettings>>,
    /// What the settings of a node and its part in Fast CNP were, and what both together are.
    merged: Option<(Rc<NodeSettings>, Rc<NodeSettings>, Rc<NodeSettings>)>,
    borders: Vec<(u32, u32)>,
    /// Once it is started.
    engine: Option<Arc<Mutex<Engine>>>,
    notices: Notices,
    /// The priorities for which switches keep memory; `None`: any.
    pfc_priorities: Option<Priorities>,
}

pub fn new_network() -> Box<Network> {
    panic_report::install();
    Box::default()
}

pub fn resolve(settings: &mut Settings, network: &Network) -> Result<(), String> {
    settings.resolve(network.get())
}

pub fn inherit_units(settings: &mut Settings, host: &Settings, network: &Network) {
    settings.inherit_units(host, network.get());
}

pub fn check_given(settings: &Settings, network: &Network, holder: Holder) -> Result<(), String> {
    settings.check_given(network.get(), holder)
}

pub fn tx_time(rate_bps: u64, bytes: u32, floored: bool) -> u64 {
    let rounding = if floored { Rounding::Floored } else { Rounding::Nearest };
    BitRate(rate_bps).tx_time(bytes, rounding).0
}

pub fn check_border(node: u32, switch: &Settings) -> Result<(), String> {
    let profile = switch.node.wire.profile;
    if profile == WireProfile::RoceV6 {
        return Ok(());
    }
    Err(format!(
        "node {node} is a border of Fast CNP (SetFastCnpBorder()), whose packets are IPv6; the wire profile is \"{}\"; \
         expected \"{}\"",
        profile.name(),
        WireProfile::RoceV6.name()
    ))
}

pub fn accepts_notifications(network: &Network, node: u32, fast_cnp: &Settings) -> bool {
    fast_cnp.node.fast_cnp_host.acceptor(node, &network.network).is_ok_and(|acceptor| acceptor.enabled)
}

pub fn notifies_by_fast_cnp(settings: &Settings) -> bool {
    settings.node.transport.congestion_notification == CongestionNotification::FastCnp
}

pub fn check_fast_cnp(network: &Network, node: u32, fast_cnp: &Settings, settings: &Settings) -> Result<(), String> {
    let named = |wrong: Conflict| format!("fast_cnp.{}: {}", wrong.key, wrong.message);
    let profile = settings.node.wire.profile;
    if !network.network.is_host(node) {
        return fast_cnp.node.fast_cnp_switch.common.check(profile).map_err(named);
    }
    let own = &fast_cnp.node.fast_cnp_host;
    own.common.check(profile).map_err(named)?;
    let enabled = own.acceptor(node, &network.network).map_err(named)?.enabled;
    settings.node.check_notifications(enabled).map_err(|wrong| format!("host {node}: {wrong}"))?;
    if notifies_by_fast_cnp(settings) {
        let wrong = |wrong: Conflict| format!("transport.{}: {}", wrong.key, wrong.message);
        own.check_receivers(&network.network).map_err(wrong)?;
    }
    Ok(())
}

/// `hpcc_core::engine::ControlState`.
pub fn control_state(state: &engine::ControlState) -> ffi::ControlState {
    ffi::ControlState {
        rate_bps: state.rate.0,
        window_bytes: state.window,
        in_flight_bytes: state.in_flight,
        utilisation: state.utilisation.unwrap_or(f64::NAN),
        bottleneck: state.bottleneck.map_or(-1, i16::from),
        is_steered: state.is_steered,
    }
}

/// Settings of an attack that a program says otherwise: the node, and names that its flows do not have.
const OF_FILES: [&str; 2] = ["from", "traffic"];

/// The settings of a program's attack.
fn attack_settings(node: u32, entries: &[ffi::AttackEntry]) -> Result<AttackSettings, String> {
    let mut settings = AttackSettings { from: node, ..AttackSettings::default() };
    let known = settings.list();
    for ffi::AttackEntry { key, value } in entries {
        let setting = known.iter().find(|setting| setting.key == key && OF_FILES.iter().all(|other| other != key));
        let setting = setting.ok_or_else(|| format!("an attack of a program has no setting {key}"))?;
        let input = Input::parse(setting, value).map_err(|wrong| format!("{key}: {wrong}"))?;
        settings.set(setting.key, input).map_err(|wrong| match wrong {
            SettingError::Unknown => format!("an attack has no setting {key}"),
            SettingError::Value(message) => format!("{key}: {message}"),
        })?;
    }
    let given = |key: &str| entries.iter().any(|entry| entry.key == key);
    let idle = known.iter().filter(|setting| given(setting.key)).find_map(|setting| setting.idle(&settings));
    idle.map_or(Ok(settings), Err)
}

/// Rates of a network's links.
pub struct LinkRates(node::LinkRates);

impl LinkRates {
    pub fn check_node(&self, settings: &Settings, is_switch: bool) -> Result<(), String> {
        if is_switch {
            return settings.node.check_thresholds(&self.0).map_err(told);
        }
        lowest_rate(settings.node.control.chosen(), &self.0).map_err(|wrong| wrong.message)
    }
}

impl Network {
    /// Nodes and links.
    pub fn get(&self) -> &CoreNetwork {
        &self.network
    }

    pub fn add_node(&mut self, is_switch: bool) -> u32 {
        self.network.nodes.push(if is_switch { NodeKind::Switch } else { NodeKind::Host });
        self.links_of.push(Vec::new());
        self.network.nodes.len() as u32 - 1
    }

    pub fn add_link(&mut self, link: &ffi::LinkSpec) -> bool {
        let nodes = self.network.nodes.len();
        if link.a as usize >= nodes || link.b as usize >= nodes || link.a == link.b {
            return false;
        }
        let (rate, delay) = (BitRate(link.rate_bps), Nanos(link.delay_ns));
        for end in [link.a, link.b] {
            self.links_of[end as usize].push(self.network.links.len() as u32);
        }
        self.network.links.push(Link { a: link.a, b: link.b, rate, delay, loss: 0.0 });
        true
    }

    pub fn links_between(&self, a: u32, b: u32) -> Vec<u32> {
        self.network.links_between(a, b)
    }

    pub fn add_settings(&mut self, settings: &Settings, fast_cnp: &Settings) -> Result<(), String> {
        let node = self.settings.len() as u32;
        if let Some(own) = settings.node.priorities().filter(|_| !self.network.is_host(node)) {
            let known = *self.pfc_priorities.get_or_insert(own);
            if own != known {
                let message = format!("a switch has {own}, and another one {known}; expected the same");
                return Err(told(Located { section: "switch", conflict: Conflict::new("pfc_priorities", message) }));
            }
        }
        let (own, agent) = (&settings.node, &fast_cnp.node);
        let is_known = |known: &&(Rc<NodeSettings>, Rc<NodeSettings>, Rc<NodeSettings>)| {
            Rc::ptr_eq(&known.0, own) && Rc::ptr_eq(&known.1, agent)
        };
        let both = match self.merged.as_ref().filter(is_known) {
            Some((.., both)) => Rc::clone(both),
            None => Rc::new(NodeSettings {
                fast_cnp_switch: agent.fast_cnp_switch.clone(),
                fast_cnp_host: agent.fast_cnp_host.clone(),
                ..(**own).clone()
            }),
        };
        self.merged = Some((Rc::clone(own), Rc::clone(agent), Rc::clone(&both)));
        self.settings.push(both);
        Ok(())
    }

    pub fn add_border(&mut self, node: u32, outside: u32) {
        self.borders.push((node, outside));
    }

    pub fn start(&mut self, parameters: &ffi::StartParameters) -> Result<(), String> {
        let order = if parameters.canonical { Order::Canonical } else { Order::Insertion };
        let &ffi::StartParameters { seed, ecn_stream, pint_seed, .. } = parameters;
        let streams = Streams { marks: ecn_stream, pint: pint_seed, losses: 0, seed };
        let settings = |node: u32| Rc::clone(&self.settings[node as usize]);
        let mut engine = Engine::new(&self.network, settings, order, streams, 0.0, &self.borders).map_err(told)?;
        engine.serve_program();
        engine.observe(Box::new(self.notices.clone()));
        self.engine = Some(Arc::new(Mutex::new(engine)));
        Ok(())
    }

    /// What was told and not taken.
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// The engine, to be shared.
    pub fn handle(&self) -> Option<Arc<Mutex<Engine>>> {
        self.engine.clone()
    }

    /// The engine, once it is started.
    fn running(&self) -> Option<MutexGuard<'_, Engine>> {
        self.engine.as_ref().map(|engine| engine.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The engine.
    ///
    /// # Panics
    /// Before the start: C++ asks for that itself.
    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.running().expect("a network that was started")
    }

    pub fn set_links(&self, links: &[u32], up: bool) -> Vec<u32> {
        self.engine().set_links(links, up)
    }

    pub fn check_priority(&self, what: &str, priority: u8) -> Result<(), String> {
        self.pfc_priorities.map_or(Ok(()), |kept| node::check_priority(kept, what, priority).map_err(told))
    }

    pub fn check_flow(&self, priority: u8, receiver: &Settings) -> Result<(), String> {
        let answers = receiver.node.transport().answer_priority(priority);
        self.pfc_priorities.map_or(Ok(()), |kept| node::check_flow(kept, priority, answers).map_err(told))
    }

    pub fn check_hops(&self, host: &Settings, src: u32, dst: u32, bytes: u64) -> Result<(), String> {
        let engine = self.engine();
        let fabric = engine.fabric();
        if bytes <= fabric.max_bdp() {
            return Ok(());
        }
        host.check_hops(|| fabric.path(src, dst).map_or(0, |path| usize::from(path.links).saturating_sub(1)))
    }

    pub fn check_switch(&self, node: u32, settings: &Settings, is_read: bool) -> Result<(), String> {
        for &link in self.links_of.get(node as usize).into_iter().flatten().filter(|_| is_read) {
            settings.node.check_link(&self.network.links[link as usize]).map_err(told)?;
        }
        settings.node.check_memory(node, self.ports(node).into_iter()).map_err(told)
    }

    pub fn link_rates(&self) -> Box<LinkRates> {
        Box::new(LinkRates(node::LinkRates::of(&self.network)))
    }

    pub fn check_sampling(&self, host: &Settings) -> Result<(), String> {
        let engine = self.engine();
        let kinds = || engine.fabric().kinds();
        host.node.check_counters(kinds()).and_then(|()| host.node.check_probes(kinds())).map_err(told)
    }

    pub fn max_rtt_ns(&self) -> u64 {
        self.running().map_or(0, |engine| engine.fabric().max_rtt().0)
    }

    pub fn max_bdp_bytes(&self) -> u64 {
        self.running().map_or(0, |engine| engine.fabric().max_bdp())
    }

    pub fn leads(&self, src: u32, dst: u32) -> bool {
        !self.engine().fabric().table(src).next_hops(dst).is_empty()
    }

    pub fn pair_rtt_ns(&self, src: u32, dst: u32) -> u64 {
        self.engine().fabric().measure(src, dst).map_or(0, |(rtt, ..)| rtt.0)
    }

    pub fn standalone_fct_ns(&self, flow: &ffi::StandaloneFlow, host: &Settings) -> Result<u64, String> {
        let &ffi::StandaloneFlow { src, dst, size_bytes, .. } = flow;
        if let Some(other) = [src, dst].into_iter().find(|&node| !self.network.is_host(node)) {
            return Err(format!("node {other} is no host, and flows are between hosts"));
        }
        let ports = flow.has_ports.then_some((flow.sport, flow.dport));
        let flow = IdealFlow { src, dst, ports, size: size_bytes, own: (None, BitRate(u64::MAX)) };
        self.engine().fabric().ideal_fct(&flow, &host.node).map(|fct| fct.0).map_err(told)
    }

    pub fn address(&self, node: u32) -> u32 {
        host_address(node)
    }

    /// Rates and delays of a node's ports.
    fn ports(&self, node: u32) -> Vec<(BitRate, Nanos)> {
        let links = self.links_of.get(node as usize).into_iter().flatten();
        links.map(|&link| &self.network.links[link as usize]).map(|link| (link.rate, link.delay)).collect()
    }
}

/// The engine's turn, and what faces ask it.
impl Network {
    pub fn run(&self, until_ns: u64) -> ffi::Pause {
        match self.engine().run_until(Nanos(until_ns)) {
            Stop::Time => ffi::Pause::Time,
            Stop::Told => ffi::Pause::Told,
            Stop::Sample => ffi::Pause::Sample,
            Stop::Fault => ffi::Pause::Fault,
        }
    }

    pub fn advance(&self, now_ns: u64) {
        self.engine().advance(Nanos(now_ns));
    }

    pub fn now_ns(&self) -> u64 {
        self.engine().now().0
    }

    pub fn next_ns(&self) -> u64 {
        self.engine().next_time().map_or(u64::MAX, |next| next.0)
    }

    pub fn take_fault(&self) -> String {
        self.engine().take_fault().unwrap_or_default()
    }

    pub fn events(&self) -> u64 {
        self.engine().events_run()
    }

    pub fn packet_hops(&self) -> u64 {
        self.engine().packet_hops()
    }

    pub fn start_flow(&self, flow: &ffi::FlowStart) -> ffi::FlowStarted {
        let &ffi::FlowStart { id, src, dst, dport, priority, size_bytes } = flow;
        let request = FlowRequest {
            id,
            src,
            dst,
            dport,
            priority,
            size: size_bytes,
            start: Nanos(0),
            options: FlowOptions::NONE,
        };
        let started = self.engine().start_now(request);
        started.map_or_else(ffi::FlowStarted::default, |started| ffi::FlowStarted {
            present: true,
            sport: started.sport,
            queue_pair: started.queue_pair,
            first_seq: started.first_seq,
        })
    }

    pub fn take_ended(&self) -> Vec<ffi::FlowEnd> {
        let ended = self.engine().take_completed();
        ended.iter().map(|flow| ffi::FlowEnd { id: flow.request.id, is_steered: flow.is_steered }).collect()
    }

    pub fn watch_port(&self, node: u32, port: u16) {
        self.engine().watch_port(node, port);
    }

    pub fn watch_node(&self, node: u32) {
        self.engine().watch_node(node);
    }

    pub fn measure_rtts(&self) {
        self.engine().measure_rtts();
    }

    pub fn lose(&self, ports: &[u32], seed: u32, stream: u64, probability: f64) {
        let ports: Vec<(u32, u16)> = ports.chunks_exact(2).map(|port| (port[0], port[1] as u16)).collect();
        self.engine().lose(&ports, (seed, stream), probability);
    }

    pub fn port_state(&self, node: u32, port: u16) -> ffi::PortState {
        let engine = self.engine();
        let (state, counts) = (engine.port(node, port), engine.port_counts(node, port));
        ffi::PortState {
            queued: state.queued.into(),
            paused: state.paused,
            is_up: state.is_up,
            frames: counts.frames,
            telemetry_bytes: counts.telemetry_bytes,
            losses: counts.losses,
        }
    }

    pub fn queued(&self, node: u32, port: u16, queue: u8) -> u64 {
        self.engine().queued(node, port, queue)
    }

    pub fn accounted(&self, node: u32, port: u16) -> u32 {
        self.engine().accounted(node, port)
    }

    pub fn sent(&self, node: u32, port: u16) -> u64 {
        self.engine().sent(node, port).unwrap_or_default()
    }

    pub fn switch_counters(&self, node: u32) -> ffi::SwitchCounters {
        let engine::SwitchCounts { overflows, link_drops, unroutable, expired, marks } =
            self.engine().switch_counts(node);
        ffi::SwitchCounters { overflows, link_drops, unroutable, expired, marks }
    }

    pub fn host_counters(&self, node: u32) -> ffi::HostCounters {
        let Counters { resent, timeouts, probes, feedback, rejected, baseline_resets, moves, cnps, refused, .. } =
            self.engine().counters(node);
        let Counters { marks_merged, marks_heard, receive, .. } = self.engine().counters(node);
        ffi::HostCounters {
            resent,
            timeouts,
            probes,
            feedback,
            rejected_by_seal: rejected.by_seal,
            rejected_by_guard: rejected.by_guard,
            baseline_resets,
            cnps,
            unsent_acks: refused.unsent,
            unasked_cnps: refused.unasked,
            marks_merged,
            marks_heard,
            unsealed_answers: refused.unsealed,
            moves,
            receive_dropped: receive.dropped,
            receive_pauses: receive.pauses,
        }
    }

    pub fn fast_cnp_counters(&self, node: u32) -> ffi::FastCnpCounters {
        let NoticeTotals { sent, accepted, refused, migrations, reports, dropped_inbound, dropped_outbound, .. } =
            self.engine().notices_of(node);
        let dropped = dropped_inbound + dropped_outbound;
        ffi::FastCnpCounters { sent, dropped, accepted, refused, migrations, reports }
    }

    pub fn control(&self, host: u32, queue_pair: u32) -> ffi::ControlState {
        control_state(&self.engine().control(host, queue_pair))
    }

    pub fn acked(&self, host: u32, queue_pair: u32, first_seq: u64) -> u64 {
        self.engine().acked(host, queue_pair, first_seq)
    }

    pub fn sent_end(&self, host: u32, queue_pair: u32) -> u64 {
        self.engine().sent_end(host, queue_pair)
    }

    pub fn knows(&self, host: u32, queue_pair: u32) -> bool {
        self.engine().knows(host, queue_pair)
    }

    pub fn room(&self) -> usize {
        self.engine().room()
    }

    pub fn port_to(&self, host: u32, key: &ffi::FlowKey, dst: u32) -> i32 {
        let &ffi::FlowKey { src_address, dst_address, sport, dport } = key;
        let key = FlowKey { src_address, dst_address, sport, dport };
        self.engine().port_to(host, &key, dst).map_or(-1, i32::from)
    }

    pub fn send_frame(&self, node: u32, port: u16, queue: u8, frame: &Frame, section: &[u8]) -> u32 {
        self.engine().send_frame(node, port, queue, &frame.into(), section)
    }

    pub fn send_by_switch(&self, node: u32, frame: &Frame, section: &[u8]) {
        self.engine().send_by_switch(node, &frame.into(), section);
    }

    pub fn pause(&self, node: u32, port: u16, priority: u8, pause: bool) {
        self.engine().pause(node, port, priority, pause);
    }

    pub fn attack(
        &self,
        node: u32,
        entries: &[ffi::AttackEntry],
        host: &Settings,
        notifier: &Settings,
    ) -> Result<u32, String> {
        let settings = attack_settings(node, entries)?;
        let nodes =
            NodeSettings { fast_cnp_switch: notifier.node.fast_cnp_switch.clone(), ..host.node.as_ref().clone() };
        let attack = Attack::new(&settings, &self.network, &nodes, None);
        let attack = attack.map_err(|wrong| format!("{}: {}", wrong.key, wrong.message))?;
        Ok(self.engine().attack(attack))
    }

    pub fn end_attack(&self, attack: u32) {
        self.engine().end_attack(attack);
    }

    pub fn attack_counters(&self, attack: u32) -> ffi::AttackCounters {
        let engine = self.engine();
        let found = engine.attacks().nth(attack as usize);
        found.map_or_else(ffi::AttackCounters::default, |attack| ffi::AttackCounters {
            sent: attack.sent(),
            altered: attack.altered(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_have_flows() {
        let mut network = Network::default();
        for is_switch in [false, false, true] {
            network.add_node(is_switch);
        }
        let settings = Settings::settled(Rc::new(NodeSettings::default()));
        for (src, dst, other) in [(0, 2, 2), (2, 1, 2), (0, 99, 99)] {
            let flow = ffi::StandaloneFlow { src, dst, size_bytes: 1_000, has_ports: false, sport: 0, dport: 0 };
            let told = network.standalone_fct_ns(&flow, &settings);
            assert_eq!(told, Err(format!("node {other} is no host, and flows are between hosts")));
        }
    }
}
