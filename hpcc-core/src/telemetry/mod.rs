// SPDX-License-Identifier: MIT OR Apache-2.0
//! In-band telemetry: the record that each hop reports, and the byte layouts that carry it.

mod compact;

pub use compact::Layout;

use crate::units::BitRate;

/// Most hops that a decoded stack can hold: the 4-bit hop count of the compact format.
pub const MAX_HOPS: usize = 15;

/// What one egress port reports of itself when a packet leaves (REQ-01; draft-miao-rtgwg-hpccplus-00
/// section 3), as decoded from the wire: counters are exact modulo [`HopStack::modulus`].
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

/// The hops of one packet, in path order from sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopStack {
    hops: [Hop; MAX_HOPS],
    len: u8,
    /// Where the counters wrap.
    pub modulus: Modulus,
}

impl HopStack {
    /// An empty stack of a layout whose counters wrap at `modulus`.
    pub fn new(modulus: Modulus) -> Self {
        HopStack { hops: [Hop::default(); MAX_HOPS], len: 0, modulus }
    }

    /// Appends a hop; a full stack stays as it is.
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

/// Telemetry that cannot be used: too short, over-long, more hops than it has room for, or a code that the
/// layout does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unusable;
