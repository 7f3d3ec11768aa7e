// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end of a flow: window, pacing, rate changes.

use super::TransportConfig;
use crate::cc::{Armed, CongestionControl, Controller, Feedback, FlowLimits, RateDecision, Timers};
use crate::random::Chance;
use crate::units::{BitRate, Nanos};

/// What an event led to besides a new rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Whether the time of the next packet was recomputed.
    pub repaced: bool,
    /// Timers that were armed.
    pub armed: Armed,
}

/// State of a sending queue pair. What the scheduler looks at stands first.
#[derive(Clone, Debug)]
pub struct QueuePair {
    snd_nxt: u64,
    snd_una: u64,
    size: u64,
    next_avail: Nanos,
    /// Bytes that may be in flight now; 0 stands for no bound.
    window: u64,
    rate: BitRate,
    priority: u8,
    last_frame: u32,
    limits: FlowLimits,
    controller: Controller,
}

impl QueuePair {
    /// A queue pair that sends `size` bytes from `now` on, at line rate.
    pub fn new(size: u64, priority: u8, limits: FlowLimits, controller: Controller, now: Nanos) -> Self {
        QueuePair {
            snd_nxt: 0,
            snd_una: 0,
            size,
            next_avail: now,
            window: limits.window,
            rate: limits.line_rate,
            priority,
            last_frame: 0,
            limits,
            controller,
        }
    }

    /// Bytes acknowledged so far.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.snd_una
    }

    /// The present sending rate.
    #[inline]
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// The present window in bytes; 0 stands for no bound.
    #[inline]
    pub fn window(&self) -> u64 {
        self.window
    }

    /// What the flow was given and never changes.
    pub fn limits(&self) -> &FlowLimits {
        &self.limits
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Earliest time of the next packet, by pacing alone.
    #[inline]
    pub fn next_avail(&self) -> Nanos {
        self.next_avail
    }

    /// The first byte that was not sent yet.
    #[inline]
    pub fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Whether every byte is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.snd_una >= self.size
    }

    /// Whether bytes wait to be sent, be it allowed or not.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.snd_nxt < self.size
    }

    /// Whether bytes wait that neither the window nor a pause (bit n of `paused`: priority n) holds back.
    #[inline]
    pub fn is_eligible(&self, paused: u8) -> bool {
        self.has_data() && paused >> self.priority & 1 == 0 && !self.is_window_bound()
    }

    #[inline]
    fn is_window_bound(&self) -> bool {
        self.window != 0 && self.snd_nxt.saturating_sub(self.snd_una) >= self.window
    }

    /// Takes the next packet's first byte and length.
    #[inline]
    pub fn take_segment(&mut self, mtu: u32) -> (u64, u32) {
        let seq = self.snd_nxt;
        let payload = u64::from(mtu).min(self.size - seq) as u32;
        self.snd_nxt = seq + u64::from(payload);
        (seq, payload)
    }

    /// A frame of `frame` bytes was handed to the link at `now`: sets when the next may leave.
    #[inline]
    pub fn on_sent(&mut self, config: &TransportConfig, now: Nanos, frame: u32) {
        let rate = if config.rate_bound { self.rate } else { self.limits.line_rate };
        self.last_frame = frame;
        self.next_avail = now + rate.tx_time(frame, config.quirks.rounding());
    }

    /// All bytes before `seq` have arrived. Returns whether that finishes the flow.
    #[inline]
    pub fn on_ack(&mut self, config: &TransportConfig, seq: u64) -> bool {
        self.snd_una = self.snd_una.max(config.resume_at(seq));
        self.is_finished()
    }

    /// The receiver misses a byte: sending resumes at the first unacknowledged one.
    #[inline]
    pub fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
    }

    /// Passes feedback to the controller.
    #[inline]
    pub fn on_feedback(&mut self, config: &TransportConfig, feedback: &Feedback<'_>, chance: &mut Chance) -> Effects {
        let decision = self.controller.on_feedback(feedback, chance);
        self.apply(config, decision)
    }

    /// The time of a timer has come.
    pub fn on_timeout(&mut self, config: &TransportConfig, timer: u8, now: Nanos) -> Effects {
        let decision = self.controller.on_timeout(timer, now);
        self.apply(config, decision)
    }

    /// When a timer is due, if it is armed.
    pub fn timeout(&self, timer: u8) -> Option<Nanos> {
        self.controller.timers().and_then(|timers| timers.due(timer))
    }

    #[inline]
    fn apply(&mut self, config: &TransportConfig, decision: RateDecision) -> Effects {
        let repaced = match decision {
            RateDecision::Keep => false,
            RateDecision::Repace(rate) => {
                self.repace(config, rate);
                true
            }
            RateDecision::Set(rate) => {
                self.set_rate(config, rate);
                false
            }
        };
        Effects { repaced, armed: self.controller.timers_mut().map_or(Armed(0), Timers::take_armed) }
    }

    /// Changes the rate as if the last packet had already been paced by it.
    fn repace(&mut self, config: &TransportConfig, rate: BitRate) {
        if rate == self.rate {
            return;
        }
        let wait = |rate: BitRate| rate.tx_time(self.last_frame, config.quirks.rounding());
        self.next_avail = (self.next_avail + wait(rate)).saturating_sub(wait(self.rate));
        self.set_rate(config, rate);
    }

    /// Changes the rate: packets after the next are paced by it, the window follows at once.
    fn set_rate(&mut self, config: &TransportConfig, rate: BitRate) {
        self.rate = rate;
        if config.variable_window && self.limits.window != 0 {
            self.window = scale(self.limits.window, rate, self.limits.line_rate);
        }
    }
}

/// `window * rate / line_rate`, at least 1 (REQ-07: the window follows the rate).
#[inline]
fn scale(window: u64, rate: BitRate, line_rate: BitRate) -> u64 {
    let product = u128::from(window) * u128::from(rate.0);
    // Dividing 128-bit numbers is slow, and the product of a usual window fits 64 bits.
    let scaled = match u64::try_from(product) {
        Ok(product) => product / line_rate.0.max(1),
        Err(_) => (product / u128::from(line_rate.0.max(1))) as u64,
    };
    scaled.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: FlowLimits = FlowLimits {
        line_rate: BitRate::gbps(100),
        base_rtt: Nanos(4_160),
        window: 52_000,
        path_bytes: 52_000,
        mtu: 1_000,
    };

    fn queue_pair(size: u64) -> QueuePair {
        QueuePair::new(size, 3, LIMITS, Controller::LineRate, Nanos(0))
    }

    #[test]
    fn req_08_a_flow_starts_at_line_rate_with_a_window_of_one_bdp() {
        let qp = queue_pair(100_000);
        assert_eq!((qp.rate(), qp.window()), (LIMITS.line_rate, LIMITS.window));
    }

    /// REQ-31: both bounds hold: the window stops a flow that pacing would let go, and the reverse.
    #[test]
    fn req_31_window_and_pacing_both_bind() {
        let config = TransportConfig::default();
        let mut qp = queue_pair(100_000);
        for n in 0..52 {
            assert!(qp.is_eligible(0), "packet {n}");
            qp.take_segment(1000);
            qp.on_sent(&config, Nanos(0), 1090);
        }
        assert!(!qp.is_eligible(0));
        assert_eq!(qp.next_avail(), Nanos(87));
        qp.on_ack(&config, 1000);
        assert!(qp.is_eligible(0));
        assert!(!qp.is_eligible(1 << 3));
    }

    #[test]
    fn the_last_packet_is_short_and_the_last_ack_finishes() {
        let config = TransportConfig::default();
        let mut qp = queue_pair(1500);
        assert_eq!(qp.take_segment(1000), (0, 1000));
        assert_eq!(qp.take_segment(1000), (1000, 500));
        assert!(!qp.has_data());
        assert!(!qp.on_ack(&config, 1000));
        assert!(qp.on_ack(&config, 1500));
    }

    #[test]
    fn a_nack_returns_to_the_first_missing_byte() {
        let config = TransportConfig::default();
        let mut qp = queue_pair(5000);
        for _ in 0..5 {
            qp.take_segment(1000);
        }
        qp.on_ack(&config, 2000);
        qp.go_back();
        assert_eq!(qp.take_segment(1000), (2000, 1000));
    }

    #[test]
    fn a_rate_change_moves_the_packet_that_waits() {
        let config = TransportConfig::default();
        let mut qp = queue_pair(100_000);
        qp.take_segment(1000);
        qp.on_sent(&config, Nanos(1000), 1090);
        qp.repace(&config, BitRate::gbps(50));
        assert_eq!(qp.next_avail(), Nanos(1000 + 174));
        assert_eq!(qp.window(), 26_000);
        qp.repace(&config, BitRate::gbps(100));
        assert_eq!((qp.next_avail(), qp.window()), (Nanos(1087), 52_000));
    }

    #[test]
    fn a_rate_that_is_set_moves_the_window_but_not_the_packet_that_waits() {
        let config = TransportConfig::default();
        let mut qp = queue_pair(100_000);
        qp.take_segment(1000);
        qp.on_sent(&config, Nanos(1000), 1090);
        let effects = qp.apply(&config, RateDecision::Set(BitRate::gbps(50)));
        assert_eq!(effects, Effects { repaced: false, armed: Armed(0) });
        assert_eq!((qp.next_avail(), qp.window()), (Nanos(1087), 26_000));
        qp.on_sent(&config, Nanos(2000), 1090);
        assert_eq!(qp.next_avail(), Nanos(2174));
    }

    #[test]
    fn windows_beyond_64_bits_of_product_scale_exactly() {
        assert_eq!(scale(u64::MAX, BitRate(1 << 40), BitRate(1 << 41)), u64::MAX / 2);
        assert_eq!(scale(10, BitRate(1), BitRate::gbps(100)), 1);
    }
}
