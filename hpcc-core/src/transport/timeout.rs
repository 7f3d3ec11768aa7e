// SPDX-License-Identifier: MIT OR Apache-2.0
//! The retransmission timeout: when a sender stops waiting for an acknowledgement.
//!
//! Each acknowledgement moves the deadline, but not the timer that the host keeps: an event per acknowledgement
//! would cost more than the acknowledgement. A timer that fires before its deadline is armed again for it.

use crate::cc::{Armed, MAX_TIMERS};
use crate::recurrence::recurs;
use crate::units::Nanos;

/// Number of the retransmission timer among the timers of a queue pair: the controller's come first.
pub const RETRANSMISSION_TIMER: u8 = MAX_TIMERS as u8;
/// The timeout doubles at most this often.
const MOST_DOUBLINGS: u32 = 6;

/// How long a sender waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutConfig {
    /// Time without progress after which bytes in flight count as lost (IRN's RTO_high).
    pub high: Nanos,
    /// The same while at most [`TimeoutConfig::few`] packets are in flight, too few to tell of a loss themselves
    /// (IRN's RTO_low).
    pub low: Nanos,
    /// Most packets in flight for which `low` holds; 0: it never does.
    pub few: u32,
    /// Base round-trip times that are added to either.
    pub base_rtts: u32,
    /// Double the time at each timeout in a row, up to 64-fold.
    pub back_off: bool,
}

impl TimeoutConfig {
    /// The time for a flow of this base round-trip time with `packets` in flight.
    #[inline]
    fn wait(&self, base_rtt: Nanos, packets: u64) -> Nanos {
        let wait = if packets <= u64::from(self.few) { self.low.min(self.high) } else { self.high };
        Nanos(wait.0.saturating_add(base_rtt.0.saturating_mul(u64::from(self.base_rtts))))
    }
}

/// The retransmission timer of one queue pair.
#[derive(Clone, Copy, Debug)]
pub struct RetransmissionTimer {
    /// When the present wait began.
    since: Nanos,
    /// When the host's timer fires, or [`NEVER`].
    due: Nanos,
    armed: bool,
    /// Timeouts since the last progress.
    in_a_row: u32,
    /// Whether the host does without the timer, which fired at `since` and was due again; see [`Self::park`].
    parked: bool,
}

const NEVER: Nanos = Nanos(u64::MAX);

impl Default for RetransmissionTimer {
    fn default() -> Self {
        RetransmissionTimer { since: Nanos(0), due: NEVER, armed: false, in_a_row: 0, parked: false }
    }
}

impl RetransmissionTimer {
    /// Waiting begins anew. The host's timer stays: what is sent never shortens the wait.
    #[inline]
    pub fn restart(&mut self, now: Nanos) {
        self.since = now;
    }

    /// Progress was made: waiting begins anew, with `packets` in flight.
    #[inline]
    pub fn progress(&mut self, config: &TimeoutConfig, base_rtt: Nanos, now: Nanos, packets: u64) {
        self.in_a_row = 0;
        if self.parked {
            self.resume(now);
        }
        self.restart(now);
        self.arm(config, base_rtt, packets);
    }

    /// Until when to wait with `packets` in flight.
    #[inline]
    fn deadline(&self, config: &TimeoutConfig, base_rtt: Nanos, packets: u64) -> Nanos {
        let doublings = if config.back_off { self.in_a_row.min(MOST_DOUBLINGS) } else { 0 };
        let wait = config.wait(base_rtt, packets).0.saturating_mul(1 << doublings);
        Nanos(self.since.0.saturating_add(wait.max(1)))
    }

    /// Arms the host's timer if it fires too late or not at all.
    #[inline]
    pub fn arm(&mut self, config: &TimeoutConfig, base_rtt: Nanos, packets: u64) {
        let deadline = self.deadline(config, base_rtt, packets);
        if self.due > deadline {
            self.due = deadline;
            self.armed = true;
        }
    }

    /// The host's timer has fired. Returns whether the deadline has passed; otherwise the timer is armed for it.
    pub fn fire(&mut self, config: &TimeoutConfig, base_rtt: Nanos, now: Nanos, packets: u64) -> bool {
        if self.due > now {
            return false;
        }
        self.due = NEVER;
        let passed = self.deadline(config, base_rtt, packets) <= now;
        if !passed {
            self.arm(config, base_rtt, packets);
        }
        passed
    }

    /// The deadline has passed with bytes in flight.
    pub fn count(&mut self) {
        self.in_a_row = self.in_a_row.saturating_add(1);
    }

    /// The host's timer has fired now with nothing in flight, and nothing can be sent: it stays away until it
    /// [resumes](Self::resume).
    pub fn park(&mut self, now: Nanos) {
        if self.since == now && self.due > now && self.due < NEVER {
            self.parked = true;
            self.armed = false;
        }
    }

    /// Ends parking: the host's timer fires when it would have fired if it had not been parked. Returns whether it was.
    pub fn resume(&mut self, now: Nanos) -> bool {
        let was_parked = core::mem::take(&mut self.parked);
        if let Some(due) = self.due().filter(|_| was_parked) {
            let period = due.0 - self.since.0;
            let missed = now.0.checked_sub(due.0).map_or(0, |late| late / period + 1);
            let next = due.0.saturating_add(missed.saturating_mul(period));
            self.since = Nanos(next.saturating_sub(period));
            self.due = Nanos(next);
            self.armed = true;
        }
        was_parked
    }

    /// When the host's timer is due, if it is armed.
    pub fn due(&self) -> Option<Nanos> {
        Some(self.due).filter(|&due| due < NEVER)
    }

    /// The timer, if it was armed since the last call.
    #[inline]
    pub fn take_armed(&mut self) -> Armed {
        Armed(u8::from(core::mem::take(&mut self.armed)) << RETRANSMISSION_TIMER)
    }
}

// Progress puts a timer forward that is due later than after a wait from now on, which may be a short one.
recurs! { RetransmissionTimer { since: past, due: due, armed: plain, in_a_row: plain, parked: plain, } }

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: TimeoutConfig =
        TimeoutConfig { high: Nanos(1_000), low: Nanos(100), few: 3, base_rtts: 2, back_off: true };
    const RTT: Nanos = Nanos(10);

    #[test]
    fn few_packets_wait_less() {
        assert_eq!((CONFIG.wait(RTT, 3), CONFIG.wait(RTT, 4)), (Nanos(120), Nanos(1_020)));
        assert_eq!(TimeoutConfig { few: 0, ..CONFIG }.wait(RTT, 1), Nanos(1_020));
    }

    #[test]
    fn progress_moves_the_deadline_but_not_the_timer() {
        let mut timer = RetransmissionTimer::default();
        timer.progress(&CONFIG, RTT, Nanos(0), 9);
        assert_eq!((timer.due(), timer.take_armed()), (Some(Nanos(1_020)), Armed(1 << RETRANSMISSION_TIMER)));
        timer.progress(&CONFIG, RTT, Nanos(500), 9);
        assert_eq!((timer.due(), timer.take_armed()), (Some(Nanos(1_020)), Armed(0)));
        assert!(!timer.fire(&CONFIG, RTT, Nanos(1_020), 9));
        assert_eq!((timer.due(), timer.take_armed()), (Some(Nanos(1_520)), Armed(1 << RETRANSMISSION_TIMER)));
        assert!(timer.fire(&CONFIG, RTT, Nanos(1_520), 9));
    }

    #[test]
    fn a_parked_timer_keeps_its_times() {
        let fired = || {
            let mut timer = RetransmissionTimer::default();
            timer.progress(&CONFIG, RTT, Nanos(0), 0);
            assert!(timer.fire(&CONFIG, RTT, Nanos(120), 0));
            timer.restart(Nanos(120));
            timer.arm(&CONFIG, RTT, 0);
            timer
        };
        for (now, due) in [(130, 240), (239, 240), (240, 360), (241, 360), (1_199, 1_200), (1_200, 1_320)] {
            let mut timer = fired();
            timer.park(Nanos(120));
            assert_eq!(timer.take_armed(), Armed(0), "nothing fires while it is parked");
            assert!(timer.resume(Nanos(now)));
            assert_eq!(
                (timer.due(), timer.take_armed()),
                (Some(Nanos(due)), Armed(1 << RETRANSMISSION_TIMER)),
                "{now}"
            );
            assert!(!timer.resume(Nanos(now)), "once");
        }
        let mut moved = fired();
        moved.park(Nanos(120));
        moved.progress(&CONFIG, RTT, Nanos(500), 0);
        assert_eq!((moved.due(), moved.take_armed()), (Some(Nanos(600)), Armed(1 << RETRANSMISSION_TIMER)));
        let mut late = fired();
        late.park(Nanos(121));
        assert!(!late.resume(Nanos(500)), "only as it fires");
    }

    #[test]
    fn a_shorter_wait_moves_the_timer() {
        let mut timer = RetransmissionTimer::default();
        timer.progress(&CONFIG, RTT, Nanos(0), 9);
        timer.take_armed();
        timer.progress(&CONFIG, RTT, Nanos(10), 2);
        assert_eq!((timer.due(), timer.take_armed()), (Some(Nanos(130)), Armed(1 << RETRANSMISSION_TIMER)));
    }

    #[test]
    fn timeouts_in_a_row_wait_longer() {
        let mut timer = RetransmissionTimer::default();
        let mut waits = [0; 8];
        for wait in &mut waits {
            *wait = timer.deadline(&CONFIG, RTT, 1).0;
            timer.count();
        }
        assert_eq!(waits, [120, 240, 480, 960, 1_920, 3_840, 7_680, 7_680]);
        timer.progress(&CONFIG, RTT, Nanos(0), 1);
        assert_eq!(timer.deadline(&CONFIG, RTT, 1), Nanos(120));
    }
}
