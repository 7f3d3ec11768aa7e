// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links that send again what they lose (link-level retry of Ultra Ethernet 1.0): what comes out of them is whole, and in order.
//!
//! The receiver of a link answers each frame when it has come: with an ACK or, if it has wrong bits, with a NACK. It throws away what
//! follows until the frame has come again. The transmitter keeps frames until their ACK, and goes back to the one that a NACK names.
//! It stops while it has no room for another one.
//!
//! Both ends are worked out at the transmitter, for all that decides is known there: which frame is lost is drawn when it leaves, and
//! its answer comes one delay after it has arrived. Answers take no time on the link, and are not lost.

use super::alarms::Duty;
use super::observer::Sight;
use super::state::Engine;
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::units::{BitRate, Nanos};
use crate::wire::in_a_round_trip;
use alloc::collections::VecDeque;

/// What the transmitter of a link keeps.
#[derive(Clone, Debug)]
pub(super) struct Retry {
    /// Bytes that it has room for, and of the largest frame.
    buffer: u64,
    largest: u64,
    /// Frames that have arrived and whose ACK is on its way: when it comes, and their bytes.
    unanswered: VecDeque<(u64, u32)>,
    /// Frames that have not arrived, in their order: from one that was lost on.
    again: VecDeque<FrameId>,
    /// How many of them have been sent since the link last went back.
    sent: usize,
    /// Bytes of both.
    kept: u64,
    /// When the NACK comes that is on its way; `u64::MAX`: none is.
    nack_at: u64,
    /// What the port sends next is for the link to choose.
    pub has_port: bool,
}

impl Retry {
    /// A transmitter with room for so many bytes; `None`: for all that may leave until the first of it is answered.
    pub fn new(buffer: Option<u64>, largest: u64, link: (BitRate, Nanos)) -> Retry {
        let buffer = buffer.unwrap_or_else(|| in_a_round_trip(largest, link));
        Retry {
            buffer,
            largest,
            unanswered: VecDeque::new(),
            again: VecDeque::new(),
            sent: 0,
            kept: 0,
            nack_at: u64::MAX,
            has_port: false,
        }
    }

    /// Whether there is no room for a frame.
    fn is_full(&self) -> bool {
        self.kept + self.largest > self.buffer
    }

    /// What has been answered by a time.
    fn hear(&mut self, at: u64) {
        while let Some(&(_, size)) = self.unanswered.front().filter(|first| first.0 <= at) {
            self.unanswered.pop_front();
            self.kept -= u64::from(size);
        }
        if self.nack_at <= at {
            (self.nack_at, self.sent) = (u64::MAX, 0);
        }
    }

    /// Whether it chooses what is sent at a time: what it sends again, or nothing.
    fn chooses(&mut self, at: u64) -> bool {
        self.hear(at);
        self.sent < self.again.len() || self.is_full()
    }

    /// A frame of so many bytes leaves. `is_lost` asks whether it is lost, and has an answer at that time. Returns whether it arrives.
    fn leave(&mut self, f: FrameId, size: u32, answered: u64, is_lost: bool) -> bool {
        let arrives = self.nack_at == u64::MAX && !is_lost;
        let is_again = self.is_again(f);
        self.kept += if is_again { 0 } else { u64::from(size) };
        match (arrives, is_again) {
            (true, true) => _ = self.again.pop_front(),
            (true, false) => {}
            (false, true) => self.sent += 1,
            (false, false) => {
                self.again.push_back(f);
                self.sent += 1;
            }
        }
        if arrives {
            self.unanswered.push_back((answered, size));
        } else if is_lost {
            self.nack_at = answered;
        }
        arrives
    }

    /// Whether a frame that leaves is the next of those that are sent again.
    fn is_again(&self, f: FrameId) -> bool {
        self.again.get(self.sent) == Some(&f)
    }

    /// The link has failed: all that has not arrived is lost. Returns those frames.
    fn clear(&mut self) -> VecDeque<FrameId> {
        self.unanswered.clear();
        (self.sent, self.kept, self.nack_at) = (0, 0, u64::MAX);
        core::mem::take(&mut self.again)
    }
}

impl Engine {
    /// A frame begins to leave by a link that has rules of its own, or leads to another part of the network.
    #[cold]
    pub(super) fn leave_by_rules(&mut self, p: PortId, f: FrameId, rank: u64) {
        if !self.all.ports[p].retry.as_ref().is_some_and(|retry| retry.is_again(f)) {
            self.charge(p, f);
        }
        if self.leave_by_retry(p, f) {
            self.put_on_link(p, f, rank);
        }
        if !self.link_takes(p)
            && (self.all.ports[p].waiting != 0 || self.all.ports[p].is_host && self.host_awaits_end(p))
        {
            self.end_later(p);
        }
    }

    /// A frame leaves. Returns whether it arrives.
    fn leave_by_retry(&mut self, p: PortId, f: FrameId) -> bool {
        let (port, frame) = (&self.all.ports[p], self.all.frames.get(f));
        let (size, answered, node) = (frame.size, port.end_at + 2 * port.delay.0, port.node);
        // Pauses are of the link itself.
        let Some(retry) = port.retry.as_ref().filter(|_| frame.kind != PacketKind::Pfc) else { return true };
        let is_lost = retry.nack_at == u64::MAX && self.is_spoilt(port.peer, size);
        let port = &mut self.all.ports[p];
        let Some(retry) = &mut port.retry else { return true };
        if retry.is_again(f) {
            self.totals.link_resends += 1;
            port.sent -= if port.is_host { size.into() } else { 0 };
        }
        let arrives = retry.leave(f, size, answered, is_lost);
        if is_lost {
            self.totals.link_nacks += 1;
            self.schedule(node, Duty::Retry(p), Nanos(answered));
        }
        arrives
    }

    /// Whether a frame of so many bytes gets wrong bits on its way to a port. What links lose that have failed is not sent again.
    fn is_spoilt(&mut self, far: PortId, size: u32) -> bool {
        let far = &self.all.ports[far];
        far.is_whole && self.chance.spoils(far, size)
    }

    /// Whether the link of a port chooses what the port sends next. If so, it is asked when the present frame has left.
    fn link_takes(&mut self, p: PortId) -> bool {
        let port = &mut self.all.ports[p];
        let (node, end_at) = (port.node, port.end_at);
        let Some(retry) = &mut port.retry else { return false };
        if !retry.chooses(end_at) {
            return false;
        }
        port.leave_to_link(true);
        self.schedule(node, Duty::Retry(p), Nanos(end_at));
        true
    }

    /// A port may have something to send again, or room for frames.
    pub(super) fn on_retry(&mut self, p: PortId) {
        let now = self.events.now().0;
        let port = &mut self.all.ports[p];
        let (node, is_up) = (port.node, port.is_up);
        // It is asked when a frame ends if what is known by then matters.
        let Some(retry) = port.retry.as_mut().filter(|_| port.end_at <= now) else { return };
        if !retry.has_port && retry.nack_at > now {
            return;
        }
        let next = if retry.chooses(now) { retry.again.get(retry.sent).copied() } else { None };
        let is_stopped = is_up && next.is_none() && retry.is_full();
        let answered = retry.unanswered.front().map(|first| first.0);
        port.leave_to_link(is_stopped);
        if let Some(pfc) = self.next_pfc(p).filter(|_| is_up) {
            self.show(Sight::Dequeue, p, pfc);
            self.transmit(p, pfc);
        } else if let Some(f) = next.filter(|_| is_up) {
            self.transmit(p, f);
        } else if !is_stopped {
            self.try_send(p);
        } else if let Some(at) = answered {
            self.schedule(node, Duty::Retry(p), Nanos(at));
        }
    }

    /// A pause or resume that a port sends ahead of all else.
    fn next_pfc(&mut self, p: PortId) -> Option<FrameId> {
        let now = self.events.now();
        let port = &mut self.all.ports[p];
        let (node, number) = (port.node, port.number);
        let waiting = port.take_pfc(&self.all.frames);
        if self.all.ports[p].is_host {
            return waiting.or_else(|| self.nodes.host(node).next_pfc(number));
        }
        let pfc = waiting?;
        self.nodes.switch(node).core.send_pfc(number, now, self.all.frames.get(pfc).size);
        Some(pfc)
    }

    /// A pause or resume waits at a port, which may have stopped for want of room.
    pub(super) fn pass_pfc(&mut self, p: PortId) {
        if self.all.ports[p].is_held() {
            self.on_retry(p);
        }
    }

    /// The link of a port has failed.
    pub(super) fn forget_retries(&mut self, p: PortId) {
        let lost = self.all.ports[p].retry.as_mut().map(|retry| retry.clear()).unwrap_or_default();
        for f in lost {
            self.totals.failed_link_losses += 1;
            self.totals.losses += 1;
            self.totals.lose(self.all.frames.get(f));
            self.reclaim(p, f);
            self.all.frames.release(f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Frames of 1,000 bytes at 8 Gb/s, and 1,500 ns to the far end: an answer comes 3 frames after the end.
    fn retry(buffer: Option<u64>) -> Retry {
        Retry::new(buffer, 1_000, (BitRate::gbps(8), Nanos(1_500)))
    }

    /// Sends frames back to back from 0 on, new ones where none are sent again, of which some transmissions are lost. Returns which
    /// frame each transmission has, and which frames arrive.
    fn run(retry: &mut Retry, count: u64, lost: &[u64]) -> (Vec<u32>, Vec<u32>) {
        let (mut sent, mut arrived, mut next) = (Vec::new(), Vec::new(), 0);
        for n in 0..count {
            let now = 1_000 * n;
            let chosen = if retry.chooses(now) { retry.again.get(retry.sent).copied() } else { None };
            let f = chosen.unwrap_or_else(|| {
                next += 1;
                FrameId(next - 1)
            });
            let is_lost = retry.nack_at == u64::MAX && lost.contains(&n);
            sent.push(f.0);
            arrived.extend(retry.leave(f, 1_000, now + 4_000, is_lost).then_some(f.0));
        }
        (sent, arrived)
    }

    #[test]
    fn a_lost_frame_and_all_behind_it_are_sent_again_after_a_round_trip() {
        let (sent, arrived) = run(&mut retry(None), 10, &[2]);
        assert_eq!(sent, [0, 1, 2, 3, 4, 5, 2, 3, 4, 5]);
        assert_eq!(arrived, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_frame_may_be_lost_again_and_frames_behind_it_need_not_have_left() {
        let (sent, arrived) = run(&mut retry(None), 18, &[1, 3, 5, 6, 10]);
        assert_eq!(sent, [0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5, 2, 3, 4, 5]);
        assert_eq!(arrived, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_transmitter_stops_until_the_first_frame_is_answered() {
        assert_eq!(in_a_round_trip(1_000, (BitRate::gbps(8), Nanos(1_500))), 6_000);
        let mut small = retry(Some(2_500));
        let room = |small: &mut Retry, at| {
            small.hear(at);
            !small.is_full()
        };
        assert!(small.leave(FrameId(0), 1_000, 4_000, false) && room(&mut small, 1_000));
        assert!(small.leave(FrameId(1), 1_000, 5_000, false));
        assert_eq!([1_999, 3_999, 4_000].map(|at| room(&mut small, at)), [false, false, true]);
    }
}
