// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loop: takes the next event, and what all nodes have in common.

use super::events::{Order, What};
use super::observer::Sight;
use super::state::{Engine, Item};
use super::traffic::{Completion, FlowRequest, Started};
use crate::fabric::Fabric;
use crate::frame::PacketKind;
use crate::random::Rng;
use crate::units::Nanos;
use alloc::vec::Vec;

/// Why a run pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time that was given has come, or nothing is left to do.
    Time,
    /// It is time for a sample.
    Sample,
    /// The run cannot go on: [`Engine::fault`] says why.
    Fault,
}

impl Engine {
    /// The present time.
    pub fn now(&self) -> Nanos {
        self.events.now()
    }

    /// Events so far.
    pub fn events_run(&self) -> u64 {
        self.events_run
    }

    /// Frames put on links so far.
    pub fn packet_hops(&self) -> u64 {
        self.ports.iter().map(|port| port.counters.frames).sum()
    }

    /// Counts an event. In canonical order those of no node, and of time 0, are not counted: how many there are does not depend
    /// on the network alone.
    #[inline]
    fn count(&mut self, what: What) {
        let is_of_node = !matches!(what, What::Agenda(_)) && self.events.now() > Nanos(0);
        self.events_run += u64::from(self.events.order() == Order::Insertion || is_of_node);
    }

    /// Flows that have begun since the last call.
    pub fn take_started(&mut self) -> Vec<Started> {
        core::mem::take(&mut self.started)
    }

    /// Flows that could not begin, since the last call.
    pub fn take_refused(&mut self) -> Vec<FlowRequest> {
        core::mem::take(&mut self.refused)
    }

    /// Flows that are still to begin.
    pub fn waiting(&self) -> impl Iterator<Item = &FlowRequest> {
        self.requests.iter()
    }

    /// The network with its routes.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Flows that have finished since the last call.
    pub fn take_completed(&mut self) -> Vec<Completion> {
        core::mem::take(&mut self.completed)
    }

    /// Runs all events before `end`, unless something comes in between.
    pub fn run_until(&mut self, end: Nanos) -> Stop {
        while let Some(next) = self.events.next_time().filter(|&next| next < end) {
            if next >= self.window_end {
                self.end_window(next);
            }
            let limit = self.window_end.min(end);
            self.run_before(limit);
            if core::mem::take(&mut self.is_sampled) {
                return Stop::Sample;
            }
            if self.fault.is_some() {
                return Stop::Fault;
            }
        }
        Stop::Time
    }

    /// Takes a sample at a time, in the place that was [reserved](Engine::reserve_sample).
    pub fn sample_at(&mut self, at: Nanos, place: u64) {
        self.agenda.push(Item::Sample);
        self.events.add_agenda_reserved(at.0, place, self.agenda.len() as u32 - 1);
    }

    /// Reserves the place of a sample among the events of its time.
    pub fn reserve_sample(&mut self) -> u64 {
        self.events.reserve()
    }

    /// The time of the next event; `None` if there is none.
    pub fn next_time(&self) -> Option<Nanos> {
        self.events.next_time()
    }

    /// Why the run cannot go on, if it cannot.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn run_before(&mut self, limit: Nanos) {
        while !self.is_paused()
            && let Some(what) = self.events.next_before(limit)
        {
            self.count(what);
            self.look_ahead();
            match what {
                What::Arrival(frame) => self.arrive(frame),
                What::End(port) => {
                    self.ports[port as usize].is_busy = false;
                    self.try_send(port);
                }
                What::Alarm(alarm) => self.on_alarm(alarm),
                What::Agenda(item) => self.on_item(item),
            }
        }
    }

    #[inline]
    fn is_paused(&self) -> bool {
        self.is_sampled || self.fault.is_some()
    }

    fn end_window(&mut self, next: Nanos) {
        // The key that was freed last is used first: the order must not depend on who closes what.
        self.closings.sort_unstable();
        for (host, receiver) in core::mem::take(&mut self.closings) {
            self.close_receiver(host, receiver);
        }
        self.window_end = Nanos((next.0 / self.window.0.max(1) + 1) * self.window.0.max(1));
    }

    fn on_item(&mut self, place: u32) {
        match self.agenda[place as usize].clone() {
            Item::Due => self.on_due(),
            Item::Application(request) => self.agenda_at(self.events.now(), Item::Start(request)),
            Item::Start(request) => self.start_flow(request),
            Item::Links(change) => self.on_links(&change),
            Item::Sample => self.is_sampled = true,
        }
    }

    #[inline]
    pub(super) fn rng(rngs: &mut [Rng], node: u32) -> &mut Rng {
        let place = if rngs.len() == 1 { 0 } else { node as usize };
        &mut rngs[place]
    }

    /// The place of a node's port.
    #[inline]
    pub(super) fn place(&self, node: u32, port: u16) -> u32 {
        self.first_port[node as usize] + u32::from(port)
    }

    /// A frame has come to the end of its link.
    #[inline]
    fn arrive(&mut self, f: u32) {
        let frame = self.frames.get(f);
        let (node, p) = (frame.node, self.place(frame.node, frame.in_port));
        let is_pfc = frame.kind == PacketKind::Pfc;
        let port = &mut self.ports[p as usize];
        let may_be_lost = self.loses_pfc || !is_pfc;
        if !port.is_up || (may_be_lost && port.loss.is_some_and(|place| self.losses[place as usize].is_lost())) {
            port.counters.lost += 1;
            if !port.is_up {
                self.show(Sight::Lost, p, f);
            }
            return self.frames.release(f);
        }
        self.show(Sight::Arrival, p, f);
        if is_pfc {
            return self.on_pfc(p, f);
        }
        if self.ports[p as usize].is_host { self.receive_at_host(node, f) } else { self.receive_at_switch(node, f) }
    }

    /// The far end pauses or resumes a priority.
    #[cold]
    fn on_pfc(&mut self, p: u32, f: u32) {
        let frame = self.frames.get(f);
        let (bit, pause) = (1 << (frame.priority & 7), frame.pause);
        self.frames.release(f);
        self.show_pause(p, pause);
        let port = &mut self.ports[p as usize];
        if pause {
            port.counters.pauses += 1;
            port.paused |= bit;
            return;
        }
        port.paused &= !bit;
        self.try_send(p);
    }

    /// Whether a port sends. One that does is asked whether to wait for the end, for now something may wait for it.
    #[inline]
    pub(super) fn is_busy(&mut self, p: u32) -> bool {
        let port = &self.ports[p as usize];
        if port.is_busy || self.events.has_passed(port.end_at, port.end_rank, port.node) {
            return port.is_busy;
        }
        // At time 0 no turn of a node is over yet, but a port that has never sent is idle.
        if port.end_at == 0 {
            return false;
        }
        self.await_end(p);
        true
    }

    /// The end of a transmission becomes an event if somebody waits for it.
    #[inline]
    fn await_end(&mut self, p: u32) {
        let port = &self.ports[p as usize];
        if port.waiting != 0 || !port.is_host || self.host_awaits_end(p) {
            let port = &mut self.ports[p as usize];
            port.is_busy = true;
            self.events.add_reserved(port.end_at, port.end_rank, port.node, p);
        }
    }

    /// Sends a frame if the port is idle and there is one.
    #[inline]
    pub(super) fn try_send(&mut self, p: u32) {
        if !self.ports[p as usize].is_up || self.is_busy(p) {
            return;
        }
        // Busy already while the node decides: it may send a PFC frame, which must not overtake on this port.
        self.ports[p as usize].is_busy = true;
        let next = if self.ports[p as usize].is_host { self.next_of_host(p) } else { self.next_of_switch(p) };
        match next {
            Some(frame) => {
                self.show(Sight::Dequeue, p, frame);
                self.transmit(p, frame);
            }
            None => self.ports[p as usize].is_busy = false,
        }
    }

    /// A frame begins to leave.
    #[inline]
    pub(super) fn transmit(&mut self, p: u32, f: u32) {
        self.show(Sight::Departure, p, f);
        let now = self.events.now().0;
        let port = &mut self.ports[p as usize];
        let frame = self.frames.get_mut(f);
        port.counters.frames += 1;
        port.counters.telemetry_bytes += frame.telemetry_cost();
        (frame.node, frame.in_port) = (port.peer, port.peer_port);
        port.end_at = now + port.tx_time(now, frame.size);
        // The end of the transmission comes before the arrival, as in the reference.
        port.end_rank = self.events.reserve();
        port.is_busy = false;
        let (arrives, peer, peer_port) = (port.end_at + port.delay.0, port.peer, port.peer_port);
        if port.waiting != 0 || port.is_host {
            self.await_end(p);
        }
        self.events.add_arrival(arrives, peer, peer_port, f);
    }

    #[inline]
    pub(super) fn enqueue(&mut self, p: u32, f: u32, queue: u8) {
        self.ports[p as usize].enqueue(&mut self.frames, f, queue);
        self.show(Sight::Enqueue, p, f);
    }
}
