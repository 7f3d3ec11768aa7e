// SPDX-License-Identifier: MIT OR Apache-2.0
//! In-band telemetry: the record that each hop reports, and the byte layouts that carry it.
//!
//! A sender [prepares](Layout::prepare) an empty section, each switch [stamps](Layout::stamp) its
//! [`Snapshot`] into those bytes, and the sender's algorithm [reads](Layout::read) the echoed bytes back.
//! What a layout cannot express (large queues, long times) is therefore lost exactly as on the wire.
//!
//! Some layouts carry no records of hops: [`Layout::Timestamp`] brings the send time back, [`Layout::Pint`] one
//! code for the busiest hop, which needs the switch's [own average](pint::PortMeter) to be written.

mod layout;
mod paper;
pub mod pint;
mod reference;
mod timestamp;

pub use layout::Layout;

use crate::units::{BitRate, Nanos};

/// Most hops that a decoded stack can hold: the 4-bit hop count of the compact format.
pub const MAX_HOPS: usize = 15;

/// Most bytes that any layout needs.
pub const MAX_SECTION: usize = 2 + 8 * MAX_HOPS;

/// The state of an egress port at the moment when a packet leaves: one snapshot for all fields
/// (REQ-01, REQ-02; draft-miao-rtgwg-hpccplus-00 sections 3 and 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Identity of the switch; layouts that carry one keep 12 bits.
    pub switch_id: u32,
    /// Capacity of the link.
    pub rate: BitRate,
    /// Emission time.
    pub now: Nanos,
    /// Bytes that the port sent before this packet.
    pub tx_bytes: u64,
    /// Bytes that wait at the port behind this packet.
    pub qlen: u64,
}

/// A [`Snapshot`] as it comes off the wire: counters are exact modulo [`HopStack::modulus`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Capacity of the link.
    pub rate: BitRate,
    /// Emission time in nanoseconds, modulo `modulus.ts`.
    pub ts: u64,
    /// Bytes that the port sent before this packet, modulo `modulus.tx_bytes`.
    pub tx_bytes: u64,
    /// Bytes that wait at the port behind this packet.
    pub qlen: u64,
}

/// Where the counters of a layout wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modulus {
    /// Of [`Hop::ts`], in nanoseconds.
    pub ts: u64,
    /// Of [`Hop::tx_bytes`], in bytes.
    pub tx_bytes: u64,
}

impl Modulus {
    /// Nanoseconds from `earlier` to `later`, if less than one wrap lies between them.
    #[inline]
    pub fn elapsed(&self, earlier: &Hop, later: &Hop) -> u64 {
        distance(earlier.ts, later.ts, self.ts)
    }

    /// Bytes sent from `earlier` to `later`, if less than one wrap lies between them.
    #[inline]
    pub fn sent(&self, earlier: &Hop, later: &Hop) -> u64 {
        distance(earlier.tx_bytes, later.tx_bytes, self.tx_bytes)
    }
}

/// Steps from `from` to `to` on a counter that wraps at `modulus`; both are below it.
#[inline]
fn distance(from: u64, to: u64, modulus: u64) -> u64 {
    if to >= from { to - from } else { to + modulus - from }
}

impl PartialEq for HopStack {
    /// What a former packet left behind the last hop does not count.
    fn eq(&self, other: &Self) -> bool {
        self.modulus == other.modulus && self.hops() == other.hops()
    }
}

/// The hops of one packet, in path order from sender to receiver. Large: decoded into a place that is kept.
#[derive(Clone, Debug, Default)]
pub struct HopStack {
    hops: [Hop; MAX_HOPS],
    len: u8,
    /// Where the counters wrap.
    pub modulus: Modulus,
}

impl HopStack {
    /// An empty stack of a layout whose counters wrap at `modulus`.
    #[inline]
    pub fn new(modulus: Modulus) -> Self {
        HopStack { hops: [Hop::default(); MAX_HOPS], len: 0, modulus }
    }

    /// Empties the stack, for a layout whose counters wrap at `modulus`.
    #[inline]
    pub fn reset(&mut self, modulus: Modulus) {
        self.len = 0;
        self.modulus = modulus;
    }

    /// Appends a hop; a full stack stays as it is.
    #[inline]
    pub fn push(&mut self, hop: Hop) {
        if let Some(slot) = self.hops.get_mut(self.len as usize) {
            *slot = hop;
            self.len += 1;
        }
    }

    /// The hops in path order.
    #[inline]
    pub fn hops(&self) -> &[Hop] {
        &self.hops[..self.len as usize]
    }
}

/// What an acknowledged packet's section says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Telemetry<'a> {
    /// Nothing, or nothing that can be used.
    Nothing,
    /// A record of each hop.
    Hops(&'a HopStack),
    /// When the packet left its sender.
    SentAt(Nanos),
    /// U of the busiest hop, averaged by that hop: 1.0 where the bytes in flight equal capacity * T.
    Utilisation(f64),
}

/// Telemetry that cannot be used: of a wrong length, with more hops than it has room for, or with a code
/// that the layout does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unusable;
