// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compact INT section of the HPCC paper's figure 7 (SPEC section 2.1; REQ-21, REQ-24).
//!
//! ```text
//! header  nHop (4) | pathID (12)
//! hop     B (4) | TS (24) ns | txBytes (20) of 128 B | qLen (16) of 80 B      hop 1 first, big-endian
//! ```
//! TS and txBytes wrap. Where the paper is silent: qLen saturates, so that an enormous queue never reads as
//! a short one; the code of B is IFA's; a switch that finds 15 hops leaves the packet as it is.

use super::{Hop, HopStack, MAX_HOPS, Modulus, Snapshot, Unusable, speed};

/// Bytes of the section when it leaves the sender.
pub const HEADER_LEN: usize = 2;
const HOP_LEN: usize = 8;
const PATH_ID_BITS: u32 = 12;
const TX_UNIT: u64 = 128;
const QLEN_UNIT: u64 = 80;
const QLEN_MAX: u64 = 0xffff;
const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: TX_UNIT << 20 };

#[inline]
pub fn stamp(section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
    let end = len + HOP_LEN;
    let Some(bytes) = section.get_mut(..end).filter(|_| len >= HEADER_LEN) else { return len };
    let Some(code) = speed::code(snapshot.rate) else { return len };
    let header = u16::from_be_bytes([bytes[0], bytes[1]]);
    let n_hop = header >> PATH_ID_BITS;
    if usize::from(n_hop) >= MAX_HOPS {
        return len;
    }
    let word = u64::from(code) << 60
        | (snapshot.now.0 & 0xff_ffff) << 36
        | ((snapshot.tx_bytes / TX_UNIT) & 0xf_ffff) << 16
        | (snapshot.qlen / QLEN_UNIT).min(QLEN_MAX);
    bytes[len..end].copy_from_slice(&word.to_be_bytes());
    let path_id = (header ^ snapshot.switch_id as u16) & 0x0fff;
    bytes[..HEADER_LEN].copy_from_slice(&((n_hop + 1) << PATH_ID_BITS | path_id).to_be_bytes());
    end
}

#[inline]
pub fn read(section: &[u8], stack: &mut HopStack) -> Result<(), Unusable> {
    let (header, hops) = section.split_at_checked(HEADER_LEN).ok_or(Unusable)?;
    let n_hop = usize::from(header[0] >> 4);
    if hops.len() != n_hop * HOP_LEN {
        return Err(Unusable);
    }
    stack.reset(MODULUS);
    stack.path = u64::from(u16::from_be_bytes([header[0], header[1]]));
    for word in hops.chunks_exact(HOP_LEN) {
        let word = u64::from_be_bytes(word.try_into().map_err(|_| Unusable)?);
        stack.push(Hop {
            rate: speed::rate((word >> 60) as u8).ok_or(Unusable)?,
            ts: word >> 36 & 0xff_ffff,
            tx_bytes: (word >> 16 & 0xf_ffff) * TX_UNIT,
            qlen: (word & 0xffff) * QLEN_UNIT,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BitRate, Nanos};

    fn read(section: &[u8]) -> Result<HopStack, Unusable> {
        let mut stack = HopStack::default();
        super::read(section, &mut stack).map(|()| stack)
    }

    const VECTOR: [u8; 18] =
        [0x20, 0x13, 0x41, 0x23, 0x45, 0x6a, 0xbc, 0xde, 0x00, 0x10, 0x61, 0x23, 0x46, 0x00, 0x00, 0x01, 0x00, 0x00];

    /// SPEC section 2.1 gives these bytes for two hops of switches 0x0a1 and 0x0b2.
    #[test]
    fn req_21_two_switches_write_the_published_vector() {
        let mut section = [0; 64];
        let first = Snapshot {
            switch_id: 0x0a1,
            now: Nanos(0x12_3456),
            tx_bytes: 0xabcde * 128,
            qlen: 0x10 * 80,
            ..Snapshot::IDLE
        };
        let second = Snapshot {
            switch_id: 0x0b2,
            rate: BitRate::gbps(400),
            now: Nanos(0x12_3460),
            tx_bytes: 128,
            ..Snapshot::IDLE
        };
        let len = stamp(&mut section, HEADER_LEN, &first);
        let len = stamp(&mut section, len, &second);
        assert_eq!(section[..len], VECTOR);
    }

    #[test]
    fn req_24_the_vector_reads_back_and_takes_42_bytes_at_five_hops() {
        let stack = read(&VECTOR).expect("two hops");
        assert_eq!(
            stack.hops()[0],
            Hop { rate: BitRate::gbps(100), ts: 0x12_3456, tx_bytes: 0xabcde * 128, qlen: 0x10 * 80 }
        );
        assert_eq!(stack.hops()[1].rate, BitRate::gbps(400));
        assert_eq!(HEADER_LEN + 5 * HOP_LEN, 42);
    }

    #[test]
    fn the_sixteenth_hop_leaves_the_packet_as_it_is() {
        let mut section = [0; super::super::MAX_SECTION + HOP_LEN];
        let snapshot = Snapshot { tx_bytes: u64::MAX, qlen: u64::MAX, ..Snapshot::IDLE };
        let mut len = HEADER_LEN;
        for _ in 0..MAX_HOPS {
            len = stamp(&mut section, len, &snapshot);
        }
        assert_eq!(len, HEADER_LEN + MAX_HOPS * HOP_LEN);
        let full = section;
        assert_eq!(stamp(&mut section, len, &snapshot), len);
        assert_eq!(section, full);
        assert_eq!(read(&section[..len]).expect("15 hops").hops()[14].qlen, QLEN_MAX * QLEN_UNIT);
    }

    #[test]
    fn a_length_that_contradicts_the_hop_count_is_refused() {
        for len in 0..VECTOR.len() {
            assert_eq!(read(&VECTOR[..len]), Err(Unusable), "{len} bytes");
        }
        assert_eq!(read(&[0xf0; 10]), Err(Unusable));
    }
}
