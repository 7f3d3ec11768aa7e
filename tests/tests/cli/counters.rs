// SPDX-License-Identifier: GPL-2.0-only
//! Samples of telemetry that are too rare, so that counters may wrap between two (SPEC section 2.1): refused where they always
//! may, counted where they did. And probes that are too many.

use hpcc_tests::Bench;
use serde_json::Value;

/// A host sends to another over 10 ms, with one sample in a round trip.
const TOML: &str = r#"
[run]
stop = "100ms"
[topology]
kind = "star"
hosts = 2
rate = "100Gbps"
delay = "5ms"
[wire]
profile = "rocev2_ipv6"
[congestion_control]
algorithm = "hpcc_plus"
[switch]
buffer = "2GB"
[telemetry]
layout = "paper"
packets = "rtt"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "20MB"
"#;

fn told(set: &[&str]) -> (Option<i32>, String, Bench) {
    let bench = Bench::new(&[("far.toml", TOML)]);
    let told = bench.run("far.toml", set);
    (told.code, told.err, bench)
}

#[test]
fn samples_that_can_never_be_compared_are_refused_with_the_layouts_that_can() {
    for set in [&[][..], &["telemetry.packets=probes"], &["telemetry.packets=nth", "telemetry.every=100000"]] {
        let (code, err, bench) = told(set);
        assert_eq!(code, Some(2), "{set:?}: {err}");
        assert!(err.contains("telemetry.layout: samples are "), "{err}");
        assert!(err.contains("expected int_md, ifa, ioam, ioam_slim, or samples more often"), "{err}");
        assert!(!bench.path("out").exists());
    }
    let (code, err, _) = told(&["wire.profile=rocev2_ipv4"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("expected int_md, ifa, or samples more often"), "IOAM needs IPv6: {err}");
    for set in [&["telemetry.layout=ioam"][..], &["telemetry.packets=all"], &["telemetry.packets=nth"]] {
        let (code, err, _) = told(set);
        assert_eq!(code, Some(0), "{set:?}: {err}");
    }
}

/// A path that is looked at once in 7 ms was never compared with anything: the flow sent probes, and never moved.
#[test]
fn paths_that_are_looked_at_too_seldom_are_refused() {
    let set = |interval: &str| {
        let interval = format!("telemetry.path_interval={interval}");
        told(&["telemetry.packets=all", "telemetry.paths=3", "topology.delay=1us", "run.stop=9ms", &interval])
    };
    let (code, err, _) = set("1000");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("probes of a path (telemetry.paths, telemetry.path_interval) are "), "{err}");
    assert!(err.contains("expected int_md, ifa, ioam, ioam_slim, or probes of a path"), "{err}");
    let (code, err, _) = set("500");
    assert_eq!(code, Some(0), "{err}");
}

/// A full packet takes 88 ns with its headers, a probe 10 with its records. Where one leaves as the last one ends, the time of a
/// flow alone was reckoned for ever.
#[test]
fn probes_that_leave_data_no_room_are_refused_with_the_least_t() {
    let run = |t: &str, set: &[&str]| {
        let t = format!("transport.base_rtt={t}");
        let (code, err, _) = told(&[&["topology.delay=100ns", "run.stop=1ms", &t], set].concat());
        (code, err)
    };
    let probes = ["telemetry.packets=probes"];
    let paths = ["telemetry.packets=all", "telemetry.paths=2", "telemetry.path_interval=2"];
    for (set, tight, least) in [(&probes[..], "97ns", "98ns"), (&paths, "48ns", "49ns")] {
        let (code, err) = run(tight, set);
        assert_eq!(code, Some(2), "{set:?}: {err}");
        let least_t = format!("expected at least {}, or fewer probes", least.replace("ns", " ns"));
        assert!(err.contains("transport.base_rtt: T is ") && err.contains(&least_t), "{err}");
        let (code, err) = run(least, set);
        assert!(matches!(code, Some(0 | 3)), "{set:?}: {code:?} {err}");
    }
}

/// The second half of the flow waits for the acknowledgement of the first, 10 ms: its first sample has nothing to be
/// compared with.
#[test]
fn samples_that_could_not_be_compared_are_counted() {
    let rearmed = |layout: &str| {
        let (code, err, bench) =
            told(&["telemetry.packets=all", "transport.base_rtt=1ms", "transport.window=true", layout]);
        assert_eq!(code, Some(0), "{err}");
        let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        summary["rearmed_feedback"].as_u64()
    };
    assert_eq!(rearmed("telemetry.layout=ioam"), Some(0));
    assert_eq!(rearmed("telemetry.layout=paper"), Some(1));
}
