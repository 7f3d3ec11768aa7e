// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion controller of a queue pair: what it hears, and what its decisions do to rate, pace and window.

use super::{Effects, QueuePair, SegmentRange};
use crate::cc::{Armed, Feedback, FlowLimits, Loss, LossSignal, NoEffect, Notification, RateDecision, Sent, Timers};
use crate::random::Rng;
use crate::telemetry::Telemetry;
use crate::transport::TransportConfig;
use crate::transport::timeout::RETRANSMISSION_TIMER;
use crate::units::{BitRate, Nanos};

impl QueuePair {
    /// Passes feedback to the controller.
    #[inline]
    pub fn on_feedback(&mut self, config: &TransportConfig, feedback: &Feedback<'_>, rng: &mut Rng) -> Effects {
        let decision = self.controller.on_feedback(feedback, rng);
        self.apply(config, decision)
    }

    /// Passes the records of a packet to the controller whose acknowledgement also brings newer ones. They end no round: that is
    /// for the newest to do.
    pub fn on_older_records(
        &mut self,
        config: &TransportConfig,
        now: Nanos,
        telemetry: Telemetry<'_>,
        rng: &mut Rng,
    ) -> Effects {
        let (snd_nxt, rtt, congestion_marked) = (self.snd_nxt, None, false);
        let older = Feedback { now, ack_seq: 0, snd_nxt, acked: 0, rtt, congestion_marked, telemetry };
        self.on_feedback(config, &older, rng)
    }

    /// Passes a notification to the controller.
    ///
    /// # Errors
    /// Why it changes nothing.
    pub fn on_notification(
        &mut self,
        config: &TransportConfig,
        notification: &Notification<'_>,
    ) -> Result<Effects, NoEffect> {
        let decision = self.controller.on_notification(notification)?;
        Ok(self.apply(config, decision))
    }

    /// Window and pace go down to those of a rate, whatever the controller has decided.
    pub fn slow_to(&mut self, config: &TransportConfig, rate: BitRate) -> Effects {
        if rate < self.rate { self.apply(config, RateDecision::Repace(rate)) } else { Effects::NONE }
    }

    /// The flow moved to a port of this rate.
    pub fn on_port(&mut self, line_rate: BitRate) {
        self.controller.on_port(line_rate.min(self.limits.most));
    }

    /// The time of a timer has come.
    pub fn on_timer(&mut self, config: &TransportConfig, timer: u8, now: Nanos) -> Effects {
        let decision = self.controller.on_timer(timer, now);
        self.apply(config, decision)
    }

    /// Tells the controller that a packet has left.
    pub fn tell_sent(&mut self, now: Nanos, range: &SegmentRange, left: u64) -> u8 {
        let SegmentRange { seq, payload: bytes, again: retransmission, .. } = *range;
        let sent = Sent { now, seq, bytes, in_flight: self.in_flight(), retransmission, left };
        self.controller.on_sent(&sent);
        self.controller.label(&sent)
    }

    /// Tells the controller that packets are lost; `in_flight` bytes were.
    pub fn on_loss(&mut self, config: &TransportConfig, now: Nanos, in_flight: u64, signal: LossSignal) -> Effects {
        let decision = self.controller.on_loss(&Loss { now, seq: self.snd_una, in_flight, signal });
        self.apply(config, decision)
    }

    /// When a timer is due, if it is armed.
    pub fn timeout(&self, timer: u8) -> Option<Nanos> {
        if timer == RETRANSMISSION_TIMER {
            return self.timer.due();
        }
        self.controller.timers().and_then(|timers| timers.due(timer))
    }

    #[inline]
    pub(super) fn apply(&mut self, config: &TransportConfig, decision: RateDecision) -> Effects {
        // No port sends faster, and a window is in proportion to what it does.
        let most = if config.faults.metrics_of_the_start { BitRate(u64::MAX) } else { self.limits.line_rate };
        let repaced = match decision {
            RateDecision::Keep => false,
            RateDecision::Repace(rate) => {
                self.repace(config, rate.min(most));
                true
            }
            RateDecision::Set(rate) => {
                self.set_rate(config, rate.min(most));
                false
            }
            RateDecision::Window { bytes, rate } => {
                let rate = rate.min(most);
                self.move_next(config, rate);
                self.rate = rate;
                if self.window_moves(config) {
                    self.window = self.bounded(config, bytes.max(1));
                }
                true
            }
        };
        if !matches!(decision, RateDecision::Keep) {
            self.is_steered |=
                self.rate != self.limits.line_rate || self.window != self.bounded(config, self.limits.window);
        }
        Effects { repaced, armed: self.take_armed() }
    }

    /// Timers that were armed since the last call.
    #[inline]
    pub fn take_armed(&mut self) -> Armed {
        let own = self.timer.take_armed();
        if !self.has_timers {
            return own;
        }
        let controllers = self.controller.timers_mut().map_or(Armed(0), Timers::take_armed);
        Armed(own.0 | controllers.0)
    }

    /// Changes the rate as if the last packet had already been paced by it.
    pub(super) fn repace(&mut self, config: &TransportConfig, rate: BitRate) {
        if rate == self.rate {
            return;
        }
        self.move_next(config, rate);
        self.set_rate(config, rate);
    }

    /// Moves the next packet as if the last one had been paced by `rate`.
    #[inline]
    fn move_next(&mut self, config: &TransportConfig, rate: BitRate) {
        let wait = |rate: BitRate| rate.tx_span(self.last_frame, config.rounding());
        let next = self.next_avail.after(wait(rate)).before(wait(self.rate));
        self.next_avail = if next.nanos < self.held { self.held.into() } else { next };
    }

    /// No packet leaves until then, whatever the controller decides.
    pub fn hold(&mut self, until: Nanos) {
        self.held = self.held.max(until);
        if self.next_avail.nanos < self.held {
            self.next_avail = self.held.into();
        }
    }

    /// Changes the rate: packets after the next are paced by it, the window follows at once.
    pub(super) fn set_rate(&mut self, config: &TransportConfig, rate: BitRate) {
        self.rate = rate;
        if self.window_moves(config) {
            let FlowLimits { window, line_rate, faults, .. } = *self.limits;
            let scaled = if faults.wrapping_window {
                (window.wrapping_mul(rate.0) / line_rate.0.max(1)).max(1)
            } else {
                scale(window, rate, line_rate)
            };
            self.window = self.bounded(config, scaled);
        }
    }

    #[inline]
    fn bounded(&self, config: &TransportConfig, window: u64) -> u64 {
        config.bounded(window, self.limits.line_rate, self.limits.base_rtt)
    }

    /// Whether the controller moves the window.
    #[inline]
    fn window_moves(&self, config: &TransportConfig) -> bool {
        config.variable_window && config.window && self.limits.window != 0
    }
}

/// `window * rate / line_rate`, at least 1 (REQ-07: the window follows the rate).
#[inline]
pub(super) fn scale(window: u64, rate: BitRate, line_rate: BitRate) -> u64 {
    let product = u128::from(window) * u128::from(rate.0);
    // Dividing 128-bit numbers is slow, and the product of a usual window fits 64 bits.
    let scaled = match u64::try_from(product) {
        Ok(product) => product / line_rate.0.max(1),
        Err(_) => (product / u128::from(line_rate.0.max(1))) as u64,
    };
    scaled.max(1)
}
