// SPDX-License-Identifier: MIT OR Apache-2.0
//! The invariant CRC that ends a RoCEv2 packet (draft-xiao-rtgwg-rocev2-fast-cnp-01, figure 1), or one of RoCEv1.
//!
//! CRC-32 of Ethernet's polynomial over eight bytes of ones, which stand for InfiniBand's local header, then the
//! packet from the IP header to the payload's padding; what switches may change counts as ones. It is sent least
//! significant byte first.
//!
//! The specification knows neither telemetry that switches insert nor IPv6 extension headers:
//! [`Coverage`] is the choice.

use super::bth;
use crc32fast::Hasher;

/// Bytes of the ICRC.
pub const LEN: usize = 4;

/// Bytes of InfiniBand's global routing header, which RoCEv1 has in place of IP and UDP.
pub const GLOBAL_LEN: usize = 40;

/// The ICRC of a packet of RoCEv1 as it is sent; `transport` is all from the base transport header to the padding of the payload.
pub fn with_global(header: &[u8; GLOBAL_LEN], transport: &[u8]) -> [u8; LEN] {
    let mut crc = Hasher::new();
    crc.update(&[0xff; 8]);
    add_ip(&mut crc, header);
    add_transport(&mut crc, transport);
    crc.finalize().to_le_bytes()
}

/// Coverage of headers that the specification does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// The packet counts as it would be without telemetry: lengths, UDP port and next header are that packet's. Other
    /// extension headers count. So our senders do, and receivers remove the telemetry before they check.
    #[default]
    TelemetryFree,
    /// Everything counts as it is on the wire, telemetry and extension headers too. A
    /// switch that adds telemetry breaks such an ICRC.
    AsSent,
    /// As it is on the wire, without headers between IP and UDP: an adapter that expects UDP behind 40 bytes hashes so.
    SkipExtensions,
}

impl Coverage {
    /// All of them. For a packet with neither telemetry nor extension headers they agree.
    pub const ALL: [Coverage; 3] = [Coverage::TelemetryFree, Coverage::AsSent, Coverage::SkipExtensions];
}

/// The two headers that telemetry changes.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    /// The IPv4 header, options included, or the 40 bytes of the IPv6 header.
    pub ip: &'a [u8],
    /// The UDP header.
    pub udp: [u8; 8],
}

/// The parts of a packet that an ICRC may cover.
#[derive(Clone, Copy, Debug)]
pub struct Covered<'a> {
    /// The headers as they are on the wire.
    pub sent: Headers<'a>,
    /// The headers of the packet without telemetry.
    pub plain: Headers<'a>,
    /// Telemetry between IP and UDP header.
    pub before_udp: &'a [u8],
    /// Extension headers behind that.
    pub extensions: &'a [u8],
    /// Telemetry between UDP and base transport header.
    pub behind_udp: &'a [u8],
    /// From the base transport header to the padding of the payload.
    pub transport: &'a [u8],
}

impl Covered<'_> {
    /// The ICRC as it is sent.
    pub fn icrc(&self, coverage: Coverage) -> [u8; LEN] {
        let none: &[u8] = &[];
        let (headers, before_udp, behind_udp) = match coverage {
            Coverage::TelemetryFree => (self.plain, [none, self.extensions], none),
            Coverage::AsSent => (self.sent, [self.before_udp, self.extensions], self.behind_udp),
            Coverage::SkipExtensions => (self.sent, [none, none], self.behind_udp),
        };
        let mut crc = Hasher::new();
        crc.update(&[0xff; 8]);
        add_ip(&mut crc, headers.ip);
        before_udp.iter().for_each(|part| crc.update(part));
        let [udp @ .., _, _] = headers.udp;
        crc.update(&udp);
        crc.update(&[0xff; 2]);
        crc.update(behind_udp);
        add_transport(&mut crc, self.transport);
        crc.finalize().to_le_bytes()
    }
}

/// The IP header with ones in fields that routers change: of IPv4 the type of service, time to live and checksum; of
/// IPv6, and of a global routing header, traffic class, flow label and hop limit.
#[expect(clippy::indexing_slicing, reason = "the patterns say how many bytes there are")]
fn add_ip(crc: &mut Hasher, header: &[u8]) {
    match *header {
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

/// From the base transport header on, with ones for its congestion bits.
fn add_transport(crc: &mut Hasher, transport: &[u8]) {
    let (before, rest) = transport.split_at(bth::CONGESTION_BITS.min(transport.len()));
    crc.update(before);
    if let Some((_, behind)) = rest.split_first() {
        crc.update(&[0xff]);
        crc.update(behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32 bit by bit, least significant first, as IEEE 802.3 has it.
    fn crc32(bytes: &[u8]) -> u32 {
        let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
    }

    #[test]
    fn what_routers_change_in_a_global_routing_header_counts_as_ones() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the known check value");
        let header = |class: [u8; 4], hop_limit| -> [u8; GLOBAL_LEN] {
            let bytes = [&class[..], &[0, 16, 0x1b, hop_limit], &[1; 16], &[2; 16]].concat();
            bytes.try_into().expect("40 bytes")
        };
        let transport = |becn: u8| [0x11, 0, 0xff, 0xff, becn, 0, 0, 9, 0, 0, 0, 1];
        let covered =
            [&[0xff; 8][..], &[0x6f, 0xff, 0xff, 0xff, 0, 16, 0x1b, 0xff], &[1; 16], &[2; 16], &transport(0xff)]
                .concat();
        let icrc = crc32(&covered).to_le_bytes();
        assert_eq!(with_global(&header([0x60, 0, 0, 0], 64), &transport(0)), icrc);
        assert_eq!(with_global(&header([0x6b, 0xa1, 2, 3], 1), &transport(0x40)), icrc);
    }
}
