// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames at a switch.

use super::frame::{Detail, Frame, Leaving};
use super::nodes::SwitchNode;
use super::observer::{Event, Sight};
use super::state::{Arenas, Engine};
use crate::balance::Tag;
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::switch::{Admission, Head, Route, Section, TrimConfig, source_pause};

/// Bytes of telemetry that a switch sends back at most.
const MOST_ANSWER: usize = 16;

impl Engine {
    /// A frame has come in; `first` is the place of the switch's first port.
    #[inline]
    pub(super) fn receive_at_switch(&mut self, node: u32, first: PortId, f: FrameId) {
        self.touch(node);
        let has_extras = self.nodes.seat(node).has_extras;
        if has_extras && !self.receive_with_extras(node, f) {
            return;
        }
        let frame = self.all.frames.get_mut(f);
        let known = frame.next_port();
        frame.passed = frame.passed.saturating_add(1);
        // Whether a hop limit has an end is for the core to say.
        let (egress, hop_limit) = if let Some(known) = known.filter(|_| frame.hop_limit > 1) {
            (known, frame.hop_limit - 1)
        } else {
            match self.route(node, f) {
                Route::To { egress, hop_limit } => (egress, hop_limit),
                Route::None => return self.drop_without_route(node, f),
                Route::Expired => return self.drop_at_switch(node, f, |counts| &mut counts.expired),
            }
        };
        let frame = self.all.frames.get_mut(f);
        frame.hop_limit = hop_limit;
        let (priority, p) = (frame.priority, first.nth(egress));
        if has_extras {
            self.meet_data(node, egress, f);
        }
        let is_through = self.all.ports[p].is_open(priority) && !self.is_busy(p) && self.cut_through(node, p, f);
        if !is_through {
            self.queue(node, p, f);
        }
    }

    /// The load balancer of a switch keeps a frame, which takes memory as in a queue.
    #[cold]
    pub(super) fn hold_at_switch(&mut self, node: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (ingress, priority, size) = (frame.ingress, frame.account(), frame.size);
        let switch = self.nodes.switch(node);
        if switch.core.hold(ingress, priority, size) {
            let pauses = switch.pauses;
            self.chance.rngs.skip_identifier();
            self.send_pfc(node, ingress, priority, pauses);
        }
    }

    /// The memory of a frame is free that the load balancer has kept.
    fn let_go(&mut self, node: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (ingress, priority, size) = (frame.ingress, frame.account(), frame.size);
        // Credits are given back when it leaves the switch.
        if self.nodes.switch(node).core.let_go(ingress, priority, size) && !self.gets_credits(node, ingress) {
            self.tell_sender(node, ingress, priority, size);
        }
    }

    /// A frame goes on that the load balancer of a switch has kept.
    #[cold]
    pub(super) fn resume_at_switch(&mut self, node: u32, f: FrameId) {
        let Route::To { egress, hop_limit } = self.route(node, f) else {
            self.let_go(node, f);
            return self.drop_without_route(node, f);
        };
        let frame = self.all.frames.get_mut(f);
        frame.hop_limit = hop_limit;
        frame.passed = frame.passed.saturating_add(1);
        self.meet_data(node, egress, f);
        let frame = self.all.frames.get(f);
        let (kind, priority, account, size) = (frame.kind, frame.priority, frame.account(), frame.size);
        let p = self.port_id(node, egress);
        let port = &self.all.ports[p];
        let drops = (port.paused & port.dropping) >> priority & 1 != 0 || !port.is_up;
        let core = &mut self.nodes.switch(node).core;
        if drops || kind == PacketKind::Data && core.is_too_long(egress, priority, size) {
            self.let_go(node, f);
            return self.queue(node, p, f);
        }
        core.hand_on(egress, account, size);
        self.enqueue(p, f, priority);
        self.try_send(p);
    }

    /// A data packet has come to a switch that may send something back at once: by source flow control, or as its telemetry says.
    #[cold]
    fn meet_data(&mut self, node: u32, port: u16, f: FrameId) {
        if self.all.frames.get(f).kind != PacketKind::Data {
            return;
        }
        self.pause_source(node, port, f);
        let now = self.events.now();
        let (frame, section) = self.all.frames.with_section(f);
        if frame.telemetry_len == 0 {
            return;
        }
        let of = *frame;
        let switch = self.nodes.switch(node);
        let mut answer = [0; MOST_ANSWER];
        let section = &mut section[..usize::from(of.telemetry_len)];
        let len = switch.core.meet(port, now, of.size, section, &mut answer);
        if len == 0 {
            return;
        }
        let size = switch.sizes.feedback(len as u32);
        // As the receiver's answers have them, by which a sender knows the path that they are about.
        let (sport, dport) = switch.wire_port.map_or((of.dport, of.sport), |port| (of.sport, port));
        let back =
            Frame { kind: PacketKind::Feedback, seq: of.seq, size, src: of.dst, sport, dport, ..back_to_source(&of) };
        self.send_back_from_switch(node, back, &answer[..len]);
    }

    /// Asks the source of a data packet to pause if it meets a long queue.
    fn pause_source(&mut self, node: u32, port: u16, f: FrameId) {
        let now = self.events.now();
        let of = *self.all.frames.get(f);
        let p = self.port_id(node, port);
        let (rate, queue) = (self.all.ports[p].rate, self.all.ports[p].queued);
        let SwitchNode { extras: Some(extras), sizes, .. } = self.nodes.switch(node) else { return };
        let Some(pauses) = extras.source_pauses.as_mut().filter(|_| !of.is_of_stack()) else { return };
        let Some(pause) = pauses.meet(now, (of.src, of.reply_queue_pair), queue.into(), rate) else { return };
        let back = Frame {
            kind: PacketKind::Cnp,
            size: sizes.cnp(0),
            src: node,
            detail: Detail::BySwitch,
            ..back_to_source(&of)
        };
        self.totals.source_pauses += 1;
        self.send_back_from_switch(node, back, &source_pause::emit(pause));
    }

    fn send_back_from_switch(&mut self, node: u32, frame: Frame, section: &[u8]) {
        let back = self.all.frames.take();
        *self.all.frames.get_mut(back) = frame;
        self.all.frames.put(back, section);
        self.send_from_switch(node, back, Tag::Nothing);
    }

    /// Where a frame goes that is at a switch.
    pub(super) fn route(&mut self, node: u32, f: FrameId) -> Route {
        let now = self.events.now();
        let frame = self.all.frames.get(f);
        let p = self.port_id(node, frame.ingress);
        let (frame, rng) = (frame.arriving(), self.chance.rngs.arriving(p));
        self.nodes.switch(node).core.route(now, &frame, rng)
    }

    /// Lets a frame leave by an idle port at once; `false`, and nothing has happened, if it may be dropped, pause or resume.
    #[inline]
    fn cut_through(&mut self, node: u32, p: PortId, f: FrameId) -> bool {
        let now = self.events.now();
        let Arenas { ports, frames, .. } = &mut self.all;
        let port = &mut ports[p];
        let switch = self.nodes.switch(node);
        let rng = self.chance.rngs.leaving(p);
        let (frame, bytes) = frames.with_section(f);
        let leaving = Leaving { frame, behind: port.queued };
        let mut section = Section { bytes, len: frame.telemetry_len.into() };
        let Some(mark) = switch.core.cut_through(port.number, now, &leaving, &mut section, rng) else { return false };
        port.let_pass(frame.priority);
        let len = section.len;
        frame.set_telemetry_len(len);
        if mark || switch.extras.is_some() {
            self.mark(node, p, f, mark);
        }
        self.transmit(p, f);
        true
    }

    // Its other caller is seldom: without this, each frame that waits would pay for a call.
    #[inline(always)]
    fn queue(&mut self, node: u32, p: PortId, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (ingress, priority, size, kind) = (frame.ingress, frame.priority, frame.size, frame.kind);
        let port = &self.all.ports[p];
        if (port.paused & port.dropping) >> priority & 1 != 0 {
            return self.drop_in_storm(node, p, f);
        }
        if !port.is_up {
            self.totals.failed_link_drops += 1;
            return self.drop_at_switch(node, f, |counts| &mut counts.link_drops);
        }
        let egress = port.number;
        let switch = self.nodes.switch(node);
        let admission = if kind == PacketKind::Trimmed {
            switch.core.admit_headers(egress, size)
        } else if kind == PacketKind::Data && switch.core.is_too_long(egress, priority, size) {
            Admission::Drop
        } else {
            switch.core.admit(ingress, egress, priority, size)
        };
        match admission {
            Admission::Drop => return self.overflow(node, p, f),
            Admission::Admit { pause: true } => {
                let pauses = switch.pauses;
                self.chance.rngs.skip_identifier();
                self.send_pfc(node, ingress, priority, pauses);
            }
            Admission::Admit { pause: false } => {}
        }
        self.enqueue(p, f, priority);
        self.try_send(p);
    }

    /// A frame finds no room: it is dropped or, as data, cut to its headers, or the last one of the queue is in its place.
    #[cold]
    fn overflow(&mut self, node: u32, p: PortId, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (kind, ingress, priority, size) = (frame.kind, frame.ingress, frame.priority, frame.size);
        let egress = self.all.ports[p].number;
        let switch = self.nodes.switch(node);
        if let Some(why) = switch.core.refused() {
            self.totals.no_room[why as usize] += 1;
        }
        let Some(&trimming) = switch.core.trims(priority).filter(|_| kind == PacketKind::Data) else {
            return self.drop_at_switch(node, f, |counts| &mut counts.overflows);
        };
        let takes_last = self.chance.rngs.leaving(p).marks.uniform() < trimming.last;
        let last = if takes_last { self.all.ports[p].take_last_data(&self.all.frames, priority) } else { None };
        if let Some(last) = last {
            let &Frame { ingress: from, size: bytes, .. } = self.all.frames.get(last);
            switch.core.discard(egress, &Head { ingress: from, priority, size: bytes, ..Head::default() });
            self.trim(node, p, last, &trimming);
            let switch = self.nodes.switch(node);
            let fits = !switch.core.is_too_long(egress, priority, size);
            if fits && switch.core.admit(ingress, egress, priority, size) != Admission::Drop {
                self.enqueue(p, f, priority);
                return self.try_send(p);
            }
        }
        self.trim(node, p, f, &trimming);
        self.try_send(p);
    }

    /// Cuts a packet that is to leave by a port to its headers, which wait ahead of all data.
    fn trim(&mut self, node: u32, p: PortId, f: FrameId, trimming: &TrimConfig) {
        let port = &self.all.ports[p];
        let (egress, at_last_hop) = (port.number, !self.fabric.is_switch(port.peer_node));
        self.totals.trims += 1;
        self.totals.trims_at_last_hop += u64::from(at_last_hop);
        let (now, queued) = (self.events.now(), port.queued);
        let switch = self.nodes.switch(node);
        let (frame, bytes) = self.all.frames.with_section(f);
        frame.trim(trimming, &switch.sizes, at_last_hop);
        let section = &mut bytes[..usize::from(frame.telemetry_len)];
        switch.core.cut(egress, now, &Leaving { frame, behind: queued }, section);
        if switch.core.admit_headers(egress, frame.size) == Admission::Drop {
            return self.drop_at_switch(node, f, |counts| &mut counts.overflows);
        }
        self.enqueue(p, f, trimming.queue);
    }

    /// The frame that a port sends next.
    #[inline]
    pub(super) fn next_of_switch(&mut self, p: PortId) -> Option<FrameId> {
        let now = self.events.now();
        let port = &mut self.all.ports[p];
        let f = port.dequeue(&self.all.frames)?;
        let (node, egress, queued) = (port.node, port.number, port.queued);
        let switch = self.nodes.switch(node);
        let (frame, bytes) = self.all.frames.with_section(f);
        if frame.kind == PacketKind::Pfc {
            switch.core.send_pfc(egress, now, frame.size);
            return Some(f);
        }
        let size = frame.size;
        let leaving = Leaving { frame, behind: queued };
        let mut section = Section { bytes, len: frame.telemetry_len.into() };
        let rng = self.chance.rngs.leaving(p);
        let departure = switch.core.depart(egress, now, &leaving, &mut section, rng);
        let len = section.len;
        frame.set_telemetry_len(len);
        let (ingress, priority) = (frame.ingress, frame.priority);
        if departure.mark || switch.extras.is_some() {
            self.mark(node, p, f, departure.mark);
        }
        if departure.resume {
            self.totals.resumes_by_own_port += u64::from(ingress == egress);
            self.tell_sender(node, ingress, priority, size);
        }
        Some(f)
    }

    /// A switch marks a frame that leaves or, with an agent or a border, does more about it.
    fn mark(&mut self, node: u32, p: PortId, f: FrameId, mark: bool) {
        let mark = if self.nodes.seat(node).has_extras { self.depart_with_extras(p, f, mark) } else { mark };
        if mark && (self.attackers.is_empty() || !self.is_bleached(node, f)) {
            let frame = self.all.frames.get_mut(f);
            let is_new = frame.kind == PacketKind::Data && !frame.congestion_marked && !frame.is_of_stack();
            frame.congestion_marked = true;
            self.nodes.switch(node).counts.marks += u64::from(is_new);
            if is_new && self.nodes.seat(node).is_watched {
                self.tell(node, self.all.ports[p].number, Event::Marked, Some(f));
            }
        }
    }

    /// Sends a pause or a resume out of a port.
    #[cold]
    pub(super) fn send_pfc(&mut self, node: u32, port: u16, priority: u8, pause: bool) {
        self.hold(node, port, priority, pause);
        self.put_pfc(self.port_id(node, port), priority, pause);
    }

    /// The same, of which nobody is told.
    pub(super) fn put_pfc(&mut self, p: PortId, priority: u8, pause: bool) {
        self.note_sent_pause(p, priority, pause);
        let size = self.nodes.switch(self.all.ports[p].node).pfc_bytes;
        let pfc = self.pfc(p, size, priority, pause);
        let f = self.all.frames.take();
        *self.all.frames.get_mut(f) = pfc;
        self.enqueue(p, f, 0);
        self.try_send(p);
        self.pass_pfc(p);
    }

    /// A pause or a resume, which tells whoever watches how much waits at its port.
    pub(super) fn pfc(&self, p: PortId, size: u32, priority: u8, pause: bool) -> Frame {
        let port = &self.all.ports[p];
        let seq = if self.checks_arrivals { port.queued_of(&self.all.frames, priority) } else { 0 };
        let detail = if pause { Detail::Pause } else { Detail::None };
        let payload = self.quanta.of_pause.filter(|_| pause).unwrap_or(0);
        Frame { kind: PacketKind::Pfc, priority, detail, size, seq, payload, ..Frame::default() }
    }

    /// A link of a switch has failed, or the switch itself, which then forgets its memory: what waits is dropped.
    pub(super) fn clear_switch_port(&mut self, p: PortId, forgets: bool) {
        let (node, port) = (self.all.ports[p].node, self.all.ports[p].number);
        let switch = self.nodes.switch(node);
        let (paused, frees) = (switch.core.paused(port), !forgets && !switch.leaks_on_link_down);
        for priority in (0..8).filter(|priority| paused >> priority & 1 != 0) {
            self.hold(node, port, priority, false);
        }
        while let Some(f) = self.all.ports[p].dequeue_any(&self.all.frames) {
            self.totals.failed_link_drops += 1;
            self.discard_queued(p, f, Sight::LinkDrop, frees);
        }
    }

    /// A switch drops a frame that waited. That frees memory, if it does, and may resume its sender.
    pub(super) fn discard_queued(&mut self, p: PortId, f: FrameId, sight: Sight, frees: bool) {
        self.show(sight, p, f);
        let port = &self.all.ports[p];
        let (node, egress) = (port.node, port.number);
        let frame = self.all.frames.get(f);
        let (kind, ingress, priority, size) = (frame.kind, frame.ingress, frame.account(), frame.size);
        let is_trimmed = kind == PacketKind::Trimmed;
        self.totals.lose(frame);
        let head = Head { ingress, priority, size, is_trimmed, ..Head::default() };
        if !frees {
            self.give_back(node, f);
        } else if kind != PacketKind::Pfc && self.nodes.switch(node).core.discard(egress, &head) {
            self.tell_sender(node, ingress, priority, size);
        }
        self.nodes.switch(node).counts.link_drops += 1;
        self.all.frames.release(f);
    }

    /// A link of a switch has come up: the far end has forgotten the pauses that are in force here.
    pub(super) fn repeat_pauses(&mut self, p: PortId) {
        let port = &self.all.ports[p];
        let (node, number) = (port.node, port.number);
        let switch = self.nodes.switch(node);
        let (paused, pauses) = (switch.core.paused(number), switch.pauses);
        for priority in (0..8).filter(|priority| paused >> priority & 1 != 0) {
            self.send_pfc(node, number, priority, pauses);
        }
        self.try_send(p);
    }
}

/// A frame from a switch to the queue pair that has sent a data packet.
fn back_to_source(data: &Frame) -> Frame {
    Frame { dst: data.src, sport: data.sport, dport: data.dport, queue_pair: data.reply_queue_pair, ..Frame::default() }
}
