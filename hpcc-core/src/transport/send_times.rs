// SPDX-License-Identifier: MIT OR Apache-2.0
//! When packets left, for controllers that go by round-trip times: the sender's own clock, so that no byte on the wire
//! is needed.

use crate::recurrence::{Recurs, Walk, recurs};
use crate::units::Nanos;
use alloc::collections::VecDeque;

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Departed {
    /// The byte behind its last.
    end: u64,
    at: Nanos,
}

/// The packets of one flow that were sent once and are not acknowledged, in the order of their bytes.
#[derive(Clone, Debug, Default)]
pub struct SendTimes {
    departed: VecDeque<Departed>,
    newest: Option<Nanos>,
}

impl SendTimes {
    /// A packet left that ends before byte `end`. If it was sent before, the acknowledgement of either copy tells no
    /// round-trip time (Karn's rule): it is forgotten, with all behind it that will be sent again.
    pub fn on_sent(&mut self, now: Nanos, seq: u64, end: u64, again: bool) {
        if again {
            self.departed.retain(|packet| packet.end <= seq || packet.end > end);
            return;
        }
        self.departed.push_back(Departed { end, at: now });
    }

    /// All bytes before `seq` have arrived: the round-trip time of the newest packet among them.
    pub fn on_ack(&mut self, now: Nanos, seq: u64) -> Option<Nanos> {
        let mut newest = None;
        while let Some(packet) = self.departed.front().filter(|packet| packet.end <= seq) {
            newest = Some(now.saturating_sub(packet.at));
            self.departed.pop_front();
        }
        self.newest = newest;
        newest
    }

    /// What the last acknowledgement told, once.
    pub fn take_newest(&mut self) -> Option<Nanos> {
        self.newest.take()
    }
}

recurs! { Departed { end: sequence, at: moves, } }

impl Recurs for SendTimes {
    fn walk(&mut self, walk: &mut Walk) {
        let SendTimes { departed, newest } = self;
        walk.plain(newest);
        walk.size(departed);
        if let Some(oldest) = departed.front() {
            walk.under_way_since(oldest.at);
        }
        departed.iter_mut().for_each(|packet| walk.part(packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_acknowledged_packet_counts() {
        let mut times = SendTimes::default();
        for n in 0..4 {
            times.on_sent(Nanos(100 * n), 1_000 * n, 1_000 * (n + 1), false);
        }
        assert_eq!(times.on_ack(Nanos(1_000), 2_000), Some(Nanos(900)));
        assert_eq!(times.on_ack(Nanos(1_010), 2_000), None, "nothing new");
        assert_eq!(times.on_ack(Nanos(1_100), 3_999), Some(Nanos(900)));
    }

    #[test]
    fn what_was_sent_twice_tells_nothing() {
        let mut times = SendTimes::default();
        times.on_sent(Nanos(0), 0, 1_000, false);
        times.on_sent(Nanos(100), 1_000, 2_000, false);
        times.on_sent(Nanos(5_000), 0, 1_000, true);
        assert_eq!(times.on_ack(Nanos(5_100), 1_000), None);
        assert_eq!(times.on_ack(Nanos(5_200), 2_000), Some(Nanos(5_100)));
    }
}
