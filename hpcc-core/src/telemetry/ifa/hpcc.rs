// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's use of IFA: the opaque words carry queue and sent bytes (REQ-01, REQ-02, REQ-21).
//!
//! ```text
//! word 5       qlen (32) bytes, saturating
//! words 6, 7   txBytes (64)
//! ```
//! Emission is reception plus residence. Seconds have 20 bits: times wrap after 2^20 s, 12 days. Residence saturates
//! at 2^32 ns, 4.3 s; the emission time of a packet that waited longer is too early. txBytes is read modulo 2^63.
//!
//! IFA has no flag for a hop that added nothing. So the hop limit starts one above the room: as every hop is
//! counted, limit and entries of a complete section still add up to that.

use super::header::{self, Flags, GNS_PER_HOP, Header};
use super::metadata::{self, LOW_20, Metadata};
use super::metadata_header::MetadataHeader;
use super::transit::{self, PREFIX};
use crate::settings::Settings;
use crate::telemetry::codec::{Codec, Records, Room};
use crate::telemetry::encapsulation::{Encapsulation, IFA_PROTOCOL};
use crate::telemetry::{Hop, HopStack, Layout, MAX_HOPS, Modulus, Reads, Snapshot, Telemetry, Unusable, speed};
use crate::topology::paths::PathName;
use crate::units::Nanos;
use alloc::format;
use alloc::string::String;

/// IFA 2.0 with HPCC's opaque words.
#[derive(Clone, Debug)]
pub struct Ifa {
    /// Most hops, 1 to 15.
    pub hops: u8,
    /// Whether a hop's time in the switch, which has a field of its own, is read for its queue.
    pub sojourn: bool,
}

impl Settings for Ifa {}

impl Codec for Ifa {
    fn name(&self) -> &'static str {
        "ifa"
    }

    fn fitted(&self, room: &Room) -> Layout {
        Layout::new(Ifa { hops: room.hops, sojourn: false })
    }

    fn by_sojourn(&self) -> Option<Layout> {
        Some(Layout::new(Ifa { sojourn: true, ..*self }))
    }

    fn parameters(&self) -> String {
        format!("hops {}{}", self.hops, if self.sojourn { ", sojourn" } else { "" })
    }

    fn tells(&self) -> Reads {
        Reads::Records
    }

    fn records(&self) -> Option<Records> {
        Some(Records {
            most: self.hops.into(),
            modulus: MODULUS,
            rates: &speed::RATES,
            tells_any_rate: false,
            paths: PathName::Links,
            tx_unit: None,
        })
    }

    fn encapsulation(&self) -> Option<Encapsulation> {
        Some(Encapsulation::Ifa { protocol: IFA_PROTOCOL })
    }

    fn len_after(&self, hops: usize) -> usize {
        PREFIX + metadata::LEN * hops
    }

    fn prepare(&self, section: &mut [u8], _: Nanos) {
        prepare(self.hops, section);
    }

    fn stamp(&self, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
        stamp(section, len, snapshot)
    }

    fn overwrite(&self, section: &mut [u8], hops: &[Hop]) {
        overwrite(self.sojourn, section, hops);
    }

    fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        read(self.sojourn, section, stack).map(|()| Telemetry::Hops(stack))
    }
}

/// The local name space of the profile. These are not registered.
pub const NAME_SPACE: u8 = 1;
/// IP protocol of UDP.
const UDP: u8 = 17;
const UNKNOWN_SPEED: u8 = 0xf;
const SECOND: u64 = 1_000_000_000;
/// One bit less than the field, so that sums with the modulus fit 64 bits.
const TX_MASK: u64 = (1 << 63) - 1;
/// Where the counters wrap.
const MODULUS: Modulus = Modulus { ts: SECOND << 20, tx_bytes: TX_MASK + 1 };

/// Writes an empty section for at most `hops` hops (1..=15, larger counts as 15) and returns its length. A `section`
/// that is too short is left alone and has length 0.
fn prepare(hops: u8, section: &mut [u8]) -> usize {
    let hops = hops.min(MAX_HOPS as u8);
    let Some((front, rest)) = section.split_first_chunk_mut() else { return 0 };
    let Some(behind) = rest.first_chunk_mut() else { return 0 };
    *front = Header {
        version: header::VERSION,
        name_space: GNS_PER_HOP,
        next_header: UDP,
        flags: Flags { in_band: true, ..Flags::default() },
        max_length: hops * metadata::WORDS,
    }
    .emit();
    *behind = MetadataHeader { hop_limit: hops + 1, ..MetadataHeader::default() }.emit();
    PREFIX
}

/// Adds a hop to the section in the first `len` bytes of `section` and returns its new length. A section without
/// room is counted down only, see [`transit::push`].
#[inline]
fn stamp(section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
    let limit = section.len();
    transit::push(section, len, limit, &metadata(snapshot))
}

/// What a hop says.
#[inline]
fn metadata(snapshot: &Snapshot) -> Metadata {
    let residence = snapshot.now.saturating_sub(snapshot.arrived).0;
    Metadata {
        name_space: NAME_SPACE,
        device: snapshot.switch_id,
        ttl: snapshot.hop_limit,
        speed: speed::code(snapshot.rate).unwrap_or(UNKNOWN_SPEED),
        congestion: 0,
        queue: snapshot.queue,
        rx_seconds: (snapshot.arrived.0 / SECOND) as u32 & LOW_20,
        egress: snapshot.egress,
        ingress: snapshot.ingress,
        rx_nanos: (snapshot.arrived.0 % SECOND) as u32,
        residence: u32::try_from(residence).unwrap_or(u32::MAX),
        opaque: load(snapshot.tx_bytes, snapshot.qlen),
    }
}

/// The opaque words.
#[inline]
fn load(tx_bytes: u64, qlen: u64) -> [u32; 3] {
    [u32::try_from(qlen).unwrap_or(u32::MAX), (tx_bytes >> 32) as u32, tx_bytes as u32]
}

/// Writes rates and opaque words of hops over a section's, whose last hop comes first; with `sojourn` the time in the switch
/// that stands for the queue, too.
fn overwrite(sojourn: bool, section: &mut [u8], hops: &[Hop]) {
    let Some(entries) = section.get_mut(PREFIX..) else { return };
    for (entry, hop) in entries.as_rchunks_mut::<{ metadata::LEN }>().1.iter_mut().rev().zip(hops) {
        let told = Metadata::parse(entry);
        let speed = speed::code(hop.rate).unwrap_or(told.speed);
        let changed = Metadata { speed, opaque: load(hop.tx_bytes, hop.qlen), ..told };
        *entry = if sojourn { after_waiting(changed, hop) } else { changed }.emit();
    }
}

/// An entry that was emitted when the hop says, after it had waited for as long as its link takes to send the hop's queue.
fn after_waiting(entry: Metadata, hop: &Hop) -> Metadata {
    // Rounded up, because the queue was computed from a time and rounded down: this gives the time back.
    let waited = (u128::from(hop.qlen) * 8 * u128::from(SECOND)).div_ceil(u128::from(hop.rate.0.max(1)));
    let residence = u32::try_from(waited).unwrap_or(u32::MAX);
    let received = (hop.ts + MODULUS.ts - u64::from(residence)) % MODULUS.ts;
    let (rx_seconds, rx_nanos) = ((received / SECOND) as u32 & LOW_20, (received % SECOND) as u32);
    Metadata { residence, rx_seconds, rx_nanos, ..entry }
}

/// Decodes a section into `stack`; with `sojourn` the queue of a hop is what its link sends in the time that the packet spent
/// in the switch. [`Unusable`] if it is none of this profile or if a hop is missing.
#[inline]
fn read(sojourn: bool, section: &[u8], stack: &mut HopStack) -> Result<(), Unusable> {
    let (header, rest) = section.split_first_chunk().ok_or(Unusable)?;
    let (front, entries) = rest.split_first_chunk().ok_or(Unusable)?;
    let (header, front) = (Header::parse(header), MetadataHeader::parse(front));
    let flags = header.flags;
    let is_plain = !flags.fragmented && !flags.tail_stamp && !flags.checksum;
    let is_known = header.version == header::VERSION && header.name_space == GNS_PER_HOP;
    let is_ours = is_known && header.next_header == UDP && is_plain;
    let is_whole = entries.len() == 4 * usize::from(front.current_length)
        && entries.len().is_multiple_of(metadata::LEN)
        && entries.len() <= MAX_HOPS * metadata::LEN;
    let counted = usize::from(front.hop_limit) + entries.len() / metadata::LEN;
    let is_complete = counted == usize::from(header.max_length / metadata::WORDS) + 1;
    if !(is_ours && is_whole && is_complete) {
        return Err(Unusable);
    }
    stack.reset(MODULUS);
    for entry in entries.as_chunks().0.iter().rev() {
        parse(sojourn, &Metadata::parse(entry), stack)?;
    }
    Ok(())
}

#[inline]
fn parse(sojourn: bool, entry: &Metadata, stack: &mut HopStack) -> Result<(), Unusable> {
    if entry.name_space != NAME_SPACE {
        return Err(Unusable);
    }
    let received = u64::from(entry.rx_seconds) * SECOND + u64::from(entry.rx_nanos);
    let [qlen, tx_high, tx_low] = entry.opaque;
    let rate = speed::rate(entry.speed).ok_or(Unusable)?;
    let qlen = if sojourn { rate.bytes_in(Nanos(entry.residence.into())) } else { u64::from(qlen) };
    stack.pass(entry.device, entry.egress);
    stack.push(Hop {
        rate,
        ts: (received + u64::from(entry.residence)) % MODULUS.ts,
        tx_bytes: (u64::from(tx_high) << 32 | u64::from(tx_low)) & TX_MASK,
        qlen,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::MAX_SECTION;
    use crate::units::{BitRate, Nanos};

    const BUSY: Snapshot = Snapshot {
        switch_id: 0xa_bcde,
        arrived: Nanos(5 * SECOND + 999_999_500),
        now: Nanos(6 * SECOND + 100),
        tx_bytes: 0x0102_0304_0506_0708,
        qlen: 0x0009_0a0b,
        ..Snapshot::IDLE
    };

    fn read(section: &[u8]) -> Result<HopStack, Unusable> {
        let mut stack = HopStack::default();
        super::read(false, section, &mut stack).map(|()| stack)
    }

    /// A section for `room` hops that passed `hops`, each of whose counters tell its place.
    fn stamped(room: u8, hops: u64) -> ([u8; MAX_SECTION], usize) {
        let mut section = [0; MAX_SECTION];
        let mut len = prepare(room, &mut section);
        for n in 0..hops {
            len = stamp(&mut section, len, &Snapshot { switch_id: n as u32, tx_bytes: n, ..BUSY });
        }
        (section, len)
    }

    /// 600 ns of residence across the full second 6; 999 999 500 is 0x3b9ac80c.
    #[test]
    fn req_01_a_hop_has_the_bytes_of_the_profile() {
        let (mut section, len) = stamped(5, 0);
        assert_eq!(section[..len], [0x2f, 17, 0x04, 40, 0, 0, 6, 0]);
        assert_eq!(stamp(&mut section, len, &BUSY), 40);
        let entry = [
            0x1a, 0xbc, 0xde, 63, 0x40, 0x30, 0, 5, 0, 2, 0, 1, 0x3b, 0x9a, 0xc8, 0x0c, 0, 0, 2, 0x58, 0, 9, 10, 11, 1,
            2, 3, 4, 5, 6, 7, 8,
        ];
        assert_eq!((&section[4..8], &section[8..40]), (&[0, 0, 5, 8][..], &entry[..]));
    }

    /// 600 ns at 100 Gb/s are 7500 bytes; the queue stands in its word all the same.
    #[test]
    fn req_28_the_time_in_the_switch_has_a_field_of_its_own() {
        let (mut section, len) = stamped(5, 1);
        let queue = |sojourn, section: &[u8]| {
            let mut stack = HopStack::default();
            super::read(sojourn, &section[..len], &mut stack).map(|()| (stack.hops()[0].qlen, stack.hops()[0].ts))
        };
        let (waited, now) = (7_500, BUSY.now.0);
        assert_eq!((queue(true, &section), queue(false, &section)), (Ok((waited, now)), Ok((BUSY.qlen, now))));
        for other in [waited + 1, 0, u64::from(u32::MAX)] {
            let mut stack = HopStack::default();
            super::read(true, &section[..len], &mut stack).expect("a hop");
            overwrite(true, &mut section[..len], &[Hop { qlen: other, ..stack.hops()[0] }]);
            let (told, ts) = queue(true, &section).expect("a hop");
            assert!((other..=other + 12).contains(&told) && ts == now, "to the next nanosecond: {told}");
        }
    }

    #[test]
    fn residence_saturates_on_both_sides() {
        for (arrived, now, ts) in [(5, 4, 5), (0, 1 << 40, (1 << 32) - 1)] {
            let (mut section, len) = stamped(5, 0);
            let len = stamp(&mut section, len, &Snapshot { arrived: Nanos(arrived), now: Nanos(now), ..BUSY });
            assert_eq!(read(&section[..len]).expect("a hop").hops()[0].ts, ts);
        }
    }

    #[test]
    fn unknown_speeds_and_other_formats_are_refused() {
        let (mut section, len) = stamped(5, 0);
        let grown = stamp(&mut section, len, &Snapshot { rate: BitRate::gbps(33), ..BUSY });
        assert_eq!((grown, section[12] >> 4), (40, 0xf));
        assert_eq!(read(&section[..grown]), Err(Unusable));
        // Version, GNS, next header, flags MF TS C, Max Length, Hop Limit, LNS.
        for (at, byte) in [(0, 0x3f), (0, 0x2e), (1, 6), (2, 0x14), (2, 0x0c), (2, 5), (3, 48), (6, 255), (8, 0x2a)] {
            let (mut section, len) = stamped(5, 1);
            section[at] = byte;
            assert_eq!(read(&section[..len]), Err(Unusable), "{at}");
        }
        assert_eq!(prepare(5, &mut [0; PREFIX - 1]), 0);
    }
}
