// SPDX-License-Identifier: GPL-2.0-only
//! `dissect` on a capture that lies where a run left it.

use hpcc_tests::{Bench, TOML};
use serde_json::Value;
use std::fs;

/// Layouts that frames do not name, with words for what a hop's record, or a packet, says in each.
const LAYOUTS: [(&str, &[&str]); 4] = [
    ("layout=reference", &["hops", "tx_modulus_bytes"]),
    ("layout=paper", &["hops", "tx_modulus_bytes"]),
    ("layout=draft", &["hops", "tx_modulus_bytes"]),
    ("layout=timestamp", &["sent_ns"]),
];

#[test]
fn a_runs_summary_says_what_its_frames_carry() {
    for (layout, words) in LAYOUTS {
        let bench = Bench::new(TOML);
        let algorithm = if layout == "layout=timestamp" { "timely" } else { "hpcc" };
        let set = [
            "wire.profile=rocev2_ipv6",
            "monitor.capture_nodes=[2]",
            &format!("telemetry.{layout}"),
            &format!("congestion_control.algorithm={algorithm}"),
        ];
        let told = bench.run("scenario.toml", &set);
        assert_eq!(told.code, Some(0), "{layout}: {}", told.err);
        let frames = bench.hpcc(&["dissect", "out/packets.pcap"]).out;
        let frames: Vec<Value> = frames.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(frames.iter().all(|frame| frame["icrc"]["verdict"] == "right"), "{layout}: {:#}", frames[0]);
        let read: Vec<&Value> =
            frames.iter().map(|frame| &frame["telemetry"]["hpcc"]).filter(|hpcc| hpcc.is_object()).collect();
        assert!(read.len() > 10, "{layout}: {} frames with telemetry", read.len());
        for word in words {
            assert!(read.iter().all(|hpcc| !hpcc[word].is_null()), "{layout}: no {word} in {}", read[0]);
        }
        // A capture alone does not say.
        fs::rename(bench.path("out/packets.pcap"), bench.path("alone.pcap")).expect("moved");
        let alone = bench.hpcc(&["dissect", "alone.pcap", "--limit", "1"]).out;
        let format = layout.strip_prefix("layout=").filter(|name| *name != "paper").unwrap_or("nothing");
        assert!(!alone.contains(&format!("\"format\":\"{format}\"")), "{layout}: {alone}");
    }
}
