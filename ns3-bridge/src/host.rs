// SPDX-License-Identifier: GPL-2.0-only
//! The host.

use crate::ffi::{
    AckFrame, AckResult, DataFrame, FlowKey, HostCounters, Reply, ReplyKind, Segment, SenderParameters, TelemetryFrame,
    TelemetryReply, TimeoutResult,
};
use crate::network::Network;
use crate::settings::Settings;
use crate::switch::Rng;
use hpcc_core::cc::{FlowLimits, Origin};
use hpcc_core::frame::simulated;
use hpcc_core::switch::Section;
use hpcc_core::telemetry::Layout;
use hpcc_core::transport::feedback::Arrived;
use hpcc_core::transport::{self, Ack, Answer, Data, Poll, Probe, ReceiverSpec, SenderSpec};
use hpcc_core::units::{BitRate, Nanos};

pub struct Host {
    host: transport::Host,
    layout: Layout,
}

const NEVER: u64 = u64::MAX;
/// No packet arrived out of order.
pub const NONE: u64 = u64::MAX;
const NOTHING: Segment = Segment {
    present: false,
    priority: 0,
    sport: 0,
    dport: 0,
    src: 0,
    dst: 0,
    receiver: 0,
    queue_pair: 0,
    payload_bytes: 0,
    frame_bytes: 0,
    flow_bytes: 0,
    seq: 0,
    ack_requested: false,
    collects: false,
    armed: 0,
};

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
            ..NOTHING
        }
    }
}

impl From<Option<transport::AckResult>> for AckResult {
    fn from(result: Option<transport::AckResult>) -> Self {
        match result {
            Some(r) => AckResult { known: true, finished: r.finished, nic: r.nic as u16, armed: r.armed.0 },
            None => AckResult { known: false, finished: false, nic: 0, armed: 0 },
        }
    }
}

impl From<Option<transport::Notified>> for AckResult {
    fn from(notified: Option<transport::Notified>) -> Self {
        let result = notified.map(|n| transport::AckResult { nic: n.nic, finished: false, armed: n.armed });
        result.into()
    }
}

pub fn new_host(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Host>, String> {
    let config = settings.node.host().map_err(|wrong| wrong.to_string())?;
    let layout = config.layout;
    let rates: Vec<BitRate> = network.ports(node).iter().map(|&(rate, _)| rate).collect();
    let host = transport::Host::new(config, &rates, network.take_table(node));
    Ok(Box::new(Host { host, layout }))
}

fn key_or_error(key: Option<u32>) -> i64 {
    key.map_or(-1, i64::from)
}

pub fn update_host_routes(network: &mut Network, node: u32, target: &mut Host) {
    target.host.set_routes(network.take_rerouted(node));
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

    pub fn route(&self, key: &FlowKey, dst: u32) -> i32 {
        self.host.route(&key.into(), dst).map_or(-1, i32::from)
    }

    /// What the controller of a flow from here is given, and T as well; `None` if there is no such port.
    fn limits(&self, nic: u16, flow: &SenderParameters, network: &Network) -> Option<FlowLimits> {
        let (base_rtt, bdp, links) = network.path_limits(flow.src, flow.dst, self.host.transport().global_rtt);
        self.host.flow_limits(nic.into(), base_rtt, bdp, links)
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
        key_or_error(self.host.open_sender(Nanos(now_ns), nic.into(), spec, sender.size_bytes, limits))
    }

    pub fn open_receiver(&mut self, source: &Host, nic: u16, flow: &SenderParameters, network: &Network) -> i64 {
        let limits = source.limits(nic, flow, network);
        let echo_interval = source.host.echo_interval();
        let spec = limits.map(|limits| ReceiverSpec { src: flow.src, dst: flow.dst, limits, echo_interval });
        key_or_error(spec.and_then(|spec| self.host.open_receiver(&spec)))
    }

    pub fn close_receiver(&mut self, receiver: u32) {
        self.host.close_receiver(receiver);
    }

    pub fn poll(&mut self, nic: u16, now_ns: u64, paused: u8) -> Segment {
        let Poll::Send(segment) = self.host.poll(nic.into(), Nanos(now_ns), paused) else { return NOTHING };
        Segment {
            present: true,
            priority: segment.sender.priority,
            sport: segment.sender.sport,
            dport: segment.sender.dport,
            src: segment.sender.src,
            dst: segment.sender.dst,
            receiver: segment.sender.receiver,
            queue_pair: segment.queue_pair,
            payload_bytes: segment.payload,
            frame_bytes: segment.frame,
            flow_bytes: segment.size,
            seq: segment.seq,
            ack_requested: segment.ack_requested,
            collects: segment.collects,
            armed: segment.armed.0,
        }
    }

    pub fn wake_at(&self, nic: u16) -> u64 {
        self.host.wake_at(nic.into()).map_or(NEVER, |at| at.0)
    }

    pub fn on_wake(&mut self, nic: u16) {
        self.host.on_wake(nic.into());
    }

    pub fn on_data(&mut self, now_ns: u64, frame: &DataFrame) -> Reply {
        let &DataFrame { receiver, payload, seq, ack_requested, congestion_marked } = frame;
        let data = Data { seq, payload, ack_requested, congestion_marked };
        let Answer { reply, congestion_echo, notify } = self.host.on_data(Nanos(now_ns), receiver, &data);
        let (kind, seq, selective) = match reply {
            transport::Reply::Silence => (ReplyKind::Silence, 0, NONE),
            transport::Reply::Ack(seq) => (ReplyKind::Ack, seq, NONE),
            transport::Reply::Nack(seq) => (ReplyKind::Nack, seq, NONE),
            transport::Reply::SelectiveNack { missing, arrived } => (ReplyKind::Nack, missing, arrived),
        };
        Reply { kind, congestion_echo, seq, selective, notify }
    }

    pub fn on_ack(&mut self, now_ns: u64, ack: &AckFrame, telemetry: &[u8], rng: &mut Rng) -> AckResult {
        let &AckFrame { queue_pair, seq, nack, congestion_marked, selective } = ack;
        let selective = Some(selective).filter(|&seq| seq != NONE);
        let ack = Ack { queue_pair, seq, nack, selective, congestion_marked, telemetry };
        self.host.on_ack(Nanos(now_ns), &ack, &mut rng.0).into()
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
        let ack = Ack { queue_pair, seq, nack: false, selective: None, congestion_marked: false, telemetry };
        self.host.on_feedback(Nanos(now_ns), &ack, port, &mut rng.0).into()
    }

    pub fn on_cnp(&mut self, now_ns: u64, queue_pair: u32) -> AckResult {
        self.host.on_notification(Nanos(now_ns), queue_pair, Origin::Receiver, None).into()
    }

    pub fn notification_bytes(&self, options: u32) -> u32 {
        self.host.notification_bytes(options)
    }

    pub fn ack_priority(&self) -> u8 {
        self.host.transport().ack_priority
    }

    pub fn acks_queue_with_data(&self) -> bool {
        self.host.transport().quirks.acks_queue_with_data
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
                let probe = r.probe.as_ref().map_or(NOTHING, |probe| Segment { queue_pair, ..probe.into() });
                TimeoutResult { known: true, send: r.send, nic: r.nic as u16, armed: r.armed.0, probe }
            }
            None => TimeoutResult { known: false, send: false, nic: 0, armed: 0, probe: NOTHING },
        }
    }

    pub fn counters(&self) -> HostCounters {
        let transport::Counters { resent, timeouts, probes, feedback, rejected, rearmed, moves, cnps } =
            self.host.counters();
        HostCounters {
            resent,
            timeouts,
            probes,
            feedback,
            rejected_feedback: rejected,
            rearmed_feedback: rearmed,
            cnps,
            moves,
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
        self.layout.keep_dscp(section, simulated::dscp(priority));
        len
    }

    pub fn source_port(&self, queue_pair: u32) -> u16 {
        self.host.source_port(queue_pair).unwrap_or_default()
    }

    pub fn acked_bytes(&self, queue_pair: u32) -> u64 {
        self.host.sender(queue_pair).map_or(u64::MAX, |sender| sender.acked())
    }

    pub fn rate_bps(&self, queue_pair: u32) -> u64 {
        self.host.sender(queue_pair).map_or(0, |sender| sender.rate().0)
    }

    pub fn window_bytes(&self, queue_pair: u32) -> u64 {
        self.host.sender(queue_pair).map_or(0, |sender| sender.window())
    }
}
