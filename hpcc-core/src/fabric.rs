// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network that runs: its routes, around failed links too, and what flows on it measure.

use crate::address::host_address;
use crate::balance::{Choice, Ports};
use crate::host_transport::Exits;
use crate::node::NodeSettings;
use crate::random::Integers;
use crate::reference_faults::ReferenceFaults;
use crate::switch::{FlowKey, HOST_SEED};
use crate::topology::routes::{PathMetrics, RouteTable, Routes};
use crate::topology::{Network, NodeKind, Port};
use crate::transport::Entropy;
use crate::transport::feedback::FeedbackContent;
use crate::transport::{Layer, LinkSpec, UnloadedFlow, UnloadedLink, UnloadedPath};
use crate::units::{BitRate, Nanos, Rounding};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What of its hosts and switches the paths of a network depend on.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Flows of hosts that are configured alike; one for each configuration.
    flows: Vec<UnloadedFlow>,
    faults: ReferenceFaults,
    /// Whether routes lead to switches, too.
    to_switches: bool,
    /// Whether switches leave out records, so that how many a packet collects depends on others.
    leaves_hops_out: bool,
    /// Switches that add no record.
    blind: BTreeSet<u32>,
    /// Hosts that answer no telemetry, and whether they seal that.
    silent: BTreeMap<u32, bool>,
}

impl Rules {
    /// Measures paths by the frames of a host with these settings. Hosts may differ: the longest time counts.
    pub fn set_host_model(&mut self, host: &NodeSettings) {
        self.faults = host.faults();
        let flow = host.unloaded_flow();
        if !self.flows.contains(&flow) {
            self.flows.push(flow);
        }
    }

    /// Takes in what a node does about telemetry.
    pub fn add(&mut self, node: u32, is_switch: bool, settings: &NodeSettings) {
        if is_switch {
            self.leaves_hops_out |= settings.switch.leaves_hops_out();
            if !settings.switch.stamp_telemetry {
                self.blind.insert(node);
            }
        } else if settings.feedback.content == FeedbackContent::Nothing {
            self.silent.insert(node, settings.feedback.seal.is_some());
        }
    }

    /// Routes shall lead to switches as well.
    pub fn route_to_switches(&mut self) {
        self.to_switches = true;
    }

    /// T of a path, the longest that hosts give it.
    fn rtt(&self, path: &PathMetrics, links: &[LinkSpec]) -> Nanos {
        self.flows.iter().map(|flow| flow.base_rtt(path, links)).max().unwrap_or_else(|| path.rtt())
    }

    /// The window at a path's rate for this T.
    fn bdp(&self, path: &PathMetrics, rtt: Nanos) -> u64 {
        if self.faults.wrapping_window { path.wrapping_bdp(rtt) } else { path.bdp(rtt) }
    }
}

/// Nodes, links, and the routes between them.
#[derive(Clone)]
pub struct Fabric {
    network: Network,
    /// Ports of each node.
    ports: Vec<Vec<Port>>,
    /// Those of the start.
    routes: Routes,
    /// Those around failed links, in the order of time: the last ones hold now.
    rerouted: Vec<Rerouted>,
    down: Vec<u32>,
    payload: u32,
    rules: Rules,
    /// The longest round-trip time T and the largest bandwidth-delay product between two hosts.
    longest: (Nanos, u64),
}

/// Changes of routes that are remembered; a flow that has seen more of them is compared with the newest, and those of the start.
const MOST_REROUTED: usize = 64;

/// Routes around links that have failed.
#[derive(Clone)]
struct Rerouted {
    since: Nanos,
    down: Vec<u32>,
    routes: Arc<Routes>,
}

/// A flow whose time alone is asked for.
#[derive(Clone, Copy, Debug)]
pub struct IdealFlow {
    /// Source host.
    pub src: u32,
    /// Destination host.
    pub dst: u32,
    /// Source and destination port, which choose among equal paths; without them it takes the first.
    pub ports: Option<(u16, u16)>,
    /// Its priority, by which switches may balance it or not; `None`: as they balance most.
    pub priority: Option<u8>,
    /// Bytes.
    pub size: u64,
    /// The port of its host by which it leaves, and the rate at which it sends at most.
    pub own: (Option<u8>, BitRate),
    /// When it begins and ends: of all routes that hold meanwhile, the best count.
    pub during: (Nanos, Nanos),
}

/// The ports of a node where nothing waits.
struct Idle<'a>(&'a Fabric, u32);

impl Ports for Idle<'_> {
    fn queued(&self, _: u16) -> u32 {
        0
    }

    fn rate(&self, port: u16) -> BitRate {
        let Idle(fabric, node) = *self;
        let link = fabric.ports(node)[usize::from(port)].link;
        fabric.network.links[link as usize].rate
    }

    fn is_paused(&self, _: u16, _: u8) -> bool {
        false
    }
}

impl Fabric {
    /// The network of nodes with these settings, by number. Nodes that are alike share theirs.
    pub fn of_nodes(network: &Network, nodes: &[Rc<NodeSettings>]) -> Fabric {
        let hosts: Vec<&NodeSettings> = distinct(network.hosts().map(|host| &nodes[host as usize]));
        let payload = hosts.iter().map(|host| host.transport.mtu.0).max().unwrap_or(1) as u32;
        let mut rules = Rules::default();
        hosts.iter().for_each(|host| rules.set_host_model(host));
        for (node, settings) in (0..).zip(nodes) {
            rules.add(node, !network.is_host(node), settings);
        }
        if distinct(nodes).iter().any(|node| node.fast_cnp.enabled) {
            rules.route_to_switches();
        }
        Fabric::new(network.clone(), rules, payload)
    }

    /// A network whose full packets have `payload` bytes.
    pub fn new(network: Network, rules: Rules, payload: u32) -> Fabric {
        let down = if rules.faults.last_parallel_link { network.superseded_links() } else { Vec::new() };
        let routes = Routes::avoiding(&network, payload, &down, rules.to_switches);
        let measures = routes.kinds().map(|(path, links)| {
            let rtt = rules.rtt(&path, &links);
            (rtt, rules.bdp(&path, rtt))
        });
        let longest = measures.fold((Nanos(0), 0), |(rtt, bdp), (other, bytes)| (rtt.max(other), bdp.max(bytes)));
        Fabric { ports: network.ports(), network, routes, rerouted: Vec::new(), down, payload, rules, longest }
    }

    /// The routes around failed links, where they lead from one host to another, or else those of the start.
    fn present(&self, src: u32, dst: u32) -> &Routes {
        self.at(Nanos(u64::MAX), src, dst)
    }

    /// The same at another time.
    fn at(&self, time: Nanos, src: u32, dst: u32) -> &Routes {
        let rerouted = self.rerouted.iter().rev().find(|rerouted| rerouted.since <= time);
        let routes = rerouted.map(|rerouted| &*rerouted.routes).filter(|routes| routes.path(src, dst).is_some());
        routes.unwrap_or(&self.routes)
    }

    /// All routes that a flow has had.
    fn all_during(&self, flow: &IdealFlow) -> impl Iterator<Item = &Routes> {
        let &IdealFlow { src, dst, during: (start, end), .. } = flow;
        let later = self.rerouted.iter().filter(move |rerouted| start < rerouted.since && rerouted.since <= end);
        let later = later.map(|rerouted| &*rerouted.routes).filter(move |routes| routes.path(src, dst).is_some());
        [self.at(start, src, dst)].into_iter().chain(later)
    }

    /// Completion time of a flow of a host with these settings on an idle path; 0 where there is none.
    pub fn ideal_fct(&self, flow: &IdealFlow, host: &NodeSettings) -> Nanos {
        let &IdealFlow { src, dst, size, .. } = flow;
        if host.faults().rough_ideal_fct {
            let routes = self.at(flow.during.1, src, dst);
            let found = routes.links(src, dst).zip(self.routes.path(src, dst));
            let Some((links, first)) = found else { return Nanos(0) };
            // After a link has failed, the 2019 simulator still uses the round-trip times from the start.
            let path = PathMetrics { bottleneck: routes.measure(&links).bottleneck, ..first };
            let headers = host.wire.profile.sizes().data_overhead;
            return path.standalone_fct(size, host.transport.mtu.0 as u32, headers);
        }
        self.unloaded_time(flow, host, |unloaded| unloaded)
    }

    /// When the last byte of such a flow arrives on an idle path, after its start; 0 where there is none.
    pub fn ideal_arrival(&self, flow: &IdealFlow, host: &NodeSettings) -> Nanos {
        self.unloaded_time(flow, host, UnloadedFlow::unacknowledged)
    }

    /// For how many picoseconds such a flow keeps its host's link busy; 0 where there is no path.
    pub fn ideal_sending(&self, flow: &IdealFlow, host: &NodeSettings) -> u64 {
        let path = self.unloaded_path(self.present(flow.src, flow.dst), flow, host);
        let Some(UnloadedPath { there, back, base_rtt, .. }) = path else { return 0 };
        let unloaded = host.unloaded_flow().unacknowledged();
        // Ports send whole nanoseconds, or exact times: those by a link that is a thousand times as slow.
        let slower = if unloaded.rounding() == Rounding::Exact { 1_000 } else { 1 };
        let first =
            |link: &UnloadedLink| UnloadedLink { rate: BitRate(link.rate.0 / slower), delay: Nanos(0), ..*link };
        let there = there.first().map(first).into_iter().collect();
        let path = UnloadedPath { there, back, base_rtt, window: 0, most: BitRate(u64::MAX) };
        unloaded.completion(&path, flow.size).0.saturating_mul(1_000 / slower)
    }

    /// The least time on all routes that the flow has had.
    fn unloaded_time(
        &self,
        flow: &IdealFlow,
        host: &NodeSettings,
        change: impl FnOnce(UnloadedFlow) -> UnloadedFlow,
    ) -> Nanos {
        let mut unloaded = change(host.ideal_flow());
        if let Some(&seals) = self.rules.silent.get(&flow.dst) {
            unloaded = unloaded.without_answers(seals);
        }
        let on = |routes: &Routes| {
            let path = self.unloaded_path(routes, flow, host)?;
            let is_spread =
                !host.takes_one_path(flow.priority) || self.leaves_by_several(&routes.table(flow.src), flow, host);
            let layers = if is_spread { self.layers(routes, flow, host) } else { Vec::new() };
            let path = if is_spread { self.best_of(path, &layers, routes, flow) } else { path };
            Some(match is_spread {
                true => unloaded.spread_completion(&path, &layers, flow.size),
                false => unloaded.completion(&path, flow.size),
            })
        };
        self.all_during(flow).filter_map(on).min().unwrap_or(Nanos(0))
    }

    /// Whether a node adds a record to the packets of a flow from `src`.
    pub fn stamps(&self, node: u32, src: u32) -> bool {
        node != src && !self.rules.leaves_hops_out && !self.rules.blind.contains(&node)
    }

    /// The links that packets of a flow can take.
    fn layers(&self, routes: &Routes, flow: &IdealFlow, host: &NodeSettings) -> Vec<Layer> {
        let by_several = self.leaves_by_several(&routes.table(flow.src), flow, host);
        let first = if by_several { None } else { self.first_port(routes, flow, host) };
        let mut records = 0;
        let layers = routes.layers(flow.src, flow.dst, first).into_iter();
        layers
            .map(|layer| {
                records += u8::from(layer.iter().all(|&(node, _)| self.stamps(node, flow.src)));
                Layer { links: layer.into_iter().map(|(_, link)| link).collect(), records }
            })
            .collect()
    }

    /// The best links of all paths there and back.
    fn best_of(&self, path: UnloadedPath, layers: &[Layer], routes: &Routes, flow: &IdealFlow) -> UnloadedPath {
        let back = routes.layers(flow.dst, flow.src, None).into_iter();
        let back = back.map(|layer| {
            let links = layer.into_iter().map(|(_, link)| link).collect();
            Layer { links, records: 0 }.best()
        });
        UnloadedPath { there: layers.iter().map(Layer::best).collect(), back: back.collect(), ..path }
    }

    /// The port by which a flow's data leaves its host, if it does not change; with several, a transport of packets of its own
    /// chooses by the hosts alone.
    fn first_port(&self, routes: &Routes, flow: &IdealFlow, host: &NodeSettings) -> Option<u16> {
        let &IdealFlow { src, dst, ports, own, .. } = flow;
        let table = routes.table(src);
        let hops = table.next_hops(dst);
        let own = own.0.map(u16::from).filter(|own| hops.contains(own));
        let of_hosts = || {
            let key = FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport: 0, dport: 0 };
            if host.host_transport.is_queue_pairs() { None } else { key.choose(HOST_SEED, hops) }
        };
        let by_hash = || {
            let (sport, dport) = ports?;
            let dport = host.wire.profile.port().unwrap_or(dport);
            FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport, dport }
                .choose(HOST_SEED, hops)
        };
        own.or_else(of_hosts).or_else(by_hash).or_else(|| hops.first().copied())
    }

    /// The next hop of a flow at a switch, where that is always the same.
    fn hop_at_switch(&self, host: &NodeSettings, node: u32, dst: u32, key: &FlowKey, hops: &[u16]) -> Option<u16> {
        let by_hash = || key.choose(node, hops);
        if hops.len() > 1 && self.ports(node).get(usize::from(hops[0])).is_some_and(|port| port.peer == dst) {
            return key.last_link(node, hops);
        }
        if hops.len() < 2 || host.load_balancing.chosen().is_plain() {
            return by_hash();
        }
        if !host.load_balancing.keeps() {
            return by_hash();
        }
        let Some(mut balancer) = host.load_balancing.balancer(&self.network, node).ok().flatten() else {
            return by_hash();
        };
        let choice = Choice { now: Nanos(0), dst, key, priority: 0, hops, ports: &Idle(self, node) };
        Some(balancer.choose(&choice, &mut Integers::new(0)))
    }

    /// What a flow of a host with these settings finds if it is alone. Where switches leave records out, it meets none that adds
    /// one, so that its time is none that another path, or other traffic, would make shorter.
    fn unloaded_path(&self, routes: &Routes, flow: &IdealFlow, host: &NodeSettings) -> Option<UnloadedPath> {
        let &IdealFlow { src, dst, ports, own, .. } = flow;
        let (sport, dport) = ports.unwrap_or_default();
        let first = self.first_port(routes, flow, host);
        let (here, there) = (host_address(src), host_address(dst));
        let key = |src_address, dst_address, sport, dport| FlowKey { src_address, dst_address, sport, dport };
        let way = |from, to, key: FlowKey| {
            routes.way(from, to, |node, choices| match ports {
                _ if node == src && from == src => first,
                Some(_) if node == from => key.choose(HOST_SEED, choices),
                Some(_) => self.hop_at_switch(host, node, to, &key, choices),
                None => choices.first().copied(),
            })
        };
        // Answers have the same source port as data where the destination port is that of the protocol, or a transport has packets
        // of its own.
        let (data, answers) = match host.wire.profile.port() {
            Some(port) => (key(here, there, sport, port), key(there, here, sport, port)),
            None if !host.host_transport.is_queue_pairs() => {
                (key(here, there, sport, dport), key(there, here, sport, dport))
            }
            None => (key(here, there, sport, dport), key(there, here, dport, sport)),
        };
        let transport = host.transport();
        let (base_rtt, bdp, _) = self.path_limits(src, dst, transport.global_rtt);
        let ways = (way(src, dst, data)?, way(dst, src, answers)?);
        let line_rate = ways.0.first().map(|&(_, (rate, _))| rate)?;
        let mut records = 0;
        let link = |&(node, (rate, delay)): &(u32, LinkSpec)| {
            records += u8::from(self.stamps(node, src));
            UnloadedLink { rate, delay, records }
        };
        let there = ways.0.iter().map(link).collect();
        let back = ways.1.iter().map(|&(_, (rate, delay))| UnloadedLink { rate, delay, records: 0 }).collect();
        // The window of queue pairs, by whose halves they ask for acknowledgements.
        let window = if host.host_transport.is_queue_pairs() {
            transport.bounded(transport.first_window(line_rate, base_rtt, bdp), line_rate, base_rtt)
        } else {
            0
        };
        Some(UnloadedPath { there, back, base_rtt, window, most: own.1 })
    }

    /// The largest bandwidth-delay product between two hosts.
    pub fn max_bdp(&self) -> u64 {
        self.longest.1
    }

    /// Nodes and links.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The ports of a node.
    pub fn ports(&self, node: u32) -> &[Port] {
        &self.ports[node as usize]
    }

    /// Rates and delays of a node's ports.
    pub fn links(&self, node: u32) -> impl Iterator<Item = LinkSpec> + '_ {
        self.ports(node).iter().map(|port| {
            let link = &self.network.links[port.link as usize];
            (link.rate, link.delay)
        })
    }

    /// Whether a node is a switch.
    pub fn is_switch(&self, node: u32) -> bool {
        self.network.nodes[node as usize] == NodeKind::Switch
    }

    /// The rate of the first host's first port: the 2019 simulator measures fast ports against it.
    pub fn host_rate(&self) -> BitRate {
        self.network.host_rate().unwrap_or(BitRate(u64::MAX))
    }

    /// The longest base round-trip time between two hosts.
    pub fn max_rtt(&self) -> Nanos {
        self.longest.0
    }

    /// Links of the longest path between two hosts, as long as no link has failed; at most 255 of them counted.
    pub fn most_links(&self) -> u8 {
        self.routes.kinds().map(|(path, _)| path.links).max().unwrap_or(0)
    }

    /// T, bandwidth-delay product at the path's rate, and links of a new flow: of its own path, or the longest of the network
    /// (`global`).
    pub fn path_limits(&self, src: u32, dst: u32, global: bool) -> (Nanos, u64, u8) {
        let (rtt, bdp, links) = self.measure(src, dst).unwrap_or_default();
        if global { (self.longest.0, self.longest.1, links) } else { (rtt, bdp, links) }
    }

    /// What a new flow measures: T, window at the path's rate, and links; `None` if there is no path.
    pub fn measure(&self, src: u32, dst: u32) -> Option<(Nanos, u64, u8)> {
        let routes = if self.rules.faults.metrics_of_the_start { &self.routes } else { self.present(src, dst) };
        let links = routes.links(src, dst)?;
        let path = routes.measure(&links);
        let rtt = self.rules.rtt(&path, &links);
        Some((rtt, self.rules.bdp(&path, rtt), path.links))
    }

    /// The next hops of a node: around failed links, once a link has failed.
    pub fn table(&self, node: u32) -> RouteTable {
        self.rerouted.last().map_or(&self.routes, |rerouted| &*rerouted.routes).table(node)
    }

    /// The path between two hosts as it was at the start.
    pub fn path(&self, src: u32, dst: u32) -> Option<PathMetrics> {
        self.routes.path(src, dst)
    }

    /// Kinds of paths at the start: what they measure, and their links.
    pub fn kinds(&self) -> impl Iterator<Item = (PathMetrics, Vec<LinkSpec>)> + '_ {
        self.routes.kinds()
    }

    /// The ports by which a host reaches another; `None` if there is no path.
    pub fn exits(&self, src: u32, dst: u32) -> Option<Exits> {
        self.exits_by(&self.table(src), src, dst)
    }

    fn exits_by(&self, table: &RouteTable, src: u32, dst: u32) -> Option<Exits> {
        let hops = table.next_hops(dst);
        let key = FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport: 0, dport: 0 };
        let usual = key.choose(HOST_SEED, hops)?;
        let all = hops.iter().filter(|&&hop| hop < 64).fold(0, |bits, hop| bits | 1 << hop);
        let peers = hops.iter().filter_map(|&hop| self.ports(src).get(usize::from(hop))).map(|port| port.peer);
        let are_apart = peers.collect::<BTreeSet<_>>().len() == hops.len();
        Some(Exits { usual, all: if all == 0 { 1 } else { all }, are_apart })
    }

    /// Whether packets of a flow leave a host with these settings by several ports.
    fn leaves_by_several(&self, table: &RouteTable, flow: &IdealFlow, host: &NodeSettings) -> bool {
        let is_one_path = host.transport.entropy == Entropy::Flow;
        let exits = if host.host_transport.chosen().sprays() { self.exits_by(table, flow.src, flow.dst) } else { None };
        exits.is_some_and(|exits| exits.of_sprayed(is_one_path).count_ones() > 1)
    }

    /// The port by which a host's flow would have left at the start.
    pub fn port_of_the_start(&self, host: u32, key: &FlowKey, dst: u32) -> Option<u16> {
        key.choose(HOST_SEED, self.routes.table(host).next_hops(dst))
    }

    /// Takes links down, or brings them up, and computes new routes. Returns those that changed: not a link that was so
    /// before, nor one that comes up though the 2019 simulator uses another between the same nodes.
    pub fn set_links(&mut self, now: Nanos, links: &[u32], up: bool) -> Vec<u32> {
        let unused = if self.rules.faults.last_parallel_link { self.network.superseded_links() } else { Vec::new() };
        let changes = |link: &u32| self.down.contains(link) == up && !unused.contains(link);
        let changed: Vec<u32> = links.iter().copied().filter(changes).collect();
        if changed.is_empty() {
            return changed;
        }
        self.down.retain(|link| !changed.contains(link));
        if !up {
            self.down.extend(&changed);
        }
        self.down.sort_unstable();
        let known = self.rerouted.iter().find(|rerouted| rerouted.down == self.down);
        let routes = known.map(|rerouted| Arc::clone(&rerouted.routes)).unwrap_or_else(|| {
            Arc::new(Routes::avoiding(&self.network, self.payload, &self.down, self.rules.to_switches))
        });
        if self.rerouted.len() == MOST_REROUTED {
            self.rerouted.remove(0);
        }
        self.rerouted.push(Rerouted { since: now, down: self.down.clone(), routes });
        changed
    }
}

/// Settings that are not the same object.
pub(crate) fn distinct<'a>(nodes: impl IntoIterator<Item = &'a Rc<NodeSettings>>) -> Vec<&'a NodeSettings> {
    let mut known: Vec<&'a Rc<NodeSettings>> = Vec::new();
    for node in nodes {
        if !known.iter().rev().any(|other| Rc::ptr_eq(other, node)) {
            known.push(node);
        }
    }
    known.into_iter().map(|node| &**node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference_faults::FaultSettings;
    use crate::settings::Input;
    use crate::telemetry::LayoutSettings;
    use crate::topology::Link;
    use crate::transport::feedback::FeedbackSettings;

    /// Hosts 0 and 1 at switches 2 and 3, which links of these rates in Gb/s connect directly and over switch 4.
    fn fabric(direct: &[u64], rules: Rules) -> Fabric {
        use NodeKind::{Host, Switch};
        let around = [(0, 2, 100), (1, 3, 100), (2, 4, 25), (4, 3, 25)];
        let links = around.into_iter().chain(direct.iter().map(|&gbps| (2, 3, gbps)));
        let link = |(a, b, gbps)| Link { a, b, rate: BitRate::gbps(gbps), delay: Nanos(1_000), loss: 0.0 };
        let network = Network { nodes: [Host, Host, Switch, Switch, Switch].into(), links: links.map(link).collect() };
        Fabric::new(network, rules, 1_000)
    }

    fn faulty(faults: ReferenceFaults) -> Rules {
        Rules { faults, ..Rules::default() }
    }

    const NOW: Nanos = Nanos(5);

    /// From host 0 to host 1 by the first path.
    fn flow(size: u64) -> IdealFlow {
        IdealFlow {
            src: 0,
            dst: 1,
            ports: None,
            priority: None,
            size,
            own: (None, BitRate(u64::MAX)),
            during: (NOW, NOW),
        }
    }

    #[test]
    fn flows_after_a_failure_measure_their_path_and_in_the_reference_the_one_before() {
        for metrics_of_the_start in [false, true] {
            let mut fabric = fabric(&[100], faulty(ReferenceFaults { metrics_of_the_start, ..ReferenceFaults::NONE }));
            let measure = |fabric: &Fabric| fabric.path_limits(0, 1, false);
            let before = (Nanos(6_000 + 3 * 80), 78_000, 3);
            assert_eq!(measure(&fabric), before);
            let direct = fabric.network().links_between(3, 2);
            assert_eq!(
                (fabric.set_links(NOW, &direct, false), fabric.set_links(NOW, &direct, false)),
                (Vec::from([4]), Vec::new())
            );
            let after = (Nanos(8_000 + 2 * 80 + 2 * 320), 27_500, 4);
            assert_eq!(measure(&fabric), if metrics_of_the_start { before } else { after });
            let ideal = |rough_ideal_fct| {
                let faults = FaultSettings::of(ReferenceFaults { rough_ideal_fct, ..ReferenceFaults::NONE });
                fabric.ideal_fct(&flow(1_000), &NodeSettings { faults, ..NodeSettings::default() })
            };
            let rough = Nanos(before.0.0 + 335);
            assert_eq!(ideal(true), rough, "the 2019 simulator's formula: 1,048 bytes at 25 Gb/s");
            assert_eq!(ideal(false), Nanos(8_000 + 2 * 84 + 2 * 336 + 2 * 5 + 2 * 20), "each rounded up");
        }
    }

    /// A flow that began on a fast path was never slower for a link that failed later.
    #[test]
    fn of_all_routes_that_a_flow_had_the_best_are_ideal() {
        let mut fabric = fabric(&[100], Rules::default());
        let ideal =
            |fabric: &Fabric, during| fabric.ideal_fct(&IdealFlow { during, ..flow(1_000) }, &NodeSettings::default());
        let before = ideal(&fabric, (Nanos(0), NOW));
        let direct = fabric.network().links_between(3, 2);
        fabric.set_links(NOW, &direct, false);
        fabric.set_links(Nanos(9), &direct, true);
        let times =
            [(0, 4), (4, 6), (5, 8), (6, 9), (9, 20)].map(|(start, end)| ideal(&fabric, (Nanos(start), Nanos(end))));
        assert_eq!(times.map(|time| time == before), [true, true, false, true, true]);
    }

    /// Two links of 25 Gb/s carry what one of 50 would, each packet as slowly as one.
    #[test]
    fn packets_that_take_several_paths_are_ideal_on_all_of_them() {
        let fabric = fabric(&[25, 25, 25], Rules::default());
        let mut settings = NodeSettings::default();
        let ideal = |settings: &NodeSettings, size| fabric.ideal_fct(&flow(size), settings).0;
        let alone = ideal(&settings, 1_000_000);
        settings.set("load_balancing", None, "scheme", Input::Text("random")).expect("a scheme");
        assert!(!settings.takes_one_path(None));
        let one = 6_000 + 2 * 84 + 336 + 2 * 5 + 20;
        assert_eq!(ideal(&settings, 1_000), one, "a packet takes one path");
        let spread = ideal(&settings, 1_000_000);
        // 1,048 bytes leave in 112 ns by one of three links, where one took 335, which the last of them does.

        assert!((111_000..112_000).contains(&(spread - one)) && spread < alone / 2, "{spread} {alone}");
    }

    /// What no switch adds, or no receiver sends back, takes no time: a flow would be faster than ideal.
    #[test]
    fn ideal_times_count_the_telemetry_that_there_is() {
        let mut settings = NodeSettings { layout: LayoutSettings::of("int_md"), ..NodeSettings::default() };
        settings.resolve(&Network::default());
        let legacy = NodeSettings { feedback: FeedbackSettings::none(), ..settings.clone() };
        let ideal = |stamps: bool, receiver: &NodeSettings| {
            let mut switch = settings.clone();
            switch.switch.stamp_telemetry = stamps;
            let mut rules = Rules::default();
            rules.add(3, true, &switch);
            rules.add(1, false, receiver);
            fabric(&[100], rules).ideal_fct(&flow(1_000_000), &settings)
        };
        let all = ideal(true, &settings);
        assert!(ideal(false, &settings) < all && ideal(true, &legacy) < all);
    }

    #[test]
    fn parallel_links_are_all_used_and_in_the_reference_the_last_one() {
        for (last_parallel_link, ports) in [(false, [2, 3]), (true, [3, 3])] {
            let mut fabric =
                fabric(&[100, 100], faulty(ReferenceFaults { last_parallel_link, ..ReferenceFaults::NONE }));
            let ends = |fabric: &Fabric| {
                let table = fabric.table(2);
                let hops = table.next_hops(1);
                [hops[0], hops[hops.len() - 1]]
            };
            assert_eq!(ends(&fabric), ports);
            if !last_parallel_link {
                assert_eq!((fabric.set_links(NOW, &[4], false), ends(&fabric)), (Vec::from([4]), [3, 3]), "one fails");
                assert_eq!((fabric.set_links(NOW, &[4, 5], true), ends(&fabric)), (Vec::from([4]), [2, 3]));
            }
            let both = fabric.network().links_between(2, 3);
            let used = if last_parallel_link { Vec::from([5]) } else { Vec::from([4, 5]) };
            assert_eq!(fabric.set_links(NOW, &both, false), used, "both fail");
            assert_eq!(ends(&fabric), [1, 1]);
            assert_eq!(fabric.set_links(NOW, &both, true), used, "and come up again");
            assert_eq!(ends(&fabric), ports, "the routes are those of the start");
        }
    }
}
