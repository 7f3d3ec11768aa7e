// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole frames as bytes, from the Ethernet header to the ICRC. The Ethernet check sequence is left out, as in
//! captures.
//!
//! A simulated frame has no bytes until somebody looks. [`crate::simulated_frame`] describes one as a [`RoceFrame`],
//! [`build`] makes the bytes of that, and [`parse`] reads them into the same description. Where telemetry travels is
//! up to its [`Encapsulation`]; what it says, to `crate::telemetry`.
// Untrusted bytes are read here: what indexes them must say why it cannot panic.
#![warn(clippy::indexing_slicing)]

pub mod build;
mod carried;
mod dialect;
mod error;
mod kind;
mod packet;
pub mod parse;
mod section;
#[cfg(test)]
mod tests;

pub use carried::CarriedPacket;
pub use dialect::Dialect;
pub use error::{Fault, Layer, ParseError, Unbuildable};
pub use kind::PacketKind;
pub use packet::{Offsets, RocePacket};
pub use section::Section;

pub use crate::telemetry::encapsulation::{Encapsulation, IFA_PROTOCOL, INT_MARK, SectionLen, TELEMETRY_MARK};

use crate::roce::{Aeth, Bth, Deth, Reth};

/// The bits of the DSCP that marks take.
pub const MARK_BITS: u8 = 0b111;

/// Hop limit of a frame as it leaves its sender, as Linux and RoCE adapters set it.
pub const INITIAL_HOP_LIMIT: u8 = 64;

/// IP protocol numbers.
mod protocol {
    pub const HOP_BY_HOP: u8 = 0;
    pub const UDP: u8 = 17;
    pub const DESTINATION_OPTIONS: u8 = 60;
}

/// Source and destination of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum Addresses {
    V4 { src: [u8; 4], dst: [u8; 4] },
    V6 { src: [u8; 16], dst: [u8; 16] },
}

/// The extension behind the base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// Payload follows directly.
    None,
    /// Of the first packet of a WRITE or READ.
    Reth(Reth),
    /// Of an acknowledgement.
    Aeth(Aeth),
    /// Of an unreliable datagram.
    Deth(Deth),
}

/// A RoCEv2 frame: to be built, or as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoceFrame<'a> {
    /// Ethernet source.
    pub src_mac: [u8; 6],
    /// Ethernet destination.
    pub dst_mac: [u8; 6],
    /// IP source and destination.
    pub addresses: Addresses,
    /// Differentiated services, 6 bits.
    pub dscp: u8,
    /// Congestion notification, 2 bits: 2 is ECT(0), 3 is CE.
    pub ecn: u8,
    /// IPv4 time to live or IPv6 hop limit.
    pub hop_limit: u8,
    /// Of IPv4; over IPv6 it is 0.
    pub identification: u16,
    /// UDP source port.
    pub sport: u16,
    /// Whether UDP has a checksum. Adapters send none over IPv4; over IPv6 only tunnels may (RFC 6936).
    pub udp_checksum: bool,
    /// The telemetry section, if there is one.
    pub telemetry: Option<Section<'a>>,
    /// A whole IPv6 destination options header, whose first byte names UDP; empty if there is none.
    pub destination_options: &'a [u8],
    /// Base transport header; the builder sets its pad count, and ignores the one that is here.
    pub bth: Bth,
    /// The extension behind it.
    pub extension: Extension,
    /// Payload, without padding; an immediate counts as payload.
    pub payload: &'a [u8],
    /// Zeros behind the payload: a simulation has no payload bytes.
    pub zeros: u32,
}

impl RoceFrame<'static> {
    /// As it leaves its sender over IPv4, with nothing in it.
    pub const EMPTY: RoceFrame<'static> = RoceFrame {
        src_mac: [2, 0, 0, 0, 0, 1],
        dst_mac: [2, 0, 0, 0, 0, 2],
        addresses: Addresses::V4 { src: [10, 0, 0, 2], dst: [10, 0, 0, 1] },
        dscp: 0,
        ecn: 0,
        hop_limit: INITIAL_HOP_LIMIT,
        identification: 0,
        sport: 0xc000,
        udp_checksum: false,
        telemetry: None,
        destination_options: &[],
        bth: Bth::PLAIN,
        extension: Extension::None,
        payload: &[],
        zeros: 0,
    };
}
