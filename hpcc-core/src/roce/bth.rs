// SPDX-License-Identifier: MIT OR Apache-2.0
//! The base transport header.
//!
//! ```text
//! opcode 8 | SE 1 | M 1 | PadCnt 2 | TVer 4 | P_Key 16
//! FECN 1 | BECN 1 | reserved 6 | DestQP 24
//! A 1 | reserved 7 | PSN 24
//! ```

use super::{Opcode, Truncated, bits_24};

/// Bytes of the header.
pub const LEN: usize = 12;

/// The default partition.
pub const DEFAULT_PKEY: u16 = 0xffff;

/// Offset of the byte with FECN and BECN, which switches may change.
pub const CONGESTION_BITS: usize = 4;

/// A base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    /// The operation.
    pub opcode: Opcode,
    /// SE: the receiver is to be told of the message.
    pub solicited: bool,
    /// M: state of path migration.
    pub migrated: bool,
    /// Bytes that pad the payload to a multiple of 4; 0 to 3.
    pub pad_count: u8,
    /// TVer, 0 in RoCEv2; 4 bits.
    pub version: u8,
    /// Partition key; 0xffff is the default partition.
    pub pkey: u16,
    /// Forward congestion notification.
    pub fecn: bool,
    /// Backward congestion notification.
    pub becn: bool,
    /// Destination queue pair, 24 bits.
    pub dest_qp: u32,
    /// A: the receiver is to acknowledge.
    pub ack_requested: bool,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
}

impl Default for Bth {
    fn default() -> Self {
        Bth::PLAIN
    }
}

impl Bth {
    /// Nothing but the default partition.
    pub const PLAIN: Bth = Bth {
        opcode: Opcode(0),
        solicited: false,
        migrated: false,
        pad_count: 0,
        version: 0,
        pkey: DEFAULT_PKEY,
        fecn: false,
        becn: false,
        dest_qp: 0,
        ack_requested: false,
        psn: 0,
    };

    /// Of a congestion notification to a queue pair (REQ-33).
    pub fn cnp(dest_qp: u32) -> Bth {
        Bth { opcode: Opcode::CNP, becn: true, dest_qp, ..Bth::default() }
    }

    /// Reads the header and returns what follows it.
    ///
    /// # Errors
    /// Fewer than 12 bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Bth, &[u8]), Truncated> {
        let (header, rest) = bytes.split_first_chunk::<LEN>().ok_or(Truncated)?;
        let &[opcode, flags, pkey_high, pkey_low, congestion, qp_high, qp_mid, qp_low, ack, psn_high, psn_mid, psn_low] =
            header;
        let bth = Bth {
            opcode: Opcode(opcode),
            solicited: flags & 0x80 != 0,
            migrated: flags & 0x40 != 0,
            pad_count: flags >> 4 & 3,
            version: flags & 0xf,
            pkey: u16::from_be_bytes([pkey_high, pkey_low]),
            fecn: congestion & 0x80 != 0,
            becn: congestion & 0x40 != 0,
            dest_qp: u32::from_be_bytes([0, qp_high, qp_mid, qp_low]),
            ack_requested: ack & 0x80 != 0,
            psn: u32::from_be_bytes([0, psn_high, psn_mid, psn_low]),
        };
        Ok((bth, rest))
    }

    /// The header's bytes; bits beyond the width of a field are cut off.
    pub fn emit(&self) -> [u8; LEN] {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags =
            flag(self.solicited, 0x80) | flag(self.migrated, 0x40) | (self.pad_count & 3) << 4 | self.version & 0xf;
        let congestion = flag(self.fecn, 0x80) | flag(self.becn, 0x40);
        let [pkey_high, pkey_low] = self.pkey.to_be_bytes();
        let [qp_high, qp_mid, qp_low] = bits_24(self.dest_qp);
        let [psn_high, psn_mid, psn_low] = bits_24(self.psn);
        let ack = flag(self.ack_requested, 0x80);
        [
            self.opcode.0,
            flags,
            pkey_high,
            pkey_low,
            congestion,
            qp_high,
            qp_mid,
            qp_low,
            ack,
            psn_high,
            psn_mid,
            psn_low,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_place() {
        let bth = Bth {
            opcode: Opcode(0x24),
            solicited: true,
            migrated: true,
            pad_count: 2,
            version: 5,
            pkey: 0x1234,
            fecn: true,
            becn: false,
            dest_qp: 0xab_cdef,
            ack_requested: true,
            psn: 0x12_3456,
        };
        let bytes = [0x24, 0xe5, 0x12, 0x34, 0x80, 0xab, 0xcd, 0xef, 0x80, 0x12, 0x34, 0x56];
        assert_eq!(bth.emit(), bytes);
        assert_eq!(Bth::parse(&bytes), Ok((bth, &[][..])));
        for len in 0..LEN {
            assert_eq!(Bth::parse(&bytes[..len]), Err(Truncated));
        }
    }
}
