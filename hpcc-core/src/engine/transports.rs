// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts whose transport is not queue pairs: the engine's end of [`Endpoint`].

use super::alarms::Duty;
use super::answering::ANSWERS;
use super::frame::{Detail, Frame};
use super::state::Engine;
use super::traffic::{Completion, FlowRequest, Started};
use crate::frame::PacketKind;
use crate::host_transport::{Endpoint, Exits, Outbox, Packet, Post, Posted, Trimmed};
use crate::ids::{FrameId, PortId};
use crate::units::Nanos;
use crate::workload::{Arrival, Message, Sent};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;

/// What the engine keeps for an endpoint.
#[derive(Debug)]
pub(super) struct Other {
    pub endpoint: Box<dyn Endpoint>,
    out: Outbox,
    /// Messages under way by key, with how they are known, and what a job knows of them.
    messages: BTreeMap<u32, (FlowRequest, Posted, Option<Sent>)>,
    /// Messages of jobs on their way here, by source and number.
    incoming: BTreeMap<(u32, u32), Arrival>,
    /// When the earliest alarm goes off that is set.
    alarm: Option<Nanos>,
    /// The port that is asked first for what it sends, the next one each time: a host that sends little uses all.
    first: u16,
}

impl Other {
    pub fn new(endpoint: Box<dyn Endpoint>) -> Other {
        let (messages, incoming) = (BTreeMap::new(), BTreeMap::new());
        Other { endpoint, out: Outbox::default(), messages, incoming, alarm: None, first: 0 }
    }

    /// The number by which its receiver knows a message under way.
    pub fn number_of(&self, key: u32) -> Option<u32> {
        self.messages.get(&key).map(|(_, posted, _)| posted.number)
    }

    /// A message will arrive, which its source knows by this number.
    pub fn expect(&mut self, number: u32, message: Arrival) {
        self.incoming.insert((message.src, number), message);
    }
}

impl Engine {
    /// A message begins.
    pub(super) fn post_to_other(&mut self, request: FlowRequest, message: Option<&Message>) {
        let now = self.events.now();
        let (src, dst) = (request.src, request.dst);
        if !self.parts.is_own(src) {
            return;
        }
        let host = self.nodes.host(src);
        let exits = self.fabric.exits(src, dst).or_else(|| {
            let key = Frame { src, dst, ..Frame::default() }.key();
            let usual = self.fabric.port_of_the_start(src, &key, dst)?;
            Some(Exits { usual, all: 1 << (usual & 63), are_apart: true })
        });
        let Some(exits) = exits else {
            return self.refuse(request, format!("host {dst} cannot be reached from host {src}"));
        };
        let (base_rtt, _, _) = self.fabric.path_limits(src, dst, host.traffic.global_rtt);
        let FlowRequest { dport, priority, size, .. } = request;
        let post = Post { dst, dport, priority, size, exits, base_rtt };
        let Some(other) = &mut host.other else { return };
        let Some(known) = other.endpoint.post(now, &post) else {
            return self.refuse(request, format!("host {src} has no room for another message"));
        };
        other.messages.insert(known.key, (request, known, message.map(Message::sent)));
        self.note_start(Started { request, sport: known.sport, queue_pair: known.key, first_seq: 0 });
        if let Some(message) = message {
            self.announce((known.number, request.size), message);
        }
        self.settle(src);
    }

    /// The data that a port sends next.
    pub(super) fn next_of_other(&mut self, p: PortId) -> Option<FrameId> {
        let now = self.events.now();
        let port = &self.all.ports[p];
        let (node, number, paused) = (port.node, port.number, port.paused);
        let other = self.nodes.host(node).other.as_mut()?;
        let packet = other.endpoint.next(now, number, paused);
        self.set_transport_alarm(node);
        packet.map(|packet| self.frame_of_packet(node, &packet))
    }

    fn frame_of_packet(&mut self, node: u32, packet: &Packet) -> FrameId {
        let f = self.all.frames.take();
        let kind = if packet.is_data { PacketKind::Data } else { PacketKind::Ack };
        *self.all.frames.get_mut(f) = Frame {
            kind,
            src: node,
            dst: packet.peer,
            queue_pair: packet.connection,
            reply_queue_pair: packet.reply_to,
            sport: packet.sport,
            dport: packet.dport,
            priority: packet.priority,
            seq: packet.seq,
            payload: packet.payload,
            size: packet.size + u32::from(packet.telemetry),
            telemetry_len: packet.telemetry,
            congestion_echo: packet.marked,
            flow_bytes: packet.message,
            ..Frame::default()
        };
        *self.all.frames.header(f) = packet.header;
        f
    }

    /// A frame has come to its host.
    pub(super) fn take_in_other(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let header = *self.all.frames.header(f);
        let frame = self.all.frames.get(f);
        let packet = Packet {
            is_data: matches!(frame.kind, PacketKind::Data | PacketKind::Trimmed),
            peer: frame.src,
            connection: frame.queue_pair,
            reply_to: frame.reply_queue_pair,
            sport: frame.sport,
            dport: frame.dport,
            priority: frame.priority,
            seq: frame.seq,
            payload: frame.payload,
            size: frame.size - u32::from(frame.telemetry_len),
            telemetry: frame.telemetry_len,
            message: frame.flow_bytes,
            marked: frame.congestion_marked,
            trimmed: trimmed_of(frame.detail),
            header,
        };
        self.all.frames.release(f);
        if let Some(other) = &mut self.nodes.host(node).other {
            other.endpoint.receive(now, &packet, &mut other.out);
        }
        self.settle(node);
    }

    /// The time has come that an endpoint asked for.
    pub(super) fn on_transport_timer(&mut self, node: u32) {
        let now = self.events.now();
        if let Some(other) = &mut self.nodes.host(node).other {
            other.alarm = other.alarm.filter(|&at| at > now);
            other.endpoint.on_timeout(now, &mut other.out);
        }
        self.settle(node);
    }

    /// Does what an endpoint has decided, and lets its ports send.
    fn settle(&mut self, node: u32) {
        let Some(other) = &mut self.nodes.host(node).other else { return };
        let mut out = core::mem::take(&mut other.out);
        for packet in out.packets.drain(..) {
            let f = self.frame_of_packet(node, &packet);
            let key = self.all.frames.get(f).key();
            let port = self.nodes.host(node).core.route(&key, packet.peer);
            let Some(port) = port else {
                self.all.frames.release(f);
                continue;
            };
            let p = self.port_id(node, port);
            self.enqueue(p, f, ANSWERS);
            self.try_send(p);
        }
        for from in out.arrived.drain(..) {
            let other = self.nodes.host(node).other.as_mut();
            if let Some(message) = other.and_then(|other| other.incoming.remove(&from)) {
                self.message_arrived(&message);
            }
        }
        for key in out.finished.drain(..) {
            self.finish_message(node, key);
        }
        if let Some(other) = &mut self.nodes.host(node).other {
            // What it has decided meanwhile was done by a call within this one.
            other.out = out;
        }
        let ports = self.fabric.ports(node).len() as u16;
        let first = self.next_first(node, ports);
        for port in (first..ports).chain(0..first) {
            let has_next = self.nodes.host(node).other.as_ref().is_some_and(|other| other.endpoint.has_next(port));
            if has_next {
                let p = self.port_id(node, port);
                self.try_send(p);
            }
        }
        self.set_transport_alarm(node);
    }

    /// The port that is asked first, of so many; another one the next time.
    fn next_first(&mut self, node: u32, ports: u16) -> u16 {
        let Some(other) = &mut self.nodes.host(node).other else { return 0 };
        let first = other.first;
        other.first = if first + 1 < ports { first + 1 } else { 0 };
        first.min(ports.saturating_sub(1))
    }

    /// Routes have changed: messages leave by the ports that lead to their destinations now.
    pub(super) fn reroute_other(&mut self, node: u32) {
        let fabric = Arc::clone(&self.fabric);
        let Some(other) = &mut self.nodes.host(node).other else { return };
        other.endpoint.reroute(&|dst| fabric.exits(node, dst));
        self.settle(node);
    }

    /// A message is acknowledged whole.
    fn finish_message(&mut self, node: u32, key: u32) {
        let now = self.events.now();
        let Some(other) = &mut self.nodes.host(node).other else { return };
        let Some((request, Posted { sport, .. }, message)) = other.messages.remove(&key) else { return };
        let completion = Completion { request, sport, duration: now - request.start, is_steered: true };
        self.complete(completion, message.is_none());
        if let Some(message) = message {
            self.message_sent(&message);
        }
    }

    /// Sets an alarm for an endpoint, unless an earlier one is set.
    fn set_transport_alarm(&mut self, node: u32) {
        let Some(other) = &mut self.nodes.host(node).other else { return };
        let Some(at) = other.endpoint.poll_timeout() else { return };
        if other.alarm.is_none_or(|alarm| at < alarm) {
            other.alarm = Some(at);
            self.schedule(node, Duty::Transport, at);
        }
    }
}

/// Where the payload of a packet was cut, if it was.
fn trimmed_of(detail: Detail) -> Option<Trimmed> {
    let Detail::Trimmed { at_last_hop } = detail else { return None };
    Some(if at_last_hop { Trimmed::LastHop } else { Trimmed::Within })
}
