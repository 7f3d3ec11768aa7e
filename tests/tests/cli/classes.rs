// SPDX-License-Identifier: GPL-2.0-only
//! Classes of service at the ports of hosts, and a guard that knows the shares of classes (draft-miao-rtgwg-hpccplus-00,
//! section 9.3; REQ-27, REQ-29).

use hpcc_tests::Bench;
use serde_json::Value;

/// Host 0 sends to two others at once, in two priorities.
const NIC: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "none"
[[traffic]]
kind = "flow"
src = 0
dst = 1
priority = 3
size = "3MB"
[[traffic]]
kind = "flow"
src = 0
dst = 2
priority = 4
size = "3MB"
"#;

/// Host 0 fills its class, three quarters of the link to host 4; hosts 2 and 3 are measured against the other quarter.
const SHARES: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "star"
hosts = 5
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "hpcc_plus"
[telemetry]
layout = "paper"
[legacy]
nodes = [0]
algorithm = "none"
[switch]
telemetry_scope = "queue"
classes = "3:3000,4:1000"
[[traffic]]
kind = "flow"
src = 0
dst = 4
priority = 3
size = "3MB"
[[traffic]]
kind = "incast"
receiver = 4
senders = [2, 3]
size = "1MB"
priority = 4
"#;

/// The summary of a run, and the time of each flow in microseconds, in the order of the file.
fn run(toml: &str, set: &[&str]) -> (Value, Vec<u64>) {
    let bench = Bench::new(&[("run.toml", toml)]);
    let output = bench.run("run.toml", set);
    assert_eq!(output.code, Some(0), "{set:?}: {}", output.err);
    let summary = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let flows = bench.read("out/fct.csv");
    let cell =
        |row: &str, column| row.split(',').nth(column).and_then(|cell| cell.parse::<u64>().ok()).expect("a number");
    let mut times: Vec<(u64, u64)> = flows.lines().skip(1).map(|row| (cell(row, 0), cell(row, 8) / 1_000)).collect();
    times.sort_unstable();
    (summary, times.into_iter().map(|(_, time)| time).collect())
}

/// 3 MB take 251 us alone with headers, and 335 us at three quarters of the link.
#[test]
fn req_29_a_port_of_a_host_serves_its_flows_by_their_classes() {
    let times = |set: &[&str]| run(NIC, set).1;
    let in_turn = times(&[]);
    assert!(in_turn.iter().all(|time| (495..515).contains(time)), "{in_turn:?}");
    let shared = times(&["transport.classes='3:3000, 4:1000'"]);
    assert!((330..345).contains(&shared[0]) && (495..515).contains(&shared[1]), "{shared:?}");
    let other = times(&["transport.classes='3:1000, 4:3000'"]);
    assert!((495..515).contains(&other[0]) && (330..345).contains(&other[1]), "{other:?}");
    let strict = times(&["transport.classes='4:strict'"]);
    assert!((495..515).contains(&strict[0]) && (250..265).contains(&strict[1]), "{strict:?}");
}

/// Three flows of one class and one of another: the class of three has half of the link, the lone flow the other half.
#[test]
fn flows_of_one_class_take_turns() {
    let more = "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\npriority = 3\nsize = \"3MB\"\n";
    let three = [NIC, more, more].concat();
    let (_, times) = run(&three, &["transport.classes='3:1500, 4:1500'"]);
    assert!((495..515).contains(&times[1]), "{times:?}");
    let rest = [times[0], times[2], times[3]];
    assert!(rest.iter().all(|time| (995..1_020).contains(time)), "{times:?}");
}

/// The class has the whole link once host 0 is done, and reports four times its rate: no lie. A switch that reports an idle
/// link is noticed all the same; its flow is let go on at its rate here, to finish.
#[test]
fn req_27_a_guard_goes_with_the_shares_of_classes() {
    let guard = "telemetry.guard=true";
    let (plain, guarded) = (run(SHARES, &[]), run(SHARES, &[guard]));
    assert_eq!(guarded.0["rejected_by_guard"], 0, "{:#}", guarded.0);
    assert_eq!(plain.1, guarded.1);
    let attack = "attack=[{kind='tampered_feedback', from=5, victims=[2], claim='idle', start='50us'}]";
    let caught = run(SHARES, &[guard, attack, "telemetry.decay_after=0"]).0;
    let altered = caught["attacks"][0]["frames_altered"].as_u64().expect("a number");
    let rejected = caught["rejected_by_guard"].as_u64().expect("a number");
    assert!(altered > 500 && rejected > altered * 9 / 10, "{rejected} of {altered}");
}

/// Frames of priority 4 in a capture at the receiver that waited longer than 1 us: the bytes in IFA's word for the
/// queue, and the bytes that the link sends in the time of IFA's own field.
fn waits(set: &[&str]) -> Vec<(u64, u64)> {
    let bench = Bench::new(&[("run.toml", SHARES)]);
    let captured = ["wire.profile=rocev2_ipv4", "telemetry.layout=ifa", "monitor.capture_nodes=[4]"];
    let output = bench.run("run.toml", &[&captured, set].concat());
    assert_eq!(output.code, Some(0), "{set:?}: {}", output.err);
    let frames = bench.hpcc(&["dissect", "out/packets.pcap"]).out;
    let hop = |line: &str| {
        let frame: Value = serde_json::from_str(line).expect("JSON");
        let hop = &frame["telemetry"]["hops"][0];
        let residence = hop["residence_ns"].as_u64().filter(|&time| time > 1_000 && hop["queue"] == 4)?;
        Some((hop["opaque"][0].as_u64().expect("a word"), residence * 100 / 8))
    };
    frames.lines().filter_map(hop).collect()
}

/// With IFA the time in the switch stays in its own field and the queue in its word; senders heed the time as they do where it
/// takes the queue's place.
#[test]
fn req_28_a_time_in_the_switch_has_its_own_field_where_there_is_one() {
    let by_time = "switch.telemetry_queue=sojourn";
    let waits = [waits(&[]), waits(&[by_time])];
    for waits in &waits {
        assert!(waits.len() > 50, "{waits:?}");
        assert!(waits.iter().all(|(queue, time)| queue != time), "the queue is no time: {waits:?}");
    }
    let time = |layout: &str, set: &[&str]| {
        let layout = format!("telemetry.layout={layout}");
        run(SHARES, &[&["wire.profile=rocev2_ipv4", layout.as_str()], set].concat()).1[0]
    };
    let (length, ifa, int_md) = (time("ifa", &[]), time("ifa", &[by_time]), time("int_md", &[by_time]));
    assert!(ifa * 102 / 100 < length, "who waits for a turn takes less, host 0 more: {ifa} and {length}");
    assert!(ifa.abs_diff(int_md) < int_md / 50, "{ifa} and {int_md}");
}

/// Hosts 1 to 8 send to host 0 at once, half of them in a priority that PFC pauses.
#[test]
fn lossless_and_lossy_priorities_share_a_switch() {
    let incast = |name: &str, senders: &str, priority: u8| {
        format!(
            "[[traffic]]\nkind = \"incast\"\nname = \"{name}\"\nreceiver = 0\nsenders = \"{senders}\"\nsize = \"2MB\"\npriority = {priority}\n"
        )
    };
    let head = "[run]\nstop = \"50ms\"\n[topology]\nkind = \"star\"\nhosts = 9\nrate = \"100Gbps\"\ndelay = \"1us\"\n[congestion_control]\nalgorithm = \"dcqcn\"\n";
    let flows = [incast("kept", "1-4", 3), incast("lost", "5-8", 5)].concat();
    let bench = Bench::new(&[("a.toml", &format!("{head}[switch]\nbuffer = \"2MB\"\n{flows}"))]);
    let run = |set: &[&str]| -> Value {
        let set = set.iter().flat_map(|set| ["--set", set]);
        let run = ["run", "a.toml", "--simulator", "core", "--out", "out", "--force"];
        let told = bench.hpcc(&run.into_iter().chain(set).collect::<Vec<_>>());
        assert_eq!(told.code, Some(0), "{}", told.err);
        serde_json::from_str(&bench.read("out/summary.json")).expect("JSON")
    };
    let count = |summary: &Value, key: &str| summary[key].as_u64().expect("a number");
    let lossless = run(&[]);
    assert_eq!((count(&lossless, "drops"), count(&lossless, "resent_packets")), (0, 0));
    let mixed = run(&["switch.lossy_priorities=5"]);
    assert!(count(&mixed, "drops") > 100 && count(&mixed, "pfc_pauses") > 0, "{mixed:#}");
    assert_eq!(mixed["scenario"]["switch"]["pfc_priorities"], "3");
    assert!(count(&mixed, "pfc_pauses") < count(&lossless, "pfc_pauses"), "half of the senders are never paused");
}
