// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network under way as others see it.

use super::frame::Frame;
use super::nodes::HostNode;
use super::observer::{ControlState, Event, NoticeTotals, Observer, Place, Sight, SwitchCounts, Totals};
use super::run::Stop;
use super::state::Engine;
use super::traffic::{FlowRequest, LISTED, PairKey, Started, WAITING};
use crate::cc::Steers;
use crate::fast_cnp::{Crossing, Refusal, Suppression};
use crate::frame::PacketKind;
use crate::host_transport::Progress;
use crate::ids::{FrameId, PortId, Table};
use crate::transport::{Counters, Host, QueuePair};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Who watches, and what for.
#[derive(Default)]
pub(super) struct Watchers {
    pub observer: Option<Box<dyn Observer>>,
    /// The observer hears of pauses from those who send them.
    pub tells_holds: bool,
    /// Somebody has sent a pause.
    pub has_held: bool,
    pub sampled: Sampled,
}

/// What waited at switches when the last sample was taken.
#[derive(Default)]
pub(super) struct Sampled {
    /// Those that have changed.
    pub switches: Vec<u32>,
    /// Those that may have changed when the next is taken.
    pub touched: Vec<u32>,
    /// Bytes, by the place of the port.
    pub queues: Table<PortId, u32>,
}

impl Engine {
    /// Calls an observer from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.watchers.observer = Some(observer);
    }

    /// Shows the observer the frames of a node from now on.
    pub fn watch(&mut self, node: u32) {
        self.checks_arrivals = true;
        for port in self.all.ports.iter_mut().filter(|port| port.node == node) {
            port.is_watched = true;
        }
    }

    /// A port, and the queue of the frame there if it has one.
    fn place_of(&self, p: PortId, queued: Option<&Frame>) -> Place {
        let port = &self.all.ports[p];
        let queue = queued.map_or(0, |frame| {
            let is_answer = !frame.collects();
            let is_first = frame.kind == PacketKind::Pfc || (port.is_host && is_answer);
            if is_first { 0 } else { frame.priority }
        });
        let queued = if port.is_watched { port.queued_of(&self.all.frames, queue) } else { 0 };
        Place { now: self.events.now(), node: port.node, is_switch: !port.is_host, port: port.number, queue, queued }
    }

    /// Measures round-trip times of all flows. Somebody looks at queue pairs: those of jobs are opened at once, and stay.
    pub fn measure_rtts(&mut self) {
        self.flows.keeps_queue_pairs = true;
        self.nodes.hosts.iter_mut().for_each(|host| host.core.measure_rtts());
        self.flows.rtts = Some(BTreeMap::new());
    }

    /// The newest round-trip time of a flow under way, if they are [measured](Engine::measure_rtts).
    pub fn rtt(&self, flow: u32) -> Option<Nanos> {
        self.flows.rtts.as_ref()?.get(&flow).copied()
    }

    /// An acknowledgement has told a round-trip time, or not.
    #[cold]
    pub(super) fn note_rtt(&mut self, node: u32, queue_pair: u32) {
        let host = self.nodes.host(node);
        let found = host.core.take_rtt(queue_pair).zip(host.traffic.first(queue_pair));
        if let (Some((rtt, flow)), Some(rtts)) = (found, &mut self.flows.rtts) {
            rtts.insert(flow, rtt);
            self.tell(node, 0, Event::Rtt(queue_pair, rtt), None);
        }
    }

    /// A program that takes turns with the engine has its turn after this event.
    #[inline]
    pub(super) fn tell_program(&mut self) {
        if self.program.is_served {
            self.pause.get_or_insert(Stop::Completion);
        }
    }

    pub(super) fn show_pause(&mut self, p: PortId, priority: u8, pause: bool) {
        let place = self.place_of(p, None);
        self.tell_program();
        if let Some(observer) = &mut self.watchers.observer {
            observer.on_pause(&place, priority, pause);
        }
    }

    /// Tells of something at a node that is watched, which has to do with a frame or not.
    pub(super) fn tell(&mut self, node: u32, port: u16, event: Event, f: Option<FrameId>) {
        if self.nodes.seat(node).is_watched {
            self.tell_always(node, port, event, f);
        }
    }

    /// The same of a node that is not watched.
    pub(super) fn tell_always(&mut self, node: u32, port: u16, event: Event, f: Option<FrameId>) {
        self.tell_program();
        let place = self.place_of(self.port_id(node, port), None);
        let frame = f.map(|f| (self.all.frames.get(f), self.all.frames.section(f)));
        if let Some(observer) = &mut self.watchers.observer {
            observer.on_event(&event, &place, frame);
        }
    }

    /// The congestion control of a queue pair has heard something.
    #[cold]
    pub(super) fn tell_control(&mut self, node: u32, queue_pair: u32) {
        let state = self.control(node, queue_pair);
        self.tell(node, 0, Event::Control(queue_pair, state), None);
    }

    #[inline]
    pub(super) fn show(&mut self, sight: Sight, p: PortId, f: FrameId) {
        if self.all.ports[p].is_watched {
            self.show_frame(sight, p, f);
        }
    }

    #[cold]
    fn show_frame(&mut self, sight: Sight, p: PortId, f: FrameId) {
        let has_queue = matches!(sight, Sight::Enqueue | Sight::Dequeue | Sight::LinkDrop);
        let place = self.place_of(p, Some(self.all.frames.get(f)).filter(|_| has_queue));
        self.tell_program();
        if let Some(observer) = &mut self.watchers.observer {
            observer.on_frame(sight, &place, f, self.all.frames.get(f), self.all.frames.section(f));
        }
    }

    /// A switch drops a frame that came in by one of its ports; `count` says what that is counted as.
    #[cold]
    pub(super) fn drop_at_switch(&mut self, node: u32, f: FrameId, count: fn(&mut SwitchCounts) -> &mut u64) {
        *count(&mut self.nodes.switch(node).counts) += 1;
        self.totals.lose(self.all.frames.get(f));
        let first = self.port_id(node, 0);
        self.show(Sight::Drop, first, f);
        self.give_back(node, f);
        self.all.frames.release(f);
    }

    /// The same of one whose destination cannot be reached, for links have failed.
    #[cold]
    pub(super) fn drop_without_route(&mut self, node: u32, f: FrameId) {
        self.totals.failed_link_drops += 1;
        self.drop_at_switch(node, f, |counts| &mut counts.unroutable);
    }

    /// It is time for a sample: notes what waits at switches. Those that have had no frames since the last one, and had nothing
    /// queued then, have nothing now.
    pub(super) fn sample_queues(&mut self) {
        self.pause = Some(Stop::Sample);
        if self.skips() && self.replay_sample() {
            return;
        }
        let Engine { watchers: Watchers { sampled, .. }, nodes, first_port, .. } = self;
        let Sampled { switches, touched, queues } = sampled;
        switches.clear();
        touched.retain(|&node| {
            let core = &nodes.switch(node).core;
            let (mut all, mut changes) = (0, 0);
            for (port, known) in (0..core.ports()).zip(queues.behind_mut(first_port[node as usize])) {
                let queue = core.queued(port);
                (all, changes) = (all | queue, changes | (queue ^ *known));
                *known = queue;
            }
            if changes != 0 {
                switches.push(node);
            }
            nodes.seat(node).is_touched = all > 0;
            all > 0
        });
    }

    /// A switch will have something to say in the next sample.
    #[inline]
    pub(super) fn touch(&mut self, node: u32) {
        if !core::mem::replace(&mut self.nodes.seat(node).is_touched, true) {
            self.watchers.sampled.touched.push(node);
        }
    }

    /// The switches whose queues are not as in the sample before.
    pub fn sampled_switches(&self) -> &[u32] {
        &self.watchers.sampled.switches
    }

    /// Bytes that waited at a switch's ports when the last sample was taken, as the switch accounts for them.
    pub fn sampled_queues(&self, node: u32) -> &[u32] {
        &self.watchers.sampled.queues.behind(self.first_port[node as usize])[..self.fabric.ports(node).len()]
    }

    /// Bytes of the frames that have begun to leave by a port, without preamble and gap.
    pub fn sent(&self, node: u32, port: u16) -> u64 {
        let of_host = || self.all.ports[self.port_id(node, port)].sent;
        self.nodes.as_switch(node).map_or_else(of_host, |switch| switch.core.sent(port))
    }

    /// Frames that came to a port with errors, and went no further.
    pub fn errors(&self, node: u32, port: u16) -> u64 {
        self.all.ports[self.port_id(node, port)].errors
    }

    fn sender(&self, src: u32, queue_pair: u32) -> Option<(&Host, &QueuePair)> {
        let host = &self.nodes.as_host(src)?.core;
        host.sender(queue_pair).map(|sender| (host, sender))
    }

    /// How many queue pairs a host has, sending and receiving; a switch has none.
    pub fn queue_pairs(&self, host: u32) -> (usize, usize) {
        self.nodes.as_host(host).map_or((0, 0), |host| host.core.queue_pairs())
    }

    /// The queue pair of a flow that has begun; `None` if it waits to be opened, or is over.
    fn queue_pair_of(&self, flow: &Started) -> Option<u32> {
        let FlowRequest { id, src, .. } = flow.request;
        let key = || PairKey::of(&flow.request, self.work.jobs.job_of(id).unwrap_or(LISTED));
        let shared = || self.nodes.as_host(src)?.traffic.shareable.get(&key()).copied();
        if flow.queue_pair == WAITING { shared() } else { Some(flow.queue_pair) }
    }

    /// What congestion control has made of a flow that has begun.
    pub fn control_of(&self, flow: &Started) -> ControlState {
        self.control(flow.request.src, self.queue_pair_of(flow).unwrap_or(WAITING))
    }

    /// Acknowledged bytes of a flow that has begun; if somebody has forged its last acknowledgement, those that have arrived.
    pub fn acked_of(&self, flow: &Started) -> u64 {
        if let Some(receiver) = self.receiver_of_deceived(flow.request.id) {
            return self.arrived_of(flow, receiver).unwrap_or(0);
        }
        let queue_pair = self.queue_pair_of(flow);
        queue_pair.map_or(0, |queue_pair| self.acked(flow.request.src, queue_pair, flow.first_seq))
    }

    /// The number by which its receiver knows a flow that has begun and not finished; the engine of its source tells it.
    pub fn receiver_of(&self, flow: &Started) -> Option<u32> {
        let host = self.nodes.as_host(flow.request.src)?;
        match &host.other {
            Some(other) => other.number_of(flow.queue_pair),
            None => {
                let of_deceived = self.receiver_of_deceived(flow.request.id);
                of_deceived.or_else(|| host.traffic.receiver_of(self.queue_pair_of(flow)?))
            }
        }
    }

    /// Bytes of a flow that have arrived, each counted once; `receiver`: of [`Engine::receiver_of`]. The engine of its destination
    /// tells it; `None` where a transport does not.
    pub fn arrived_of(&self, flow: &Started, receiver: u32) -> Option<u64> {
        let FlowRequest { src, dst, size, .. } = flow.request;
        let host = self.nodes.as_host(dst)?;
        match &host.other {
            Some(other) => other.endpoint.arrived(src, receiver).map(|bytes| bytes.min(size)),
            None => host.core.arrived(receiver, flow.first_seq, size),
        }
    }

    /// Acknowledged bytes of a flow whose first byte has this number on its queue pair.
    pub fn acked(&self, src: u32, queue_pair: u32, first_seq: u64) -> u64 {
        if let Some(other) = self.nodes.as_host(src).and_then(|host| host.other.as_ref()) {
            return other.endpoint.progress(queue_pair).map_or(u64::MAX, |progress| progress.acked);
        }
        self.sender(src, queue_pair).map_or(u64::MAX, |(_, sender)| sender.acked().saturating_sub(first_seq))
    }

    /// What congestion control has made of a flow.
    pub fn control(&self, src: u32, queue_pair: u32) -> ControlState {
        if let Some(host) = self.nodes.as_host(src)
            && let Some(other) = &host.other
        {
            let Progress { window, in_flight, rate, .. } = other.endpoint.progress(queue_pair).unwrap_or_default();
            let rate = rate.unwrap_or_else(|| self.all.ports[self.port_id(src, 0)].rate);
            return ControlState { rate, window, in_flight, is_steered: true, ..ControlState::default() };
        }
        let Some((host, sender)) = self.sender(src, queue_pair) else {
            return ControlState { is_steered: true, ..ControlState::default() };
        };
        ControlState {
            rate: sender.rate(),
            window: sender.window(),
            in_flight: sender.in_flight(),
            utilisation: sender.utilisation(),
            bottleneck: sender.bottleneck(),
            is_steered: sender.is_steered() || host.steers() == Steers::Nothing,
        }
    }

    /// What the hosts that run here did, each by itself.
    pub fn host_counters(&self) -> impl Iterator<Item = Counters> + '_ {
        let hosts = (0..self.first_port.len() as u32).filter(|&node| self.parts.is_own(node));
        hosts.filter_map(|node| self.nodes.as_host(node)).map(HostNode::counters)
    }

    /// What all nodes did.
    pub fn totals(&self) -> Totals {
        let mut totals = self.totals;
        for switch in &self.nodes.switches {
            totals.drops += switch.counts.drops();
            totals.marks += switch.counts.marks;
        }
        totals
    }

    /// What a switch dropped and marked; nothing of a host.
    pub fn switch_counts(&self, node: u32) -> SwitchCounts {
        self.nodes.as_switch(node).map(|switch| switch.counts).unwrap_or_default()
    }

    /// What a host did; nothing of a switch.
    pub fn counters(&self, node: u32) -> Counters {
        self.nodes.as_host(node).map(HostNode::counters).unwrap_or_default()
    }

    /// What agents of Fast CNP did.
    pub fn notice_totals(&self) -> NoticeTotals {
        (0..self.first_port.len() as u32).map(|node| self.notices_of(node)).sum()
    }

    /// What a node did about Fast CNP.
    pub fn notices_of(&self, node: u32) -> NoticeTotals {
        let mut totals = NoticeTotals::default();
        if let Some(switch) = self.nodes.as_switch(node) {
            totals.learnt += switch.learnt;
            let Some((agent, border)) = switch.extras.as_ref().and_then(|extras| extras.agents()) else {
                return totals;
            };
            totals.sent += agent.sent();
            totals.unmarked += agent.unmarked();
            totals.unasked += agent.unasked();
            totals.forgotten += agent.forgotten();
            for (sum, &(_, why)) in totals.withheld.iter_mut().zip(&Suppression::WITHHELD) {
                *sum += agent.suppressed(why);
            }
            totals.dropped_inbound += border.dropped(Crossing::Inbound);
            totals.dropped_outbound += border.dropped(Crossing::Outbound);
        }
        if let Some(agent) = self.nodes.as_host(node).map(|host| &host.notices.agent) {
            totals.accepted += agent.accepted();
            totals.migrations += agent.moved();
            totals.reports += agent.reported();
            for (sum, count) in totals.without_effect.iter_mut().zip(agent.without_effect()) {
                *sum += count;
            }
            for (sum, &(_, why)) in totals.refused.iter_mut().zip(&Refusal::NAMES) {
                *sum += agent.acceptor().refused(why);
            }
        }
        totals
    }
}
