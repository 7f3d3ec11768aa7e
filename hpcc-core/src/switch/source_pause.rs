// SPDX-License-Identifier: MIT OR Apache-2.0
//! Source flow control, in the manner of IEEE 802.1Qdw: where a queue is long the switch asks the source of the packet, and not its
//! neighbour as PFC does, to hold the flow for the time that the queue takes to drain.
//!
//! The layout is ours, for the standard's was not at hand: a congestion notification packet (CNP) from the switch, about the sender's
//! queue pair and with the UDP source port of its data, whose 16 reserved bytes hold
//! ```text
//! version (8) = 1 | reserved (24) | pause (32) ns | reserved (64)
//! ```

use crate::roce::CNP_RESERVED;
use crate::units::{BitRate, Nanos};
use alloc::collections::BTreeMap;

const VERSION: u8 = 1;
/// More flows than that are looked through for those whose pause is over.
const MANY: usize = 1_024;

/// What the reserved bytes of such a message hold.
pub fn emit(pause: Nanos) -> [u8; CNP_RESERVED] {
    let pause = u32::try_from(pause.0).unwrap_or(u32::MAX);
    let word = u128::from(VERSION) << 120 | u128::from(pause) << 64;
    word.to_be_bytes()
}

/// The pause that they ask for; `None` if they are of no such message.
pub fn parse(reserved: &[u8]) -> Option<Nanos> {
    let word = u128::from_be_bytes(reserved.try_into().ok()?);
    (word >> 120 == VERSION.into()).then_some(Nanos(u64::from((word >> 64) as u32)))
}

/// When a switch asks: once for the pause that it has asked a flow for.
#[derive(Clone, Debug)]
pub struct SourcePauses {
    /// Bytes of a port of 100 Gb/s.
    threshold: u64,
    /// When the pauses of flows end, by host and queue pair.
    told: BTreeMap<(u32, u32), Nanos>,
}

impl SourcePauses {
    /// Those of a switch that asks where a port of 100 Gb/s holds more than `threshold` bytes, others as much more as they are
    /// faster.
    pub fn new(threshold: u64) -> Self {
        SourcePauses { threshold, told: BTreeMap::new() }
    }

    /// A packet of a flow meets a queue of so many bytes at a port. Returns how long the flow is to pause, if at all.
    pub fn meet(&mut self, now: Nanos, flow: (u32, u32), queue: u64, rate: BitRate) -> Option<Nanos> {
        let is_short =
            u128::from(queue) * u128::from(BitRate::gbps(100).0) <= u128::from(self.threshold) * u128::from(rate.0);
        if is_short || self.told.get(&flow).is_some_and(|&until| until > now) {
            return None;
        }
        if self.told.len() > MANY {
            self.told.retain(|_, &mut until| until > now);
        }
        let pause = Nanos((u128::from(queue) * 8_000_000_000 / u128::from(rate.0.max(1))) as u64);
        self.told.insert(flow, now + pause);
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_its_pause_up_to_four_seconds() {
        let bytes = emit(Nanos(0x0102_0304));
        assert_eq!(bytes, [1, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parse(&bytes), Some(Nanos(0x0102_0304)));
        assert_eq!(parse(&emit(Nanos(u64::MAX))), Some(Nanos(u32::MAX.into())));
        for other in [&[0; CNP_RESERVED][..], &bytes[..15], &[]] {
            assert_eq!(parse(other), None, "a receiver's notification");
        }
    }

    /// 50 kB take 4 us at 100 Gb/s.
    #[test]
    fn a_flow_is_asked_again_when_its_pause_is_over() {
        let mut pauses = SourcePauses::new(40_000);
        let mut meet = |now, flow, queue, gbps| pauses.meet(Nanos(now), (7, flow), queue, BitRate::gbps(gbps));
        assert_eq!(meet(0, 1, 40_000, 100), None, "not above the threshold");
        assert_eq!(meet(0, 1, 50_000, 100), Some(Nanos(4_000)));
        assert_eq!(meet(3_999, 1, 90_000, 100), None, "it has been asked");
        assert_eq!(meet(3_999, 2, 90_000, 100), Some(Nanos(7_200)), "another has not");
        assert_eq!(meet(4_000, 1, 45_000, 100), Some(Nanos(3_600)));
        assert_eq!(meet(9_000, 1, 160_000, 400), None, "a port of 400 Gb/s holds four times as much");
        assert_eq!(meet(9_000, 1, 200_000, 400), Some(Nanos(4_000)));
    }

    #[test]
    fn flows_whose_pause_is_over_are_forgotten() {
        let mut pauses = SourcePauses::new(1);
        for flow in 0..10_000 {
            pauses.meet(Nanos(u64::from(flow)), (0, flow), 1_000, BitRate::gbps(100));
        }
        assert!(pauses.told.len() <= MANY + 1, "{}", pauses.told.len());
    }
}
