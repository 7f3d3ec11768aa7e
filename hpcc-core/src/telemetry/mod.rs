// SPDX-License-Identifier: MIT OR Apache-2.0
//! In-band telemetry: the record that each hop reports, and the formats that carry it.
//!
//! A sender [prepares](Layout::prepare) an empty section, each switch [stamps](Codec::stamp) its
//! [`Snapshot`] into those bytes, and the sender's algorithm [reads](Layout::read) the echoed bytes back.
//! What a layout cannot express (large queues, long times) is therefore lost exactly as on the wire.
//!
//! Some layouts carry no records of hops: [`Timestamp`] brings the send time back, [`Pint`] one
//! code for the busiest hop, which needs the switch's [own average](pint::PortMeter) to be written.
//!
//! Around the records: [`Sampler`] chooses the packets that collect them, [`Comparison`] tells a link's load from two,
//! [`BusiestLink`] picks one for a whole path ([`link_codec`] has its bytes), [`FeedbackGuard`] doubts them, [`seal`] authenticates them;
//! [`normalised`] at a receiver and [`relative`] at a border hide what they say of the network.
// Untrusted bytes are read here: what indexes them must say why it cannot panic.
#![warn(clippy::indexing_slicing)]

pub mod bolt;
mod busiest_link;
mod codec;
mod compact;
mod csig;
pub mod encapsulation;
mod fixed_exp2;
mod fixed_log2;
mod guard;
pub mod ifa;
pub mod int_md;
pub mod ioam;
pub mod ipv6_options;
mod known_links;
mod last_hops;
mod layout;
pub mod link_codec;
mod load;
pub mod normalised;
mod path_loads;
pub mod pint;
mod reads;
pub(crate) mod reference;
pub mod relative;
mod sampling;
pub mod seal;
mod settings;
pub mod speed;
#[cfg(test)]
mod tests;
pub mod timestamp;

pub use bolt::Bolt;
pub use busiest_link::{BusiestLink, LinkRecord};
pub use codec::{CloneCodec, Codec, Met, Meter, Records, Room};
pub use compact::Form;
pub use csig::{Asked, Csig, TagBits, TagSize};
pub use guard::{Distrust, FeedbackGuard, GuardConfig, Rejections};
pub use known_links::{Compare, KnownLinks, Learnt};
pub use last_hops::LastHops;
pub use layout::{Layout, Nothing};
pub use load::{Comparison, LinkLoad};
pub use path_loads::PathLoads;
pub use pint::Pint;
pub use reads::Reads;
pub use reference::Reference;
pub use sampling::{Sampler, Sampling};
pub use settings::{LayoutSettings, SharedSettings, listed};
pub use timestamp::Timestamp;

use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
pub use ifa::hpcc::Ifa;
pub use int_md::hpcc::IntMd;
pub use ioam::hpcc::{Ioam, Profile};

/// All formats; errors list them in this order.
pub fn all() -> Vec<Box<dyn Codec>> {
    vec![
        Box::new(Nothing),
        Box::new(Reference { multiplier: 1 }),
        Box::new(Form::Paper),
        Box::new(Form::Draft),
        Box::new(IntMd { hops: MAX_HOPS as u8 }),
        Box::new(Ifa { hops: MAX_HOPS as u8, sojourn: false }),
        Box::new(Ioam { profile: Profile::Full, hops: MAX_HOPS as u8 }),
        Box::new(Ioam { profile: Profile::Slim, hops: MAX_HOPS as u8 }),
        Box::new(Timestamp),
        Box::<Pint>::default(),
        Box::<Csig>::default(),
        Box::<Bolt>::default(),
    ]
}

/// Most hops that a decoded stack can hold: the 4-bit hop count of the compact format.
pub const MAX_HOPS: usize = 15;

/// Most bytes that any layout needs: 15 hops of IFA's 32 bytes behind two headers.
pub const MAX_SECTION: usize = 4 + 4 + 32 * MAX_HOPS;

/// The state of an egress port at the moment when a packet leaves: one snapshot for all fields
/// (REQ-01, REQ-02; draft-miao-rtgwg-hpccplus-00 sections 3 and 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Identity of the switch; layouts that carry one keep 12 bits.
    pub switch_id: u32,
    /// Port by which the packet came in.
    pub ingress: u16,
    /// Port by which it leaves.
    pub egress: u16,
    /// Queue of that port in which it waited.
    pub queue: u8,
    /// IPv6 hop limit or IPv4 time to live with which it leaves.
    pub hop_limit: u8,
    /// Capacity of the link.
    pub rate: BitRate,
    /// When it came in.
    pub arrived: Nanos,
    /// Simulated time at which it leaves.
    pub now: Nanos,
    /// Bytes that the port sent before this packet.
    pub tx_bytes: u64,
    /// Bytes that wait at the port behind this packet.
    pub qlen: u64,
}

impl Snapshot {
    /// Of a port of 100 Gb/s at switch 7 that has not sent anything.
    pub const IDLE: Snapshot = Snapshot {
        switch_id: 7,
        ingress: 1,
        egress: 2,
        queue: 3,
        hop_limit: 63,
        rate: BitRate::gbps(100),
        arrived: Nanos(0),
        now: Nanos(0),
        tx_bytes: 0,
        qlen: 0,
    };
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

/// Steps from `from` to `to` on a counter that wraps at `modulus`; 0 if one of them is not below it.
#[inline]
fn distance(from: u64, to: u64, modulus: u64) -> u64 {
    if to >= from { to - from } else { to.saturating_add(modulus).saturating_sub(from) }
}

impl PartialEq for HopStack {
    /// Bytes behind the last hop do not count: an earlier packet left them.
    fn eq(&self, other: &Self) -> bool {
        self.modulus == other.modulus && self.path == other.path && self.hops() == other.hops()
    }
}

/// The hops of one packet, in path order from sender to receiver. Large: decoded into a place that is kept.
#[derive(Clone, Debug, Default)]
pub struct HopStack {
    hops: [Hop; MAX_HOPS],
    /// The digest behind each hop that was [passed](HopStack::pass).
    digests: [u64; MAX_HOPS],
    /// Which link each hop that was passed reports of: switch and egress port.
    links: [u64; MAX_HOPS],
    len: u8,
    /// Where the counters wrap.
    pub modulus: Modulus,
    /// The identity of the path, as far as the layout has one (REQ-22): the compact formats' pathID, or a
    /// [digest](HopStack::pass) of the ids of all hops. 0 where the layout carries neither.
    pub path: u64,
}

impl HopStack {
    /// An empty stack of a layout whose counters wrap at `modulus`.
    #[inline]
    pub fn new(modulus: Modulus) -> Self {
        HopStack { modulus, ..HopStack::default() }
    }

    /// Empties the stack, for a layout whose counters wrap at `modulus`.
    #[inline]
    pub fn reset(&mut self, modulus: Modulus) {
        self.len = 0;
        self.modulus = modulus;
        self.path = 0;
    }

    /// Adds the next hop's identity to the digest of the path, before the hop is pushed: switch and egress port (FNV-1a
    /// over words).
    #[inline]
    pub fn pass(&mut self, switch_id: u32, egress: u16) {
        const PRIME: u64 = 0x0100_0000_01b3;
        let link = u64::from(switch_id) << 16 | u64::from(egress);
        self.path = (self.path ^ link.wrapping_add(1)).wrapping_mul(PRIME);
        if let Some((digest, known)) = self.digests.iter_mut().zip(&mut self.links).nth(self.len as usize) {
            (*digest, *known) = (self.path, link);
        }
    }

    /// Appends a hop; a full stack stays as it is.
    #[inline]
    pub fn push(&mut self, hop: Hop) {
        if let Some(slot) = self.hops.get_mut(self.len as usize) {
            *slot = hop;
            self.len += 1;
        }
    }

    /// Each hop with the link that it reports of. Only where hops tell who they are.
    pub fn links(&self) -> impl Iterator<Item = (u64, &Hop)> {
        self.links.iter().copied().zip(self.hops())
    }

    /// How long the queues of all hops take to drain.
    pub fn queueing(&self) -> Nanos {
        let drain = |hop: &Hop| hop.qlen as f64 * 8e9 / hop.rate.0.max(1) as f64;
        Nanos(self.hops().iter().map(drain).sum::<f64>() as u64)
    }

    /// The hops in path order.
    #[inline]
    pub fn hops(&self) -> &[Hop] {
        self.hops.get(..usize::from(self.len)).unwrap_or_default()
    }
}

/// The contents of an acknowledged packet's section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Telemetry<'a> {
    /// Nothing, or nothing that can be used.
    Nothing,
    /// A record of each hop.
    Hops(&'a HopStack),
    /// Records that later hops have written over, where the path is a little longer than the section: the 2019
    /// simulator's HPCC begins with them, and they are never compared.
    Overwritten(&'a HopStack),
    /// A record of the busiest link.
    Link(&'a LinkRecord),
    /// When the packet left its sender.
    SentAt(Nanos),
    /// U of the busiest hop, averaged by that hop: 1.0 where the bytes in flight equal capacity * T.
    Utilisation(f64),
    /// The window in bytes that the receiver has computed (Rx-HPCC).
    Window(u64),
    /// One signal of the path's bottleneck.
    Signal(Signal),
    /// What ports made of a packet's header.
    Bolt(bolt::BoltHeader),
}

/// What the bottleneck of a path told of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// The bandwidth that its port has free.
    Available(BitRate),
    /// The same as a share of the port's rate.
    Share(f64),
    /// The time that the packet spent there.
    Delay(Nanos),
    /// The time that its port takes to send its queue.
    Queue(Nanos),
}

/// Telemetry that cannot be used: of a wrong length, with more hops than it has room for, or with a code
/// that the layout does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unusable;
