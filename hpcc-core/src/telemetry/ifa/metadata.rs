// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one hop adds: 32 bytes.
//!
//! ```text
//! word 0  LNS (4) | device id (20) | IP time to live (8)
//! word 1  egress speed (4) | congestion (2) | queue id (6) | reception time (20) s
//! word 2  egress port (16) | ingress port (16)
//! word 3  reception time (32) ns
//! word 4  residence time (32) ns
//! words 5 to 7  opaque
//! ```

/// Bytes of an entry.
pub const LEN: usize = 32;
/// Words of an entry.
pub const WORDS: u8 = (LEN / 4) as u8;
/// Of device ids and of seconds.
pub(super) const LOW_20: u32 = 0xf_ffff;

/// An entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// LNS, the local name space, 4 bits.
    pub name_space: u8,
    /// Device id, 20 bits.
    pub device: u32,
    /// Time to live of the IP header.
    pub ttl: u8,
    /// The code of the egress link's rate, 4 bits.
    pub speed: u8,
    /// Congestion bits, 2.
    pub congestion: u8,
    /// Queue id, 6 bits.
    pub queue: u8,
    /// Whole seconds of the reception time, 20 bits.
    pub rx_seconds: u32,
    /// Egress port.
    pub egress: u16,
    /// Ingress port.
    pub ingress: u16,
    /// Nanoseconds of the reception time.
    pub rx_nanos: u32,
    /// Nanoseconds from reception to emission.
    pub residence: u32,
    /// The opaque words.
    pub opaque: [u32; 3],
}

impl Metadata {
    /// Reads the fields.
    #[inline]
    pub fn parse(bytes: &[u8; LEN]) -> Metadata {
        let (words, _) = bytes.as_chunks();
        let word = |at: usize| words.get(at).map_or(0, |&word| u32::from_be_bytes(word));
        Metadata {
            name_space: (word(0) >> 28) as u8,
            device: word(0) >> 8 & LOW_20,
            ttl: word(0) as u8,
            speed: (word(1) >> 28) as u8,
            congestion: (word(1) >> 26) as u8 & 0b11,
            queue: (word(1) >> 20) as u8 & 0x3f,
            rx_seconds: word(1) & LOW_20,
            egress: (word(2) >> 16) as u16,
            ingress: word(2) as u16,
            rx_nanos: word(3),
            residence: word(4),
            opaque: [word(5), word(6), word(7)],
        }
    }

    /// The bytes; what exceeds its bits is cut.
    #[inline]
    pub fn emit(&self) -> [u8; LEN] {
        let [opaque_0, opaque_1, opaque_2] = self.opaque;
        let words = [
            u32::from(self.name_space) << 28 | (self.device & LOW_20) << 8 | u32::from(self.ttl),
            u32::from(self.speed) << 28
                | u32::from(self.congestion & 0b11) << 26
                | u32::from(self.queue & 0x3f) << 20
                | self.rx_seconds & LOW_20,
            u32::from(self.egress) << 16 | u32::from(self.ingress),
            self.rx_nanos,
            self.residence,
            opaque_0,
            opaque_1,
            opaque_2,
        ];
        let mut bytes = [0; LEN];
        for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
            four.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each field with a value of its own, packed by hand from the figure.
    #[test]
    fn fields_have_their_bits() {
        let metadata = Metadata {
            name_space: 0xa,
            device: 0x1_2345,
            ttl: 63,
            speed: 6,
            congestion: 0b10,
            queue: 0b10_0001,
            rx_seconds: 0x6_789a,
            egress: 0x0102,
            ingress: 0x0304,
            rx_nanos: 0x0506_0708,
            residence: 0x090a_0b0c,
            opaque: [1, 2, 3],
        };
        let bytes = [
            0xa1, 0x23, 0x45, 63, 0x6a, 0x16, 0x78, 0x9a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 1, 0, 0, 0,
            2, 0, 0, 0, 3,
        ];
        assert_eq!(metadata.emit(), bytes);
        assert_eq!(Metadata::parse(&bytes), metadata);
    }
}
