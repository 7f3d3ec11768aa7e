// SPDX-License-Identifier: MIT OR Apache-2.0
//! The timers of one flow, for a host that keeps the time.
//!
//! A controller arms its timers whenever it likes. After each event the host [takes](Timers::take_armed) the
//! set of those that were armed and schedules an event for each, lowest number first, in place of the timer's
//! earlier one. Arming anew counts even where the time stays the same: it moves the timer behind other events
//! of that nanosecond.

use crate::recurrence::{Plain, recurs};
use crate::units::Nanos;

/// Most timers of one controller. Timers of a queue pair's own have higher numbers.
pub const MAX_TIMERS: usize = 4;

/// A set of timers: bit n stands for timer n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Armed(pub u8);

/// When each timer of a flow is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    due: [Option<Nanos>; MAX_TIMERS],
    armed: Armed,
}

impl Timers {
    /// Arms a timer, in place of an earlier time. Numbers from [`MAX_TIMERS`] on do not exist and are ignored.
    pub fn arm(&mut self, timer: u8, at: Nanos) {
        if let Some(due) = self.due.get_mut(usize::from(timer)) {
            *due = Some(at);
            self.armed.0 |= 1 << timer;
        }
    }

    /// When a timer is due, if it is armed.
    pub fn due(&self, timer: u8) -> Option<Nanos> {
        self.due.get(usize::from(timer)).copied().flatten()
    }

    /// A timer has fired. Returns whether it was due.
    pub fn fire(&mut self, timer: u8, now: Nanos) -> bool {
        match self.due.get_mut(usize::from(timer)) {
            Some(due) if due.is_some_and(|at| at <= now) => {
                *due = None;
                true
            }
            _ => false,
        }
    }

    /// The timers that were armed since the last call.
    pub fn take_armed(&mut self) -> Armed {
        core::mem::take(&mut self.armed)
    }
}

recurs! { Timers { due: until, armed: plain, } }

impl Plain for Armed {
    fn words(&self, show: &mut impl FnMut(u64)) {
        self.0.words(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arming_is_told_once_and_anew_even_for_the_same_time() {
        let mut timers = Timers::default();
        timers.arm(2, Nanos(10));
        timers.arm(0, Nanos(20));
        assert_eq!(timers.take_armed(), Armed(0b101));
        assert_eq!(timers.take_armed(), Armed(0));
        timers.arm(2, Nanos(10));
        assert_eq!(timers.take_armed(), Armed(0b100));
    }

    #[test]
    fn only_a_due_timer_fires_and_only_once() {
        let mut timers = Timers::default();
        timers.arm(1, Nanos(10));
        assert!(!timers.fire(1, Nanos(9)));
        assert_eq!(timers.due(1), Some(Nanos(10)));
        assert!(timers.fire(1, Nanos(10)));
        assert!(!timers.fire(1, Nanos(10)));
        timers.arm(MAX_TIMERS as u8, Nanos(1));
        assert_eq!((timers.due(7), timers.fire(7, Nanos(99))), (None, false));
    }
}
