// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames at a host: what it sends, what becomes of those that arrive, and when it wakes up.

use super::alarms::Duty;
use super::events::{Order, What};
use super::frame::{BITMAP, Frame};
use super::observer::Event;
use super::state::Engine;
use super::ways::{KNOWN, UNKNOWN, Way};
use crate::cc::Armed;
use crate::frame::{INITIAL_HOP_LIMIT, PacketKind};
use crate::ids::{FrameId, PortId};
use crate::simulated_frame::dscp;
use crate::switch::{Arriving, FlowKey, Section, source_pause};
use crate::transport::feedback::Arrived;
use crate::transport::recovery::Sack;
use crate::transport::{
    Ack, AckDecision, AckResult, Data, NOTIFICATION_PRIORITY, Poll, Probe, Reply, SealedAnswer, Segment, SenderSpec,
};
use crate::units::Nanos;

/// The queue of a host's port that holds its answers.
pub(super) const ANSWERS: u8 = 0;
impl Engine {
    /// The frame that a port sends next: answers first, unless the priority that carries them is paused.
    #[inline]
    pub(super) fn next_of_host(&mut self, p: PortId) -> Option<FrameId> {
        let now = self.events.now();
        let port = &mut self.all.ports[p];
        let (node, number, paused, begins) = (port.node, port.number, port.paused, port.begins(now));
        let host = self.nodes.host(node);
        if let Some(pfc) = host.next_pfc(number) {
            return Some(pfc);
        }
        if port.waiting != 0
            && (paused >> host.ack_priority & 1 == 0 || host.is_stack)
            && let Some(answer) = port.dequeue(&self.all.frames)
        {
            return Some(answer);
        }
        if host.other.is_some() {
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
        self.send_by_way(p, node, f);
        f
    }

    /// Gives a data frame the way of its queue pair.
    #[inline]
    fn send_by_way(&mut self, p: PortId, node: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (queue_pair, dst, key) = (frame.reply_queue_pair, frame.dst, frame.key());
        let Some(&mut way) = self.nodes.host(node).traffic.way(queue_pair) else { return };
        let ports = way.ports(self.version, &key).unwrap_or_else(|| {
            let way = self.find_way(p, dst, &key, true);
            if let Some(known) = self.nodes.host(node).traffic.way(queue_pair) {
                *known = way;
            }
            way.ports(self.version, &key).unwrap_or([UNKNOWN; KNOWN])
        });
        self.all.frames.get_mut(f).ports = ports;
    }

    /// Gives the answer of a receiving queue pair, which leaves by a port, its way.
    #[inline]
    fn answer_by_way(&mut self, node: u32, port: u16, receiver: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (dst, key) = (frame.dst, frame.key());
        let way = *self.nodes.host(node).traffic.way_back(receiver);
        let ports = way.ports(self.version, &key).unwrap_or_else(|| {
            let way = self.find_way(self.port_id(node, port), dst, &key, false);
            *self.nodes.host(node).traffic.way_back(receiver) = way;
            way.ports(self.version, &key).unwrap_or([UNKNOWN; KNOWN])
        });
        self.all.frames.get_mut(f).ports = ports;
    }

    /// The way of frames with this key from a host's port to node `dst`, as far as they all take the same.
    #[cold]
    fn find_way(&mut self, p: PortId, dst: u32, key: &FlowKey, is_data: bool) -> Way {
        let frame = Arriving { dst, key: *key, is_data, ..Arriving::default() };
        let mut ports = [UNKNOWN; KNOWN];
        let mut node = self.all.ports[p].peer_node;
        for port in &mut ports {
            if node == dst || !self.fabric.is_switch(node) {
                break;
            }
            // A choice that is kept draws nothing.
            let rng = self.rngs.arriving(p);
            let Some(egress) = self.nodes.switch(node).core.kept_egress(&frame, rng) else { break };
            *port = u8::try_from(egress).unwrap_or(UNKNOWN);
            node = self.all.ports[self.port_id(node, egress)].peer_node;
        }
        Way { key: *key, version: self.version, ports }
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

    /// A frame has arrived.
    #[inline]
    pub(super) fn receive_at_host(&mut self, node: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        if frame.dst != node || frame.is_of_stack() {
            return self.hand_over(node, f);
        }
        let is_held = matches!(frame.kind, PacketKind::Data | PacketKind::Probe);
        if is_held && self.nodes.host(node).is_slow {
            return self.rx_enqueue(node, f);
        }
        self.take_in(node, f);
    }

    /// The host looks at a frame.
    #[inline]
    pub(super) fn take_in(&mut self, node: u32, f: FrameId) {
        if self.nodes.host(node).other.is_some() {
            return self.take_in_other(node, f);
        }
        match self.all.frames.get(f).kind {
            PacketKind::Data => {
                let frame = self.all.frames.get(f);
                let (receiver, seq) = (frame.queue_pair, frame.seq);
                self.on_data(node, f);
                if self.nodes.host(node).traffic.has_ranks {
                    self.take_messages(node, receiver, seq);
                }
            }
            PacketKind::Trimmed => self.on_trimmed(node, f),
            PacketKind::Ack | PacketKind::Nack => self.on_ack(node, f),
            PacketKind::Probe => self.on_probe(node, f),
            PacketKind::Feedback => self.on_feedback(node, f),
            PacketKind::Cnp => self.on_cnp(node, f),
            PacketKind::FastCnp => self.on_fast_cnp(node, f),
            PacketKind::Icmpv6 | PacketKind::Pfc => self.all.frames.release(f),
        }
    }

    #[inline]
    fn on_data(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        let frame = self.all.frames.get(f);
        let data = Data {
            seq: frame.seq,
            payload: frame.payload(),
            ack_requested: frame.ack_requested,
            congestion_marked: frame.congestion_marked,
        };
        let answer = host.core.on_data(now, frame.queue_pair, &data);
        self.answer(node, f, &answer);
    }

    /// The headers of a data packet have arrived.
    #[cold]
    fn on_trimmed(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let frame = self.all.frames.get(f);
        let data = Data { seq: frame.seq, congestion_marked: frame.congestion_marked, ..Data::default() };
        let answer = self.nodes.host(node).core.on_trimmed(now, frame.queue_pair, &data, frame.pause);
        self.answer(node, f, &answer);
    }

    /// A data frame becomes what answers it.
    #[inline(always)]
    fn answer(&mut self, node: u32, f: FrameId, answer: &AckDecision) {
        let echoes = self.nodes.host(node).echoes;
        if answer.notify {
            self.send_cnp(node, f);
        }
        let mut sack = None;
        let (kind, seq, selective, trimmed) = match answer.reply {
            Reply::Silence => (None, 0, None, None),
            Reply::Ack(seq) => (Some(PacketKind::Ack), seq, None, None),
            Reply::Nack(seq) => (Some(PacketKind::Nack), seq, None, None),
            Reply::SelectiveNack { missing, arrived } => (Some(PacketKind::Nack), missing, Some(arrived), None),
            Reply::Sack { missing, sack: told } => {
                sack = Some(told);
                (Some(PacketKind::Ack), missing, None, None)
            }
            Reply::TrimmedNack { missing, trimmed } => (Some(PacketKind::Nack), missing, None, Some(trimmed)),
        };
        if !echoes {
            self.report(node, f, kind.map(|_| seq));
        }
        let Some(kind) = kind else { return self.all.frames.release(f) };
        let frame = self.all.frames.get_mut(f);
        (frame.kind, frame.seq) = (kind, seq);
        frame.set_selective(selective);
        frame.set_trimmed(trimmed);
        frame.congestion_echo = answer.congestion_echo;
        if let Some(sack) = sack {
            self.add_bitmap(f, sack);
        }
        self.seal(node, f);
        let (port, len) = (self.port_back(node, f), u32::from(self.all.frames.get(f).telemetry_len));
        let size =
            self.nodes.host(node).core.ack_bytes(len, selective.is_some() || trimmed.is_some() || sack.is_some());
        let receiver = self.all.frames.get(f).queue_pair;
        self.turn_round(node, f, size);
        if let Some(port) = port {
            self.answer_by_way(node, port, receiver, f);
        }
        self.send_back(node, f, port);
    }

    /// An acknowledgement gets a bitmap behind its telemetry, if it is of packets less than 4 GiB ahead.
    #[cold]
    fn add_bitmap(&mut self, f: FrameId, sack: Sack) {
        let (frame, bytes) = self.all.frames.with_section(f);
        let len = usize::from(frame.telemetry_len);
        let room = bytes.get_mut(len..).and_then(<[u8]>::first_chunk_mut);
        if let (Some(room), Ok(distance)) = (room, u32::try_from(sack.first - frame.seq)) {
            *room = sack.bits.to_be_bytes();
            (frame.payload, frame.ack_requested) = (distance, true);
            frame.telemetry_len = (len + BITMAP) as u16;
        }
    }

    /// Puts what goes back for a data packet in place of its telemetry, or sends it in a packet of its own. It gets an
    /// acknowledgement of all bytes before `acks`.
    fn report(&mut self, node: u32, f: FrameId, acks: Option<u64>) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        let (frame, bytes) = self.all.frames.with_section(f);
        let (receiver, nic) = (frame.queue_pair, frame.ingress);
        let seq = host.core.expected(receiver).unwrap_or(0);
        let mut section = Section { bytes, len: frame.telemetry_len.into() };
        let arrived = Arrived { now, acks, seq, is_probe: false };
        let alone = host.core.on_telemetry(nic.into(), receiver, &arrived, &mut section);
        let len = section.len;
        frame.telemetry_len = len as u16;
        if !alone {
            return;
        }
        let answer = self.make_answer(node, f, PacketKind::Feedback, 0);
        self.all.frames.copy_section(f, answer, len);
        let feedback = self.all.frames.get_mut(answer);
        (feedback.seq, feedback.telemetry_len) = (seq, len as u16);
        self.seal_for(node, answer, receiver);
        self.size_feedback(node, answer);
        self.all.frames.get_mut(f).telemetry_len = 0;
        let port = self.port_back(node, f);
        self.send_back(node, answer, port);
    }

    fn size_feedback(&mut self, node: u32, f: FrameId) {
        let frame = self.all.frames.get_mut(f);
        frame.size = self.nodes.host(node).core.feedback_bytes(frame.telemetry_len.into());
    }

    fn on_probe(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        let (frame, bytes) = self.all.frames.with_section(f);
        let arrived = Arrived { now, acks: None, seq: frame.seq, is_probe: true };
        let mut section = Section { bytes, len: frame.telemetry_len.into() };
        let alone = host.core.on_telemetry(frame.ingress.into(), frame.queue_pair, &arrived, &mut section);
        frame.telemetry_len = section.len as u16;
        if !alone {
            return self.all.frames.release(f);
        }
        frame.kind = PacketKind::Feedback;
        self.seal(node, f);
        let port = self.port_back(node, f);
        self.turn_round(node, f, 0);
        self.size_feedback(node, f);
        self.send_back(node, f, port);
    }

    /// Seals what goes back, if hosts seal it.
    #[inline]
    fn seal(&mut self, node: u32, f: FrameId) {
        let receiver = self.all.frames.get(f).queue_pair;
        self.seal_for(node, f, receiver);
    }

    #[inline]
    fn seal_for(&mut self, node: u32, f: FrameId, receiver: u32) {
        let host = self.nodes.host(node);
        if !host.seals {
            return;
        }
        let (frame, bytes) = self.all.frames.with_section(f);
        let is_ack = matches!(frame.kind, PacketKind::Ack | PacketKind::Nack);
        let sealed = SealedAnswer {
            kind: frame.kind,
            seq: frame.seq,
            congestion_echo: is_ack && frame.congestion_echo,
            selective: frame.selective(),
            trimmed: frame.trimmed(),
        };
        frame.telemetry_len = host.core.seal_answer(receiver, &sealed, bytes, frame.telemetry_len.into()) as u16;
    }

    /// An answer to a frame, without telemetry.
    pub(super) fn make_answer(&mut self, node: u32, f: FrameId, kind: PacketKind, size: u32) -> FrameId {
        let answer = self.all.frames.take();
        let frame = *self.all.frames.get(f);
        *self.all.frames.get_mut(answer) = Frame { kind, seq: 0, flow_bytes: 0, telemetry_len: 0, ..frame };
        self.turn_round(node, answer, size);
        answer
    }

    fn send_cnp(&mut self, node: u32, f: FrameId) {
        let receiver = self.all.frames.get(f).queue_pair;
        let size = self.nodes.host(node).core.notification_bytes(0);
        let cnp = self.make_answer(node, f, PacketKind::Cnp, size);
        self.all.frames.get_mut(cnp).priority = NOTIFICATION_PRIORITY;
        if !self.fill_notice(node, f, cnp) {
            // In the reserved bytes, which are part of its size.
            self.seal_for(node, cnp, receiver);
        }
        let port = self.port_back(node, f);
        self.send_back(node, cnp, port);
    }

    /// The port by which an answer to a frame leaves: the one that the data's direction of the flow hashes to, as in the
    /// reference.
    #[inline]
    pub(super) fn port_back(&mut self, node: u32, f: FrameId) -> Option<u16> {
        let host = self.nodes.host(node);
        let frame = self.all.frames.get(f);
        let (sport, dport) = match host.wire_port {
            Some(port) => (frame.sport, port),
            None => (frame.dport, frame.sport),
        };
        let back = Frame { src: frame.dst, dst: frame.src, sport, dport, ..*frame };
        host.core.route(&back.key(), frame.src)
    }

    /// A frame becomes its answer.
    #[inline]
    fn turn_round(&mut self, node: u32, f: FrameId, size: u32) {
        let host = self.nodes.host(node);
        let frame = self.all.frames.get_mut(f);
        (frame.src, frame.dst) = (frame.dst, frame.src);
        if host.wire_port.is_none() {
            (frame.sport, frame.dport) = (frame.dport, frame.sport);
        }
        (frame.queue_pair, frame.reply_queue_pair) = (frame.reply_queue_pair, frame.queue_pair);
        frame.priority = host.core.transport().answer_priority(frame.priority);
        (frame.congestion_marked, frame.hop_limit, frame.size) = (false, INITIAL_HOP_LIMIT, size);
        if frame.kind != PacketKind::Nack && frame.sacked().is_none() {
            frame.payload = 0;
        }
        (frame.passed, frame.ports) = (0, [UNKNOWN; KNOWN]);
    }

    #[inline]
    pub(super) fn send_back(&mut self, node: u32, f: FrameId, port: Option<u16>) {
        let Some(port) = port else { return self.all.frames.release(f) };
        let p = self.port_id(node, port);
        self.enqueue(p, f, ANSWERS);
        self.try_send(p);
    }

    #[inline]
    fn on_ack(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        let (frame, section) = self.all.frames.with_section(f);
        let mut telemetry = &section[..usize::from(frame.telemetry_len)];
        let mut sack = None;
        if let Some((first, (front, bits))) = frame.sacked().zip(telemetry.split_last_chunk()) {
            (telemetry, sack) = (front, Some(Sack { first, bits: u64::from_be_bytes(*bits) }));
        }
        let ack = Ack {
            queue_pair: frame.queue_pair,
            port: if host.wire_port.is_some() { frame.sport } else { frame.dport },
            seq: frame.seq,
            sack,
            nack: frame.kind == PacketKind::Nack,
            selective: frame.selective(),
            trimmed: frame.trimmed(),
            congestion_marked: frame.congestion_echo,
            telemetry,
        };
        let (queue_pair, seq, is_forged) = (frame.queue_pair, frame.seq, frame.is_forged());
        let p = self.first_port[node as usize].nth(frame.ingress);
        let result = host.core.on_ack(now, &ack, self.rngs.arriving(p));
        self.all.frames.release(f);
        if self.attackers.forge_acks {
            self.weigh_answer(node, queue_pair, seq, is_forged);
        }
        if self.rtts.is_some() {
            self.note_rtt(node, queue_pair);
        }
        self.take_result(node, queue_pair, result);
    }

    fn on_feedback(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        let (frame, section) = self.all.frames.with_section(f);
        let ack = Ack {
            queue_pair: frame.queue_pair,
            seq: frame.seq,
            nack: false,
            selective: None,
            trimmed: None,
            sack: None,
            congestion_marked: false,
            port: if host.wire_port.is_some() { frame.sport } else { frame.dport },
            telemetry: &section[..usize::from(frame.telemetry_len)],
        };
        let queue_pair = frame.queue_pair;
        let p = self.first_port[node as usize].nth(frame.ingress);
        let result = host.core.on_feedback(now, &ack, self.rngs.arriving(p));
        self.all.frames.release(f);
        if self.rtts.is_some() {
            self.note_rtt(node, queue_pair);
        }
        self.take_result(node, queue_pair, result);
    }

    fn on_cnp(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let frame = self.all.frames.get(f);
        let (queue_pair, ingress, len) = (frame.queue_pair, frame.ingress, usize::from(frame.telemetry_len));
        self.tell(node, ingress, Event::Cnp(queue_pair), None);
        let host = self.nodes.host(node);
        let (_, section) = self.all.frames.with_section(f);
        let notified = match source_pause::parse(&section[..len]).filter(|_| host.is_paused_by_switches) {
            Some(pause) => host.core.pause(queue_pair, now + pause),
            None => host.core.on_cnp(now, queue_pair, &section[..len]),
        };
        self.all.frames.release(f);
        let result = notified.ok().map(|notified| AckResult { nic: notified.nic, finished: 0, armed: notified.armed });
        self.take_result(node, queue_pair, result);
    }

    #[inline]
    pub(super) fn take_result(&mut self, node: u32, queue_pair: u32, result: Option<AckResult>) {
        let Some(AckResult { nic, finished, armed }) = result else { return };
        if armed != Armed(0) {
            self.schedule_timers(node, queue_pair, armed);
        }
        if self.nodes.seat(node).is_watched {
            self.tell_control(node, queue_pair);
        }
        for _ in 0..finished {
            self.finish_first(node, queue_pair);
        }
        let p = self.port_id(node, nic as u16);
        self.update_wake(p);
        self.try_send(p);
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
            self.events.remove(pending, What::Wake(p));
        }
        let rank = self.events.reserve();
        let port = &mut self.all.ports[p];
        (port.wake_at, port.wake_rank) = (at, rank);
        self.add(at, node, What::Wake(p));
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
        } else {
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
