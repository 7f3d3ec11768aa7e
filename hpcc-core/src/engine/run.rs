// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loop: takes the next event, and what all nodes have in common.

use super::agenda::Item;
use super::events::{EventKind, Order};
use super::flight::InFlight;
use super::frame::Detail;
use super::groups::NOBODY;
use super::observer::Sight;
use super::port::Port;
use super::state::{Arenas, Engine};
use crate::fabric::Fabric;
use crate::frame::PacketKind;
use crate::ids::{FrameId, ItemId, PortId};
use crate::units::Nanos;
use alloc::sync::Arc;
use core::hint::black_box;

/// Why a run pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time that was given has come, or nothing is left to do.
    Time,
    /// It is time for a sample.
    Sample,
    /// Something has happened that a [program](Engine::serve_program) is to be told of, or that was
    /// [asked for](Engine::ask).
    Completion,
    /// The run cannot go on: [`Engine::fault`] says why.
    Fault,
    /// Links change next, and with them routes, which is [announced](Engine::announce_links).
    Routes,
}

impl Engine {
    /// The present time.
    pub fn now(&self) -> Nanos {
        self.events.now()
    }

    #[inline]
    pub(super) fn is_canonical(&self) -> bool {
        self.events.order() == Order::Canonical
    }

    /// Whether events come one by one, and not each group of nodes by itself.
    #[inline]
    pub(super) fn is_single_file(&self) -> bool {
        self.program.is_served || self.program.is_clocked || self.chance.rngs.are_shared() || !self.is_canonical()
    }

    /// Events so far.
    pub fn events_run(&self) -> u64 {
        self.events_run
    }

    /// Frames put on links so far.
    pub fn packet_hops(&self) -> u64 {
        self.totals.frames
    }

    /// Counts an event. In canonical order those of no node, and of time 0, are not counted: how many there are does not depend
    /// on the network alone.
    #[inline]
    fn count(&mut self, what: EventKind) {
        let is_of_node = !matches!(what, EventKind::Agenda(_)) && self.events.now() > Nanos(0);
        self.events_run += u64::from(self.events.order() == Order::Insertion || is_of_node);
    }

    /// The network with its routes.
    pub fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// Runs what is next, before `end`: what concerns no node, or a window that begins at `next`.
    pub(super) fn step(&mut self, next: Nanos, end: Nanos) {
        let limit = self.limit_of(end);
        if self.is_single_file() { self.run_all(next, limit) } else { self.run_groups(next, limit) }
    }

    /// Runs what concerns no node, if that is next; otherwise each group by itself, until somebody else could reach it.
    fn run_groups(&mut self, from: Nanos, limit: Nanos) {
        let mut is_due = false;
        // A part that cannot go on tells the others when they meet, and not before.
        while self.pause.is_none()
            && (self.fault.is_none() || self.parts.are_several())
            && let Some((at, item)) = self.all.agenda.pop_before(from.0 + 1)
        {
            self.events.begin(at, self.all.agenda.rank(item));
            self.on_item(item);
            is_due = true;
        }
        if is_due {
            return;
        }
        let end = limit.0.min(from.0 + self.groups.window());
        let end = self.all.agenda.next_time().map_or(end, |next| next.min(end));
        let mut due = core::mem::take(&mut self.groups.due);
        if self.parts.are_several() {
            // Their frames may have made somebody due.
            self.groups.next_time();
        }
        self.groups.take_due(end, &mut due);
        let is_recording = self.skip.is_recording();
        for &group in &due {
            self.open(group, from.0, end);
            if is_recording {
                self.run_recorded();
            }
            while let Some(what) = self.events.take(&self.all) {
                self.handle(what);
            }
            self.close();
        }
        self.groups.due = due;
    }

    /// Runs the events of all nodes, and what concerns none, one by one.
    fn run_all(&mut self, from: Nanos, limit: Nanos) {
        if self.groups.running == NOBODY {
            let mut due = core::mem::take(&mut self.groups.due);
            self.groups.take_due(u64::MAX, &mut due);
            self.groups.due = due;
            self.open(0, from.0, limit.0);
            while let Some((at, item)) = self.all.agenda.pop_before(self.events.end()) {
                self.events.add(at, EventKind::Agenda(item), &self.all);
            }
        }
        if self.program.is_clocked {
            self.run_clocked(limit);
        } else {
            self.run_events(limit);
        }
        if self.events.next_time().is_none() {
            self.close();
        }
    }

    /// Runs events before `limit` one by one: a program may have something to do before the window ends that was opened.
    fn run_events(&mut self, limit: Nanos) {
        while self.events.next_time().is_some_and(|next| next < limit)
            && let Some(what) = self.events.take(&self.all)
        {
            self.handle(what);
            if self.pause.is_some() || self.fault.is_some() {
                break;
            }
        }
    }

    /// A group begins its window: what its ports and alarms know to happen in it becomes events.
    fn open(&mut self, group: u32, start: u64, end: u64) {
        self.events.open(start, end, self.groups.are_several(group));
        let mut ports = core::mem::take(&mut self.groups.due_ports);
        self.groups.begin_turn(group, self.events.end(), &mut ports);
        let mut sum = 0;
        for &p in &ports {
            sum ^= self.all.flights[p].load(end, &self.all.frames);
            sum ^= self.all.ports[p].load(end - start, &self.all.frames);
        }
        black_box(sum);
        for &p in &ports {
            let port = &self.all.ports[p];
            let (node, end_at, wake_at, is_busy) = (port.node, port.end_at, port.wake_at, port.is_busy);
            if is_busy {
                self.add_here(end_at, node, EventKind::End(p));
            }
            if wake_at != u64::MAX {
                self.add_here(wake_at, node, EventKind::Wake(p));
            }
            if let Some(at) = self.all.flights[p].first_at() {
                self.add_here(at, node, EventKind::Arrival(p));
            }
        }
        self.groups.due_ports = ports;
        while let Some((at, alarm)) = self.groups.take_alarm(self.events.end()) {
            self.events.add(at, EventKind::Alarm(alarm), &self.all);
        }
    }

    fn close(&mut self) {
        self.groups.end_turn();
        self.events.close();
    }

    /// Something happens later at the node that runs now, if one does.
    #[inline(always)]
    fn add_here(&mut self, at: u64, node: u32, what: EventKind) {
        if at < self.events.end() {
            return self.events.add(at, what, &self.all);
        }
        self.add_later(at, self.groups.of(node), what);
    }

    #[inline]
    fn add_later(&mut self, at: u64, group: u32, what: EventKind) {
        match what {
            EventKind::Arrival(port) | EventKind::End(port) | EventKind::Wake(port) => {
                self.groups.note_port(group, port, at)
            }
            EventKind::Alarm(alarm) => {
                let rank = self.all.alarms.get(alarm).rank;
                self.groups.note_alarm(group, (at, rank, alarm));
            }
            EventKind::Agenda(_) => self.groups.note(group, at),
        }
    }

    /// Something happens at a node at a time: in its present window, or in one to come.
    #[inline]
    pub(super) fn add(&mut self, at: u64, node: u32, what: EventKind) {
        let group = self.groups.of(node);
        if group == self.groups.running && at < self.events.end() {
            return self.events.add(at, what, &self.all);
        }
        self.add_later(at, group, what);
    }

    #[inline]
    pub(super) fn handle(&mut self, what: EventKind) {
        self.count(what);
        match what {
            EventKind::Arrival(port) => self.arrive(port),
            EventKind::End(port) => {
                self.all.ports[port].is_busy = false;
                self.try_send(port);
            }
            EventKind::Wake(port) => self.on_wake(port),
            EventKind::Alarm(alarm) => self.on_alarm(alarm),
            EventKind::Agenda(item) => self.on_item(item),
        }
    }

    /// Takes a sample at a time, in the place that was [reserved](Engine::reserve_sample).
    pub fn sample_at(&mut self, at: Nanos, place: u64) {
        self.add_item(at, place, Item::Sample);
    }

    /// Whether nothing that concerns no node comes before a sample at this time, in this place: it finds what the last one found.
    pub fn is_next(&self, at: Nanos, place: u64) -> bool {
        !self.is_single_file() && at == self.now() && self.all.agenda.first().is_none_or(|next| next > (at.0, place))
    }

    /// Reserves the place of a sample among the events of its time.
    pub fn reserve_sample(&mut self) -> u64 {
        self.reserve_item()
    }

    /// The time of the next event; `None` if there is none.
    pub fn next_time(&mut self) -> Option<Nanos> {
        let waiting = self.all.agenda.next_time().map(Nanos);
        let times = [self.events.next_time(), self.groups.next_time(), waiting, self.parts.next_time()];
        times.into_iter().flatten().min()
    }

    /// Why the run cannot go on, if it cannot.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn on_item(&mut self, item: ItemId) {
        let rank = self.all.agenda.rank(item);
        let Some(item) = self.all.agenda.take(item) else { return };
        match item {
            Item::Due => self.on_due(),
            Item::Application(request) => self.agenda_at(self.events.now(), Item::Start(request)),
            Item::Start(request) => self.start_flow(request, None),
            Item::Job(job) => self.begin_job(job),
            Item::Attack(attack, later) => self.on_attack(attack, later),
            Item::Links(change) => self.on_change(change, rank),
            Item::Quality(links, quality) => self.on_quality(&links, quality),
            Item::Storm { node, priority, pause } => self.on_storm(node, priority, pause),
            Item::Sample => self.sample_queues(),
        }
    }

    /// The place of a node's port.
    #[inline]
    pub(super) fn port_id(&self, node: u32, port: u16) -> PortId {
        self.first_port[node as usize].nth(port)
    }

    /// The first frame on its way to a port has come to the end of its link.
    #[inline]
    fn arrive(&mut self, p: PortId) {
        let (f, next) = self.all.flights[p].pop();
        let port = &self.all.ports[p];
        let (node, number, is_host) = (port.node, port.number, port.is_host);
        let frame = self.all.frames.get_mut(f);
        frame.ingress = number;
        let is_pfc = frame.kind == PacketKind::Pfc;
        if let Some(at) = next {
            self.add_here(at, node, EventKind::Arrival(p));
        }
        if self.checks_arrivals && self.is_lost(p, f) {
            return;
        }
        if is_pfc {
            return self.on_pfc(p, f);
        }
        if is_host { self.receive_at_host(node, f) } else { self.receive_at_switch(node, p.back(number), f) }
    }

    /// The far end pauses or resumes a priority.
    #[cold]
    fn on_pfc(&mut self, p: PortId, f: FrameId) {
        let frame = self.all.frames.get(f);
        if frame.detail == Detail::Credits {
            return self.on_credits(p, f);
        }
        let (priority, pause) = (frame.priority & 7, frame.detail == Detail::Pause);
        self.all.frames.release(f);
        self.note_heard_pause(p, priority, pause);
        self.hear_pfc(p, priority, pause);
    }

    /// A priority of a port is paused or resumed.
    pub(super) fn hear_pfc(&mut self, p: PortId, priority: u8, pause: bool) {
        self.show_pause(p, priority, pause);
        if !self.hear_watchdog(p, priority, pause) {
            return;
        }
        let port = &mut self.all.ports[p];
        let (bit, paused) = (1 << priority, port.paused_by_pfc());
        port.set_paused_by_pfc(if pause { paused | bit } else { paused & !bit });
        self.tell_pause(p);
        if !pause {
            self.try_send(p);
        }
    }

    /// A switch hears which priorities the far end of a port pauses.
    pub(super) fn tell_pause(&mut self, p: PortId) {
        let &Port { node, number, paused, is_host, .. } = &self.all.ports[p];
        if !is_host {
            self.nodes.switch(node).core.hear_pause(number, paused);
        }
    }

    /// Whether a port sends. One that does is asked whether to wait for the end, for now something may wait for it.
    #[inline]
    pub(super) fn is_busy(&mut self, p: PortId) -> bool {
        let port = &self.all.ports[p];
        if port.is_busy || self.events.has_passed(port.end_at, port.end_rank) {
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
    fn await_end(&mut self, p: PortId) {
        let port = &self.all.ports[p];
        if port.waiting != 0 || !port.is_host || self.host_awaits_end(p) {
            self.end_later(p);
        }
    }

    /// The end of a transmission becomes an event.
    #[inline]
    pub(super) fn end_later(&mut self, p: PortId) {
        let port = &mut self.all.ports[p];
        port.is_busy = true;
        let (at, node) = (port.end_at, port.node);
        self.add_here(at, node, EventKind::End(p));
    }

    /// Sends a frame if the port is idle and there is one.
    #[inline]
    pub(super) fn try_send(&mut self, p: PortId) {
        if !self.all.ports[p].is_free || self.is_busy(p) {
            return;
        }
        // Busy already while the node decides: it may send a PFC frame, which must not overtake on this port.
        let port = &mut self.all.ports[p];
        port.is_busy = true;
        let next = if port.is_host { self.next_of_host(p) } else { self.next_of_switch(p) };
        match next {
            Some(frame) => {
                self.show(Sight::Dequeue, p, frame);
                self.transmit(p, frame);
            }
            None => self.all.ports[p].is_busy = false,
        }
    }

    /// A frame begins to leave.
    #[inline]
    pub(super) fn transmit(&mut self, p: PortId, f: FrameId) {
        let now = self.events.now();
        // The end of the transmission comes before the arrival, as in the 2019 simulator.
        let (end_rank, rank) = (self.events.reserve(), self.events.reserve());
        self.show(Sight::Departure, p, f);
        if self.program.is_served {
            self.count_departure(p, f);
        }
        let Arenas { ports, frames, .. } = &mut self.all;
        let (port, frame) = (&mut ports[p], frames.get_mut(f));
        self.totals.frames += 1;
        self.totals.telemetry_bytes += frame.telemetry_cost();
        port.send(now, frame.size);
        port.end_rank = end_rank;
        port.is_busy = false;
        let arrives = port.end_at + port.delay.0;
        frame.at = arrives;
        let (peer, node, is_host, waits) = (port.peer, port.peer_node, port.is_host, port.waiting != 0);
        port.sent += if is_host { frame.size.into() } else { 0 };
        if self.all.flights[peer].has_rules {
            return self.leave_by_rules(p, f, rank);
        }
        if waits || (is_host && self.host_awaits_end(p)) {
            self.end_later(p);
        }
        if self.all.flights[peer].push(InFlight { at: arrives, rank, frame: f }) {
            self.add(arrives, node, EventKind::Arrival(peer));
        }
    }

    /// A frame is on its way, to another part of the network or to a node of this one.
    pub(super) fn put_on_link(&mut self, p: PortId, f: FrameId, rank: u64) {
        let (port, at) = (&self.all.ports[p], self.all.frames.get(f).at);
        let (peer, node) = (port.peer, port.peer_node);
        if !self.parts.is_own(node) {
            self.parts.parcel_to(node).load(&mut self.all.frames, f, at, peer);
        } else if self.all.flights[peer].push(InFlight { at, rank, frame: f }) {
            self.add(at, node, EventKind::Arrival(peer));
        }
    }

    #[inline]
    pub(super) fn enqueue(&mut self, p: PortId, f: FrameId, queue: u8) {
        self.all.ports[p].enqueue(&self.all.frames, f, queue);
        self.show(Sight::Enqueue, p, f);
    }
}
