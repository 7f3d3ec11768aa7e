// SPDX-License-Identifier: GPL-2.0-only
//! The network as the ns-3 module builds it up.

use crate::ffi::LinkSpec;
use crate::panic_report;
use hpcc_core::switch::host_address;
use hpcc_core::topology::routes::{PathMetrics, RouteTable, Routes};
use hpcc_core::topology::{Link, Network as CoreNetwork, NodeKind};
use hpcc_core::units::{BitRate, Nanos, Rounding};

#[derive(Default)]
pub struct Network {
    network: CoreNetwork,
    routes: Option<Routes>,
    /// Routes around failed links, until all nodes have taken theirs.
    detours: Option<Routes>,
    down: Vec<u32>,
    payload: u32,
    to_switches: bool,
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
        let detours = Routes::avoiding(&self.network, self.payload, &self.down, self.to_switches);
        if let Some(routes) = &mut self.routes {
            routes.update_bottlenecks(&detours);
        }
        self.detours = Some(detours);
        true
    }

    /// The next hops of a node: around failed links, once there are any.
    pub fn take_detours(&mut self, node: u32) -> RouteTable {
        self.detours.as_mut().map(|routes| routes.take_table(node)).unwrap_or_default()
    }

    pub fn route_to_switches(&mut self) {
        self.to_switches = true;
    }

    pub fn compute_routes(&mut self, payload_bytes: u32) {
        self.payload = payload_bytes;
        self.routes = Some(Routes::avoiding(&self.network, payload_bytes, &self.down, self.to_switches));
    }

    pub fn max_rtt_ns(&self) -> u64 {
        self.routes.as_ref().map_or(0, |routes| routes.max_rtt().0)
    }

    pub fn max_bdp_bytes(&self) -> u64 {
        self.routes.as_ref().map_or(0, Routes::max_bdp)
    }

    fn path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        self.routes.as_ref()?.path(src, dst)
    }

    pub fn connects(&self, src: u32, dst: u32) -> bool {
        self.path(src, dst).is_some()
    }

    pub fn pair_rtt_ns(&self, src: u32, dst: u32) -> u64 {
        self.path(src, dst).map_or(0, |path| path.rtt().0)
    }

    pub fn pair_bdp_bytes(&self, src: u32, dst: u32) -> u64 {
        self.path(src, dst).map_or(0, |path| path.bdp())
    }

    pub fn standalone_fct_ns(
        &self,
        src: u32,
        dst: u32,
        size_bytes: u64,
        payload_bytes: u32,
        overhead_bytes: u32,
    ) -> u64 {
        self.path(src, dst).map_or(0, |path| path.standalone_fct(size_bytes, payload_bytes, overhead_bytes).0)
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
        let path = self.path(src, dst);
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
