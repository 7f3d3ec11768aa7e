// SPDX-License-Identifier: GPL-2.0-only
//! Switches that ask sources to pause, from a file to the summary and the bytes of a capture.

use hpcc_core::switch::source_pause;
use hpcc_core::units::Nanos;
use hpcc_tests::Bench;

const TOML: &str = r#"
run.stop = "10ms"
topology = { kind = "star", hosts = 9, rate = "100Gbps", delay = "1us" }
congestion_control.algorithm = "dcqcn"
switch.source_pause = "20KB"
traffic = [{ kind = "incast", receiver = 8, sender_count = 8, size = "200KB" }]
wire.profile = "rocev2_ipv4"
monitor.capture_nodes = [0]
"#;

#[test]
fn pauses_are_counted_and_captured() {
    let bench = Bench::new(&[("pause.toml", TOML)]);
    let told = bench.hpcc(&["run", "pause.toml", "--simulator", "core", "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let asked = summary["source_pauses"].as_u64().expect("a count");
    assert!(asked > 8 && told.out.contains(&format!("switches asked sources for {asked} pauses")), "{}", told.out);
    // Notification packets of the switch, about the sender's queue pair, with an ICRC of their own.
    let dissected = bench.hpcc(&["dissect", "out/packets.pcap"]);
    assert_eq!(dissected.code, Some(0), "{}", dissected.err);
    let frames = dissected.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let notices: Vec<_> = frames.filter(|frame| frame["bth"]["opcode"] == 0x81).collect();
    assert!(!notices.is_empty() && notices.len() as u64 <= asked, "{} of {asked}", notices.len());
    for notice in &notices {
        let said =
            (&notice["ipv4"]["src"], &notice["ipv4"]["dst"], &notice["bth"]["dest_qp"], &notice["icrc"]["verdict"]);
        assert_eq!(said, (&"11.0.9.1".into(), &"11.0.0.1".into(), &2.into(), &"right".into()));
    }
    // Ethernet, IP, UDP and BTH stand before the pause, which is as long as more than 20 kB take.
    let capture = std::fs::read(bench.path("out/packets.pcap")).expect("a capture");
    let mut records = &capture[24..];
    let mut pauses = Vec::new();
    while let [_, _, _, _, _, _, _, _, a, b, c, d, ..] = *records {
        let (frame, rest) = records[16..].split_at(u32::from_be_bytes([a, b, c, d]) as usize);
        pauses.extend(frame.get(54..70).filter(|_| frame.len() == 74).and_then(source_pause::parse));
        records = rest;
    }
    assert_eq!(pauses.len(), notices.len());
    assert!(pauses.iter().all(|&pause| pause > Nanos(1_600) && pause < Nanos(100_000)), "{pauses:?}");
}
