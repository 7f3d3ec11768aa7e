// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender's own clock: 8 bytes, the nanosecond at which the packet left its queue pair, little-endian as
//! the 2019 simulator's other fields. Switches leave it alone; the echo gives the round-trip time.

use super::codec::Codec;
use super::{HopStack, Reads, Telemetry, Unusable};
use crate::settings::Settings;
use crate::units::Nanos;

/// The sender's clock: 8 bytes, which switches leave alone.
#[derive(Clone, Debug)]
pub struct Timestamp;

impl Settings for Timestamp {}

impl Codec for Timestamp {
    fn name(&self) -> &'static str {
        "timestamp"
    }

    fn tells(&self) -> Reads {
        Reads::SendTime
    }

    fn len_after(&self, _: usize) -> usize {
        LEN
    }

    fn prepare(&self, section: &mut [u8], now: Nanos) {
        prepare(section, now);
    }

    fn read<'a>(&self, section: &[u8], _: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        read(section).map(Telemetry::SentAt)
    }
}

/// Bytes of a section.
const LEN: usize = 8;

/// Writes the send time of a packet.
#[inline]
fn prepare(section: &mut [u8], now: Nanos) {
    section.copy_from_slice(&now.0.to_le_bytes());
}

/// The send time of the echoed packet.
#[inline]
pub fn read(section: &[u8]) -> Result<Nanos, Unusable> {
    section.try_into().map(|bytes| Nanos(u64::from_le_bytes(bytes))).map_err(|_| Unusable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_send_time_comes_back() {
        let mut section = [0; LEN];
        prepare(&mut section, Nanos(2_000_000_041));
        assert_eq!(read(&section), Ok(Nanos(2_000_000_041)));
        assert_eq!(read(&section[1..]), Err(Unusable));
    }
}
