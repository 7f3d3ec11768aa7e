// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow whose feedback stays away slows down (REQ-66).
//!
//! Feedback that a seal or the guard rejects tells the controller nothing, and left to itself it would go on at the rate that
//! it has: line rate, before the first feedback. So packets that collect telemetry ask for an answer, and each time that one of
//! them is acknowledged without an answer that the controller may hear, one was missed:
//!
//! | missed | the rate |
//! | --- | --- |
//! | for less than `decay_after` base round-trip times T | stays |
//! | for longer | falls to a half, and again with a later miss, once in T at most, down to the algorithm's least |
//! | until one is heard | is what the controller decides of that |
//!
//! Time without acknowledgements does not count, since the window ends it; nor do packets that were lost with all that they
//! asked for, until a later one is missed.

use crate::units::{BitRate, Nanos};

/// What a flow has missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    patience: Nanos,
    step: Nanos,
    least: BitRate,
    /// End of the first packet that asked since the last miss.
    asked: Option<u64>,
    /// From when on another miss slows the flow down; `None` before the first.
    due: Option<Nanos>,
    bound: Option<BitRate>,
}

impl Silence {
    /// Of a flow with this T, that waits for so many of them and falls to `least`.
    pub fn new(decay_after: u32, base_rtt: Nanos, least: BitRate) -> Self {
        let patience = Nanos(base_rtt.0.saturating_mul(decay_after.into()));
        Silence { patience, step: base_rtt, least, asked: None, due: None, bound: None }
    }

    /// A packet that collects telemetry leaves; what acknowledges byte `end` answers it.
    pub fn on_asked(&mut self, end: u64) {
        self.asked.get_or_insert(end);
    }

    /// All bytes before `seq` are acknowledged; `heard` says whether that brought feedback which the controller may hear, and
    /// `rate` is the flow's.
    pub fn on_answer(&mut self, now: Nanos, seq: u64, heard: bool, rate: BitRate) {
        if heard {
            (self.asked, self.due, self.bound) = (None, None, None);
            return;
        }
        if self.asked.is_none_or(|end| seq < end) {
            return;
        }
        self.asked = None;
        match self.due {
            None => self.due = Some(now + self.patience),
            Some(due) if now >= due => {
                self.bound = Some(BitRate(rate.0 / 2).max(self.least));
                self.due = Some(now + self.step);
            }
            Some(_) => {}
        }
    }

    /// The flow may not be faster; `None`: the controller alone decides.
    pub fn bound(&self) -> Option<BitRate> {
        self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 10_000;
    const LEAST: BitRate = BitRate::mbps(100);

    fn flow() -> Silence {
        Silence::new(4, Nanos(T), LEAST)
    }

    /// Each packet is acknowledged half of T after it left, and the next leaves then. Rates after so many of them.
    fn rates(silence: &mut Silence, packets: u64, heard: impl Fn(u64) -> bool) -> alloc::vec::Vec<u64> {
        let mut rate = BitRate::gbps(100);
        let step = |n| {
            silence.on_asked(n + 1);
            silence.on_answer(Nanos(n * T / 2), n + 1, heard(n), rate);
            rate = silence.bound().map_or(rate, |bound| bound.min(rate));
            rate.0 / 1_000_000
        };
        (0..packets).map(step).collect()
    }

    #[test]
    fn req_66_without_feedback_the_rate_falls_to_its_least() {
        let rates = rates(&mut flow(), 40, |_| false);
        assert_eq!(rates[..12], [[100_000; 8].as_slice(), &[50_000, 50_000, 25_000, 25_000]].concat());
        assert_eq!(rates[39], 100, "never below");
    }

    #[test]
    fn feedback_in_time_changes_nothing_and_ends_the_fall() {
        assert!(rates(&mut flow(), 200, |n| n.is_multiple_of(8)).iter().all(|&rate| rate == 100_000));
        let mut silence = flow();
        rates(&mut silence, 20, |_| false);
        assert!(silence.bound().is_some());
        silence.on_answer(Nanos(20 * T), 30, true, LEAST);
        assert_eq!(silence, flow());
    }

    /// One packet in eight collects, and one of those in two is lost: no packet that asked is acknowledged without an answer.
    #[test]
    fn who_did_not_ask_misses_nothing() {
        let mut silence = flow();
        for n in 0..1_000 {
            if n % 8 == 0 {
                silence.on_asked(n + 1);
            }
            let seq = if n % 16 < 8 { n - n % 8 } else { n + 1 };
            silence.on_answer(Nanos(n * T), seq, n % 16 == 8, BitRate::gbps(1));
            assert_eq!(silence.bound(), None, "{n}");
        }
    }
}
