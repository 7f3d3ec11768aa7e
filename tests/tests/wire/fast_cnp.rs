// SPDX-License-Identifier: GPL-2.0-only
//! Congestion notifications in captures: tshark reads what the simulator's trace says.

use hpcc_model::results::packet_trace::{PacketKind, TraceRecord};
use hpcc_tests::dissection::{self, Dissected, dissect};
use hpcc_tests::{Run, skipped};
use std::collections::HashSet;
use std::net::Ipv6Addr;

/// Four hosts send to host 4 over switches 5 and 6; host 0 does not understand notifications by switches.
const TOML: &str = r#"
[run]
stop = "5ms"
[topology]
kind = "dumbbell"
left = 4
right = 1
rate = "100Gbps"
delay = "500ns"
[wire]
profile = "rocev2_ipv6"
[transport]
congestion_notification = "cnp"
[switch]
ecn_thresholds = [{ rate = "100Gbps", kmin = "5KB", kmax = "50KB", pmax = 0.5 }]
[fast_cnp]
enabled = true
incapable = [0]
[[traffic]]
kind = "incast"
receiver = 4
sender_count = 4
size = "200KB"
[monitor]
trace_nodes = [0, 1, 4, 5, 6]
capture_nodes = [0, 1, 4, 5, 6]
[congestion_control]
"#;
const DCQCN: &str = "algorithm = \"dcqcn\"\nnotification_interval = \"10us\"\n";
const HPCC: &str = "algorithm = \"hpcc_plus\"\n[telemetry]\nlayout = \"ioam\"\nhops = 4\n";
const RECEIVER: u32 = 4;
const INCAPABLE: u32 = 0;
const SWITCHES: [u32; 2] = [5, 6];

const FIELDS: [&str; 20] = [
    "frame.len",
    "_ws.malformed",
    "_ws.expert.severity",
    "ipv6.src",
    "ipv6.dst",
    "ipv6.hlim",
    "ipv6.tclass.dscp",
    "ipv6.tclass.ecn",
    "ipv6.dstopts.len",
    "ipv6.opt.type",
    "ipv6.opt.length",
    "ipv6.opt.padn",
    "udp.dstport",
    "udp.checksum.status",
    "infiniband.bth.opcode",
    "infiniband.bth.destqp",
    "icmpv6.type",
    "icmpv6.code",
    "icmpv6.pointer",
    "icmpv6.checksum.status",
];

const CNP: u64 = 0x81;
const EXPERIMENTAL: u64 = 0x9e;
const PADN: u64 = 1;

/// The address of a node: 2001:db8::11.x.y.1, as the simulator's plan has it.
fn address(node: u32) -> String {
    let [.., high, low] = node.to_be_bytes();
    let low = u16::from_be_bytes([low, 1]);
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, u16::from_be_bytes([11, high]), low).to_string()
}

struct Captured {
    run: Run,
    records: Vec<TraceRecord>,
}

impl Captured {
    fn of(control: &str) -> Captured {
        let run = Run::of(&format!("{TOML}{control}"), &[]);
        Captured { records: run.records(), run }
    }

    fn of_kind(&self, kind: PacketKind) -> impl Iterator<Item = usize> {
        (0..self.records.len()).filter(move |&at| self.records[at].kind == kind)
    }
}

/// REQ-33, REQ-34, REQ-37 to REQ-42, REQ-54 as tshark sees them.
#[test]
fn req_39_tshark_reads_notifications_and_what_answers_them() {
    if !dissection::is_there() {
        return skipped("no tshark on this machine");
    }
    let run = Captured::of(DCQCN);
    let dissected = dissect(&run.run.capture(), &FIELDS);
    assert_eq!(dissected.len(), run.records.len(), "a frame for each record");
    for (frame, record) in dissected.iter().zip(&run.records) {
        assert_eq!(frame.text("_ws.malformed"), "", "{record:?}");
        assert_eq!(frame.numbers("frame.len"), [u64::from(record.size_bytes) - 4], "{record:?}");
        // tshark knows no name for the opcode, and calls an ICMPv6 error a warning.
        if !matches!(record.kind, PacketKind::Pfc | PacketKind::Icmpv6) {
            assert_eq!(frame.numbers("udp.checksum.status"), [1], "{record:?}");
        }
    }
    let receivers: HashSet<(&str, u64)> = run
        .of_kind(PacketKind::Data)
        .map(|at| (dissected[at].text("ipv6.src"), dissected[at].numbers("infiniband.bth.destqp")[0]))
        .collect();
    let by_switch: Vec<_> = run.of_kind(PacketKind::FastCnp).map(|at| &dissected[at]).collect();
    assert!(by_switch.len() > 8, "{}", by_switch.len());
    for frame in by_switch {
        notification(frame);
        assert!(SWITCHES.map(address).contains(&frame.text("ipv6.src").to_owned()));
        let destination = (frame.text("ipv6.dst"), frame.numbers("infiniband.bth.destqp")[0]);
        assert!(receivers.contains(&destination), "the receiver's queue pair: {destination:?}");
        assert_eq!(frame.numbers("ipv6.dstopts.len"), [2], "24 bytes");
        assert_eq!(frame.numbers("ipv6.opt.type"), [EXPERIMENTAL, PADN]);
        assert_eq!((frame.numbers("ipv6.opt.length"), frame.text("ipv6.opt.padn")), (vec![16, 2], "0000"));
    }
    by_receivers(&run, &dissected);
    complaints(&run, &dissected);
}

/// Checks that hold for all notifications.
fn notification(frame: &Dissected<'_>) {
    assert_eq!((frame.numbers("infiniband.bth.opcode"), frame.numbers("udp.dstport")), (vec![CNP], vec![4_791]));
    assert_eq!((frame.numbers("ipv6.tclass.dscp"), frame.numbers("ipv6.tclass.ecn")), (vec![48], vec![0]));
}

/// Whoever was not notified for a packet is marked, and so is notified by the receiver, at its own queue pair. Who does not
/// understand switches is never notified otherwise.
fn by_receivers(run: &Captured, dissected: &[Dissected<'_>]) {
    let to = |at: usize| (dissected[at].text("ipv6.dst"), dissected[at].numbers("infiniband.bth.destqp")[0]);
    let acknowledged: HashSet<(&str, u64)> = run.of_kind(PacketKind::Ack).map(to).collect();
    let mut incapable = 0;
    for at in run.of_kind(PacketKind::Cnp) {
        let frame = &dissected[at];
        notification(frame);
        assert_eq!(frame.text("ipv6.src"), address(RECEIVER));
        assert!(acknowledged.contains(&to(at)), "where acknowledgements go");
        assert_eq!(frame.text("ipv6.opt.type"), "", "no option");
        incapable += usize::from(frame.text("ipv6.dst") == address(INCAPABLE));
    }
    assert!(incapable > 0, "it is notified by its receiver");
}

fn complaints(run: &Captured, dissected: &[Dissected<'_>]) {
    let answers: Vec<_> = run.of_kind(PacketKind::Icmpv6).map(|at| &dissected[at]).collect();
    assert!(!answers.is_empty());
    for frame in answers {
        assert_eq!((frame.text("icmpv6.type"), frame.text("icmpv6.code")), ("4", "2"), "unrecognised option");
        assert_eq!(frame.numbers("icmpv6.pointer"), [42], "its type");
        assert_eq!(frame.numbers("icmpv6.checksum.status"), [1], "a right checksum");
        // The packet that it quotes has fields of the same names behind its own.
        assert_eq!(frame.text("ipv6.src").split(',').next(), Some(&*address(INCAPABLE)));
    }
}

/// With a trace in the data packets: option 2, at a multiple of 4 bytes, with that trace.
#[test]
fn req_43_captured_notifications_copy_a_captured_trace() {
    let run = Captured::of(HPCC);
    let frames: Vec<Vec<u8>> = run.run.frames().into_iter().map(|(_, frame)| frame).collect();
    let traces: HashSet<&[u8]> = run.of_kind(PacketKind::Data).filter_map(|at| trace_of_data(&frames[at])).collect();
    let mut copied = 0;
    for frame in run.of_kind(PacketKind::FastCnp).map(|at| &frames[at]) {
        let options = &frame[54..54 + 8 * (usize::from(frame[55]) + 1)];
        let len = usize::from(options[5]);
        assert_eq!((frame[20], options[0], options[2..5].to_vec()), (60, 17, vec![1, 0, 0x9e]), "behind PadN");
        assert_eq!((options[6], options[7]), (0, 0), "reserved; a pre-allocated trace");
        let trace = &options[8..6 + len - 16];
        assert!(traces.contains(trace), "no captured packet has the trace {trace:02x?}");
        copied += 1;
    }
    assert!(copied > 0, "no notification");
}

/// From the namespace to the last node.
fn trace_of_data(frame: &[u8]) -> Option<&[u8]> {
    let header = frame.get(54..54 + 8 * (usize::from(*frame.get(55)?) + 1))?;
    (frame[20] == 0 && header[4] == 0x31).then(|| &header[8..6 + usize::from(header[5])])
}
