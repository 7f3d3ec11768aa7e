// SPDX-License-Identifier: GPL-2.0-only
//! The network as the ns-3 module builds it up and, once it is started, the engine that runs it.

use crate::notices::Notices;
use crate::panic_report;
use crate::settings::{Settings, told};
use hpcc_core::address::host_address;
use hpcc_core::engine::{Engine, Order, Quality, Streams};
use hpcc_core::fabric::IdealFlow;
use hpcc_core::node::{Given, Located, NodeSettings};
use hpcc_core::settings::Conflict;
use hpcc_core::switch::Priorities;
use hpcc_core::topology::{Link, Network as CoreNetwork, NodeKind};
use hpcc_core::units::{BitRate, Nanos, Rounding};
use settle::accepts_notifications;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
pub use turns::{control_state, flow_end};

mod own_control;
mod settle;
mod turns;

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
        /// First stream of ECN marks; 0 for the first that is free.
        ecn_stream: u64,
        /// Streams that earlier runs have taken.
        streams_before: u64,
        /// Seed of PINT's draws.
        pint_seed: u32,
        /// The address of the `EngineNetwork`, whose models of errors judge ports.
        network: usize,
    }

    /// Why a network under way pauses.
    #[derive(Clone, Copy, Debug)]
    enum Pause {
        /// The time that was given has come.
        Time,
        /// There is something to tell.
        Completion,
        /// It is time for a sample.
        Sample,
        /// The run cannot go on.
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
        /// The link of its host by which it leaves, counted from 0; below 0 a hash chooses.
        nic: i16,
        /// Its highest rate; 0: its port's.
        most_bps: u64,
        /// When it sends its last packet; 0: when it has sent all.
        stop_ns: u64,
        /// Its congestion control, by the number that `add_control` gave; below 0 its host's.
        control: i32,
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
    #[derive(Clone, Copy, Debug)]
    struct FlowEnd {
        id: u32,
        /// Less than was asked for where it was stopped.
        size_bytes: u64,
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
        marks_untold: u64,
        trims_heard: u64,
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
        /// Takes over the settings of the next node, in the order of their indices, with those that its part in Fast CNP has.
        fn add_settings(self: &mut Network, settings: &Settings, fast_cnp: &Settings);
        /// Links between these two are at the edge of the domain of Fast CNP, on the side of `node`.
        fn add_border(self: &mut Network, node: u32, outside: u32);
        /// Settles what the settings of the network and its nodes leave to the simulator, and checks them all.
        fn settle(self: &mut Network, shared: &Settings) -> Result<()>;
        /// What a node runs by, once all is settled.
        fn settings_of(self: &Network, node: u32) -> Box<Settings>;
        /// A model of the program decides what comes to a port with errors; before the start.
        fn judge_port(self: &mut Network, node: u32, port: u16);
        /// Starts the engine, once all is settled.
        fn start(self: &mut Network, parameters: &StartParameters) -> Result<()>;
        /// Refuses a priority for which switches keep no memory; `what` begins the sentence.
        fn check_priority(self: &Network, what: &str, priority: u8) -> Result<()>;
        /// Refuses a flow whose priorities switches keep no memory for; its receiver has these settings.
        fn check_flow(self: &Network, priority: u8, receiver: &Settings) -> Result<()>;
        /// Refuses a flow of more bytes than a window, on whose path telemetry of a host with these settings has no room; as the
        /// path is at the start.
        fn check_hops(self: &Network, host: &Settings, src: u32, dst: u32, bytes: u64) -> Result<()>;
        /// The links between two nodes, up or down, in the order in which they were added.
        fn links_between(self: &Network, a: u32, b: u32) -> Vec<u32>;
        /// Takes links down now, or brings them up. Returns those that changed: not a link that was so before, nor one that comes up
        /// though the 2019 simulator uses another between the same nodes.
        fn set_links(self: &Network, links: &[u32], up: bool) -> Vec<u32>;
        /// Links have another rate from now on, 0 for their own, and frames there wrong bits with a probability.
        fn set_quality(self: &Network, links: &[u32], rate_bps: u64, bit_errors: f64);
        /// An RDMA host has a stack besides, whose packets have so many percent of a link while data wait, too.
        fn share_ports(self: &Network, host: u32, percent: u8);
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
        /// The time that a frame occupies a link, rounded to nearest or as the 2019 simulator does.
        fn tx_time(rate_bps: u64, bytes: u32, floored: bool) -> u64;
        /// Whether a host believes notifications by switches.
        fn accepts_notifications(network: &Network, node: u32, fast_cnp: &Settings) -> bool;

        /// It is now this time: all before has happened, and nothing of now has.
        fn advance(self: &Network, now_ns: u64);
        /// When something happens next; the largest value: never.
        fn next_ns(self: &Network) -> u64;
        fn events(self: &Network) -> u64;
        fn packet_hops(self: &Network) -> u64;
        /// Flows from a host with these settings may have this congestion control, given as its name and perhaps
        /// `[NAME=VALUE|...]`; returns its number.
        fn add_control(self: &Network, host: u32, settings: &Settings, control: &str) -> Result<i32>;
        /// The address of the object in C++ that controls a flow, 0 if there is none.
        fn controller(self: &Network, host: u32, queue_pair: u32) -> usize;
        /// A flow begins now; one that cannot is a fault.
        fn start_flow(self: &Network, flow: &FlowStart) -> FlowStarted;
        /// A flow sends its last packet now. Returns whether it has a queue pair for itself; nothing happens otherwise.
        fn stop_flow(self: &Network, host: u32, queue_pair: u32) -> bool;
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
        /// The attack of a program, among hosts with such settings; returns its number.
        fn attack(self: &Network, node: u32, entries: &[AttackEntry], host: &Settings) -> Result<u32>;
        /// The attacker goes.
        fn end_attack(self: &Network, attack: u32);
        fn attack_counters(self: &Network, attack: u32) -> AttackCounters;
    }

    impl Vec<LinkSpec> {}
    impl Vec<FlowEnd> {}
}

#[derive(Default)]
pub struct Network {
    network: CoreNetwork,
    /// The settings of each node as they were given.
    given: Vec<Given>,
    /// Whether they are a scenario's, which has settled them.
    of_scenario: bool,
    /// Once they are settled.
    settings: Vec<Rc<NodeSettings>>,
    /// What the settings of a node and its part in Fast CNP were, and what both together are.
    merged: Option<(Rc<NodeSettings>, Rc<NodeSettings>, Rc<NodeSettings>)>,
    borders: Vec<(u32, u32)>,
    /// Ports at which models of errors of the program judge what arrives.
    judged: Vec<(u32, u16)>,
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

pub fn tx_time(rate_bps: u64, bytes: u32, floored: bool) -> u64 {
    let rounding = if floored { Rounding::Floored } else { Rounding::Nearest };
    BitRate(rate_bps).tx_time(bytes, rounding).0
}

/// From now on the engine stops for the program's clock.
fn follow_program(engine: &mut Engine) {
    #[cfg(feature = "ns3")]
    if !engine.is_clocked() {
        engine.follow_clock(Box::new(crate::clock::OfTurns));
    }
    #[cfg(not(feature = "ns3"))]
    let _ = engine;
}

impl Network {
    pub fn add_node(&mut self, is_switch: bool) -> u32 {
        self.network.nodes.push(if is_switch { NodeKind::Switch } else { NodeKind::Host });
        self.network.nodes.len() as u32 - 1
    }

    pub fn add_link(&mut self, link: &ffi::LinkSpec) -> bool {
        let nodes = self.network.nodes.len();
        if link.a as usize >= nodes || link.b as usize >= nodes || link.a == link.b {
            return false;
        }
        let (rate, delay) = (BitRate(link.rate_bps), Nanos(link.delay_ns));
        self.network.links.push(Link { a: link.a, b: link.b, rate, delay, loss: 0.0 });
        true
    }

    /// What it has beyond a network that it was made of.
    pub fn added_to(&self, other: &CoreNetwork) -> CoreNetwork {
        let nodes = self.network.nodes.get(other.nodes.len()..).unwrap_or_default().to_vec();
        let links = self.network.links.get(other.links.len()..).unwrap_or_default().to_vec();
        CoreNetwork { nodes, links }
    }

    pub fn links_between(&self, a: u32, b: u32) -> Vec<u32> {
        self.network.links_between(a, b)
    }

    pub fn add_border(&mut self, node: u32, outside: u32) {
        self.borders.push((node, outside));
    }

    pub fn judge_port(&mut self, node: u32, port: u16) {
        self.judged.push((node, port));
    }

    pub fn start(&mut self, parameters: &ffi::StartParameters) -> Result<(), String> {
        let order = if parameters.canonical { Order::Canonical } else { Order::Insertion };
        let &ffi::StartParameters { seed, ecn_stream, streams_before, pint_seed, .. } = parameters;
        let first = match ecn_stream {
            0 => {
                let faults = self.settings.first().map(|node| node.faults()).unwrap_or_default();
                Streams::before_marks(&self.network, faults)
            }
            given => given,
        };
        let streams = Streams { marks: first.wrapping_add(streams_before), pint: pint_seed, losses: 0, seed };
        let settings = |node: u32| Rc::clone(&self.settings[node as usize]);
        let mut engine = Engine::new(&self.network, settings, order, streams, 0.0, &self.borders).map_err(told)?;
        let mut known: Option<&Rc<NodeSettings>> = None;
        for own in self.network.hosts().map(|host| &self.settings[host as usize]) {
            if known.replace(own).is_none_or(|known| !Rc::ptr_eq(known, own)) {
                let kinds = || engine.fabric().kinds();
                own.check_counters(kinds()).and_then(|()| own.check_probes(kinds())).map_err(told)?;
            }
        }
        if !self.judged.is_empty() && self.settings.iter().any(|own| own.wire.llr) {
            let message =
                "links send again what they lose by themselves, and not what an ErrorModel spoils; expected false";
            return Err(told(Located { section: "wire", conflict: Conflict::new("llr", message.into()) }));
        }
        engine.serve_program();
        #[cfg(feature = "ns3")]
        if !self.judged.is_empty() {
            engine.judge(&self.judged, Box::new(crate::judge::Models(parameters.network)));
        }
        if engine.calls_program() || !self.judged.is_empty() {
            follow_program(&mut engine);
        }
        engine.observe(Box::new(self.notices.clone()));
        self.engine = Some(Arc::new(Mutex::new(engine)));
        Ok(())
    }

    /// What was told and not taken.
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Nodes and links.
    pub fn core(&self) -> &CoreNetwork {
        &self.network
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

    pub fn set_quality(&self, links: &[u32], rate_bps: u64, bit_errors: f64) {
        let rate = Some(BitRate(rate_bps)).filter(|rate| rate.0 > 0);
        self.engine().set_quality(links, Quality { rate, bit_errors });
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
        let engine = self.engine();
        let (own, during) = ((None, BitRate(u64::MAX)), (engine.now(), engine.now()));
        let flow = IdealFlow { src, dst, ports, priority: None, size: size_bytes, own, during };
        Ok(engine.fabric().ideal_fct(&flow, &host.node).0)
    }

    pub fn address(&self, node: u32) -> u32 {
        host_address(node)
    }
}

/// `RdmaFlow::ENDLESS` in C++, which is a constant there.
const _: () = assert!(hpcc_core::engine::ENDLESS == 1 << 53);

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
