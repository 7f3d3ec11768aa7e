// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a description to bytes.

use super::{Addresses, Carriage, Extension, IFA_HEADER, RoceFrame, Section, protocol};
use crate::pfc::{self, Pfc};
use crate::roce::icrc::{self, Coverage, Covered};
use crate::roce::{self, Bth};
use alloc::vec::Vec;
use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6Header, UdpHeader};

/// The description cannot be a frame: a packet of more than 65,535 bytes, or an extension header over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unbuildable;

/// The bytes of a PFC frame from port `src_mac`.
pub fn pfc(src_mac: [u8; 6], frame: &Pfc) -> Vec<u8> {
    let ether_type = EtherType(pfc::ETHER_TYPE);
    let mut bytes = Vec::with_capacity(60);
    bytes.extend(Ethernet2Header { source: src_mac, destination: pfc::DESTINATION, ether_type }.to_bytes());
    bytes.extend(frame.emit());
    bytes
}

/// The bytes of a RoCEv2 frame. The ICRC is that of the packet without telemetry and covers destination options as
/// `coverage` says. The UDP checksum is 0 over IPv4, as adapters send it; over IPv6, where it must not be, it is real.
///
/// # Errors
/// See [`Unbuildable`].
pub fn roce(frame: &RoceFrame<'_>, coverage: Coverage) -> Result<Vec<u8>, Unbuildable> {
    let mut transport = transport(frame);
    let plain = Stack::plain(frame, transport.len() + icrc::LEN);
    let covered = Covered {
        ip: &plain.ip(frame)?,
        extensions: frame.destination_options,
        udp: plain.udp(frame, &[])?.to_bytes(),
        transport: &transport,
    };
    let icrc = covered.icrc(coverage);
    transport.extend(icrc);
    let wire = Stack::with_telemetry(frame, plain)?;
    let ether_type = match frame.addresses {
        Addresses::V4 { .. } => EtherType::IPV4,
        Addresses::V6 { .. } => EtherType::IPV6,
    };
    let mut bytes = Vec::with_capacity(transport.len() + 256);
    bytes.extend(Ethernet2Header { source: frame.src_mac, destination: frame.dst_mac, ether_type }.to_bytes());
    bytes.extend(wire.ip(frame)?);
    bytes.extend(wire.before_udp);
    bytes.extend(frame.destination_options);
    bytes.extend(wire.udp(frame, &transport)?.to_bytes());
    bytes.extend(wire.behind_udp);
    bytes.extend(transport);
    Ok(bytes)
}

/// From the base transport header to the payload's padding.
fn transport(frame: &RoceFrame<'_>) -> Vec<u8> {
    let payload = frame.payload.len() + frame.zeros as usize;
    let padding = payload.next_multiple_of(4) - payload;
    let mut bytes = Vec::with_capacity(payload + 64);
    bytes.extend(Bth { pad_count: padding as u8, ..frame.bth }.emit());
    match &frame.extension {
        Extension::None => {}
        Extension::Reth(reth) => bytes.extend(reth.emit()),
        Extension::Aeth(aeth) => bytes.extend(aeth.emit()),
    }
    bytes.extend(frame.payload);
    bytes.resize(bytes.len() + frame.zeros as usize + padding, 0);
    bytes
}

/// What the headers must say, and the telemetry between them.
struct Stack<'a> {
    /// Protocol or next header of the IP header.
    next: u8,
    /// Bytes behind the IP header.
    ip_payload: usize,
    /// Bytes behind the UDP header, as its length says.
    udp_payload: usize,
    port: u16,
    /// Telemetry in front of UDP.
    before_udp: &'a [u8],
    /// Telemetry behind UDP.
    behind_udp: &'a [u8],
    /// Whether the UDP checksum covers it.
    checks_telemetry: bool,
}

impl<'a> Stack<'a> {
    /// Without telemetry; `udp_payload` bytes from the base transport header to the ICRC.
    fn plain(frame: &RoceFrame<'_>, udp_payload: usize) -> Stack<'a> {
        let options = frame.destination_options.len();
        Stack {
            next: if options == 0 { protocol::UDP } else { protocol::DESTINATION_OPTIONS },
            ip_payload: options + UdpHeader::LEN + udp_payload,
            udp_payload,
            port: roce::PORT,
            before_udp: &[],
            behind_udp: &[],
            checks_telemetry: true,
        }
    }

    fn with_telemetry(frame: &RoceFrame<'a>, plain: Stack<'a>) -> Result<Stack<'a>, Unbuildable> {
        let Some(Section { carriage, bytes }) = frame.telemetry else { return Ok(plain) };
        let ip_payload = plain.ip_payload + bytes.len();
        match carriage {
            Carriage::BehindUdp { port } => {
                let udp_payload = plain.udp_payload + bytes.len();
                Ok(Stack { ip_payload, udp_payload, port, behind_udp: bytes, ..plain })
            }
            Carriage::HopByHop => Ok(Stack { next: protocol::HOP_BY_HOP, ip_payload, before_udp: bytes, ..plain }),
            Carriage::Ifa { protocol } => {
                let (before_udp, behind_udp) = bytes.split_at_checked(IFA_HEADER).ok_or(Unbuildable)?;
                Ok(Stack { next: protocol, ip_payload, before_udp, behind_udp, checks_telemetry: false, ..plain })
            }
        }
    }

    fn ip(&self, frame: &RoceFrame<'_>) -> Result<Vec<u8>, Unbuildable> {
        let payload = u16::try_from(self.ip_payload).map_err(|_| Unbuildable)?;
        match frame.addresses {
            Addresses::V4 { src, dst } => {
                if matches!(self.next, protocol::HOP_BY_HOP | protocol::DESTINATION_OPTIONS) {
                    return Err(Unbuildable);
                }
                let mut header = Ipv4Header::new(payload, frame.hop_limit, IpNumber(self.next), src, dst)
                    .map_err(|_| Unbuildable)?;
                header.dscp = IpDscp::try_new(frame.dscp).map_err(|_| Unbuildable)?;
                header.ecn = IpEcn::try_new(frame.ecn).map_err(|_| Unbuildable)?;
                header.identification = frame.identification;
                header.dont_fragment = true;
                header.header_checksum = header.calc_header_checksum();
                Ok(header.to_bytes().to_vec())
            }
            Addresses::V6 { src, dst } => {
                let header = Ipv6Header {
                    traffic_class: frame.dscp << 2 | frame.ecn & 3,
                    flow_label: Default::default(),
                    payload_length: payload,
                    next_header: IpNumber(self.next),
                    hop_limit: frame.hop_limit,
                    source: src,
                    destination: dst,
                };
                Ok(header.to_bytes().to_vec())
            }
        }
    }

    /// The UDP header in front of the telemetry and `transport`.
    fn udp(&self, frame: &RoceFrame<'_>, transport: &[u8]) -> Result<UdpHeader, Unbuildable> {
        let mut udp =
            UdpHeader::without_ipv4_checksum(frame.sport, self.port, self.udp_payload).map_err(|_| Unbuildable)?;
        if let Addresses::V6 { src, dst } = frame.addresses {
            let telemetry = if self.checks_telemetry { self.behind_udp } else { &[] };
            let payload = [telemetry, transport].concat();
            udp.checksum = udp.calc_checksum_ipv6_raw(src, dst, &payload).map_err(|_| Unbuildable)?;
        }
        Ok(udp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roce::{Aeth, CNP_RESERVED, Opcode, Syndrome};
    use crate::testing::{hex, vector};

    fn frame() -> RoceFrame<'static> {
        RoceFrame {
            src_mac: [2, 0, 0, 0, 0, 1],
            dst_mac: [2, 0, 0, 0, 0, 2],
            addresses: Addresses::V4 { src: [10, 0, 0, 2], dst: [10, 0, 0, 1] },
            dscp: 0,
            ecn: 0,
            hop_limit: 64,
            identification: 0,
            sport: 0xc000,
            telemetry: None,
            destination_options: &[],
            bth: Bth::default(),
            extension: Extension::None,
            payload: &[],
            zeros: 0,
        }
    }

    fn built(frame: &RoceFrame<'_>) -> Vec<u8> {
        roce(frame, Coverage::Extensions).expect("a frame")
    }

    #[test]
    fn req_33_an_adapters_notification_is_built_byte_for_byte() {
        let cnp = RoceFrame {
            src_mac: [0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32],
            dst_mac: [0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2],
            addresses: Addresses::V4 { src: [10, 0, 17, 1], dst: [10, 0, 18, 1] },
            dscp: 48,
            ecn: 2,
            identification: 0x718c,
            sport: 0,
            bth: Bth::cnp(0x118),
            zeros: CNP_RESERVED as u32,
            ..frame()
        };
        assert_eq!(built(&cnp), vector("roce_cnp_cx4lx"));
    }

    #[test]
    fn scapys_frames_are_built_byte_for_byte() {
        let ack = RoceFrame {
            bth: Bth { opcode: Opcode::ACKNOWLEDGE, dest_qp: 34, psn: 0x12_3456, ..Bth::default() },
            extension: Extension::Aeth(Aeth { syndrome: Syndrome::ACK, msn: 5 }),
            identification: 8,
            ..frame()
        };
        let mut expected = vector("roce_rc_ack_v4");
        expected[20] = 0x40;
        expected[24..26].copy_from_slice(&built(&ack)[24..26]);
        assert_eq!(built(&ack), expected, "ours may not be fragmented; the checksum differs by that");
        let cnp = RoceFrame {
            addresses: Addresses::V6 {
                src: hex("20010db8000000000000000000000002").try_into().expect("16"),
                dst: hex("20010db8000000000000000000000001").try_into().expect("16"),
            },
            dscp: 48,
            bth: Bth::cnp(258),
            zeros: CNP_RESERVED as u32,
            ..frame()
        };
        assert_eq!(built(&cnp), vector("roce_cnp_ipv6"));
    }

    /// Options 1 and 2 of Fast CNP, ICRC by policy A. The vectors have a UDP checksum of 0.
    #[test]
    fn destination_options_stand_in_front_of_udp() {
        for (name, options) in [("fastcnp_opt1", 24), ("fastcnp_opt2", 48)] {
            let mut expected = vector(name);
            let header = expected[54..54 + options].to_vec();
            let cnp = RoceFrame {
                addresses: Addresses::V6 {
                    src: hex("20010db8ffff00000000000000000001").try_into().expect("16"),
                    dst: hex("20010db8000000000000000000000001").try_into().expect("16"),
                },
                dscp: 48,
                destination_options: &header,
                bth: Bth::cnp(258),
                zeros: CNP_RESERVED as u32,
                ..frame()
            };
            let found = built(&cnp);
            let checksum = 54 + options + 6..54 + options + 8;
            assert_ne!(found[checksum.clone()], [0, 0], "{name}");
            expected[checksum.clone()].copy_from_slice(&found[checksum]);
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn pfc_frames_are_built_byte_for_byte() {
        assert_eq!(pfc([2, 0, 0, 0, 0, 1], &Pfc::of(3, 0xffff)), vector("pfc_c3_max"));
    }

    #[test]
    fn what_cannot_be_a_frame_is_refused() {
        let long = RoceFrame { zeros: 65_536, ..frame() };
        assert_eq!(roce(&long, Coverage::Extensions), Err(Unbuildable));
        let options = RoceFrame { destination_options: &[17, 0, 1, 4, 0, 0, 0, 0], ..frame() };
        assert_eq!(roce(&options, Coverage::Extensions), Err(Unbuildable));
        let section = Section { carriage: Carriage::Ifa { protocol: 253 }, bytes: &[0; 3] };
        let short = RoceFrame { telemetry: Some(section), ..frame() };
        assert_eq!(roce(&short, Coverage::Extensions), Err(Unbuildable));
    }
}
