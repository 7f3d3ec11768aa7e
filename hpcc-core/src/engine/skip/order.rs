// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is to happen at each node, in the order in which it was added: that decides what comes first in a nanosecond.

use crate::engine::alarms::Duty;
use crate::engine::state::Engine;
use crate::ids::{AlarmId, PortId};
use crate::units::Nanos;
use alloc::vec::Vec;

/// An event to come, or the end of a transmission that need not become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Coming {
    node: u32,
    rank: u64,
    /// What it is, the same for what stands in for it a period later.
    what: What,
    at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    End(u32),
    Wake(u32),
    /// By its place among all alarms, in the order of their times and numbers.
    Alarm(usize),
}

/// All that is to happen at a cut but for arrivals, whose order follows from their ports; and what of it moves in a period.
#[derive(Default)]
pub(super) struct Pending {
    all: Vec<Coming>,
    pub moves: Vec<bool>,
}

impl Pending {
    /// Whether this is to happen a period later than the other, in the same order. Then it is known what moves.
    pub fn follows(&mut self, before: &Pending, period: Nanos) -> bool {
        self.moves = self.all.iter().zip(&before.all).map(|(now, then)| now.at != then.at).collect();
        let pairs = self.all.iter().zip(&before.all).zip(&self.moves);
        self.all.len() == before.all.len()
            && pairs.clone().all(|((now, then), &moves)| now.is_like(then, moves, period))
            && keeps_order(self.all.iter().copied().zip(self.moves.iter().copied()))
    }

    /// Whether an alarm goes off in each period. If none does it is alike which there are: they end the periods.
    pub fn has_moving_alarm(&self) -> bool {
        self.all.iter().zip(&self.moves).any(|(coming, &moves)| moves && coming.is_alarm())
    }

    /// Whether this is to happen so much later than what is known, of which it is known what moves.
    pub fn is_known(&self, known: &Pending, elapsed: Nanos) -> bool {
        let all_alarms = known.has_moving_alarm();
        let counts = |coming: &&Coming| all_alarms || !coming.is_alarm();
        let known = known.all.iter().zip(&known.moves).filter(|(coming, _)| counts(coming));
        let own = self.all.iter().filter(counts);
        let alarms = self.all.iter().filter(|coming| !counts(coming)).map(|&coming| (coming, false));
        let mut merged: Vec<(Coming, bool)> = alarms.collect();
        merged.extend(own.clone().zip(known.clone()).map(|(&now, (_, &moves))| (now, moves)));
        merged.sort_unstable();
        own.clone().count() == known.clone().count()
            && own.zip(known).all(|(now, (then, &moves))| now.is_like(then, moves, elapsed))
            && keeps_order(merged.into_iter())
    }
}

impl Coming {
    fn is_alarm(&self) -> bool {
        matches!(self.what, What::Alarm(_))
    }

    /// Whether this is the other one, and, if it moves, so much later.
    fn is_like(&self, other: &Coming, moves: bool, elapsed: Nanos) -> bool {
        (self.node, self.what) == (other.node, other.what)
            && (!moves || self.at.checked_sub(other.at) == Some(elapsed.0))
    }
}

/// Whether what does not move was added before all that does at its node: so it is behind any number of periods, too.
fn keeps_order(all: impl Iterator<Item = (Coming, bool)>) -> bool {
    let mut node = u32::MAX;
    let mut has_moved = false;
    for (coming, moves) in all {
        if coming.node != node {
            (node, has_moved) = (coming.node, false);
        }
        if has_moved && !moves {
            return false;
        }
        has_moved |= moves;
    }
    true
}

/// What an alarm is about, in numbers, and whether it may go off once in a period: then it is a queue pair's timer.
pub(super) fn subject(duty: Duty) -> ([u64; 3], bool) {
    match duty {
        Duty::Timer { queue_pair, timer } => ([0, queue_pair.into(), timer.into()], true),
        Duty::Received(port) => ([1, port.into(), 0], false),
        Duty::Work(place) => ([2, place.into(), 0], false),
        Duty::Stop(queue_pair) => ([3, queue_pair.into(), 0], false),
        Duty::Watchdog(port, priority) => ([4, port.0.into(), priority.into()], false),
        Duty::RepeatPause(port, priority) => ([5, port.0.into(), priority.into()], false),
        Duty::EndPause(port, priority) => ([6, port.0.into(), priority.into()], false),
        Duty::Transport => ([7, 0, 0], false),
        Duty::Balancer => ([8, 0, 0], false),
        Duty::HeldBack(frame) => ([9, frame.0.into(), 0], false),
        Duty::Retry(port) => ([10, port.0.into(), 0], false),
    }
}

impl Engine {
    /// The place of an alarm that goes off at a time among all, by what it is about.
    pub(super) fn sorted(&self, (at, id): (u64, AlarmId)) -> (u32, [u64; 3], bool, u64, u64) {
        let alarm = self.all.alarms.get(id);
        (alarm.node, subject(alarm.duty).0, alarm.is_off, at, alarm.rank)
    }

    /// What is to happen at a cut.
    pub(super) fn pending(&self, now: Nanos) -> Pending {
        let mut all = Vec::new();
        for p in 0..self.all.ports.len() as u32 {
            let port = &self.all.ports[PortId(p)];
            let node = port.node;
            if port.end_at >= now.0 {
                all.push(Coming { node, rank: port.end_rank, what: What::End(p), at: port.end_at });
            }
            if port.wake_at != u64::MAX {
                all.push(Coming { node, rank: port.wake_rank, what: What::Wake(p), at: port.wake_at });
            }
        }
        let mut alarms: Vec<_> = self.groups.alarms().collect();
        alarms.sort_unstable_by_key(|&alarm| self.sorted(alarm));
        for (place, &(at, id)) in alarms.iter().enumerate() {
            let alarm = self.all.alarms.get(id);
            all.push(Coming { node: alarm.node, rank: alarm.rank, what: What::Alarm(place), at });
        }
        all.sort_unstable();
        Pending { all, moves: Vec::new() }
    }
}
