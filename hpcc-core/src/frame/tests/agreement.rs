// SPDX-License-Identifier: MIT OR Apache-2.0
//! What [`crate::frame::build`] writes, [`crate::frame::parse`] reads, in every encapsulation.

use crate::frame::parse::{Content, Parsed, parse};
use crate::frame::{
    Addresses, Dialect, Encapsulation, Extension, IFA_PROTOCOL, INT_MARK, RoceFrame, RocePacket, Section,
};
use crate::frame::{TELEMETRY_MARK, build, protocol};
use crate::pfc::Pfc;
use crate::roce::icrc::Coverage;
use crate::roce::{Aeth, Bth, CNP_RESERVED, Deth, Opcode, Reth, Syndrome};
use crate::telemetry::encapsulation::CSIG_ETHER_TYPES;
use crate::wire::WireProfile;
use alloc::vec::Vec;
use proptest::prelude::*;

/// The Ethernet check sequence, which links carry and captures leave out.
const FCS: usize = 4;

/// What a [`RoceFrame`] borrows.
#[derive(Clone, Debug)]
struct Owned {
    frame: RoceFrame<'static>,
    telemetry: Option<(Encapsulation, Vec<u8>)>,
    options: Vec<u8>,
    payload: Vec<u8>,
}

impl Owned {
    fn frame(&self) -> RoceFrame<'_> {
        let section = |(encapsulation, bytes)| Section::new(encapsulation, bytes).expect("a section");
        RoceFrame {
            telemetry: self.telemetry.as_ref().map(|(encapsulation, bytes)| section((*encapsulation, bytes))),
            destination_options: &self.options,
            payload: &self.payload,
            ..self.frame
        }
    }
}

fn addresses() -> impl Strategy<Value = Addresses> {
    prop_oneof![
        any::<([u8; 4], [u8; 4])>().prop_map(|(src, dst)| Addresses::V4 { src, dst }),
        any::<([u8; 16], [u8; 16])>().prop_map(|(src, dst)| Addresses::V6 { src, dst }),
    ]
}

/// An opcode and what follows it.
fn transport() -> impl Strategy<Value = (Opcode, Extension)> {
    let psn = 0..1u32 << 24;
    prop_oneof![
        Just((Opcode::WRITE_MIDDLE, Extension::None)),
        Just((Opcode::CNP, Extension::None)),
        any::<(u64, u32, u32)>().prop_map(|(address, rkey, length)| {
            (Opcode::WRITE_FIRST, Extension::Reth(Reth { address, rkey, length }))
        }),
        (any::<u8>(), psn.clone()).prop_map(|(syndrome, msn)| {
            (Opcode::ACKNOWLEDGE, Extension::Aeth(Aeth { syndrome: Syndrome::from_byte(syndrome), msn }))
        }),
        (any::<u32>(), psn).prop_map(|(qkey, src_qp)| (Opcode(0x64), Extension::Deth(Deth { qkey, src_qp }))),
    ]
}

fn bth() -> impl Strategy<Value = Bth> {
    let numbers = (0..1u32 << 24, 0..1u32 << 24, 0..16u8);
    (any::<[bool; 5]>(), any::<u16>(), numbers).prop_map(|(flags, pkey, (dest_qp, psn, version))| {
        let [solicited, migrated, fecn, becn, ack_requested] = flags;
        Bth { solicited, migrated, version, pkey, fecn, becn, dest_qp, ack_requested, psn, ..Bth::default() }
    })
}

/// `units` times 8 bytes whose first byte names a header and whose second counts the units.
fn extension_header(next: u8, units: u8, filling: u8) -> Vec<u8> {
    let mut header = alloc::vec![filling; 8 * usize::from(units.max(1))];
    (header[0], header[1]) = (next, units.max(1) - 1);
    header
}

/// A section as the codecs write them, with `hops` hops.
fn section(encapsulation: Encapsulation, next: u8, hops: u8, filling: u8) -> Vec<u8> {
    let mut bytes = match encapsulation {
        Encapsulation::Marked { mark: INT_MARK } => {
            [&[0x10, 3 + 7 * hops, 0, filling << 2][..], &[filling; 12]].concat()
        }
        Encapsulation::Marked { .. } | Encapsulation::BehindUdp { .. } => {
            alloc::vec![hops << 4 | filling & 0xf, filling]
        }
        Encapsulation::HopByHop => return extension_header(next, 2 + 3 * hops, filling),
        Encapsulation::Tag { ether_type } => {
            return [&ether_type.to_be_bytes()[..], &[filling; 6]].concat();
        }
        Encapsulation::Ifa { .. } => {
            let optional = [filling; 8];
            let (flags, len) = [(0x04, 0), (0x05, 4), (0x15, 8)][usize::from(filling % 3)];
            [&[0x2f, next, flags, 0xff][..], &optional[..len], &[0, 0, 0xff, 8 * hops]].concat()
        }
    };
    let hop = match encapsulation {
        Encapsulation::Marked { mark: INT_MARK } => 28,
        Encapsulation::Ifa { .. } => 32,
        Encapsulation::BehindUdp { .. }
        | Encapsulation::Marked { .. }
        | Encapsulation::Tag { .. }
        | Encapsulation::HopByHop => 8,
    };
    bytes.resize(bytes.len() + hop * usize::from(hops), filling);
    bytes
}

const ENCAPSULATIONS: [Option<Encapsulation>; 6] = [
    None,
    Some(Encapsulation::Marked { mark: TELEMETRY_MARK }),
    Some(Encapsulation::Marked { mark: INT_MARK }),
    Some(Encapsulation::Ifa { protocol: IFA_PROTOCOL }),
    Some(Encapsulation::Tag { ether_type: CSIG_ETHER_TYPES[1] }),
    Some(Encapsulation::HopByHop),
];

fn owned() -> impl Strategy<Value = Owned> {
    let envelope =
        (any::<([u8; 6], [u8; 6], u8, u16, u16, bool)>(), addresses(), (0..8u8).prop_map(|class| class << 3), 0..4u8);
    let telemetry = (0..ENCAPSULATIONS.len(), 0..=15u8, any::<u8>(), any::<bool>());
    let payload = proptest::collection::vec(any::<u8>(), 0..64);
    (envelope, transport(), bth(), telemetry, payload).prop_map(
        |(
            (rest, addresses, dscp, ecn),
            (opcode, extension),
            bth,
            (encapsulation, hops, filling, with_options),
            payload,
        )| {
            let (src_mac, dst_mac, hop_limit, identification, sport, udp_checksum) = rest;
            let ipv6 = matches!(addresses, Addresses::V6 { .. });
            let hops = if ENCAPSULATIONS[encapsulation] == Some(Encapsulation::Ifa { protocol: IFA_PROTOCOL }) {
                hops % 8
            } else {
                hops
            };
            let encapsulation =
                ENCAPSULATIONS[encapsulation].filter(|&encapsulation| ipv6 || encapsulation != Encapsulation::HopByHop);
            let options =
                if with_options && ipv6 { extension_header(protocol::UDP, hops, filling) } else { Vec::new() };
            let next = if options.is_empty() { protocol::UDP } else { protocol::DESTINATION_OPTIONS };
            let payload = if opcode == Opcode::CNP { alloc::vec![0; CNP_RESERVED] } else { payload };
            let frame = RoceFrame {
                src_mac,
                dst_mac,
                addresses,
                dscp,
                ecn,
                hop_limit,
                identification: if ipv6 { 0 } else { identification },
                sport,
                udp_checksum,
                bth: Bth { opcode, ..bth },
                extension,
                ..RoceFrame::EMPTY
            };
            let telemetry =
                encapsulation.map(|encapsulation| (encapsulation, section(encapsulation, next, hops, filling)));
            Owned { frame, telemetry, options, payload }
        },
    )
}

fn read(bytes: &[u8]) -> RocePacket<'_> {
    match parse(bytes, &Dialect::default()) {
        Ok(Parsed { content: Content::Roce(packet), .. }) => packet,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_built_reads_as_it_was_described(owned in owned(), coverage in 0..3usize) {
        let (frame, coverage) = (owned.frame(), Coverage::ALL[coverage]);
        let bytes = build::roce(&frame, coverage).expect("a frame");
        let packet = read(&bytes);
        let bth = Bth { pad_count: packet.frame.bth.pad_count, ..frame.bth };
        prop_assert_eq!(packet.frame, RoceFrame { bth, ..frame });
        prop_assert_eq!((owned.payload.len() + usize::from(bth.pad_count)) % 4, 0);
        prop_assert_eq!(packet.expected_icrc(coverage), packet.icrc);
        prop_assert!(packet.verdict().is_some());
        prop_assert_eq!(build::roce(&packet.frame, coverage), Ok(bytes.clone()));
    }

    #[test]
    fn the_icrc_is_that_of_the_packet_without_telemetry(owned in owned()) {
        let (with, without) = (owned.frame(), RoceFrame { telemetry: None, ..owned.frame() });
        let with = build::roce(&with, Coverage::TelemetryFree).expect("a frame");
        let without = build::roce(&without, Coverage::AsSent).expect("a frame");
        prop_assert_eq!(read(&with).icrc, read(&without).icrc);
        prop_assert_eq!(read(&with).verdict(), Some(Coverage::TelemetryFree));
    }

    /// Against the bytes of the frame in one piece, or two.
    #[test]
    fn the_other_icrcs_are_those_of_the_bytes_as_sent(owned in owned()) {
        let bytes = build::roce(&owned.frame(), Coverage::default()).expect("a frame");
        let packet = read(&bytes);
        let offsets = packet.offsets;
        let (ip_len, masked_ip) = match owned.frame.addresses {
            Addresses::V4 { .. } => (20, &[1, 8, 10, 11][..]),
            Addresses::V6 { .. } => (40, &[1, 2, 3, 7][..]),
        };
        let mut masked = bytes.clone();
        let udp_checksum = [offsets.udp + 6, offsets.udp + 7];
        let masked_ip = masked_ip.iter().map(|at| offsets.ip + at);
        for at in masked_ip.chain(udp_checksum).chain([offsets.base_transport + 4]) {
            masked[at] = 0xff;
        }
        if ip_len == 40 {
            masked[offsets.ip] = 0x6f;
        }
        let crc = |parts: &[&[u8]]| crc32fast::hash(&[&[0xff; 8][..], &parts.concat()].concat()).to_le_bytes();
        let (ip, udp) = (offsets.ip..offsets.ip + ip_len, offsets.udp..offsets.icrc);
        prop_assert_eq!(packet.expected_icrc(Coverage::AsSent), crc(&[&masked[offsets.ip..offsets.icrc]]));
        prop_assert_eq!(packet.expected_icrc(Coverage::SkipExtensions), crc(&[&masked[ip], &masked[udp]]));
    }

    #[test]
    fn one_wrong_bit_breaks_the_icrc(owned in owned(), at in any::<prop::sample::Index>(), bit in 0..8u32) {
        let mut frame = owned.frame();
        frame.udp_checksum = false;
        let mut bytes = build::roce(&frame, Coverage::default()).expect("a frame");
        let first = read(&bytes).offsets.base_transport;
        let at = first + at.index(bytes.len() - first);
        prop_assume!(at != first + crate::roce::bth::CONGESTION_BITS);
        bytes[at] ^= 1 << bit;
        if let Ok(Parsed { content: Content::Roce(packet), .. }) = parse(&bytes, &Dialect::default()) {
            prop_assert_ne!(packet.expected_icrc(Coverage::default()), packet.icrc);
        }
    }

    #[test]
    fn a_frame_that_was_cut_short_is_refused(owned in owned(), at in any::<prop::sample::Index>()) {
        let bytes = build::roce(&owned.frame(), Coverage::default()).expect("a frame");
        let len = at.index(bytes.len());
        let error = parse(&bytes[..len], &Dialect::default()).expect_err("cut short");
        prop_assert!(error.offset <= len);
    }

    #[test]
    fn ethernet_padding_does_not_count(owned in owned(), padding in 0..8usize) {
        let mut bytes = build::roce(&owned.frame(), Coverage::default()).expect("a frame");
        let len = bytes.len();
        bytes.resize(len + padding, 0);
        prop_assert_eq!(parse(&bytes, &Dialect::default()), parse(&bytes[..len], &Dialect::default()));
    }

    #[test]
    fn pauses_read_as_they_were_described(pause in any::<[Option<u16>; 8]>(), src_mac in any::<[u8; 6]>()) {
        let bytes = build::pfc(src_mac, &Pfc { pause });
        prop_assert_eq!(bytes.len() + FCS, WireProfile::RoceV4.sizes().pfc as usize);
        let content = Content::Pfc { src_mac, pfc: Pfc { pause } };
        prop_assert_eq!(parse(&bytes, &Dialect::default()), Ok(Parsed { vlan: None, content }));
    }
}
