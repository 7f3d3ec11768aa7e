// SPDX-License-Identifier: MIT OR Apache-2.0
//! The invariant CRC that ends a RoCEv2 packet (SPEC section 3).
//!
//! CRC-32 of Ethernet's polynomial over eight bytes of ones, which stand for InfiniBand's local header, then the
//! packet from the IP header to the payload's padding; what switches may change counts as ones. It is sent least
//! significant byte first.
//!
//! The specification knows neither telemetry that switches insert nor IPv6 extension headers (SPEC sections 3, 4.4
//! and 9.11). Telemetry: our senders compute the ICRC on the packet without it - lengths, UDP port and next header
//! of the packet without telemetry - and receivers remove it before they check. Other extension headers: see
//! [`Coverage`].

use super::bth;
use crc32fast::Hasher;

/// Bytes of the ICRC.
pub const LEN: usize = 4;

/// Whether IPv6 extension headers are covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// They are, as they are on the wire (policy A of SPEC section 4.4).
    #[default]
    Extensions,
    /// They are skipped, but the IPv6 header counts as it is on the wire (policy B): what an adapter hashes that
    /// expects UDP behind 40 bytes.
    SkipExtensions,
}

/// The parts of a packet that an ICRC covers.
#[derive(Clone, Copy, Debug)]
pub struct Covered<'a> {
    /// The IPv4 header, options included, or the 40 bytes of the IPv6 header.
    pub ip: &'a [u8],
    /// Extension headers.
    pub extensions: &'a [u8],
    /// The UDP header.
    pub udp: [u8; 8],
    /// From the base transport header to the padding of the payload.
    pub transport: &'a [u8],
}

impl Covered<'_> {
    /// The ICRC as it is sent.
    pub fn icrc(&self, coverage: Coverage) -> [u8; LEN] {
        let mut crc = Hasher::new();
        crc.update(&[0xff; 8]);
        self.add_ip(&mut crc);
        if coverage == Coverage::Extensions {
            crc.update(self.extensions);
        }
        let [udp @ .., _, _] = self.udp;
        crc.update(&udp);
        crc.update(&[0xff; 2]);
        let (before, rest) = self.transport.split_at(bth::CONGESTION_BITS.min(self.transport.len()));
        crc.update(before);
        if let Some((_, behind)) = rest.split_first() {
            crc.update(&[0xff]);
            crc.update(behind);
        }
        crc.finalize().to_le_bytes()
    }

    /// The IP header with ones for what routers change: of IPv4 the type of service, time to live and checksum; of
    /// IPv6 traffic class, flow label and hop limit.
    fn add_ip(&self, crc: &mut Hasher) {
        match *self.ip {
            [first, _, ref lengths @ ..] if first >> 4 == 4 && lengths.len() >= 10 => {
                crc.update(&[first, 0xff]);
                crc.update(&lengths[..6]);
                crc.update(&[0xff, lengths[7], 0xff, 0xff]);
                crc.update(&lengths[10..]);
            }
            [first, _, _, _, ref lengths @ ..] if first >> 4 == 6 && lengths.len() >= 4 => {
                crc.update(&[0x6f, 0xff, 0xff, 0xff]);
                crc.update(&lengths[..3]);
                crc.update(&[0xff]);
                crc.update(&lengths[4..]);
            }
            ref other => crc.update(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(packet: &[u8], ip: usize, extensions: usize) -> Covered<'_> {
        let udp = ip + extensions;
        Covered {
            ip: &packet[..ip],
            extensions: &packet[ip..udp],
            udp: packet[udp..udp + 8].try_into().expect("8"),
            transport: &packet[udp + 8..packet.len() - LEN],
        }
    }

    /// A notification that a ConnectX-4 Lx sent (SPEC section 8.3.1).
    #[test]
    fn an_adapters_icrc_is_found() {
        let packet = hex(
            "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000000000000000000000000000\
             0000000082fd002a",
        );
        assert_eq!(covered(&packet, 20, 0).icrc(Coverage::Extensions), [0x82, 0xfd, 0x00, 0x2a]);
    }

    #[test]
    fn scapys_icrc_over_ipv6_is_found() {
        let packet = hex(
            "6c0000000028114020010db800000000000000000000000220010db8000000000000000000000001c00012b700289cbf8100ffff40\
             000102000000000000000000000000000000000000000077c6fae8",
        );
        assert_eq!(covered(&packet, 40, 0).icrc(Coverage::Extensions), [0x77, 0xc6, 0xfa, 0xe8]);
    }

    /// SPEC section 4.4 gives both values for the vector `fastcnp_opt1`.
    #[test]
    fn extension_headers_count_or_do_not() {
        let packet = hex(
            "6c00000000403c4020010db8ffff0000000000000000000120010db800000000000000000000000111029e1020010db800000000\
             000000000000000201020000c00012b7002800008100ffff400001020000000000000000000000000000000000000000ff98775b",
        );
        let covered = covered(&packet, 40, 24);
        assert_eq!(covered.icrc(Coverage::Extensions), [0xff, 0x98, 0x77, 0x5b]);
        assert_eq!(covered.icrc(Coverage::SkipExtensions), [0x5f, 0x6a, 0x64, 0x66]);
    }

    #[test]
    fn what_switches_change_does_not_count() {
        let packet = hex(
            "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000000000000000000000000000\
             0000000082fd002a",
        );
        let mut changed = packet.clone();
        for at in [1, 8, 10, 11, 26, 27, 32] {
            changed[at] ^= 0x55;
        }
        assert_eq!(covered(&changed, 20, 0).icrc(Coverage::Extensions), [0x82, 0xfd, 0x00, 0x2a]);
        changed[9] ^= 1;
        assert_ne!(covered(&changed, 20, 0).icrc(Coverage::Extensions), [0x82, 0xfd, 0x00, 0x2a]);
    }

    fn hex(text: &str) -> alloc::vec::Vec<u8> {
        let digits: alloc::vec::Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit") as u8;
        digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    }
}
