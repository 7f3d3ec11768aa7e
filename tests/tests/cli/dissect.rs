// SPDX-License-Identifier: GPL-2.0-only
//! `dissect` on a capture that lies where a run left it.

use hpcc_tests::dissection::{self, dissect};
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

/// An IPv4 header in front of a payload.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let mut header = [0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    header[10..12].copy_from_slice(&(!(sum + (sum >> 16)) as u16).to_be_bytes());
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
    let tshark_is_there = dissection::is_there();
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
        (
            "mpls",
            capture(
                1,
                &whole(&|frame| [&frame[..12], &[0x88, 0x47, 0, 6, 0x40, 63, 0, 12, 0x81, 64], &frame[14..]].concat()),
            ),
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
        if tshark_is_there {
            beside_tshark(&bench, &name, &others, &FIELDS);
        }
    }
    if !tshark_is_there {
        skipped("no tshark on this machine");
    }
}

/// Members of a layer, the first that a frame has, and tshark's field of the same meaning.
type Twin = (&'static [&'static str], &'static str);

const FIELDS: [Twin; 11] = [
    (&["/ipv4/src"], "ip.src"),
    (&["/ipv4/dst"], "ip.dst"),
    (&["/ipv4/ttl"], "ip.ttl"),
    (&["/udp/sport"], "udp.srcport"),
    (&["/udp/dport"], "udp.dstport"),
    (&["/bth/opcode"], "infiniband.bth.opcode"),
    (&["/bth/dest_qp"], "infiniband.bth.destqp"),
    (&["/bth/psn"], "infiniband.bth.psn"),
    (&["/reth/length"], "infiniband.reth.dmalen"),
    (&["/aeth/syndrome"], "infiniband.aeth.syndrome"),
    (&["/aeth/msn"], "infiniband.aeth.msn"),
];

/// In each frame tshark reads the same; of tunnels, in the innermost headers.
fn beside_tshark(bench: &Bench, name: &str, ours: &[Value], fields: &[Twin]) {
    let names: Vec<&str> = fields.iter().map(|(_, field)| *field).collect();
    let capture = bench.path(name);
    let theirs = dissect(&capture, &names);
    assert_eq!(theirs.len(), ours.len(), "{name}");
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        for (members, field) in fields {
            let told = members.iter().find_map(|member| ours.pointer(member)).map(told);
            let read = theirs.text(field).rsplit(',').next().filter(|text| !text.is_empty());
            assert_eq!(told, read.map(plain), "{field} of frame {} of {name}: {ours}", number + 1);
        }
    }
}

fn told(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim_start_matches("0x").to_owned())
}

/// tshark has some numbers in hexadecimal.
fn plain(text: &str) -> String {
    let number = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16).expect("digits"));
    number.map_or_else(|| text.to_owned(), |number| number.to_string())
}

/// Every packet of RC, UC and UD: its headers are named and none of them is payload.
#[test]
fn extended_headers_are_those_that_tshark_reads() {
    if !dissection::is_there() {
        return skipped("no tshark on this machine");
    }
    const EXTENDED: [Twin; 13] = [
        (&["/bth/opcode"], "infiniband.bth.opcode"),
        (&["/reth/address", "/atomiceth/address"], "infiniband.reth.va"),
        (&["/reth/rkey", "/atomiceth/rkey"], "infiniband.reth.r_key"),
        (&["/reth/length"], "infiniband.reth.dmalen"),
        (&["/atomiceth/swap_or_add"], "infiniband.atomiceth.swapdt"),
        (&["/atomiceth/compare"], "infiniband.atomiceth.cmpdt"),
        (&["/aeth/syndrome"], "infiniband.aeth.syndrome"),
        (&["/aeth/msn"], "infiniband.aeth.msn"),
        (&["/atomicacketh/original"], "infiniband.atomicacketh.origremdt"),
        (&["/immdt/data"], "infiniband.immdt"),
        (&["/deth/qkey"], "infiniband.deth.q_key"),
        (&["/deth/src_qp"], "infiniband.deth.srcqp"),
        (&["/payload_bytes"], "data.len"),
    ];
    let frame = |opcode: u8| {
        // Answers and requests of atomic operations have no payload.
        let len = match opcode {
            0x11 => 4,
            0x12 => 12,
            0x13 | 0x14 => 28,
            _ => 64,
        };
        let bth = [opcode, 0, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, opcode];
        let body: Vec<u8> = (0..len).collect();
        let packet = ipv4(17, &udp(4791, &[&bth[..], &body, &[0; 4]].concat()));
        let frame = [&[2; 12][..], &[8, 0], &packet].concat();
        (frame.clone(), frame.len())
    };
    let opcodes = (0x00..0x15).chain(0x16..0x18).chain(0x20..0x2c).chain(0x64..0x66);
    let bench = Bench::new(TOML);
    fs::write(bench.path("all.pcap"), capture(1, &opcodes.map(frame).collect::<Vec<_>>())).expect("written");
    let mut ours: Vec<Value> = bench
        .hpcc(&["dissect", "all.pcap"])
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    for frame in ours.iter_mut().filter(|frame| frame["payload_bytes"] == 0) {
        frame.as_object_mut().expect("members").remove("payload_bytes");
    }
    beside_tshark(&bench, "all.pcap", &ours, &EXTENDED);
    // tshark 4.0 has the key to invalidate among immediate data's bytes.
    let keys: Vec<_> = ours.iter().filter_map(|frame| frame.pointer("/ieth/rkey")).collect();
    assert_eq!(keys, [0x0001_0203, 0x0001_0203]);
}
