// SPDX-License-Identifier: GPL-2.0-only
//! `dissect` on a capture that lies where a run left it.

use hpcc_tests::{Bench, TOML, skipped};
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

/// A capture of frames with this link type.
fn capture(link: u32, frames: &[(Vec<u8>, usize)]) -> Vec<u8> {
    let header = [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 96, link];
    let mut file: Vec<u8> = header.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    for (bytes, len) in frames {
        let record = [1, 2, bytes.len() as u32, *len as u32];
        file.extend(record.iter().flat_map(|word: &u32| word.to_le_bytes()));
        file.extend(bytes);
    }
    file
}

/// An IPv4 header in front of a payload; its checksum does not count.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let header = [0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    [&header, payload].concat()
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let ([p, q], [high, low]) = (port.to_be_bytes(), (8 + payload.len() as u16).to_be_bytes());
    [&[1, 2, p, q, high, low, 0, 0], payload].concat()
}

/// Frames as others capture them: the same headers are read as without, and as tshark reads them.
#[test]
fn captures_of_others_say_the_same_as_ours() {
    let bench = Bench::new(TOML);
    let set = [
        "wire.profile=rocev2_ipv4",
        "monitor.capture_nodes=[2]",
        "congestion_control.algorithm=dcqcn",
        "congestion_control.min_rate=1Gbps",
    ];
    let set = set.iter().flat_map(|set| ["--set", set]);
    let run = ["run", "scenario.toml", "--simulator", "core", "--out", "out"].into_iter().chain(set);
    let told = bench.hpcc(&run.collect::<Vec<_>>());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let bytes = fs::read(bench.path("out/packets.pcap")).expect("a capture");
    let mut frames: Vec<Vec<u8>> = Vec::new();
    let mut rest = &bytes[24..];
    while frames.len() < 40 && rest.len() > 16 {
        let len = u32::from_be_bytes(rest[8..12].try_into().expect("four bytes")) as usize;
        frames.push(rest[16..16 + len].to_vec());
        rest = &rest[16 + len..];
    }
    let whole = |wrap: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<(Vec<u8>, usize)> {
        frames.iter().map(|frame| wrap(frame)).map(|bytes| (bytes.clone(), bytes.len())).collect()
    };
    let ethernet = |kind: u16, payload: &[u8]| [&[2; 12][..], &kind.to_be_bytes(), payload].concat();
    let read = |name: &str| -> Vec<Value> {
        let told = bench.hpcc(&["dissect", name]);
        assert_eq!(told.code, Some(0), "{name}: {}", told.err);
        told.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    fs::write(bench.path("plain.pcap"), capture(1, &whole(&|frame| frame.to_vec()))).expect("written");
    let plain = read("plain.pcap");
    assert!(plain.len() == frames.len() && plain.iter().all(|frame| frame["icrc"]["verdict"] == "right"));
    let cut = |len: usize| -> Vec<(Vec<u8>, usize)> {
        frames.iter().map(|frame| (frame[..len.min(frame.len())].to_vec(), frame.len())).collect()
    };
    let vxlan = |frame: &[u8]| udp(4789, &[&[8, 0, 0, 0, 0, 0, 5, 0], frame].concat());
    for (name, file, is_whole) in [
        ("raw", capture(101, &whole(&|frame| frame[14..].to_vec())), true),
        ("cooked", capture(113, &whole(&|frame| [&[0; 14], &frame[12..]].concat())), true),
        ("cooked-2", capture(276, &whole(&|frame| [&frame[12..14], &[0; 18], &frame[14..]].concat())), true),
        ("loopback", capture(0, &whole(&|frame| [&[2, 0, 0, 0], &frame[14..]].concat())), true),
        (
            "two-tags",
            capture(1, &whole(&|frame| [&frame[..12], &[0x88, 0xa8, 0, 7, 0x81, 0, 0x60, 100], &frame[12..]].concat())),
            true,
        ),
        ("vxlan", capture(1, &whole(&|frame| ethernet(0x0800, &ipv4(17, &vxlan(frame))))), true),
        (
            "geneve",
            capture(
                1,
                &whole(&|frame| {
                    ethernet(
                        0x0800,
                        &ipv4(17, &udp(6081, &[&[1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 4], frame].concat())),
                    )
                }),
            ),
            true,
        ),
        (
            "erspan",
            capture(
                1,
                &whole(&|frame| {
                    ethernet(
                        0x0800,
                        &ipv4(47, &[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 0, 0, 0, 0, 0], frame].concat()),
                    )
                }),
            ),
            true,
        ),
        ("check-sequence", capture(1 | 1 << 26 | 2 << 28, &whole(&|frame| [frame, &[1, 2, 3, 4]].concat())), true),
        ("cut", capture(1, &cut(80)), false),
    ] {
        let name = format!("{name}.pcap");
        fs::write(bench.path(&name), file).expect("written");
        let others = read(&name);
        assert_eq!(others.len(), plain.len(), "{name}");
        for (ours, other) in plain.iter().zip(&others) {
            for layer in ["ipv4", "udp", "bth", "reth", "aeth", "payload_bytes"] {
                assert_eq!(ours[layer], other[layer], "{layer} of {name}: {other}");
            }
            let short = !is_whole && other.get("captured_bytes").is_some();
            let verdict = if short { "not captured" } else { "right" };
            assert_eq!(other["icrc"]["verdict"], verdict, "{name}: {other}");
        }
        let fields = ["-T", "fields", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.psn", "-r", &name];
        let Ok(tshark) = std::process::Command::new("tshark").current_dir(bench.path(".")).args(fields).output() else {
            skipped("tshark is not installed");
            continue;
        };
        let told = String::from_utf8_lossy(&tshark.stdout).into_owned();
        let expected: String =
            plain.iter().map(|frame| format!("{}\t{}\n", frame["bth"]["opcode"], frame["bth"]["psn"])).collect();
        if is_whole && name != "loopback.pcap" {
            assert_eq!(told, expected, "{name}");
        }
    }
}
