// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a network under way, and how it begins.

use super::agenda::Agenda;
use super::agents::{HostNotices, SwitchExtras};
use super::alarms::Alarms;
use super::answering::cnp_queue;
use super::attackers::Attackers;
use super::chance::Chance;
use super::events::{EventKind, Events, Keys, Order, SPAN};
use super::flight::Flight;
use super::flow_list::Flows;
use super::frames::Frames;
use super::groups::Groups;
use super::nodes::{Held, HostNode, Nodes, SwitchNode};
use super::observer::{SwitchCounts, Totals};
use super::parts::Parts;
use super::port::Port;
use super::program::Program;
use super::quanta::Quanta;
use super::retry::Retry;
use super::run::Stop;
use super::skip::Skip;
use super::traffic::Traffic;
use super::transports::Other;
use super::watch::Watchers;
use super::watchdog::Watchdogs;
use super::windows::Windows;
use super::work::Work;
use crate::fabric::{Fabric, distinct};
use crate::fast_cnp::report_room;
use crate::host_transport::HostSetup;
use crate::ids::{PortId, Table};
use crate::node::{Located, NodeSettings};
use crate::reference_faults::ReferenceFaults;
use crate::roce::CNP_RESERVED;
use crate::switch::{Overflow, Scheduler, Switch, WatchdogAction};
use crate::topology::Network;
use crate::topology::partition::{Units, unite};
use crate::transport::{Host, feedback};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Where random numbers come from.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    /// First stream of ECN marks.
    pub marks: u64,
    /// Seed of PINT's draws.
    pub pint: u32,
    /// Stream of losses.
    pub losses: u64,
    /// Global seed of marks and losses.
    pub seed: u32,
}

impl Streams {
    /// Streams that are given away before that of marks. The 2019 simulator gives six to each node, two to each link
    /// with a loss of its own, and two to itself; ports with chances of their own depend on the seed alone.
    pub fn before_marks(network: &Network, faults: ReferenceFaults) -> u64 {
        let lossy = network.links.iter().filter(|link| link.loss > 0.0).count() as u64;
        if faults.shared_rng { 6 * network.nodes.len() as u64 + 2 + 2 * lossy } else { 0 }
    }
}

/// The longest window between two looks at the end of a run.
const LONGEST_WINDOW: Nanos = Nanos(10_000);

/// A network under way.
pub struct Engine {
    // Time: what happens when.
    pub(super) events: Events,
    pub(super) groups: Groups,
    pub(super) windows: Windows,
    pub(super) parts: Parts,
    // The network: what events are about.
    pub(super) all: Arenas,
    pub(super) nodes: Nodes,
    /// First port of each node.
    pub(super) first_port: Vec<PortId>,
    pub(super) fabric: Arc<Fabric>,
    /// How often routes have changed.
    pub(super) version: u32,
    pub(super) chance: Chance,
    pub(super) watchdogs: Watchdogs,
    pub(super) quanta: Quanta,
    /// Room for telemetry however long paths are.
    pub(super) most_room: usize,
    // What it carries.
    pub(super) flows: Flows,
    pub(super) work: Work,
    pub(super) attackers: Attackers,
    // Who else is there.
    pub(super) program: Program,
    pub(super) watchers: Watchers,
    /// Frames may be lost or changed on links, or somebody watches: each that arrives is looked at.
    pub(super) checks_arrivals: bool,
    /// What switches are after a reboot.
    pub(super) spares: Vec<(u32, SwitchNode)>,
    /// The caller has a turn before links change.
    pub(super) announces_links: bool,
    // How the run goes.
    pub(super) skip: Skip,
    /// Why it pauses, if it does.
    pub(super) pause: Option<Stop>,
    /// Why it cannot go on.
    pub(super) fault: Option<String>,
    pub(super) events_run: u64,
    pub(super) totals: Totals,
}

/// What events are about, by place.
pub(super) struct Arenas {
    pub frames: Frames,
    /// The frames on their way to each port.
    pub flights: Table<PortId, Flight>,
    pub ports: Table<PortId, Port>,
    pub alarms: Alarms,
    pub agenda: Agenda,
}

impl Keys for Arenas {
    #[inline]
    fn node(&self, what: EventKind) -> u32 {
        match what {
            EventKind::Arrival(port) | EventKind::End(port) | EventKind::Wake(port) => self.ports[port].node,
            EventKind::Alarm(alarm) => self.alarms.get(alarm).node,
            EventKind::Agenda(_) => u32::MAX,
        }
    }

    #[inline]
    fn rank(&self, what: EventKind) -> u64 {
        match what {
            EventKind::Arrival(port) => self.flights[port].first().map_or(0, |frame| frame.rank),
            EventKind::End(port) => self.ports[port].end_rank,
            EventKind::Wake(port) => self.ports[port].wake_rank,
            EventKind::Alarm(alarm) => self.alarms.get(alarm).rank,
            EventKind::Agenda(item) => self.agenda.rank(item),
        }
    }

    #[inline]
    fn number(&self, port: PortId) -> u16 {
        self.ports[port].number
    }
}

impl Engine {
    /// A network whose nodes have these settings, [resolved](NodeSettings::resolve).
    ///
    /// # Errors
    /// What of a node's settings contradicts what.
    pub fn new(
        network: &Network,
        settings: impl Fn(u32) -> Rc<NodeSettings>,
        order: Order,
        streams: Streams,
        default_loss: f64,
        borders: &[(u32, u32)],
    ) -> Result<Engine, Located> {
        let nodes: Vec<Rc<NodeSettings>> = (0..network.nodes.len() as u32).map(settings).collect();
        let kinds = distinct(&nodes);
        let faults = nodes.first().map(|node| node.faults()).unwrap_or_default();
        let window = Units::new(network).window().map_or(LONGEST_WINDOW, |window| window.min(LONGEST_WINDOW));
        let notifies = kinds.iter().any(|node| node.fast_cnp.enabled);
        let fabric = Fabric::of_nodes(network, &nodes);
        let room = |hops: usize| {
            let of_one = |node: &&NodeSettings| {
                let (records, seals) = (node.feedback.records_per_ack, node.transport.seal.is_some());
                let answers =
                    feedback::room_after(hops, &node.layout(), records, seals) + node.transport.recovery.answer_bytes;
                answers.max(node.switch.source_pause.map_or(0, |_| CNP_RESERVED))
            };
            let reports = nodes.first().filter(|_| notifies).map_or(0, |first| report_room(&first.layout()));
            kinds.iter().map(of_one).max().unwrap_or(0).max(reports)
        };
        // A path has a switch fewer than links.
        let (room, most_room) = (room(usize::from(fabric.most_links()).saturating_sub(1)), room(usize::MAX));
        let of_pause = nodes.first().and_then(|node| node.switch.pfc_quanta);
        let count = nodes.len() as u32;
        let ports = |node: u32| (0..fabric.ports(node).len() as u16).map(move |number| (node, number));
        let chance = Chance::new(streams, faults, order == Order::Canonical, (0..count).flat_map(ports));
        let mut engine = Engine {
            events: Events::new(order),
            groups: Groups::new(Vec::new(), core::iter::empty(), SPAN),
            windows: Windows::new(window),
            parts: Parts::default(),
            all: Arenas {
                frames: Frames::new(room),
                flights: Table::default(),
                ports: Table::default(),
                alarms: Alarms::default(),
                agenda: Agenda::default(),
            },
            nodes: Nodes::default(),
            first_port: Vec::new(),
            fabric: Arc::new(fabric),
            version: 0,
            chance,
            watchdogs: Watchdogs::default(),
            quanta: Quanta::new(of_pause),
            most_room,
            flows: Flows::new(notifies, faults.wrapping_ports),
            work: Work::default(),
            attackers: Attackers::default(),
            program: Program::default(),
            watchers: Watchers::default(),
            checks_arrivals: false,
            spares: Vec::new(),
            announces_links: false,
            skip: Skip::default(),
            pause: None,
            fault: None,
            events_run: 0,
            totals: Totals::default(),
        };
        for (node, settings) in nodes.iter().enumerate() {
            engine.add_node(node as u32, settings, borders)?;
        }
        engine.nodes.share_rules(&nodes);
        engine.connect(network);
        engine.grant_credits(&nodes);
        engine.set_losses(default_loss);
        Ok(engine)
    }

    fn add_node(&mut self, node: u32, settings: &NodeSettings, borders: &[(u32, u32)]) -> Result<(), Located> {
        self.first_port.push(PortId(self.all.ports.len() as u32));
        let links: Vec<_> = self.fabric.links(node).collect();
        let is_switch = self.fabric.is_switch(node);
        let rates: Vec<_> = links.iter().map(|&(rate, _)| rate).collect();
        let rounding = settings.transport().rounding();
        let mut services = None;
        if is_switch {
            let classes = settings.switch(&rates).classes;
            self.checks_arrivals |= settings.switch.pfc_watchdog == WatchdogAction::Drop;
            services = classes.map(|classes| classes.services());
            let switch = self.make_switch(node, settings, borders)?;
            self.nodes.add_switch(switch);
        } else {
            let config = settings.host();
            let layout = config.layout.clone();
            let mut core = Host::new(config, &rates, self.fabric.table(node));
            let slow = settings.receive(self.fabric.network(), node);
            if let Some(slow) = &slow {
                core.receive_slowly(slow);
            }
            let setup = HostSetup {
                node,
                ports: &rates,
                transport: core.transport(),
                sizes: settings.sizes(),
                network_rtt: self.fabric.max_rtt(),
                trims: settings.switch.overflow == Overflow::Trim,
                layout: &layout,
            };
            let other = settings.host_transport.chosen().start(&setup).map(|endpoint| Box::new(Other::new(endpoint)));
            self.nodes.add_host(HostNode {
                other,
                layout,
                wire_port: settings.wire.profile.port(),
                ack_priority: core.transport().ack_priority,
                cnp_queue: cnp_queue(core.transport()),
                echoes: core.echoes(),
                seals: core.seals_answers(),
                pfc_bytes: settings.wire.profile.sizes().pfc,
                traffic: Traffic::new(core.transport()),
                notices: HostNotices::new(self.fabric.network(), node, settings)?,
                is_stack: settings.protocol.protocol.is_of_stack(),
                is_shared: false,
                sharing: Vec::new(),
                is_slow: slow.is_some(),
                is_paused_by_switches: settings.switch.source_pause.is_some(),
                held: if slow.is_some() { rates.iter().map(|_| Held::default()).collect() } else { Vec::new() },
                core,
            });
        }
        for (number, (port, link)) in self.fabric.ports(node).iter().zip(links).enumerate() {
            let mut end = Port::new(node, number as u16, port.peer, link);
            end.is_host = !is_switch;
            end.measure(settings.wire.frame_gap(), rounding);
            end.retry =
                settings.retry_buffer().map(|buffer| Box::new(Retry::new(buffer, settings.largest_frame(), link)));
            if let Some(services) = services {
                end.serve_by(Scheduler::new(services));
            }
            self.all.ports.push(end);
        }
        Ok(())
    }

    /// A switch that has done nothing yet.
    pub(super) fn make_switch(
        &self,
        node: u32,
        settings: &NodeSettings,
        borders: &[(u32, u32)],
    ) -> Result<SwitchNode, Located> {
        let links: Vec<_> = self.fabric.links(node).collect();
        let rates: Vec<_> = links.iter().map(|&(rate, _)| rate).collect();
        let config = settings.switch(&rates);
        let layout = settings.stamped_layout();
        let outside = self.fabric.ports(node).iter().map(|port| borders.contains(&(node, port.peer))).collect();
        let extras = SwitchExtras::new(self.fabric.network(), node, settings, &links, outside, self.fabric.max_rtt())?;
        let (rate, rtt) = (self.fabric.host_rate(), self.fabric.max_rtt());
        let mut core = Switch::new(node, &config, layout, rate, rtt, &links, self.fabric.table(node));
        core.call(settings.layout.id(node));
        let stripped = settings.stripped(self.fabric.network())?;
        core.strip(self.fabric.ports(node).iter().map(|port| stripped.contains(port.peer)).collect());
        core.lead_to_hosts(self.last_links(node));
        if let Some(balancer) = settings.balancer(self.fabric.network(), node)? {
            core.balance(balancer);
        }
        Ok(SwitchNode {
            leaks_on_link_down: config.faults.leak_buffer_on_link_down,
            pauses: settings.switch.pause_micros() > 0,
            pfc_bytes: settings.wire.profile.sizes().pfc,
            wire_port: settings.wire.profile.port(),
            sizes: settings.wire.profile.sizes(),
            extras,
            core,
            learnt: 0,
            counts: SwitchCounts::default(),
        })
    }

    /// The ports of a switch that lead to hosts with several links there; empty if there is none.
    fn last_links(&self, node: u32) -> Vec<bool> {
        let ports = self.fabric.ports(node);
        let mut links = BTreeMap::<u32, u32>::new();
        for port in ports.iter().filter(|port| !self.fabric.is_switch(port.peer)) {
            *links.entry(port.peer).or_default() += 1;
        }
        if links.values().all(|&links| links < 2) {
            return Vec::new();
        }
        ports.iter().map(|port| links.get(&port.peer).is_some_and(|&links| links > 1)).collect()
    }

    /// Ports find each other, and nodes their groups.
    fn connect(&mut self, network: &Network) {
        for node in 0..network.nodes.len() as u32 {
            for (number, port) in self.fabric.ports(node).iter().enumerate() {
                let (p, peer) = (self.port_id(node, number as u16), self.port_id(port.peer, port.far_port));
                self.all.ports[p].peer = peer;
            }
        }
        let ports = self.all.ports.len();
        self.all.flights = (0..ports).map(|_| Flight::default()).collect();
        for p in (0..ports as u32).map(PortId) {
            let peer = self.all.ports[p].peer;
            self.all.flights[peer].has_rules = self.all.ports[p].retry.is_some();
        }
        self.watchers.sampled.queues = vec![0; ports].into();
        self.group(network, &[]);
    }

    /// Nodes find their groups; these pairs are of one.
    pub(super) fn group(&mut self, network: &Network, pairs: &[(u32, u32)]) {
        let (of_node, window) = if self.is_single_file() {
            (vec![0; network.nodes.len()], SPAN)
        } else {
            let delays = network.links.iter().map(|link| link.delay.0).filter(|&delay| delay > 0);
            (unite(network, pairs, |link| link.delay == Nanos(0)), delays.min().unwrap_or(SPAN).min(SPAN))
        };
        self.groups = Groups::new(of_node, self.all.ports.iter().map(|port| port.node), window);
    }
}
