// SPDX-License-Identifier: GPL-2.0-only
//! `dissect`, as a user calls it, on frames that hardware, the Linux kernel, scapy or a specification made.

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
use pcap_file::{DataLink, TsResolution};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn hpcc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hpcc")).arg("dissect").args(arguments).output().expect("started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn vectors() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hpcc-core/testdata/vectors.json");
    serde_json::from_slice(&std::fs::read(path).expect("vectors")).expect("a list")
}

fn vector(name: &str) -> Value {
    vectors().into_iter().find(|vector| vector["name"] == name).expect("a vector of that name")
}

fn digits(vector: &Value) -> &str {
    vector["hex"].as_str().expect("digits")
}

fn bytes_of(vector: &Value) -> Vec<u8> {
    let digits = digits(vector).as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(&text(pair), 16).expect("digits")).collect()
}

fn dissected(name: &str) -> Value {
    let output = hpcc(&["--hex", digits(&vector(name))]);
    assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Every RoCEv2 vector: what scapy, tshark or the adapter say of it.
#[test]
fn roce_fields_are_those_of_the_vectors() {
    for vector in vectors().iter().filter(|vector| vector["name"].as_str().is_some_and(|name| name.starts_with("roce")))
    {
        let (name, expect) = (vector["name"].as_str().expect("a name"), &vector["expect"]);
        let frame = dissected(name);
        for (field, found) in [
            ("opcode", &frame["bth"]["opcode"]),
            ("destqp", &frame["bth"]["dest_qp"]),
            ("psn", &frame["bth"]["psn"]),
            ("padcnt", &frame["bth"]["pad_count"]),
            ("aeth_syndrome", &frame["aeth"]["syndrome"]),
            ("msn", &frame["aeth"]["msn"]),
            ("icrc_wire", &frame["icrc"]["found"]),
        ] {
            if !expect[field].is_null() {
                assert_eq!(found, &expect[field], "{name} {field}");
            }
        }
        assert_eq!(frame["icrc"]["verdict"], "right", "{name}");
    }
}

/// Records of two Linux kernels, in path order.
#[test]
fn ioam_traces_of_the_kernel_are_read() {
    let frame = dissected("ioam_linux_0xf22000_qdepth");
    let trace = &frame["telemetry"];
    assert_eq!((&trace["remaining_words"], &trace["trace_type"]), (&8.into(), &"0xf22000".into()));
    let of =
        |field: &str| trace["hops"].as_array().expect("hops").iter().map(|hop| hop[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("node_id"), [0xa2, 0xa3]);
    assert_eq!(of("hop_limit"), [63, 62]);
    assert_eq!(of("queue_depth"), [0, 930]);
    assert!(trace["hpcc"].is_null(), "another namespace than ours");
}

#[test]
fn the_p4_specifications_example_is_read() {
    let trace = &dissected_as_int()["telemetry"];
    assert_eq!((&trace["hop_words"], &trace["remaining_hops"]), (&2.into(), &6.into()));
    let hops = trace["hops"].as_array().expect("hops");
    let found: Vec<_> =
        hops.iter().map(|hop| (&hop["node_id"], &hop["queue"]["id"], &hop["queue"]["occupancy"])).collect();
    assert_eq!(found, [(&1.into(), &2.into(), &256.into()), (&2.into(), &3.into(), &1024.into())]);
}

/// The vector has UDP port 5000, which its third-party decoder expects: here it has RoCEv2's, and a DSCP that announces INT.
fn dissected_as_int() -> Value {
    let vector = vector("int_md_udp_example");
    let frame = digits(&vector);
    let checksum = u16::from_str_radix(&frame[48..52], 16).expect("a checksum") - (2 << 2);
    let moved = format!("{}08{}{checksum:04x}{}", &frame[..30], &frame[32..48], &frame[52..]);
    let moved = moved.replacen("c0001388", "c00012b7", 1);
    let output = hpcc(&["--hex", &moved]);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The example as it is, to the UDP port that its third-party decoder expects. The shim says that the packet was one to 4791.
#[test]
fn telemetry_stands_where_the_user_says() {
    let vector = vector("int_md_udp_example");
    let read = |more: &[&str]| -> Value {
        let output = hpcc(&[&["--hex", digits(&vector)], more].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    };
    let told = read(&["--telemetry", "int_md", "--at", "port=5000"]);
    assert_eq!(
        (&told["telemetry"]["hops"], &told["udp"]["dport"]),
        (&dissected_as_int()["telemetry"]["hops"], &5_000.into())
    );
    assert!(told["bth"].is_object() && read(&[])["bth"].is_null(), "{told}");
}

#[test]
fn pauses_and_options_are_read() {
    assert_eq!(dissected("pfc_c3_max")["pfc"]["quanta"]["3"], 65_535);
    let options = &dissected("fastcnp_opt1")["destination_options"];
    assert_eq!((&options[0]["type"], &options[0]["unknown_is"]), (&0x9e.into(), &"discarded and reported".into()));
}

/// A switch's notification names the receiver's queue pair and the data packet's destination, unlike a receiver's CNP.
#[test]
fn notifications_say_what_they_are_about() {
    let notice = dissected("fastcnp_opt1")["fast_cnp"].clone();
    assert_eq!(
        (&notice["option"], &notice["sent_by"], &notice["telemetry"]),
        (&1.into(), &"a network element".into(), &Value::Null)
    );
    // The trace has one node, a2 of the kernel's vectors.
    let copy = &dissected("fastcnp_opt2")["fast_cnp"]["telemetry"];
    assert_eq!((&copy["format"], &copy["hops"][0]["node_id"]), (&"ioam pre-allocated trace".into(), &0xa2.into()));
    let line = |name: &str| {
        let output = hpcc(&["--summary", "--hex", digits(&vector(name))]).stdout;
        String::from_utf8(output).expect("text")
    };
    let fast = line("fastcnp_opt1");
    let about = format!(
        "Fast CNP by a network element about {} qp ",
        notice["original_destination"].as_str().expect("an address")
    );
    assert!(fast.contains(&about), "{fast}");
    assert!(!line("roce_cnp_ipv6").contains("Fast"), "a receiver's");
}

#[test]
fn faults_are_named_with_their_place() {
    let cnp = vector("roce_cnp_ipv6");
    let wrong = format!("{}00000000", &digits(&cnp)[..digits(&cnp).len() - 8]);
    let frame: Value = serde_json::from_slice(&hpcc(&["--hex", &wrong]).stdout).expect("JSON");
    assert_eq!(frame["malformed"]["fault"], "checksum", "UDP over IPv6 covers the ICRC");
    let frame: Value = serde_json::from_slice(&hpcc(&["--hex", &digits(&cnp)[..100]]).stdout).expect("JSON");
    assert_eq!((&frame["malformed"]["layer"], &frame["malformed"]["offset"]), (&"ip".into(), &14.into()));
    let arp = "ffffffffffff0200000000010806000108000604000102000000000100000000000000000000000000000000";
    let frame: Value = serde_json::from_slice(&hpcc(&["--hex", arp]).stdout).expect("JSON");
    assert!(frame["malformed"].is_null() && !frame["not_dissected"].is_null() && !frame["arp"].is_null());
}

fn pcap(path: &Path, frames: &[Vec<u8>]) {
    let header = PcapHeader { ts_resolution: TsResolution::NanoSecond, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(File::create(path).expect("created"), header).expect("header");
    for (frame, second) in frames.iter().zip(1..) {
        let time = Duration::new(second, 41);
        writer.write_packet(&PcapPacket::new(time, frame.len() as u32, frame)).expect("written");
    }
}

fn file(dir: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = dir.path().join(name);
    let name = path.to_str().expect("UTF-8").to_owned();
    (path, name)
}

#[test]
fn captures_of_both_kinds_are_read() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let frames: Vec<Vec<u8>> = vectors().iter().map(bytes_of).collect();
    let (path, name) = file(&dir, "a.pcap");
    pcap(&path, &frames);
    let output = hpcc(&[&name]);
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), frames.len());
    assert_eq!((&lines[2]["frame"], &lines[2]["time_ns"]), (&3.into(), &3_000_000_041_u64.into()));

    let (path, name) = file(&dir, "b.pcapng");
    let mut writer = PcapNgWriter::new(File::create(&path).expect("created")).expect("header");
    let interface = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options: vec![] };
    writer.write_pcapng_block(interface).expect("written");
    let timestamp = Duration::from_nanos(2_000_041); // ticks, of which the interface says nothing: microseconds
    let data = frames[0].as_slice().into();
    let block =
        EnhancedPacketBlock { interface_id: 0, timestamp, original_len: frames[0].len() as u32, data, options: vec![] };
    writer.write_pcapng_block(block).expect("written");
    let frame: Value = serde_json::from_slice(&hpcc(&[&name]).stdout).expect("one line");
    assert_eq!((&frame["bth"]["dest_qp"], &frame["time_ns"]), (&280.into(), &2_000_041_000_u64.into()));
    let summary = text(&hpcc(&[&name, "--summary"]).stdout);
    assert!(summary.contains("10.0.17.1 > 10.0.18.1  CNP congestion notification qp 280"), "{summary}");
}

#[test]
fn a_capture_that_breaks_off_shows_what_came_before() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&dir, "cut.pcap");
    pcap(&path, &[bytes_of(&vector("pfc_c3_max")), bytes_of(&vector("roce_cnp_ipv4"))]);
    let bytes = std::fs::read(&path).expect("read");
    std::fs::write(&path, &bytes[..bytes.len() - 5]).expect("written");
    let output = hpcc(&[&name]);
    assert_eq!((output.status.code(), text(&output.stdout).lines().count()), (Some(2), 1));
    assert!(text(&output.stderr).contains("cut.pcap: broken after frame 1"), "{}", text(&output.stderr));
}

#[test]
fn bad_input_ends_with_2() {
    for (arguments, message) in [
        (&["--hex", "012"][..], "3 digits; expected an even number"),
        (&["--hex", "01xz"], "\"x\" at 3 is no digit"),
        (&["--hex", "00", "--telemetry", "ioam"], "expected one of paper, draft, timestamp, pint"),
        (&["--hex", "00", "--telemetry", "int_md"], "expected one of paper, draft, timestamp, pint"),
        (&["--hex", "00", "--telemetry", "ioam", "--at", "dscp=24"], "int_md"),
        (&["--hex", "00", "--telemetry", "int_md", "--at", "dscp=64"], "expected dscp=N, 0 to 63, or port=N"),
        (&["--hex", "00", "--at", "dscp=24"], "--telemetry <LAYOUT>"),
    ] {
        let output = hpcc(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&dir, "long.pcap");
    pcap(&path, &vec![bytes_of(&vector("roce_cnp_ipv4")); 5_000]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hpcc"))
        .args(["dissect", &name])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success(), "{}", text(&output.stderr));
}
