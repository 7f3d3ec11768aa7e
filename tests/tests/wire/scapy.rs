// SPDX-License-Identifier: GPL-2.0-only
//! scapy computes the ICRCs that our frames have, and reads the same headers from them.

use crate::simulation::{CASES, Case};
use hpcc_core::address::ipv6;
use hpcc_core::frame::INT_MARK;
use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{Addresses, Dialect, Extension, RoceFrame, RocePacket, SectionLen, TELEMETRY_MARK, build};
use hpcc_core::pfc::Pfc;
use hpcc_core::roce::icrc::Coverage;
use hpcc_core::roce::{Bth, CNP_RESERVED, Opcode};
use hpcc_formats::results::packet_trace::{PacketKind, TraceEvent, TraceRecord};
use hpcc_tests::skipped;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

/// Names a Python that has scapy.
const PYTHON: &str = "HPCC_TEST_PYTHON";
const SCRIPT: &str = include_str!("scapy_judge.py");
/// scapy is slow: of a capture's frames it gets the pauses and one in so many of the others.
const STEP: usize = 7;

/// A Python with scapy, if there is one.
fn python() -> Option<String> {
    let python = env::var(PYTHON).ok()?;
    let output = Command::new(&python).args(["-c", "import scapy"]).output().ok()?;
    output.status.success().then_some(python)
}

/// What scapy says of frames, each with the telemetry layout that it may have.
fn ask(python: &str, frames: &[(&str, &[u8])]) -> Vec<Value> {
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("Python starts");
    let lines: String = frames.iter().map(|(layout, frame)| format!("{layout} {}\n", hex(frame))).collect();
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("Python ends");
    writer.join().expect("no panic").expect("Python reads all frames");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let said: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(said.len(), frames.len(), "an answer for each frame");
    said
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn scapy_computes_the_icrc_of_captured_frames_and_reads_their_headers() {
    let Some(python) = python() else { return skipped("HPCC_TEST_PYTHON names no Python with scapy") };
    for case in CASES {
        let simulated = case.run();
        let frames: Vec<Vec<u8>> = simulated.frames().into_iter().map(|(_, frame)| frame).collect();
        let records = simulated.records();
        let echoes = Echoes::of(case, &records);
        let is_pause = |at: usize| records[at].kind == PacketKind::Pfc;
        let chosen: Vec<usize> = (0..frames.len()).filter(|&at| at % STEP == 0 || is_pause(at)).collect();
        let asked: Vec<_> = chosen.iter().map(|&at| (case.layout, &*frames[at])).collect();
        let said = ask(&python, &asked);
        let (mut kinds, mut echoed) = (HashMap::<_, usize>::new(), 0);
        for (at, said) in chosen.into_iter().zip(&said) {
            let record = &records[at];
            *kinds.entry(format!("{:?}", record.kind)).or_default() += 1;
            agree(case, &frames[at], said);
            echoed += usize::from(echoes.check(record, said));
        }
        assert_eq!(echoed > 0, case.layout != "none", "{case:?}");
        assert!(["Data", "Ack", "Pfc"].iter().all(|kind| kinds.contains_key(*kind)), "{case:?}: {kinds:?}");
    }
}

/// Our reading of a frame is scapy's.
fn agree(case: Case, frame: &[u8], said: &Value) {
    let header = if case.layout == "draft" { 4 } else { 2 };
    let marks = [(TELEMETRY_MARK, SectionLen::Compact { header }), (INT_MARK, SectionLen::IntMd)];
    let parsed = parse(frame, &Dialect { marks: &marks, ..Dialect::default() }).expect("a frame");
    match &parsed.content {
        Content::Pfc { pfc, .. } => agree_on_pfc(pfc, said),
        Content::Roce(packet) => {
            assert_eq!(said["computed"], said["icrc"], "{case:?}: {}", hex(frame));
            assert_eq!(packet.verdict(), Some(Coverage::TelemetryFree), "{case:?}: {}", hex(frame));
            agree_on_roce(packet, said);
        }
    }
}

fn agree_on_roce(packet: &RocePacket<'_>, said: &Value) {
    let RoceFrame { bth, dscp, ecn, hop_limit, sport, extension, .. } = packet.frame;
    let mut ours = json!({
        "tos": dscp << 2 | ecn,
        "hop_limit": hop_limit,
        "sport": sport,
        "opcode": bth.opcode.0,
        "fecn": u8::from(bth.fecn),
        "becn": u8::from(bth.becn),
        "ackreq": u8::from(bth.ack_requested),
        "pad": bth.pad_count,
        "dqpn": bth.dest_qp,
        "psn": bth.psn,
        "icrc": hex(&packet.icrc),
        "computed": hex(&packet.icrc),
    });
    if let Extension::Aeth(aeth) = extension {
        let [syndrome, msn @ ..] = aeth.emit();
        ours["aeth"] = json!([syndrome, u32::from_be_bytes([0, msn[0], msn[1], msn[2]])]);
    }
    assert_eq!(*said, ours);
}

fn agree_on_pfc(pfc: &Pfc, said: &Value) {
    let enabled: Vec<u8> = pfc.pause.iter().map(|pause| u8::from(pause.is_some())).collect();
    let quanta: Vec<u16> = pfc.pause.iter().map(|pause| pause.unwrap_or(0)).collect();
    let rest = "00".repeat(26);
    assert_eq!(*said, json!({ "dst": "01:80:c2:00:00:01", "enabled": enabled, "quanta": quanta, "rest": rest }));
}

/// Which acknowledgements must echo a congestion mark: where nothing is lost, each data packet has its own.
struct Echoes(HashMap<(u32, u16, u32), bool>);

impl Echoes {
    fn of(case: Case, records: &[TraceRecord]) -> Echoes {
        let arrived = |record: &&TraceRecord| {
            record.kind == PacketKind::Data && record.event == TraceEvent::Receive && !record.is_switch
        };
        let records = records.iter().filter(arrived).filter(|_| case.layout != "none");
        let mark = |record: &TraceRecord| {
            let end = record.seq + u32::from(record.payload_bytes);
            ((record.src_address, record.sport, end), record.ecn == 3)
        };
        Echoes(records.map(mark).collect())
    }

    /// Whether it is one that must, and does.
    fn check(&self, record: &TraceRecord, said: &Value) -> bool {
        if record.kind != PacketKind::Pfc {
            assert_eq!(said["becn"], u8::from(record.congestion_echo), "{record:?}");
        }
        let id = (record.dst_address, record.sport, record.seq);
        let Some(&marked) = self.0.get(&id).filter(|_| record.kind == PacketKind::Ack) else { return false };
        assert_eq!(said["becn"], u8::from(marked), "{record:?}");
        marked
    }
}

#[test]
fn scapy_computes_the_icrc_of_our_notifications() {
    let Some(python) = python() else { return skipped("HPCC_TEST_PYTHON names no Python with scapy") };
    let v4 = Addresses::V4 { src: [10, 0, 0, 2], dst: [10, 0, 0, 1] };
    let v6 = Addresses::V6 { src: ipv6(0x0a00_0002), dst: ipv6(0x0a00_0001) };
    let built: Vec<_> = [v4, v6].map(cnp).to_vec();
    let frames: Vec<_> = built.iter().map(|frame| ("none", &**frame)).collect();
    for (frame, said) in built.iter().zip(ask(&python, &frames)) {
        assert_eq!((&said["opcode"], &said["becn"], &said["dqpn"]), (&json!(0x81), &json!(1), &json!(0x0010_2345)));
        assert_eq!(said["computed"], hex(&frame[frame.len() - 4..]));
    }
}

fn cnp(addresses: Addresses) -> Vec<u8> {
    let frame = RoceFrame {
        src_mac: [2, 0, 0, 0, 0, 2],
        dst_mac: [2, 0, 0, 0, 0, 1],
        addresses,
        dscp: 48,
        ecn: 2,
        hop_limit: 64,
        identification: 0,
        sport: 0,
        udp_checksum: false,
        telemetry: None,
        destination_options: &[],
        bth: Bth { opcode: Opcode::CNP, becn: true, dest_qp: 0x10_2345, ..Bth::default() },
        extension: Extension::None,
        payload: &[],
        zeros: CNP_RESERVED as u32,
    };
    build::roce(&frame, Coverage::default()).expect("a frame")
}

#[test]
fn scapy_confirms_the_vectors_of_the_core() {
    let Some(python) = python() else { return skipped("HPCC_TEST_PYTHON names no Python with scapy") };
    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("../../../hpcc-core/testdata/vectors.json")).expect("JSON");
    let known = |vector: &&Value| vector["name"].as_str().is_some_and(|name| name.starts_with("roce_"));
    let digits: Vec<_> = vectors.iter().filter(known).map(|vector| vector["hex"].as_str().expect("digits")).collect();
    let frames: Vec<_> = digits.iter().map(|digits| bytes(digits)).collect();
    let asked: Vec<_> = frames.iter().map(|frame| ("none", &**frame)).collect();
    assert!(asked.len() >= 6, "{} vectors", asked.len());
    for (digits, said) in digits.iter().zip(ask(&python, &asked)) {
        assert_eq!(said["computed"], digits[digits.len() - 8..], "{digits}");
    }
}

fn bytes(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}
