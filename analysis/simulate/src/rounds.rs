// SPDX-License-Identifier: GPL-2.0-only
//! Rounds that threads go through together. In each, every part of a network has one turn, in a thread that is free: where somebody
//! else has a thread's processor, the others go on without it.
//!
//! They meet every few microseconds, so that a short wait spins; a long one sleeps.

use crate::usage::preemptions;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Polls before a waiting thread sleeps.
const LOOKS: u32 = 100_000;
/// For how long a thread stays away that lost its processor in a turn, so that others had to wait. A turn that stops midway costs as
/// long as the system gives others: some 4 ms.
const AWAY: Duration = Duration::from_millis(50);

/// The rounds that threads share.
pub struct Rounds {
    round: AtomicU64,
    is_running: AtomicBool,
    /// Whether [`Rounds::close`] has ended all.
    is_over: AtomicBool,
    /// Last round in which each part had its turn.
    taken: Vec<AtomicU64>,
    /// Turns of this round that are not over.
    left: AtomicUsize,
    idle: Mutex<Idle>,
    changed: Condvar,
}

/// Counts of idle threads.
struct Idle {
    /// Asleep until the next round.
    asleep: usize,
    /// Away for [`AWAY`] after a preemption.
    away: usize,
}

impl Rounds {
    pub fn new(parts: usize) -> Rounds {
        Rounds {
            round: AtomicU64::new(0),
            is_running: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            taken: (0..parts).map(|_| AtomicU64::new(0)).collect(),
            left: AtomicUsize::new(0),
            idle: Mutex::new(Idle { asleep: 0, away: 0 }),
            changed: Condvar::new(),
        }
    }

    /// The last round.
    pub fn last(&self) -> u64 {
        self.round.load(Ordering::Acquire)
    }

    /// Ends all: [`Worker::help`] returns.
    pub fn close(&self) {
        let _idle = self.idle();
        self.is_over.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Begins a round, the first or after all turns of the last. Returns whether somebody sleeps who will take part.
    pub fn begin(&self) -> bool {
        self.left.store(self.taken.len(), Ordering::Relaxed);
        let idle = self.idle();
        self.is_running.store(true, Ordering::Relaxed);
        self.round.fetch_add(1, Ordering::Release);
        if idle.asleep > 0 {
            self.changed.notify_all();
        }
        idle.asleep > 0
    }

    /// No round follows for now.
    fn stop(&self) {
        let idle = self.idle();
        self.is_running.store(false, Ordering::Release);
        if idle.asleep + idle.away > 0 {
            self.changed.notify_all();
        }
    }

    /// A thread leaves all turns to others for a while, unless nobody runs before.
    fn stay_away(&self) {
        let mut idle = self.idle();
        idle.away += 1;
        let is_running = |_: &mut Idle| self.is_running.load(Ordering::Acquire);
        let (mut idle, _) =
            self.changed.wait_timeout_while(idle, AWAY, is_running).unwrap_or_else(PoisonError::into_inner);
        idle.away -= 1;
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that goes through rounds.
pub struct Worker {
    /// The part whose turn it takes first.
    own: usize,
    /// The last round in which it looked for turns.
    seen: u64,
    /// Preemptions of the thread at the last look.
    preemptions: u64,
}

impl Worker {
    pub fn new(own: usize) -> Worker {
        Worker { own, seen: 0, preemptions: 0 }
    }

    /// Takes turns until nobody runs. `turn` has the turn of a part in a round, and returns whether more follow.
    pub fn run(&mut self, rounds: &Rounds, turn: impl Fn(usize, u64) -> bool) {
        while self.wait(rounds, || !rounds.is_running.load(Ordering::Acquire)) {
            self.take_turns(rounds, &turn);
        }
    }

    /// Takes turns until all is over.
    pub fn help(&mut self, rounds: &Rounds, turn: impl Fn(usize, u64) -> bool) {
        while self.wait(rounds, || rounds.is_over.load(Ordering::Acquire)) {
            self.take_turns(rounds, &turn);
        }
    }

    /// Waits for a round that it has not seen. Returns whether there is one: there is none if `is_over`.
    fn wait(&mut self, rounds: &Rounds, is_over: impl Fn() -> bool) -> bool {
        let last = self.seen;
        let mut look = || {
            self.seen = rounds.last();
            self.seen != last || is_over()
        };
        if !(0..LOOKS).any(|_| std::hint::black_box(look())) {
            let mut idle = rounds.idle();
            idle.asleep += 1;
            while !look() {
                idle = rounds.changed.wait(idle).unwrap_or_else(PoisonError::into_inner);
            }
            idle.asleep -= 1;
        }
        self.seen != last
    }

    /// Has the turns of this round that nobody else takes. Who has the last one begins the next round.
    fn take_turns(&mut self, rounds: &Rounds, turn: &impl Fn(usize, u64) -> bool) {
        let round = self.seen;
        let parts = rounds.taken.len();
        for part in (self.own..parts).chain(0..self.own) {
            let taken = &rounds.taken[part];
            if taken.compare_exchange(round - 1, round, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                continue;
            }
            let goes_on = turn(part, round);
            if rounds.left.fetch_sub(1, Ordering::AcqRel) > 1 {
                continue;
            }
            if !goes_on {
                rounds.stop();
            } else if rounds.begin() && self.was_preempted() {
                rounds.stay_away();
            }
            return;
        }
    }

    /// Whether somebody else has had its processor since it was asked last.
    fn was_preempted(&mut self) -> bool {
        let before = std::mem::replace(&mut self.preemptions, preemptions());
        self.preemptions > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Each part has one turn a round, after all turns of the last one, however slow a thread is and whoever begins.
    #[test]
    fn each_part_has_one_turn_a_round() {
        const PARTS: usize = 3;
        const ROUNDS: u64 = 500;
        let (rounds, turns) = (Rounds::new(PARTS), [const { AtomicU64::new(0) }; PARTS]);
        let turn = |own: usize| {
            let turns = &turns;
            move |part: usize, round: u64| {
                if own == 0 && round.is_multiple_of(100) {
                    thread::sleep(Duration::from_millis(2));
                }
                assert!(turns.iter().all(|others| others.load(Ordering::SeqCst) >= round - 1));
                assert_eq!(turns[part].fetch_add(1, Ordering::SeqCst), round - 1);
                !round.is_multiple_of(ROUNDS)
            }
        };
        thread::scope(|scope| {
            for own in 1..PARTS {
                let (rounds, turn) = (&rounds, turn(own));
                scope.spawn(move || Worker::new(own).help(rounds, turn));
            }
            let mut hand = Worker::new(0);
            for command in 1..=4 {
                rounds.begin();
                hand.run(&rounds, turn(0));
                assert_eq!(rounds.last(), command * ROUNDS);
            }
            rounds.close();
        });
    }
}
