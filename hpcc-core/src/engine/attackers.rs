// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attackers: nodes that send frames of their own, or change what passes them.

use super::agenda::Item;
use super::alarms::Duty;
use super::deceived::Deceived;
use super::frame::{Detail, Frame};
use super::paths::{KNOWN, UNKNOWN};
use super::state::Engine;
use crate::attack::{Attack, AttackKind, Fate, Forged, KnownFlow, Passing};
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::units::Nanos;
use alloc::vec::Vec;

/// How long an attacker that has nothing to send waits before it looks again.
const IDLE: Nanos = Nanos::MICROSECOND;
/// How often an attacker lets others go first: flows of its nanosecond, which a list begins by three items and a program at once.
const LATER: u8 = 3;

/// All attackers.
#[derive(Default)]
pub(super) struct Attackers {
    list: Vec<Attacker>,
    /// The traffic that each flow belongs to, and each job.
    flows: Vec<u32>,
    jobs: Vec<u32>,
    /// Senders may believe that bytes have arrived which have not.
    pub forge_acks: bool,
    /// The acknowledgement that a sender takes in is forged.
    pub is_deceiving: bool,
    /// Flows whose sender was told falsely that all has arrived.
    pub deceived: Vec<Deceived>,
}

struct Attacker {
    attack: Attack,
    /// It goes with the last flow.
    ends_with_flows: bool,
    is_gone: bool,
}

impl Attackers {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl Engine {
    /// Says which traffic each flow, and each job, belongs to, for attacks on a part.
    pub fn name_traffic(&mut self, flows: Vec<u32>, jobs: Vec<u32>) {
        (self.attackers.flows, self.attackers.jobs) = (flows, jobs);
    }

    /// An attack begins when its settings say so, and ends then or, if they leave that open, with the last flow unless a
    /// program says when. Returns its place among all.
    pub fn attack(&mut self, attack: Attack) -> u32 {
        self.checks_arrivals = true;
        // What it sends need not fit this network.
        self.make_room();
        let place = self.attackers.list.len() as u32;
        let (sends, start) = (attack.settings().kind.sends(), attack.settings().start);
        self.attackers.forge_acks |= attack.settings().kind == AttackKind::ForgedAck;
        // A program ends its own attacks; those of a file that it has opened are not its own.
        let ends_with_flows = !self.program.is_served || self.program.sees_flows;
        self.attackers.list.push(Attacker { attack, ends_with_flows, is_gone: false });
        if sends {
            self.agenda_at(start.max(self.events.now()), Item::Attack(place, LATER));
        }
        place
    }

    /// An attacker goes.
    pub fn end_attack(&mut self, place: u32) {
        self.attackers.list[place as usize].is_gone = true;
    }

    /// The attacks.
    pub fn attacks(&self) -> impl Iterator<Item = &Attack> {
        self.attackers.list.iter().map(|attacker| &attacker.attack)
    }

    /// Whether the flows that were to begin have finished.
    fn is_done(&self) -> bool {
        self.flows.finished == self.flows.added && self.work.jobs.unfinished().next().is_none()
    }

    /// The traffic of a flow, or of the job of a message.
    fn traffic_of(&self, id: u32) -> Option<u32> {
        let job = || self.attackers.jobs.get(self.work.jobs.job_of(id)? as usize);
        self.attackers.flows.get(id as usize).or_else(job).copied()
    }

    /// It is time for an attacker to send.
    pub(super) fn on_attack(&mut self, place: u32, later: u8) {
        let now = self.events.now();
        if let Some(later) = later.checked_sub(1) {
            return self.agenda_at(now, Item::Attack(place, later));
        }
        let Attacker { attack, ends_with_flows, is_gone } = &self.attackers.list[place as usize];
        let (node, needs_flows) = (attack.settings().from, attack.needs_flows());
        if *is_gone {
            return;
        }
        if (*ends_with_flows && self.is_done()) || attack.settings().stop.is_some_and(|stop| now >= stop) {
            if let Some(priority) = attack.resume() {
                self.pause_around(node, priority, false);
            }
            return;
        }
        let flows = if needs_flows { self.victims_of(place) } else { Vec::new() };
        let attack = &mut self.attackers.list[place as usize].attack;
        let forged = attack.forge(&flows).filter(|forged| forged.section.len() <= self.all.frames.room());
        let gap = forged.as_ref().map_or(IDLE, |forged| attack.interval(forged.size));
        self.agenda_at(now + gap, Item::Attack(place, LATER));
        match forged {
            Some(Forged { kind: PacketKind::Pfc, priority, .. }) => self.pause_around(node, priority, true),
            Some(forged) => self.emit(node, &forged),
            None => {}
        }
    }

    /// The flows in progress that an attacker is after.
    fn victims_of(&mut self, place: u32) -> Vec<KnownFlow> {
        let mut flows = Vec::new();
        for node in 0..self.first_port.len() as u32 {
            let Some(host) = self.nodes.as_host(node) else { continue };
            let attack = &self.attackers.list[place as usize].attack;
            for sending in host.traffic.sending.iter().flatten() {
                for message in sending.messages.iter() {
                    let traffic = self.traffic_of(message.owner.id()).unwrap_or(u32::MAX);
                    if attack.is_victim(node, traffic) {
                        flows.push(KnownFlow {
                            src: node,
                            dst: sending.dst,
                            sport: sending.sport,
                            queue_pair: sending.receiver,
                            sender: sending.key,
                            end: message.first_seq + message.size,
                            sent: self.sent_end(node, sending.key),
                        });
                    }
                }
            }
        }
        flows.sort_by_key(|flow| (flow.src, flow.dst, flow.sport));
        flows
    }

    fn pause_around(&mut self, node: u32, priority: u8, pause: bool) {
        for port in 0..self.fabric.ports(node).len() as u16 {
            self.pause(node, port, priority, pause);
        }
    }

    /// A frame leaves an attacker, as any other of the node would.
    fn emit(&mut self, node: u32, forged: &Forged) {
        let is_switch = self.fabric.is_switch(node);
        let wire_port = if is_switch { self.nodes.switch(node).wire_port } else { self.nodes.host(node).wire_port };
        let frame = Frame {
            kind: forged.kind,
            priority: forged.priority,
            seq: forged.seq,
            src: forged.src,
            dst: forged.dst,
            sport: forged.sport,
            dport: wire_port.unwrap_or_default(),
            queue_pair: forged.queue_pair,
            size: forged.size,
            detail: if forged.kind == PacketKind::Ack { Detail::Forged } else { Detail::None },
            ..Frame::default()
        };
        if is_switch {
            return self.send_by_switch(node, &frame, &forged.section);
        }
        if let Some(port) = self.port_to(node, &frame.key(), frame.dst) {
            self.send_frame(node, port, 0, &frame, &forged.section);
        }
    }

    /// A frame has come to a node, where attackers may change it. Returns whether it goes on now.
    #[cold]
    pub(super) fn pass_attackers(&mut self, p: PortId, f: FrameId) -> bool {
        let node = self.all.ports[p].node;
        match self.show_to_attackers(node, f) {
            Fate::GoesOn => return true,
            Fate::Waits(delay) => {
                let at = self.events.now() + delay;
                self.schedule(node, Duty::HeldBack(f), at);
            }
            Fate::Ends => {
                self.totals.lose(self.all.frames.get(f));
                self.give_back(node, f);
                self.all.frames.release(f);
            }
        }
        false
    }

    /// An attacker lets a frame go on that it has held back.
    pub(super) fn let_pass(&mut self, node: u32, f: FrameId) {
        let frame = self.all.frames.get_mut(f);
        // Routes may have changed meanwhile.
        (frame.at, frame.ports) = (self.events.now().0, [UNKNOWN; KNOWN]);
        let first = self.port_id(node, 0);
        self.receive_at_switch(node, first, f);
    }

    /// Whether an attacker at a switch clears the mark that this frame would leave with.
    #[cold]
    pub(super) fn is_bleached(&mut self, node: u32, f: FrameId) -> bool {
        let traffic = self.traffic_of_frame(f);
        let now = self.events.now();
        let mut list = core::mem::take(&mut self.attackers.list);
        let is_bleached = watching(&mut list, node).any(|attack| {
            let frame = self.all.frames.get(f);
            let is_data = frame.kind == PacketKind::Data && !frame.is_of_stack();
            let mut marked = Passing { is_marked: is_data, is_answer: false, len: 0, ..passing(frame, traffic) };
            is_data && attack.on_frame(now, &mut marked, &mut []) == Fate::GoesOn && !marked.is_marked
        });
        self.attackers.list = list;
        is_bleached
    }

    /// A switch has made a notification, which attackers there may copy.
    #[cold]
    pub(super) fn show_notification(&mut self, node: u32, f: FrameId) {
        let mut list = core::mem::take(&mut self.attackers.list);
        for attack in watching(&mut list, node) {
            let (frame, bytes) = self.all.frames.with_section(f);
            attack.on_frame(self.events.now(), &mut passing(frame, None), &mut bytes.to_vec());
        }
        self.attackers.list = list;
    }

    fn show_to_attackers(&mut self, node: u32, f: FrameId) -> Fate {
        let now = self.events.now();
        let mut fate = Fate::GoesOn;
        let mut list = core::mem::take(&mut self.attackers.list);
        for attack in watching(&mut list, node) {
            let traffic = self.traffic_of_frame(f);
            let (frame, bytes) = self.all.frames.with_section(f);
            let mut passing = passing(frame, traffic);
            let was_marked = passing.is_marked;
            fate = attack.on_frame(now, &mut passing, bytes);
            frame.set_telemetry_len(passing.len);
            if was_marked && !passing.is_marked {
                frame.congestion_marked = false;
                self.totals.marks_lost += 1;
            }
            if fate != Fate::GoesOn {
                break;
            }
        }
        self.attackers.list = list;
        fate
    }

    /// The traffic that a frame with telemetry belongs to.
    fn traffic_of_frame(&mut self, f: FrameId) -> Option<u32> {
        let frame = self.all.frames.get(f);
        let is_cnp = frame.kind == PacketKind::Cnp;
        if !(frame.kind.has_telemetry() || is_cnp) || frame.is_of_stack() {
            return None;
        }
        // A frame that collects telemetry goes to the receiver and names the queue pair for answers. The sequence number of
        // an answer is that behind the last byte that it answers.
        let (sender, queue_pair, seq) = if frame.collects() {
            (frame.src, frame.reply_queue_pair, frame.seq)
        } else {
            // A CNP is of no byte: of the newest.
            (frame.dst, frame.queue_pair, if is_cnp { u64::MAX } else { frame.seq.saturating_sub(1) })
        };
        self.nodes.as_host(sender)?;
        let sending = self.nodes.host(sender).traffic.get(queue_pair)?;
        let message = sending.messages.iter().rev().find(|message| message.first_seq <= seq)?;
        let id = message.owner.id();
        self.traffic_of(id)
    }
}

/// The attacks at a node that look at what passes.
fn watching(list: &mut [Attacker], node: u32) -> impl Iterator<Item = &mut Attack> {
    let is_here = move |attacker: &&mut Attacker| {
        !attacker.is_gone && attacker.attack.settings().from == node && attacker.attack.watches()
    };
    list.iter_mut().filter(is_here).map(|attacker| &mut attacker.attack)
}

fn passing(frame: &Frame, traffic: Option<u32>) -> Passing {
    let &Frame { kind, src, dst, sport, queue_pair, .. } = frame;
    let is_of_host = !frame.is_of_stack();
    let is_answer = match kind {
        PacketKind::Ack | PacketKind::Nack | PacketKind::Feedback => is_of_host,
        PacketKind::Cnp => frame.detail != Detail::BySwitch,
        PacketKind::Data
        | PacketKind::Probe
        | PacketKind::Trimmed
        | PacketKind::Pfc
        | PacketKind::FastCnp
        | PacketKind::Icmpv6 => false,
    };
    let is_marked = kind == PacketKind::Data && frame.congestion_marked && is_of_host;
    Passing { kind, src, dst, sport, queue_pair, traffic, is_answer, is_marked, len: frame.telemetry_len.into() }
}
