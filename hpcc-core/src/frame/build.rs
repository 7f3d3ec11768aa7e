// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a description to bytes.

use super::section::is_whole_header;
use super::{Addresses, Encapsulation, Extension, MARK_BITS, RoceFrame, Section, Unbuildable, protocol};
use crate::pfc::{self, Pfc};
use crate::roce::icrc::{self, Coverage, Covered, Headers};
use crate::roce::{self, Bth};
use alloc::vec::Vec;
use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6Header, UdpHeader};

/// The bytes of a PFC frame from port `src_mac`.
pub fn pfc(src_mac: [u8; 6], frame: &Pfc) -> Vec<u8> {
    let ether_type = EtherType(pfc::ETHER_TYPE);
    let mut bytes = Vec::with_capacity(60);
    bytes.extend(Ethernet2Header { source: src_mac, destination: pfc::DESTINATION, ether_type }.to_bytes());
    bytes.extend(frame.emit());
    bytes
}

/// The bytes of a RoCEv2 frame, with the ICRC that `coverage` asks for.
///
/// # Errors
/// See [`Unbuildable`].
#[expect(clippy::indexing_slicing, reason = "what UDP does not count stands behind it")]
pub fn roce(frame: &RoceFrame<'_>, coverage: Coverage) -> Result<Vec<u8>, Unbuildable> {
    let transport = transport(frame)?;
    let len = transport.len() + icrc::LEN;
    let (sent, plain) = (Stack { frame, section: frame.telemetry, len }, Stack { frame, section: None, len });
    let (sent_ip, mut udp) = (sent.ip()?, sent.udp()?);
    let (before_udp, behind_udp) = frame.telemetry.map_or((&[][..], &[][..]), |it| (it.before_udp, it.behind_udp));
    let icrc = Covered {
        sent: Headers { ip: &sent_ip, udp: udp.to_bytes() },
        plain: Headers { ip: &plain.ip()?, udp: plain.udp()?.to_bytes() },
        before_udp,
        extensions: frame.destination_options,
        behind_udp,
        transport: &transport,
    }
    .icrc(coverage);
    let behind = [behind_udp, &transport, &icrc].concat();
    if frame.udp_checksum {
        udp.checksum = udp_checksum(&udp, &frame.addresses, &behind[sent.uncounted()..])?;
    }
    let ether_type = match frame.addresses {
        Addresses::V4 { .. } => EtherType::IPV4,
        Addresses::V6 { .. } => EtherType::IPV6,
    };
    let ethernet = Ethernet2Header { source: frame.src_mac, destination: frame.dst_mac, ether_type }.to_bytes();
    let (macs, ether_type) = ethernet.split_at(12);
    let tag = frame.telemetry.map_or(&[][..], |section| section.tag);
    Ok([macs, tag, ether_type, &*sent_ip, before_udp, frame.destination_options, &udp.to_bytes(), &behind].concat())
}

/// From the base transport header to the payload's padding.
fn transport(frame: &RoceFrame<'_>) -> Result<Vec<u8>, Unbuildable> {
    let zeros = usize::from(u16::try_from(frame.zeros).map_err(|_| Unbuildable)?);
    let payload = frame.payload.len() + zeros;
    let padding = payload.next_multiple_of(4) - payload;
    let mut bytes = Vec::with_capacity(payload + 64);
    bytes.extend(Bth { pad_count: padding as u8, ..frame.bth }.emit());
    match &frame.extension {
        Extension::None => {}
        Extension::Reth(reth) => bytes.extend(reth.emit()),
        Extension::Aeth(aeth) => bytes.extend(aeth.emit()),
        Extension::Deth(deth) => bytes.extend(deth.emit()),
    }
    bytes.extend(frame.payload);
    bytes.resize(bytes.len() + zeros + padding, 0);
    Ok(bytes)
}

/// The checksum of a UDP header and what it counts.
pub(super) fn udp_checksum(udp: &UdpHeader, addresses: &Addresses, counted: &[u8]) -> Result<u16, Unbuildable> {
    match *addresses {
        Addresses::V4 { src, dst } => udp.calc_checksum_ipv4_raw(src, dst, counted),
        Addresses::V6 { src, dst } => udp.calc_checksum_ipv6_raw(src, dst, counted),
    }
    .map_err(|_| Unbuildable)
}

/// The headers of a frame with a section of telemetry, or without one.
struct Stack<'a> {
    frame: &'a RoceFrame<'a>,
    section: Option<Section<'a>>,
    /// Bytes from the base transport header to the ICRC.
    len: usize,
}

impl Stack<'_> {
    /// Bytes behind the UDP header that its length and checksum do not count.
    fn uncounted(&self) -> usize {
        match self.section {
            Some(section) if matches!(section.encapsulation, Encapsulation::Ifa { .. }) => section.behind_udp.len(),
            _ => 0,
        }
    }

    fn udp(&self) -> Result<UdpHeader, Unbuildable> {
        let port = match self.section.map(|section| section.encapsulation) {
            Some(Encapsulation::BehindUdp { port }) => port,
            _ => roce::PORT,
        };
        let payload = self.len + self.section.map_or(0, |section| section.behind_udp.len()) - self.uncounted();
        UdpHeader::without_ipv4_checksum(self.frame.sport, port, payload).map_err(|_| Unbuildable)
    }

    fn ip(&self) -> Result<Vec<u8>, Unbuildable> {
        let frame = self.frame;
        let telemetry = self.section.map_or(0, |section| section.total_len());
        let payload = telemetry + frame.destination_options.len() + UdpHeader::LEN + self.len;
        let payload = u16::try_from(payload).map_err(|_| Unbuildable)?;
        let dscp = IpDscp::try_new(self.dscp()?).map_err(|_| Unbuildable)?;
        let ecn = IpEcn::try_new(frame.ecn).map_err(|_| Unbuildable)?;
        let next = IpNumber(self.next()?);
        match frame.addresses {
            Addresses::V4 { src, dst } => {
                let mut header = Ipv4Header::new(payload, frame.hop_limit, next, src, dst).map_err(|_| Unbuildable)?;
                header.dscp = dscp;
                header.ecn = ecn;
                header.identification = frame.identification;
                header.dont_fragment = true;
                header.header_checksum = header.calc_header_checksum();
                Ok(header.to_bytes().to_vec())
            }
            Addresses::V6 { src, dst } => {
                let header = Ipv6Header {
                    traffic_class: dscp.value() << 2 | ecn.value(),
                    flow_label: Default::default(),
                    payload_length: payload,
                    next_header: next,
                    hop_limit: frame.hop_limit,
                    source: src,
                    destination: dst,
                };
                Ok(header.to_bytes().to_vec())
            }
        }
    }

    /// The class, and a mark that announces telemetry: a class that takes the mark's bits would hide it.
    fn dscp(&self) -> Result<u8, Unbuildable> {
        let dscp = self.frame.dscp;
        match self.section.map(|section| section.encapsulation) {
            Some(Encapsulation::Marked { mark }) if dscp & MARK_BITS == 0 => Ok(dscp | mark),
            Some(Encapsulation::Marked { .. }) => Err(Unbuildable),
            _ => Ok(dscp),
        }
    }

    /// The protocol that the IP header names, if every header names the one behind it.
    fn next(&self) -> Result<u8, Unbuildable> {
        let options = self.frame.destination_options;
        let plain = match options.first() {
            None => protocol::UDP,
            Some(&protocol::UDP) if self.over_ipv6() && is_whole_header(options) => protocol::DESTINATION_OPTIONS,
            Some(_) => return Err(Unbuildable),
        };
        let Some(section) = self.section else { return Ok(plain) };
        if section.next_header().is_some_and(|next| next != plain) {
            return Err(Unbuildable);
        }
        match section.encapsulation {
            Encapsulation::BehindUdp { .. } | Encapsulation::Marked { .. } | Encapsulation::Tag { .. } => Ok(plain),
            Encapsulation::HopByHop if self.over_ipv6() => Ok(protocol::HOP_BY_HOP),
            Encapsulation::HopByHop => Err(Unbuildable),
            Encapsulation::Ifa { protocol } => Ok(protocol),
        }
    }

    fn over_ipv6(&self) -> bool {
        matches!(self.frame.addresses, Addresses::V6 { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES_V6: Addresses = Addresses::V6 { src: [1; 16], dst: [2; 16] };
    const OPTIONS: [u8; 8] = [protocol::UDP, 0, 1, 4, 0, 0, 0, 0];

    fn frame(addresses: Addresses) -> RoceFrame<'static> {
        RoceFrame { addresses, ..RoceFrame::EMPTY }
    }

    fn refused(frame: &RoceFrame<'_>) -> bool {
        roce(frame, Coverage::default()) == Err(Unbuildable)
    }

    #[test]
    fn numbers_that_their_fields_do_not_hold_are_refused() {
        for addresses in [RoceFrame::EMPTY.addresses, ADDRESSES_V6] {
            let frame = frame(addresses);
            assert!(!refused(&frame));
            assert!(refused(&RoceFrame { zeros: 65_536, ..frame }));
            assert!(refused(&RoceFrame { zeros: 65_500, ..frame }) == (addresses != ADDRESSES_V6));
            assert!(refused(&RoceFrame { zeros: 65_520, ..frame }));
            assert!(refused(&RoceFrame { dscp: 64, ..frame }));
            assert!(refused(&RoceFrame { ecn: 4, ..frame }));
        }
    }

    #[test]
    fn extension_headers_are_whole_over_ipv6_and_name_what_follows() {
        let options = RoceFrame { destination_options: &OPTIONS, ..frame(ADDRESSES_V6) };
        assert!(!refused(&options));
        assert!(refused(&RoceFrame { addresses: RoceFrame::EMPTY.addresses, ..options }));
        assert!(refused(&RoceFrame { destination_options: &OPTIONS[..7], ..options }));
        assert!(refused(&RoceFrame { destination_options: &[6, 0, 1, 4, 0, 0, 0, 0], ..options }));
        let hop_by_hop = Section::new(Encapsulation::HopByHop, &OPTIONS).expect("a header");
        let telemetry = RoceFrame { telemetry: Some(hop_by_hop), ..frame(ADDRESSES_V6) };
        assert!(!refused(&telemetry));
        assert!(refused(&RoceFrame { addresses: RoceFrame::EMPTY.addresses, ..telemetry }));
        assert!(refused(&RoceFrame { destination_options: &OPTIONS, ..telemetry }), "it names UDP, not the options");
    }
}
