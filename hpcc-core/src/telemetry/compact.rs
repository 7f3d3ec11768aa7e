// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compact INT section in its two published forms (REQ-21, REQ-24).
//!
//! ```text
//! header  nHop (4) | pathID (12)                       HPCC paper, figure 7
//!         nHop (4) | pathID (12) | padding (16)        draft-miao-rtgwg-hpccplus-00, figure 4
//! hop     B (4) | TS (24) ns | txBytes (20) of 128 B | qLen (16) of 80 B      hop 1 first, big-endian
//! ```
//! TS and txBytes wrap. Where the sources are silent or differ:
//! - qLen saturates, so that an enormous queue never reads as a short one;
//! - the code of B is IFA's, the units of txBytes and qLen are the paper's in both forms;
//! - a switch that finds 15 hops, or whose link rate has no code, leaves the packet as it is;
//! - the draft's padding is sent as 0 and not looked at; the "Options" that it draws behind the hops are left out.

use super::codec::{Codec, Records};
use super::encapsulation::SectionLen;
use super::{Hop, HopStack, MAX_HOPS, Modulus, Reads, Snapshot, Telemetry, Unusable, speed};
use crate::settings::Settings;
use crate::topology::paths::PathName;

/// Which header precedes the hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The HPCC paper's, without padding.
    Paper,
    /// The HPCC++ draft's, padded to 32 bits.
    Draft,
}

impl Settings for Form {}

impl Codec for Form {
    fn name(&self) -> &'static str {
        match self {
            Form::Paper => "paper",
            Form::Draft => "draft",
        }
    }

    fn tells(&self) -> Reads {
        Reads::Records
    }

    fn records(&self) -> Option<Records> {
        Some(Records {
            most: MAX_HOPS,
            modulus: MODULUS,
            rates: &speed::RATES,
            tells_any_rate: false,
            paths: PathName::Xor(PATH_ID_BITS),
            tx_unit: None,
        })
    }

    fn section_len(&self) -> SectionLen {
        SectionLen::Compact { header: header_len(*self) as u8 }
    }

    fn len_after(&self, hops: usize) -> usize {
        header_len(*self) + HOP_LEN * hops
    }

    fn stamp(&self, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
        stamp(*self, section, len, snapshot)
    }

    fn overwrite(&self, section: &mut [u8], hops: &[Hop]) {
        overwrite(*self, section, hops);
    }

    fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        read(*self, section, stack).map(|()| Telemetry::Hops(stack))
    }
}

/// nHop and pathID.
const COUNT_LEN: usize = 2;
/// Bytes of a hop.
const HOP_LEN: usize = 8;
const PATH_ID_BITS: u32 = 12;
const TX_UNIT: u64 = 128;
const QLEN_UNIT: u64 = 80;
const QLEN_MAX: u64 = 0xffff;
/// Bits of qLen, of txBytes and qLen, and of all but B.
const LOAD_TX: u32 = 16;
const LOAD_BITS: u32 = LOAD_TX + 20;
const SPEED: u32 = LOAD_BITS + 24;
/// Where the counters wrap.
const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: TX_UNIT << 20 };

/// Bytes of the section when it leaves the sender.
#[inline]
const fn header_len(form: Form) -> usize {
    match form {
        Form::Paper => COUNT_LEN,
        Form::Draft => COUNT_LEN + 2,
    }
}

#[inline]
fn stamp(form: Form, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
    let end = len.saturating_add(HOP_LEN);
    let Some(bytes) = section.get_mut(..end).filter(|_| len >= header_len(form)) else { return len };
    let Some(code) = speed::code(snapshot.rate) else { return len };
    let Some((count, rest)) = bytes.split_first_chunk_mut() else { return len };
    let Some(slot) = rest.last_chunk_mut() else { return len };
    let header = u16::from_be_bytes(*count);
    let n_hop = header >> PATH_ID_BITS;
    if usize::from(n_hop) >= MAX_HOPS {
        return len;
    }
    let word =
        u64::from(code) << SPEED | (snapshot.now.0 & 0xff_ffff) << LOAD_BITS | load(snapshot.tx_bytes, snapshot.qlen);
    *slot = word.to_be_bytes();
    let path_id = (header ^ snapshot.switch_id as u16) & 0x0fff;
    *count = ((n_hop + 1) << PATH_ID_BITS | path_id).to_be_bytes();
    end
}

/// txBytes and qLen as they end a hop.
#[inline]
fn load(tx_bytes: u64, qlen: u64) -> u64 {
    ((tx_bytes / TX_UNIT) & 0xf_ffff) << LOAD_TX | (qlen / QLEN_UNIT).min(QLEN_MAX)
}

/// Writes B, txBytes and qLen of hops over a section's.
fn overwrite(form: Form, section: &mut [u8], hops: &[Hop]) {
    let Some(words) = section.get_mut(header_len(form)..) else { return };
    for (word, hop) in words.as_chunks_mut::<HOP_LEN>().0.iter_mut().zip(hops) {
        let told = u64::from_be_bytes(*word);
        let code = speed::code(hop.rate).map_or(told >> SPEED, u64::from);
        let time = told >> LOAD_BITS & 0xff_ffff;
        *word = (code << SPEED | time << LOAD_BITS | load(hop.tx_bytes, hop.qlen)).to_be_bytes();
    }
}

#[inline]
fn read(form: Form, section: &[u8], stack: &mut HopStack) -> Result<(), Unusable> {
    let (header, hops) = section.split_at_checked(header_len(form)).ok_or(Unusable)?;
    let header = u16::from_be_bytes(*header.first_chunk().ok_or(Unusable)?);
    let n_hop = usize::from(header >> PATH_ID_BITS);
    if hops.len() != n_hop * HOP_LEN {
        return Err(Unusable);
    }
    stack.reset(MODULUS);
    stack.path = u64::from(header);
    for &word in hops.as_chunks().0 {
        let word = u64::from_be_bytes(word);
        stack.push(Hop {
            rate: speed::rate((word >> SPEED) as u8).ok_or(Unusable)?,
            ts: word >> LOAD_BITS & 0xff_ffff,
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

    const FORMS: [Form; 2] = [Form::Paper, Form::Draft];

    fn read(form: Form, section: &[u8]) -> Result<HopStack, Unusable> {
        let mut stack = HopStack::default();
        super::read(form, section, &mut stack).map(|()| stack)
    }

    const HOPS: [u8; 16] =
        [0x41, 0x23, 0x45, 0x6a, 0xbc, 0xde, 0x00, 0x10, 0x61, 0x23, 0x46, 0x00, 0x00, 0x01, 0x00, 0x00];

    /// Two hops of switches 0x0a1 and 0x0b2.
    fn vector(form: Form) -> ([u8; 20], usize) {
        let header: &[u8] = match form {
            Form::Paper => &[0x20, 0x13],
            Form::Draft => &[0x20, 0x13, 0, 0],
        };
        let (mut bytes, len) = ([0; 20], header.len() + HOPS.len());
        bytes[..header.len()].copy_from_slice(header);
        bytes[header.len()..len].copy_from_slice(&HOPS);
        (bytes, len)
    }

    #[test]
    fn req_21_two_switches_write_the_published_vectors() {
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
        for form in FORMS {
            let mut section = [0; 64];
            let len = stamp(form, &mut section, header_len(form), &first);
            let len = stamp(form, &mut section, len, &second);
            let (bytes, expected) = vector(form);
            assert_eq!(section[..len], bytes[..expected], "{form:?}");
        }
    }

    /// 42 bytes at five hops in the paper, 44 in the draft.
    #[test]
    fn req_24_the_vectors_read_back_and_five_hops_take_42_or_44_bytes() {
        for form in FORMS {
            let (bytes, len) = vector(form);
            let stack = read(form, &bytes[..len]).expect("two hops");
            assert_eq!(
                stack.hops()[0],
                Hop { rate: BitRate::gbps(100), ts: 0x12_3456, tx_bytes: 0xabcde * 128, qlen: 0x10 * 80 }
            );
            assert_eq!(stack.hops()[1].rate, BitRate::gbps(400));
        }
        assert_eq!(FORMS.map(|form| header_len(form) + 5 * HOP_LEN), [42, 44]);
    }

    #[test]
    fn a_link_rate_without_code_leaves_the_packet_as_it_is() {
        let odd = Snapshot { rate: BitRate::gbps(33), ..Snapshot::IDLE };
        for form in FORMS {
            let mut section = [0; 64];
            assert_eq!(stamp(form, &mut section, header_len(form), &odd), header_len(form));
            assert_eq!(section, [0; 64]);
        }
    }
}
