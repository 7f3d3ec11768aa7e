// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program does to a network under way, with which it takes turns: it has the present, then the engine runs until
//! something has happened that the program is to be told of.

use super::clock::ProgramClock;
use super::frame::{Frame, STACK};
use super::observer::{Event, PortCounts};
use super::state::Engine;
use super::traffic::{FlowRequest, Started};
use crate::balance::Tag;
use crate::cc::{Algorithm, CongestionControl};
use crate::ids::{FrameId, PortId, Table};
use crate::switch::FlowKey;
use crate::transport::QueuePair;
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;

/// The program that takes turns with the engine, if one does.
#[derive(Default)]
pub(super) struct Program {
    pub is_served: bool,
    /// It sees flows that were listed, and those of jobs, beside its own.
    pub sees_flows: bool,
    /// The clock that its congestion controls look at, but while the engine goes by it, and whether there is one.
    pub clock: Option<Box<dyn ProgramClock>>,
    pub is_clocked: bool,
    /// Says which frames are spoilt on their way to the ports that it judges.
    pub judge: Option<Box<dyn FrameJudge>>,
    /// What ports have sent and lost, for it alone.
    pub port_counts: Table<PortId, PortCounts>,
}

/// A program that decides which frames are spoilt, by models of errors of its own.
pub trait FrameJudge: Send {
    /// Whether a frame of so many bytes arrives at a node's port with errors, and is discarded there.
    fn spoils(&mut self, node: u32, port: u16, bytes: u32) -> bool;
}

/// A port as it is now.
#[derive(Clone, Copy, Debug)]
pub struct PortState {
    /// Bytes that wait, all queues.
    pub queued: u32,
    /// Priorities that the far end has paused; bits.
    pub paused: u8,
    /// Whether its link is whole.
    pub is_up: bool,
}

impl Frame {
    /// The same as a packet of a host's stack with so many bytes of payload.
    pub fn of_stack(self, payload: u32) -> Frame {
        Frame { payload, reply_queue_pair: STACK, ..self }
    }
}

impl Engine {
    /// Takes turns with a program from now on, which is before anything is scheduled: events come one by one, and
    /// [`run_until`](Engine::run_until) pauses behind those of which it is told.
    pub fn serve_program(&mut self) {
        self.program.is_served = true;
        self.program.port_counts = vec![PortCounts::default(); self.all.ports.len()].into();
        let network = self.fabric.network().clone();
        self.group(&network, &[]);
    }

    /// Shows the program all flows from now on, which is before any begins: [`run_until`](Engine::run_until) pauses behind the start of
    /// each, [`take_started`](Engine::take_started) has those that it starts itself, too, and queue pairs are opened at once, and
    /// stay.
    pub fn show_flows(&mut self) {
        self.program.sees_flows = true;
        self.flows.keeps_queue_pairs = true;
    }

    /// Lets a program judge what comes to these ports: before anything is scheduled. It sees its [clock](super::ProgramClock).
    pub fn judge(&mut self, ports: &[(u32, u16)], judge: Box<dyn FrameJudge>) {
        for &(node, port) in ports {
            let p = self.port_id(node, port);
            self.all.ports[p].is_judged = true;
        }
        self.checks_arrivals = true;
        self.program.judge = Some(judge);
    }

    /// It is `now`: all before has happened, and nothing of now has.
    pub fn advance(&mut self, now: Nanos) {
        if now > self.events.now() {
            self.events.begin(now.0, 0);
        }
    }

    /// A flow begins. `None` where it is not run here, or cannot begin, which is a [fault](Engine::take_fault).
    pub fn start_now(&mut self, request: FlowRequest) -> Option<Started> {
        let before = self.flows.started.len();
        self.start_flow(request, None);
        let started = self.flows.started.get(before).copied();
        if !self.program.sees_flows {
            self.flows.started.truncate(before);
        }
        started
    }

    /// Flows from a host may have this congestion control in place of its own from now on; returns its number there. A program's needs
    /// [a clock](Engine::follow_clock).
    pub fn add_control(&mut self, host: u32, algorithm: Box<dyn Algorithm>) -> u16 {
        self.nodes.host(host).core.add_control(algorithm)
    }

    /// The state of a flow's congestion control, if there is such a queue pair.
    pub fn with_controller<T>(
        &self,
        host: u32,
        queue_pair: u32,
        look: impl FnOnce(&dyn CongestionControl) -> T,
    ) -> Option<T> {
        let sender = self.nodes.as_host(host).and_then(|host| host.core.sender(queue_pair));
        sender.map(|sender| look(sender.controller()))
    }

    /// Takes the reason for which the run cannot go on.
    pub fn take_fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Shows the observer the frames of a port from now on.
    pub fn watch_port(&mut self, node: u32, port: u16) {
        self.checks_arrivals = true;
        let p = self.port_id(node, port);
        self.all.ports[p].is_watched = true;
    }

    /// Tells the observer what else happens at a node from now on.
    pub fn watch_node(&mut self, node: u32) {
        self.nodes.seat(node).is_watched = true;
    }

    /// Most bytes of a frame's section.
    pub fn room(&self) -> usize {
        self.all.frames.room()
    }

    /// The port by which a host's packet with this key leaves.
    pub fn port_to(&self, host: u32, key: &FlowKey, dst: u32) -> Option<u16> {
        self.nodes.as_host(host)?.core.route(key, dst)
    }

    /// Sends a frame that begins at a node by a port's queue, with a section that fits. Returns its place among all frames.
    pub fn send_frame(&mut self, node: u32, port: u16, queue: u8, frame: &Frame, section: &[u8]) -> FrameId {
        let f = self.all.frames.take();
        *self.all.frames.get_mut(f) = *frame;
        self.all.frames.put(f, section);
        let p = self.port_id(node, port);
        self.enqueue(p, f, queue);
        self.try_send(p);
        f
    }

    /// Sends a frame that begins at a switch.
    pub fn send_by_switch(&mut self, node: u32, frame: &Frame, section: &[u8]) {
        let f = self.all.frames.take();
        *self.all.frames.get_mut(f) = *frame;
        self.all.frames.put(f, section);
        self.send_from_switch(node, f, Tag::Nothing);
    }

    /// A node pauses a priority at the far end of a port, or resumes it.
    pub fn pause(&mut self, node: u32, port: u16, priority: u8, pause: bool) {
        if !self.fabric.is_switch(node) {
            self.hold(node, port, priority, pause);
            let size = self.nodes.host(node).pfc_bytes;
            let frame = self.pfc(self.port_id(node, port), size, priority, pause);
            self.send_frame(node, port, 0, &frame, &[]);
        } else {
            self.send_pfc(node, port, priority, pause);
        }
    }

    /// A port as it is now.
    pub fn port(&self, node: u32, port: u16) -> PortState {
        let port = &self.all.ports[self.port_id(node, port)];
        PortState { queued: port.queued, paused: port.paused, is_up: port.is_up }
    }

    /// Bytes that wait in a queue of a port.
    pub fn queued(&self, node: u32, port: u16, queue: u8) -> u64 {
        self.all.ports[self.port_id(node, port)].queued_of(&self.all.frames, queue)
    }

    /// Bytes that wait at a switch for a port, as the switch accounts for them; 0 of a host.
    pub fn accounted(&self, node: u32, port: u16) -> u32 {
        self.nodes.as_switch(node).map_or(0, |switch| switch.core.queued(port))
    }

    /// What a port has sent, and what was lost on its way there.
    pub fn port_counts(&self, node: u32, port: u16) -> PortCounts {
        self.program.port_counts.get(self.port_id(node, port)).copied().unwrap_or_default()
    }

    /// Whether a host has, or had, a queue pair with this key.
    pub fn knows(&self, host: u32, queue_pair: u32) -> bool {
        self.nodes.as_host(host).is_some_and(|host| host.core.knows(queue_pair))
    }

    /// The first sequence number that a queue pair has never sent.
    pub fn sent_end(&self, host: u32, queue_pair: u32) -> u64 {
        let sender = self.nodes.as_host(host).and_then(|host| host.core.sender(queue_pair));
        sender.map_or(0, QueuePair::snd_max)
    }

    #[cold]
    pub(super) fn count_departure(&mut self, p: PortId, f: FrameId) {
        let counts = &mut self.program.port_counts[p];
        counts.frames += 1;
        counts.telemetry_bytes += self.all.frames.get(f).telemetry_cost();
    }

    /// A frame has come to a host that is for another one, or a packet for the host's stack.
    #[cold]
    pub(super) fn hand_over(&mut self, node: u32, f: FrameId) {
        let (dst, ingress) = (self.all.frames.get(f).dst, self.all.frames.get(f).ingress);
        let host = self.nodes.host(node);
        if dst == node && (host.is_stack || host.is_shared) {
            self.tell_always(node, ingress, Event::Packet(f), Some(f));
        }
        self.all.frames.release(f);
    }
}
