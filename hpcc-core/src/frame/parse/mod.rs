// SPDX-License-Identifier: MIT OR Apache-2.0
//! From bytes to what they say.

mod ip;
mod packet;
mod rest;

use self::rest::Rest;
use super::{Dialect, Encapsulation, Fault, Layer, ParseError, RocePacket, Section};
use crate::pfc::{self, NotPfc, Pfc};
use crate::telemetry::TagSize;
use etherparse::{EtherType, Ethernet2HeaderSlice, SingleVlanHeaderSlice};

/// A frame that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// Tag control information of its VLAN tag: priority 3 bits, drop eligible 1, VLAN 12.
    pub vlan: Option<u16>,
    /// What the Ethernet frame carries.
    pub content: Content<'a>,
}

/// The kind of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are RoCEv2")]
pub enum Content<'a> {
    /// Priority-based flow control.
    Pfc {
        /// Ethernet source.
        src_mac: [u8; 6],
        /// What it says.
        pfc: Pfc,
    },
    /// RoCEv2.
    Roce(RocePacket<'a>),
}

/// Reads a frame without its check sequence. What follows the IP packet is ignored: Ethernet pads short frames.
///
/// # Errors
/// The first layer that is not as it should be. A wrong ICRC is none: see [`RocePacket::verdict`].
pub fn parse<'a>(bytes: &'a [u8], dialect: &Dialect<'_>) -> Result<Parsed<'a>, ParseError> {
    let mut rest = Rest { bytes, at: 0 };
    let ethernet =
        Ethernet2HeaderSlice::from_slice(bytes).map_err(|_| rest.error(Layer::Ethernet, Fault::Truncated))?;
    rest.take(ethernet.slice().len(), Layer::Ethernet)?;
    let mut ether_type = ethernet.ether_type();
    let mut vlan = None;
    if ether_type == EtherType::VLAN_TAGGED_FRAME {
        let tag =
            SingleVlanHeaderSlice::from_slice(rest.bytes).map_err(|_| rest.error(Layer::Vlan, Fault::Truncated))?;
        vlan = tag.slice().first_chunk().copied().map(u16::from_be_bytes);
        ether_type = tag.ether_type();
        rest.take(tag.slice().len(), Layer::Vlan)?;
    }
    let mut tag = None;
    if let Some(size) = [TagSize::Compact, TagSize::Wide].into_iter().find(|size| size.ether_type() == ether_type.0) {
        // The tag begins with its EtherType, and the next one stands behind it.
        let begin = rest.at - 2;
        let behind = rest.take(size.bytes(), Layer::Telemetry)?;
        let encapsulation = Encapsulation::Tag { ether_type: size.ether_type() };
        tag = bytes.get(begin..rest.at - 2).map(|tag| Section { tag, ..Section::empty(encapsulation) });
        ether_type = EtherType(behind.last_chunk().copied().map_or(0, u16::from_be_bytes));
    }
    let macs = (ethernet.source(), ethernet.destination());
    let content = match ether_type {
        EtherType(pfc::ETHER_TYPE) => Content::Pfc { src_mac: macs.0, pfc: read_pfc(&rest)? },
        EtherType::IPV4 => Content::Roce(packet::read(macs, tag, ip::v4(&mut rest)?, rest, dialect)?),
        EtherType::IPV6 => Content::Roce(packet::read(macs, tag, ip::v6(&mut rest)?, rest, dialect)?),
        _ => return Err(ParseError { offset: 0, layer: Layer::Ethernet, fault: Fault::Unknown }),
    };
    Ok(Parsed { vlan, content })
}

fn read_pfc(rest: &Rest<'_>) -> Result<Pfc, ParseError> {
    Pfc::parse(rest.bytes).map_err(|error| match error {
        NotPfc::Truncated => rest.error(Layer::Pfc, Fault::Truncated),
        NotPfc::OtherOpcode => rest.error(Layer::Pfc, Fault::Unknown),
    })
}
