// SPDX-License-Identifier: GPL-2.0-only
//! Counters of telemetry that may wrap between two samples (SPEC section 2.1): refused where they always may, counted
//! where they did.

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
