// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulator of hosts and switches, without ns-3: frames, ports and nodes in flat arenas, and the events between them.
//!
//! ```text
//! Engine::run    takes the next event:
//!   Arrival  ->  switching::receive  or  hosting::receive
//!   End      ->  Engine::try_send -> switching::next or hosting::next -> Engine::transmit
//!   Alarm    ->  hosting::on_alarm: a pacer's wake-up, a timer of a queue pair
//!   Agenda   ->  flows begin, links fail
//! ```

mod events;
mod flows;
mod frame;
mod hash_order;
mod hosting;
mod links;
mod nodes;
mod notices;
mod port;
mod slow;
mod switching;
mod watch;
mod ways;

pub use events::Order;
pub use flows::{Completion, FlowRequest, Started};
pub use frame::Frame;
pub use port::PortCounters;
pub use watch::{ControlState, NoticeTotals, Observer, Place, Sight, Totals};

use crate::fabric::{Fabric, Rules};
use crate::fast_cnp::report_room;
use crate::node::{Located, NodeSettings};
use crate::random::{Loss, Rng};
use crate::switch::{Scheduler, Switch, Wait};
use crate::topology::Network;
use crate::topology::partition::Units;
use crate::transport::{Host, feedback};
use crate::units::{Nanos, Rounding};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use events::{Events, What};
use flows::Traffic;
use notices::{HostNotices, SwitchExtras};
use slow::Held;
use frame::Frames;
use hosting::Alarms;
use links::Change;
use nodes::{HostNode, Nodes, SwitchNode};
use port::Port;

/// Where random numbers come from.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    /// First stream of ECN marks.
    pub marks: u64,
    /// Seed of PINT's draws.
    pub pint: u32,
    /// Stream of losses.
    pub losses: u64,
}

/// The longest window between two looks at the end of a run.
const LONGEST_WINDOW: Nanos = Nanos(10_000);

/// A network under way.
pub struct Engine {
    events: Events,
    frames: Frames,
    ports: Vec<Port>,
    /// First port of each node.
    first_port: Vec<u32>,
    nodes: Nodes,
    /// One for each node, or one for all.
    rngs: Vec<Rng>,
    alarms: Alarms,
    fabric: Fabric,
    /// How often routes have changed.
    version: u32,
    loses_pfc: bool,
    losses: Vec<Loss>,
    /// What starts and fails, by the number of its event.
    agenda: Vec<Item>,
    /// Flows that are to begin, by start.
    requests: VecDeque<FlowRequest>,
    started: Vec<Started>,
    completed: Vec<Completion>,
    /// Requests that could not begin.
    refused: Vec<FlowRequest>,
    /// Why the run cannot go on.
    fault: Option<String>,
    observer: Option<Box<dyn Observer>>,
    /// The newest round-trip time of each flow, if they are measured.
    rtts: Option<BTreeMap<u32, Nanos>>,
    /// Receivers to close when the window ends.
    closings: Vec<(u32, u32)>,
    window: Nanos,
    window_end: Nanos,
    is_sampled: bool,
    events_run: u64,
}

/// Something that concerns no node.
#[derive(Clone, Debug)]
enum Item {
    /// Flows come due.
    Due,
    /// A flow's application starts, which starts the flow by another event.
    Application(FlowRequest),
    Start(FlowRequest),
    Links(Change),
    /// The caller takes a sample.
    Sample,
}

/// Why a run pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time that was given has come, or nothing is left to do.
    Time,
    /// It is time for a sample.
    Sample,
    /// The run cannot go on: [`Engine::fault`] says why.
    Fault,
}

impl Engine {
    /// A network whose nodes have these settings, [resolved](NodeSettings::resolve).
    ///
    /// # Errors
    /// What of a node's settings contradicts what.
    pub fn new(
        network: &Network,
        settings: impl Fn(u32) -> Arc<NodeSettings>,
        order: Order,
        streams: Streams,
        default_loss: f64,
        borders: &[(u32, u32)],
    ) -> Result<Engine, Located> {
        let nodes: Vec<Arc<NodeSettings>> = (0..network.nodes.len() as u32).map(settings).collect();
        let kinds = distinct(&nodes);
        let hosts: Vec<&NodeSettings> = distinct(network.hosts().map(|host| &nodes[host as usize]));
        let payload = hosts.iter().map(|host| host.transport.mtu.0).max().unwrap_or(1) as u32;
        let quirks = nodes.first().map(|node| node.quirks()).unwrap_or_default();
        let window = Units::new(network).window().map_or(LONGEST_WINDOW, |window| window.min(LONGEST_WINDOW));
        let notifies = kinds.iter().any(|node| node.fast_cnp_switch.common.enabled);
        let mut rules = Rules::default();
        hosts.iter().try_for_each(|host| rules.measure_by(host))?;
        for (node, settings) in (0..).zip(&nodes) {
            rules.add(node, !network.is_host(node), settings);
        }
        if notifies {
            rules.route_to_switches();
        }
        let fabric = Fabric::new(network.clone(), rules, payload);
        let room = |node: &&NodeSettings| {
            feedback::room(&node.layout(), node.feedback.records_per_ack, !node.transport.seal.is_empty())
        };
        let mut room = kinds.iter().map(room).max().unwrap_or(0);
        if let Some(first) = nodes.first().filter(|_| notifies) {
            room = room.max(report_room(&first.layout()));
        }
        let count = nodes.len() as u32;
        let rngs = if quirks.shared_rng {
            Vec::from([Rng::seeded(1, streams.marks, streams.pint)])
        } else {
            (0..count).map(|node| Rng::of_node(1, streams.marks, streams.pint, node)).collect()
        };
        let mut engine = Engine {
            events: Events::new(order, nodes.len()),
            frames: Frames::new(room),
            ports: Vec::new(),
            first_port: Vec::new(),
            nodes: Nodes::default(),
            rngs,
            alarms: Alarms::default(),
            version: 0,
            loses_pfc: quirks.lossy_pfc,
            fabric,
            losses: Vec::new(),
            agenda: Vec::new(),
            requests: VecDeque::new(),
            started: Vec::new(),
            completed: Vec::new(),
            refused: Vec::new(),
            fault: None,
            observer: None,
            rtts: None,
            closings: Vec::new(),
            window,
            window_end: Nanos(0),
            is_sampled: false,
            events_run: 0,
        };
        for (node, settings) in nodes.iter().enumerate() {
            engine.add_node(node as u32, settings, borders)?;
        }
        engine.set_losses(streams.losses, default_loss);
        Ok(engine)
    }

    fn add_node(&mut self, node: u32, settings: &NodeSettings, borders: &[(u32, u32)]) -> Result<(), Located> {
        self.first_port.push(self.ports.len() as u32);
        let links: Vec<_> = self.fabric.links(node).collect();
        let is_switch = self.fabric.is_switch(node);
        let rates: Vec<_> = links.iter().map(|&(rate, _)| rate).collect();
        let rounding = match (settings.wire.exact_rates, settings.quirks().floored_times) {
            (true, _) => Rounding::Exact,
            (false, true) => Rounding::Floored,
            (false, false) => Rounding::Nearest,
        };
        let mut services = None;
        if is_switch {
            let config = settings.switch(&rates)?;
            let layout = settings.stamped_layout();
            services = config.classes.map(|classes| classes.services());
            let outside = self.fabric.ports(node).iter().map(|port| borders.contains(&(node, port.peer))).collect();
            let extras = SwitchExtras::new(self.fabric.network(), node, settings, &links, outside, self.fabric.max_rtt())?;
            let (rate, rtt) = (self.fabric.host_rate(), self.fabric.max_rtt());
            self.nodes.add_switch(SwitchNode {
                notes_arrival: layout.tells_arrival() || config.report.wait == Wait::Sojourn,
                leaks_on_link_down: config.quirks.leak_buffer_on_link_down,
                pauses: settings.switch.pause_micros() > 0,
                pfc_bytes: settings.wire.profile.sizes().pfc,
                sizes: settings.wire.profile.sizes(),
                extras,
                core: Switch::new(node, &config, layout, rate, rtt, &links, self.fabric.table(node)),
                drops: 0,
                marks: 0,
                learnt: 0,
                is_touched: true,
            });
        } else {
            let config = settings.host()?;
            let layout = config.layout;
            let mut core = Host::new(config, &rates, self.fabric.table(node));
            let slow = settings.receive(self.fabric.network(), node);
            if let Some(slow) = slow {
                core.receive_slowly(slow);
            }
            self.nodes.add_host(HostNode {
                layout,
                wire_port: settings.wire.profile.port(),
                ack_priority: core.transport().ack_priority,
                echoes: core.echoes(),
                seals: core.seals_answers(),
                pfc_bytes: settings.wire.profile.sizes().pfc,
                traffic: Traffic::new(settings),
                notices: HostNotices::new(self.fabric.network(), node, settings)?,
                held: if slow.is_some() { rates.iter().map(|_| Held::default()).collect() } else { Vec::new() },
                wakes: rates.iter().map(|_| None).collect(),
                core,
            });
        }
        for (number, (port, link)) in self.fabric.ports(node).iter().zip(links).enumerate() {
            let mut end = Port::new(node, number as u16, (port.peer, port.far_port), link);
            end.is_host = !is_switch;
            end.measure(settings.wire.frame_gap(), rounding);
            end.scheduler = services.map(|services| Box::new(Scheduler::new(services)));
            self.ports.push(end);
        }
        Ok(())
    }

    /// Frames are lost at random on links that have a probability of loss; the others share the default. In insertion order
    /// the ports of a link with its own, and those of all others, draw from one sequence.
    fn set_losses(&mut self, stream: u64, default_loss: f64) {
        let own: Vec<f64> = self.fabric.network().links.iter().map(|link| link.loss).collect();
        let is_canonical = self.events.order() == Order::Canonical;
        let mut shared = vec![None; own.len() + 1];
        for port in &mut self.ports {
            let link = self.fabric.ports(port.node)[usize::from(port.number)].link as usize;
            let (probability, place) = if own[link] > 0.0 { (own[link], link) } else { (default_loss, own.len()) };
            if probability <= 0.0 {
                continue;
            }
            let next = self.losses.len() as u32;
            let known = if is_canonical { next } else { *shared[place].get_or_insert(next) };
            if known == next {
                self.losses.push(if is_canonical {
                    Loss::of_port(1, stream, port.node, port.number, probability)
                } else {
                    Loss::new(1, stream, probability)
                });
            }
            port.loss = Some(known);
        }
    }

    /// The present time.
    pub fn now(&self) -> Nanos {
        self.events.now()
    }

    /// Events so far.
    pub fn events_run(&self) -> u64 {
        self.events_run
    }

    /// Frames put on links so far.
    pub fn packet_hops(&self) -> u64 {
        self.ports.iter().map(|port| port.counters.frames).sum()
    }

    /// Counts an event. In canonical order those of no node, and of time 0, are not counted: how many there are does not depend
    /// on the network alone.
    #[inline]
    fn count(&mut self, what: What) {
        let is_of_node = !matches!(what, What::Agenda(_)) && self.events.now() > Nanos(0);
        self.events_run += u64::from(self.events.order() == Order::Insertion || is_of_node);
    }

    /// Flows that have begun since the last call.
    pub fn take_started(&mut self) -> Vec<Started> {
        core::mem::take(&mut self.started)
    }

    /// Flows that could not begin, since the last call.
    pub fn take_refused(&mut self) -> Vec<FlowRequest> {
        core::mem::take(&mut self.refused)
    }

    /// Flows that are still to begin.
    pub fn waiting(&self) -> impl Iterator<Item = &FlowRequest> {
        self.requests.iter()
    }

    /// The network with its routes.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Flows that have finished since the last call.
    pub fn take_completed(&mut self) -> Vec<Completion> {
        core::mem::take(&mut self.completed)
    }

    /// Runs all events before `end`, unless something comes in between.
    pub fn run_until(&mut self, end: Nanos) -> Stop {
        while let Some(next) = self.events.next_time().filter(|&next| next < end) {
            if next >= self.window_end {
                self.end_window(next);
            }
            let limit = self.window_end.min(end);
            self.run_before(limit);
            if core::mem::take(&mut self.is_sampled) {
                return Stop::Sample;
            }
            if self.fault.is_some() {
                return Stop::Fault;
            }
        }
        Stop::Time
    }

    /// Takes a sample at a time, in the place that was [reserved](Engine::reserve_sample).
    pub fn sample_at(&mut self, at: Nanos, place: u64) {
        self.agenda.push(Item::Sample);
        self.events.add_agenda_reserved(at.0, place, self.agenda.len() as u32 - 1);
    }

    /// Reserves the place of a sample among the events of its time.
    pub fn reserve_sample(&mut self) -> u64 {
        self.events.reserve()
    }

    /// The time of the next event; `None` if there is none.
    pub fn next_time(&self) -> Option<Nanos> {
        self.events.next_time()
    }

    /// Why the run cannot go on, if it cannot.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn run_before(&mut self, limit: Nanos) {
        while !self.is_paused()
            && let Some(what) = self.events.next_before(limit)
        {
            self.count(what);
            match what {
                What::Arrival(frame) => self.arrive(frame),
                What::End(port) => {
                    self.ports[port as usize].is_busy = false;
                    self.try_send(port);
                }
                What::Alarm(alarm) => self.on_alarm(alarm),
                What::Agenda(item) => self.on_item(item),
            }
        }
    }

    #[inline]
    fn is_paused(&self) -> bool {
        self.is_sampled || self.fault.is_some()
    }

    fn end_window(&mut self, next: Nanos) {
        // The key that was freed last is used first: the order must not depend on who closes what.
        self.closings.sort_unstable();
        for (host, receiver) in core::mem::take(&mut self.closings) {
            self.close_receiver(host, receiver);
        }
        self.window_end = Nanos((next.0 / self.window.0.max(1) + 1) * self.window.0.max(1));
    }

    fn on_item(&mut self, place: u32) {
        match self.agenda[place as usize].clone() {
            Item::Due => self.on_due(),
            Item::Application(request) => self.agenda_at(self.events.now(), Item::Start(request)),
            Item::Start(request) => self.start_flow(request),
            Item::Links(change) => self.on_links(&change),
            Item::Sample => self.is_sampled = true,
        }
    }

    #[inline]
    fn rng(rngs: &mut [Rng], node: u32) -> &mut Rng {
        let place = if rngs.len() == 1 { 0 } else { node as usize };
        &mut rngs[place]
    }

    /// The place of a node's port.
    #[inline]
    fn place(&self, node: u32, port: u16) -> u32 {
        self.first_port[node as usize] + u32::from(port)
    }

    /// A frame has come to the end of its link.
    #[inline]
    fn arrive(&mut self, f: u32) {
        let frame = self.frames.get(f);
        let (node, p) = (frame.node, self.place(frame.node, frame.in_port));
        let is_pfc = frame.kind == crate::frame::PacketKind::Pfc;
        let port = &mut self.ports[p as usize];
        let may_be_lost = self.loses_pfc || !is_pfc;
        if !port.is_up || (may_be_lost && port.loss.is_some_and(|place| self.losses[place as usize].is_lost())) {
            port.counters.lost += 1;
            if !port.is_up {
                self.show(Sight::Lost, p, f);
            }
            return self.frames.release(f);
        }
        self.show(Sight::Arrival, p, f);
        if is_pfc {
            return self.on_pfc(p, f);
        }
        if self.ports[p as usize].is_host { self.receive_at_host(node, f) } else { self.receive_at_switch(node, f) }
    }

    /// The far end pauses or resumes a priority.
    #[cold]
    fn on_pfc(&mut self, p: u32, f: u32) {
        let frame = self.frames.get(f);
        let (bit, pause) = (1 << (frame.priority & 7), frame.pause);
        self.frames.release(f);
        self.show_pause(p, pause);
        let port = &mut self.ports[p as usize];
        if pause {
            port.counters.pauses += 1;
            port.paused |= bit;
            return;
        }
        port.paused &= !bit;
        self.try_send(p);
    }

    /// Whether a port sends. One that does is asked whether to wait for the end, for now something may wait for it.
    #[inline]
    fn is_busy(&mut self, p: u32) -> bool {
        let port = &self.ports[p as usize];
        if port.is_busy || self.events.has_passed(port.end_at, port.end_rank, port.node) {
            return port.is_busy;
        }
        // At time 0 no turn of a node is over yet, but a port that has never sent is idle.
        if port.end_at == 0 {
            return false;
        }
        self.await_end(p);
        true
    }

    /// The end of a transmission becomes an event if somebody waits for it.
    #[inline]
    fn await_end(&mut self, p: u32) {
        let port = &self.ports[p as usize];
        if port.waiting != 0 || !port.is_host || self.host_awaits_end(p) {
            let port = &mut self.ports[p as usize];
            port.is_busy = true;
            self.events.add_reserved(port.end_at, port.end_rank, port.node, p);
        }
    }

    /// Sends a frame if the port is idle and there is one.
    #[inline]
    fn try_send(&mut self, p: u32) {
        if !self.ports[p as usize].is_up || self.is_busy(p) {
            return;
        }
        // Busy already while the node decides: it may send a PFC frame, which must not overtake on this port.
        self.ports[p as usize].is_busy = true;
        let next =
            if self.ports[p as usize].is_host { self.next_of_host(p) } else { self.next_of_switch(p) };
        match next {
            Some(frame) => {
                self.show(Sight::Dequeue, p, frame);
                self.transmit(p, frame);
            }
            None => self.ports[p as usize].is_busy = false,
        }
    }

    /// A frame begins to leave.
    #[inline]
    fn transmit(&mut self, p: u32, f: u32) {
        self.show(Sight::Departure, p, f);
        let now = self.events.now().0;
        let port = &mut self.ports[p as usize];
        let frame = self.frames.get_mut(f);
        port.counters.frames += 1;
        port.counters.telemetry_bytes += frame.telemetry_cost();
        (frame.node, frame.in_port) = (port.peer, port.peer_port);
        port.end_at = now + port.tx_time(now, frame.size);
        // The end of the transmission comes before the arrival, as in the reference.
        port.end_rank = self.events.reserve();
        port.is_busy = false;
        let (arrives, peer, peer_port) = (port.end_at + port.delay.0, port.peer, port.peer_port);
        if port.waiting != 0 || port.is_host {
            self.await_end(p);
        }
        self.events.add_arrival(arrives, peer, peer_port, f);
    }

    #[inline]
    fn enqueue(&mut self, p: u32, f: u32, queue: u8) {
        self.ports[p as usize].enqueue(&mut self.frames, f, queue);
        self.show(Sight::Enqueue, p, f);
    }
}

/// Settings that are not the same object.
fn distinct<'a>(nodes: impl IntoIterator<Item = &'a Arc<NodeSettings>>) -> Vec<&'a NodeSettings> {
    let mut known: Vec<&'a Arc<NodeSettings>> = Vec::new();
    for node in nodes {
        if !known.iter().rev().any(|other| Arc::ptr_eq(other, node)) {
            known.push(node);
        }
    }
    known.into_iter().map(|node| &**node).collect()
}
