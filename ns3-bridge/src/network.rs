// SPDX-License-Identifier: GPL-2.0-only
//! The network as the ns-3 module builds it up.

use crate::panic_report;
use hpcc_core::quirks::Quirks;
use hpcc_core::switch::host_address;
use hpcc_core::topology::routes::{PathMetrics, RouteTable, Routes};
use hpcc_core::topology::{Link, Network as CoreNetwork, NodeKind};
use hpcc_core::units::{BitRate, Nanos, Rounding};
use std::collections::BTreeMap;

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

    extern "Rust" {
        /// Nodes, links, and the routes between them.
        #[derive(ExternType)]
        type Network;
        fn new_network() -> Box<Network>;
        /// Adds a node; returns its index.
        fn add_node(self: &mut Network, is_switch: bool) -> u32;
        /// Adds a link between nodes that exist; returns false (and adds nothing) otherwise.
        fn add_link(self: &mut Network, link: &LinkSpec) -> bool;
        /// Routes shall lead to switches as well.
        fn route_to_switches(self: &mut Network);
        /// Computes all routes, for full packets of `payload` bytes.
        fn compute_routes(self: &mut Network, payload_bytes: u32);
        /// Takes the links between two nodes down and computes new routes; false if none was up.
        fn take_down(self: &mut Network, a: u32, b: u32) -> bool;
        /// The longest base round-trip time between two hosts.
        fn max_rtt_ns(self: &Network) -> u64;
        /// The largest bandwidth-delay product between two hosts.
        fn max_bdp_bytes(self: &Network) -> u64;
        /// Whether two hosts are connected.
        fn connects(self: &Network, src: u32, dst: u32) -> bool;
        /// Base round-trip time of a pair, 0 if unconnected.
        fn pair_rtt_ns(self: &Network, src: u32, dst: u32) -> u64;
        /// Flow completion time on an idle path, 0 if unconnected.
        fn standalone_fct_ns(
            self: &Network,
            src: u32,
            dst: u32,
            size_bytes: u64,
            payload_bytes: u32,
            overhead_bytes: u32,
        ) -> u64;
        /// IPv4 address of a host, as an integer.
        fn address(self: &Network, node: u32) -> u32;
        /// The time that a frame occupies a link, rounded to nearest or as the reference does.
        fn tx_time(rate_bps: u64, bytes: u32, floored: bool) -> u64;
    }

    impl Vec<LinkSpec> {}
}

use ffi::LinkSpec;

#[derive(Default)]
pub struct Network {
    network: CoreNetwork,
    routes: Option<Routes>,
    /// Routes around failed links.
    rerouted: Option<Routes>,
    down: Vec<u32>,
    payload: u32,
    to_switches: bool,
    quirks: Quirks,
}

pub fn new_network() -> Box<Network> {
    panic_report::install();
    Box::default()
}

pub fn tx_time(rate_bps: u64, bytes: u32, floored: bool) -> u64 {
    let rounding = if floored { Rounding::Floored } else { Rounding::Nearest };
    BitRate(rate_bps).tx_time(bytes, rounding).0
}

impl Network {
    pub fn add_node(&mut self, is_switch: bool) -> u32 {
        self.network.nodes.push(if is_switch { NodeKind::Switch } else { NodeKind::Host });
        self.network.nodes.len() as u32 - 1
    }

    pub fn add_link(&mut self, link: &LinkSpec) -> bool {
        let nodes = self.network.nodes.len();
        if link.a as usize >= nodes || link.b as usize >= nodes || link.a == link.b {
            return false;
        }
        let (rate, delay) = (BitRate(link.rate_bps), Nanos(link.delay_ns));
        self.network.links.push(Link { a: link.a, b: link.b, rate, delay, loss: 0.0 });
        true
    }

    pub fn take_down(&mut self, a: u32, b: u32) -> bool {
        let connects = |link: &Link| (link.a, link.b) == (a, b) || (link.a, link.b) == (b, a);
        let links = self.network.links.iter().enumerate().filter(|(_, link)| connects(link));
        let before = self.down.len();
        let failed: Vec<u32> =
            links.map(|(index, _)| index as u32).filter(|index| !self.down.contains(index)).collect();
        self.down.extend(failed);
        if self.down.len() == before {
            return false;
        }
        self.rerouted = Some(Routes::avoiding(&self.network, self.payload, &self.down, self.to_switches));
        true
    }

    /// The next hops of a node: around failed links, once there are any.
    pub fn take_rerouted(&mut self, node: u32) -> RouteTable {
        self.rerouted.as_mut().map(|routes| routes.take_table(node)).unwrap_or_default()
    }

    /// Repeats those of the reference's faults that concern routes; before they are computed.
    pub fn repeat_faults(&mut self, quirks: Quirks) {
        self.quirks = quirks;
    }

    /// Links that another one between the same nodes follows.
    fn followed(&self) -> Vec<u32> {
        let mut last = BTreeMap::new();
        let ends = |link: &Link| (link.a.min(link.b), link.a.max(link.b));
        let links = self.network.links.iter().zip(0..);
        links.filter_map(|(link, index)| last.insert(ends(link), index)).collect()
    }

    pub fn route_to_switches(&mut self) {
        self.to_switches = true;
    }

    pub fn compute_routes(&mut self, payload_bytes: u32) {
        self.payload = payload_bytes;
        if self.quirks.last_parallel_link {
            self.down = self.followed();
        }
        self.routes = Some(Routes::avoiding(&self.network, payload_bytes, &self.down, self.to_switches));
    }

    pub fn max_rtt_ns(&self) -> u64 {
        self.routes.as_ref().map_or(0, |routes| routes.max_rtt().0)
    }

    pub fn max_bdp_bytes(&self) -> u64 {
        self.routes.as_ref().map_or(0, Routes::max_bdp)
    }

    /// The path as it was at the start.
    fn path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        self.routes.as_ref()?.path(src, dst)
    }

    /// The path around failed links, or the last that there was.
    fn present_path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        let rerouted = self.rerouted.as_ref().and_then(|routes| routes.path(src, dst));
        rerouted.or_else(|| self.path(src, dst))
    }

    /// The path by which a new flow measures its round-trip time and window.
    fn measured_path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        if self.quirks.metrics_of_the_start { self.path(src, dst) } else { self.present_path(src, dst) }
    }

    pub fn connects(&self, src: u32, dst: u32) -> bool {
        self.path(src, dst).is_some()
    }

    pub fn pair_rtt_ns(&self, src: u32, dst: u32) -> u64 {
        self.measured_path(src, dst).map_or(0, |path| path.rtt().0)
    }

    pub fn standalone_fct_ns(
        &self,
        src: u32,
        dst: u32,
        size_bytes: u64,
        payload_bytes: u32,
        overhead_bytes: u32,
    ) -> u64 {
        // After a link failed, the reference goes on with the round-trip times of the start.
        let (Some(first), Some(present)) = (self.path(src, dst), self.present_path(src, dst)) else { return 0 };
        let path = PathMetrics { bottleneck: present.bottleneck, ..first };
        path.standalone_fct(size_bytes, payload_bytes, overhead_bytes).0
    }

    pub fn address(&self, node: u32) -> u32 {
        host_address(node)
    }

    /// Nodes and links.
    pub fn core(&self) -> &CoreNetwork {
        &self.network
    }

    /// T, window and links of flows between two hosts: of their own path, or the longest of the network (`global`).
    pub fn path_limits(&self, src: u32, dst: u32, global: bool) -> (Nanos, u64, u8) {
        let path = self.measured_path(src, dst);
        let links = path.map_or(0, |path| path.links);
        if global {
            return (Nanos(self.max_rtt_ns()), self.max_bdp_bytes(), links);
        }
        path.map_or((Nanos(0), 0, 0), |path| (path.rtt(), path.bdp(), links))
    }

    /// Rates and delays of a node's ports.
    pub fn ports(&self, node: u32) -> Vec<(BitRate, Nanos)> {
        let at_node = |link: &&Link| link.a == node || link.b == node;
        self.network.links.iter().filter(at_node).map(|link| (link.rate, link.delay)).collect()
    }

    /// The rate of the first host's first port: the reference measures fast ports against it.
    pub fn host_rate(&self) -> BitRate {
        let first = self.network.hosts().next().and_then(|host| self.ports(host).first().copied());
        first.map_or(BitRate(u64::MAX), |(rate, _)| rate)
    }

    pub fn take_table(&mut self, node: u32) -> RouteTable {
        self.routes.as_mut().map(|routes| routes.take_table(node)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts 0 and 1 at switches 2 and 3, which links of these rates in Gb/s connect directly and over switch 4.
    fn network(direct: &[u64], quirks: Quirks) -> Network {
        let mut network = Network::default();
        for is_switch in [false, false, true, true, true] {
            network.add_node(is_switch);
        }
        let around = [(0, 2, 100), (1, 3, 100), (2, 4, 25), (4, 3, 25)];
        for (a, b, gbps) in around.into_iter().chain(direct.iter().map(|&gbps| (2, 3, gbps))) {
            assert!(network.add_link(&LinkSpec { a, b, rate_bps: gbps * 1_000_000_000, delay_ns: 1_000 }));
        }
        network.quirks = quirks;
        network.compute_routes(1_000);
        network
    }

    #[test]
    fn flows_after_a_failure_measure_their_path_and_in_the_reference_the_one_before() {
        for metrics_of_the_start in [false, true] {
            let mut network = network(&[100], Quirks { metrics_of_the_start, ..Quirks::NONE });
            let measure = |network: &Network| network.path_limits(0, 1, false);
            let before = (Nanos(6_000 + 3 * 80), 78_000, 3);
            assert_eq!(measure(&network), before);
            assert!(network.take_down(3, 2) && !network.take_down(2, 3));
            let after = (Nanos(8_000 + 2 * 80 + 2 * 320), 27_500, 4);
            assert_eq!(measure(&network), if metrics_of_the_start { before } else { after });
            assert_eq!(network.standalone_fct_ns(0, 1, 1_000, 1_000, 0), before.0.0 + 320, "the reference's formula");
        }
    }

    #[test]
    fn parallel_links_are_all_used_and_in_the_reference_the_last_one() {
        for (last_parallel_link, ports) in [(false, [2, 3]), (true, [3, 3])] {
            let mut network = network(&[100, 100], Quirks { last_parallel_link, ..Quirks::NONE });
            let table = network.take_table(2);
            let hops = table.next_hops(1);
            assert_eq!([hops[0], hops[hops.len() - 1]], ports);
            assert!(network.take_down(2, 3), "both fail");
            assert_eq!(network.take_rerouted(2).next_hops(1), [1]);
        }
    }
}
