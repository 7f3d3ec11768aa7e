// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's traces (REQ-01, REQ-02, REQ-21). A section is a whole IPv6 hop-by-hop header.
//!
//! | | full, type 0xf22000 | slim, type 0x960000 |
//! | --- | --- | --- |
//! | bytes a hop | 28 | 16 |
//! | most hops | 8 | 15 |
//! | ids | node 24 bits, interfaces 16 | node 24 bits |
//! | time | seconds and nanoseconds, 32 bits each: wraps after 136 years | nanoseconds: wraps after 1 s |
//! | queue | bytes, 32 bits, saturating | the same |
//! | link rate, txBytes | wide namespace data, 64 bits, with [any rate](speed) | namespace data: 4 bits, and 28 of 128 bytes: wraps after 34 GB |
//!
//! RFC 9197's timestamp is the time of reception. HPCC needs that of emission: the namespace defines it so, a
//! deviation that a mixed deployment must know. The queue is in bytes, as Linux reports it. A queue of all ones would
//! mean that it is not known, so it ends one below. The room is what the sender makes: a trace has the same length
//! from the first hop to the last.

use super::node::Node;
use super::option::{self, CHANGING, Kind};
use super::trace::{self, Header, Trace};
use super::trace_type::TraceType;
use super::transit;
use crate::settings::Settings;
use crate::telemetry::codec::{Codec, Records, Room};
use crate::telemetry::encapsulation::Encapsulation;
use crate::telemetry::ipv6_options::{OPTION_PREFIX, UNIT, pad};
use crate::telemetry::{Hop, HopStack, Layout, MAX_HOPS, Modulus, Reads, Snapshot, Telemetry, Unusable, speed};
use crate::topology::paths::PathName;
use crate::units::Nanos;
use alloc::format;
use alloc::string::String;

/// A pre-allocated IOAM trace in an IPv6 hop-by-hop header.
#[derive(Clone, Debug)]
pub struct Ioam {
    /// The profile of records.
    pub profile: Profile,
    /// Hops that it has room for, 1 to [`Profile::max_hops`].
    pub hops: u8,
}

impl Settings for Ioam {}

impl Codec for Ioam {
    fn name(&self) -> &'static str {
        match self.profile {
            Profile::Full => "ioam",
            Profile::Slim => "ioam_slim",
        }
    }

    fn fitted(&self, room: &Room) -> Layout {
        Layout::new(Ioam { hops: room.hops.min(self.profile.max_hops() as u8), ..*self })
    }

    fn parameters(&self) -> String {
        format!("hops {}", self.hops)
    }

    fn tells(&self) -> Reads {
        Reads::Records
    }

    fn records(&self) -> Option<Records> {
        let is_full = self.profile == Profile::Full;
        Some(Records {
            most: self.hops.into(),
            modulus: self.profile.modulus(),
            rates: &speed::RATES,
            tells_any_rate: is_full,
            paths: if is_full { PathName::Links } else { PathName::Switches },
            tx_unit: None,
        })
    }

    fn encapsulation(&self) -> Option<Encapsulation> {
        Some(Encapsulation::HopByHop)
    }

    fn len_after(&self, _: usize) -> usize {
        initial_len(self.profile, self.hops)
    }

    fn prepare(&self, section: &mut [u8], _: Nanos) {
        prepare(self.profile, self.hops, section);
    }

    fn stamp(&self, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
        stamp(section, len, snapshot)
    }

    fn overwrite(&self, section: &mut [u8], hops: &[Hop]) {
        overwrite(self.profile, section, hops);
    }

    fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        read(self.profile, section, stack).map(|()| Telemetry::Hops(stack))
    }
}

/// The namespace of both traces, one of those for operators: "HP".
pub const NAMESPACE: u16 = 0x4850;

/// IPv6 next header: UDP.
const UDP: u8 = 17;
/// Next header, length, two bytes of padding: the option is aligned to 4.
const OPTION: usize = 4;
const TRACE: usize = OPTION + OPTION_PREFIX + option::PREFIX;
const DATA: usize = TRACE + trace::LEN;
/// An option's length has 8 bits, and counts two header parts besides the nodes.
const MAX_DATA: usize = (255 - option::PREFIX - trace::LEN) / 4 * 4;

const SECOND: u64 = 1_000_000_000;
const TX_UNIT: u64 = 128;
const MOST_QUEUE: u64 = u32::MAX as u64 - 1;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// All that HPCC++ names, exactly.
    Full,
    /// The fields of HPCC, in 16 bytes.
    Slim,
}

impl Profile {
    /// The fields of each node.
    pub const fn trace_type(self) -> TraceType {
        match self {
            Profile::Full => TraceType(0xf2_2000),
            Profile::Slim => TraceType(0x96_0000),
        }
    }

    const fn hop_len(self) -> usize {
        4 * self.trace_type().words() as usize
    }

    /// Most hops that fit.
    pub const fn max_hops(self) -> usize {
        let fit = MAX_DATA / self.hop_len();
        if fit < MAX_HOPS { fit } else { MAX_HOPS }
    }

    const fn modulus(self) -> Modulus {
        match self {
            Profile::Full => Modulus { ts: SECOND << 32, tx_bytes: speed::TX_MODULUS },
            Profile::Slim => Modulus { ts: SECOND, tx_bytes: TX_UNIT << 28 },
        }
    }
}

/// Bytes of the nodes' data with room for `hops`, at most [`Profile::max_hops`].
const fn data_len(profile: Profile, hops: u8) -> usize {
    let hops = hops as usize;
    let most = profile.max_hops();
    profile.hop_len() * if hops < most { hops } else { most }
}

/// Bytes of a section with room for `hops`.
const fn initial_len(profile: Profile, hops: u8) -> usize {
    (DATA + data_len(profile, hops)).next_multiple_of(UNIT)
}

/// Writes an empty section with room for `hops` hops, 1 to [`Profile::max_hops`], and returns its length. A `section`
/// that is too short is left alone and has length 0.
#[expect(clippy::indexing_slicing, reason = "the section has the length of its parts")]
fn prepare(profile: Profile, hops: u8, section: &mut [u8]) -> usize {
    let len = initial_len(profile, hops);
    let data = data_len(profile, hops);
    let Some(section) = section.get_mut(..len) else { return 0 };
    let header = Header {
        namespace: NAMESPACE,
        node_length: profile.trace_type().words(),
        remaining: (data / 4) as u8,
        trace_type: profile.trace_type(),
        ..Header::default()
    };
    let option_length = (option::PREFIX + trace::LEN + data) as u8;
    section[..2].copy_from_slice(&[UDP, (len / UNIT - 1) as u8]);
    pad(&mut section[2..OPTION]);
    section[OPTION..TRACE].copy_from_slice(&[CHANGING, option_length, 0, Kind::PreallocatedTrace.code()]);
    section[TRACE..DATA].copy_from_slice(&header.emit());
    section[DATA..DATA + data].fill(0);
    pad(&mut section[DATA + data..]);
    len
}

/// The trace in a section whose option is where [`prepare`] puts it.
#[inline]
fn trace_of(section: &[u8]) -> Option<core::ops::Range<usize>> {
    let &[_, _, _, _, CHANGING, length, _, 0, ..] = section else { return None };
    let end = OPTION + OPTION_PREFIX + usize::from(length);
    (end <= section.len() && end >= DATA).then_some(TRACE..end)
}

/// Adds a hop to the section in the first `len` bytes of `section`, whose length stays.
#[inline]
fn stamp(section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
    let Some(bytes) = section.get_mut(..len) else { return len };
    let Some(trace) = trace_of(bytes).and_then(|range| bytes.get_mut(range)) else { return len };
    transit::preallocated(trace, NAMESPACE, &node(snapshot));
    len
}

/// What a hop says, for either profile.
#[inline]
fn node(snapshot: &Snapshot) -> Node<'static> {
    let speed = speed::code(snapshot.rate).unwrap_or(speed::UNKNOWN);
    let units = snapshot.tx_bytes / TX_UNIT;
    Node {
        hop_limit: Some(snapshot.hop_limit),
        node_id: Some(snapshot.switch_id),
        ingress: Some(snapshot.ingress),
        egress: Some(snapshot.egress),
        seconds: Some((snapshot.now.0 / SECOND) as u32),
        fraction: Some((snapshot.now.0 % SECOND) as u32),
        namespace_data: Some(u32::from(speed) << 28 | (units & 0xfff_ffff) as u32),
        queue_depth: Some(queue_depth(snapshot.qlen)),
        wide_namespace_data: Some(speed::word(snapshot.rate, snapshot.tx_bytes)),
        ..Node::default()
    }
}

/// Decodes a section.
///
/// # Errors
/// Another trace than the profile's, one that overflowed, or a hop that lacks a value.
#[inline]
fn read(profile: Profile, section: &[u8], stack: &mut HopStack) -> Result<(), Unusable> {
    let bytes = trace_of(section).and_then(|range| section.get(range)).ok_or(Unusable)?;
    read_trace(profile, &Trace::preallocated(bytes).map_err(|_| Unusable)?, stack)
}

/// Decodes a trace outside its section: one that a Fast CNP brought back.
///
/// # Errors
/// As [`read`].
#[inline]
pub fn read_trace(profile: Profile, trace: &Trace<'_>, stack: &mut HopStack) -> Result<(), Unusable> {
    let &Trace { header, data } = trace;
    let ours = header.namespace == NAMESPACE && header.trace_type == profile.trace_type() && header.is_consistent();
    if !ours || header.flags.overflow || !data.len().is_multiple_of(profile.hop_len()) {
        return Err(Unusable);
    }
    stack.reset(profile.modulus());
    for bytes in data.rchunks_exact(profile.hop_len()) {
        let (node, _) = Node::parse(header.trace_type, bytes).map_err(|_| Unusable)?;
        stack.pass(node.node_id.ok_or(Unusable)?, node.egress.unwrap_or(0));
        stack.push(hop(profile, &node).ok_or(Unusable)?);
    }
    Ok(())
}

/// Overwrites rates, queues and sent bytes of a section, whose last hop comes first.
fn overwrite(profile: Profile, section: &mut [u8], hops: &[Hop]) {
    let Some(bytes) = trace_of(section).and_then(|range| section.get_mut(range)) else { return };
    let Some(nodes) = bytes.get_mut(trace::LEN..) else { return };
    for (bytes, hop) in nodes.rchunks_exact_mut(profile.hop_len()).zip(hops) {
        let mut room = [0; Profile::Full.hop_len()];
        let Some(told) = room.get_mut(..bytes.len()) else { return };
        told.copy_from_slice(bytes);
        let Ok((node, _)) = Node::parse(profile.trace_type(), told) else { return };
        let changed = Node { queue_depth: Some(queue_depth(hop.qlen)), ..with_sent(node, hop) };
        let written = changed.emit(profile.trace_type(), bytes);
        debug_assert_eq!(written, Ok(()), "as many bytes as were read");
    }
}

/// A node's data with another rate and other sent bytes.
fn with_sent<'a>(node: Node<'a>, hop: &Hop) -> Node<'a> {
    let code = speed::code(hop.rate);
    let units = ((hop.tx_bytes / TX_UNIT) & 0xfff_ffff) as u32;
    let narrow = |data: u32| code.map_or(data >> 28, u32::from) << 28 | units;
    Node {
        namespace_data: node.namespace_data.map(narrow),
        wide_namespace_data: Some(speed::word(hop.rate, hop.tx_bytes)),
        ..node
    }
}

/// A queue as a node says it.
#[inline]
fn queue_depth(qlen: u64) -> u32 {
    qlen.min(MOST_QUEUE) as u32
}

/// A node's data as a hop.
fn hop(profile: Profile, node: &Node<'_>) -> Option<Hop> {
    let fraction = u64::from(node.fraction?);
    let ((rate, tx_bytes), ts) = match profile {
        Profile::Full => (speed::parse(node.wide_namespace_data?)?, u64::from(node.seconds?) * SECOND + fraction),
        Profile::Slim => {
            let data = node.namespace_data?;
            ((speed::rate((data >> 28) as u8)?, u64::from(data & 0xfff_ffff) * TX_UNIT), fraction)
        }
    };
    (fraction < SECOND).then_some(Hop { rate, ts, tx_bytes, qlen: u64::from(node.queue_depth?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::MAX_SECTION;
    use crate::units::{BitRate, Nanos};

    fn snapshot(n: u32) -> Snapshot {
        Snapshot {
            switch_id: 0xa1 + n,
            now: Nanos(5_000_000_123 + u64::from(n)),
            tx_bytes: 1_280_000 + 128 * u64::from(n),
            qlen: 930,
            rate: BitRate::gbps(400),
            ..Snapshot::IDLE
        }
    }

    fn read_all(profile: Profile, section: &[u8]) -> Result<HopStack, Unusable> {
        let mut stack = HopStack::default();
        read(profile, section, &mut stack).map(|()| stack)
    }

    /// Five hops take 140 bytes of data in a header of 160, or 80.
    #[test]
    fn sections_have_the_published_sizes() {
        assert_eq!((data_len(Profile::Full, 5), initial_len(Profile::Full, 5)), (140, 160));
        assert_eq!(data_len(Profile::Slim, 5), 80);
        assert_eq!((Profile::Full.max_hops(), Profile::Slim.max_hops()), (8, 15));
        assert!(initial_len(Profile::Slim, 255) <= MAX_SECTION);
    }

    /// The header of the vector `ioam_linux_0xf22000_after_hop1`, which the kernel accepted, with another namespace and
    /// room for 88 bytes.
    #[test]
    fn req_21_an_empty_section_is_what_the_kernel_accepts() {
        let mut section = [0xff; MAX_SECTION];
        assert_eq!(prepare(Profile::Full, 3, &mut section), 104);
        assert_eq!(section[..16], [17, 12, 1, 0, 0x31, 94, 0, 0, 0x48, 0x50, 0x38, 21, 0xf2, 0x20, 0, 0]);
        assert_eq!(section[100..104], [1, 2, 0, 0], "84 bytes of data, padded");
        assert!(section[16..100].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn queues_saturate_and_unknown_rates_spoil() {
        let mut section = [0; MAX_SECTION];
        let len = prepare(Profile::Slim, 2, &mut section);
        stamp(&mut section, len, &Snapshot { qlen: u64::MAX, ..snapshot(0) });
        assert_eq!(read_all(Profile::Slim, &section[..len]).expect("a hop").hops()[0].qlen, MOST_QUEUE);
        stamp(&mut section, len, &Snapshot { rate: BitRate(1), ..snapshot(1) });
        assert_eq!(read_all(Profile::Slim, &section[..len]), Err(Unusable));
    }

    #[test]
    fn other_bytes_are_refused() {
        let mut section = [0; MAX_SECTION];
        let len = prepare(Profile::Full, 3, &mut section);
        stamp(&mut section, len, &snapshot(0));
        assert_eq!(read_all(Profile::Slim, &section[..len]), Err(Unusable));
        for at in [4, 7, 8, 10, 12] {
            let mut changed = section;
            changed[at] ^= 0x10;
            assert_eq!(read_all(Profile::Full, &changed[..len]), Err(Unusable), "byte {at}");
        }
        assert_eq!(prepare(Profile::Full, 3, &mut [0; 50]), 0);
    }
}
