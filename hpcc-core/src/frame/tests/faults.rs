// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that are not as they should be, and one of each encapsulation spelt out.

use crate::frame::parse::{Content, parse};
use crate::frame::{Addresses, Dialect, Encapsulation, Fault, Layer, RoceFrame, Section, SectionLen, build};
use crate::roce::icrc::Coverage;
use crate::roce::{Bth, Opcode};
use crate::testing::{hex, vector};
use alloc::vec::Vec;

const PLAIN: RoceFrame<'static> = RoceFrame {
    dscp: 24,
    ecn: 2,
    bth: Bth { opcode: Opcode::WRITE_MIDDLE, dest_qp: 17, psn: 7, ..Bth::PLAIN },
    payload: &[0xab; 8],
    ..RoceFrame::EMPTY
};

fn built(ipv6: bool, encapsulation: Encapsulation, section: &[u8]) -> Vec<u8> {
    let telemetry = Some(Section::new(encapsulation, section).expect("a section"));
    let addresses = if ipv6 { Addresses::V6 { src: [0x11; 16], dst: [0x22; 16] } } else { PLAIN.addresses };
    build::roce(&RoceFrame { telemetry, addresses, ..PLAIN }, Coverage::default()).expect("a frame")
}

fn error(bytes: &[u8]) -> (usize, Layer, Fault) {
    let error = parse(bytes, &Dialect::default()).expect_err("a fault");
    (error.offset, error.layer, error.fault)
}

/// Sets a 16-bit field, and mends the checksum of an IPv4 header without options.
fn with(bytes: &[u8], at: usize, value: u16) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    if let Ok((header, _)) = etherparse::Ipv4Header::from_slice(&bytes[14..]) {
        bytes[24..26].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
    }
    bytes
}

/// IP (60 = 20 + 4 + 8 + 4 + 24 bytes) | IFA | UDP (32 bytes, without the metadata) | metadata | BTH.
#[test]
fn ifa_stands_on_both_sides_of_udp() {
    let bytes = built(false, Encapsulation::Ifa { protocol: 253 }, &hex("2f1104500000ff00"));
    assert_eq!((bytes[16..18].to_vec(), bytes[23]), (hex("003c"), 253));
    assert_eq!(bytes[34..38], hex("2f110450"));
    assert_eq!(bytes[38..50], hex("c00012b7002000000000ff00"));
    assert_eq!(bytes[50], Opcode::WRITE_MIDDLE.0);
}

/// 2 bytes and no hops between UDP, whose length counts them, and BTH.
#[test]
fn compact_int_stands_behind_udp() {
    let bytes = built(false, Encapsulation::Marked { mark: 1 }, &[0, 0]);
    assert_eq!((bytes[16..18].to_vec(), bytes[23]), (hex("0036"), 17));
    assert_eq!(bytes[34..44], hex("c00012b7002200000000"));
    assert_eq!(bytes[44], Opcode::WRITE_MIDDLE.0);
}

#[test]
fn a_vlan_tag_is_skipped() {
    let untagged = build::roce(&PLAIN, Coverage::default()).expect("a frame");
    let tagged = [&untagged[..12], &hex("8100600a"), &untagged[12..]].concat();
    let parsed = parse(&tagged, &Dialect::default()).expect("a frame");
    assert_eq!(parsed.vlan, Some(0x600a));
    let Content::Roce(packet) = parsed.content else { panic!("no RoCEv2") };
    assert_eq!((packet.offsets.ip, packet.frame.sport, packet.verdict()), (18, 0xc000, Some(Coverage::TelemetryFree)));
    assert_eq!(error(&tagged[..17]), (14, Layer::Vlan, Fault::Truncated));
}

#[test]
fn faults_of_ethernet_and_ip_are_named() {
    let bytes = build::roce(&PLAIN, Coverage::default()).expect("a frame");
    assert_eq!(error(&bytes[..13]), (0, Layer::Ethernet, Fault::Truncated));
    assert_eq!(error(&with(&bytes, 12, 0x0806)), (0, Layer::Ethernet, Fault::Unknown));
    let ip = |at, value| error(&with(&bytes, at, value));
    assert_eq!(ip(14, 0x6502), (14, Layer::Ip, Fault::Unknown), "version");
    assert_eq!(ip(14, 0x4402), (14, Layer::Ip, Fault::Length), "header length");
    assert_eq!(ip(16, 19), (14, Layer::Ip, Fault::Length));
    assert_eq!(ip(16, 53), (14, Layer::Ip, Fault::Truncated), "one more than there are");
    assert_eq!(ip(20, 0x2000), (14, Layer::Ip, Fault::Unexpected), "more fragments");
    assert_eq!(ip(22, 0x4006), (34, Layer::Udp, Fault::Unknown), "TCP");
    assert_eq!(ip(22, 0x4000), (34, Layer::Udp, Fault::Unknown), "hop-by-hop options over IPv4");
    let mut wrong = bytes.clone();
    wrong[24] ^= 1;
    assert_eq!(error(&wrong), (14, Layer::Ip, Fault::Checksum));
}

#[test]
fn faults_of_udp_are_named() {
    let bytes = build::roce(&PLAIN, Coverage::default()).expect("a frame");
    for length in [0, 7, 31, 33, 0xffff] {
        assert_eq!(error(&with(&bytes, 38, length)), (34, Layer::Udp, Fault::Length), "{length}");
    }
    assert_eq!(error(&with(&bytes, 36, 53)), (34, Layer::Udp, Fault::Unknown));
    assert_eq!(error(&with(&bytes, 40, 0x1234)), (34, Layer::Udp, Fault::Checksum));
    assert_eq!(error(&with(&bytes, 16, 27)), (34, Layer::Udp, Fault::Truncated));
}

#[test]
fn faults_of_infinibands_headers_are_named() {
    let short = |ip_length: u16| error(&with(&with(&vector("roce_rc_ack_v4"), 38, ip_length - 20), 16, ip_length));
    assert_eq!(short(28 + 3), (42, Layer::Icrc, Fault::Truncated));
    assert_eq!(short(28 + 15), (42, Layer::BaseTransport, Fault::Truncated));
    assert_eq!(short(28 + 19), (54, Layer::ExtendedTransport, Fault::Truncated));
    let data = build::roce(&RoceFrame { payload: &[], ..PLAIN }, Coverage::default()).expect("a frame");
    assert_eq!(error(&with(&data, 42, 0x0710)), (54, Layer::Payload, Fault::Length), "padding without payload");
    assert_eq!(error(&with(&data, 42, 0x8100)), (54, Layer::Payload, Fault::Length), "REQ-33: 16 reserved bytes");
    let odd = with(&with(&vector("roce_rc_send_only_v4"), 38, 35), 16, 55);
    assert_eq!(error(&odd), (54, Layer::Payload, Fault::Length), "no multiple of 4");
}

#[test]
fn faults_of_telemetry_are_named() {
    let compact = built(false, Encapsulation::Marked { mark: 1 }, &[0x00, 0]);
    assert_eq!(error(&with(&compact, 42, 0xf000)), (42, Layer::Telemetry, Fault::Truncated), "15 hops");
    let ifa = built(false, Encapsulation::Ifa { protocol: 253 }, &hex("2f1104500000ff00"));
    assert_eq!(error(&with(&ifa, 48, 0xff01)), (38, Layer::Udp, Fault::Length), "one word more than IP counts");
    assert_eq!(error(&with(&ifa, 36, 0x0850)), (46, Layer::Telemetry, Fault::Unexpected), "tail stamp");
    assert_eq!(error(&with(&ifa, 14, 0x4504)), (46, Layer::Telemetry, Fault::Unexpected), "two sections");
    assert_eq!(error(&with(&ifa, 34, 0x2f06)), (38, Layer::Udp, Fault::Unknown), "TCP");
    let ioam = built(true, Encapsulation::HopByHop, &hex("1100010431000000"));
    assert_eq!(error(&with(&ioam, 54, 0x11ff)), (54, Layer::HopByHop, Fault::Truncated));
    assert_eq!(error(&with(&ioam, 54, 0x3c00)), (70, Layer::Udp, Fault::Unknown), "UDP taken for options");
}

#[test]
fn the_dialect_says_what_means_telemetry() {
    let bytes = built(false, Encapsulation::BehindUdp { port: 4_000 }, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(error(&bytes), (34, Layer::Udp, Fault::Unknown));
    let dialect = Dialect { ports: &[(4_000, SectionLen::Fixed(8))], ..Dialect::default() };
    let Content::Roce(packet) = parse(&bytes, &dialect).expect("a frame").content else { panic!("no RoCEv2") };
    assert_eq!(packet.frame.telemetry.expect("telemetry").to_vec(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(packet.verdict(), Some(Coverage::TelemetryFree));
    let other = built(false, Encapsulation::Ifa { protocol: 131 }, &hex("2f1104500000ff00"));
    assert_eq!(error(&other), (34, Layer::Udp, Fault::Unknown));
    assert!(parse(&other, &Dialect { ifa_protocol: 131, ..Dialect::default() }).is_ok());
}

#[test]
fn other_mac_control_frames_are_named() {
    let pause = vector("pfc_c3_max");
    assert_eq!(error(&with(&pause, 14, 1)), (14, Layer::Pfc, Fault::Unknown));
    assert_eq!(error(&pause[..33]), (14, Layer::Pfc, Fault::Truncated));
}
