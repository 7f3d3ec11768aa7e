// SPDX-License-Identifier: MIT OR Apache-2.0
//! A keyed tag behind an echoed section, so that nobody on the way back can change it, and nobody beside the way can
//! make one up (REQ-26; draft-miao-rtgwg-hpccplus-00, section 9.1).
//!
//! ```text
//! section (n bytes) | tag (32)       tag = first 4 bytes of SipHash-2-4(key, flow (64) | seq (64) | section)
//! ```
//! The flow and the acknowledged byte are no part of the section but of the tag: a section that is moved to another
//! flow or another acknowledgement does not fit. Receiver and sender share the key; switches have none, so what they
//! write is sealed only from the receiver on. ICRC, which RoCEv2 frames carry anyway, is no protection: anyone can
//! compute it.
//!
//! SipHash because it is made to authenticate inputs this short: some 40 bytes cost a NIC or a simulator tens of
//! nanoseconds, where HMAC-SHA-256 takes two to four blocks of SHA-256. Its 64 bits are cut to 32, a tenth of the
//! section of five hops: a forger needs two thousand million feedback packets for an even chance of a single one.

use super::Unusable;
use crate::settings::FromText;
use alloc::string::String;
use core::hash::Hasher;
use siphasher::sip::SipHasher24;

/// Bytes of a tag.
pub const TAG_LEN: usize = 4;

/// A key of 32 hexadecimal digits, or none.
impl FromText for Option<[u8; 16]> {
    fn from_text(digits: &str) -> Result<Self, String> {
        let is_key = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let key = u128::from_str_radix(digits, 16).ok().filter(|_| is_key).map(u128::to_be_bytes);
        if key.is_none() && !digits.is_empty() {
            return Err("expected a key of 32 hexadecimal digits".into());
        }
        Ok(key)
    }
}

/// The key that the two ends of a flow share.
#[derive(Clone)]
pub struct SealKey(SipHasher24);

impl SealKey {
    /// A key of 128 bits.
    pub fn new(key: &[u8; 16]) -> Self {
        SealKey(SipHasher24::new_with_key(key))
    }

    /// The tag of a section that acknowledges byte `seq` of a flow.
    pub fn tag(&self, flow: u64, seq: u64, section: &[u8]) -> [u8; TAG_LEN] {
        let mut hasher = self.0;
        hasher.write(&flow.to_be_bytes());
        hasher.write(&seq.to_be_bytes());
        hasher.write(section);
        let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
        [a, b, c, d]
    }

    /// Adds the tag behind the first `len` bytes of `section` and returns the new length. Where there is no room the
    /// section stays as it is.
    pub fn seal(&self, flow: u64, seq: u64, section: &mut [u8], len: usize) -> usize {
        let Some((body, room)) = section.split_at_mut_checked(len) else { return len };
        let Some(place) = room.first_chunk_mut() else { return len };
        *place = self.tag(flow, seq, body);
        len + TAG_LEN
    }

    /// The section without its tag.
    ///
    /// # Errors
    /// [`Unusable`] if the tag does not belong to this section, flow and sequence number under this key.
    pub fn open<'a>(&self, flow: u64, seq: u64, sealed: &'a [u8]) -> Result<&'a [u8], Unusable> {
        let (section, tag) = sealed.split_last_chunk().ok_or(Unusable)?;
        // Compared as numbers: the time that this takes does not tell in which byte two tags differ.
        let fits = u32::from_be_bytes(*tag) == u32::from_be_bytes(self.tag(flow, seq, section));
        if fits { Ok(section) } else { Err(Unusable) }
    }
}

/// Keys are not printed.
impl core::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SealKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: u64 = 0x0001_0203_0405_0607;
    const SEQ: u64 = 0x0809_0a0b_0c0d_0e0f;

    fn key() -> SealKey {
        SealKey::new(&core::array::from_fn(|n| n as u8))
    }

    /// The vectors of the SipHash-2-4 reference implementation (Aumasson and Bernstein) for the key 00..0f and the
    /// inputs 00..0f, 00..11 and 00..17.
    #[test]
    fn tags_are_the_published_vectors() {
        assert_eq!(key().tag(FLOW, SEQ, &[]), [0xdb, 0x9b, 0xc2, 0x57]);
        assert_eq!(key().tag(FLOW, SEQ, &[0x10, 0x11]), [0x9c, 0xd3, 0x8d, 0x96]);
        let section: [u8; 8] = core::array::from_fn(|n| 0x10 + n as u8);
        assert_eq!(key().tag(FLOW, SEQ, &section), [0x94, 0xaf, 0x49, 0xf6]);
    }

    #[test]
    fn req_26_every_flipped_bit_is_found() {
        let mut sealed: [u8; 46] = core::array::from_fn(|n| n as u8);
        assert_eq!(key().seal(FLOW, SEQ, &mut sealed, 42), 46);
        let original = sealed;
        assert_eq!(key().open(FLOW, SEQ, &sealed), Ok(&original[..42]));
        for bit in 0..46 * 8 {
            sealed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key().open(FLOW, SEQ, &sealed), Err(Unusable), "bit {bit}");
            sealed[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// Without its tag the section of another flow, or of an earlier acknowledgement, would be believed.
    #[test]
    fn req_26_a_section_fits_no_other_flow_sequence_or_key() {
        let mut sealed = [7; 46];
        key().seal(FLOW, SEQ, &mut sealed, 42);
        assert!(key().open(FLOW, SEQ, &sealed).is_ok());
        assert_eq!(key().open(FLOW + 1, SEQ, &sealed), Err(Unusable));
        assert_eq!(key().open(FLOW, SEQ - 1_000, &sealed), Err(Unusable));
        assert_eq!(SealKey::new(&[0; 16]).open(FLOW, SEQ, &sealed), Err(Unusable));
    }

    #[test]
    fn what_has_no_room_for_a_tag_stays_as_it_is() {
        let mut section = [9; 10];
        assert_eq!(key().seal(FLOW, SEQ, &mut section, 7), 7);
        assert_eq!(key().seal(FLOW, SEQ, &mut section, 11), 11);
        assert_eq!(section, [9; 10]);
        for len in 0..TAG_LEN {
            assert_eq!(key().open(FLOW, SEQ, &section[..len]), Err(Unusable));
        }
    }
}
