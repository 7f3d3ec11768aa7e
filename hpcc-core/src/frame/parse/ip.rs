// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IP header.

use super::rest::Rest;
use crate::frame::{Addresses, Fault, Layer, ParseError};
use etherparse::err::ipv4::{HeaderError as Ipv4Fault, HeaderSliceError as Ipv4Error};
use etherparse::err::ipv6::HeaderSliceError as Ipv6Error;
use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice};

/// The contents of an IP header.
pub struct Ip<'a> {
    /// Where it begins in the frame.
    pub at: usize,
    /// Options included, extension headers not.
    pub header: &'a [u8],
    pub addresses: Addresses,
    pub dscp: u8,
    pub ecn: u8,
    pub hop_limit: u8,
    pub identification: u16,
    /// Protocol or next header.
    pub next: u8,
}

/// Reads the header and cuts the rest to the packet.
pub fn v4<'a>(rest: &mut Rest<'a>) -> Result<Ip<'a>, ParseError> {
    let error = |fault| ParseError { offset: rest.at, layer: Layer::Ip, fault };
    let header = Ipv4HeaderSlice::from_slice(rest.bytes).map_err(|fault| match fault {
        Ipv4Error::Len(_) => error(Fault::Truncated),
        Ipv4Error::Content(Ipv4Fault::UnexpectedVersion { .. }) => error(Fault::Unknown),
        Ipv4Error::Content(_) => error(Fault::Length),
    })?;
    let payload = header.payload_len().map_err(|_| error(Fault::Length))?;
    if header.to_header().calc_header_checksum() != header.header_checksum() {
        return Err(error(Fault::Checksum));
    }
    if header.is_fragmenting_payload() {
        return Err(error(Fault::Unexpected));
    }
    let at = cut(rest, header.slice().len(), payload)?;
    Ok(Ip {
        at,
        header: header.slice(),
        addresses: Addresses::V4 { src: header.source(), dst: header.destination() },
        dscp: header.dcp().value(),
        ecn: header.ecn().value(),
        hop_limit: header.ttl(),
        identification: header.identification(),
        next: header.protocol().0,
    })
}

/// Reads the header and cuts the rest to the packet.
pub fn v6<'a>(rest: &mut Rest<'a>) -> Result<Ip<'a>, ParseError> {
    let header = Ipv6HeaderSlice::from_slice(rest.bytes).map_err(|fault| match fault {
        Ipv6Error::Len(_) => rest.error(Layer::Ip, Fault::Truncated),
        Ipv6Error::Content(_) => rest.error(Layer::Ip, Fault::Unknown),
    })?;
    let at = cut(rest, header.slice().len(), header.payload_length())?;
    Ok(Ip {
        at,
        header: header.slice(),
        addresses: Addresses::V6 { src: header.source(), dst: header.destination() },
        dscp: header.dscp().value(),
        ecn: header.ecn().value(),
        hop_limit: header.hop_limit(),
        identification: 0,
        next: header.next_header().0,
    })
}

/// Goes behind an IP header, drops what follows its payload, and returns where it begins.
fn cut(rest: &mut Rest<'_>, header: usize, payload: u16) -> Result<usize, ParseError> {
    let truncated = rest.error(Layer::Ip, Fault::Truncated);
    rest.take(header, Layer::Ip)?;
    rest.bytes = rest.bytes.get(..usize::from(payload)).ok_or(truncated)?;
    Ok(truncated.offset)
}
