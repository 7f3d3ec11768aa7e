// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of one link as bytes: what the answer to a RoCEv2 telemetry request carries (REQ-17;
//! draft-miao-rtgwg-hpccplus-00, section 7.1, which names the values and no format).
//!
//! ```text
//! place 8 | capacity in Mb/s 24 | qlen 32 | ts 64 | txBytes 64 | path 64
//! ```
//! Counters stand as they were read, modulo what the layout that brought them wraps at: both ends know it.

use super::{Hop, LinkRecord, MAX_HOPS, Modulus, Unusable};
use crate::units::BitRate;

/// Bytes of a record.
pub const LEN: usize = 32;
const MEGABIT: u64 = 1_000_000;

/// Writes a record. A queue or a capacity beyond its field is written as the greatest.
pub fn emit(record: &LinkRecord) -> [u8; LEN] {
    let capacity = (record.hop.rate.0 / MEGABIT).min(0xff_ffff) as u32;
    let qlen = u32::try_from(record.hop.qlen).unwrap_or(u32::MAX);
    let mut bytes = [0; LEN];
    bytes[0..4].copy_from_slice(&(u32::from(record.place) << 24 | capacity).to_be_bytes());
    bytes[4..8].copy_from_slice(&qlen.to_be_bytes());
    bytes[8..16].copy_from_slice(&record.hop.ts.to_be_bytes());
    bytes[16..24].copy_from_slice(&record.hop.tx_bytes.to_be_bytes());
    bytes[24..32].copy_from_slice(&record.path.to_be_bytes());
    bytes
}

/// Reads a record whose counters wrap at `modulus`.
///
/// # Errors
/// [`Unusable`] for other lengths, for places that no path has, and for counters beyond their modulus.
pub fn read(bytes: &[u8], modulus: Modulus) -> Result<LinkRecord, Unusable> {
    let bytes: &[u8; LEN] = bytes.try_into().map_err(|_| Unusable)?;
    let (words, _) = bytes.as_chunks::<8>();
    let &[first, ts, tx_bytes, path] = words else { return Err(Unusable) };
    let [ts, tx_bytes, path] = [ts, tx_bytes, path].map(u64::from_be_bytes);
    let [place, rate @ .., q0, q1, q2, q3] = first;
    let [r0, r1, r2] = rate;
    let rate = BitRate(u64::from(u32::from_be_bytes([0, r0, r1, r2])) * MEGABIT);
    let qlen = u64::from(u32::from_be_bytes([q0, q1, q2, q3]));
    if usize::from(place) >= MAX_HOPS || ts >= modulus.ts || tx_bytes >= modulus.tx_bytes {
        return Err(Unusable);
    }
    Ok(LinkRecord { path, place, hop: Hop { rate, ts, tx_bytes, qlen }, modulus })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 128 << 20 };
    const RECORD: LinkRecord = LinkRecord {
        path: 0xabc,
        place: 2,
        hop: Hop { rate: BitRate::gbps(400), ts: 77, tx_bytes: 4_096, qlen: 90_000 },
        modulus: MODULUS,
    };

    #[test]
    fn req_17_a_record_is_written_field_by_field() {
        let bytes = emit(&RECORD);
        assert_eq!(bytes[..8], [2, 0x06, 0x1a, 0x80, 0, 0x01, 0x5f, 0x90], "place 2, 400 000 Mb/s, 90 000 bytes");
        assert_eq!(read(&bytes, MODULUS), Ok(RECORD));
    }

    #[test]
    fn what_no_layout_counts_to_is_refused() {
        for broken in [
            LinkRecord { place: 15, ..RECORD },
            LinkRecord { hop: Hop { ts: 1 << 24, ..RECORD.hop }, ..RECORD },
            LinkRecord { hop: Hop { tx_bytes: 128 << 20, ..RECORD.hop }, ..RECORD },
        ] {
            assert_eq!(read(&emit(&broken), MODULUS), Err(Unusable));
        }
        assert_eq!(read(&emit(&RECORD)[1..], MODULUS), Err(Unusable));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(record) = read(&bytes, MODULUS) {
                prop_assert_eq!(&emit(&record)[..], &bytes[..]);
            }
        }
    }
}
