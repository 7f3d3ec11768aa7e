// SPDX-License-Identifier: GPL-2.0-only
//! A program that watches a network as users of ns-3 do - paths of `Config`, captures, two networks one after the other - and the
//! same experiment as a file: `ns3-module/examples/hpcc-leaf-spine-example.cc` sees what the results of the run tell.

use hpcc_model::results::Summary;
use hpcc_tests::{Bench, example};
use std::process::Command;

/// The program's scenario, with `LAYOUT` to be filled in.
const SCENARIO: &str = r#"
[run]
stop = "5ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
delay = "1us"
fabric_delay = "2us"
[congestion_control]
algorithm = "hpcc_plus"
[telemetry]
layout = "LAYOUT"
[wire]
profile = "rocev2_ipv6"
[switch]
pause_threshold = "100KB"
[fast_cnp]
enabled = true
[failures]
links = [{ time = "50us", a = 8, b = 11, until = "250us" }]
[monitor]
capture_nodes = [0]
[[traffic]]
kind = "incast"
receiver = 4
sender_count = 4
size = "2MB"
start = "10us"
dport = 100
[[traffic]]
kind = "flow"
src = 4
dst = 0
size = "1MB"
start = "20us"
[[traffic]]
kind = "flow"
src = 5
dst = 1
size = "1MB"
start = "20us"
[[traffic]]
kind = "flow"
src = 6
dst = 2
size = "1MB"
start = "20us"
[[traffic]]
kind = "flow"
src = 7
dst = 3
size = "1MB"
start = "20us"
"#;

const LAYOUTS: [&str; 2] = ["ioam", "ioam_slim"];
/// Bytes that five ports of 100 Gb/s can add to a queue in a microsecond, less those that leave it.
const PER_SAMPLE: u64 = 4 * 12_500;
/// Bytes at the beginning of a capture, before its first frame.
const CAPTURE_HEADER: usize = 24;
/// Bytes in front of each frame: seconds, nanoseconds, bytes kept, bytes on the wire.
const RECORD_HEADER: usize = 16;
/// How a capture with nanoseconds begins in the order of bytes in which its numbers are.
const MAGIC: u32 = 0xa1b2_3c4d;

/// The flows of a CSV file in the order of their sources, with these columns.
fn flows(csv: &str, columns: [usize; 7]) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        columns.iter().map(|&column| fields[column].to_owned()).collect()
    };
    let mut rows: Vec<Vec<String>> = csv.lines().skip(1).map(row).collect();
    rows.sort();
    rows
}

/// Time in seconds and nanoseconds, and bytes, of each frame of a capture: ns-3 and the results differ in the order of bytes of
/// numbers in front of a frame.
fn frames(capture: &[u8]) -> Vec<([u32; 2], &[u8])> {
    let number = |place: usize| capture[place..place + 4].try_into().expect("four bytes");
    let is_little = u32::from_le_bytes(number(0)) == MAGIC;
    let number = |place| if is_little { u32::from_le_bytes(number(place)) } else { u32::from_be_bytes(number(place)) };
    let (mut place, mut found) = (CAPTURE_HEADER, Vec::new());
    while place < capture.len() {
        let (time, len) = ([number(place), number(place + 4)], number(place + 8) as usize);
        place += RECORD_HEADER + len;
        found.push((time, &capture[place - len..place]));
    }
    found
}

/// The number behind a word at the beginning of a line of the program's output.
fn told(run: &str, word: &str) -> u64 {
    let line = run.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word} in {run}"));
    line[word.len()..].split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn a_program_sees_what_the_results_of_the_same_file_tell() {
    let bench = Bench::new(&[]);
    let mut command = Command::new(example("hpcc-leaf-spine-example"));
    let output = command.arg("--capture=host").current_dir(bench.path("")).output().expect("the example starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let out = String::from_utf8(output.stdout).expect("text");
    let runs: Vec<&str> = out.split("layout ").skip(1).collect();
    assert_eq!(runs.len(), LAYOUTS.len(), "{out}");
    for (layout, run) in LAYOUTS.into_iter().zip(runs) {
        assert!(run.starts_with(&format!("{layout}\n")), "{run}");
        bench.write("leaf-spine.toml", &SCENARIO.replace("LAYOUT", layout));
        let file = bench.run_to(layout, "leaf-spine.toml", &[]);
        assert_eq!(file.code, Some(0), "{}", file.err);

        let (_, rest) = run.split_once('\n').expect("lines");
        let (csv, _) = rest.split_once("lowest rate").expect("flows");
        let by_file = flows(&bench.read(&format!("{layout}/fct.csv")), [1, 2, 3, 4, 6, 7, 8]);
        assert_eq!(by_file.len(), 8, "{by_file:?}");
        assert_eq!(flows(csv, [0, 1, 2, 3, 4, 5, 6]), by_file, "{layout}: completion times");

        let summary = Summary::read(&bench.path(layout).join("summary.json")).expect("a summary");
        let counted = ["losses ", "drops ", "resent ", "notifications "].map(|word| told(run, word));
        let by_switches = summary.fast_cnp.as_ref().expect("Fast CNP is on").sent;
        assert_eq!(counted, [summary.losses, summary.drops, summary.resent_packets, by_switches], "{layout}");
        assert!(counted.iter().all(|&count| count > 0), "{layout}: {counted:?}");
        assert_eq!(told(run, "pauses "), summary.pfc_pauses, "{layout}");
        // The run looks at its queues each microsecond, the program at each change.
        let (longest, sampled) = (told(run, "longest queue "), summary.queue_max_bytes);
        assert!((sampled..=sampled + PER_SAMPLE).contains(&longest), "{layout}: {longest}, sampled {sampled}");
        assert!(run.contains("of priority 3 at /NodeList/9/DeviceList/"), "the second leaf's: {run}");
        assert!(told(run, "lowest rate ") < 10_000_000_000 && told(run, "bottleneck changes ") > 100, "{run}");

        let capture = |path: &str| std::fs::read(bench.path(path)).expect("a capture");
        let (by_program, by_run) =
            (capture(&format!("host-{layout}-0-0.pcap")), capture(&format!("{layout}/packets.pcap")));
        let (by_program, by_run) = (frames(&by_program), frames(&by_run));
        assert!(by_program.len() > 4_000 && by_program == by_run, "{layout}: frames");
    }
}
