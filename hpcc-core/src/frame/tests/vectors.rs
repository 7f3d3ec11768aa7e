// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that hardware, the Linux kernel or scapy made: read, and built again.

use crate::frame::parse::{Content, Parsed, parse};
use crate::frame::{
    Addresses, Dialect, Encapsulation, Extension, Fault, Layer, ParseError, RoceFrame, RocePacket, SectionLen, build,
};
use crate::pfc::Pfc;
use crate::roce::icrc::Coverage;
use crate::roce::{Bth, CNP_RESERVED};
use crate::testing::{entry, hex, vector};
use alloc::vec::Vec;

/// Of the capture with INT-MD.
const INT_PORT: u16 = 5_000;

fn dialect() -> Dialect<'static> {
    Dialect { ports: &[(INT_PORT, SectionLen::IntMd)], ..Dialect::default() }
}

fn read(bytes: &[u8]) -> RocePacket<'_> {
    match parse(bytes, &dialect()).expect("a frame") {
        Parsed { vlan: None, content: Content::Roce(packet) } => packet,
        other => panic!("{other:?}"),
    }
}

const ROCE: [&str; 8] = [
    "roce_cnp_cx4lx",
    "roce_uc_send_only",
    "roce_cnp_ipv6",
    "roce_cnp_ipv4",
    "roce_rc_send_only_v4",
    "roce_rc_ack_v4",
    "fastcnp_opt1",
    "fastcnp_opt2",
];

const IOAM: [&str; 8] = [
    "ioam_linux_0xf22000_after_hop1",
    "ioam_linux_0xf22000_after_hop2",
    "ioam_linux_0x960000_after_hop1",
    "ioam_linux_0x960000_after_hop2",
    "ioam_linux_0xd20000_after_hop1",
    "ioam_linux_0x900002_after_hop1",
    "ioam_linux_0x900002_after_hop2",
    "ioam_linux_0xf22000_qdepth",
];

#[test]
fn req_33_published_fields_are_read() {
    for name in ROCE {
        let bytes = vector(name);
        let packet = read(&bytes);
        let RoceFrame { bth, dscp, ecn, .. } = packet.frame;
        let Bth { opcode, dest_qp, psn, pad_count, .. } = bth;
        let (syndrome, msn) = if let Extension::Aeth(aeth) = packet.frame.extension {
            (aeth.syndrome.byte(), aeth.msn)
        } else {
            Default::default()
        };
        for (field, value) in entry(name)["expect"].as_object().expect("fields") {
            let found = match field.as_str() {
                "opcode" => u32::from(opcode.0),
                "destqp" => dest_qp,
                "psn" => psn,
                "padcnt" => u32::from(pad_count),
                "becn" => u32::from(bth.becn),
                "fecn" => u32::from(bth.fecn),
                "migreq" => u32::from(bth.migrated),
                "ackreq" => u32::from(bth.ack_requested),
                "tos" => u32::from(dscp << 2 | ecn),
                "aeth_syndrome" => u32::from(syndrome),
                "msn" => msn,
                "icrc_wire" => {
                    assert_eq!(packet.icrc[..], hex(value.as_str().expect("digits")), "{name}");
                    continue;
                }
                other => panic!("{name}: {other}"),
            };
            assert_eq!(Some(u64::from(found)), value.as_u64(), "{name}: {field}");
        }
    }
}

/// The adapter's notification: no source port, no UDP checksum, ECT(0) and DSCP 48; 40 bytes of UDP.
#[test]
fn req_33_an_adapters_notification_is_read_to_the_last_field() {
    let bytes = vector("roce_cnp_cx4lx");
    let packet = read(&bytes);
    let expected = RoceFrame {
        src_mac: [0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32],
        dst_mac: [0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2],
        addresses: Addresses::V4 { src: [10, 0, 17, 1], dst: [10, 0, 18, 1] },
        dscp: 48,
        ecn: 2,
        identification: 0x718c,
        sport: 0,
        bth: Bth::cnp(0x118),
        payload: &[0; CNP_RESERVED],
        ..RoceFrame::EMPTY
    };
    assert_eq!(packet.frame, expected);
    let offsets = packet.offsets;
    assert_eq!((offsets.ip, offsets.udp, offsets.base_transport), (14, 34, 42));
    assert_eq!((offsets.payload, offsets.icrc), (54, 70));
}

#[test]
fn req_33_frames_of_an_adapter_and_of_scapy_are_built_again_byte_for_byte() {
    for name in ROCE {
        let bytes = vector(name);
        let packet = read(&bytes);
        assert_eq!(packet.verdict(), Some(Coverage::TelemetryFree), "{name}");
        assert_eq!(build::roce(&packet.frame, Coverage::default()), Ok(bytes.clone()), "{name}");
    }
}

/// The ICRC of `fastcnp_opt1` without its options, computed by another program.
#[test]
fn a_fast_notification_may_skip_its_options_in_the_icrc() {
    let mut bytes = vector("fastcnp_opt1");
    let packet = read(&bytes);
    assert_eq!(packet.frame.destination_options, hex("11029e1020010db800000000000000000000000201020000"));
    assert_eq!(packet.expected_icrc(Coverage::AsSent), [0xff, 0x98, 0x77, 0x5b]);
    assert_eq!(packet.expected_icrc(Coverage::SkipExtensions), [0x5f, 0x6a, 0x64, 0x66]);
    let skipped = build::roce(&packet.frame, Coverage::SkipExtensions).expect("a frame");
    let icrc = bytes.len() - 4;
    bytes[icrc..].copy_from_slice(&[0x5f, 0x6a, 0x64, 0x66]);
    assert_eq!(skipped, bytes);
    assert_eq!(read(&skipped).verdict(), Some(Coverage::SkipExtensions));
}

/// Their senders put no ICRC there: it is wrong under every policy, and all else is built again.
#[test]
fn frames_that_the_kernel_stamped_are_read_and_built_again() {
    for name in IOAM {
        let bytes = vector(name);
        let packet = read(&bytes);
        let section = packet.frame.telemetry.expect("telemetry");
        assert_eq!(section.encapsulation(), Encapsulation::HopByHop, "{name}");
        assert_eq!(section.to_vec(), bytes[54..packet.offsets.udp], "{name}");
        assert_eq!((packet.frame.bth.dest_qp, packet.frame.bth.psn), (17, 0x12_3456), "{name}");
        assert!(packet.frame.udp_checksum, "{name}");
        assert_eq!(packet.verdict(), None, "{name}");
        let rebuilt = build::roce(&packet.frame, Coverage::default()).expect("a frame");
        let checksum = packet.offsets.udp + 6..packet.offsets.base_transport;
        assert_eq!(differences(&rebuilt, &bytes, &[checksum, packet.offsets.icrc..bytes.len()]), [0usize; 0], "{name}");
    }
}

/// It has no ICRC, and may be fragmented, unlike ours.
#[test]
fn int_md_behind_udp_is_read_and_built_again() {
    let bytes = vector("int_md_udp_example");
    let packet = read(&bytes);
    let section = packet.frame.telemetry.expect("telemetry");
    assert_eq!(section.encapsulation(), Encapsulation::BehindUdp { port: INT_PORT });
    assert_eq!(section.to_vec(), hex("140712b720000206900000000000000000000002030004000000000102000100"));
    assert_eq!((packet.offsets.base_transport, packet.frame.payload), (42 + 32, &[0, 1, 2, 3][..]));
    assert_eq!(packet.verdict(), None);
    let rebuilt = build::roce(&packet.frame, Coverage::default()).expect("a frame");
    let masked = [20..21, 24..26, packet.offsets.icrc..bytes.len()];
    assert_eq!(differences(&rebuilt, &bytes, &masked), [0usize; 0]);
    let unknown = ParseError { offset: 34, layer: Layer::Udp, fault: Fault::Unknown };
    assert_eq!(parse(&bytes, &Dialect::default()), Err(unknown), "its port is not ours");
}

#[test]
fn a_pause_is_read_and_built_again() {
    let bytes = vector("pfc_c3_max");
    let content = Content::Pfc { src_mac: [2, 0, 0, 0, 0, 1], pfc: Pfc::of(3, 0xffff) };
    assert_eq!(parse(&bytes, &dialect()), Ok(Parsed { vlan: None, content }));
    assert_eq!(build::pfc([2, 0, 0, 0, 0, 1], &Pfc::of(3, 0xffff)), bytes);
}

/// Offsets at which two frames differ outside some ranges.
fn differences(one: &[u8], other: &[u8], masked: &[core::ops::Range<usize>]) -> Vec<usize> {
    assert_eq!(one.len(), other.len());
    let outside = |at: &usize| !masked.iter().any(|range| range.contains(at));
    (0..one.len()).filter(outside).filter(|&at| one[at] != other[at]).collect()
}
