// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow as RDMA WRITE messages.
//!
//! The length in a WRITE's header has 32 bits, so that a long flow is several messages. All of them but the last
//! have the same length, a whole number of packets: where a packet belongs follows from its first byte.

/// No message is longer.
pub const MAX_MESSAGE: u64 = 1 << 30;

/// Bytes of every message but the last; `mtu` is above 0.
const fn full_length(mtu: u32) -> u64 {
    MAX_MESSAGE / mtu as u64 * mtu as u64
}

/// A packet's place in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whether it opens the message, and so carries its length.
    pub first: bool,
    /// Whether it ends the message.
    pub last: bool,
    /// The message, counted from 0.
    pub number: u64,
    /// Bytes of the message.
    pub length: u32,
}

impl Place {
    /// Of the packet with the bytes from `seq` to `seq + payload` of a flow of `size` bytes. `mtu` is above 0.
    pub fn of(seq: u64, payload: u32, size: u64, mtu: u32) -> Place {
        let full = full_length(mtu);
        let number = seq / full;
        let start = number * full;
        let length = size.saturating_sub(start).min(full);
        let end = (seq - start).saturating_add(u64::from(payload));
        Place { first: seq == start, last: end >= length, number, length: length as u32 }
    }
}

/// Messages of a flow of `size` bytes that are complete once all bytes before `seq` have arrived.
pub fn completed(seq: u64, size: u64, mtu: u32) -> u64 {
    seq / full_length(mtu) + u64::from(seq >= size && !seq.is_multiple_of(full_length(mtu)))
}

/// Whether the packet that begins with byte `seq` opens a message.
#[inline]
pub fn opens(seq: u64, mtu: u32) -> bool {
    seq == 0 || seq.is_multiple_of(full_length(mtu))
}

/// The first byte behind `seq` that opens a message of a flow that is long enough.
pub const fn next_opening(seq: u64, mtu: u32) -> u64 {
    (seq / full_length(mtu)).saturating_add(1).saturating_mul(full_length(mtu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_flow_is_one_message() {
        let place = |seq, payload| Place::of(seq, payload, 2_500, 1_000);
        assert_eq!(place(0, 1_000), Place { first: true, last: false, number: 0, length: 2_500 });
        assert_eq!(place(1_000, 1_000), Place { first: false, last: false, number: 0, length: 2_500 });
        assert_eq!(place(2_000, 500), Place { first: false, last: true, number: 0, length: 2_500 });
        assert_eq!(Place::of(0, 1, 1, 1_000), Place { first: true, last: true, number: 0, length: 1 });
    }

    #[test]
    fn a_long_flow_is_several_of_whole_packets() {
        let size = 5 << 30;
        let full = 1_073_741_000;
        assert_eq!(
            Place::of(full - 1_000, 1_000, size, 1_000),
            Place { first: false, last: true, number: 0, length: full as u32 }
        );
        assert_eq!(
            Place::of(full, 1_000, size, 1_000),
            Place { first: true, last: false, number: 1, length: full as u32 }
        );
        let done = [0, full - 1, full, full + 1_000, size].map(|seq| completed(seq, size, 1_000));
        assert_eq!(done, [0, 0, 1, 1, 6]);
        let last = Place::of(5 * full, 1_000, size, 1_000);
        assert_eq!((last.number, u64::from(last.length)), (5, size - 5 * full));
        for seq in [0, 1_000, full - 1_000, full, full + 1_000] {
            assert_eq!(opens(seq, 1_000), Place::of(seq, 1_000, size, 1_000).first, "{seq}");
            let next = next_opening(seq, 1_000);
            assert!(next > seq && next - seq <= full && opens(next, 1_000), "{seq}: {next}");
        }
    }
}
