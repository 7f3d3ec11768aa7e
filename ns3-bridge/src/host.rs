// SPDX-License-Identifier: GPL-2.0-only
//! The host.

use crate::network::Network;
use crate::random::Rng;
use crate::settings::{Settings, told};
use crate::switch::ffi::FlowKey;
use hpcc_core::cc::{FlowLimits, NoEffect, Steers};
use hpcc_core::simulated_frame;
use hpcc_core::switch::Section;
use hpcc_core::telemetry::Layout;
use hpcc_core::transport::feedback::Arrived;
use hpcc_core::transport::{self, Ack, AckDecision, Data, Poll, Probe, ReceiverSpec, SealedAnswer, SenderSpec};
use hpcc_core::units::{BitRate, Nanos};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// A flow to open. The receiver's key comes from `open_receiver` of the destination.
    #[derive(Clone, Copy)]
    struct SenderParameters {
        src: u32,
        dst: u32,
        sport: u16,
        dport: u16,
        priority: u8,
        receiver: u32,
        size_bytes: u64,
    }

    /// `hpcc_core::transport::Segment`; a probe is one only if `present`.
    #[derive(Clone, Copy, Default)]
    struct Segment {
        present: bool,
        priority: u8,
        sport: u16,
        dport: u16,
        src: u32,
        dst: u32,
        receiver: u32,
        queue_pair: u32,
        payload_bytes: u32,
        frame_bytes: u32,
        flow_bytes: u64,
        /// Of the message that it is part of, as `FrameRecord` has them.
        earlier_packets: u32,
        earlier_writes: u32,
        seq: u64,
        ack_requested: bool,
        collects: bool,
        /// Whether it was sent before.
        again: bool,
        /// As in `AckResult`.
        armed: u8,
    }

    /// `hpcc_core::transport::feedback::Arrived`, with where it arrived and the length of its telemetry section.
    #[derive(Clone, Copy)]
    struct TelemetryFrame {
        receiver: u32,
        nic: u16,
        telemetry_bytes: u16,
        /// Whether it gets an acknowledgement, of all bytes before `ack_seq`.
        acks: bool,
        is_probe: bool,
        ack_seq: u64,
        /// First byte that was not sent before a probe.
        probe_seq: u64,
    }

    /// What goes back for telemetry.
    #[derive(Clone, Copy)]
    struct TelemetryReply {
        /// Length of it, at the front of the section.
        telemetry_bytes: u16,
        /// Whether it takes a packet of its own, for byte `seq`.
        alone: bool,
        seq: u64,
    }

    /// What congestion control has made of a flow.
    #[derive(Clone, Copy, Debug, Default)]
    struct ControlState {
        rate_bps: u64,
        /// 0 where it is unbounded.
        window_bytes: u64,
        /// Sent and not acknowledged.
        in_flight_bytes: u64,
        /// U of the busiest link as the flow's algorithm reckons it; not a number where it does not.
        utilisation: f64,
        /// Place on the path of the link that U was last moved by, 0 for the first switch's; -1 where it is not known.
        bottleneck: i16,
        /// Whether rate or window have ever moved, or never will, for the algorithm decides nothing.
        is_steered: bool,
    }

    /// `hpcc_core::transport::Counters`.
    #[derive(Clone, Copy, Debug)]
    struct HostCounters {
        resent: u64,
        timeouts: u64,
        probes: u64,
        feedback: u64,
        rejected_by_seal: u64,
        rejected_by_guard: u64,
        baseline_resets: u64,
        cnps: u64,
        /// `hpcc_core::transport::Refused`.
        unsent_acks: u64,
        unasked_cnps: u64,
        marks_merged: u64,
        marks_heard: u64,
        unsealed_answers: u64,
        moves: u64,
        /// Frames that the NICs of slow receivers had no room for.
        receive_dropped: u64,
        /// Pauses that these NICs sent.
        receive_pauses: u64,
    }

    /// `hpcc_core::transport::receive::Arrival`.
    #[derive(Clone, Copy)]
    enum Arrival {
        Dropped,
        Held,
        /// As `Held`, and its priority must be paused now.
        HeldAndPauses,
    }

    /// `hpcc_core::transport::Data`.
    #[derive(Clone, Copy)]
    struct DataFrame {
        receiver: u32,
        payload: u32,
        seq: u64,
        ack_requested: bool,
        congestion_marked: bool,
    }

    /// `hpcc_core::transport::AckDecision`.
    #[derive(Clone, Copy)]
    struct Reply {
        kind: ReplyKind,
        congestion_echo: bool,
        seq: u64,
        /// First byte of the packet that arrived out of order; the largest value stands for none.
        selective: u64,
        /// Whether a congestion notification packet goes back besides.
        notify: bool,
    }

    /// How a receiver answers.
    #[derive(Clone, Copy)]
    enum ReplyKind {
        /// Not at all.
        Silence,
        /// Positive acknowledgement.
        Ack,
        /// Negative acknowledgement.
        Nack,
    }

    /// `hpcc_core::transport::Ack`, without the telemetry.
    #[derive(Clone, Copy)]
    struct AckFrame {
        queue_pair: u32,
        seq: u64,
        nack: bool,
        congestion_marked: bool,
        /// As in `Reply`.
        selective: u64,
        /// UDP source port of the packet that caused it.
        port: u16,
    }

    /// `hpcc_core::transport::PostResult`; there is no room for the message unless `posted`.
    #[derive(Clone, Copy, Default)]
    struct PostResult {
        posted: bool,
        nic: u16,
        /// As in `AckResult`.
        armed: u8,
        /// Sequence number of its first byte.
        start: u64,
    }

    /// `hpcc_core::transport::AckResult`; for no flow in progress unless `known`.
    #[derive(Clone, Copy, Default)]
    struct AckResult {
        known: bool,
        /// Messages that have finished.
        finished: u32,
        nic: u16,
        /// Bit n: timer n of the flow was armed; schedule an event for it at `timeout`.
        armed: u8,
    }

    /// `hpcc_core::transport::TimeoutResult`; for no flow in progress unless `known`.
    #[derive(Clone, Copy, Default)]
    struct TimeoutResult {
        known: bool,
        /// Try to send on the port.
        send: bool,
        nic: u16,
        /// As in `AckResult`.
        armed: u8,
        /// A packet without payload that leaves now, if it is present.
        probe: Segment,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/frame.rs.h");
        include!("ns3-bridge/src/network.rs.h");
        include!("ns3-bridge/src/random.rs.h");
        include!("ns3-bridge/src/settings.rs.h");
        include!("ns3-bridge/src/switch.rs.h");
        type Network = crate::network::Network;
        type Rng = crate::random::Rng;
        type Settings = crate::settings::Settings;
        type FlowKey = crate::switch::ffi::FlowKey;
        type PacketKind = crate::frame::ffi::PacketKind;
    }

    extern "Rust" {
        /// The decisions of a host.
        #[derive(ExternType)]
        type Host;
        /// Gives the host the network's present routes, and takes all flows from their ports.
        fn update_host_routes(network: &mut Network, node: u32, target: &mut Host);
        /// Gives a flow to the port that its route leads to now; returns the port, or -1.
        fn reassign(self: &mut Host, queue_pair: u32, key: &FlowKey) -> i32;
        /// Timers, as in `AckResult`, that stayed away while a flow was cut off; after [`reassign`](Host::reassign).
        fn resume_timer(self: &mut Host, now_ns: u64, queue_pair: u32) -> u8;
        /// The host of a network's node, whose settings are resolved.
        fn new_host(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Host>>;
        /// The priority in which its acknowledgements travel.
        fn ack_priority(self: &Host) -> u8;
        /// The priority of an answer to a frame of this priority.
        fn answer_priority(self: &Host, data: u8) -> u8;
        /// The priority of congestion notifications.
        fn notification_priority(self: &Host) -> u8;
        /// The port by which a flow of host `node` to `dst` begins; where failed links have cut the way, the port at
        /// the start of the run; -1 if there never was one.
        fn first_port(self: &Host, network: &Network, key: &FlowKey, node: u32, dst: u32) -> i32;
        /// The port by which a flow leaves for `dst`, or -1.
        fn route(self: &Host, key: &FlowKey, dst: u32) -> i32;
        /// Opens a flow; returns its key, or -1 if the host has no such port or no room.
        fn open_sender(self: &mut Host, now_ns: u64, nic: u16, sender: &SenderParameters, network: &Network) -> i64;
        /// Posts a message of `size` bytes on a queue pair that flows share.
        fn post(self: &mut Host, now_ns: u64, queue_pair: u32, size: u64) -> PostResult;
        /// Prepares for a flow that port `nic` of another host will send; returns its key, or -1 if the host has no room
        /// or the other one no such port.
        fn open_receiver(self: &mut Host, source: &Host, nic: u16, flow: &SenderParameters, network: &Network) -> i64;
        fn close_receiver(self: &mut Host, receiver: u32);
        /// The keys of the receivers of a host that another process simulates: each process knows which are in use.
        #[derive(ExternType)]
        type ReceiverKeys;
        fn new_receiver_keys() -> Box<ReceiverKeys>;
        /// The key that `open_receiver` returns at that process.
        fn open(self: &mut ReceiverKeys) -> i64;
        fn close(self: &mut ReceiverKeys, receiver: u32);
        /// Chooses the packet that a port may send now; bit n of `paused` stops priority n. Returns whether there is one, which
        /// `segment` is then.
        fn poll(self: &mut Host, nic: u16, now_ns: u64, paused: u8, segment: &mut Segment) -> bool;
        /// Whether a port, which begins to send a frame, has to be polled when that ends; if not, and the caller `foresees`, a
        /// wake-up may be planned.
        fn awaits_end(self: &mut Host, nic: u16, end_ns: u64, paused: u8, foresees: bool) -> bool;
        /// When to poll again though nothing else happens; the largest value stands for never.
        fn wake_at(self: &Host, nic: u16) -> u64;
        fn on_wake(self: &mut Host, nic: u16);
        /// A data packet has arrived: what goes back becomes `reply`.
        fn on_data(self: &mut Host, now_ns: u64, data: &DataFrame, reply: &mut Reply);
        fn on_ack(self: &mut Host, now_ns: u64, ack: &AckFrame, telemetry: &[u8], rng: &mut Rng) -> AckResult;
        /// Measures round-trip times of all flows from now on.
        fn measure_rtts(self: &mut Host);
        /// The round-trip time of the newest packet of the queue pair's last acknowledgement, once; 0 if there is none.
        fn take_rtt(self: &mut Host, queue_pair: u32) -> u64;
        /// Takes in feedback that came by itself, about the path of UDP source port `port`.
        fn on_feedback(
            self: &mut Host,
            now_ns: u64,
            queue_pair: u32,
            seq: u64,
            port: u16,
            telemetry: &[u8],
            rng: &mut Rng,
        ) -> AckResult;
        /// Takes in a congestion notification by the receiver of a flow.
        fn on_cnp(self: &mut Host, now_ns: u64, queue_pair: u32, tag: &[u8]) -> AckResult;
        /// Whether what goes back must be sealed.
        fn seals_answers(self: &Host) -> bool;
        /// Seals an answer of this kind, whose queue pair is the receiver's, behind `length` bytes; returns how many there are
        /// then.
        fn seal_answer(self: &Host, kind: PacketKind, answer: &AckFrame, bytes: &mut [u8], length: u16) -> u16;
        /// Bytes on the link of a congestion notification with `options` bytes of destination options.
        fn notification_bytes(self: &Host, options: u32) -> u32;
        /// Whether acknowledgements echo telemetry, and that is all; otherwise `on_telemetry` says what goes back.
        fn echoes(self: &Host) -> bool;
        /// Puts what goes back for a packet in place of its telemetry; data goes through `on_data` first.
        fn on_telemetry(self: &mut Host, now_ns: u64, frame: &TelemetryFrame, section: &mut [u8]) -> TelemetryReply;
        /// Timers of a flow that were armed when it was opened, as in `AckResult`.
        fn take_armed(self: &mut Host, queue_pair: u32) -> u8;
        /// When a timer of a flow is due; the largest value stands for never.
        fn timeout(self: &mut Host, queue_pair: u32, timer: u8) -> u64;
        /// The time of a flow's timer has come.
        fn on_timeout(self: &mut Host, now_ns: u64, queue_pair: u32, timer: u8) -> TimeoutResult;
        fn counters(self: &Host) -> HostCounters;
        /// Whether it takes what arrives slowly, so that NICs hold data and probes.
        fn receives_slowly(self: &mut Host) -> bool;
        /// A frame has arrived at a port of a slow receiver.
        fn rx_enqueue(self: &mut Host, nic: u16, priority: u8, bytes: u32) -> Arrival;
        /// The turn of a frame that a slow receiver holds has come: how long it takes for it, in ns.
        fn rx_start(self: &mut Host, now_ns: u64, nic: u16, bytes: u32) -> u64;
        /// It has taken a frame. Returns which priorities to resume: bit n stands for priority n.
        fn rx_done(self: &mut Host, nic: u16, bytes: u32) -> u8;
        /// The link of a slow receiver's port has failed: nothing is paused there any more.
        fn forget_pauses(self: &mut Host, nic: u16);
        /// Bytes on the link of an acknowledgement that carries `telemetry` bytes.
        fn ack_bytes(self: &Host, telemetry: u32, selective: u64) -> u32;
        /// Bytes on the link of telemetry of `telemetry` bytes that comes back by itself.
        fn feedback_bytes(self: &Host, telemetry: u32) -> u32;
        /// Prepares the telemetry section of a data frame that is sent now; returns its length.
        fn prepare_telemetry(self: &Host, now_ns: u64, priority: u8, section: &mut [u8]) -> usize;
        /// Address of a receiving queue pair, for fetching it into the cache; 0 where it is unknown.
        fn place_of_receiver(self: &Host, receiver: u32) -> usize;
        /// Address of a sending queue pair.
        fn place_of_sender(self: &Host, queue_pair: u32) -> usize;
        /// Address of the way to a host.
        fn place_of_route(self: &Host, dst: u32) -> usize;
        /// Address of the sending queue pair that is asked next for a packet of a port.
        fn place_of_next(self: &Host, nic: u16) -> usize;
        /// The UDP source port of a flow, 0 where it is unknown.
        fn source_port(self: &Host, queue_pair: u32) -> u16;
        /// Acknowledged bytes of a queue pair from the sequence number `start` on; all of them where it is unknown.
        fn acked_bytes(self: &Host, queue_pair: u32, start: u64) -> u64;
        /// The first byte that a queue pair has never sent; 0 where it is unknown.
        fn sent_end(self: &Host, queue_pair: u32) -> u64;
        /// What congestion control has made of a flow; all 0 where it is unknown.
        fn control_state(self: &Host, queue_pair: u32) -> ControlState;
        /// Whether a flow from here has, or had, this queue pair.
        fn knows(self: &Host, queue_pair: u32) -> bool;
    }
}

use crate::frame::NONE;
use crate::frame::ffi::PacketKind;
use ffi::{
    AckFrame, AckResult, ControlState, DataFrame, HostCounters, PostResult, Reply, ReplyKind, Segment,
    SenderParameters, TelemetryFrame, TelemetryReply, TimeoutResult,
};

pub struct Host {
    host: transport::Host,
    layout: Layout,
}

const NEVER: u64 = u64::MAX;

impl From<&Probe> for Segment {
    fn from(probe: &Probe) -> Self {
        let sender = &probe.sender;
        Segment {
            present: true,
            collects: true,
            priority: sender.priority,
            sport: sender.sport,
            dport: sender.dport,
            src: sender.src,
            dst: sender.dst,
            receiver: sender.receiver,
            frame_bytes: probe.frame,
            seq: probe.seq,
            ..Segment::default()
        }
    }
}

impl From<Option<transport::AckResult>> for AckResult {
    fn from(result: Option<transport::AckResult>) -> Self {
        let known = |r: transport::AckResult| AckResult {
            known: true,
            finished: r.finished,
            nic: r.nic as u16,
            armed: r.armed.0,
        };
        result.map(known).unwrap_or_default()
    }
}

impl From<Result<transport::Notified, NoEffect>> for AckResult {
    fn from(notified: Result<transport::Notified, NoEffect>) -> Self {
        let result = notified.ok().map(|n| transport::AckResult { nic: n.nic, finished: 0, armed: n.armed });
        result.into()
    }
}

pub fn new_host(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Host>, String> {
    let config = settings.node.host().map_err(told)?;
    let layout = config.layout.clone();
    let rates: Vec<BitRate> = network.ports(node).iter().map(|&(rate, _)| rate).collect();
    let mut host = transport::Host::new(config, &rates, network.table(node));
    if let Some(slow) = settings.node.receive(network.get(), node) {
        host.receive_slowly(&slow);
    }
    Ok(Box::new(Host { host, layout }))
}

fn key_or_error(key: Option<u32>) -> i64 {
    key.map_or(-1, i64::from)
}

pub struct ReceiverKeys(transport::ReceiverKeys);

pub fn new_receiver_keys() -> Box<ReceiverKeys> {
    Box::new(ReceiverKeys(transport::ReceiverKeys::default()))
}

impl ReceiverKeys {
    pub fn open(&mut self) -> i64 {
        key_or_error(self.0.open())
    }

    pub fn close(&mut self, receiver: u32) {
        self.0.close(receiver);
    }
}

pub fn update_host_routes(network: &mut Network, node: u32, target: &mut Host) {
    target.host.set_routes(network.table(node));
    target.host.clear_ports();
}

impl Host {
    /// The core's host.
    pub fn core(&mut self) -> &mut transport::Host {
        &mut self.host
    }

    pub fn reassign(&mut self, queue_pair: u32, key: &FlowKey) -> i32 {
        self.host.reassign(queue_pair, &key.into()).map_or(-1, i32::from)
    }

    pub fn resume_timer(&mut self, now_ns: u64, queue_pair: u32) -> u8 {
        self.host.resume_timer(Nanos(now_ns), queue_pair).0
    }

    pub fn first_port(&self, network: &Network, key: &FlowKey, node: u32, dst: u32) -> i32 {
        let port = self.host.route(&key.into(), dst);
        port.or_else(|| network.port_of_the_start(node, &key.into(), dst)).map_or(-1, i32::from)
    }

    pub fn route(&self, key: &FlowKey, dst: u32) -> i32 {
        self.host.route(&key.into(), dst).map_or(-1, i32::from)
    }

    /// What the controller of a flow from here is given, and T as well; `None` if there is no such port.
    fn limits(&self, nic: u16, flow: &SenderParameters, network: &Network) -> Option<FlowLimits> {
        let (base_rtt, bdp, links) = network.path_limits(flow.src, flow.dst, self.host.transport().global_rtt);
        self.host.flow_limits(nic.into(), BitRate(u64::MAX), base_rtt, bdp, links)
    }

    pub fn open_sender(&mut self, now_ns: u64, nic: u16, sender: &SenderParameters, network: &Network) -> i64 {
        let Some(limits) = self.limits(nic, sender, network) else { return -1 };
        let spec = SenderSpec {
            src: sender.src,
            dst: sender.dst,
            sport: sender.sport,
            dport: sender.dport,
            priority: sender.priority,
            receiver: sender.receiver,
        };
        let key = self.host.open_sender(Nanos(now_ns), nic.into(), spec, sender.size_bytes, limits);
        if let Some(key) = key.filter(|_| !network.leads(sender.src, sender.dst)) {
            self.host.cut_off(key);
        }
        key_or_error(key)
    }

    pub fn open_receiver(&mut self, source: &Host, nic: u16, flow: &SenderParameters, network: &Network) -> i64 {
        let limits = source.limits(nic, flow, network);
        let echo_interval = source.host.echo_interval();
        let is_shared = source.host.transport().shares_queue_pairs();
        let spec = limits.map(|limits| ReceiverSpec { src: flow.src, dst: flow.dst, limits, echo_interval, is_shared });
        key_or_error(spec.and_then(|spec| self.host.open_receiver(&spec)))
    }

    pub fn post(&mut self, now_ns: u64, queue_pair: u32, size: u64) -> PostResult {
        match self.host.post(Nanos(now_ns), queue_pair, size) {
            Some(r) => PostResult { posted: true, nic: r.nic as u16, armed: r.armed.0, start: r.message.start },
            None => PostResult::default(),
        }
    }

    pub fn close_receiver(&mut self, receiver: u32) {
        self.host.close_receiver(receiver);
    }

    pub fn poll(&mut self, nic: u16, now_ns: u64, paused: u8, segment: &mut Segment) -> bool {
        let Poll::Send(chosen) = self.host.poll(nic.into(), Nanos(now_ns), paused) else { return false };
        *segment = Segment {
            present: true,
            priority: chosen.sender.priority,
            sport: chosen.sender.sport,
            dport: chosen.sender.dport,
            src: chosen.sender.src,
            dst: chosen.sender.dst,
            receiver: chosen.sender.receiver,
            queue_pair: chosen.queue_pair,
            payload_bytes: chosen.payload,
            frame_bytes: chosen.frame,
            flow_bytes: chosen.message.size,
            earlier_packets: chosen.message.earlier_packets,
            earlier_writes: chosen.message.earlier_writes,
            seq: chosen.seq,
            ack_requested: chosen.ack_requested,
            collects: chosen.collects,
            again: chosen.again,
            armed: chosen.armed.0,
        };
        true
    }

    pub fn awaits_end(&mut self, nic: u16, end_ns: u64, paused: u8, foresees: bool) -> bool {
        self.host.awaits_end(nic.into(), Nanos(end_ns), paused, foresees)
    }

    pub fn wake_at(&self, nic: u16) -> u64 {
        self.host.wake_at(nic.into()).map_or(NEVER, |at| at.0)
    }

    pub fn on_wake(&mut self, nic: u16) {
        self.host.on_wake(nic.into());
    }

    pub fn on_data(&mut self, now_ns: u64, frame: &DataFrame, reply: &mut Reply) {
        let &DataFrame { receiver, payload, seq, ack_requested, congestion_marked } = frame;
        let data = Data { seq, payload, ack_requested, congestion_marked };
        let answer = self.host.on_data(Nanos(now_ns), receiver, &data);
        let AckDecision { congestion_echo, notify, .. } = answer;
        let (kind, seq, selective) = match answer.reply {
            transport::Reply::Silence => (ReplyKind::Silence, 0, NONE),
            transport::Reply::Ack(seq) => (ReplyKind::Ack, seq, NONE),
            transport::Reply::Nack(seq) => (ReplyKind::Nack, seq, NONE),
            transport::Reply::SelectiveNack { missing, arrived } => (ReplyKind::Nack, missing, arrived),
            // Switches of this module cut no packets, and its hosts send no bitmaps.
            transport::Reply::Sack { missing, .. } => (ReplyKind::Ack, missing, NONE),
            transport::Reply::TrimmedNack { missing, .. } => (ReplyKind::Nack, missing, NONE),
        };
        *reply = Reply { kind, congestion_echo, seq, selective, notify };
    }

    pub fn on_ack(&mut self, now_ns: u64, ack: &AckFrame, telemetry: &[u8], rng: &mut Rng) -> AckResult {
        let &AckFrame { queue_pair, seq, nack, congestion_marked, selective, port } = ack;
        let selective = Some(selective).filter(|&seq| seq != NONE);
        let ack =
            Ack { queue_pair, seq, nack, selective, trimmed: None, sack: None, port, congestion_marked, telemetry };
        self.host.on_ack(Nanos(now_ns), &ack, &mut rng.0).into()
    }

    pub fn measure_rtts(&mut self) {
        self.host.measure_rtts();
    }

    pub fn take_rtt(&mut self, queue_pair: u32) -> u64 {
        self.host.take_rtt(queue_pair).map_or(0, |rtt| rtt.0)
    }

    pub fn on_feedback(
        &mut self,
        now_ns: u64,
        queue_pair: u32,
        seq: u64,
        port: u16,
        telemetry: &[u8],
        rng: &mut Rng,
    ) -> AckResult {
        let ack = Ack { queue_pair, seq, port, telemetry, ..Ack::default() };
        self.host.on_feedback(Nanos(now_ns), &ack, &mut rng.0).into()
    }

    pub fn on_cnp(&mut self, now_ns: u64, queue_pair: u32, tag: &[u8]) -> AckResult {
        self.host.on_cnp(Nanos(now_ns), queue_pair, tag).into()
    }

    pub fn seals_answers(&self) -> bool {
        self.host.seals_answers()
    }

    pub fn seal_answer(&self, kind: PacketKind, answer: &AckFrame, bytes: &mut [u8], length: u16) -> u16 {
        let &AckFrame { queue_pair, seq, congestion_marked: congestion_echo, selective, .. } = answer;
        let selective = Some(selective).filter(|&seq| seq != NONE);
        let answer = SealedAnswer { kind: kind.into(), seq, congestion_echo, selective, trimmed: None };
        self.host.seal_answer(queue_pair, &answer, bytes, length.into()) as u16
    }

    pub fn notification_bytes(&self, options: u32) -> u32 {
        self.host.notification_bytes(options)
    }

    pub fn ack_priority(&self) -> u8 {
        self.host.transport().ack_priority
    }

    pub fn answer_priority(&self, data: u8) -> u8 {
        self.host.transport().answer_priority(data)
    }

    pub fn notification_priority(&self) -> u8 {
        transport::NOTIFICATION_PRIORITY
    }

    pub fn echoes(&self) -> bool {
        self.host.echoes()
    }

    pub fn on_telemetry(&mut self, now_ns: u64, frame: &TelemetryFrame, section: &mut [u8]) -> TelemetryReply {
        let &TelemetryFrame { receiver, nic, telemetry_bytes, acks, is_probe, ack_seq, probe_seq } = frame;
        let expected = self.host.expected(receiver).unwrap_or(0);
        let seq = if is_probe { probe_seq } else { expected };
        let arrived = Arrived { now: Nanos(now_ns), acks: acks.then_some(ack_seq), seq, is_probe };
        let mut section = Section { bytes: section, len: telemetry_bytes.into() };
        let alone = self.host.on_telemetry(nic.into(), receiver, &arrived, &mut section);
        TelemetryReply { telemetry_bytes: section.len as u16, alone, seq }
    }

    pub fn take_armed(&mut self, queue_pair: u32) -> u8 {
        self.host.take_armed(queue_pair).0
    }

    pub fn timeout(&mut self, queue_pair: u32, timer: u8) -> u64 {
        self.host.timeout(queue_pair, timer).map_or(NEVER, |at| at.0)
    }

    pub fn on_timeout(&mut self, now_ns: u64, queue_pair: u32, timer: u8) -> TimeoutResult {
        match self.host.on_timeout(Nanos(now_ns), queue_pair, timer) {
            Some(r) => {
                let probe = r.probe.as_ref().map(|probe| Segment { queue_pair, ..probe.into() }).unwrap_or_default();
                TimeoutResult { known: true, send: r.send, nic: r.nic as u16, armed: r.armed.0, probe }
            }
            None => TimeoutResult::default(),
        }
    }

    pub fn counters(&self) -> HostCounters {
        let core = self.host.counters();
        HostCounters {
            resent: core.resent,
            timeouts: core.timeouts,
            probes: core.probes,
            feedback: core.feedback,
            rejected_by_seal: core.rejected.by_seal,
            rejected_by_guard: core.rejected.by_guard,
            baseline_resets: core.baseline_resets,
            cnps: core.cnps,
            unsent_acks: core.refused.unsent,
            unasked_cnps: core.refused.unasked,
            marks_merged: core.marks_merged,
            marks_heard: core.marks_heard,
            unsealed_answers: core.refused.unsealed,
            moves: core.moves,
            receive_dropped: core.receive.dropped,
            receive_pauses: core.receive.pauses,
        }
    }

    pub fn feedback_bytes(&self, telemetry: u32) -> u32 {
        self.host.feedback_bytes(telemetry)
    }

    pub fn ack_bytes(&self, telemetry: u32, selective: u64) -> u32 {
        self.host.ack_bytes(telemetry, selective != NONE)
    }

    pub fn prepare_telemetry(&self, now_ns: u64, priority: u8, section: &mut [u8]) -> usize {
        let len = self.layout.prepare(section, Nanos(now_ns));
        self.layout.keep_dscp(section, simulated_frame::dscp(priority));
        len
    }

    pub fn place_of_receiver(&self, receiver: u32) -> usize {
        self.host.place_of_receiver(receiver)
    }

    pub fn place_of_sender(&self, queue_pair: u32) -> usize {
        self.host.place_of_sender(queue_pair)
    }

    pub fn place_of_route(&self, dst: u32) -> usize {
        self.host.place_of_route(dst)
    }

    pub fn place_of_next(&self, nic: u16) -> usize {
        self.host.place_of_next(nic.into())
    }

    pub fn source_port(&self, queue_pair: u32) -> u16 {
        self.host.source_port(queue_pair).unwrap_or_default()
    }

    pub fn acked_bytes(&self, queue_pair: u32, start: u64) -> u64 {
        self.host.sender(queue_pair).map_or(u64::MAX, |sender| sender.acked().saturating_sub(start))
    }

    pub fn sent_end(&self, queue_pair: u32) -> u64 {
        self.host.sender(queue_pair).map_or(0, |sender| sender.snd_max())
    }

    pub fn knows(&self, queue_pair: u32) -> bool {
        self.host.place_of_sender(queue_pair) != 0
    }

    pub fn control_state(&self, queue_pair: u32) -> ControlState {
        let Some(sender) = self.host.sender(queue_pair) else {
            return ControlState { utilisation: f64::NAN, bottleneck: -1, is_steered: true, ..ControlState::default() };
        };
        ControlState {
            rate_bps: sender.rate().0,
            window_bytes: sender.window(),
            in_flight_bytes: sender.in_flight(),
            utilisation: sender.utilisation().unwrap_or(f64::NAN),
            bottleneck: sender.bottleneck().map_or(-1, i16::from),
            is_steered: sender.is_steered() || self.host.steers() == Steers::Nothing,
        }
    }
}
