// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a sender makes of losses: what it sends again, and the retransmission timer.

use super::{QueuePair, UNASKED};
use crate::cc::Armed;
use crate::transport::recovery::Progress;
use crate::transport::{Ack, TransportConfig};
use crate::units::Nanos;

impl QueuePair {
    /// The receiver misses a byte: sending resumes at the first unacknowledged one.
    #[inline]
    pub fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
        self.enter_message();
        if self.requested != UNASKED {
            self.requested = self.snd_una;
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress { first_missing: self.snd_una, next: self.snd_nxt }
    }

    /// What recovery beyond the 2019 simulator's makes of an acknowledgement that [`QueuePair::on_ack`] has taken in;
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
}
