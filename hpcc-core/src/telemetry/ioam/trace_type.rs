// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which data a trace asks each node for: 24 bits, the first of which is the most significant (RFC 9197 section 4.4.1).

/// The 24 bits of a trace type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceType(pub u32);

/// Hop limit and node id.
pub const NODE_ID: u8 = 0;
/// Ingress and egress interface.
pub const INTERFACES: u8 = 1;
/// Seconds of the timestamp.
pub const SECONDS: u8 = 2;
/// Fraction of the timestamp.
pub const FRACTION: u8 = 3;
/// Transit delay.
pub const TRANSIT_DELAY: u8 = 4;
/// Data that the namespace defines.
pub const NAMESPACE_DATA: u8 = 5;
/// Queue depth.
pub const QUEUE_DEPTH: u8 = 6;
/// Checksum complement.
pub const CHECKSUM_COMPLEMENT: u8 = 7;
/// Hop limit and node id, wide.
pub const WIDE_NODE_ID: u8 = 8;
/// Ingress and egress interface, wide.
pub const WIDE_INTERFACES: u8 = 9;
/// Data that the namespace defines, wide.
pub const WIDE_NAMESPACE_DATA: u8 = 10;
/// Buffer occupancy.
pub const BUFFER_OCCUPANCY: u8 = 11;
/// First undefined bit.
const FIRST_UNDEFINED: u8 = 12;
/// Opaque state snapshot, of variable length.
pub const SNAPSHOT: u8 = 22;

const BITS: u32 = 0xff_ffff;

impl TraceType {
    /// The type of three bytes.
    pub const fn from_bytes(bytes: [u8; 3]) -> TraceType {
        TraceType(u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]))
    }

    /// Its three bytes.
    pub const fn bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }

    /// Whether it asks for the data of a bit, 0 to 23.
    pub const fn has(self, bit: u8) -> bool {
        self.0 << bit & 0x80_0000 != 0
    }

    /// Words of 4 bytes that a node adds, without its snapshot. Bit 23, which is reserved, stands for none.
    pub const fn words(self) -> u8 {
        let all = self.0 & BITS & !(1 << (23 - SNAPSHOT)) & !1;
        let wide = all & (1 << (23 - WIDE_NODE_ID) | 1 << (23 - WIDE_INTERFACES) | 1 << (23 - WIDE_NAMESPACE_DATA));
        (all.count_ones() + wide.count_ones()) as u8
    }

    /// How many undefined bits are set; each stands for a word (REQ-56).
    pub const fn undefined(self) -> u8 {
        let mut count = 0;
        let mut bit = FIRST_UNDEFINED;
        while bit < SNAPSHOT {
            count += self.has(bit) as u8;
            bit += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NodeLen of the types in use, by the kernel's headers.
    #[test]
    fn words_are_what_the_kernel_calls_node_length() {
        for (code, words) in [(0xf22000, 7), (0x960000, 4), (0xd20000, 4), (0x900002, 2), (0x800000, 1), (0, 0)] {
            assert_eq!(TraceType(code).words(), words, "{code:#x}");
        }
        assert_eq!(TraceType(0xfffffe).words(), 12 + 3 + 10);
        assert_eq!(TraceType(0xfffffe).undefined(), 10);
    }

    #[test]
    fn bit_0_is_the_most_significant() {
        let found = TraceType::from_bytes([0x80, 0x00, 0x02]);
        assert!(found.has(NODE_ID) && found.has(SNAPSHOT) && !found.has(INTERFACES));
        assert_eq!(found.bytes(), [0x80, 0, 2]);
    }
}
