// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that find no room in a lossy queue are cut to their headers, which go ahead of all data (NDP, SIGCOMM 2017; Ultra
//! Ethernet): the receiver learns at once what is missing.

use super::Priorities;
use crate::units::BitRate;

/// The shortest frame of Ethernet, to which one that is cut is padded.
pub const SHORTEST: u32 = 64;

/// When packets are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrimConfig {
    /// The priorities whose packets are.
    pub priorities: Priorities,
    /// Bytes that a data queue of a port of 100 Gb/s may hold; others hold as much more as they are faster.
    pub threshold: u64,
    /// Bytes that such a port's queue of headers may hold.
    pub headers: u64,
    /// Probability that the last packet of the queue is cut, and not the one that arrives.
    pub last: f64,
    /// Whether telemetry of a packet that is cut stays in it.
    pub keeps_telemetry: bool,
    /// The queue in which headers wait; 0 goes ahead of all.
    pub queue: u8,
    /// Bytes that a packet which is cut has on the link, if it had as many: headers and the begin of its payload. At least all
    /// headers stay.
    pub size: u32,
}

impl TrimConfig {
    /// Bytes that a port's queue of data may hold, and its queue of headers.
    pub(super) fn limits(&self, rate: BitRate) -> (u32, u32) {
        let of_port = |bytes: u64| {
            let scaled = u128::from(bytes) * u128::from(rate.0) / u128::from(BitRate::gbps(100).0);
            u32::try_from(scaled).unwrap_or(u32::MAX)
        };
        (of_port(self.threshold), of_port(self.headers))
    }

    /// Bytes of a frame with such a payload when it is cut, and of the telemetry that stays in it.
    pub fn cut(&self, size: u32, padded_payload: u32, telemetry: u16) -> (u32, u16) {
        let kept = if self.keeps_telemetry { telemetry } else { 0 };
        let whole = size - u32::from(telemetry - kept);
        ((whole - padded_payload).max(self.size.min(whole)).max(SHORTEST), kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 62 bytes of headers, 42 of telemetry, 1,000 of payload.
    #[test]
    fn a_packet_keeps_its_headers_and_as_much_as_the_size_has_room_for() {
        let cut = |size, keeps_telemetry| {
            let usual = TrimConfig {
                priorities: Priorities::NONE,
                threshold: 0,
                headers: 0,
                last: 0.0,
                keeps_telemetry,
                queue: 0,
                size,
            };
            usual.cut(1_104, 1_000, 42)
        };
        assert_eq!((cut(0, true), cut(0, false)), ((104, 42), (64, 0)));
        assert_eq!((cut(256, true), cut(256, false)), ((256, 42), (256, 0)));
        assert_eq!((cut(100, true), cut(5_000, true), cut(5_000, false)), ((104, 42), (1_104, 42), (1_062, 0)));
    }
}
