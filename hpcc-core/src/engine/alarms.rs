// SPDX-License-Identifier: MIT OR Apache-2.0
//! What nodes are to do at a time.

use super::events::EventKind;
use super::state::Engine;
use crate::ids::{AlarmId, FrameId, PortId, Table};
use crate::units::Nanos;
use alloc::vec::Vec;

/// Something that a node is to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Duty {
    /// A timer of a queue pair, by its number, goes off.
    Timer { queue_pair: u32, timer: u8 },
    /// A slow receiver has taken the frame that came in first by a port.
    Received(u16),
    /// A rank of a job, by its place among those that wait, goes on.
    Work(u32),
    /// The flow of a queue pair stops.
    Stop(u32),
    /// The pause of a priority at a switch's port may have lasted too long.
    Watchdog(PortId, u8),
    /// A port repeats its pause of a priority.
    RepeatPause(PortId, u8),
    /// The pause of a priority is over that a port has heard.
    EndPause(PortId, u8),
    /// The link of a port may send again, or has room for frames.
    Retry(PortId),
    /// A host's transport that is not RoCE has asked for this time.
    Transport,
    /// A switch's load balancer has.
    Balancer,
    /// An attacker has held a frame back until now.
    HeldBack(FrameId),
}

/// What a node is to do at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alarm {
    pub node: u32,
    pub duty: Duty,
    pub is_off: bool,
    /// When it was set, among all events that were added.
    pub rank: u64,
}

/// All alarms of a network; those that went off make room for others.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    alarms: Table<AlarmId, Alarm>,
    idle: Vec<AlarmId>,
}

impl Alarms {
    #[inline]
    fn set(&mut self, alarm: Alarm) -> AlarmId {
        if let Some(id) = self.idle.pop() {
            self.alarms[id] = alarm;
            return id;
        }
        self.alarms.push(alarm)
    }

    #[inline]
    pub fn get(&self, id: AlarmId) -> &Alarm {
        &self.alarms[id]
    }

    /// Nothing will happen when an alarm goes off.
    #[inline]
    pub fn call_off(&mut self, id: AlarmId) {
        self.alarms[id].is_off = true;
    }

    /// An alarm has gone off.
    #[inline]
    fn take(&mut self, id: AlarmId) -> Alarm {
        self.idle.push(id);
        self.alarms[id]
    }
}

impl Engine {
    /// A node is to do something at a time.
    pub(super) fn schedule(&mut self, node: u32, duty: Duty, at: Nanos) -> AlarmId {
        // A controller may ask for a time that has passed, or for one that never comes.
        let at = at.max(self.events.now()).min(Nanos(i64::MAX as u64));
        let alarm = Alarm { node, duty, is_off: false, rank: self.events.reserve() };
        let id = self.all.alarms.set(alarm);
        self.add(at.0, node, EventKind::Alarm(id));
        id
    }

    pub(super) fn on_alarm(&mut self, id: AlarmId) {
        let Alarm { node, duty, is_off, .. } = self.all.alarms.take(id);
        if is_off {
            return;
        }
        match duty {
            Duty::Timer { queue_pair, timer } => self.on_timeout(node, queue_pair, timer),
            Duty::Received(port) => self.rx_done(node, port),
            Duty::Work(place) => self.on_work(place),
            Duty::Stop(queue_pair) => self.stop_flow(node, queue_pair),
            Duty::Watchdog(port, priority) => self.on_watchdog(port, priority),
            Duty::RepeatPause(port, priority) => self.on_repeat_pause(port, priority),
            Duty::EndPause(port, priority) => self.on_end_pause(port, priority),
            Duty::Retry(port) => self.on_retry(port),
            Duty::Transport => self.on_transport_timer(node),
            Duty::Balancer => self.on_balancer(node),
            Duty::HeldBack(frame) => self.let_pass(node, frame),
        }
    }
}
