// SPDX-License-Identifier: MIT OR Apache-2.0
//! A NIC whose host takes what arrives more slowly than the link brings it: congestion in the receiving host.
//!
//! Bus and memory of such a host are a server of one rate, in the order of arrival. What waits for it stays in the NIC's
//! buffer. Above a threshold the NIC pauses its link by PFC, as a switch does; what exceeds the buffer is lost. No switch
//! sees that buffer: to telemetry a paused link looks like one that little is sent on.

mod settings;

pub use settings::ReceiveSettings;

use crate::counters::counters;
use crate::pfc::PRIORITIES;
use crate::switch::Priorities;
use crate::units::{BitRate, Nanos, PICOS};
use alloc::sync::Arc;

/// What a slow receiver runs by, at each of its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiveConfig {
    /// Rate at which it takes frames, by their bytes on the link without preamble and gap.
    pub rate: BitRate,
    /// Times from which on that is another one, ascending.
    pub schedule: Arc<[(Nanos, BitRate)]>,
    /// Bytes that its NIC has room for.
    pub buffer: u64,
    /// Bytes there above which it pauses the priority of what arrives.
    pub pause_above: u64,
    /// Bytes there down to which it resumes all that it has paused.
    pub resume_below: u64,
    /// What it may pause.
    pub priorities: Priorities,
}

/// What becomes of a frame that arrives at a slow receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// There is no room for it.
    Dropped,
    /// It waits for its turn.
    Held {
        /// Whether its priority must be paused now.
        pause: bool,
    },
}

counters! {
    /// What a receiving NIC's buffer has come to.
    pub struct ReceiveCounters {
        /// Frames that there was no room for.
        pub dropped: u64,
        /// Pauses sent.
        pub pauses: u64,
    }
}

/// The buffer of a link's NIC, which holds what its host has not taken yet.
#[derive(Clone, Debug)]
pub struct ReceiveBuffer {
    config: ReceiveConfig,
    held: u64,
    /// Bit n: priority n is paused.
    paused: u8,
    /// Entries of the schedule that have passed.
    passed: usize,
    /// Part of a nanosecond that the host has still to spend on the frames that it has taken.
    owed_picos: u64,
    counters: ReceiveCounters,
}

impl ReceiveBuffer {
    /// An empty buffer.
    pub fn new(config: ReceiveConfig) -> Self {
        ReceiveBuffer { config, held: 0, paused: 0, passed: 0, owed_picos: 0, counters: ReceiveCounters::default() }
    }

    /// A frame arrives.
    pub fn rx_enqueue(&mut self, priority: u8, bytes: u32) -> Arrival {
        let held = self.held + u64::from(bytes);
        if held > self.config.buffer {
            self.counters.dropped += 1;
            return Arrival::Dropped;
        }
        self.held = held;
        let pause = held > self.config.pause_above && self.may_pause(priority);
        if pause {
            self.paused |= 1 << priority;
            self.counters.pauses += 1;
        }
        Arrival::Held { pause }
    }

    /// The turn of a frame has come: how long the host takes for it, by the rate at its begin. What whole nanoseconds leave of one frame's time the
    /// next one has to make up for.
    pub fn rx_start(&mut self, now: Nanos, bytes: u32) -> Nanos {
        while let Some(&(_, rate)) = self.config.schedule.get(self.passed).filter(|(time, _)| *time <= now) {
            self.config.rate = rate;
            self.passed += 1;
        }
        let picos = self.config.rate.tx_picos(bytes) + self.owed_picos;
        self.owed_picos = picos % PICOS;
        Nanos(picos / PICOS)
    }

    /// The host has taken a frame of so many bytes. Returns which priorities to resume: bit n stands for priority n.
    pub fn rx_done(&mut self, bytes: u32) -> u8 {
        self.held = self.held.saturating_sub(u64::from(bytes));
        if self.held > self.config.resume_below { 0 } else { core::mem::take(&mut self.paused) }
    }

    /// The link has failed: nothing at its other end is paused any more.
    pub fn forget_pauses(&mut self) {
        self.paused = 0;
    }

    /// What has come of it so far.
    pub fn counters(&self) -> ReceiveCounters {
        self.counters
    }

    /// Whether a priority can be paused and is not. No pause stops priority 0.
    fn may_pause(&self, priority: u8) -> bool {
        priority != 0
            && usize::from(priority) < PRIORITIES
            && self.config.priorities.serve(priority)
            && self.paused >> priority & 1 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(schedule: &[(Nanos, BitRate)]) -> ReceiveBuffer {
        ReceiveBuffer::new(ReceiveConfig {
            rate: BitRate::gbps(40),
            schedule: schedule.into(),
            buffer: 10_000,
            pause_above: 4_000,
            resume_below: 2_000,
            priorities: Priorities::NONE.with(3).with(5),
        })
    }

    #[test]
    fn each_priority_is_paused_once_and_all_are_resumed_together() {
        let mut buffer = buffer(&[]);
        let arrivals: [(u8, bool); 7] =
            [(3, false), (3, false), (3, false), (3, false), (3, true), (5, true), (3, false)];
        for (priority, pause) in arrivals {
            assert_eq!(buffer.rx_enqueue(priority, 1_000), Arrival::Held { pause });
        }
        let resumed = core::array::from_fn::<u8, 7, _>(|_| buffer.rx_done(1_000));
        assert_eq!(resumed, [0, 0, 0, 0, 1 << 3 | 1 << 5, 0, 0]);
        assert_eq!(buffer.counters(), ReceiveCounters { dropped: 0, pauses: 2 });
    }

    #[test]
    fn what_no_pause_can_stop_is_dropped_when_the_buffer_is_full() {
        for priority in [0, 4] {
            let mut buffer = buffer(&[]);
            for _ in 0..10 {
                assert_eq!(buffer.rx_enqueue(priority, 1_000), Arrival::Held { pause: false });
            }
            assert_eq!(buffer.rx_enqueue(priority, 1), Arrival::Dropped);
            assert_eq!(buffer.counters().dropped, 1);
            buffer.rx_done(1_000);
            assert_eq!(buffer.rx_enqueue(priority, 1_000), Arrival::Held { pause: false });
        }
    }

    #[test]
    fn a_link_that_failed_is_paused_anew() {
        let mut buffer = buffer(&[]);
        assert_eq!(buffer.rx_enqueue(3, 5_000), Arrival::Held { pause: true });
        buffer.forget_pauses();
        assert_eq!(buffer.rx_enqueue(3, 1_000), Arrival::Held { pause: true });
        assert_eq!(buffer.rx_done(5_000), 1 << 3);
    }

    /// Three frames of 1,001 bytes take 600.6 ns at 40 Gb/s.
    #[test]
    fn frames_take_their_bytes_at_the_rate() {
        let mut buffer = buffer(&[]);
        let mut start = |bytes| buffer.rx_start(Nanos(0), bytes);
        assert_eq!(start(1_000), Nanos(200));
        assert_eq!(core::array::from_fn(|_| start(1_001)), [Nanos(200), Nanos(200), Nanos(200)]);
        assert_eq!(core::array::from_fn(|_| start(1_001)), [Nanos(200), Nanos(201)]);
    }

    #[test]
    fn the_rate_follows_a_schedule_from_frame_to_frame() {
        let mut buffer =
            buffer(&[(Nanos(100), BitRate::gbps(10)), (Nanos(300), BitRate::gbps(80)), (Nanos(400), BitRate::gbps(8))]);
        let times = [0, 99, 100, 299, 500].map(|now| buffer.rx_start(Nanos(now), 1_000));
        assert_eq!(times, [200, 200, 800, 800, 1_000].map(Nanos));
    }
}
