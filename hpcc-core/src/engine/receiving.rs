// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that come to a host, and what its senders make of answers.

use super::observer::Event;
use super::state::Engine;
use crate::cc::Armed;
use crate::frame::PacketKind;
use crate::ids::FrameId;
use crate::switch::source_pause;
use crate::transport::recovery::Sack;
use crate::transport::{Ack, AckResult};

impl Engine {
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
        let result = host.core.on_ack(now, &ack, self.chance.rngs.arriving(p));
        self.all.frames.release(f);
        if self.attackers.forge_acks {
            self.weigh_answer(node, queue_pair, seq, is_forged);
        }
        if self.flows.rtts.is_some() {
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
        let result = host.core.on_feedback(now, &ack, self.chance.rngs.arriving(p));
        self.all.frames.release(f);
        if self.flows.rtts.is_some() {
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
}
