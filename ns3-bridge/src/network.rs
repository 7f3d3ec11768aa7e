// SPDX-License-Identifier: GPL-2.0-only
//! The network as the ns-3 module builds it up.

use crate::panic_report;
use crate::settings::ffi::Holder;
use crate::settings::{Settings, told};
use hpcc_core::address::host_address;
use hpcc_core::node::{self, Located, lowest_rate};
use hpcc_core::quirks::Quirks;
use hpcc_core::settings::Conflict;
use hpcc_core::switch::{FlowKey, HOST_SEED, Priorities};
use hpcc_core::topology::routes::{PathMetrics, RouteTable, Routes};
use hpcc_core::topology::{Link, Network as CoreNetwork, NodeKind};
use hpcc_core::transport::{LinkSpec, LoneFlow, LoneLink, LonePath};
use hpcc_core::units::{BitRate, Nanos, Rounding};
use std::collections::{BTreeMap, BTreeSet};

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
        /// Measures paths by the frames of a host, which has these settings, and repeats those of the reference's faults that
        /// concern routes; before they are computed. Hosts may differ: the longest time counts.
        fn measure_by(self: &mut Network, node: u32, host: &Settings) -> Result<()>;
        /// Routes shall lead to switches as well.
        fn route_to_switches(self: &mut Network);
        /// Takes over for which priorities a switch with these settings keeps memory, if it is lossless: the same as the
        /// others; and to which telemetry it adds.
        fn pass_by(self: &mut Network, node: u32, settings: &Settings) -> Result<()>;
        /// Refuses a priority for which switches keep no memory; `what` begins the sentence.
        fn check_priority(self: &Network, what: &str, priority: u8) -> Result<()>;
        /// The same for a flow, whose receiver has these settings.
        fn check_flow(self: &Network, priority: u8, receiver: &Settings) -> Result<()>;
        /// Refuses a flow of more bytes than a window, on whose path telemetry of a host with these settings has no room; as the
        /// path is at the start.
        fn check_hops(self: &Network, host: &Settings, src: u32, dst: u32, bytes: u64) -> Result<()>;
        /// Computes all routes, for full packets of `payload` bytes.
        fn compute_routes(self: &mut Network, payload_bytes: u32);
        /// Whether telemetry comes back to a host with these settings before its counters may wrap, and its probes leave data
        /// room, on every path.
        fn check_sampling(self: &Network, host: &Settings) -> Result<()>;
        /// Settles what the settings of a node left to the simulator and checks them all; says what contradicts what.
        fn resolve(settings: &mut Settings, network: &Network) -> Result<()>;
        /// A host whose packets are a stack's takes over the units in which another one counts telemetry. Before they are
        /// resolved.
        fn count_as(settings: &mut Settings, host: &Settings, network: &Network);
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
        /// The same in picoseconds, to the nearest.
        fn tx_picos(rate_bps: u64, bytes: u32) -> u64;
    }

    impl Vec<LinkSpec> {}
}

#[derive(Default)]
pub struct Network {
    network: CoreNetwork,
    routes: Option<Routes>,
    /// Routes around failed links.
    rerouted: Option<Routes>,
    down: Vec<u32>,
    /// Links of each node, in the order of its ports.
    links_of: Vec<Vec<u32>>,
    payload: u32,
    to_switches: bool,
    quirks: Quirks,
    /// Those for which switches keep memory; `None`: for any that comes.
    pfc_priorities: Option<Priorities>,
    /// Flows of hosts that are configured alike; one for each configuration.
    lone_flows: Vec<LoneFlow>,
    /// Whether switches leave out records, so that how many a packet collects depends on others.
    leaves_hops_out: bool,
    /// Switches that add no record.
    blind: BTreeSet<u32>,
    /// Hosts that answer no telemetry, and whether they seal that.
    silent: BTreeMap<u32, bool>,
    /// The longest round-trip time T and the largest bandwidth-delay product between two hosts.
    longest: (Nanos, u64),
}

pub fn new_network() -> Box<Network> {
    panic_report::install();
    Box::default()
}

pub fn resolve(settings: &mut Settings, network: &Network) -> Result<(), String> {
    settings.resolve(network.get())
}

pub fn count_as(settings: &mut Settings, host: &Settings, network: &Network) {
    settings.count_as(host, network.get());
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
        let unused = if self.quirks.last_parallel_link { self.network.superseded_links() } else { Vec::new() };
        let changes = |link: &u32| self.down.contains(link) == up && !unused.contains(link);
        let changed: Vec<u32> = links.iter().copied().filter(changes).collect();
        if changed.is_empty() {
            return changed;
        }
        self.down.retain(|link| !changed.contains(link));
        if !up {
            self.down.extend(&changed);
        }
        self.rerouted = Some(Routes::avoiding(&self.network, self.payload, &self.down, self.to_switches));
        changed
    }

    /// The next hops of a node: around failed links, once a link has failed.
    pub fn rerouted_table(&self, node: u32) -> RouteTable {
        self.rerouted.as_ref().map(|routes| routes.table(node)).unwrap_or_default()
    }

    /// The next hops of a node: those of the start, until a link fails.
    pub fn present_table(&self, node: u32) -> RouteTable {
        if self.rerouted.is_some() { self.rerouted_table(node) } else { self.table(node) }
    }

    pub fn measure_by(&mut self, node: u32, host: &Settings) -> Result<(), String> {
        self.quirks = host.node.quirks();
        let flow = host.node.lone_flow().map_err(told)?;
        if !host.answers_telemetry() {
            self.silent.insert(node, flow.seals());
        }
        if !self.lone_flows.contains(&flow) {
            self.lone_flows.push(flow);
        }
        Ok(())
    }

    pub fn pass_by(&mut self, node: u32, settings: &Settings) -> Result<(), String> {
        self.leaves_hops_out |= settings.node.switch.leaves_hops_out();
        if !settings.node.switch.stamp_telemetry {
            self.blind.insert(node);
        }
        let Some(own) = settings.node.pfc_priorities() else { return Ok(()) };
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
        if bytes <= self.longest.1 {
            return Ok(());
        }
        host.check_hops(|| self.path(src, dst).map_or(0, |path| usize::from(path.links).saturating_sub(1)))
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
        self.to_switches = true;
    }

    pub fn compute_routes(&mut self, payload_bytes: u32) {
        self.payload = payload_bytes;
        if self.quirks.last_parallel_link {
            self.down = self.network.superseded_links();
        }
        let routes = Routes::avoiding(&self.network, payload_bytes, &self.down, self.to_switches);
        let measures = routes.kinds().map(|(path, links)| {
            let rtt = self.rtt(&path, &links);
            (rtt, path.bdp(rtt))
        });
        self.longest = measures.fold((Nanos(0), 0), |(rtt, bdp), (other, bytes)| (rtt.max(other), bdp.max(bytes)));
        self.routes = Some(routes);
    }

    /// T of a path, the longest that hosts give it.
    fn rtt(&self, path: &PathMetrics, links: &[LinkSpec]) -> Nanos {
        self.lone_flows.iter().map(|flow| flow.base_rtt(path, links)).max().unwrap_or_else(|| path.rtt())
    }

    pub fn check_sampling(&self, host: &Settings) -> Result<(), String> {
        let Some(routes) = &self.routes else { return Ok(()) };
        host.node.check_counters(routes.kinds()).and_then(|()| host.node.check_probes(routes.kinds())).map_err(told)
    }

    pub fn max_rtt_ns(&self) -> u64 {
        self.longest.0.0
    }

    pub fn max_bdp_bytes(&self) -> u64 {
        self.longest.1
    }

    /// The path as it was at the start.
    fn path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        self.routes.as_ref()?.path(src, dst)
    }

    /// The routes around failed links, where they lead from one host to another, or else those of the start.
    fn present_routes(&self, src: u32, dst: u32) -> Option<&Routes> {
        let rerouted = self.rerouted.as_ref().filter(|routes| routes.path(src, dst).is_some());
        rerouted.or(self.routes.as_ref())
    }

    /// What a new flow measures: T, window at the path's rate, and links.
    fn measure(&self, src: u32, dst: u32) -> Option<(Nanos, u64, u8)> {
        let start = self.routes.as_ref().filter(|_| self.quirks.metrics_of_the_start);
        let routes = start.or_else(|| self.present_routes(src, dst))?;
        let links = routes.links(src, dst)?;
        let path = routes.measure(&links);
        let rtt = self.rtt(&path, &links);
        Some((rtt, path.bdp(rtt), path.links))
    }

    pub fn connects(&self, src: u32, dst: u32) -> bool {
        self.path(src, dst).is_some()
    }

    pub fn leads(&self, src: u32, dst: u32) -> bool {
        !self.present_table(src).next_hops(dst).is_empty()
    }

    pub fn pair_rtt_ns(&self, src: u32, dst: u32) -> u64 {
        self.measure(src, dst).map_or(0, |(rtt, ..)| rtt.0)
    }

    pub fn standalone_fct_ns(&self, flow: &ffi::StandaloneFlow, host: &Settings) -> Result<u64, String> {
        let &ffi::StandaloneFlow { src, dst, size_bytes, .. } = flow;
        if let Some(other) = [src, dst].into_iter().find(|&node| !self.network.is_host(node)) {
            return Err(format!("node {other} is no host, and flows are between hosts"));
        }
        let Some(routes) = self.present_routes(src, dst) else { return Ok(0) };
        if host.node.quirks().rough_ideal_fct {
            let Some((links, first)) = routes.links(src, dst).zip(self.path(src, dst)) else { return Ok(0) };
            // After a link has failed, the reference still uses the round-trip times from the start.
            let path = PathMetrics { bottleneck: routes.measure(&links).bottleneck, ..first };
            return Ok(path.standalone_fct(size_bytes, host.mtu(), host.data_overhead()).0);
        }
        let Some(path) = self.lone_path(routes, flow, host) else { return Ok(0) };
        let mut lone = host.node.lone_flow().map_err(told)?;
        if let Some(&seals) = self.silent.get(&dst) {
            lone = lone.without_answers(seals);
        }
        Ok(lone.completion(&path, size_bytes).0)
    }

    /// What a flow of a host with these settings finds if it is alone. Where switches leave records out, it meets none that adds
    /// one, so that its time is none that another path, or other traffic, would make shorter.
    fn lone_path(&self, routes: &Routes, flow: &ffi::StandaloneFlow, host: &Settings) -> Option<LonePath> {
        let &ffi::StandaloneFlow { src, dst, sport, dport, has_ports, .. } = flow;
        let (here, there) = (self.address(src), self.address(dst));
        let key = |src_address, dst_address, sport, dport| FlowKey { src_address, dst_address, sport, dport };
        let way = |from, to, key: FlowKey| {
            let seed = |node| if node == from { HOST_SEED } else { node };
            routes.way(
                from,
                to,
                |node, ports| if has_ports { key.choose(seed(node), ports) } else { ports.first().copied() },
            )
        };
        // Answers have the same source port as data where the destination port is that of the protocol.
        let (data, answers) = match host.node.wire.profile.port() {
            Some(port) => (key(here, there, sport, port), key(there, here, sport, port)),
            None => (key(here, there, sport, dport), key(there, here, dport, sport)),
        };
        let transport = host.node.transport();
        let (base_rtt, bdp, _) = self.path_limits(src, dst, transport.global_rtt);
        let ways = (way(src, dst, data)?, way(dst, src, answers)?);
        let line_rate = ways.0.first().map(|&(_, (rate, _))| rate)?;
        let stamps = |node: u32| node != src && !self.leaves_hops_out && !self.blind.contains(&node);
        let mut records = 0;
        let link = |&(node, (rate, delay)): &(u32, (BitRate, Nanos))| {
            records += u8::from(stamps(node));
            LoneLink { rate, delay, records }
        };
        let there = ways.0.iter().map(link).collect();
        let back = ways.1.iter().map(|&(_, (rate, delay))| LoneLink { rate, delay, records: 0 }).collect();
        Some(LonePath { there, back, base_rtt, window: transport.first_window(line_rate, base_rtt, bdp) })
    }

    pub fn address(&self, node: u32) -> u32 {
        host_address(node)
    }

    /// T, window at the path's rate, and links of flows between two hosts: of their own path, or the longest of the network
    /// (`global`).
    pub fn path_limits(&self, src: u32, dst: u32, global: bool) -> (Nanos, u64, u8) {
        let (rtt, bdp, links) = self.measure(src, dst).unwrap_or_default();
        if global { (self.longest.0, self.longest.1, links) } else { (rtt, bdp, links) }
    }

    /// Rates and delays of a node's ports.
    pub fn ports(&self, node: u32) -> Vec<(BitRate, Nanos)> {
        let links = self.links_of.get(node as usize).into_iter().flatten();
        links.map(|&link| &self.network.links[link as usize]).map(|link| (link.rate, link.delay)).collect()
    }

    /// The rate of the first host's first port: the reference measures fast ports against it.
    pub fn host_rate(&self) -> BitRate {
        let first = self.network.hosts().next().and_then(|host| self.ports(host).first().copied());
        first.map_or(BitRate(u64::MAX), |(rate, _)| rate)
    }

    /// The port by which a host's flow would have left at the start.
    pub fn port_of_the_start(&self, host: u32, key: &FlowKey, dst: u32) -> Option<u16> {
        key.choose(HOST_SEED, self.table(host).next_hops(dst))
    }

    /// The next hops of a node as they were at the start.
    pub fn table(&self, node: u32) -> RouteTable {
        self.routes.as_ref().map(|routes| routes.table(node)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::node::NodeSettings;
    use hpcc_core::quirks::QuirkSettings;
    use hpcc_core::telemetry::LayoutName;
    use hpcc_core::transport::feedback::FeedbackSettings;
    use std::rc::Rc;

    /// Hosts 0 and 1 at switches 2 and 3, which links of these rates in Gb/s connect directly and over switch 4.
    fn network(direct: &[u64], quirks: Quirks) -> Network {
        let mut network = Network::default();
        for is_switch in [false, false, true, true, true] {
            network.add_node(is_switch);
        }
        let around = [(0, 2, 100), (1, 3, 100), (2, 4, 25), (4, 3, 25)];
        for (a, b, gbps) in around.into_iter().chain(direct.iter().map(|&gbps| (2, 3, gbps))) {
            assert!(network.add_link(&ffi::LinkSpec { a, b, rate_bps: gbps * 1_000_000_000, delay_ns: 1_000 }));
        }
        network.quirks = quirks;
        network.compute_routes(1_000);
        network
    }

    /// From host 0 to host 1 by the first path.
    fn flow(size_bytes: u64) -> ffi::StandaloneFlow {
        ffi::StandaloneFlow { src: 0, dst: 1, size_bytes, has_ports: false, sport: 0, dport: 0 }
    }

    #[test]
    fn flows_after_a_failure_measure_their_path_and_in_the_reference_the_one_before() {
        for metrics_of_the_start in [false, true] {
            let mut network = network(&[100], Quirks { metrics_of_the_start, ..Quirks::NONE });
            let measure = |network: &Network| network.path_limits(0, 1, false);
            let before = (Nanos(6_000 + 3 * 80), 78_000, 3);
            assert_eq!(measure(&network), before);
            let direct = network.links_between(3, 2);
            assert_eq!((network.set_links(&direct, false), network.set_links(&direct, false)), (vec![4], vec![]));
            let after = (Nanos(8_000 + 2 * 80 + 2 * 320), 27_500, 4);
            assert_eq!(measure(&network), if metrics_of_the_start { before } else { after });
            let ideal = |rough_ideal_fct| {
                let quirks = QuirkSettings::of(Quirks { rough_ideal_fct, ..Quirks::NONE });
                let settings = NodeSettings { quirks, ..NodeSettings::default() };
                network.standalone_fct_ns(&flow(1_000), &Settings::settled(Rc::new(settings)))
            };
            assert_eq!(ideal(true), Ok(before.0.0 + 335), "the reference's formula: 1,048 bytes at 25 Gb/s");
            assert_eq!(ideal(false), Ok(8_000 + 2 * 84 + 2 * 335 + 2 * 5 + 2 * 19));
        }
    }

    #[test]
    fn only_hosts_have_flows() {
        let network = network(&[100], Quirks::NONE);
        let settings = Settings::settled(Rc::new(NodeSettings::default()));
        for (src, dst, other) in [(0, 2, 2), (3, 1, 3), (0, 99, 99)] {
            let told = network.standalone_fct_ns(&ffi::StandaloneFlow { src, dst, ..flow(1_000) }, &settings);
            assert_eq!(told, Err(format!("node {other} is no host, and flows are between hosts")));
        }
    }

    /// What no switch adds, or no receiver sends back, takes no time: a flow would be faster than ideal.
    #[test]
    fn ideal_times_count_the_telemetry_that_there_is() {
        let mut settings = NodeSettings::default();
        settings.layout.layout = Some(LayoutName::IntMd);
        settings.resolve(&CoreNetwork::default());
        let legacy = NodeSettings { feedback: FeedbackSettings::none(), ..settings.clone() };
        let ideal = |stamps: bool, receiver: &NodeSettings| {
            let mut network = network(&[100], Quirks::NONE);
            let mut switch = settings.clone();
            switch.switch.stamp_telemetry = stamps;
            network.pass_by(3, &Settings::settled(Rc::new(switch))).expect("a switch");
            network.measure_by(1, &Settings::settled(Rc::new(receiver.clone()))).expect("a host");
            network.standalone_fct_ns(&flow(1_000_000), &Settings::settled(Rc::new(settings.clone()))).expect("a path")
        };
        let all = ideal(true, &settings);
        assert!(ideal(false, &settings) < all && ideal(true, &legacy) < all);
    }

    #[test]
    fn one_of_several_links_fails_and_the_rest_is_used() {
        let mut network = network(&[100, 100], Quirks::NONE);
        assert_eq!(network.set_links(&[4], false), [4]);
        assert_eq!(network.rerouted_table(2).next_hops(1), [3]);
        assert_eq!(network.set_links(&[4, 5], true), [4]);
        assert_eq!(network.rerouted_table(2).next_hops(1), [2, 3]);
    }

    #[test]
    fn parallel_links_are_all_used_and_in_the_reference_the_last_one() {
        for (last_parallel_link, ports) in [(false, [2, 3]), (true, [3, 3])] {
            let mut network = network(&[100, 100], Quirks { last_parallel_link, ..Quirks::NONE });
            let table = network.table(2);
            let hops = table.next_hops(1);
            assert_eq!([hops[0], hops[hops.len() - 1]], ports);
            let both = network.links_between(2, 3);
            let used = if last_parallel_link { vec![5] } else { vec![4, 5] };
            assert_eq!(network.set_links(&both, false), used, "both fail");
            assert_eq!(network.rerouted_table(2).next_hops(1), [1]);
            assert_eq!(network.set_links(&both, true), used, "and come up again");
            let table = network.rerouted_table(2);
            let hops = table.next_hops(1);
            assert_eq!([hops[0], hops[hops.len() - 1]], ports, "the routes are those of the start");
        }
    }
}
