// SPDX-License-Identifier: GPL-2.0-only
//! tshark with the script of `dissect --lua` reads in every frame what `dissect` reads.

use crate::simulation::TOML;
use hpcc_tests::dissection::{self, dissect_with};
use hpcc_tests::{Bench, skipped};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A run: its settings, options of tshark, the format that its frames then have, and how many frames have one at least.
type Case = (&'static [&'static str], &'static [&'static str], &'static str, usize);

const V4: &str = "wire.profile=rocev2_ipv4";
const V6: &str = "wire.profile=rocev2_ipv6";
const PINT: &str = "congestion_control.algorithm=hpcc_pint";
/// Of a rate without a code.
const THRESHOLDS: &str = r#"switch.ecn_thresholds=[{ rate = "160Gbps", kmin = "5KB", kmax = "50KB", pmax = 0.5 }]"#;
const PRE_ALLOCATED: &str = "ioam pre-allocated trace";

const CASES: [Case; 19] = [
    (&[V4, "telemetry.layout=paper"], &[], "paper", 700),
    (&[V6, "telemetry.layout=paper"], &[], "paper", 700),
    (&[V4, "telemetry.layout=paper", "telemetry.sampling=probes"], &[], "paper", 100),
    (&[V4, "telemetry.layout=draft"], &["-o", "hpcc.layout:draft"], "draft", 700),
    (&[V6, "telemetry.layout=draft"], &["-o", "hpcc.layout:draft"], "draft", 700),
    (&[V4, "telemetry.layout=int_md"], &[], "int_md", 700),
    (&[V6, "telemetry.layout=int_md"], &[], "int_md", 700),
    (&[V4, "telemetry.layout=int_md", "topology.rate=160Gbps", THRESHOLDS], &[], "int_md", 700),
    (&[V4, "telemetry.layout=ifa"], &[], "ifa", 700),
    (&[V6, "telemetry.layout=ifa"], &[], "ifa", 700),
    (&[V6, "telemetry.layout=ioam"], &[], PRE_ALLOCATED, 700),
    (&[V6, "telemetry.layout=ioam_slim"], &[], PRE_ALLOCATED, 700),
    (&[V4, "telemetry.layout=pint", PINT], &["-o", "hpcc.layout:pint"], "pint", 700),
    (
        &[V6, "telemetry.layout=pint", "telemetry.log_base=1.02", PINT],
        &["-o", "hpcc.layout:pint", "-o", "hpcc.log_base:1.02"],
        "pint",
        700,
    ),
    (
        &[V4, "telemetry.layout=timestamp", "congestion_control.algorithm=timely"],
        &["-o", "hpcc.layout:timestamp"],
        "timestamp",
        700,
    ),
    (&[V4, "telemetry.layout=csig", "congestion_control.algorithm=hpcc_plus"], &[], "csig", 700),
    (
        &[V6, "telemetry.layout=csig", "telemetry.csig_size=wide", "congestion_control.algorithm=hpcc_plus"],
        &[],
        "csig",
        700,
    ),
    // Fast CNP: with the option of the destination alone, and with the one that copies a trace.
    (&[V6, "congestion_control.algorithm=dcqcn", "fast_cnp.enabled=true"], &[], "", 4),
    (
        &[
            V6,
            "congestion_control.algorithm=hpcc_plus",
            "telemetry.layout=ioam",
            "telemetry.hops=4",
            "fast_cnp.enabled=true",
        ],
        &[],
        PRE_ALLOCATED,
        700,
    ),
];

#[test]
fn wireshark_shows_in_every_frame_what_dissect_reads() {
    if !dissection::is_there() {
        return skipped("no tshark on this machine");
    }
    CASES.par_iter().for_each(|(set, options, format, least)| {
        let bench = run(set);
        let read = beside_dissect(&bench, options);
        let has_format =
            |fields: &&Fields| fields.get("format").is_none_or(|formats| formats.contains(&(*format).into()));
        let told = read.iter().filter(|fields| !fields.is_empty()).filter(has_format).count();
        assert!(told >= *least, "{set:?}: {told} frames");
        let has_notification = read.iter().any(|fields| fields.contains_key("fast_cnp.option"));
        assert_eq!(has_notification, set.contains(&"fast_cnp.enabled=true"), "{set:?}");
    });
}

/// Every DSCP of packets without telemetry, and with INT-MD; INT-MD that says more than there is, or is of another domain.
#[test]
fn wireshark_takes_for_telemetry_what_proves_to_be() {
    if !dissection::is_there() {
        return skipped("no tshark on this machine");
    }
    const DSCP: usize = 15;
    const SHIM: usize = 42;
    let plain = run(&[V4, "congestion_control.algorithm=dcqcn"]);
    change(&plain, IPV4, |number, frame| frame[DSCP] = (number as u8) << 2);
    for layout in ["paper", "draft", "pint", "timestamp"] {
        let read = beside_dissect(&plain, &["-o", &format!("hpcc.layout:{layout}")]);
        assert!(read.iter().all(Fields::is_empty) && read.len() > 700, "{layout}");
    }
    let int = run(&[V4, "telemetry.layout=int_md"]);
    change(&int, IPV4, |number, frame| {
        let is_marked = frame[DSCP] >> 2 & 7 == 2;
        match number % 3 {
            0 if is_marked => frame[SHIM + 1] = 255,
            1 if is_marked => frame[SHIM + 11] ^= 1,
            _ => {}
        }
    });
    let read = beside_dissect(&int, &[]);
    assert!(read.iter().any(|fields| fields.contains_key("malformed")), "a lying length");
    assert!(read.iter().any(|fields| fields.contains_key("hops.node_id") && !fields.contains_key("hops.rate_bps")));
    let any = run(&[V6, "telemetry.layout=int_md"]);
    change(&any, IPV6, |number, frame| {
        let dscp = number as u8 & 63;
        (frame[14], frame[15]) = (0x60 | dscp >> 2, dscp << 6 | frame[15] & 0x3f);
    });
    let read = beside_dissect(&any, &[]);
    assert!(read.iter().filter(|fields| fields.contains_key("original_dscp")).count() > 700);
}

fn run(set: &[&str]) -> Bench {
    let bench = Bench::new(&[("run.toml", TOML)]);
    let set = set.iter().flat_map(|set| ["--set", set]);
    let run = ["run", "run.toml", "--simulator", "core", "--out", "out"].into_iter().chain(set);
    let told = bench.hpcc(&run.collect::<Vec<_>>());
    assert_eq!(told.code, Some(0), "{}", told.err);
    bench
}

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// Changes each frame of this type in a run's capture, by its number from 0 on.
fn change(bench: &Bench, ether_type: [u8; 2], change: impl Fn(usize, &mut [u8])) {
    let mut file = fs::read(bench.path("out/packets.pcap")).expect("a capture");
    let (mut at, mut number) = (24, 0);
    while at < file.len() {
        let len = u32::from_be_bytes(file[at + 8..at + 12].try_into().expect("four bytes")) as usize;
        if file[at + 16 + 12..][..2] == ether_type {
            change(number, &mut file[at + 16..][..len]);
        }
        (at, number) = (at + 16 + len, number + 1);
    }
    fs::write(bench.path("out/packets.pcap"), file).expect("written");
}

/// Values by field.
type Fields = BTreeMap<String, Vec<Value>>;

/// What both read in each frame.
fn beside_dissect(bench: &Bench, options: &[&str]) -> Vec<Fields> {
    let lua = bench.hpcc(&["dissect", "--lua"]);
    assert_eq!(lua.code, Some(0), "{}", lua.err);
    bench.write("hpcc.lua", &lua.out);
    let told = bench.hpcc(&["dissect", "out/packets.pcap"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let ours: Vec<Value> = told.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let fields: Vec<Fields> = ours.iter().map(fields).collect();

    let names: BTreeSet<&String> = fields.iter().flat_map(BTreeMap::keys).collect();
    let mut asked: Vec<String> = ["_ws.lua.error", "infiniband.bth.psn", "hpcc"].map(String::from).to_vec();
    asked.extend(names.iter().map(|name| format!("hpcc.{name}")));
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let script = format!("lua_script:{}", bench.path("hpcc.lua").display());
    let options = [&["-X", &script][..], options].concat();
    let theirs = dissect_with(&options, &bench.path("out/packets.pcap"), &asked);
    assert_eq!(theirs.len(), ours.len());
    for (number, (theirs, (ours, fields))) in theirs.iter().zip(ours.iter().zip(&fields)).enumerate() {
        let at = || format!("of frame {}, {options:?}: {ours}", number + 1);
        assert_eq!(theirs.text("_ws.lua.error"), "", "{}", at());
        assert_eq!(theirs.text("hpcc").is_empty(), fields.is_empty(), "telemetry {}", at());
        if let Some(psn) = ours.pointer("/bth/psn") {
            assert_eq!(theirs.text("infiniband.bth.psn"), psn.to_string(), "{}", at());
        }
        for name in &names {
            let told = fields.get(*name).map_or(&[][..], Vec::as_slice);
            let text = theirs.text(&format!("hpcc.{name}"));
            let read: Vec<&str> = match told {
                [_] => vec![text],
                _ => text.split(',').filter(|it| !it.is_empty()).collect(),
            };
            let is_same = read.len() == told.len() && told.iter().zip(&read).all(|(told, read)| same(told, read));
            assert!(is_same, "{name}: {read:?} {}", at());
        }
    }
    fields
}

/// What `dissect` says of telemetry and notification, by the names that the script has for it.
fn fields(frame: &Value) -> Fields {
    let mut fields = Fields::new();
    for section in ["/telemetry", "/returned_telemetry", "/fast_cnp/telemetry"] {
        frame.pointer(section).into_iter().for_each(|section| collect(section, "", &mut fields));
    }
    for name in ["option", "original_destination", "sent_by"] {
        let told = frame.pointer(&format!("/fast_cnp/{name}"));
        told.into_iter().for_each(|told| collect(told, &format!("fast_cnp.{name}"), &mut fields));
    }
    fields
}

fn collect(told: &Value, name: &str, fields: &mut Fields) {
    match told {
        Value::Null => {}
        Value::Array(values) => values.iter().for_each(|value| collect(value, name, fields)),
        Value::Object(members) => {
            let is_compact = ["paper", "draft"].iter().any(|form| members.get("format").is_some_and(|it| it == form));
            for (member, value) in members {
                match member.as_str() {
                    // Bytes and limits that the script does not show.
                    "section" | "section_bytes" | "ts_modulus_ns" | "tx_modulus_bytes" => {}
                    // Of the others it is a sum of what the hops say.
                    "hpcc" if !is_compact => {
                        let mut value = value.clone();
                        value.as_object_mut().and_then(|members| members.remove("path"));
                        collect(&value, name, fields);
                    }
                    "hpcc" => collect(value, name, fields),
                    member if name.is_empty() => collect(value, member, fields),
                    member => collect(value, &format!("{name}.{member}"), fields),
                }
            }
        }
        value @ (Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            fields.entry(name.into()).or_default().push(value.clone());
        }
    }
}

/// Whether tshark prints this value; of one with a fraction 15 digits, the last of which is the power function's of Lua.
fn same(told: &Value, read: &str) -> bool {
    let whole = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match told {
        Value::Bool(told) => *told == ["True", "1"].contains(&read),
        Value::String(told) => told == read || told.starts_with("0x") && whole(told) == whole(read),
        Value::Number(told) if told.is_u64() => told.as_u64() == whole(read),
        Value::Number(told) => told
            .as_f64()
            .zip(read.parse().ok())
            .is_some_and(|(told, read): (f64, f64)| (told - read).abs() <= 1e-14 * told),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}
