// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame on the wire of an IP packet that the network carries as a host's stack made it, TCP's for instance.
//!
//! What the network does to it is done here: hop limit, congestion mark, and telemetry, which is the payload of a
//! probe or of its answer: the headers of those end where the packet does. A checksum of the transport layer would have
//! to change with each hop: stacks leave it 0 in a probe.

use super::Unbuildable;
use alloc::vec::Vec;
use core::ops::Range;
use etherparse::{EtherType, Ethernet2Header, IpEcn, IpNumber, Ipv4Header, Ipv6Header};

/// Where a UDP header says its length, payload included.
const UDP_LENGTH: Range<usize> = 4..6;

/// A packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedPacket<'a> {
    /// Ethernet source.
    pub src_mac: [u8; 6],
    /// Ethernet destination.
    pub dst_mac: [u8; 6],
    /// The packet as it left its host, from the IP header on.
    pub packet: &'a [u8],
    /// Telemetry as it is now; empty for none.
    pub telemetry: &'a [u8],
    /// Hop limit, in IPv4 time to live.
    pub hop_limit: u8,
    /// Whether a switch marked it; one whose sender does not know ECN cannot be.
    pub congestion_marked: bool,
}

impl CarriedPacket<'_> {
    /// The frame's bytes, without FCS.
    ///
    /// # Errors
    /// [`Unbuildable`] if the packet does not begin with an IP header, or would be longer than IP allows.
    pub fn bytes(&self) -> Result<Vec<u8>, Unbuildable> {
        match self.packet.first().map(|byte| byte >> 4) {
            Some(4) => self.ipv4(),
            Some(6) => self.ipv6(),
            Some(_) | None => Err(Unbuildable),
        }
    }

    fn ipv4(&self) -> Result<Vec<u8>, Unbuildable> {
        let (mut ip, rest) = Ipv4Header::from_slice(self.packet).map_err(|_| Unbuildable)?;
        let payload = self.payload(rest)?;
        ip.set_payload_len(payload.into()).map_err(|_| Unbuildable)?;
        ip.time_to_live = self.hop_limit;
        if self.congestion_marked && ip.ecn != IpEcn::ZERO {
            ip.ecn = IpEcn::THREE;
        }
        ip.header_checksum = ip.calc_header_checksum();
        Ok(self.frame(EtherType::IPV4, &ip.to_bytes(), ip.protocol, rest, payload))
    }

    fn ipv6(&self) -> Result<Vec<u8>, Unbuildable> {
        let (mut ip, rest) = Ipv6Header::from_slice(self.packet).map_err(|_| Unbuildable)?;
        ip.payload_length = self.payload(rest)?;
        ip.hop_limit = self.hop_limit;
        if self.congestion_marked && ip.ecn() != IpEcn::ZERO {
            ip.set_ecn(IpEcn::THREE);
        }
        Ok(self.frame(EtherType::IPV6, &ip.to_bytes(), ip.next_header, rest, ip.payload_length))
    }

    /// Bytes behind the IP header.
    fn payload(&self, rest: &[u8]) -> Result<u16, Unbuildable> {
        u16::try_from(rest.len() + self.telemetry.len()).map_err(|_| Unbuildable)
    }

    fn frame(&self, kind: EtherType, ip: &[u8], protocol: IpNumber, rest: &[u8], payload: u16) -> Vec<u8> {
        let link = Ethernet2Header { source: self.src_mac, destination: self.dst_mac, ether_type: kind };
        let mut rest = rest.to_vec();
        if let (IpNumber::UDP, false, Some(length)) = (protocol, self.telemetry.is_empty(), rest.get_mut(UDP_LENGTH)) {
            length.copy_from_slice(&payload.to_be_bytes());
        }
        [&link.to_bytes()[..], ip, &rest, self.telemetry].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    /// A UDP packet from 192.168.0.1 to 192.168.0.199 whose header checksum is a known example: b861.
    const HEADER: &str = "45000073000040004011b861c0a80001c0a800c7";

    fn packet(header: &str, payload: usize) -> Vec<u8> {
        [hex(header), (0..payload).map(|n| n as u8).collect()].concat()
    }

    fn carried(packet: &[u8]) -> CarriedPacket<'_> {
        CarriedPacket {
            src_mac: [2, 0, 0, 0, 0, 1],
            dst_mac: [2, 0, 0, 0, 0, 2],
            packet,
            telemetry: &[],
            hop_limit: 64,
            congestion_marked: false,
        }
    }

    /// Ones' complement sum of a header, RFC 1071: 0xffff where its checksum is right.
    fn sum(header: &[u8]) -> u32 {
        let words = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
        words.fold(0, |sum, word| ((sum + word) & 0xffff) + ((sum + word) >> 16))
    }

    #[test]
    fn a_packet_that_nothing_happened_to_leaves_as_it_is() {
        let packet = packet(HEADER, 95);
        let link = hex("0200000000020200000000010800");
        assert_eq!(carried(&packet).bytes(), Ok([link, packet.clone()].concat()));
    }

    #[test]
    fn only_packets_of_senders_that_know_ecn_are_marked() {
        for (tos, marked) in [("00", 0x00), ("01", 0x03), ("02", 0x03), ("03", 0x03), ("ae", 0xaf)] {
            let packet = packet(&HEADER.replacen("4500", &["45", tos].concat(), 1), 95);
            let bytes = CarriedPacket { congestion_marked: true, ..carried(&packet) }.bytes().expect("a frame");
            assert_eq!((bytes[15], sum(&bytes[14..34])), (marked, 0xffff));
        }
    }

    #[test]
    fn telemetry_is_the_payload_behind_the_headers() {
        let packet = packet(HEADER, 8);
        let bytes = CarriedPacket { telemetry: &[9; 5], hop_limit: 62, ..carried(&packet) }.bytes().expect("a frame");
        assert_eq!((bytes[22], sum(&bytes[14..34])), (62, 0xffff));
        assert_eq!(
            (&bytes[16..18], &bytes[34..]),
            (&[0, 33][..], &[&[0, 1, 2, 3, 0, 13, 6, 7][..], &[9; 5]].concat()[..]),
            "IP and UDP say their lengths"
        );
    }

    /// UDP of 8 bytes from 2001:db8::1 to 2001:db8::2, traffic class 0x02.
    const IPV6: &str = "602000000008114020010db800000000000000000000000120010db8000000000000000000000002";

    #[test]
    fn ipv6_is_carried_as_ipv4_is() {
        let packet = packet(IPV6, 8);
        let link = hex("02000000000202000000000186dd");
        assert_eq!(carried(&packet).bytes(), Ok([link, packet.clone()].concat()));
        let changed = CarriedPacket { telemetry: &[9; 5], hop_limit: 62, congestion_marked: true, ..carried(&packet) };
        let bytes = changed.bytes().expect("a frame");
        assert_eq!(
            (&bytes[14..16], &bytes[18..22]),
            (&[0x60, 0x30][..], &[0, 13, 17, 62][..]),
            "CE, length, hop limit"
        );
        assert_eq!(bytes[54..], [&[0, 1, 2, 3, 0, 13, 6, 7][..], &[9; 5]].concat(), "UDP says its length");
    }

    #[test]
    fn what_is_no_packet_or_too_long_is_refused() {
        assert_eq!(carried(&packet(HEADER, 0)[..19]).bytes(), Err(Unbuildable));
        assert_eq!(carried(&packet(IPV6, 0)[..39]).bytes(), Err(Unbuildable));
        assert_eq!((carried(&[0x50; 60]).bytes(), carried(&[]).bytes()), (Err(Unbuildable), Err(Unbuildable)));
        let long = packet(HEADER, 65_510);
        assert!(carried(&long).bytes().is_ok());
        assert_eq!(CarriedPacket { telemetry: &[0; 6], ..carried(&long) }.bytes(), Err(Unbuildable));
    }
}
