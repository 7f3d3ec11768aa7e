// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving end of a flow: in-order delivery, acknowledgements, go-back-N.

use super::TransportConfig;
use crate::units::Nanos;

/// What the receiver sends back for a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    Silence,
    /// All bytes before this one have arrived.
    Ack(u64),
    /// This byte is missing.
    Nack(u64),
}

/// State of a receiving queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receiver {
    expected: u64,
    nack_after: Nanos,
    last_nacked: u64,
    /// From when on a congestion mark is worth another notification.
    notify_after: Nanos,
}

impl Receiver {
    /// The first byte that has not arrived in order.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// Takes in a packet that carries `payload` bytes from byte `seq` on.
    #[inline]
    pub fn on_data(&mut self, config: &TransportConfig, now: Nanos, seq: u64, payload: u32) -> Reply {
        if seq < self.expected {
            return Reply::Silence;
        }
        if seq > self.expected {
            return self.on_gap(config, now);
        }
        self.expected = seq.saturating_add(u64::from(payload));
        let on_chunk = self.expected.is_multiple_of(u64::from(config.chunk.max(1)));
        if self.expected >= u64::from(config.ack_interval) || on_chunk {
            return Reply::Ack(self.expected);
        }
        Reply::Silence
    }

    /// Whether the answer to a marked packet notifies its sender: at most once in an interval.
    pub fn notifies(&mut self, now: Nanos, interval: Nanos) -> bool {
        if now < self.notify_after {
            return false;
        }
        self.notify_after = now + interval;
        true
    }

    /// Asks for the missing byte, but for the same one not more often than the interval allows.
    fn on_gap(&mut self, config: &TransportConfig, now: Nanos) -> Reply {
        if now < self.nack_after && self.last_nacked == self.expected {
            return Reply::Silence;
        }
        self.nack_after = now + config.nack_interval;
        self.last_nacked = self.expected;
        self.expected = config.resume_at(self.expected);
        Reply::Nack(self.expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Recovery;

    const CONFIG: TransportConfig = TransportConfig {
        mtu: 1000,
        recovery: Recovery::GoBackN,
        chunk: 4000,
        ack_interval: 1,
        nack_interval: Nanos(500_000),
        window: true,
        variable_window: true,
        global_rtt: true,
        rate_bound: true,
        ack_priority: 3,
        quirks: crate::quirks::Quirks::NONE,
    };

    #[test]
    fn in_order_packets_are_acknowledged_one_by_one() {
        let mut receiver = Receiver::default();
        assert_eq!(receiver.on_data(&CONFIG, Nanos(0), 0, 1000), Reply::Ack(1000));
        assert_eq!(receiver.on_data(&CONFIG, Nanos(1), 1000, 500), Reply::Ack(1500));
    }

    #[test]
    fn duplicates_are_silent() {
        let mut receiver = Receiver::default();
        receiver.on_data(&CONFIG, Nanos(0), 0, 1000);
        assert_eq!(receiver.on_data(&CONFIG, Nanos(1), 0, 1000), Reply::Silence);
    }

    #[test]
    fn marks_are_notified_once_in_an_interval() {
        let mut receiver = Receiver::default();
        let notified = [0, 10, 49_999, 50_000, 60_000].map(|now| receiver.notifies(Nanos(now), Nanos(50_000)));
        assert_eq!(notified, [true, false, false, true, false]);
    }

    #[test]
    fn a_gap_is_nacked_once_per_interval_and_byte() {
        let mut receiver = Receiver::default();
        receiver.on_data(&CONFIG, Nanos(0), 0, 1000);
        assert_eq!(receiver.on_data(&CONFIG, Nanos(10), 2000, 1000), Reply::Nack(1000));
        assert_eq!(receiver.on_data(&CONFIG, Nanos(20), 3000, 1000), Reply::Silence);
        assert_eq!(receiver.on_data(&CONFIG, Nanos(500_010), 3000, 1000), Reply::Nack(1000));
    }

    #[test]
    fn go_back_zero_returns_to_the_chunk() {
        let config = TransportConfig { recovery: Recovery::GoBackZero, ..CONFIG };
        let mut receiver = Receiver::default();
        for seq in [0, 1000, 2000, 3000, 4000] {
            receiver.on_data(&config, Nanos(0), seq, 1000);
        }
        assert_eq!(receiver.on_data(&config, Nanos(10), 6000, 1000), Reply::Nack(4000));
        assert_eq!(receiver.expected(), 4000);
    }

    #[test]
    fn small_flows_wait_for_the_interval_or_a_chunk() {
        let config = TransportConfig { ack_interval: 3000, chunk: 2000, ..CONFIG };
        let mut receiver = Receiver::default();
        let replies = [0, 1000, 2000, 3000].map(|seq| receiver.on_data(&config, Nanos(0), seq, 1000));
        assert_eq!(replies, [Reply::Silence, Reply::Ack(2000), Reply::Ack(3000), Reply::Ack(4000)]);
    }
}
