// SPDX-License-Identifier: MIT OR Apache-2.0
//! Credit-based flow control of links (CBFC of Ultra Ethernet 1.0): a port sends to a switch only what that has room for.
//!
//! A switch keeps memory for each port and priority. The port at the far end counts down what it sends, and stops when its credits
//! may not suffice for the next frame. The switch gives a frame's credits back when that leaves its memory, or is lost: by a message
//! behind the frame that is leaving in the other direction. Messages take no time on the link. None is lost, for they tell sums.

use super::frame::{Detail, Frame};
use super::state::Engine;
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::node::NodeSettings;
use crate::pfc::PRIORITIES;
use alloc::rc::Rc;

/// What a port may send to the switch at the far end of its link.
#[derive(Clone, Debug)]
pub(super) struct Credits {
    /// Bytes of each priority.
    left: [u32; PRIORITIES],
    limit: u32,
    /// Bytes of the largest frame.
    largest: u32,
    /// Priorities whose credits may not suffice for a frame: bit n stands for priority n.
    exhausted: u8,
    /// Those that PFC pauses besides.
    pub paused: u8,
}

impl Credits {
    /// All credits of a priority are `limit` bytes, which is at least `largest`, the bytes of the largest frame.
    pub fn new(limit: u32, largest: u32) -> Credits {
        Credits { left: [limit; PRIORITIES], limit, largest, exhausted: 0, paused: 0 }
    }

    /// A frame leaves.
    fn take(&mut self, priority: usize, size: u32) {
        self.left[priority] = self.left[priority].saturating_sub(size);
        self.weigh(priority);
    }

    /// Credits come back. Returns whether they suffice for a frame again.
    fn give(&mut self, priority: usize, bytes: u32) -> bool {
        let had_none = self.exhausted >> priority & 1 != 0;
        // An attacker's frames were never paid for.
        self.left[priority] = self.left[priority].saturating_add(bytes).min(self.limit);
        self.weigh(priority);
        had_none && self.exhausted >> priority & 1 == 0
    }

    fn weigh(&mut self, priority: usize) {
        let is_exhausted = u8::from(self.left[priority] < self.largest);
        self.exhausted = self.exhausted & !(1 << priority) | is_exhausted << priority;
    }

    /// The far end pauses these priorities, and no others. Returns those that may not be sent.
    pub fn pause(&mut self, paused: u8) -> u8 {
        self.paused = paused;
        self.stopped()
    }

    /// Priorities that may not be sent.
    fn stopped(&self) -> u8 {
        self.paused | self.exhausted
    }
}

/// Whether a frame needs credits: pauses and what goes ahead of all data do not.
fn is_charged(frame: &Frame) -> bool {
    frame.account() != 0 && frame.kind != PacketKind::Pfc
}

impl Engine {
    /// Ports that lead to switches with credits get theirs; `nodes` are the settings of all nodes.
    pub(super) fn grant_credits(&mut self, nodes: &[Rc<NodeSettings>]) {
        for (node, settings) in (0..).zip(nodes).filter(|&(node, _)| self.fabric.is_switch(node)) {
            for number in 0..self.fabric.ports(node).len() as u16 {
                let p = self.port_id(node, number);
                let &super::port::Port { rate, delay, peer, .. } = &self.all.ports[p];
                let Some((limit, largest)) = settings.credits((rate, delay)) else { continue };
                self.all.ports[peer].credits = Some(Credits::new(limit, largest).into());
                self.all.flights[p].has_rules = true;
                self.watchers.has_held = true;
            }
        }
    }

    /// A frame leaves by a port, which may have used up its credits by that.
    pub(super) fn charge(&mut self, p: PortId, f: FrameId) {
        let (port, frame) = (&mut self.all.ports[p], self.all.frames.get(f));
        let Some(credits) = port.credits.as_mut().filter(|_| is_charged(frame)) else { return };
        credits.take((frame.priority & 7).into(), frame.size);
        self.stop_exhausted(p);
    }

    /// A port does not send what it has no credits for.
    fn stop_exhausted(&mut self, p: PortId) {
        let port = &mut self.all.ports[p];
        let Some(stopped) = port.credits.as_ref().map(|credits| credits.stopped()) else { return };
        if port.paused != stopped {
            port.paused = stopped;
            self.tell_pause(p);
        }
    }

    /// A frame that came to a switch has left its memory, or never was there: what it cost its sender is given back.
    pub(super) fn give_back(&mut self, node: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        if is_charged(frame) {
            let (ingress, priority, size) = (frame.ingress, frame.priority, frame.size);
            self.send_credits(node, ingress, priority, size);
        }
    }

    /// Memory of a priority is free that what came in by a port had taken: the far end gets its credits back, or is resumed.
    #[cold]
    pub(super) fn tell_sender(&mut self, node: u32, ingress: u16, priority: u8, size: u32) {
        if !self.send_credits(node, ingress, priority, size) {
            self.chance.rngs.skip_identifier();
            self.send_pfc(node, ingress, priority, false);
        }
    }

    /// Whether who sends to a port of a switch has credits for it.
    pub(super) fn gets_credits(&self, node: u32, ingress: u16) -> bool {
        let port = &self.all.ports[self.port_id(node, ingress)];
        self.all.ports[port.peer].credits.is_some()
    }

    /// Sends credits to the far end of a port, if that has any. Returns whether it has.
    fn send_credits(&mut self, node: u32, ingress: u16, priority: u8, size: u32) -> bool {
        if !self.gets_credits(node, ingress) {
            return false;
        }
        let p = self.port_id(node, ingress);
        let port = &self.all.ports[p];
        let at = self.events.now().0.max(port.end_at) + port.delay.0;
        let f = self.all.frames.take();
        let credits =
            Frame { kind: PacketKind::Pfc, detail: Detail::Credits, priority, payload: size, at, ..Frame::default() };
        *self.all.frames.get_mut(f) = credits;
        let rank = self.events.reserve();
        self.put_on_link(p, f, rank);
        true
    }

    /// Credits have come back to a port, which may have waited for them.
    pub(super) fn on_credits(&mut self, p: PortId, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (priority, bytes) = (frame.priority & 7, frame.payload);
        self.all.frames.release(f);
        self.take_credits(p, priority, bytes);
    }

    fn take_credits(&mut self, p: PortId, priority: u8, bytes: u32) {
        let now = self.events.now().0;
        let port = &mut self.all.ports[p];
        let idle_since = port.end_at;
        if !port.credits.as_mut().is_some_and(|credits| credits.give(priority.into(), bytes)) {
            return;
        }
        self.stop_exhausted(p);
        self.try_send(p);
        if idle_since < now && self.all.ports[p].end_at > now {
            self.totals.credit_waits += 1;
            self.totals.credit_wait_ns += now - idle_since;
        }
    }

    /// A frame that has left a port will not come to the end of its link, as the port knows.
    pub(super) fn reclaim(&mut self, p: PortId, f: FrameId) {
        let frame = self.all.frames.get(f);
        if is_charged(frame) {
            let (priority, size) = (frame.priority & 7, frame.size);
            self.take_credits(p, priority, size);
        }
    }
}
