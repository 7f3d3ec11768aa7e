// SPDX-License-Identifier: GPL-2.0-only
//! A scenario file as the ns-3 program runs it: by the engine alone or, where flows are those of ns-3's stack, over hosts of its own.

use crate::network::ffi::LinkSpec;
use crate::network::{Network, flow_end};
use crate::panic_report;
use crate::settings::{Settings, defaults};
use cxx::{CxxString, CxxVector};
use hpcc_core::engine::{FlowOptions, FlowRequest, Started, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::topology::{Link, NodeKind};
use hpcc_core::transport::{IpVersion, Protocol};
use hpcc_core::units::{Bytes, Nanos};
use hpcc_model::error::InputError;
use hpcc_model::scenario::{self, EventOrder};
use hpcc_simulate::{Outcome, Program, Seen, StackTotals, engine_streams};
use std::ffi::OsStr;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// Links of a switch at the edge of the domain.
    #[derive(Clone, Copy, Debug)]
    struct FastCnpBorder {
        node: u32,
        outside: u32,
    }

    /// Where random numbers come from.
    #[derive(Clone, Copy, Debug)]
    struct StreamParameters {
        /// First stream of ECN marking.
        ecn: u64,
        /// Seed of the draws of PINT.
        pint_seed: u32,
        /// Stream of losses.
        loss: u64,
    }

    /// What hosts with ns-3's stack run by.
    #[derive(Clone, Copy, Debug)]
    struct StackParameters {
        /// IPv6 in place of IPv4.
        ipv6: bool,
        /// Payload bytes of a segment or datagram.
        payload: u32,
        /// Whether T is the longest of the network.
        global_rtt: bool,
    }

    /// What sockets of TCP hosts are made with.
    #[derive(Clone, Debug)]
    struct TcpParameters {
        /// The class of their congestion control.
        control: String,
        /// What the file says of its attributes; HPCC++'s are among the settings.
        attributes: Vec<TcpAttribute>,
        /// Bytes that a socket holds, at either end.
        buffer: u32,
        /// Least retransmission timeout.
        timeout_ns: u64,
    }

    /// An attribute of a congestion control.
    #[derive(Clone, Debug)]
    struct TcpAttribute {
        name: String,
        /// As text.
        value: String,
    }

    /// A flow that a stack carries.
    #[derive(Clone, Copy, Debug)]
    struct StackFlow {
        id: u32,
        src: u32,
        dst: u32,
        priority: u8,
        dport: u16,
        size_bytes: u64,
    }

    /// A flow that the engine carries has begun, now.
    #[derive(Clone, Copy, Debug)]
    struct BegunFlow {
        flow: StackFlow,
        sport: u16,
        queue_pair: u32,
        first_seq: u64,
        /// The link of its host, or -1.
        nic: i16,
        /// Its highest rate; 0: its port's.
        most_bps: u64,
    }

    /// `hpcc_simulate::Seen`.
    #[derive(Clone, Debug)]
    struct SeenFlows {
        begun: Vec<BegunFlow>,
        ended: Vec<FlowEnd>,
    }

    /// `hpcc_simulate::StackTotals`.
    #[derive(Clone, Copy, Debug, Default)]
    struct StackCounters {
        resent: u64,
        timeouts: u64,
        probes: u64,
        feedback: u64,
        baseline_resets: u64,
        drops: u64,
        events: u64,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/network.rs.h");
        include!("ns3-bridge/src/settings.rs.h");
        type FlowEnd = crate::network::ffi::FlowEnd;
        type LinkSpec = crate::network::ffi::LinkSpec;
        type Network = crate::network::Network;
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// An experiment read from a file.
        #[derive(ExternType)]
        type Scenario;
        /// Reads a scenario, or says what is wrong with it, with file and line; overrides are `KEY=VALUE`.
        fn open_scenario(path: &CxxString, overrides: &CxxVector<CxxString>) -> Result<Box<Scenario>>;
        /// The ns-3 class that makes hosts and starts their flows; empty: the engine has them.
        fn hosts_class(self: &Scenario) -> String;
        /// Whether congestion controls of its RDMA flows, or load balancers, are classes of the program, which look at its clock.
        fn calls_program(self: &Scenario) -> bool;
        fn node_count(self: &Scenario) -> u32;
        fn is_switch(self: &Scenario, node: u32) -> bool;
        fn links(self: &Scenario) -> Vec<LinkSpec>;
        /// Loss probability of a link.
        fn loss(self: &Scenario, link: u32) -> f64;
        /// Whether the loss probability is the link's own; all others share one generator.
        fn has_own_loss(self: &Scenario, link: u32) -> bool;
        fn streams(self: &Scenario) -> StreamParameters;
        fn seed(self: &Scenario) -> u64;
        fn stop_ns(self: &Scenario) -> u64;
        /// Whether events of the same nanosecond run in an order that depends on each node alone.
        fn is_canonical(self: &Scenario) -> bool;
        /// The settings of all nodes but the legacy ones.
        fn settings(self: &Scenario) -> Box<Settings>;
        fn stack(self: &Scenario) -> StackParameters;
        fn tcp(self: &Scenario) -> TcpParameters;
        /// Whether a host has ns-3's stack.
        fn is_stack(self: &Scenario, host: u32) -> bool;
        /// Nodes that know nothing of telemetry.
        fn legacy_nodes(self: &Scenario) -> Vec<u32>;
        /// The settings of such a node.
        fn legacy_settings(self: &Scenario, node: u32) -> Box<Settings>;
        fn fast_cnp_borders(self: &Scenario) -> Vec<FastCnpBorder>;
        /// Nodes whose frames are captured as bytes.
        fn capture_nodes(self: &Scenario) -> Vec<u32>;

        /// A run whose flows a stack carries.
        #[derive(ExternType)]
        type StackRun;
        /// Begins the run of a scenario on a network that is started; nothing where its results have no place, which was told. The
        /// network may have more nodes and links than the scenario, behind its own. `sees_flows`: C++ sees flows that the engine
        /// carries, and may start others.
        fn begin_stack_run(
            scenario: &Scenario,
            out: &CxxString,
            is_quiet: bool,
            network: &Network,
            sees_flows: bool,
        ) -> Result<Box<StackRun>>;
        /// The number of the first flow that C++ starts in such a run.
        fn first_flow_of_program() -> u32;
        /// Flows that have begun on the engine since the last call, and those that have finished.
        fn take_seen(self: &mut StackRun) -> SeenFlows;
        /// Flows that begin now.
        fn take_started(self: &mut StackRun) -> Vec<StackFlow>;
        /// A flow that begins has this source port.
        fn set_port(self: &mut StackRun, flow: u32, sport: u16);
        /// A flow has finished now.
        fn end_flow(self: &mut StackRun, flow: u32);
        /// Whether the next sample needs the acknowledged bytes of flows under way; the end always does.
        fn asks_flows(self: &StackRun) -> bool;
        /// So many bytes of a flow are acknowledged.
        fn set_acked(self: &mut StackRun, flow: u32, bytes: u64);
        /// Takes the sample that is due.
        fn sample(self: &mut StackRun);
        /// A frame of a captured node, as bytes.
        fn capture(self: &mut StackRun, node: u32, bytes: &[u8]);
        /// Ends the run, once, before its time if `stopped` says why, at `now_ns`; returns an exit status.
        fn finish_stack_run(
            run: &mut StackRun,
            stopped: &str,
            now_ns: u64,
            counters: &StackCounters,
            ns3: &str,
            build_profile: &str,
        ) -> u8;
    }
}

use ffi::{
    BegunFlow, FastCnpBorder, SeenFlows, StackFlow, StackParameters, StreamParameters, TcpAttribute, TcpParameters,
};

pub struct Scenario {
    pub(crate) scenario: scenario::Scenario,
    /// Of all nodes that share them.
    settings: Rc<NodeSettings>,
}

pub fn open_scenario(path: &CxxString, overrides: &CxxVector<CxxString>) -> Result<Box<Scenario>, InputError> {
    panic_report::install();
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let scenario = hpcc_formats::load_with(as_path(path), &overrides, defaults())?;
    let settings = Rc::new(scenario.settings.clone());
    Ok(Box::new(Scenario { scenario, settings }))
}

/// A path of the command line, which need not be UTF-8.
pub(crate) fn as_path(text: &CxxString) -> &Path {
    Path::new(OsStr::from_bytes(text.as_bytes()))
}

/// Why a controller of the program has ended the run, if one has.
#[cfg(feature = "ns3")]
use crate::congestion_ops::fault;
#[cfg(not(feature = "ns3"))]
fn fault() -> Option<String> {
    None
}

pub(crate) fn status(outcome: Result<Outcome, Outcome>) -> u8 {
    match outcome {
        Ok(outcome) | Err(outcome) => outcome as u8,
    }
}

/// `None` once it has ended.
pub struct StackRun(Option<hpcc_simulate::StackRun>);

pub fn begin_stack_run(
    scenario: &Scenario,
    out: &CxxString,
    is_quiet: bool,
    network: &Network,
    sees_flows: bool,
) -> Result<Box<StackRun>, String> {
    let engine = network.handle().ok_or("a network that was not started")?;
    let (mut scenario, faces) = (scenario.scenario.clone(), Box::new(network.notices().clone()));
    let added = network.added_to(&scenario.network);
    scenario.network.nodes.extend(added.nodes);
    scenario.network.links.extend(added.links);
    let (out, start) = (as_path(out), Instant::now());
    let run = hpcc_simulate::StackRun::new(scenario, out, is_quiet, engine, faces, start, sees_flows);
    run.map(|run| Box::new(StackRun(Some(run)))).map_err(|_| String::new())
}

pub fn finish_stack_run(
    run: &mut StackRun,
    stopped: &str,
    now_ns: u64,
    counters: &ffi::StackCounters,
    ns3: &str,
    build_profile: &str,
) -> u8 {
    let &ffi::StackCounters { resent, timeouts, probes, feedback, baseline_resets, drops, events } = counters;
    let stack = StackTotals { resent, timeouts, probes, feedback, baseline_resets, drops, events };
    let program = Program { ns3, build_profile, fault: &fault, clock: None };
    let Some(run) = run.0.take() else { return Outcome::BadInput as u8 };
    let stopped = Some((stopped, Nanos(now_ns))).filter(|(why, _)| !why.is_empty());
    status(run.finish(stopped, stack, &program))
}

pub fn first_flow_of_program() -> u32 {
    hpcc_simulate::FIRST_OF_PROGRAM
}

fn stack_flow(&FlowRequest { id, src, dst, dport, priority, size, .. }: &FlowRequest) -> StackFlow {
    StackFlow { id, src, dst, priority, dport, size_bytes: size }
}

fn begun_flow(&Started { ref request, sport, queue_pair, first_seq }: &Started) -> BegunFlow {
    let FlowOptions { nic, rate, .. } = request.options;
    BegunFlow {
        flow: stack_flow(request),
        sport,
        queue_pair,
        first_seq,
        nic: nic.map_or(-1, i16::from),
        most_bps: if rate == FlowOptions::NONE.rate { 0 } else { rate.0 },
    }
}

impl StackRun {
    pub fn take_seen(&mut self) -> SeenFlows {
        let Seen { begun, ended } = self.0.as_mut().map(hpcc_simulate::StackRun::take_seen).unwrap_or_default();
        SeenFlows { begun: begun.iter().map(begun_flow).collect(), ended: ended.iter().map(flow_end).collect() }
    }

    pub fn take_started(&mut self) -> Vec<StackFlow> {
        let started = self.0.as_mut().map(hpcc_simulate::StackRun::take_started).unwrap_or_default();
        started.iter().map(stack_flow).collect()
    }

    pub fn set_port(&mut self, flow: u32, sport: u16) {
        if let Some(run) = &mut self.0 {
            run.set_port(flow, sport);
        }
    }

    pub fn end_flow(&mut self, flow: u32) {
        if let Some(run) = &mut self.0 {
            run.end(flow);
        }
    }

    pub fn asks_flows(&self) -> bool {
        self.0.as_ref().is_some_and(hpcc_simulate::StackRun::asks_flows)
    }

    pub fn set_acked(&mut self, flow: u32, bytes: u64) {
        if let Some(run) = &mut self.0 {
            run.set_acked(flow, bytes);
        }
    }

    pub fn sample(&mut self) {
        if let Some(run) = &mut self.0 {
            run.sample();
        }
    }

    pub fn capture(&mut self, node: u32, bytes: &[u8]) {
        if let Some(run) = &mut self.0 {
            run.capture(node, bytes);
        }
    }
}

/// A setting in bytes, whose range ends far below 2^32.
fn whole(size: Bytes) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

impl Scenario {
    pub fn is_canonical(&self) -> bool {
        self.scenario.order == EventOrder::Canonical
    }

    /// The name of a class of this program that controls RDMA flows or balances their load, if one does.
    pub(crate) fn class(&self) -> Option<&str> {
        let scheme = Some(self.scenario.settings.load_balancing.chosen()).filter(|scheme| scheme.is_programmed());
        let all = iter::once(&self.scenario.settings).chain(self.scenario.legacy.settings.as_ref());
        let mut chosen = all.map(|settings| settings.control.chosen());
        let algorithm = chosen.find(|algorithm| algorithm.needs().program);
        algorithm.map(|algorithm| algorithm.name()).or(scheme.map(|scheme| scheme.name()))
    }

    pub fn calls_program(&self) -> bool {
        self.class().is_some()
    }

    pub fn node_count(&self) -> u32 {
        self.scenario.network.nodes.len() as u32
    }

    pub fn is_switch(&self, node: u32) -> bool {
        self.scenario.network.nodes.get(node as usize) == Some(&NodeKind::Switch)
    }

    pub fn links(&self) -> Vec<LinkSpec> {
        let spec = |link: &Link| LinkSpec { a: link.a, b: link.b, rate_bps: link.rate.0, delay_ns: link.delay.0 };
        self.scenario.network.links.iter().map(spec).collect()
    }

    pub fn has_own_loss(&self, link: u32) -> bool {
        self.scenario.network.links.get(link as usize).is_some_and(|link| link.loss > 0.0)
    }

    pub fn loss(&self, link: u32) -> f64 {
        let own = self.scenario.network.links.get(link as usize).map(|link| link.loss);
        own.filter(|&loss| loss > 0.0).unwrap_or(self.scenario.default_loss)
    }

    pub fn streams(&self) -> StreamParameters {
        let Streams { marks, pint, losses, .. } = engine_streams(&self.scenario);
        StreamParameters { ecn: marks, pint_seed: pint, loss: losses }
    }

    pub fn seed(&self) -> u64 {
        self.scenario.seed
    }

    pub fn stop_ns(&self) -> u64 {
        self.scenario.stop.0
    }

    pub fn settings(&self) -> Box<Settings> {
        Settings::settled(Rc::clone(&self.settings))
    }

    pub fn hosts_class(&self) -> String {
        match self.scenario.stack() {
            None | Some(Protocol::Rdma) => String::new(),
            Some(Protocol::Tcp) => "ns3::ScenarioTcpHosts".into(),
            Some(Protocol::Udp) => "ns3::ScenarioDatagramHosts".into(),
        }
    }

    pub fn stack(&self) -> StackParameters {
        StackParameters {
            ipv6: self.settings.protocol.ip == IpVersion::V6,
            payload: whole(self.settings.transport.mtu),
            global_rtt: self.settings.transport.global_rtt,
        }
    }

    pub fn tcp(&self) -> TcpParameters {
        let algorithm = self.scenario.legacy.tcp().unwrap_or(&self.scenario.settings).control.chosen();
        let of_ns3 = algorithm.needs().tcp;
        let own = algorithm.list().into_iter().filter(|_| of_ns3);
        let changed = own.filter_map(|setting| Some((setting.key, algorithm.get(setting.key)?, setting.default)));
        let changed = changed.filter(|(_, value, default)| value != default);
        TcpParameters {
            control: if of_ns3 { algorithm.name().into() } else { "ns3::TcpHpccPlus".into() },
            attributes: changed
                .map(|(name, value, _)| TcpAttribute { name: name.into(), value: value.text() })
                .collect(),
            buffer: whole(self.settings.protocol.tcp_buffer),
            timeout_ns: self.settings.protocol.tcp_timeout.0,
        }
    }

    pub fn is_stack(&self, host: u32) -> bool {
        self.scenario.protocol(host).is_of_stack()
    }

    pub fn legacy_settings(&self, node: u32) -> Box<Settings> {
        Settings::settled(Rc::new(self.scenario.node_settings(node)))
    }

    pub fn legacy_nodes(&self) -> Vec<u32> {
        self.scenario.legacy.nodes.clone()
    }

    pub fn fast_cnp_borders(&self) -> Vec<FastCnpBorder> {
        self.scenario
            .borders
            .iter()
            .map(|border| FastCnpBorder { node: border.node, outside: border.outside })
            .collect()
    }

    pub fn capture_nodes(&self) -> Vec<u32> {
        self.scenario.monitor.capture_nodes.clone()
    }
}
