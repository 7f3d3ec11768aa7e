// SPDX-License-Identifier: GPL-2.0-only
//! The network as the ns-3 module builds it up.

use crate::panic_report;
use crate::settings::ffi::Holder;
use crate::settings::{Settings, told};
use hpcc_core::address::host_address;
use hpcc_core::fabric::{Fabric, IdealFlow, Rules};
use hpcc_core::node::{self, Located, lowest_rate};
use hpcc_core::settings::Conflict;
use hpcc_core::switch::{FlowKey, Priorities};
use hpcc_core::topology::routes::RouteTable;
use hpcc_core::topology::{Link, Network as CoreNetwork, NodeKind};
use hpcc_core::units::{BitRate, Nanos, Rounding};

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

    unsafe extern "C++" {
        include!("ns3-bridge/src/settings.rs.h");
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
        /// Measures paths by the frames of a host, which has these settings, and repeats the reference's faults of
        /// routes; to be called before routes are computed. Hosts may differ: the longest time counts.
        fn set_host_model(self: &mut Network, node: u32, host: &Settings) -> Result<()>;
        /// Routes shall lead to switches as well.
        fn route_to_switches(self: &mut Network);
        /// Takes over for which priorities a switch with these settings keeps memory, if it is lossless: the same as the
        /// others; and to which telemetry it adds.
        fn set_switch_limits(self: &mut Network, node: u32, settings: &Settings) -> Result<()>;
        /// Refuses a priority for which switches keep no memory; `what` begins the sentence.
        fn check_priority(self: &Network, what: &str, priority: u8) -> Result<()>;
        /// Refuses a flow whose priorities switches keep no memory for; its receiver has these settings.
        fn check_flow(self: &Network, priority: u8, receiver: &Settings) -> Result<()>;
        /// Refuses a flow of more bytes than a window, on whose path telemetry of a host with these settings has no room; as the
        /// path is at the start.
        fn check_hops(self: &Network, host: &Settings, src: u32, dst: u32, bytes: u64) -> Result<()>;
        /// Computes all routes, for full packets of `payload` bytes.
        fn compute_routes(self: &mut Network, payload_bytes: u32);
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
        /// Takes links down, or brings them up, and computes new routes. Returns those that changed: not a link that was so
        /// before, nor one that comes up though the reference uses another between the same nodes.
        fn set_links(self: &mut Network, links: &[u32], up: bool) -> Vec<u32>;
        /// The longest base round-trip time between two hosts.
        fn max_rtt_ns(self: &Network) -> u64;
        /// The largest bandwidth-delay product between two hosts.
        fn max_bdp_bytes(self: &Network) -> u64;
        /// Whether two hosts are connected.
        fn connects(self: &Network, src: u32, dst: u32) -> bool;
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
        /// The time that a frame occupies a link, in picoseconds, to the nearest.
        fn tx_picos(rate_bps: u64, bytes: u32) -> u64;
    }

    impl Vec<LinkSpec> {}
}

#[derive(Default)]
pub struct Network {
    network: CoreNetwork,
    /// Links of each node, in the order of its ports.
    links_of: Vec<Vec<u32>>,
    rules: Rules,
    /// Once routes are computed.
    fabric: Option<Fabric>,
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

pub fn tx_picos(rate_bps: u64, bytes: u32) -> u64 {
    BitRate(rate_bps).tx_picos(bytes)
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

    pub fn set_links(&mut self, links: &[u32], up: bool) -> Vec<u32> {
        self.fabric.as_mut().map(|fabric| fabric.set_links(links, up)).unwrap_or_default()
    }

    /// The next hops of a node: around failed links, once a link has failed.
    pub fn table(&self, node: u32) -> RouteTable {
        self.fabric.as_ref().map(|fabric| fabric.table(node)).unwrap_or_default()
    }

    pub fn set_host_model(&mut self, node: u32, host: &Settings) -> Result<(), String> {
        self.rules.add(node, false, &host.node);
        self.rules.set_host_model(&host.node).map_err(told)
    }

    pub fn set_switch_limits(&mut self, node: u32, settings: &Settings) -> Result<(), String> {
        self.rules.add(node, true, &settings.node);
        let Some(own) = settings.node.priorities() else { return Ok(()) };
        let known = *self.pfc_priorities.get_or_insert(own);
        (own == known).then_some(()).ok_or_else(|| {
            let message = format!("a switch has {own}, and another one {known}; expected the same");
            told(Located { section: "switch", conflict: Conflict::new("pfc_priorities", message) })
        })
    }

    pub fn check_priority(&self, what: &str, priority: u8) -> Result<(), String> {
        self.pfc_priorities.map_or(Ok(()), |kept| node::check_priority(kept, what, priority).map_err(told))
    }

    pub fn check_flow(&self, priority: u8, receiver: &Settings) -> Result<(), String> {
        let answers = receiver.node.transport().answer_priority(priority);
        self.pfc_priorities.map_or(Ok(()), |kept| node::check_flow(kept, priority, answers).map_err(told))
    }

    pub fn check_hops(&self, host: &Settings, src: u32, dst: u32, bytes: u64) -> Result<(), String> {
        let Some(fabric) = self.fabric.as_ref().filter(|fabric| bytes > fabric.max_bdp()) else { return Ok(()) };
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

    pub fn route_to_switches(&mut self) {
        self.rules.route_to_switches();
    }

    pub fn compute_routes(&mut self, payload_bytes: u32) {
        self.fabric = Some(Fabric::new(self.network.clone(), self.rules.clone(), payload_bytes));
    }

    pub fn check_sampling(&self, host: &Settings) -> Result<(), String> {
        let Some(fabric) = &self.fabric else { return Ok(()) };
        host.node.check_counters(fabric.kinds()).and_then(|()| host.node.check_probes(fabric.kinds())).map_err(told)
    }

    pub fn max_rtt_ns(&self) -> u64 {
        self.fabric.as_ref().map_or(0, |fabric| fabric.max_rtt().0)
    }

    pub fn max_bdp_bytes(&self) -> u64 {
        self.fabric.as_ref().map_or(0, Fabric::max_bdp)
    }

    pub fn connects(&self, src: u32, dst: u32) -> bool {
        self.fabric.as_ref().is_some_and(|fabric| fabric.path(src, dst).is_some())
    }

    pub fn leads(&self, src: u32, dst: u32) -> bool {
        !self.table(src).next_hops(dst).is_empty()
    }

    pub fn pair_rtt_ns(&self, src: u32, dst: u32) -> u64 {
        self.fabric.as_ref().and_then(|fabric| fabric.measure(src, dst)).map_or(0, |(rtt, ..)| rtt.0)
    }

    pub fn standalone_fct_ns(&self, flow: &ffi::StandaloneFlow, host: &Settings) -> Result<u64, String> {
        let &ffi::StandaloneFlow { src, dst, size_bytes, .. } = flow;
        if let Some(other) = [src, dst].into_iter().find(|&node| !self.network.is_host(node)) {
            return Err(format!("node {other} is no host, and flows are between hosts"));
        }
        let Some(fabric) = &self.fabric else { return Ok(0) };
        let ports = flow.has_ports.then_some((flow.sport, flow.dport));
        let ideal = fabric
            .ideal_fct(&IdealFlow { src, dst, ports, size: size_bytes, own: (None, BitRate(u64::MAX)) }, &host.node);
        ideal.map(|fct| fct.0).map_err(told)
    }

    pub fn address(&self, node: u32) -> u32 {
        host_address(node)
    }

    /// T, window at the path's rate, and links of flows between two hosts: of their own path, or the longest of the network
    /// (`global`).
    pub fn path_limits(&self, src: u32, dst: u32, global: bool) -> (Nanos, u64, u8) {
        self.fabric.as_ref().map(|fabric| fabric.path_limits(src, dst, global)).unwrap_or_default()
    }

    /// Rates and delays of a node's ports.
    pub fn ports(&self, node: u32) -> Vec<(BitRate, Nanos)> {
        let links = self.links_of.get(node as usize).into_iter().flatten();
        links.map(|&link| &self.network.links[link as usize]).map(|link| (link.rate, link.delay)).collect()
    }

    /// The rate of the first host's first port: the reference measures fast ports against it.
    pub fn host_rate(&self) -> BitRate {
        self.fabric.as_ref().map_or(BitRate(u64::MAX), Fabric::host_rate)
    }

    /// The port by which a host's flow would have left at the start.
    pub fn port_of_the_start(&self, host: u32, key: &FlowKey, dst: u32) -> Option<u16> {
        self.fabric.as_ref()?.port_of_the_start(host, key, dst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::node::NodeSettings;
    use std::rc::Rc;

    #[test]
    fn only_hosts_have_flows() {
        let mut network = Network::default();
        for is_switch in [false, false, true] {
            network.add_node(is_switch);
        }
        network.compute_routes(1_000);
        let settings = Settings::settled(Rc::new(NodeSettings::default()));
        for (src, dst, other) in [(0, 2, 2), (2, 1, 2), (0, 99, 99)] {
            let flow = ffi::StandaloneFlow { src, dst, size_bytes: 1_000, has_ports: false, sport: 0, dport: 0 };
            let told = network.standalone_fct_ns(&flow, &settings);
            assert_eq!(told, Err(format!("node {other} is no host, and flows are between hosts")));
        }
    }
}
