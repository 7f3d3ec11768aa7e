// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that share a queue pair: one after the other, each from a whole packet on.

use super::{Acked, QueuePair};
use crate::cc::{Armed, MAX_TIMERS};
use crate::transport::TransportConfig;
use crate::transport::posted::{Message, Posted};
use crate::transport::timeout::{RETRANSMISSION_TIMER, RetransmissionTimer};
use crate::units::Nanos;
use alloc::boxed::Box;

impl QueuePair {
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

    /// The same where flows share the queue pair.
    pub(super) fn on_ack_of_messages(&mut self, config: &TransportConfig, seq: u64) -> Acked {
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
    pub(super) fn enter_message(&mut self) {
        let Some(posted) = &self.posted else { return };
        self.snd_nxt = self.snd_nxt.max(self.snd_una);
        let message = posted.at(self.snd_nxt).unwrap_or(posted.last());
        self.snd_nxt = self.snd_nxt.max(message.start);
        self.end = message.end();
        self.gaps = if self.is_finished() { 0 } else { posted.gaps_until(self.snd_nxt) };
    }
}
