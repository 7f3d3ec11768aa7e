// SPDX-License-Identifier: GPL-2.0-only
//! Where threads wait for each other. They meet every few microseconds, so that a short wait spins; a long one, as where somebody
//! else has the processor, sleeps.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Rounds of a short wait: some microseconds.
const SPINS: u32 = 100_000;

/// A barrier for a number of threads.
pub struct Gate {
    threads: usize,
    arrived: AtomicUsize,
    /// How often it has opened.
    turn: AtomicUsize,
    asleep: Mutex<usize>,
    opened: Condvar,
}

impl Gate {
    pub fn new(threads: usize) -> Gate {
        let (arrived, turn) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Gate { threads, arrived, turn, asleep: Mutex::new(0), opened: Condvar::new() }
    }

    /// Waits until all threads are here.
    pub fn wait(&self) {
        let turn = self.turn.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.turn.store(turn + 1, Ordering::Release);
            if *asleep > 0 {
                self.opened.notify_all();
            }
            return;
        }
        for _ in 0..SPINS {
            if self.turn.load(Ordering::Acquire) != turn {
                return;
            }
            std::hint::black_box(());
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        *asleep += 1;
        while self.turn.load(Ordering::Acquire) == turn {
            asleep = self.opened.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        *asleep -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Nobody is a round ahead of another, however slow that one is.
    #[test]
    fn all_pass_together() {
        let (gate, rounds) = (Gate::new(3), [const { AtomicUsize::new(0) }; 3]);
        thread::scope(|scope| {
            for own in 0..3 {
                let (gate, rounds) = (&gate, &rounds);
                scope.spawn(move || {
                    for round in 1..=2_000 {
                        if own == 0 && round % 500 == 0 {
                            thread::sleep(std::time::Duration::from_millis(2));
                        }
                        rounds[own].store(round, Ordering::SeqCst);
                        gate.wait();
                        assert!(rounds.iter().all(|other| other.load(Ordering::SeqCst) >= round));
                        gate.wait();
                    }
                });
            }
        });
    }
}
