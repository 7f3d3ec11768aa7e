// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 2019 simulator's INT section: five little-endian hop words, then a hop count.
//!
//! ```text
//! hop word   63........47 46........27 26......3 2..0
//!            qlen (17)    txBytes (20) ns (24)   rate code (3)
//! ```
//! txBytes counts units of 128 * multiplier bytes, qlen units of 80 * multiplier; all fields wrap, qlen
//! included. A sixth hop overwrites the first, a seventh the second, as in the 2019 simulator; more make a section
//! unusable.

use super::codec::{Codec, Records, Room};
use super::{Hop, HopStack, Layout, Modulus, Reads, Snapshot, Telemetry, Unusable};
use crate::settings::Settings;
use crate::topology::paths::PathName;
use crate::units::BitRate;
use alloc::format;
use alloc::string::String;

/// The 2019 simulator's: five 64-bit hop words, then a 16-bit hop count; always 42 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// INT_MULTI: multiplies the units of 128 bytes (txBytes) and 80 bytes (qlen). At least 1.
    pub multiplier: u32,
}

impl Settings for Reference {}

impl Codec for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn fitted(&self, room: &Room) -> Layout {
        Layout::new(Reference { multiplier: room.multiplier })
    }

    fn parameters(&self) -> String {
        format!("multiplier {}", self.multiplier)
    }

    fn tells(&self) -> Reads {
        Reads::Records
    }

    fn records(&self) -> Option<Records> {
        Some(Records {
            most: SLOTS,
            modulus: modulus(self.multiplier),
            rates: &RATES,
            tells_any_rate: false,
            paths: PathName::Length,
            tx_unit: Some(TX_UNIT * u64::from(self.multiplier.max(1))),
        })
    }

    fn len_after(&self, _: usize) -> usize {
        LEN
    }

    #[inline(always)]
    fn stamp(&self, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
        stamp(section, len, snapshot, self.multiplier)
    }

    fn overwrite(&self, section: &mut [u8], hops: &[Hop]) {
        overwrite(section, hops, self.multiplier);
    }

    fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        read(section, self.multiplier, stack)
    }
}

/// Words for hops in a section; a sixth hop writes over the first.
const SLOTS: usize = 5;
/// Bytes of a section; it has this length from the sender on.
const LEN: usize = 8 * SLOTS + 2;

/// Most hops of a section that is remembered though its words were overwritten. (In the 2019 simulator a copy of the
/// hop count and of what follows it ends in fields that nobody reads; from eight hops on it reaches others.)
const REMEMBERED: usize = 7;

const TS_BITS: u32 = 24;
const TX_BITS: u32 = 20;
const QLEN_BITS: u32 = 17;
const TS_SHIFT: u32 = 3;
const TX_SHIFT: u32 = TS_SHIFT + TS_BITS;
const QLEN_SHIFT: u32 = TX_SHIFT + TX_BITS;
/// Bytes sent that count as one, times the multiplier.
pub(super) const TX_UNIT: u64 = 128;
const QLEN_UNIT: u64 = 80;

/// The rates that have a code, by their codes.
pub(super) const RATES: [BitRate; 5] =
    [BitRate::gbps(25), BitRate::gbps(50), BitRate::gbps(100), BitRate::gbps(200), BitRate::gbps(400)];

/// The 3-bit code of a rate.
#[inline]
fn code(rate: BitRate) -> Option<u64> {
    RATES.iter().position(|&r| r == rate).map(|code| code as u64)
}

/// The low `bits` bits of `value`.
#[inline]
const fn low(value: u64, bits: u32) -> u64 {
    value & ((1 << bits) - 1)
}

#[inline(always)]
fn stamp(section: &mut [u8], len: usize, snapshot: &Snapshot, multiplier: u32) -> usize {
    let Some((slots, count)) = section.get_mut(..LEN).filter(|_| len == LEN).map(<[u8]>::as_chunks_mut) else {
        return len;
    };
    let Some(count) = count.first_chunk_mut() else { return len };
    let Some(code) = code(snapshot.rate) else { return len };
    let word = code | low(snapshot.now.0, TS_BITS) << TS_SHIFT | load(snapshot.tx_bytes, snapshot.qlen, multiplier);
    let passed = u16::from_le_bytes(*count);
    if let Some(slot) = slots.get_mut(usize::from(passed) % SLOTS) {
        *slot = word.to_le_bytes();
    }
    *count = passed.wrapping_add(1).to_le_bytes();
    len
}

/// txBytes and qlen as they end a hop word.
#[inline]
fn load(tx_bytes: u64, qlen: u64, multiplier: u32) -> u64 {
    let units = u64::from(multiplier.max(1));
    let tx_unit = TX_UNIT * units;
    // The usual multipliers are powers of two, mostly 1: a shift, or a division by a constant, does what takes a division some ten
    // times as long.
    let sent = if tx_unit.is_power_of_two() { tx_bytes >> tx_unit.trailing_zeros() } else { tx_bytes / tx_unit };
    let queued = if units == 1 { qlen / QLEN_UNIT } else { qlen / (QLEN_UNIT * units) };
    low(sent, TX_BITS) << TX_SHIFT | low(queued, QLEN_BITS) << QLEN_SHIFT
}

/// Writes rate code, txBytes and qlen of hops over a section's. Unlike a stamped qlen, this one saturates.
fn overwrite(section: &mut [u8], hops: &[Hop], multiplier: u32) {
    let longest = low(u64::MAX, QLEN_BITS) * QLEN_UNIT * u64::from(multiplier.max(1));
    for (word, hop) in section.as_chunks_mut().0.iter_mut().zip(hops) {
        let told = u64::from_le_bytes(*word);
        let code = code(hop.rate).unwrap_or(low(told, TS_SHIFT));
        let time = low(told, TX_SHIFT) >> TS_SHIFT << TS_SHIFT;
        let qlen = hop.qlen.min(longest);
        *word = (code | time | load(hop.tx_bytes, qlen, multiplier)).to_le_bytes();
    }
}

/// Where the counters wrap.
const fn modulus(multiplier: u32) -> Modulus {
    let units = if multiplier == 0 { 1 } else { multiplier as u64 };
    Modulus { ts: 1 << TS_BITS, tx_bytes: (TX_UNIT * units) << TX_BITS }
}

#[inline]
fn read<'a>(section: &[u8], multiplier: u32, stack: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
    let bytes: &[u8; LEN] = section.try_into().map_err(|_| Unusable)?;
    let (slots, count) = bytes.as_chunks();
    let count = usize::from(u16::from_le_bytes(*count.first_chunk().ok_or(Unusable)?));
    if count > REMEMBERED {
        return Err(Unusable);
    }
    let units = u64::from(multiplier.max(1));
    stack.reset(modulus(multiplier));
    for &word in slots.iter().take(count) {
        let word = u64::from_le_bytes(word);
        stack.push(Hop {
            rate: *RATES.get(low(word, TS_SHIFT) as usize).ok_or(Unusable)?,
            ts: low(word >> TS_SHIFT, TS_BITS),
            tx_bytes: low(word >> TX_SHIFT, TX_BITS) * TX_UNIT * units,
            qlen: (word >> QLEN_SHIFT) * QLEN_UNIT * units,
        });
    }
    Ok(if count > SLOTS { Telemetry::Overwritten(stack) } else { Telemetry::Hops(stack) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;
    use alloc::vec::Vec;

    fn read(section: &[u8], multiplier: u32) -> Result<HopStack, Unusable> {
        let mut stack = HopStack::default();
        let Telemetry::Hops(stack) = super::read(section, multiplier, &mut stack)? else { return Err(Unusable) };
        Ok(stack.clone())
    }

    fn snapshot(qlen: u64) -> Snapshot {
        Snapshot { now: Nanos(0x1_0012_3456), tx_bytes: 51_200, qlen, ..Snapshot::IDLE }
    }

    #[test]
    fn a_hop_word_has_the_bits_of_the_reference() {
        let mut section = [0; LEN];
        assert_eq!(stamp(&mut section, LEN, &snapshot(960), 4), LEN);
        // rate code 2; 0x123456 ns; 51200 / 512 = 100 units; 960 / 320 = 3 units
        let word = 2u64 | 0x12_3456 << 3 | 100 << 27 | 3 << 47;
        assert_eq!(section[..8], word.to_le_bytes());
        assert_eq!(section[40..], [1, 0]);
    }

    #[test]
    fn what_is_stamped_is_read_back_in_units() {
        let mut section = [0; LEN];
        stamp(&mut section, LEN, &snapshot(1_000), 4);
        stamp(&mut section, LEN, &snapshot(0), 4);
        let stack = read(&section, 4).expect("two hops");
        assert_eq!(stack.hops().len(), 2);
        assert_eq!(stack.hops()[0], Hop { rate: BitRate::gbps(100), ts: 0x12_3456, tx_bytes: 51_200, qlen: 960 });
        assert_eq!(stack.modulus, Modulus { ts: 1 << 24, tx_bytes: 512 << 20 });
    }

    #[test]
    fn qlen_wraps_instead_of_saturating() {
        let mut section = [0; LEN];
        stamp(&mut section, LEN, &snapshot(80 << 17), 1);
        assert_eq!(read(&section, 1).expect("one hop").hops()[0].qlen, 0);
    }

    #[test]
    fn a_sixth_hop_overwrites_the_first_and_spoils_the_section() {
        let mut section = [0; LEN];
        for qlen in 0..6 {
            stamp(&mut section, LEN, &snapshot(qlen * 80), 1);
        }
        assert_eq!(u64::from_le_bytes(section[..8].try_into().expect("8")) >> 47, 5);
        let mut stack = HopStack::default();
        let queues = |stack: &HopStack| stack.hops().iter().map(|hop| hop.qlen / 80).collect::<Vec<_>>();
        let Ok(Telemetry::Overwritten(words)) = super::read(&section, 1, &mut stack) else { panic!("five words") };
        assert_eq!(queues(words), [5, 1, 2, 3, 4]);
        for _ in 6..8 {
            stamp(&mut section, LEN, &snapshot(0), 1);
        }
        assert_eq!(super::read(&section, 1, &mut stack), Err(Unusable), "eight hops");
    }

    #[test]
    fn other_lengths_and_codes_are_refused() {
        assert_eq!(read(&[0; LEN - 1], 1), Err(Unusable));
        let mut section = [0; LEN];
        section[0] = 5;
        section[40] = 1;
        assert_eq!(read(&section, 1), Err(Unusable));
        assert_eq!(stamp(&mut [0; 8], LEN, &snapshot(0), 1), LEN);
        assert_eq!(code(BitRate::gbps(10)), None);
    }
}
