// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host sends: data and probes of its queue pairs, when their pacers and timers say so.

use super::alarms::Duty;
use super::events::{EventKind, Order};
use super::frame::Frame;
use super::observer::Event;
use super::state::Engine;
use crate::cc::Armed;
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::simulated_frame::dscp;
use crate::transport::{Poll, Probe, RETRANSMISSION_TIMER, Segment, SenderSpec};
use crate::units::Nanos;

impl Engine {
    /// The frame that a port sends next: answers first, unless the priority that carries them is paused: acknowledgements, then
    /// CNPs with a class of their own.
    #[inline]
    pub(super) fn next_of_host(&mut self, p: PortId) -> Option<FrameId> {
        let port = &mut self.all.ports[p];
        let (node, number, paused) = (port.node, port.number, port.paused);
        let host = self.nodes.host(node);
        if let Some(pfc) = host.next_pfc(number) {
            return Some(pfc);
        }
        if port.waiting != 0 && host.is_shared {
            return self.next_of_shared(p);
        }
        if port.waiting != 0
            && let Some(answer) = port.dequeue_of(host.open_queues(paused), &self.all.frames)
        {
            return Some(answer);
        }
        self.next_of_flows(p)
    }

    /// The data that a port sends next.
    #[inline]
    pub(super) fn next_of_flows(&mut self, p: PortId) -> Option<FrameId> {
        let now = self.events.now();
        let port = &self.all.ports[p];
        let (node, number, paused, begins) = (port.node, port.number, port.paused, port.begins(now));
        if self.nodes.host(node).other.is_some() {
            return self.next_of_other(p);
        }
        let segment = loop {
            match self.nodes.host(node).core.poll(number.into(), begins, paused) {
                Poll::Send(segment) => break segment,
                Poll::Wait => {
                    self.update_wake(p);
                    return None;
                }
                Poll::Open => _ = self.open_next(node, number),
            }
        };
        if segment.armed != Armed(0) {
            self.schedule_timers(node, segment.queue_pair, segment.armed);
        }
        if segment.again {
            self.tell(node, number, Event::Resend(segment.queue_pair, segment.seq), None);
        }
        Some(self.make_data(p, node, &segment))
    }

    /// Whether a port that begins to send has to be asked again when that ends.
    #[inline]
    pub(super) fn host_awaits_end(&mut self, p: PortId) -> bool {
        let foresees = self.events.order() == Order::Canonical;
        let port = &self.all.ports[p];
        let host = self.nodes.host(port.node);
        if host.held.get(usize::from(port.number)).is_some_and(|held| !held.pfcs.is_empty()) {
            return true;
        }
        if let Some(other) = &host.other {
            return other.endpoint.has_next(port.number);
        }
        let awaits = host.core.awaits_end(port.number.into(), Nanos(port.end_at), port.paused, foresees);
        if foresees && !awaits {
            self.update_wake(p);
        }
        awaits
    }

    #[inline]
    fn make_data(&mut self, p: PortId, node: u32, segment: &Segment) -> FrameId {
        let f = self.all.frames.take();
        *self.all.frames.get_mut(f) = Frame {
            kind: PacketKind::Data,
            size: segment.frame,
            payload: segment.payload,
            seq: segment.seq,
            ack_requested: segment.ack_requested,
            flow_bytes: segment.message.size,
            earlier_packets: segment.message.earlier_packets,
            earlier_writes: segment.message.earlier_writes,
            ..frame_of(&segment.sender, segment.queue_pair)
        };
        self.address(node, f, segment.collects);
        if segment.label != 0 {
            self.label(node, f, segment.label);
        }
        self.route_data(p, node, f);
        f
    }

    fn make_probe(&mut self, node: u32, queue_pair: u32, probe: &Probe) -> FrameId {
        let f = self.all.frames.take();
        let envelope = frame_of(&probe.sender, queue_pair);
        *self.all.frames.get_mut(f) = Frame { kind: PacketKind::Probe, size: probe.frame, seq: probe.seq, ..envelope };
        self.address(node, f, true);
        f
    }

    /// Gives a frame that begins here the protocol's port, and an empty telemetry section if it collects.
    #[inline]
    fn address(&mut self, node: u32, f: FrameId, collects: bool) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        let (frame, section) = self.all.frames.with_section(f);
        frame.dport = host.wire_port.unwrap_or(frame.dport);
        if collects {
            frame.telemetry_len = host.layout.prepare(section, now) as u16;
            host.layout.keep_dscp(section, dscp(frame.priority));
        }
    }

    #[cold]
    fn label(&mut self, node: u32, f: FrameId, label: u8) {
        let host = self.nodes.host(node);
        let (frame, section) = self.all.frames.with_section(f);
        host.layout.label(&mut section[..usize::from(frame.telemetry_len)], label);
    }

    /// A port's pacer has moved its wake-up, or not.
    #[inline]
    pub(super) fn update_wake(&mut self, p: PortId) {
        let port = &self.all.ports[p];
        let (node, number) = (port.node, port.number);
        let Some(Nanos(at)) = self.nodes.host(node).core.wake_at(number.into()) else { return };
        let pending = port.wake_at;
        let at = at.max(self.events.now().0);
        if pending == at {
            return;
        }
        if pending < self.events.end() && self.groups.running == self.groups.of(node) {
            self.events.remove(pending, EventKind::Wake(p));
        }
        let rank = self.events.reserve();
        let port = &mut self.all.ports[p];
        (port.wake_at, port.wake_rank) = (at, rank);
        self.add(at, node, EventKind::Wake(p));
    }

    /// The pacer of a port wakes up.
    pub(super) fn on_wake(&mut self, p: PortId) {
        let port = &mut self.all.ports[p];
        port.wake_at = u64::MAX;
        let (node, number) = (port.node, port.number);
        self.nodes.host(node).core.on_wake(number.into());
        self.try_send(p);
    }

    /// Schedules those timers of a queue pair that were armed, in place of what they were.
    pub(super) fn schedule_timers(&mut self, node: u32, queue_pair: u32, armed: Armed) {
        for timer in (0..u8::BITS as u8).filter(|timer| armed.0 >> timer & 1 != 0) {
            let host = self.nodes.host(node);
            let Some(pending) = host.traffic.timer(queue_pair, timer) else { continue };
            if let Some(pending) = pending.take() {
                self.all.alarms.call_off(pending);
            }
            let at = host.core.timeout(queue_pair, timer).unwrap_or(Nanos(i64::MAX as u64));
            let alarm = self.schedule(node, Duty::Timer { queue_pair, timer }, at);
            if let Some(pending) = self.nodes.host(node).traffic.timer(queue_pair, timer) {
                pending.set(alarm);
            }
        }
    }

    pub(super) fn on_timeout(&mut self, node: u32, queue_pair: u32, timer: u8) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        if let Some(pending) = host.traffic.timer(queue_pair, timer) {
            pending.take();
        }
        let Some(result) = host.core.on_timeout(now, queue_pair, timer) else { return };
        self.schedule_timers(node, queue_pair, result.armed);
        if self.nodes.seat(node).is_watched {
            if timer == RETRANSMISSION_TIMER && result.send {
                self.tell(node, result.nic as u16, Event::Timeout(queue_pair), None);
            }
            self.tell_control(node, queue_pair);
        }
        let p = self.port_id(node, result.nic as u16);
        self.update_wake(p);
        if let Some(probe) = &result.probe {
            let f = self.make_probe(node, queue_pair, probe);
            self.enqueue(p, f, probe.sender.priority);
        }
        if result.send || result.probe.is_some() {
            self.try_send(p);
        } else if !self.all.ports[p].is_held() {
            // A larger window may let a packet leave when the present frame ends.
            self.is_busy(p);
        }
    }
}

/// A frame of a flow, as it leaves its sender.
fn frame_of(sender: &SenderSpec, queue_pair: u32) -> Frame {
    Frame {
        priority: sender.priority,
        src: sender.src,
        dst: sender.dst,
        sport: sender.sport,
        dport: sender.dport,
        queue_pair: sender.receiver,
        reply_queue_pair: queue_pair,
        ..Frame::default()
    }
}
