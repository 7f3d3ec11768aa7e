// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host: its ports, its sending and its receiving queue pairs.

use super::entropy::Entropies;
use super::feedback::{Arrived, Decoder, FeedbackConfig, Listener, Reporting};
use super::flow::{Ack, Counters, NicRules, PATH_TIMER, PROBE_TIMER, Probe, SenderSpec};
use super::nic::{Nic, Poll};
use super::posted::Message;
use super::queue_pair::{Acked, QueuePair};
use super::receive::{ReceiveBuffer, ReceiveConfig};
use super::receiver::{AckDecision, Data, Receiver};
use super::recovery::Sack;
use super::sender::Sender;
use super::slab::Slab;
use super::timeout::RETRANSMISSION_TIMER;
use super::{AnswerSeal, CongestionNotification, SealedAnswer, TransportConfig};
use crate::address::host_address;
use crate::cc::dcqcn::DEFAULT_NOTIFICATION_INTERVAL;
use crate::cc::{Algorithm, Armed, FlowCount, FlowLimits, LossSignal, RxHpccConfig, Steers};
use crate::frame::PacketKind;
use crate::random::Rng;
use crate::switch::{FlowKey, HOST_SEED, Section};
use crate::telemetry::{Layout, Reads};
use crate::topology::routes::RouteTable;
use crate::units::{BitRate, ExactNanos, Nanos};
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Rounds of T in which a flow must have brought data to be counted.
const COUNTED_ROUNDS: usize = 2;

/// What a receiver is told of a flow that will arrive.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverSpec {
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// What its sender's controller is given.
    pub limits: Arc<FlowLimits>,
    /// Least time between two answers that echo a congestion mark: [`Host::echo_interval`] of its sender.
    pub echo_interval: Nanos,
    /// Whether other messages may follow the first: [`TransportConfig::shares_queue_pairs`] of its sender, for such a flow.
    pub is_shared: bool,
}

/// A flow's receiving end as its host stores it.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct Inbound {
    /// What goes back of telemetry; `None`: each acknowledgement echoes it.
    reporting: Option<Box<Reporting>>,
    receiver: Receiver,
    /// Least time between two answers that echo a congestion mark.
    echo_interval: Nanos,
    /// The flow's identity for both ends.
    flow: u64,
}

/// What an acknowledgement led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckResult {
    /// The port of the flow, on which sending should be tried again.
    pub nic: usize,
    /// Messages that this acknowledgement finished: 1 if it finished a flow that has the queue pair to itself.
    pub finished: u32,
    /// Timers of the flow that were armed; none once all is finished.
    pub armed: Armed,
}

/// What became of a message that was posted on a shared queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostResult {
    /// The port of the queue pair, on which sending should be tried.
    pub nic: usize,
    /// The message.
    pub message: Message,
    /// Timers of the queue pair to schedule, in place of those that are.
    pub armed: Armed,
}

/// What a timer led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutResult {
    /// The port of the flow, whose wake-up may have moved.
    pub nic: usize,
    /// Timers of the flow that were armed.
    pub armed: Armed,
    /// Whether the flow now has something to send again: sending should be tried on the port.
    pub send: bool,
    /// A probe leaves now.
    pub probe: Option<Probe>,
}

/// What a host is given and never changes.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// How it sends and acknowledges.
    pub transport: TransportConfig,
    /// Congestion control of the flows that start here.
    pub algorithm: Box<dyn Algorithm>,
    /// How telemetry is laid out in a frame.
    pub layout: Layout,
    /// Which packets collect telemetry, and how it comes back.
    pub feedback: FeedbackConfig,
    /// Sizes of the headers of every frame.
    pub sizes: FrameSizes,
}

/// A host's transport. What leads to the flows stands first; most hosts have one port.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Host {
    pub(super) nics: SmallVec<[Nic; 1]>,
    pub(super) senders: Slab<Sender>,
    receivers: Slab<Inbound>,
    routes: RouteTable,
    /// Flows that share the last hop, where receivers count them: one for each port.
    flows: Vec<Option<FlowCount>>,
    pub(super) counters: Counters,
    /// The same object for hosts that have the same.
    pub(super) rules: Arc<NicRules>,
    algorithm: Box<dyn Algorithm>,
    /// Where telemetry is decoded.
    pub(super) decoder: Decoder,
    /// What the NICs of a slow receiver hold: one for each port, or none.
    receive: Vec<ReceiveBuffer>,
    seal: Option<AnswerSeal>,
}

impl Host {
    /// A host whose ports, counted from 0, have these rates.
    pub fn new(config: HostConfig, port_rates: &[BitRate], routes: RouteTable) -> Self {
        let HostConfig { transport, algorithm, layout, feedback, sizes } = config;
        let needs = algorithm.needs().with(&layout);
        let answer = feedback.answer_to(&needs);
        Host {
            rules: Arc::new(NicRules { transport, sizes, layout, feedback, needs, answer }),
            algorithm,
            nics: port_rates.iter().map(|&rate| Nic::new(rate, &transport)).collect(),
            routes,
            senders: Slab::default(),
            receivers: Slab::default(),
            decoder: Decoder::default(),
            flows: port_rates.iter().map(|_| None).collect(),
            counters: Counters::default(),
            receive: Vec::new(),
            seal: transport.seal.as_ref().map(AnswerSeal::new),
        }
    }

    /// Shares what both run by with a host of the same configuration, so that it stays in the caches.
    pub fn share_rules(&mut self, other: &Host) {
        self.rules = Arc::clone(&other.rules);
    }

    /// Makes it one that takes what arrives slowly.
    pub fn receive_slowly(&mut self, config: &ReceiveConfig) {
        self.receive = self.nics.iter().map(|_| ReceiveBuffer::new(config.clone())).collect();
    }

    /// What the NIC of a port holds; `None` if frames are taken as they come, or there is no such port.
    pub fn receive_buffer(&mut self, nic: usize) -> Option<&mut ReceiveBuffer> {
        self.receive.get_mut(nic)
    }

    fn limits(&self, port: BitRate, most: BitRate, base_rtt: Nanos, bdp: u64, hops: u8) -> FlowLimits {
        let line_rate = port.min(most);
        let transport = &self.rules.transport;
        let window = transport.first_window(line_rate, base_rtt, bdp);
        // What fits on the path at line rate, even if no window holds the flow to it.
        let no_window = window == 0 && !transport.faults.windowless_hpcc;
        let path_bytes = if no_window { line_rate.bytes_in(base_rtt) } else { window };
        FlowLimits {
            line_rate,
            most,
            base_rtt,
            window,
            path_bytes,
            mtu: transport.mtu,
            hops,
            some_hops: self.rules.feedback.some_hops,
            faults: transport.faults,
        }
    }

    /// What the controller of a flow by port `nic` is given, which may send at `most` at most; `base_rtt` is T, `bdp` the bandwidth-delay product of its path in
    /// bytes, `hops` the links on its path. `None` if there is no such port.
    pub fn flow_limits(
        &self,
        nic: usize,
        most: BitRate,
        base_rtt: Nanos,
        bdp: u64,
        hops: u8,
    ) -> Option<Arc<FlowLimits>> {
        let port = self.nics.get(nic)?.line_rate;
        Some(Arc::new(self.limits(port, most, base_rtt, bdp, hops)))
    }

    /// Starts a flow of `size` bytes on port `nic` with these [limits](Host::flow_limits). Returns the queue pair's key, or `None` if there is no such port or no room for another queue pair.
    pub fn open_sender(
        &mut self,
        now: Nanos,
        nic: usize,
        spec: SenderSpec,
        size: u64,
        limits: Arc<FlowLimits>,
    ) -> Option<u32> {
        self.nics.get(nic)?;
        let NicRules { transport, feedback, needs, .. } = &*self.rules;
        let controller = self.algorithm.start(Arc::clone(&limits));
        let qp = QueuePair::new(transport, size, spec.priority, Arc::clone(&limits), controller, now);
        let listener = (!feedback.is_echo(needs)).then(|| {
            let flow = flow_id(spec.src, spec.dst, spec.receiver);
            let least = self.algorithm.min_rate(limits.line_rate).filter(|_| needs.reads != Reads::Nothing);
            Box::new(Listener::new(feedback, &limits, flow, spec.sport, spec.priority, least))
        });
        let send_times = needs.rtt.then(Box::default);
        let SenderSpec { src, dst, sport, dport, .. } = spec;
        let key = FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport, dport };
        let entropies = Entropies::of(transport, key).map(Box::new);
        let (nic_of_own, seat) = (None, 0);
        let nic_number = nic as u32;
        let sender =
            Sender { qp, spec, nic: nic_number, nic_of_own, seat, opened: now, listener, send_times, entropies };
        let key = self.senders.insert(sender)?;
        let seat = self.nics.get_mut(nic)?.add(key);
        self.senders.get_mut(key)?.seat = seat;
        Some(key)
    }

    /// A queue pair of this priority will be opened when it is its turn at port `nic`, which [`Host::poll`] tells: so that one
    /// which has sent nothing takes no room. Returns whether it may wait: not where a turn depends on more than the order.
    pub fn wait_to_open(&mut self, nic: usize, priority: u8) -> bool {
        let faults = &self.rules.transport.faults;
        let keeps_order = !faults.stale_round_robin && !faults.missed_wakeups;
        let port = self.nics.get_mut(nic).filter(|_| keeps_order);
        port.map(|port| port.wait_to_open(priority)).is_some()
    }

    /// All of those that waited at a port are open.
    pub fn all_are_open(&mut self, nic: usize) {
        if let Some(port) = self.nics.get_mut(nic) {
            port.all_are_open();
        }
    }

    /// Measures round-trip times of all flows from now on, also of those whose controller does not go by them.
    pub fn measure_rtts(&mut self) {
        Arc::make_mut(&mut self.rules).needs.rtt = true;
        for sender in self.senders.iter_mut() {
            sender.send_times.get_or_insert_default();
        }
    }

    /// The round-trip time that the last acknowledgement of a queue pair told, once: of the newest packet that it
    /// acknowledged and that was sent once.
    pub fn take_rtt(&mut self, queue_pair: u32) -> Option<Nanos> {
        self.senders.get_mut(queue_pair)?.send_times.as_mut()?.take_newest()
    }

    /// A flow leaves by this port, while it leads to its destination.
    pub fn keep_to(&mut self, queue_pair: u32, nic: Option<u8>) {
        if let Some(sender) = self.senders.get_mut(queue_pair) {
            sender.nic_of_own = nic;
        }
    }

    /// Flows share a queue pair that was just opened, whatever [`TransportConfig::queue_pairs`] says of flows that are of no job.
    pub fn share(&mut self, queue_pair: u32) {
        if let Some(sender) = self.senders.get_mut(queue_pair) {
            sender.qp.share();
        }
    }

    /// A flow that has a queue pair for itself sends one more packet, and is complete with that. Returns its port and what
    /// then is its size; `None` if it is not under way.
    pub fn stop(&mut self, queue_pair: u32) -> Option<(usize, u64)> {
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_finished())?;
        Some((sender.nic(), sender.qp.stop(&self.rules.transport)))
    }

    /// A flow that was just opened has no way, for links have failed: it waits until it is [reassigned](Host::reassign) to a
    /// port.
    pub fn cut_off(&mut self, queue_pair: u32) {
        let Some(sender) = self.senders.get_mut(queue_pair) else { return };
        sender.qp.is_cut_off = true;
        if let Some(nic) = self.nics.get_mut(sender.nic()) {
            nic.remove(queue_pair);
        }
    }

    /// Posts a message of `size` bytes on a queue pair that [`Host::open_sender`] has opened. `None` if there is none with this
    /// key, flows do not share queue pairs, or its sequence numbers do not reach to the message's end.
    pub fn post(&mut self, now: Nanos, queue_pair: u32, size: u64) -> Option<PostResult> {
        let sender = self.senders.get_mut(queue_pair)?;
        let message = sender.qp.post(&self.rules.transport, now, size)?;
        let nic = sender.nic();
        if !sender.qp.is_cut_off {
            let port = self.nics.get_mut(nic)?;
            port.ask(sender.seat);
            sender.seat = port.add_again(queue_pair).unwrap_or(sender.seat);
        }
        Some(PostResult { nic, message, armed: sender.due_timers() })
    }

    /// How it sends and acknowledges.
    pub fn transport(&self) -> &TransportConfig {
        &self.rules.transport
    }

    /// What of its flows follows their congestion control.
    pub fn steers(&self) -> Steers {
        self.rules.needs.steers
    }

    /// Replaces all routes. Flows stay at their ports until they are [reassigned](Host::reassign).
    pub fn set_routes(&mut self, routes: RouteTable) {
        self.routes = routes;
    }

    /// Takes all flows from their ports; those that have finished are forgotten, but not queue pairs that flows share.
    pub fn clear_ports(&mut self) {
        for nic in &mut self.nics {
            nic.clear(&mut self.senders);
        }
    }

    /// Takes a flow from its port if its route leads to another one now, or to none, or leads somewhere again. Returns whether it
    /// does, and the flow is to be [reassigned](Host::reassign).
    pub fn leave_port(&mut self, queue_pair: u32, key: &FlowKey) -> bool {
        let Some(sender) = self.senders.get(queue_pair) else { return false };
        let present = u16::try_from(sender.nic()).ok().filter(|_| !sender.qp.is_cut_off);
        if self.port_of(key, sender.spec.dst, sender.nic_of_own) == present {
            return false;
        }
        let nic = sender.nic();
        if let Some(nic) = self.nics.get_mut(nic) {
            nic.remove(queue_pair);
        }
        true
    }

    /// Gives a flow to the port that its route leads to now; returns the port, or `None` if there is no route.
    pub fn reassign(&mut self, queue_pair: u32, key: &FlowKey) -> Option<u16> {
        let sender = self.senders.get(queue_pair)?;
        let port = self.port_of(key, sender.spec.dst, sender.nic_of_own);
        self.senders.get_mut(queue_pair)?.qp.is_cut_off = port.is_none();
        let port = port?;
        let nic = self.nics.get_mut(usize::from(port))?;
        let seat = nic.add(queue_pair);
        let sender = self.senders.get_mut(queue_pair)?;
        sender.seat = seat;
        if core::mem::replace(&mut sender.nic, port.into()) != u32::from(port) {
            sender.qp.on_port(nic.line_rate);
        }
        Some(port)
    }

    /// Arms the timer that stayed away while a flow was cut off and had nothing in flight, if there is one.
    pub fn resume_timer(&mut self, now: Nanos, queue_pair: u32) -> Armed {
        self.senders.get_mut(queue_pair).map_or(Armed(0), |sender| sender.qp.resume_timer(now))
    }

    /// The port, counted from 0, by which frames of a flow leave for host `dst`.
    #[inline]
    pub fn route(&self, key: &FlowKey, dst: u32) -> Option<u16> {
        key.choose(HOST_SEED, self.routes.next_hops(dst))
    }

    /// The same for a flow with a port of its own, while that leads there.
    pub fn port_of(&self, key: &FlowKey, dst: u32, own: Option<u8>) -> Option<u16> {
        let own = own.map(u16::from).filter(|own| self.routes.next_hops(dst).contains(own));
        own.or_else(|| self.route(key, dst))
    }

    /// Prepares for a flow that will arrive. `None` if there is no room for another queue pair.
    pub fn open_receiver(&mut self, spec: &ReceiverSpec) -> Option<u32> {
        let receiver = if spec.is_shared { Receiver::of_messages(spec.limits.mtu) } else { Receiver::default() };
        let inbound = Inbound { receiver, echo_interval: spec.echo_interval, reporting: None, flow: 0 };
        let key = self.receivers.insert(inbound)?;
        let NicRules { feedback, needs, .. } = &*self.rules;
        if let Some(inbound) = self.receivers.get_mut(key) {
            inbound.flow = flow_id(spec.src, spec.dst, key);
            let reporting = || Box::new(Reporting::new(feedback, needs, Arc::clone(&spec.limits), inbound.flow));
            inbound.reporting = (!feedback.is_echo(needs)).then(reporting);
        }
        if let Some(config @ RxHpccConfig { count_flows: true, .. }) = needs.receiver {
            self.count_flows(&config, spec.limits.base_rtt);
        }
        Some(key)
    }

    /// Each port counts its flows from now on, if it does not yet.
    fn count_flows(&mut self, config: &RxHpccConfig, base_rtt: Nanos) {
        for flows in &mut self.flows {
            flows.get_or_insert_with(|| FlowCount::new(base_rtt, COUNTED_ROUNDS, config.law.expected_flows));
        }
    }

    /// The flow of a receiving queue pair has finished. Packets that still arrive are for nobody. (In the
    /// reference they find it as it was at the start.)
    pub fn close_receiver(&mut self, receiver: u32) {
        let reporting = self.receivers.get(receiver).and_then(|inbound| inbound.reporting.as_ref());
        self.counters.baseline_resets += reporting.map_or(0, |reporting| reporting.baseline_resets());
        if !self.rules.transport.faults.nack_late_packets {
            self.receivers.remove(receiver);
            return;
        }
        if let Some(inbound) = self.receivers.get_mut(receiver) {
            *inbound = Inbound::default();
            self.receivers.retire(receiver);
        }
    }

    /// Whether congestion controls of its flows are a program's, which look at its clock.
    pub fn is_programmed(&self) -> bool {
        self.rules.needs.program
    }

    /// Whether something may call one now.
    pub fn calls_program(&self) -> bool {
        self.is_programmed() && self.senders.len() > 0
    }

    /// Whether all that goes back for data are acknowledgements.
    pub fn only_answers(&self) -> bool {
        self.echoes() && self.rules.transport.notification == CongestionNotification::Echo
    }

    /// The last message of a queue pair that flows share has finished, and no other will follow. Returns whether the queue pair is
    /// over: not if something was sent again, and may still arrive and be answered.
    pub fn let_go(&mut self, queue_pair: u32) -> bool {
        if self.counters.resent > 0 {
            return false;
        }
        let Some(sender) = self.senders.get_mut(queue_pair) else { return false };
        self.counters.baseline_resets += sender.qp.controller().baseline_resets();
        sender.qp.end_messages();
        let nic = sender.nic();
        if let Some(port) = self.nics.get_mut(nic) {
            port.let_go(&mut self.senders);
        }
        true
    }

    /// The sending queue pair under `key`, until some time after it finished.
    pub fn sender(&self, key: u32) -> Option<&QueuePair> {
        self.senders.get(key).map(|sender| &sender.qp)
    }

    /// The packet that port `nic` may send at `now`; bit n of `paused` stops priority n. Where rates are exact the port may tell the
    /// part of a nanosecond by which it was free before.
    #[inline]
    pub fn poll(&mut self, nic: usize, now: impl Into<ExactNanos>, paused: u8) -> Poll {
        let Some(port) = self.nics.get_mut(nic) else { return Poll::Wait };
        let poll = port.poll(&mut self.senders, &self.rules, now.into(), paused);
        if let Poll::Send(segment) = &poll {
            self.counters.resent += u64::from(segment.again);
        }
        poll
    }

    /// Whether port `nic`, which begins to send a frame, has to be polled when that ends, at `end`. If not, and the caller
    /// `foresees`, a [wake-up](Host::wake_at) may be planned. Bit n of `paused` stops priority n.
    #[inline]
    pub fn awaits_end(&mut self, nic: usize, end: Nanos, paused: u8, foresees: bool) -> bool {
        let port = self.nics.get_mut(nic);
        port.is_some_and(|port| port.awaits_end(&self.senders, &self.rules, end, paused, foresees))
    }

    /// Address of a receiving queue pair, for fetching it into the cache; 0 where it is unknown.
    #[inline]
    pub fn place_of_receiver(&self, receiver: u32) -> usize {
        self.receivers.address(receiver)
    }

    /// Address of a sending queue pair, likewise.
    #[inline]
    pub fn place_of_sender(&self, queue_pair: u32) -> usize {
        self.senders.address(queue_pair)
    }

    /// Address of what is looked up to find the way to host `dst`, likewise.
    #[inline]
    pub fn place_of_route(&self, dst: u32) -> usize {
        self.routes.address(dst)
    }

    /// Address of the sending queue pair whose turn is next at port `nic`, likewise.
    #[inline]
    pub fn place_of_next(&self, nic: usize) -> usize {
        self.nics.get(nic).and_then(Nic::next_in_turn).map_or(0, |key| self.senders.address(key))
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        let sending = self.senders.iter().filter(|sender| !sender.qp.is_over());
        let sending = sending.map(|sender| sender.qp.controller().baseline_resets());
        let receiving = self.receivers.iter().filter_map(|inbound| inbound.reporting.as_ref());
        let live: u64 = sending.chain(receiving.map(|reporting| reporting.baseline_resets())).sum();
        let receive = self.receive.iter().map(ReceiveBuffer::counters).sum();
        Counters { baseline_resets: self.counters.baseline_resets + live, receive, ..self.counters }
    }

    /// Whether acknowledgements echo telemetry, and that is all: [`Host::on_telemetry`] need not be asked.
    pub fn echoes(&self) -> bool {
        self.rules.feedback.is_echo(&self.rules.needs)
    }

    /// Places for queue pairs, sending and receiving, in use or not: the most that there ever were at a time.
    pub fn places(&self) -> (usize, usize) {
        (self.senders.places(), self.receivers.places())
    }

    /// Queue pairs, sending and receiving, that have a place now.
    pub fn queue_pairs(&self) -> (usize, usize) {
        (self.senders.len(), self.receivers.len())
    }

    /// Bytes on the link of an acknowledgement that carries `telemetry` bytes and, if `selective`, names a packet that
    /// arrived out of order.
    #[inline]
    pub fn ack_bytes(&self, telemetry: u32, selective: bool) -> u32 {
        let selective = if selective { FrameSizes::SELECTIVE_ACK } else { 0 };
        self.rules.sizes.ack(telemetry + selective)
    }

    /// Bytes on the link of telemetry of `telemetry` bytes that comes back by itself.
    pub fn feedback_bytes(&self, telemetry: u32) -> u32 {
        self.rules.sizes.feedback(telemetry)
    }

    /// When port `nic` wants to be polled again though nothing else happens.
    #[inline]
    pub fn wake_at(&self, nic: usize) -> Option<Nanos> {
        self.nics.get(nic).and_then(Nic::wake)
    }

    /// The time of [`Host::wake_at`] has come; the caller polls next.
    #[inline]
    pub fn on_wake(&mut self, nic: usize) {
        if let Some(port) = self.nics.get_mut(nic) {
            port.on_wake();
        }
    }

    /// The answer to a data packet.
    #[inline]
    pub fn on_data(&mut self, now: Nanos, receiver: u32, data: &Data) -> AckDecision {
        let transport = &self.rules.transport;
        let answer = match self.receivers.get_mut(receiver) {
            Some(inbound) => inbound.receiver.answer(transport, now, inbound.echo_interval, data),
            None if transport.faults.nack_late_packets => Receiver::default().answer(transport, now, Nanos(0), data),
            None => AckDecision { untold: data.congestion_marked, ..AckDecision::NONE },
        };
        self.count_answer(&answer);
        answer
    }

    /// The answer to a packet without its payload.
    pub fn on_trimmed(&mut self, now: Nanos, receiver: u32, data: &Data, at_last_hop: bool) -> AckDecision {
        self.counters.trims_heard += 1;
        let transport = &self.rules.transport;
        let answer = match self.receivers.get_mut(receiver) {
            Some(inbound) => inbound.receiver.answer_trimmed(transport, now, inbound.echo_interval, data, at_last_hop),
            None => AckDecision { untold: data.congestion_marked, ..AckDecision::NONE },
        };
        self.count_answer(&answer);
        answer
    }

    #[inline]
    fn count_answer(&mut self, answer: &AckDecision) {
        self.counters.cnps += u64::from(answer.notify);
        self.counters.marks_merged += u64::from(answer.merged);
        self.counters.marks_untold += u64::from(answer.untold);
    }

    /// Least time between two answers to packets of a flow from here that echo a congestion mark: DCQCN hears once in
    /// an interval, all others of every packet. Notification packets have an interval under any algorithm.
    pub fn echo_interval(&self) -> Nanos {
        let transport = &self.rules.transport;
        match self.rules.needs.notification_interval {
            Some(interval) if !transport.faults.notify_every_mark => interval,
            Some(_) | None => match transport.notification {
                CongestionNotification::Packet | CongestionNotification::FastCnp => DEFAULT_NOTIFICATION_INTERVAL,
                CongestionNotification::Echo => Nanos(0),
            },
        }
    }

    /// The first byte that has not arrived in order; `None` for a flow that is not known.
    pub fn expected(&self, receiver: u32) -> Option<u64> {
        self.receivers.get(receiver).map(|inbound| inbound.receiver.expected())
    }

    /// How many of the `size` bytes from `start` on have arrived at a receiving queue pair; `None` for one that is not known.
    pub fn arrived(&self, receiver: u32, start: u64, size: u64) -> Option<u64> {
        let transport = &self.rules.transport;
        self.receivers.get(receiver).map(|inbound| inbound.receiver.arrived(transport, start, size))
    }

    /// Whether all bytes from `start` to `end` have arrived at a receiving queue pair.
    pub fn has_arrived(&self, receiver: u32, start: u64, end: u64) -> bool {
        let transport = &self.rules.transport;
        self.receivers.get(receiver).is_some_and(|inbound| inbound.receiver.has_arrived(transport, start, end))
    }

    /// Puts what goes back for a packet that came by port `nic` in place of its telemetry; data packets go through
    /// [`Host::on_data`] first. Returns whether that takes a packet of its own.
    pub fn on_telemetry(&mut self, nic: usize, receiver: u32, arrived: &Arrived, section: &mut Section<'_>) -> bool {
        let reporting = self.receivers.get_mut(receiver).and_then(|inbound| inbound.reporting.as_mut());
        let Some(reporting) = reporting else {
            section.len = 0;
            return false;
        };
        let flows = self.flows.get_mut(nic).and_then(Option::as_mut);
        reporting.on_packet(&self.rules.layout, arrived, section, self.decoder.stack(), flows)
    }

    /// Whether what goes back must be [sealed](Host::seal_answer).
    pub fn seals_answers(&self) -> bool {
        self.seal.is_some()
    }

    /// Seals the answer of a receiving queue pair, which brings `len` bytes of telemetry at the front of `bytes`. Returns how
    /// many bytes there are then.
    pub fn seal_answer(&self, receiver: u32, answer: &SealedAnswer, bytes: &mut [u8], len: usize) -> usize {
        let Some(seal) = &self.seal else { return len };
        let flow = self.receivers.get(receiver).map_or(0, |inbound| inbound.flow);
        seal.seal(flow, answer, bytes, len)
    }

    /// The answer without its seal; `None`, and counted, if that is missing or another's.
    pub(super) fn opened<'a>(&mut self, kind: PacketKind, answer: &Ack<'a>) -> Option<Ack<'a>> {
        let Some(seal) = &self.seal else { return Some(*answer) };
        let SenderSpec { src, dst, receiver, .. } = self.senders.get(answer.queue_pair)?.spec;
        let &Ack { seq, congestion_marked: congestion_echo, selective, trimmed, telemetry, .. } = answer;
        let sealed = SealedAnswer { kind, seq, congestion_echo, selective, trimmed };
        let opened = seal.open(flow_id(src, dst, receiver), &sealed, telemetry);
        self.counters.refused.unsealed += u64::from(opened.is_none());
        opened.map(|telemetry| Ack { telemetry, ..*answer })
    }

    /// Takes in an acknowledgement. `None` if it is for no flow that is under way, or not sealed as it must be.
    #[inline]
    pub fn on_ack(&mut self, now: Nanos, ack: &Ack<'_>, rng: &mut Rng) -> Option<AckResult> {
        let result = if self.seal.is_none() {
            self.take_ack(now, ack, rng)
        } else {
            let opened = self.opened(if ack.nack { PacketKind::Nack } else { PacketKind::Ack }, ack);
            opened.and_then(|ack| self.take_ack(now, &ack, rng))
        };
        self.counters.marks_untold += u64::from(ack.congestion_marked && result.is_none());
        result
    }

    #[inline]
    fn take_ack(&mut self, now: Nanos, ack: &Ack<'_>, rng: &mut Rng) -> Option<AckResult> {
        let sender = self.senders.get_mut(ack.queue_pair).filter(|sender| !sender.qp.is_finished())?;
        let (transport, qp) = (&self.rules.transport, &mut sender.qp);
        let last = |sack: Sack| sack.packets(transport.mtu).next_back();
        let named = ack.selective.or(ack.trimmed.map(|trimmed| trimmed.seq)).or(ack.sack.and_then(last)).unwrap_or(0);
        if !qp.may_be_expected(transport, ack.seq.max(named)) {
            self.counters.refused.unsent += 1;
            return None;
        }
        if let Some(entropies) = &mut sender.entropies {
            entropies.on_ack(ack.port, ack.congestion_marked);
        }
        let in_flight = qp.in_flight();
        let Acked { bytes: acked, messages: finished } = qp.on_ack(transport, ack.seq);
        if transport.recovers() {
            qp.recover(transport, now, acked > 0, ack);
        } else if ack.nack {
            qp.go_back();
        }
        let signal = match ack.trimmed {
            Some(trimmed) => Some(LossSignal::Trimmed { at_last_hop: trimmed.at_last_hop }),
            None => {
                let has_gap = ack.nack || ack.sack.is_some();
                (has_gap && qp.misses_packets(transport)).then_some(LossSignal::Nack)
            }
        };
        let lost = signal.map(|signal| qp.on_loss(transport, now, in_flight, signal));
        self.counters.marks_heard += u64::from(ack.congestion_marked);
        let mut effects = sender.on_feedback(&self.rules, &mut self.decoder, &mut self.counters, now, ack, acked, rng);
        let is_finished = sender.qp.is_finished();
        if is_finished && sender.qp.is_over() {
            self.counters.baseline_resets += sender.qp.controller().baseline_resets();
        }
        if let Some(lost) = lost {
            effects = effects.and(lost);
        }
        let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
        Some(AckResult { nic: sender.nic(), finished, armed: if is_finished { Armed(0) } else { armed } })
    }

    /// Takes in feedback that came in a packet of its own, about the path of its UDP source port: of an acknowledgement,
    /// only queue pair, byte, port and telemetry. `None` if it is for no flow that is under way.
    pub fn on_feedback(&mut self, now: Nanos, feedback: &Ack<'_>, rng: &mut Rng) -> Option<AckResult> {
        let port = feedback.port;
        let feedback = &self.opened(PacketKind::Feedback, feedback)?;
        let sender = self.senders.get_mut(feedback.queue_pair).filter(|sender| !sender.qp.is_over())?;
        let (rules, decoder, counters) = (&self.rules, &mut self.decoder, &mut self.counters);
        if !sender.qp.may_be_expected(&rules.transport, feedback.seq) {
            counters.refused.unsent += 1;
            return None;
        }
        let lacks_seal =
            feedback.telemetry.is_empty() && sender.listener.as_ref().is_some_and(|listener| listener.seals_packets());
        counters.rejected.by_seal += u64::from(lacks_seal);
        if port != sender.spec.sport && sender.entropies.is_none() {
            let moves = sender.on_path_feedback(rules, decoder, counters, now, port, feedback, rng);
            counters.moves += u64::from(moves);
            let nic = if moves { self.follow_path(feedback.queue_pair)? } else { sender.nic() };
            return Some(AckResult { nic, finished: 0, armed: Armed(0) });
        }
        if rules.feedback.notification_acks {
            return self.take_ack(now, feedback, rng);
        }
        let effects = sender.on_feedback(rules, decoder, counters, now, feedback, 0, rng);
        let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
        Some(AckResult { nic: sender.nic(), finished: 0, armed })
    }

    /// Takes a flow that has another source port now to the port that frames with it leave by, and returns that.
    fn follow_path(&mut self, queue_pair: u32) -> Option<usize> {
        let sender = self.senders.get(queue_pair)?;
        let old = sender.nic();
        let new = self.port_of_spec(&sender.spec, sender.nic_of_own).unwrap_or(old);
        if old != new {
            self.nics.get_mut(old)?.remove(queue_pair);
            let nic = self.nics.get_mut(new)?;
            let seat = nic.add(queue_pair);
            let sender = self.senders.get_mut(queue_pair)?;
            (sender.nic, sender.seat) = (new as u32, seat);
            sender.qp.on_port(nic.line_rate);
        }
        Some(new)
    }

    /// The port by which frames leave that name these nodes and ports, of a flow with a port of its own or without.
    fn port_of_spec(&self, spec: &SenderSpec, own: Option<u8>) -> Option<usize> {
        let &SenderSpec { src, dst, sport, dport, .. } = spec;
        let key = FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport, dport };
        self.port_of(&key, dst, own).map(usize::from)
    }

    /// Timers of a flow that were armed when it was opened.
    pub fn take_armed(&mut self, queue_pair: u32) -> Armed {
        self.senders.get_mut(queue_pair).map_or(Armed(0), |sender| sender.qp.take_armed())
    }

    /// When a timer of a flow is due, if it is armed.
    pub fn timeout(&mut self, queue_pair: u32, timer: u8) -> Option<Nanos> {
        let sender = self.senders.get_mut(queue_pair)?;
        if timer == PROBE_TIMER || timer == PATH_TIMER {
            return sender.next_probe(timer);
        }
        sender.qp.timeout(timer)
    }

    /// The time of a flow's timer has come. `None` if the flow is not under way.
    pub fn on_timeout(&mut self, now: Nanos, queue_pair: u32, timer: u8) -> Option<TimeoutResult> {
        if timer == PROBE_TIMER || timer == PATH_TIMER {
            return self.on_probe_timer(now, timer, queue_pair);
        }
        // A program's controller looks at a clock: its timers fire while nothing is to be sent, too. Others' fire then when something is.
        let is_clocked = self.rules.needs.program && timer != RETRANSMISSION_TIMER;
        let is_done = |qp: &QueuePair| if is_clocked { qp.is_over() } else { qp.is_finished() };
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !is_done(&sender.qp))?;
        if timer == RETRANSMISSION_TIMER {
            let in_flight = sender.qp.in_flight();
            let send = sender.qp.on_retransmission_timer(&self.rules.transport, now);
            self.counters.timeouts += u64::from(send);
            if !send {
                if sender.qp.is_cut_off && in_flight == 0 {
                    sender.qp.park_timer(now);
                }
                return Some(TimeoutResult { nic: sender.nic(), armed: sender.qp.take_armed(), send, probe: None });
            }
            if let Some(entropies) = &mut sender.entropies {
                entropies.on_timeout(now);
            }
            let effects = sender.qp.on_loss(&self.rules.transport, now, in_flight, LossSignal::Timeout);
            let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
            return Some(TimeoutResult { nic: sender.nic(), armed, send, probe: None });
        }
        let effects = sender.qp.on_timer(&self.rules.transport, timer, now);
        let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
        Some(TimeoutResult { nic: sender.nic(), armed, send: false, probe: None })
    }

    fn on_probe_timer(&mut self, now: Nanos, timer: u8, queue_pair: u32) -> Option<TimeoutResult> {
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_over())?;
        let probe = sender.take_probe(&self.rules, timer, now);
        self.counters.probes += u64::from(probe.is_some());
        let armed = Armed(u8::from(sender.next_probe(timer).is_some()) << timer);
        let (nic, own) = (sender.nic(), sender.nic_of_own);
        let elsewhere = probe.as_ref().filter(|_| timer == PATH_TIMER);
        let elsewhere = elsewhere.and_then(|probe| self.port_of_spec(&probe.sender, own));
        let nic = elsewhere.unwrap_or(nic);
        Some(TimeoutResult { nic, armed, send: false, probe })
    }
}

/// A flow's identity for both of its ends: nodes, and the key of the receiving queue pair.
fn flow_id(src: u32, dst: u32, receiver: u32) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    [src, dst, receiver].iter().fold(0xcbf2_9ce4_8422_2325, |id, &part| (id ^ u64::from(part)).wrapping_mul(PRIME))
}
