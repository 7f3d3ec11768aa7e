// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end of a flow, or of several that share it: window, pacing, rate changes.

mod control;
mod loss;
mod messages;

use super::TransportConfig;
use super::posted::{Message, Posted};
use super::recovery::Repair;
use super::timeout::RetransmissionTimer;
use crate::cc::{Armed, CongestionControl, FlowLimits};
use crate::recurrence::recurs;
use crate::units::{BitRate, ExactNanos, ExactSpan, Nanos, Rounding};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// What an event led to besides a new rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Whether the time of the next packet was recomputed.
    pub repaced: bool,
    /// Timers that were armed.
    pub armed: Armed,
}

impl Effects {
    /// Nothing.
    pub const NONE: Effects = Effects { repaced: false, armed: Armed(0) };

    /// What two events led to.
    pub fn and(self, other: Effects) -> Effects {
        Effects { repaced: self.repaced || other.repaced, armed: Armed(self.armed.0 | other.armed.0) }
    }
}

/// A packet's place in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRange {
    /// Offset in the flow of its first payload byte.
    pub seq: u64,
    /// Bytes of payload, 1 to the MTU.
    pub payload: u32,
    /// Whether the first byte was sent before.
    pub again: bool,
    /// Whether the receiver is to acknowledge it at once.
    pub ack_requested: bool,
}

/// What an acknowledgement acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// Bytes.
    pub bytes: u64,
    /// Messages whose last byte is among them.
    pub messages: u32,
}

/// The receiver acknowledges what it likes: every wait for it will end.
const UNASKED: u64 = u64::MAX;

/// State of a sending queue pair. What the scheduler looks at stands first, what a packet changes next, then what an
/// acknowledgement needs besides: a cache line each.
#[derive(Debug)]
#[repr(C)]
pub struct QueuePair {
    snd_nxt: u64,
    snd_una: u64,
    /// Behind the last byte of the message that `snd_nxt` is in.
    end: u64,
    next_avail: ExactNanos,
    /// Bytes that may be in flight now, by the controller's window and the cap; 0 stands for no bound.
    window: u64,
    last_frame: u32,
    priority: u8,
    /// Whether `repair` has a packet to send again.
    resends: bool,
    /// Whether the controller has timers: asked once, not at every acknowledgement.
    has_timers: bool,
    /// Whether failed links have cut off the destination.
    pub is_cut_off: bool,
    /// Whether the controller has ever moved rate or window from where they began.
    is_steered: bool,
    /// Whether other messages may be posted.
    may_go_on: bool,
    /// Whether flows share the queue pair: they are messages of it.
    is_shared: bool,
    /// Sequence numbers in flight that stand for no byte, between messages.
    gaps: u64,
    /// Bytes in flight that have arrived out of order, and leave room in the window for others.
    ahead: u64,
    rate: BitRate,
    /// End of the last packet whose acknowledgement was asked for, or [`UNASKED`].
    requested: u64,
    /// The highest `snd_nxt` so far.
    snd_max: u64,
    timer: RetransmissionTimer,
    /// No packet leaves before, for a switch has asked for a pause.
    held: Nanos,
    /// The messages, from the second on.
    posted: Option<Box<Posted>>,
    controller: Box<dyn CongestionControl>,
    limits: Arc<FlowLimits>,
    repair: Box<dyn Repair>,
}

impl QueuePair {
    /// A queue pair that sends `size` bytes from `now` on, at line rate.
    pub fn new(
        config: &TransportConfig,
        size: u64,
        priority: u8,
        limits: impl Into<Arc<FlowLimits>>,
        controller: Box<dyn CongestionControl>,
        now: Nanos,
    ) -> Self {
        let limits = limits.into();
        let mut timer = RetransmissionTimer::default();
        if let Some(timeout) = &config.timeout {
            timer.progress(timeout, limits.base_rtt, now, 0);
        }
        let line_rate = limits.line_rate;
        let window = config.bounded(limits.window, line_rate, limits.base_rtt);
        let mut qp = QueuePair {
            snd_nxt: 0,
            snd_una: 0,
            end: size,
            next_avail: now.into(),
            window,
            gaps: 0,
            ahead: 0,
            requested: if config.ack_every == 0 { UNASKED } else { 0 },
            rate: line_rate,
            priority,
            resends: false,
            last_frame: 0,
            limits,
            has_timers: controller.timers().is_some(),
            is_cut_off: false,
            is_steered: false,
            controller,
            snd_max: 0,
            timer,
            held: Nanos(0),
            repair: (config.recovery.repair)(),
            may_go_on: config.shares_queue_pairs(false),
            is_shared: config.shares_queue_pairs(false),
            posted: None,
        };
        qp.set_rate(config, line_rate);
        qp
    }

    /// Everything before this sequence number is acknowledged.
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

    /// Whether the controller has ever moved rate or window from where they began.
    pub fn is_steered(&self) -> bool {
        self.is_steered
    }

    /// Its controller decides nothing, as it should: rate and window count as moved.
    pub fn goes_unsteered(&mut self) {
        self.is_steered = true;
    }

    /// U of the busiest link, where the algorithm reckons with it.
    pub fn utilisation(&self) -> Option<f64> {
        self.controller.utilisation()
    }

    /// The place on the path of the link that U was last moved by, where the algorithm and telemetry tell it.
    pub fn bottleneck(&self) -> Option<u8> {
        self.controller.bottleneck()
    }

    /// What the flow was given and never changes.
    pub fn limits(&self) -> &FlowLimits {
        &self.limits
    }

    /// The state of its congestion control.
    pub fn controller(&self) -> &dyn CongestionControl {
        self.controller.as_ref()
    }

    /// Earliest time of the next packet, by pacing alone.
    #[inline]
    pub fn next_avail(&self) -> Nanos {
        self.next_avail.nanos
    }

    /// The first byte that was not sent yet.
    #[inline]
    pub fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// The first byte that has never been sent.
    #[inline]
    pub fn snd_max(&self) -> u64 {
        self.snd_max
    }

    /// Whether an honest receiver may expect byte `seq` next: nothing behind what was ever sent. Behind the short last packet of
    /// a message the numbers of a shared queue pair go on at a multiple of the MTU.
    #[inline]
    pub fn may_be_expected(&self, config: &TransportConfig, seq: u64) -> bool {
        seq <= self.snd_max
            || self.is_shared
                && self.snd_max.checked_next_multiple_of(config.mtu.max(1).into()).is_some_and(|end| seq <= end)
    }

    /// Whether every byte is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.snd_una >= self.end
    }

    /// Whether every byte is acknowledged and no other message can follow.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_finished() && !self.may_go_on
    }

    /// Whether bytes wait to be sent, be it allowed or not.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.snd_nxt < self.end || self.resends
    }

    /// Whether bytes wait that neither the window nor a pause (bit n of `paused`: priority n) holds back.
    #[inline]
    pub fn is_eligible(&self, paused: u8) -> bool {
        self.has_data() && paused >> self.priority & 1 == 0 && !self.is_window_bound()
    }

    #[inline]
    fn is_window_bound(&self) -> bool {
        // Bytes that are sent again are in the window already. And a sender that has asked for no acknowledgement
        // may get none: it may send one packet more, which asks.
        self.is_window_full() && !self.resends && self.requested > self.snd_una
    }

    #[inline]
    fn is_window_full(&self) -> bool {
        self.window != 0 && self.in_flight().saturating_sub(self.ahead) >= self.window
    }

    /// Bytes sent and not acknowledged; wraps only with
    /// [`wrapping_in_flight`](crate::reference_faults::ReferenceFaults::wrapping_in_flight).
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.snd_nxt.wrapping_sub(self.snd_una).wrapping_sub(self.gaps)
    }

    fn packets_in_flight(&self, config: &TransportConfig) -> u64 {
        self.in_flight().div_ceil(u64::from(config.mtu.max(1)))
    }

    /// First byte and payload of the next packet.
    #[inline]
    pub fn next_segment(&self, config: &TransportConfig) -> (u64, u32) {
        let seq = if self.resends { self.repair.lost().unwrap_or(self.snd_una) } else { self.snd_nxt };
        let end = if self.resends { self.message(seq).end() } else { self.end };
        (seq, u64::from(config.mtu).min(end - seq) as u32)
    }

    /// The message that a byte belongs to.
    #[inline]
    pub fn message(&self, seq: u64) -> Message {
        if !self.is_shared {
            // `posted` is not in the cache: it is not read if the answer is known.
            return Message::alone(self.end);
        }
        self.posted.as_ref().map_or(Message::alone(self.end), |posted| *posted.at(seq).unwrap_or(posted.last()))
    }

    /// Its priority group.
    pub fn priority(&self) -> u8 {
        self.priority
    }

    /// Takes the next packet.
    #[inline]
    pub fn take_segment(&mut self, config: &TransportConfig) -> SegmentRange {
        let (seq, payload) = self.next_segment(config);
        let end = seq + u64::from(payload);
        let again = seq < self.snd_max;
        let lost = self.resends;
        if lost {
            let sent = self.progress();
            self.repair.on_resent(seq, &sent, config);
            self.resends = self.repair.lost().is_some();
        } else {
            self.snd_nxt = end;
            self.snd_max = self.snd_max.max(end);
        }
        let ack_requested = self.requested != UNASKED && (lost || self.requests_ack(config, end));
        if ack_requested {
            self.requested = self.requested.max(end);
        }
        if end == self.end && self.is_shared {
            self.enter_message();
        }
        SegmentRange { seq, payload, again, ack_requested }
    }

    /// Whether the packet before byte `end` is to be acknowledged at once.
    fn requests_ack(&self, config: &TransportConfig, end: u64) -> bool {
        end >= self.end || self.is_window_full() || end >= self.requested + config.asks_every(self.window)
    }

    /// A frame of `frame` bytes begins on the link: sets when the next may leave.
    #[inline]
    pub fn on_sent(&mut self, config: &TransportConfig, begins: impl Into<ExactNanos>, frame: u32) {
        let begins = begins.into();
        let (now, rate) = (begins.nanos, if config.rate_bound { self.rate } else { self.limits.line_rate });
        self.last_frame = frame + config.frame_gap;
        let span = rate.tx_span(self.last_frame, config.rounding());
        self.next_avail = self.scheduled(config, begins, span).after(span);
        if self.in_flight() <= u64::from(config.mtu) {
            // No other packet is in flight: the wait for an acknowledgement begins with this one.
            self.timer.restart(now);
        }
    }

    /// When a frame should have begun that begins now and lasts `span` at its pace: the next one is counted from then.
    #[inline]
    fn scheduled(&self, config: &TransportConfig, begins: ExactNanos, span: ExactSpan) -> ExactNanos {
        if config.rounding() != Rounding::Exact {
            return begins;
        }
        // One that left as soon as it might: the next is counted from that exact time, not from the nanosecond. A port that began
        // the last frame at a whole nanosecond is less than one late, which would add up where the pace is near the link's rate.
        if begins.is_within_a_nanosecond_of(self.next_avail) {
            return self.next_avail;
        }
        // A flow's own rate holds beside other flows: one that has waited for its turn is up to a frame ahead then.
        let has_own_rate = self.limits.most < BitRate(u64::MAX);
        let earliest = begins.before(span);
        match has_own_rate {
            true if self.next_avail.nanos > earliest.nanos => self.next_avail,
            true => earliest,
            false => begins,
        }
    }

    /// All bytes before `seq` have arrived.
    #[inline]
    pub fn on_ack(&mut self, config: &TransportConfig, seq: u64) -> Acked {
        if self.is_shared {
            return self.on_ack_of_messages(config, seq);
        }
        let before = self.snd_una;
        self.snd_una = self.snd_una.max(config.resume_at(seq));
        if !config.faults.wrapping_in_flight {
            // What has arrived need not be sent again, even if a NACK asked for it.
            self.snd_nxt = self.snd_nxt.max(self.snd_una);
        }
        Acked { bytes: self.snd_una - before, messages: self.is_finished().into() }
    }
}

// The windows and marks of a flow follow its sequence numbers; what it has lost is not known to recur.
recurs! {
    QueuePair {
        snd_nxt: sequence,
        snd_una: sequence,
        end: steady,
        next_avail: part,
        window: plain,
        last_frame: plain,
        priority: plain,
        resends: absent,
        has_timers: constant,
        is_cut_off: plain,
        is_steered: plain,
        may_go_on: plain,
        is_shared: plain,
        gaps: plain,
        ahead: plain,
        rate: plain,
        requested: sequence,
        snd_max: sequence,
        timer: part,
        held: past,
        posted: constant,
        controller: controller,
        limits: constant,
        repair: repair,
    }
}

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
