// SPDX-License-Identifier: MIT OR Apache-2.0
//! What samples find in time that is left out: the queues of switches are what they were in the period that was run last.

use crate::engine::events::EventKind;
use crate::engine::state::Engine;
use crate::ids::{PortId, Table};
use crate::units::Nanos;
use alloc::vec::Vec;

/// A period with more changes of queues is not left out.
const MOST_CHANGES: usize = 1 << 22;

/// A queue of a switch has so many bytes from a time on, in ns after the beginning of the period.
#[derive(Clone, Copy, Debug)]
struct Change {
    after: u64,
    port: PortId,
    bytes: u32,
}

/// How the queues of switches change in a period.
#[derive(Default)]
pub(super) struct Log {
    /// When it began; `None`: nothing was noted.
    since: Option<Nanos>,
    changes: Vec<Change>,
    /// What they are, by port.
    queues: Table<PortId, u32>,
}

impl Log {
    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.since.is_none()
    }
}

/// Time that is left out.
pub(super) struct Replay {
    until: Nanos,
    period: u64,
    /// What queues are, by port, before the next change.
    queues: Table<PortId, u32>,
    /// That change, and when the period began that it is of.
    next: usize,
    began: Nanos,
    /// Switches whose queues may not be as in the last sample.
    touched: Vec<u32>,
}

impl Replay {
    /// When a queue changes next, as far as that is before the end of the time left out.
    fn next_change(&self, log: &Log) -> Nanos {
        let next = log.changes.get(self.next).map(|change| Nanos(self.began.0 + change.after));
        next.map_or(self.until, |next| next.min(self.until))
    }

    /// All changes before a time have happened; `tell` hears of the ports.
    fn go_to(&mut self, now: Nanos, log: &Log, mut tell: impl FnMut(PortId)) {
        let ahead = now.0.saturating_sub(self.began.0) / self.period;
        if ahead > 1 {
            // A period leads to what another one does.
            self.began += Nanos((ahead - 1) * self.period);
        }
        while self.next_change(log) < now.min(self.until) {
            let Change { port, bytes, .. } = log.changes[self.next];
            self.queues[port] = bytes;
            tell(port);
            self.next += 1;
            if self.next == log.changes.len() {
                (self.next, self.began) = (0, self.began + Nanos(self.period));
            }
        }
    }
}

impl Engine {
    fn queue_of(&self, p: PortId) -> u32 {
        let port = &self.all.ports[p];
        self.nodes.as_switch(port.node).map_or(0, |switch| switch.core.queued(port.number))
    }

    pub(super) fn queues(&self) -> Table<PortId, u32> {
        (0..self.all.ports.len() as u32).map(|p| self.queue_of(PortId(p))).collect()
    }

    /// Notes how queues change from now on.
    pub(super) fn begin_log(&mut self, now: Nanos) {
        self.skip.log = Log { since: Some(now), changes: Vec::new(), queues: self.queues() };
    }

    /// Whether nothing is missing in it. Its changes are in the order of time then.
    pub(super) fn is_log_whole(&mut self) -> bool {
        // Nodes run one after the other.
        self.skip.log.changes.sort_by_key(|change| change.after);
        let ports = (0..self.all.ports.len() as u32).map(PortId);
        self.skip.log.changes.len() < MOST_CHANGES
            && ports.into_iter().all(|p| self.skip.log.queues[p] == self.queue_of(p))
    }

    /// Runs the events of a group's window, and notes how queues change.
    #[cold]
    pub(in crate::engine) fn run_recorded(&mut self) {
        while let Some(what) = self.events.take(&self.all) {
            let changes = self.ports_of(what);
            self.handle(what);
            changes.for_each(|p| self.log_queue(PortId(p)));
        }
    }

    /// The ports whose queues an event may change: that which a frame goes to, if it is known, else all of a node.
    fn ports_of(&mut self, what: EventKind) -> core::ops::Range<u32> {
        let one = |p: PortId| p.0..p.0 + 1;
        let node = match what {
            EventKind::End(p) | EventKind::Wake(p) => return one(p),
            EventKind::Arrival(p) => {
                let node = self.all.ports[p].node;
                let frame = self.all.flights[p].first().map(|first| self.all.frames.get(first.frame));
                if let Some(egress) = frame.and_then(|frame| frame.next_port()) {
                    return one(self.first_port[node as usize].nth(egress));
                }
                node
            }
            EventKind::Alarm(alarm) => self.all.alarms.get(alarm).node,
            EventKind::Agenda(_) => return 0..0,
        };
        let first = self.first_port[node as usize].0;
        first..first + self.fabric.ports(node).len() as u32
    }

    fn log_queue(&mut self, p: PortId) {
        let bytes = self.queue_of(p);
        let after = self.events.now().0;
        let Log { since: Some(since), changes, queues } = &mut self.skip.log else { return };
        if core::mem::replace(&mut queues[p], bytes) != bytes && changes.len() < MOST_CHANGES {
            changes.push(Change { after: after - since.0, port: p, bytes });
        }
    }

    /// Samples find from now until then what the log says, from such queues on.
    pub(super) fn begin_replay(&mut self, now: Nanos, until: Nanos, queues: Table<PortId, u32>) {
        let nodes = self.first_port.len() as u32;
        let switches: Vec<u32> = (0..nodes).filter(|&node| self.nodes.seat(node).is_switch).collect();
        // Whoever had frames has something to say in the next sample that is taken.
        switches.iter().for_each(|&node| self.touch(node));
        let period = self.skip.walk.period().0.max(1);
        self.skip.replay = Some(Replay { until, period, queues, next: 0, began: now, touched: switches });
    }

    /// When something changes next that a sample may find: it finds the same before.
    pub fn next_change(&mut self) -> Option<Nanos> {
        let replay = self.skip.replay.as_ref().filter(|_| self.is_replaying());
        let replayed = replay.map(|replay| replay.next_change(&self.skip.log));
        self.next_time().into_iter().chain(replayed).min()
    }

    fn is_replaying(&self) -> bool {
        self.skip.replay.as_ref().is_some_and(|replay| self.events.now() < replay.until)
    }

    /// Takes a sample, if it is of time that is left out. Returns whether it is.
    pub(in crate::engine) fn replay_sample(&mut self) -> bool {
        if !self.is_replaying() {
            self.skip.replay = None;
            return false;
        }
        let now = self.events.now();
        let Some(mut replay) = self.skip.replay.take() else { return false };
        let mut touched = core::mem::take(&mut replay.touched);
        replay.go_to(now, &self.skip.log, |p| touched.push(self.all.ports[p].node));
        touched.sort_unstable();
        touched.dedup();
        self.watchers.sampled.switches.clear();
        for node in touched.drain(..) {
            let first = self.first_port[node as usize];
            let mut changes = 0;
            for p in (0..self.fabric.ports(node).len() as u16).map(|number| first.nth(number)) {
                changes |= replay.queues[p] ^ self.watchers.sampled.queues[p];
                self.watchers.sampled.queues[p] = replay.queues[p];
            }
            if changes != 0 {
                self.watchers.sampled.switches.push(node);
            }
        }
        replay.touched = touched;
        self.skip.replay = Some(replay);
        true
    }
}
