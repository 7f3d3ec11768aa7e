// SPDX-License-Identifier: GPL-2.0-only
//! Linux kernels as IOAM transit nodes fill the traces that we send, and do to them what we would have done.

use crate::namespaces::{Chain, FIRST_MAC, Identity, SENDER, SENDER_MAC, SINK, wide};
use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{Addresses, Dialect, Encapsulation, Extension, RoceFrame, Section, build};
use hpcc_core::roce::icrc::Coverage;
use hpcc_core::roce::{Bth, Opcode};
use hpcc_core::telemetry::ioam::hpcc::{Ioam, NAMESPACE, Profile};
use hpcc_core::telemetry::ioam::node::{Node, Snapshot};
use hpcc_core::telemetry::ioam::trace::{Header, LEN, Trace};
use hpcc_core::telemetry::ioam::trace_type::TraceType;
use hpcc_core::telemetry::ioam::transit::{Outcome, preallocated};
use hpcc_core::telemetry::{Codec, HopStack, Layout};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_tests::skipped;
use std::net::Ipv6Addr;
use std::time::{SystemTime, UNIX_EPOCH};

/// Links of 100 Gb/s in the data that HPCC's profiles define: 4 bits speed, then bytes or units of 128 bytes.
const SPEED: u64 = 4;
const TX_BYTES: [u64; 2] = [1_280_000, 256_000];
const SCHEMA: u32 = 0xabc;
const STATE: &str = "12345678";
/// The first node has a snapshot to add, the second has not.
const IDENTITIES: [Identity; 2] = [
    Identity { snapshot: Some((SCHEMA, STATE)), ..identity(0xa1_b2c3, 0x1234, TX_BYTES[0]) },
    identity(0x00_0042, 0x0021, TX_BYTES[1]),
];
/// Where the trace is in a section.
const TRACE: usize = 8;

const fn identity(node: u32, ingress: u16, tx_bytes: u64) -> Identity {
    Identity {
        node,
        ingress,
        egress: ingress + 1,
        data: ((SPEED << 28) | (tx_bytes / 128)) as u32,
        wide_data: (SPEED << 60) | tx_bytes,
        snapshot: None,
    }
}

/// A trace to send and what the two nodes should do with it.
struct Sent {
    section: Vec<u8>,
    outcomes: [Outcome; 2],
}

/// All of them. They are told apart by their UDP source port.
fn all() -> Vec<Sent> {
    use Outcome::{Overflow, Recorded, Untouched};
    let of = |profile, hops| {
        let mut section = vec![0; 256];
        let len = Layout::new(Ioam { profile, hops }).prepare(&mut section, Nanos(0));
        section.truncate(len);
        section
    };
    let snapshots = Header { node_length: 2, remaining: 8, trace_type: TraceType(0x90_0002), ..Header::default() };
    let header = Header { namespace: NAMESPACE, ..snapshots };
    // Short and wide ids in one trace.
    let both = Header { node_length: 7, remaining: 14, trace_type: TraceType(0xd0_c000), ..header };
    vec![
        Sent { section: of(Profile::Full, 3), outcomes: [Recorded; 2] },
        Sent { section: of(Profile::Slim, 3), outcomes: [Recorded; 2] },
        Sent { section: of(Profile::Full, 1), outcomes: [Recorded, Overflow] },
        Sent { section: section(header), outcomes: [Recorded; 2] },
        Sent { section: section(Header { namespace: NAMESPACE + 1, ..header }), outcomes: [Untouched; 2] },
        Sent { section: section(both), outcomes: [Recorded; 2] },
    ]
}

/// A hop-by-hop header that an empty trace fills.
fn section(header: Header) -> Vec<u8> {
    let room = 4 * header.remaining;
    let mut section = vec![17, (TRACE + LEN) as u8 / 8 + room / 8 - 1, 1, 0, 0x31, 2 + LEN as u8 + room, 0, 0];
    section.extend(header.emit());
    section.resize(section.len() + usize::from(room), 0);
    section
}

fn frame(sport: u16, section: &[u8]) -> Vec<u8> {
    let octets = |address: &str| address.parse::<Ipv6Addr>().expect("an address").octets();
    let frame = RoceFrame {
        src_mac: SENDER_MAC,
        dst_mac: FIRST_MAC,
        addresses: Addresses::V6 { src: octets(SENDER), dst: octets(SINK) },
        dscp: 24,
        ecn: 2,
        hop_limit: 64,
        identification: 0,
        sport,
        udp_checksum: true,
        telemetry: Some(Section::new(Encapsulation::HopByHop, section).expect("a header")),
        destination_options: &[],
        bth: Bth { opcode: Opcode::WRITE_MIDDLE, dest_qp: 7, psn: sport.into(), ..Bth::default() },
        extension: Extension::None,
        payload: &[],
        zeros: 100,
    };
    build::roce(&frame, Coverage::default()).expect("a frame")
}

#[test]
fn linux_kernels_fill_our_traces_as_we_would_have() {
    let chain = match Chain::new(NAMESPACE, &IDENTITIES) {
        Ok(chain) => chain,
        Err(why) => return skipped(&format!("no namespaces with IOAM: {why}")),
    };
    let sent = all();
    let captures = [1, 2].map(|hop| chain.capture(hop, sent.len()));
    let frames: Vec<_> = (0..).zip(&sent).map(|(sport, sent)| frame(sport, &sent.section)).collect();
    chain.send(&frames);
    let [first, second] = captures.map(|capture| Sections::of(&capture.frames()));
    for (sport, sent) in (0..).zip(&sent) {
        let passed = [&sent.section, first.of_port(sport, 63), second.of_port(sport, 62)];
        for hop in 0..2 {
            judge(hop, sent.outcomes[hop], passed[hop], passed[hop + 1]);
        }
    }
    for (sport, profile) in [(0, Profile::Full), (1, Profile::Slim)] {
        algorithm_reads(profile, second.of_port(sport, 62));
    }
}

/// Source port, hop limit and section of each packet.
struct Sections(Vec<(u16, u8, Vec<u8>)>);

impl Sections {
    fn of(frames: &[Vec<u8>]) -> Sections {
        let whole = |bytes: &Vec<u8>| {
            let Content::Roce(packet) = parse(bytes, &Dialect::default()).expect("a whole frame").content else {
                panic!("{bytes:x?} is no RoCEv2 frame");
            };
            assert_eq!(packet.verdict(), Some(Coverage::TelemetryFree), "{bytes:x?}");
            let section = packet.frame.telemetry.expect("telemetry").to_vec();
            (packet.frame.sport, packet.frame.hop_limit, section)
        };
        Sections(frames.iter().map(whole).collect())
    }

    fn of_port(&self, port: u16, hop_limit: u8) -> &Vec<u8> {
        let (_, found, section) = self.0.iter().find(|(sport, ..)| *sport == port).expect("no frame is lost");
        assert_eq!(*found, hop_limit, "port {port}");
        section
    }
}

/// A kernel made `after` of `before`.
fn judge(hop: usize, outcome: Outcome, before: &[u8], after: &[u8]) {
    let trace = Trace::preallocated(&after[TRACE..]).expect("a trace");
    let newest = trace.newest_first().next();
    let node = match outcome {
        Outcome::Recorded => {
            let node = newest.expect("a node").expect("whole");
            says_what_it_was_told(hop, trace.header.trace_type, &node);
            node
        }
        // Its record does not matter.
        Outcome::Overflow | Outcome::Untouched => Node::default(),
    };
    let mut ours = before.to_vec();
    assert_eq!(preallocated(&mut ours[TRACE..], NAMESPACE, &node), outcome, "hop {hop}");
    assert_eq!(ours, after, "hop {hop}");
    assert_eq!(trace.header.flags.overflow, outcome == Outcome::Overflow);
}

fn says_what_it_was_told(hop: usize, trace_type: TraceType, node: &Node<'_>) {
    let Identity { node: id, ingress, egress, data, wide_data, snapshot } = IDENTITIES[hop];
    let hop_limit = 63 - hop as u8;
    let asked = |bit: u8| trace_type.has(bit);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    assert_eq!((node.hop_limit, node.node_id), (Some(hop_limit), Some(id)));
    assert_eq!((node.ingress, node.egress), (asked(1).then_some(ingress), asked(1).then_some(egress)));
    let wide_id = (asked(8).then_some(hop_limit), asked(8).then_some(wide(id).into()));
    assert_eq!((node.wide_hop_limit, node.wide_node_id), wide_id);
    let interfaces = (asked(9).then_some(wide(ingress.into())), asked(9).then_some(wide(egress.into())));
    assert_eq!((node.wide_ingress, node.wide_egress), interfaces);
    assert_eq!(node.seconds.is_some(), asked(2));
    assert!(node.seconds.is_none_or(|seconds| now.abs_diff(seconds.into()) < 60), "{node:?}");
    assert!(node.fraction.is_some_and(|microseconds| microseconds < 1_000_000), "{node:?}");
    assert_eq!(node.namespace_data, asked(5).then_some(data));
    assert_eq!(node.queue_depth.is_some(), asked(6));
    assert_eq!(node.wide_namespace_data, asked(10).then_some(wide_data));
    let snapshot = snapshot.map(|(schema, state)| Snapshot { schema, data: state.as_bytes() });
    assert_eq!(node.snapshot, snapshot.filter(|_| asked(22)));
}

/// HPCC's sender takes the kernels for switches.
fn algorithm_reads(profile: Profile, section: &[u8]) {
    let mut stack = HopStack::default();
    Ioam { profile, hops: 2 }.read(section, &mut stack).expect("two hops");
    let found: Vec<_> = stack.hops().iter().map(|hop| (hop.rate, hop.tx_bytes)).collect();
    assert_eq!(found, TX_BYTES.map(|bytes| (BitRate::gbps(100), bytes)), "{profile:?}");
}
