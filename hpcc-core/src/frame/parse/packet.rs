// SPDX-License-Identifier: MIT OR Apache-2.0
//! What follows the IP header: telemetry, extension headers, UDP, and InfiniBand's headers.

use super::ip::Ip;
use super::rest::Rest;
use crate::frame::build::udp_checksum;
use crate::frame::dialect::ifa_behind_udp;
use crate::frame::section::IFA_HEADER;
use crate::frame::{
    Addresses, Dialect, Encapsulation, Extension, Fault, Layer, Offsets, ParseError, RoceFrame, RocePacket, Section,
    SectionLen, protocol,
};
use crate::roce::{self, Aeth, Bth, CNP_RESERVED, Deth, Opcode, Reth, icrc};
use etherparse::UdpHeaderSlice;

/// Reads the packet behind an IP header.
pub fn read<'a>(
    (src_mac, dst_mac): ([u8; 6], [u8; 6]),
    tag: Option<Section<'a>>,
    ip: Ip<'a>,
    mut rest: Rest<'a>,
    dialect: &Dialect<'_>,
) -> Result<RocePacket<'a>, ParseError> {
    let front = Front::read(&ip, &mut rest, dialect)?;
    let udp_at = rest.at;
    let (udp, telemetry) = front.read_udp(&ip, &mut rest, dialect)?;
    let telemetry = telemetry.or(tag);
    let base_transport = rest.at;
    let (icrc, transport) = read_icrc(&mut rest)?;
    let bth = rest.header(Layer::BaseTransport, Bth::parse)?;
    let extension = read_extension(&mut rest, bth.opcode)?;
    let payload_at = rest.at;
    let payload = read_payload(&rest, &bth)?;
    let frame = RoceFrame {
        src_mac,
        dst_mac,
        addresses: ip.addresses,
        dscp: match telemetry.map(|section| section.encapsulation) {
            Some(Encapsulation::Marked { mark }) => ip.dscp & !mark,
            _ => ip.dscp,
        },
        ecn: ip.ecn,
        hop_limit: ip.hop_limit,
        identification: ip.identification,
        sport: udp.source_port(),
        udp_checksum: udp.checksum() != 0,
        telemetry,
        destination_options: front.options,
        bth,
        extension,
        payload,
        zeros: 0,
    };
    let offsets =
        Offsets { ip: ip.at, udp: udp_at, base_transport, payload: payload_at, icrc: base_transport + transport.len() };
    Ok(RocePacket { frame, offsets, icrc, ip: ip.header, udp: udp.to_header().to_bytes(), transport })
}

/// What stands between IP and UDP header.
struct Front<'a> {
    telemetry: Option<(Encapsulation, &'a [u8])>,
    options: &'a [u8],
}

impl<'a> Front<'a> {
    fn read(ip: &Ip<'_>, rest: &mut Rest<'a>, dialect: &Dialect<'_>) -> Result<Front<'a>, ParseError> {
        let over_ipv6 = matches!(ip.addresses, Addresses::V6 { .. });
        let mut next = ip.next;
        let mut front = Front { telemetry: None, options: &[] };
        if next == protocol::HOP_BY_HOP && over_ipv6 {
            let (header, behind) = rest.extension(Layer::HopByHop)?;
            front.telemetry = Some((Encapsulation::HopByHop, header));
            next = behind;
        } else if next == dialect.ifa_protocol {
            let header = rest.take(IFA_HEADER, Layer::Ifa)?;
            front.telemetry = Some((Encapsulation::Ifa { protocol: next }, header));
            next = header.get(1).copied().unwrap_or_default();
        }
        if next == protocol::DESTINATION_OPTIONS && over_ipv6 {
            (front.options, next) = rest.extension(Layer::DestinationOptions)?;
        }
        if next != protocol::UDP {
            return Err(rest.error(Layer::Udp, Fault::Unknown));
        }
        Ok(front)
    }

    /// Reads the UDP header and the telemetry behind it.
    fn read_udp(
        &self,
        ip: &Ip<'_>,
        rest: &mut Rest<'a>,
        dialect: &Dialect<'_>,
    ) -> Result<(UdpHeaderSlice<'a>, Option<Section<'a>>), ParseError> {
        let at = rest.at;
        let error = |fault| ParseError { offset: at, layer: Layer::Udp, fault };
        let udp = UdpHeaderSlice::from_slice(rest.bytes).map_err(|_| error(Fault::Truncated))?;
        rest.take(udp.slice().len(), Layer::Udp)?;
        let port = udp.destination_port();
        let announced = dialect.announced(port, ip.dscp);
        if port != roce::PORT && announced.is_none() {
            return Err(error(Fault::Unknown));
        }
        let telemetry = self.behind_udp(announced, rest.bytes);
        let telemetry = telemetry.map_err(|fault| rest.error(Layer::Telemetry, fault))?;
        let uncounted = if telemetry.counted { 0 } else { telemetry.len };
        let counted = rest.bytes.get(uncounted..).ok_or(rest.error(Layer::Telemetry, Fault::Truncated))?;
        if usize::from(udp.length()) != udp.slice().len() + counted.len() {
            return Err(error(Fault::Length));
        }
        if udp.checksum() != 0 && udp_checksum(&udp.to_header(), &ip.addresses, counted) != Ok(udp.checksum()) {
            return Err(error(Fault::Checksum));
        }
        let behind_udp = rest.take(telemetry.len, Layer::Telemetry)?;
        let before_udp = self.telemetry.map_or(&[][..], |(_, header)| header);
        let section = |encapsulation| Section { before_udp, behind_udp, ..Section::empty(encapsulation) };
        Ok((udp, telemetry.encapsulation.map(section)))
    }

    /// The headers behind UDP, as port and DSCP announce them.
    fn behind_udp(&self, announced: Option<(Encapsulation, SectionLen)>, bytes: &[u8]) -> Result<Telemetry, Fault> {
        match (self.telemetry, announced) {
            (None, None) => Ok(Telemetry { encapsulation: None, len: 0, counted: true }),
            (None, Some((encapsulation, len))) => {
                Ok(Telemetry { encapsulation: Some(encapsulation), len: len.of(bytes)?, counted: true })
            }
            (Some((encapsulation @ Encapsulation::Ifa { .. }, header)), None) => {
                let header = header.first_chunk().ok_or(Fault::Truncated)?;
                Ok(Telemetry {
                    encapsulation: Some(encapsulation),
                    len: ifa_behind_udp(header, bytes)?,
                    counted: false,
                })
            }
            (Some((encapsulation, _)), None) => {
                Ok(Telemetry { encapsulation: Some(encapsulation), len: 0, counted: true })
            }
            (Some(_), Some(_)) => Err(Fault::Unexpected),
        }
    }
}

/// The telemetry of a packet.
struct Telemetry {
    encapsulation: Option<Encapsulation>,
    /// Bytes of it behind UDP.
    len: usize,
    /// Whether UDP counts these.
    counted: bool,
}

/// Cuts the ICRC off the end; returns it and the bytes in front of it.
fn read_icrc<'a>(rest: &mut Rest<'a>) -> Result<([u8; icrc::LEN], &'a [u8]), ParseError> {
    let (transport, icrc) = rest.bytes.split_last_chunk().ok_or(rest.error(Layer::Icrc, Fault::Truncated))?;
    rest.bytes = transport;
    Ok((*icrc, transport))
}

fn read_extension(rest: &mut Rest<'_>, opcode: Opcode) -> Result<Extension, ParseError> {
    let layer = Layer::ExtendedTransport;
    if opcode.has_reth() {
        return rest.header(layer, Reth::parse).map(Extension::Reth);
    }
    if opcode.has_aeth() {
        return rest.header(layer, Aeth::parse).map(Extension::Aeth);
    }
    if opcode.has_deth() {
        return rest.header(layer, Deth::parse).map(Extension::Deth);
    }
    Ok(Extension::None)
}

/// The payload without its padding. A congestion notification has its reserved bytes there, and nothing else.
fn read_payload<'a>(rest: &Rest<'a>, bth: &Bth) -> Result<&'a [u8], ParseError> {
    let error = rest.error(Layer::Payload, Fault::Length);
    let padded = rest.bytes.len();
    let len = padded.checked_sub(usize::from(bth.pad_count)).ok_or(error)?;
    let odd_notification = bth.opcode == Opcode::CNP && len != CNP_RESERVED;
    if !padded.is_multiple_of(4) || odd_notification {
        return Err(error);
    }
    rest.bytes.get(..len).ok_or(error)
}
