// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a data packet that meets congestion to the sender's reaction, through bytes.

use super::option::MAX_HEADER;
use super::{
    Acceptor, AcceptorConfig, Address, Capability, Decision, Departure, Flow, Generator, GeneratorConfig, OptionTypes,
    Received, Trigger, packet,
};
use crate::address::AddressSet;
use crate::cc::testing::{LIMITS, ack, rng};
use crate::cc::{CongestionControl, Feedback, HpccPlus, HpccPlusConfig, Notification, Origin, RateDecision};
use crate::frame::parse::{Content, parse};
use crate::frame::{Addresses, Dialect, Encapsulation, RoceFrame, RocePacket, Section, build};
use crate::roce::icrc::Coverage;
use crate::roce::{Bth, Opcode};
use crate::telemetry::{Codec, HopStack, Ioam, Layout, MAX_SECTION, Profile, Snapshot, Telemetry};
use crate::units::Nanos;
use alloc::vec::Vec;

/// 2001:db8::1, to which the vectors' notifications go.
pub const SENDER: Address = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
/// 2001:db8::2, to which the data packet went.
pub const RECEIVER: Address = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
/// 2001:db8:ffff::1, from which they come.
pub const LOOPBACK: Address = [0x20, 1, 0x0d, 0xb8, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
/// The flow that the vectors are about.
pub const FLOW: Flow = Flow { source: SENDER, destination: RECEIVER, dest_qp: 0x102 };
/// A data packet of that flow, as the switch received it.
pub const DATA: RoceFrame<'static> = RoceFrame {
    src_mac: [2, 0, 0, 0, 0, 2],
    dst_mac: [2, 0, 0, 0, 0, 1],
    addresses: Addresses::V6 { src: SENDER, dst: RECEIVER },
    dscp: 24,
    ecn: 1,
    hop_limit: 63,
    bth: Bth { opcode: Opcode::WRITE_MIDDLE, migrated: true, dest_qp: 0x102, psn: 77, ..Bth::PLAIN },
    zeros: 1_024,
    ..RoceFrame::EMPTY
};

const TRACE: Ioam = Ioam { profile: Profile::Full, hops: 5 };

/// The hop-by-hop header of a packet that left the first `hops` of two switches at `now`; the second has `qlen` bytes
/// behind it. Both send at line rate.
fn section(hops: u32, now: u64, qlen: u64) -> Vec<u8> {
    let mut section = [0; MAX_SECTION];
    let len = Layout::new(TRACE).prepare(&mut section, Nanos(now));
    for switch_id in 1..=hops {
        let qlen = if switch_id == 2 { qlen } else { 0 };
        let at = Snapshot { switch_id, now: Nanos(now), tx_bytes: now * 100 / 8, qlen, ..Snapshot::IDLE };
        assert_eq!(TRACE.stamp(&mut section, len, &at), len);
    }
    section[..len].to_vec()
}

fn read(bytes: &[u8]) -> RocePacket<'_> {
    let content = parse(bytes, &Dialect::default()).expect("a frame").content;
    let Content::Roce(packet) = content else { panic!("{content:?}") };
    packet
}

/// The notification of switch number `hops` about a packet with these records.
fn notification(section: &[u8]) -> Vec<u8> {
    let telemetry = Some(Section::new(Encapsulation::HopByHop, section).expect("a whole header"));
    let data = build::roce(&RoceFrame { telemetry, ..DATA }, Coverage::default()).expect("a frame");
    let mut room = [0; MAX_HEADER];
    let frame = packet::by_switch(&read(&data).frame, LOOPBACK, &OptionTypes::default(), &mut room);
    build::roce(&frame.expect("over IPv6"), Coverage::default()).expect("a frame")
}

fn acceptor() -> Acceptor {
    let sources = AddressSet::from_iter([LOOPBACK]);
    let mut acceptor = Acceptor::new(AcceptorConfig { enabled: true, sources, ..AcceptorConfig::default() });
    acceptor.connect(RECEIVER, FLOW.dest_qp, 5);
    acceptor
}

fn received<'a>(now: u64, packet: &RocePacket<'a>) -> Received<'a> {
    let Addresses::V6 { src: source, .. } = packet.frame.addresses else { panic!("IPv4") };
    Received {
        now: Nanos(now),
        source,
        destination_options: packet.frame.destination_options,
        bth: packet.frame.bth,
        icrc_is_right: packet.expected_icrc(Coverage::default()) == packet.icrc,
    }
}

/// A queue of two bandwidth-delay products at the second switch of three: U = 3, so 162 500 bytes of window become
/// 51 458 and W_ai, without an acknowledgement.
#[test]
fn req_44_the_flow_that_met_congestion_slows_down_at_once() {
    const T: u64 = 13_000;
    let bdp = 162_500;
    let mut generator = Generator::new(GeneratorConfig {
        enabled: true,
        trigger: Trigger::Utilisation(1.0),
        domain: AddressSet::from_iter([SENDER]),
        ..GeneratorConfig::default()
    });
    let departure = Departure {
        now: Nanos(T),
        flow: FLOW,
        opcode: DATA.bth.opcode,
        queue: 2 * bdp,
        utilisation: 3.0,
        marked: false,
        capability: Capability::Capable,
    };
    assert_eq!(generator.on_departure(&departure, || 0.0).decision, Decision::Send);

    let mut flow = HpccPlus::new(HpccPlusConfig::default(), LIMITS);
    let mut stack = HopStack::default();
    TRACE.read(&section(3, 0, 2 * bdp), &mut stack).expect("three hops");
    let first = Feedback { telemetry: Telemetry::Hops(&stack), ..ack(2_000, 1_000, 100_000) };
    assert_eq!(flow.on_feedback(&first, &mut rng()), RateDecision::Keep);

    let bytes = notification(&section(2, T, 2 * bdp));
    let mut acceptor = acceptor();
    let accepted = acceptor.on_notification(&received(T + 500, &read(&bytes))).expect("accepted");
    assert_eq!((accepted.queue_pair, accepted.origin), (5, Origin::Network(LOOPBACK)));
    let telemetry = accepted.trace.expect("option 2").telemetry(TRACE.profile, &mut stack);
    let notification = Notification { now: Nanos(T + 500), age: Nanos(T + 500), telemetry, origin: accepted.origin };
    let Ok(RateDecision::Window { bytes, .. }) = flow.on_notification(&notification) else { panic!("no window") };
    assert_eq!(bytes, (162_500.0 / (3.0 / 0.95) + 81.25) as u64);
    assert_eq!(flow.window().reference(), 162_500.0);
}

/// A trace that says it is not whole, or is another deployment's, tells no load.
#[test]
fn records_that_cannot_be_used_are_none() {
    let header = section(2, 7, 9);
    let mut stack = HopStack::default();
    let mut hears = |at: usize, bit: u8| {
        let mut changed = header.clone();
        changed[at] ^= bit;
        let bytes = notification(&changed);
        let accepted = acceptor().on_notification(&received(0, &read(&bytes))).expect("accepted").trace;
        matches!(accepted.expect("option 2").telemetry(TRACE.profile, &mut stack), Telemetry::Hops(_))
    };
    assert!(hears(8, 0));
    assert!(!hears(8, 1), "another namespace");
    assert!(!hears(10, 4), "overflow");
}
