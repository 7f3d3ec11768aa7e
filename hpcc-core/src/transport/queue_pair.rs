// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end of a flow, or of several that share it: window, pacing, rate changes.

use super::posted::{Message, Posted};
use super::recovery::{Progress, Repair};
use super::timeout::{RETRANSMISSION_TIMER, RetransmissionTimer};
use super::{Ack, TransportConfig};
use crate::cc::{
    Armed, CongestionControl, Feedback, FlowLimits, Loss, LossSignal, MAX_TIMERS, NoEffect, Notification, RateDecision,
    Sent, Timers,
};
use crate::random::Rng;
use crate::telemetry::Telemetry;
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

    /// Posts a message of `size` bytes behind those that the queue pair has. Returns it, or `None` if flows do not share
    /// the queue pair or its sequence numbers do not reach to the message's end.
    pub fn post(&mut self, config: &TransportConfig, now: Nanos, size: u64) -> Option<Message> {
        let is_idle = self.is_finished();
        self.timer.resume(now);
        if !self.may_go_on {
            return None;
        }
        let earlier = || {
            let mut only = Posted::new(self.end, config.mtu);
            only.finish(self.snd_una);
            Box::new(only)
        };
        let message = self.posted.get_or_insert_with(earlier).post(size)?;
        if is_idle {
            self.wake(config, now);
        }
        self.enter_message();
        Some(message)
    }

    /// One packet more ends the only message. Returns its size then.
    pub fn stop(&mut self, config: &TransportConfig) -> u64 {
        self.end = self.end.min(self.snd_max + u64::from(config.mtu));
        self.end
    }

    /// Other messages may follow: flows share the queue pair.
    pub fn share(&mut self) {
        (self.may_go_on, self.is_shared) = (true, true);
    }

    /// No other message follows.
    pub fn end_messages(&mut self) {
        (self.may_go_on, self.posted) = (false, None);
    }

    /// Makes good for the time without a message: timers of the controller fire that were due, and the wait for an
    /// acknowledgement begins.
    fn wake(&mut self, config: &TransportConfig, now: Nanos) {
        let due = |qp: &QueuePair| (0..MAX_TIMERS as u8).filter_map(|n| Some((qp.timeout(n)?, n))).min();
        while let Some((at, timer)) = due(self).filter(|&(at, _)| at <= now) {
            self.on_timer(config, timer, at);
            if self.timeout(timer) == Some(at) {
                // The controller has not moved its timer: without this the loop would not end.
                break;
            }
        }
        self.timer = RetransmissionTimer::default();
        if let Some(timeout) = &config.timeout {
            self.timer.progress(timeout, self.limits.base_rtt, now, 0);
        }
    }

    /// Timers that are to fire, be they new or not.
    pub fn due_timers(&self) -> Armed {
        let due = (0..=RETRANSMISSION_TIMER).filter(|&timer| self.timeout(timer).is_some());
        Armed(due.fold(0, |armed, timer| armed | 1 << timer))
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

    /// The same where flows share the queue pair.
    fn on_ack_of_messages(&mut self, config: &TransportConfig, seq: u64) -> Acked {
        // Only a forged acknowledgement is beyond what was sent. It must not finish messages that nobody has posted.
        let seq = seq.min(self.snd_max);
        let Some(posted) = &mut self.posted else { return self.on_ack_of_the_first(config, seq) };
        let (before, gaps) = (self.snd_una, posted.first_gaps());
        let messages = posted.finish(seq);
        self.snd_una = self.snd_una.max(seq).max(posted.first_start());
        let bytes = self.snd_una - before - (posted.first_gaps() - gaps);
        self.enter_message();
        Acked { bytes, messages }
    }

    /// The same while there is one message.
    fn on_ack_of_the_first(&mut self, config: &TransportConfig, seq: u64) -> Acked {
        let (before, was_finished) = (self.snd_una, self.is_finished());
        self.snd_una = before.max(seq);
        let bytes = self.snd_una.min(self.end).saturating_sub(before);
        let finishes = self.is_finished() && !was_finished;
        if finishes {
            // The next one begins with a packet.
            self.snd_una = self.end.next_multiple_of(config.mtu.max(1).into());
        }
        self.snd_nxt = self.snd_nxt.max(self.snd_una);
        Acked { bytes, messages: finishes.into() }
    }

    /// Finds the message that is sent next, which `snd_nxt` is in or before.
    fn enter_message(&mut self) {
        let Some(posted) = &self.posted else { return };
        self.snd_nxt = self.snd_nxt.max(self.snd_una);
        let message = posted.at(self.snd_nxt).unwrap_or(posted.last());
        self.snd_nxt = self.snd_nxt.max(message.start);
        self.end = message.end();
        self.gaps = if self.is_finished() { 0 } else { posted.gaps_until(self.snd_nxt) };
    }

    /// The receiver misses a byte: sending resumes at the first unacknowledged one.
    #[inline]
    pub fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
        self.enter_message();
        if self.requested != UNASKED {
            self.requested = self.snd_una;
        }
    }

    fn progress(&self) -> Progress {
        Progress { first_missing: self.snd_una, next: self.snd_nxt }
    }

    /// What recovery beyond the reference's makes of an acknowledgement that [`QueuePair::on_ack`] has taken in;
    /// `moved` says whether that acknowledged anything.
    pub fn recover(&mut self, config: &TransportConfig, now: Nanos, moved: bool, ack: &Ack<'_>) {
        self.snd_nxt = self.snd_nxt.max(self.snd_una);
        if config.recovery.keeps || ack.nack {
            let sent = self.progress();
            if self.repair.on_ack(ack, moved, &sent, config) {
                self.go_back();
            }
            self.resends = self.repair.lost().is_some();
            self.ahead = self.repair.ahead(config);
        }
        if let Some(timeout) = config.timeout.as_ref().filter(|_| moved) {
            let packets = self.packets_in_flight(config);
            self.timer.progress(timeout, self.limits.base_rtt, now, packets);
        }
    }

    /// Whether a negative acknowledgement tells of a loss: not while packets may only have overtaken each other.
    pub fn misses_packets(&self, config: &TransportConfig) -> bool {
        config.reorder_window == 0 || !config.is_selective() || self.resends
    }

    /// The retransmission timer has fired. Returns whether bytes are taken for lost, so that sending should be
    /// tried.
    pub fn on_retransmission_timer(&mut self, config: &TransportConfig, now: Nanos) -> bool {
        let Some(timeout) = &config.timeout else { return false };
        let packets = self.packets_in_flight(config);
        if !self.timer.fire(timeout, self.limits.base_rtt, now, packets) {
            return false;
        }
        let expired = packets > 0;
        if expired {
            self.timer.count();
            let sent = self.progress();
            if self.repair.on_timeout(&sent) {
                self.go_back();
            }
            self.resends = self.repair.lost().is_some();
        }
        self.timer.restart(now);
        self.timer.arm(timeout, self.limits.base_rtt, packets);
        expired
    }

    /// The retransmission timer, which has fired now, need not fire again before anything can be sent.
    pub fn park_timer(&mut self, now: Nanos) {
        self.timer.park(now);
    }

    /// Something can be sent again. Returns the retransmission timer if it was parked.
    pub fn resume_timer(&mut self, now: Nanos) -> Armed {
        if self.timer.resume(now) { self.timer.take_armed() } else { Armed(0) }
    }

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
    fn apply(&mut self, config: &TransportConfig, decision: RateDecision) -> Effects {
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
    fn repace(&mut self, config: &TransportConfig, rate: BitRate) {
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
    fn set_rate(&mut self, config: &TransportConfig, rate: BitRate) {
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
mod shared_tests;
#[cfg(test)]
mod tests;
