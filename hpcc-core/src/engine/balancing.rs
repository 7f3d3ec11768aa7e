// SPDX-License-Identifier: MIT OR Apache-2.0
//! What load balancers do besides choosing: what frames carry for them, what waits and what answers.

use super::alarms::Duty;
use super::frame::{Detail, Frame};
use super::state::Engine;
use crate::balance::{Errands, Fate, LoadBalancer, Passing, Tag};
use crate::frame::PacketKind;
use crate::ids::FrameId;

impl Engine {
    /// The load balancer of a switch hears of a frame that comes in or leaves by a port.
    pub(super) fn tell_balancer<T>(
        &mut self,
        node: u32,
        port: u16,
        f: FrameId,
        tell: impl FnOnce(&mut dyn LoadBalancer, &mut Passing<'_>) -> T,
    ) -> T {
        let (frame, tag) = self.all.frames.with_tag(f);
        let core = &mut self.nodes.switch(node).core;
        let may_wait = core.may_wait(frame.ingress, frame.account(), frame.size);
        let (balancer, hops) = core.balancer_to(frame.dst);
        let mut passing = Passing {
            now: self.events.now(),
            src: frame.src,
            dst: frame.dst,
            port,
            size: frame.size,
            key: frame.key(),
            priority: frame.priority,
            frame: f,
            is_balanced: matches!(frame.kind, PacketKind::Data | PacketKind::Probe),
            is_marked: frame.congestion_marked,
            may_wait,
            hops,
            tag,
            rand: &mut self.chance.rngs.arriving(self.first_port[node as usize].nth(port)).rand,
        };
        tell(balancer, &mut passing)
    }

    /// A frame comes in to a switch whose load balancer hears of all. Returns whether it goes on.
    pub(super) fn arrive_at_balancer(&mut self, node: u32, f: FrameId) -> bool {
        let mut errands = Errands::default();
        let port = self.all.frames.get(f).ingress;
        let fate = self.tell_balancer(node, port, f, |balancer, passing| balancer.on_arrival(passing, &mut errands));
        for &tag in &errands.answers {
            self.answer_from_switch(node, f, tag);
        }
        match fate {
            Fate::GoesOn => {}
            Fate::Waits => self.hold_at_switch(node, f),
            Fate::Ends => {
                self.give_back(node, f);
                self.all.frames.release(f);
            }
        }
        self.run_errands(node, &errands);
        fate == Fate::GoesOn
    }

    /// A time has come that a load balancer asked for.
    pub(super) fn on_balancer(&mut self, node: u32) {
        let mut errands = Errands::default();
        let now = self.events.now();
        self.nodes.switch(node).core.balancer().on_timeout(now, &mut errands);
        self.run_errands(node, &errands);
    }

    fn run_errands(&mut self, node: u32, errands: &Errands) {
        for &f in &errands.released {
            self.resume_at_switch(node, f);
        }
        if let Some(at) = errands.wake {
            self.schedule(node, Duty::Balancer, at);
        }
    }

    /// A frame without payload goes back to where another one is from.
    fn answer_from_switch(&mut self, node: u32, to: FrameId, tag: Tag) {
        let of = *self.all.frames.get(to);
        let f = self.all.frames.take();
        *self.all.frames.get_mut(f) = Frame {
            kind: PacketKind::Cnp,
            detail: Detail::BySwitch,
            src: of.dst,
            dst: of.src,
            sport: of.dport,
            dport: of.sport,
            queue_pair: of.reply_queue_pair,
            size: self.nodes.switch(node).sizes.cnp(0),
            ..Frame::default()
        };
        self.send_from_switch(node, f, tag);
    }
}
