// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host answers: acknowledgements, reports of telemetry, notifications.

use super::frame::{BITMAP, Detail, Frame};
use super::paths::{KNOWN, UNKNOWN};
use super::state::Engine;
use crate::frame::{INITIAL_HOP_LIMIT, PacketKind};
use crate::ids::FrameId;
use crate::switch::Section;
use crate::transport::feedback::Arrived;
use crate::transport::recovery::Sack;
use crate::transport::{AckDecision, Data, Reply, SealedAnswer, TransportConfig};

/// The queue of a host's port that holds its answers.
pub(super) const ANSWERS: u8 = 0;

/// The one that holds its CNPs: that of their priority, unless they share one with acknowledgements.
pub(super) fn cnp_queue(transport: &TransportConfig) -> u8 {
    transport.cnp_priority.filter(|&priority| priority != transport.ack_priority).unwrap_or(ANSWERS)
}

impl Engine {
    #[inline]
    pub(super) fn on_data(&mut self, node: u32, f: FrameId) {
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
    pub(super) fn on_trimmed(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let frame = self.all.frames.get(f);
        let data = Data { seq: frame.seq, congestion_marked: frame.congestion_marked, ..Data::default() };
        let answer = self.nodes.host(node).core.on_trimmed(
            now,
            frame.queue_pair,
            &data,
            frame.detail == Detail::Trimmed { at_last_hop: true },
        );
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
            self.route_answer(node, port, receiver, f);
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
            (frame.payload, frame.detail) = (distance, Detail::Bitmap);
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

    pub(super) fn on_probe(&mut self, node: u32, f: FrameId) {
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
        let host = self.nodes.host(node);
        let queue = host.cnp_queue;
        self.all.frames.get_mut(cnp).priority = host.core.transport().notification_priority();
        if !self.fill_notice(node, f, cnp) {
            // In the reserved bytes, which are part of its size.
            self.seal_for(node, cnp, receiver);
        }
        let port = self.port_back(node, f);
        self.send_back_by(node, cnp, port, queue);
    }

    /// The port by which an answer to a frame leaves: the one that the data's direction of the flow hashes to, as in the
    /// 2019 simulator.
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
        self.send_back_by(node, f, port, ANSWERS);
    }

    #[inline]
    fn send_back_by(&mut self, node: u32, f: FrameId, port: Option<u16>, queue: u8) {
        let Some(port) = port else { return self.all.frames.release(f) };
        let p = self.port_id(node, port);
        self.enqueue(p, f, queue);
        self.try_send(p);
    }
}
