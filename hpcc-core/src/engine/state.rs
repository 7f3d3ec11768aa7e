// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a network under way, and how it begins.

use super::agenda::Agenda;
use super::agents::{HostNotices, SwitchExtras};
use super::alarms::Alarms;
use super::attackers::Attackers;
use super::clock::ProgramClock;
use super::events::{Events, Keys, Order, SPAN, What};
use super::flight::Flight;
use super::frames::Frames;
use super::groups::Groups;
use super::nodes::{Held, HostNode, Nodes, SwitchNode};
use super::observer::{Observer, PortCounts, SwitchCounts, Totals};
use super::parts::Parts;
use super::port::Port;
use super::run::Stop;
use super::traffic::{Completion, FlowRequest, Started, Traffic};
use super::transports::Other;
use super::watchdog::Watchdogs;
use super::work::Work;
use crate::cc::FlowLimits;
use crate::fabric::{Fabric, Rules};
use crate::fast_cnp::report_room;
use crate::host_transport::HostSetup;
use crate::node::{Located, NodeSettings};
use crate::random::{Loss, PortRngs, Rng};
use crate::reference_faults::ReferenceFaults;
use crate::roce::CNP_RESERVED;
use crate::switch::{Overflow, Scheduler, Switch};
use crate::topology::Network;
use crate::topology::partition::{Units, unite};
use crate::transport::{Host, feedback};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
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
    /// Streams that are given away before that of marks. The reference gives six to each node, two to each link with a loss of
    /// its own, and two to itself; ports with chances of their own depend on the seed alone.
    pub fn before_marks(network: &Network, faults: ReferenceFaults) -> u64 {
        let lossy = network.links.iter().filter(|link| link.loss > 0.0).count() as u64;
        if faults.shared_rng { 6 * network.nodes.len() as u64 + 2 + 2 * lossy } else { 0 }
    }
}

/// The longest window between two looks at the end of a run.
const LONGEST_WINDOW: Nanos = Nanos(10_000);

/// A network under way.
pub struct Engine {
    pub(super) events: Events,
    pub(super) groups: Groups,
    pub(super) parts: Parts,
    /// The groups that are due in the present window.
    pub(super) due: Vec<u32>,
    /// The ports of a group at which something happens in its window.
    pub(super) due_ports: Vec<u32>,
    pub(super) all: Arenas,
    /// Room for telemetry however long paths are.
    pub(super) most_room: usize,
    /// First port of each node.
    pub(super) first_port: Vec<u32>,
    pub(super) nodes: Nodes,
    pub(super) rngs: PortRngs,
    pub(super) fabric: Arc<Fabric>,
    /// What controllers of flows were given lately.
    pub(super) limits: Vec<Arc<FlowLimits>>,
    /// How often routes have changed.
    pub(super) version: u32,
    pub(super) loses_pfc: bool,
    /// As the reference fault `wrapping_ports` has it.
    pub(super) wraps_ports: bool,
    pub(super) losses: Vec<Loss>,
    pub(super) loss_stream: u64,
    pub(super) work: Work,
    /// Flows that are to begin, by start.
    pub(super) requests: VecDeque<FlowRequest>,
    /// How many were to begin, and how many of these have finished.
    pub(super) added: u64,
    pub(super) finished: u64,
    pub(super) attackers: Attackers,
    pub(super) started: Vec<Started>,
    pub(super) completed: Vec<Completion>,
    /// Requests that could not begin.
    pub(super) refused: Vec<FlowRequest>,
    /// Why the run cannot go on.
    pub(super) fault: Option<String>,
    pub(super) observer: Option<Box<dyn Observer>>,
    /// The newest round-trip time of each flow, if they are measured.
    pub(super) rtts: Option<BTreeMap<u32, Nanos>>,
    /// Receivers to close when the window ends.
    pub(super) closings: Vec<(u32, u32)>,
    /// When the first flow began, and the first of these windows.
    pub(super) origin: Option<Nanos>,
    pub(super) window: Nanos,
    pub(super) window_end: Nanos,
    /// Why the run pauses, if it does.
    pub(super) pause: Option<Stop>,
    /// A program takes turns with the engine.
    pub(super) serves_program: bool,
    /// All nodes draw from one sequence, in the order of events.
    pub(super) shares_rng: bool,
    /// The caller has a turn before links change.
    pub(super) announces_links: bool,
    /// The clock that congestion controls of a program look at, but while the engine goes by it, and whether there is one.
    pub(super) clock: Option<Box<dyn ProgramClock>>,
    pub(super) is_clocked: bool,
    /// By port, for a program.
    pub(super) port_counts: Vec<PortCounts>,
    pub(super) sampled: Sampled,
    pub(super) events_run: u64,
    pub(super) totals: Totals,
    /// Frames may be lost on links, or somebody watches: ports are asked about what arrives.
    pub(super) asks_ports: bool,
    /// Queue pairs that flows share stay when their last message has finished: something may come for them still.
    pub(super) keeps_queue_pairs: bool,
    /// The observer hears of pauses from those who send them.
    pub(super) tells_holds: bool,
    /// Somebody has sent a pause.
    pub(super) has_held: bool,
    pub(super) watchdogs: Watchdogs,
}

/// What waited at switches when the last sample was taken.
#[derive(Default)]
pub(super) struct Sampled {
    /// Those that have changed.
    pub switches: Vec<u32>,
    /// Those that may have changed when the next is taken.
    pub touched: Vec<u32>,
    /// Bytes, by the place of the port.
    pub queues: Vec<u32>,
}

/// What events are about, by place.
pub(super) struct Arenas {
    pub frames: Frames,
    /// The frames on their way to each port.
    pub flights: Vec<Flight>,
    pub ports: Vec<Port>,
    pub alarms: Alarms,
    pub agenda: Agenda,
}

impl Keys for Arenas {
    #[inline]
    fn node(&self, what: What) -> u32 {
        match what {
            What::Arrival(port) | What::End(port) | What::Wake(port) => self.ports[port as usize].node,
            What::Alarm(alarm) => self.alarms.get(alarm).node,
            What::Agenda(_) => u32::MAX,
        }
    }

    #[inline]
    fn rank(&self, what: What) -> u64 {
        match what {
            What::Arrival(port) => self.flights[port as usize].first().map_or(0, |frame| frame.rank),
            What::End(port) => self.ports[port as usize].end_rank,
            What::Wake(port) => self.ports[port as usize].wake_rank,
            What::Alarm(alarm) => self.alarms.get(alarm).rank,
            What::Agenda(item) => self.agenda.rank(item),
        }
    }

    #[inline]
    fn number(&self, port: u32) -> u16 {
        self.ports[port as usize].number
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
        let hosts: Vec<&NodeSettings> = distinct(network.hosts().map(|host| &nodes[host as usize]));
        let payload = hosts.iter().map(|host| host.transport.mtu.0).max().unwrap_or(1) as u32;
        let faults = nodes.first().map(|node| node.faults()).unwrap_or_default();
        let window = Units::new(network).window().map_or(LONGEST_WINDOW, |window| window.min(LONGEST_WINDOW));
        let notifies = kinds.iter().any(|node| node.fast_cnp.enabled);
        let mut rules = Rules::default();
        hosts.iter().for_each(|host| rules.set_host_model(host));
        for (node, settings) in (0..).zip(&nodes) {
            rules.add(node, !network.is_host(node), settings);
        }
        if notifies {
            rules.route_to_switches();
        }
        let fabric = Fabric::new(network.clone(), rules, payload);
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
        let count = nodes.len() as u32;
        let ports = |node: u32| (0..fabric.ports(node).len() as u16).map(move |number| (node, number));
        let rngs = if faults.shared_rng {
            PortRngs::shared(Rng::seeded(streams.seed, streams.marks, streams.pint))
        } else {
            let seed = [streams.seed.into(), streams.marks, streams.pint.into()];
            PortRngs::of_ports(&seed, (0..count).flat_map(ports))
        };
        let mut engine = Engine {
            events: Events::new(order),
            groups: Groups::new(Vec::new(), core::iter::empty(), SPAN),
            parts: Parts::default(),
            due: Vec::new(),
            due_ports: Vec::new(),
            most_room,
            all: Arenas {
                frames: Frames::new(room),
                flights: Vec::new(),
                ports: Vec::new(),
                alarms: Alarms::default(),
                agenda: Agenda::default(),
            },
            first_port: Vec::new(),
            nodes: Nodes::default(),
            rngs,
            version: 0,
            shares_rng: faults.shared_rng,
            loses_pfc: faults.lossy_pfc,
            wraps_ports: faults.wrapping_ports,
            fabric: Arc::new(fabric),
            limits: Vec::new(),
            losses: Vec::new(),
            loss_stream: streams.losses,
            work: Work::default(),
            requests: VecDeque::new(),
            added: 0,
            finished: 0,
            attackers: Attackers::default(),
            started: Vec::new(),
            completed: Vec::new(),
            refused: Vec::new(),
            fault: None,
            observer: None,
            rtts: None,
            closings: Vec::new(),
            origin: None,
            window,
            window_end: Nanos(0),
            pause: None,
            serves_program: false,
            announces_links: false,
            clock: None,
            is_clocked: false,
            port_counts: Vec::new(),
            sampled: Sampled::default(),
            events_run: 0,
            totals: Totals::default(),
            asks_ports: false,
            keeps_queue_pairs: notifies,
            tells_holds: false,
            has_held: false,
            watchdogs: Watchdogs::default(),
        };
        for (node, settings) in nodes.iter().enumerate() {
            engine.add_node(node as u32, settings, borders)?;
        }
        engine.nodes.share_rules(&nodes);
        engine.connect(network);
        engine.set_losses(streams.seed, streams.losses, default_loss);
        Ok(engine)
    }

    fn add_node(&mut self, node: u32, settings: &NodeSettings, borders: &[(u32, u32)]) -> Result<(), Located> {
        self.first_port.push(self.all.ports.len() as u32);
        let links: Vec<_> = self.fabric.links(node).collect();
        let is_switch = self.fabric.is_switch(node);
        let rates: Vec<_> = links.iter().map(|&(rate, _)| rate).collect();
        let rounding = settings.transport().rounding();
        let mut services = None;
        if is_switch {
            let config = settings.switch(&rates);
            let layout = settings.stamped_layout();
            services = config.classes.map(|classes| classes.services());
            let outside = self.fabric.ports(node).iter().map(|port| borders.contains(&(node, port.peer))).collect();
            let extras =
                SwitchExtras::new(self.fabric.network(), node, settings, &links, outside, self.fabric.max_rtt())?;
            let (rate, rtt) = (self.fabric.host_rate(), self.fabric.max_rtt());
            let mut core = Switch::new(node, &config, layout, rate, rtt, &links, self.fabric.table(node));
            core.call(settings.layout.id(node));
            let stripped = settings.stripped(self.fabric.network())?;
            core.strip(self.fabric.ports(node).iter().map(|port| stripped.contains(port.peer)).collect());
            if let Some(balancer) = settings.balancer(self.fabric.network(), node)? {
                core.balance(balancer);
            }
            self.nodes.add_switch(SwitchNode {
                leaks_on_link_down: config.faults.leak_buffer_on_link_down,
                pauses: settings.switch.pause_micros() > 0,
                pfc_bytes: settings.wire.profile.sizes().pfc,
                wire_port: settings.wire.profile.port(),
                sizes: settings.wire.profile.sizes(),
                extras,
                core,
                learnt: 0,
                counts: SwitchCounts::default(),
            });
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
                echoes: core.echoes(),
                seals: core.seals_answers(),
                pfc_bytes: settings.wire.profile.sizes().pfc,
                traffic: Traffic::new(core.transport()),
                notices: HostNotices::new(self.fabric.network(), node, settings)?,
                is_stack: settings.protocol.protocol.is_of_stack(),
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
            if let Some(services) = services {
                end.serve_by(Scheduler::new(services));
            }
            self.all.ports.push(end);
        }
        Ok(())
    }

    /// Ports find each other, and nodes their groups.
    fn connect(&mut self, network: &Network) {
        for node in 0..network.nodes.len() as u32 {
            for (number, port) in self.fabric.ports(node).iter().enumerate() {
                let (p, peer) = (self.place(node, number as u16), self.place(port.peer, port.far_port));
                self.all.ports[p as usize].peer = peer;
            }
        }
        self.all.flights.resize_with(self.all.ports.len(), Flight::default);
        self.sampled.queues = vec![0; self.all.ports.len()];
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

    /// Whether ports lose frames by chances of their own. In the reference those of a link with its own probability, and those of
    /// all others, draw from one sequence.
    pub(super) fn has_own_losses(&self) -> bool {
        self.is_canonical() || !self.rngs.are_shared()
    }

    /// Frames are lost at random on links that have a probability of loss; the others share the default.
    fn set_losses(&mut self, seed: u32, stream: u64, default_loss: f64) {
        let own: Vec<f64> = self.fabric.network().links.iter().map(|link| link.loss).collect();
        let has_own = self.has_own_losses();
        let mut shared = vec![None; own.len() + 1];
        for port in &mut self.all.ports {
            let link = self.fabric.ports(port.node)[usize::from(port.number)].link as usize;
            let (probability, place) = if own[link] > 0.0 { (own[link], link) } else { (default_loss, own.len()) };
            if probability <= 0.0 {
                continue;
            }
            let next = self.losses.len() as u32;
            let known = if has_own { next } else { *shared[place].get_or_insert(next) };
            if known == next {
                self.losses.push(if has_own {
                    Loss::of_port(seed, stream, port.node, port.number, probability)
                } else {
                    Loss::new(seed, stream, probability)
                });
            }
            port.loss = Some(known);
            self.asks_ports = true;
        }
    }
}

/// Settings that are not the same object.
fn distinct<'a>(nodes: impl IntoIterator<Item = &'a Rc<NodeSettings>>) -> Vec<&'a NodeSettings> {
    let mut known: Vec<&'a Rc<NodeSettings>> = Vec::new();
    for node in nodes {
        if !known.iter().rev().any(|other| Rc::ptr_eq(other, node)) {
            known.push(node);
        }
    }
    known.into_iter().map(|node| &**node).collect()
}
