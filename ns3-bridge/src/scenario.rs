// SPDX-License-Identifier: GPL-2.0-only
//! A scenario file as the ns-3 program sees it.

use crate::network::ffi::LinkSpec;
use crate::panic_report;
use crate::random::streams_before;
use crate::settings::{Settings, defaults};
use cxx::{CxxString, CxxVector};
use hpcc_core::cc::Reads;
use hpcc_core::node::NodeSettings;
use hpcc_core::topology::{Link, NodeKind};
use hpcc_core::transport::{IpVersion, Protocol};
use hpcc_core::units::{Bytes, Nanos};
use hpcc_formats::error::InputError;
use hpcc_formats::scenario::{self, QueueHistogram};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// Links of a switch at the edge of the domain.
    #[derive(Clone, Copy, Debug)]
    struct FastCnpBorder {
        node: u32,
        outside: u32,
    }

    /// `hpcc_formats::scenario::Monitor`; 0 stands for "off".
    #[derive(Clone)]
    struct MonitorParameters {
        histogram: bool,
        histogram_start_ns: u64,
        histogram_end_ns: u64,
        queue_interval_ns: u64,
        goodput_interval_ns: u64,
        control_interval_ns: u64,
        /// All if there are none.
        control_flows: Vec<u32>,
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

    /// `hpcc_formats::scenario::LinkFailure`.
    #[derive(Clone)]
    struct LinkFailure {
        time_ns: u64,
        /// When they come up again; the largest value stands for never.
        until_ns: u64,
        links: Vec<u32>,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/network.rs.h");
        include!("ns3-bridge/src/settings.rs.h");
        type LinkSpec = crate::network::ffi::LinkSpec;
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// An experiment read from a file.
        #[derive(ExternType)]
        type Scenario;
        /// Reads a scenario, or says what is wrong with it, with file and line; overrides are `KEY=VALUE`.
        fn open_scenario(path: &CxxString, overrides: &CxxVector<CxxString>) -> Result<Box<Scenario>>;
        /// Harmless things that the user should know.
        fn notes(self: &Scenario) -> Vec<String>;
        fn node_count(self: &Scenario) -> u32;
        fn is_switch(self: &Scenario, node: u32) -> bool;
        fn links(self: &Scenario) -> Vec<LinkSpec>;
        /// Loss probability of a link.
        fn loss(self: &Scenario, link: u32) -> f64;
        /// Whether the loss probability is the link's own; all others share one generator.
        fn has_own_loss(self: &Scenario, link: u32) -> bool;
        /// Random stream of losses.
        fn loss_stream(self: &Scenario) -> u64;
        /// First random stream of ECN marking.
        fn ecn_stream(self: &Scenario) -> u64;
        /// Seed of the draws of PINT.
        fn pint_seed(self: &Scenario) -> u32;
        /// Links that fail, and when.
        fn link_failures(self: &Scenario) -> Vec<LinkFailure>;
        fn seed(self: &Scenario) -> u64;
        fn flow_count(self: &Scenario) -> u32;
        fn total_bytes(self: &Scenario) -> u64;
        fn stop_ns(self: &Scenario) -> u64;
        /// The settings of all nodes but the legacy ones.
        fn settings(self: &Scenario) -> Box<Settings>;
        /// The ns-3 class that makes hosts and starts their flows.
        fn hosts_class(self: &Scenario) -> String;
        fn stack(self: &Scenario) -> StackParameters;
        fn tcp(self: &Scenario) -> TcpParameters;
        /// Nodes that know nothing of telemetry.
        fn legacy_nodes(self: &Scenario) -> Vec<u32>;
        /// The settings of such a node.
        fn legacy_settings(self: &Scenario, node: u32) -> Box<Settings>;
        /// Whether the packet trace tells of packets that a switch drops.
        fn traces_overflow(self: &Scenario) -> bool;
        /// The addresses that the PFC frames of a node's ports come from.
        fn port_addresses(self: &Scenario, node: u32) -> Vec<u32>;
        /// Whether switches, hosts or borders have anything to do about Fast CNP.
        fn has_fast_cnp(self: &Scenario) -> bool;
        fn fast_cnp_borders(self: &Scenario) -> Vec<FastCnpBorder>;
        fn monitor(self: &Scenario) -> MonitorParameters;
        /// Nodes whose packets are traced.
        fn trace_nodes(self: &Scenario) -> Vec<u32>;
        /// Nodes whose frames are captured as bytes.
        fn capture_nodes(self: &Scenario) -> Vec<u32>;
    }
}

use ffi::{FastCnpBorder, LinkFailure, MonitorParameters, StackParameters, TcpAttribute, TcpParameters};

/// The stream of the reference's error model, whose seed is 1.
const FIRST_LOSS_STREAM: u64 = (1 << 63) + 50;

pub struct Scenario {
    scenario: scenario::Scenario,
    /// Of all nodes that share them.
    settings: Rc<NodeSettings>,
}

pub fn open_scenario(path: &CxxString, overrides: &CxxVector<CxxString>) -> Result<Box<Scenario>, InputError> {
    panic_report::install();
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let scenario = hpcc_formats::load_with(as_path(path), &overrides, defaults())?;
    hpcc_formats::refuse_engine_only(as_path(path), &scenario)?;
    let settings = Rc::new(scenario.settings.clone());
    Ok(Box::new(Scenario { scenario, settings }))
}

/// A path of the command line, which need not be UTF-8.
pub(crate) fn as_path(text: &CxxString) -> &Path {
    Path::new(OsStr::from_bytes(text.as_bytes()))
}

fn or_zero(interval: Option<Nanos>) -> u64 {
    interval.map_or(0, |interval| interval.0)
}

/// A setting in bytes, whose range ends far below 2^32.
fn whole(size: Bytes) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

impl Scenario {
    /// What the file says.
    pub fn get(&self) -> &scenario::Scenario {
        &self.scenario
    }

    pub fn notes(&self) -> Vec<String> {
        self.get().notes.clone()
    }

    pub fn node_count(&self) -> u32 {
        self.get().network.nodes.len() as u32
    }

    pub fn is_switch(&self, node: u32) -> bool {
        self.get().network.nodes.get(node as usize) == Some(&NodeKind::Switch)
    }

    pub fn links(&self) -> Vec<LinkSpec> {
        let spec = |link: &Link| LinkSpec { a: link.a, b: link.b, rate_bps: link.rate.0, delay_ns: link.delay.0 };
        self.get().network.links.iter().map(spec).collect()
    }

    pub fn has_own_loss(&self, link: u32) -> bool {
        self.get().network.links.get(link as usize).is_some_and(|link| link.loss > 0.0)
    }

    pub fn loss(&self, link: u32) -> f64 {
        let own = self.get().network.links.get(link as usize).map(|link| link.loss);
        own.filter(|&loss| loss > 0.0).unwrap_or(self.get().default_loss)
    }

    pub fn loss_stream(&self) -> u64 {
        FIRST_LOSS_STREAM.wrapping_add(streams_before(self.get().seed))
    }

    /// The reference gives six streams to each node, two to each link with a loss of its own, and two to itself.
    pub fn ecn_stream(&self) -> u64 {
        let network = &self.get().network;
        let lossy = network.links.iter().filter(|link| link.loss > 0.0).count() as u64;
        (6 * network.nodes.len() as u64 + 2 + 2 * lossy).wrapping_add(streams_before(self.get().seed))
    }

    /// The reference never seeds C's generator, which then starts from 1.
    pub fn pint_seed(&self) -> u32 {
        self.get().seed as u32
    }

    pub fn link_failures(&self) -> Vec<LinkFailure> {
        let failure = |failure: &scenario::LinkFailure| LinkFailure {
            time_ns: failure.time.0,
            until_ns: failure.until.map_or(u64::MAX, |until| until.0),
            links: failure.links.clone(),
        };
        self.get().link_failures.iter().map(failure).collect()
    }

    pub fn seed(&self) -> u64 {
        self.get().seed
    }

    pub fn flow_count(&self) -> u32 {
        self.get().flows.totals.count as u32
    }

    pub fn total_bytes(&self) -> u64 {
        self.get().flows.totals.bytes
    }

    pub fn stop_ns(&self) -> u64 {
        self.get().stop.0
    }

    pub fn settings(&self) -> Box<Settings> {
        Settings::settled(Rc::clone(&self.settings))
    }

    pub fn hosts_class(&self) -> String {
        match self.settings.protocol.protocol {
            Protocol::Rdma => "ns3::ScenarioRdmaHosts".into(),
            Protocol::Tcp => "ns3::ScenarioTcpHosts".into(),
            Protocol::Udp => "ns3::ScenarioDatagramHosts".into(),
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
        let algorithm = self.get().algorithm();
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

    pub fn legacy_settings(&self, node: u32) -> Box<Settings> {
        Settings::settled(Rc::new(self.get().node_settings(node)))
    }

    pub fn legacy_nodes(&self) -> Vec<u32> {
        self.get().legacy.nodes.clone()
    }

    pub fn stamps_send_time(&self) -> bool {
        Reads::SendTime.is_in(&self.get().layout())
    }

    pub fn has_fast_cnp(&self) -> bool {
        self.get().has_fast_cnp()
    }

    pub fn fast_cnp_borders(&self) -> Vec<FastCnpBorder> {
        self.get().borders.iter().map(|border| FastCnpBorder { node: border.node, outside: border.outside }).collect()
    }

    pub fn traces_overflow(&self) -> bool {
        !self.get().faults().untraced_overflow
    }

    /// The reference gives each link a network of its own; PFC frames come from there.
    pub fn port_addresses(&self, node: u32) -> Vec<u32> {
        let links = self.get().network.links.iter().zip(0u32..);
        let address = |(link, index): (&Link, u32)| {
            let network = 0x0a00_0000 + ((index / 254 + 1) << 16) + ((index % 254 + 1) << 8);
            [(link.a, 1), (link.b, 2)].into_iter().find(|&(end, _)| end == node).map(|(_, host)| network + host)
        };
        links.filter_map(address).collect()
    }

    pub fn trace_nodes(&self) -> Vec<u32> {
        self.get().monitor.trace_nodes.clone()
    }

    pub fn capture_nodes(&self) -> Vec<u32> {
        self.get().monitor.capture_nodes.clone()
    }

    pub fn monitor(&self) -> MonitorParameters {
        let monitor = &self.get().monitor;
        let (start, end) = match monitor.queue_histogram {
            Some(QueueHistogram { start, end }) => (start.0, end.0),
            None => (0, 0),
        };
        MonitorParameters {
            histogram: monitor.queue_histogram.is_some(),
            histogram_start_ns: start,
            histogram_end_ns: end,
            queue_interval_ns: or_zero(monitor.queue_interval),
            goodput_interval_ns: or_zero(monitor.goodput_interval),
            control_interval_ns: or_zero(monitor.control_interval),
            control_flows: monitor.control_flows.clone(),
        }
    }
}
