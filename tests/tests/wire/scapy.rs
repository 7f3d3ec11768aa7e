// SPDX-License-Identifier: GPL-2.0-only
//! scapy computes the ICRCs that our frames have, and reads the same headers from them.

use crate::simulation::{CASES, Case};
use hpcc_core::frame::INT_MARK;
use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{Dialect, Extension, RoceFrame, RocePacket, SectionLen, TELEMETRY_MARK};
use hpcc_core::pfc::Pfc;
use hpcc_core::roce::icrc::Coverage;
use hpcc_model::results::packet_trace::PacketKind;
use hpcc_tests::skipped;
use serde_json::{Value, json};
use std::collections::HashSet;
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

/// Scapy's answers about frames, each with the telemetry layout that it may have.
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
        let is_pause = |at: usize| records[at].kind == PacketKind::Pfc;
        let chosen: Vec<usize> = (0..frames.len()).filter(|&at| at % STEP == 0 || is_pause(at)).collect();
        let asked: Vec<_> = chosen.iter().map(|&at| (case.layout, &*frames[at])).collect();
        let said = ask(&python, &asked);
        let mut kinds = HashSet::new();
        for (at, said) in chosen.into_iter().zip(&said) {
            kinds.insert(format!("{:?}", records[at].kind));
            agree(case, &frames[at], said);
        }
        assert!(["Data", "Ack", "Pfc"].iter().all(|kind| kinds.contains(*kind)), "{case:?}: {kinds:?}");
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
