// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's use of INT-MD: what INT lacks travels as metadata of a domain of its own (REQ-01,
//! REQ-02, REQ-21).
//!
//! ```text
//! hop     node id (32)
//!         ingress port (16) | egress port (16)
//!         queue id (8) | queue occupancy (24) bytes
//!         egress time (64) ns
//!         link rate and txBytes (64)                         domain-specific instruction 0
//! ```
//! Occupancy saturates below all ones, which means "unknown". Time is read modulo 2^63 ns. [`speed`] tells how the last word
//! holds any rate.

use super::header::{self, Header};
use super::metadata::Instructions;
use super::shim::{self, Kind, Next, Shim};
use super::transit::{self, PREFIX};
use crate::settings::Settings;
use crate::telemetry::codec::{Codec, Records, Room};
use crate::telemetry::encapsulation::{Encapsulation, INT_MARK, SectionLen};
use crate::telemetry::{Hop, HopStack, Layout, MAX_HOPS, Modulus, Reads, Snapshot, Telemetry, Unusable, speed};
use crate::topology::paths::PathName;
use crate::units::Nanos;
use alloc::format;
use alloc::string::String;

/// P4 INT v2.1 INT-MD with metadata of HPCC's own domain.
#[derive(Clone, Debug)]
pub struct IntMd {
    /// Most hops, 1 to 15.
    pub hops: u8,
}

impl Settings for IntMd {}

impl Codec for IntMd {
    fn name(&self) -> &'static str {
        "int_md"
    }

    fn fitted(&self, room: &Room) -> Layout {
        Layout::new(IntMd { hops: room.hops })
    }

    fn parameters(&self) -> String {
        format!("hops {}", self.hops)
    }

    fn tells(&self) -> Reads {
        Reads::Records
    }

    fn records(&self) -> Option<Records> {
        Some(Records {
            most: self.hops.into(),
            modulus: MODULUS,
            rates: &speed::RATES,
            tells_any_rate: true,
            paths: PathName::Links,
            tx_unit: None,
        })
    }

    fn encapsulation(&self) -> Option<Encapsulation> {
        Some(Encapsulation::Marked { mark: INT_MARK })
    }

    fn section_len(&self) -> SectionLen {
        SectionLen::IntMd
    }

    fn len_after(&self, hops: usize) -> usize {
        PREFIX + HOP_LEN * hops
    }

    fn prepare(&self, section: &mut [u8], _: Nanos) {
        prepare(self.hops, section);
    }

    fn keep_dscp(&self, section: &mut [u8], dscp: u8) {
        keep_dscp(section, dscp);
    }

    fn stamp(&self, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
        stamp(section, len, snapshot)
    }

    fn overwrite(&self, section: &mut [u8], hops: &[Hop]) {
        overwrite(section, hops);
    }

    fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        read(section, stack).map(|()| Telemetry::Hops(stack))
    }
}

/// Node id, ports, queue, egress time.
pub const INSTRUCTIONS: Instructions = Instructions(0xd400);
/// The domain that defines rate and sent bytes. Ids are not registered: "HP".
pub const DOMAIN_ID: u16 = 0x4850;
/// Rate and sent bytes, 8 bytes.
pub const DOMAIN_INSTRUCTIONS: u16 = 0x8000;
/// HopML: words that each hop adds.
pub const HOP_WORDS: u8 = INSTRUCTIONS.words() + 2;
/// Bytes of a hop.
pub const HOP_LEN: usize = 4 * HOP_WORDS as usize;

const UNKNOWN_OCCUPANCY: u32 = 0xff_ffff;
const UNKNOWN_TIME: u64 = u64::MAX;
/// One bit less than the field, so that sums with the modulus fit 64 bits.
const TIME_MASK: u64 = (1 << 63) - 1;
/// Where the counters wrap.
const MODULUS: Modulus = Modulus { ts: TIME_MASK + 1, tx_bytes: speed::TX_MODULUS };

/// Writes an empty section for at most `hops` hops (1..=15, larger counts as 15) and returns its length. A `section`
/// that is too short is left alone and has length 0.
fn prepare(hops: u8, section: &mut [u8]) -> usize {
    let Some((front, rest)) = section.split_first_chunk_mut() else { return 0 };
    let Some(behind) = rest.first_chunk_mut() else { return 0 };
    let length = (header::LEN / 4) as u8;
    *front = Shim { kind: Kind::Embedded, next: Next::Dscp(0), length }.emit();
    *behind = Header {
        version: header::VERSION,
        hop_words: HOP_WORDS,
        remaining: hops.min(MAX_HOPS as u8),
        instructions: INSTRUCTIONS,
        domain_id: DOMAIN_ID,
        domain_instructions: DOMAIN_INSTRUCTIONS,
        ..Header::default()
    }
    .emit();
    PREFIX
}

/// Writes the DSCP that the sink restores into the shim: the packet's own [announces](crate::telemetry::encapsulation::INT_MARK) the section.
fn keep_dscp(section: &mut [u8], dscp: u8) {
    if let Some([.., byte]) = section.first_chunk_mut::<{ shim::LEN }>() {
        *byte = dscp << 2;
    }
}

/// Adds a hop to the section in the first `len` bytes of `section` and returns its new length. A section without
/// room gets M or E set (see [`transit`]); one that asks for anything else is left as it is.
#[inline]
fn stamp(section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
    let asks = section.get(shim::LEN..).and_then(<[u8]>::first_chunk).map(Header::parse);
    if !asks.is_some_and(|header| is_profile(&header)) {
        return len;
    }
    let limit = section.len();
    transit::insert(section, len, limit, |hop| {
        if let Some(hop) = hop.first_chunk_mut() {
            *hop = emit(snapshot);
        }
    })
}

/// Decodes a section into `stack`. [`Unusable`] if it is none of this profile, if a hop is missing (E or M), or
/// if a hop does not know what it reports.
#[inline]
fn read(section: &[u8], stack: &mut HopStack) -> Result<(), Unusable> {
    let (shim, rest) = section.split_first_chunk().ok_or(Unusable)?;
    let (header, hops) = rest.split_first_chunk().ok_or(Unusable)?;
    let (shim, header) = (Shim::parse(shim)?, Header::parse(header));
    let is_ours = shim.kind == Kind::Embedded && matches!(shim.next, Next::Dscp(_));
    let is_complete = !header.hops_exhausted && !header.mtu_exceeded;
    let is_whole =
        shim.section_len() == section.len() && hops.len().is_multiple_of(HOP_LEN) && hops.len() <= MAX_HOPS * HOP_LEN;
    if !(is_ours && is_complete && is_whole && is_profile(&header)) {
        return Err(Unusable);
    }
    stack.reset(MODULUS);
    for hop in hops.as_chunks().0.iter().rev() {
        parse(hop, stack)?;
    }
    Ok(())
}

#[inline]
fn is_profile(header: &Header) -> bool {
    header.version == header::VERSION
        && header.hop_words == HOP_WORDS
        && header.instructions == INSTRUCTIONS
        && header.domain_id == DOMAIN_ID
        && header.domain_instructions == DOMAIN_INSTRUCTIONS
}

#[inline]
fn emit(snapshot: &Snapshot) -> [u8; HOP_LEN] {
    let mut hop = [0; HOP_LEN];
    hop[..4].copy_from_slice(&snapshot.switch_id.to_be_bytes());
    hop[4..6].copy_from_slice(&snapshot.ingress.to_be_bytes());
    hop[6..8].copy_from_slice(&snapshot.egress.to_be_bytes());
    hop[8..12].copy_from_slice(&(u32::from(snapshot.queue) << 24 | occupancy(snapshot.qlen)).to_be_bytes());
    hop[12..20].copy_from_slice(&snapshot.now.0.to_be_bytes());
    hop[20..].copy_from_slice(&speed::word(snapshot.rate, snapshot.tx_bytes).to_be_bytes());
    hop
}

/// A queue as a hop says it.
#[inline]
fn occupancy(qlen: u64) -> u32 {
    qlen.min(u64::from(UNKNOWN_OCCUPANCY) - 1) as u32
}

/// Writes rate, occupancy and txBytes of hops over a section's, whose last hop comes first.
fn overwrite(section: &mut [u8], hops: &[Hop]) {
    let Some(section) = section.get_mut(PREFIX..) else { return };
    for (bytes, hop) in section.as_rchunks_mut::<HOP_LEN>().1.iter_mut().rev().zip(hops) {
        let queue = u32::from(bytes[8]) << 24;
        bytes[8..12].copy_from_slice(&(queue | occupancy(hop.qlen)).to_be_bytes());
        bytes[20..].copy_from_slice(&speed::word(hop.rate, hop.tx_bytes).to_be_bytes());
    }
}

#[inline]
fn parse(hop: &[u8; HOP_LEN], stack: &mut HopStack) -> Result<(), Unusable> {
    let (words, _) = hop.as_chunks();
    let &[node, ports, queue, time_high, time_low, counted_high, counted_low] = words.first_chunk().ok_or(Unusable)?;
    let [node, ports, queue] = [node, ports, queue].map(u32::from_be_bytes);
    let [time, counted] = [[time_high, time_low], [counted_high, counted_low]].map(|halves| {
        let [high, low] = halves.map(u32::from_be_bytes);
        u64::from(high) << 32 | u64::from(low)
    });
    let occupancy = queue & UNKNOWN_OCCUPANCY;
    if occupancy == UNKNOWN_OCCUPANCY || time == UNKNOWN_TIME {
        return Err(Unusable);
    }
    let (rate, tx_bytes) = speed::parse(counted).ok_or(Unusable)?;
    stack.pass(node, ports as u16);
    stack.push(Hop { rate, ts: time & TIME_MASK, tx_bytes, qlen: u64::from(occupancy) });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::metadata::{Field, Fields};
    use super::*;
    use crate::telemetry::MAX_SECTION;
    use crate::units::{BitRate, Nanos};

    const BUSY: Snapshot = Snapshot {
        switch_id: 0x0a0b_0c0d,
        now: Nanos(0x0102_0304_0506_0708),
        tx_bytes: 0xabc_def0_1234_5678,
        qlen: 0x4_5678,
        ..Snapshot::IDLE
    };

    fn read(section: &[u8]) -> Result<HopStack, Unusable> {
        let mut stack = HopStack::default();
        super::read(section, &mut stack).map(|()| stack)
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

    /// Shim and header as P4 INT v2.1 draws them: type 1, NPT 0, 3 words, a DSCP; version 2, HopML 7,
    /// 5 remaining, bits 0, 1, 3 and 5; then one hop.
    #[test]
    fn req_01_a_hop_has_the_bytes_of_the_profile() {
        let (mut section, len) = stamped(5, 0);
        keep_dscp(&mut section, 24);
        assert_eq!(section[..len], [0x10, 3, 0, 24 << 2, 0x20, 0, 7, 5, 0xd4, 0, 0x48, 0x50, 0x80, 0, 0, 0]);
        assert_eq!(stamp(&mut section, len, &BUSY), 44);
        assert_eq!(section[..8], [0x10, 10, 0, 24 << 2, 0x20, 0, 7, 4]);
        let ids = [0x0a, 0x0b, 0x0c, 0x0d, 0, 1, 0, 2, 3, 4, 0x56, 0x78];
        let counters = [1, 2, 3, 4, 5, 6, 7, 8, 0x4a, 0xbc, 0xde, 0xf0, 0x12, 0x34, 0x56, 0x78];
        assert_eq!((&section[16..28], &section[28..44]), (&ids[..], &counters[..]));
    }

    #[test]
    fn the_general_view_agrees_with_the_profile() {
        let (section, len) = stamped(5, 1);
        let mut fields = Fields::new(INSTRUCTIONS, &section[PREFIX..len]).expect("a hop");
        assert_eq!(fields.next(), Some(Field::NodeId(0)));
        assert_eq!(fields.next(), Some(Field::Level1Interfaces { ingress: 1, egress: 2 }));
        assert_eq!(fields.next(), Some(Field::Queue { id: 3, occupancy: 0x4_5678 }));
        assert_eq!(fields.next(), Some(Field::EgressTime(BUSY.now.0)));
        assert_eq!(fields.next(), Some(Field::DomainSpecific(&[0x40, 0, 0, 0, 0, 0, 0, 0])));
        assert_eq!(fields.next(), None);
    }

    #[test]
    fn unknown_values_make_the_section_unusable() {
        let (mut section, len) = stamped(5, 0);
        let grown = stamp(&mut section, len, &Snapshot { rate: BitRate::gbps(33), ..BUSY });
        assert_eq!(read(&section[..grown]).expect("any rate can be told").hops()[0].rate, BitRate::gbps(33));
        for unknown in [25..28, 28..36, 36..44] {
            let (mut section, len) = stamped(5, 1);
            section[unknown].fill(0xff);
            assert_eq!(read(&section[..len]), Err(Unusable));
        }
    }

    #[test]
    fn other_requests_are_neither_answered_nor_read() {
        // HopML, instructions, domain, domain instructions, version, type.
        for (at, byte) in [(6, 8), (8, 0xd0), (10, 0), (12, 0), (4, 0x10), (0, 0x24)] {
            let (mut section, len) = stamped(5, 0);
            section[at] = byte;
            let before = section;
            assert_eq!(stamp(&mut section, len, &BUSY), len, "{at}");
            assert_eq!((section, read(&section[..len])), (before, Err(Unusable)), "{at}");
        }
        assert_eq!(prepare(5, &mut [0; PREFIX - 1]), 0);
    }
}
