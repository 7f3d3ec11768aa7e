// SPDX-License-Identifier: GPL-2.0-only
//! Samples of telemetry that are too rare, so that counters may wrap between two: refused where they always
//! may, counted where they did. And probes that are too many.

use hpcc_tests::{Run, refused};

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
sampling = "rtt"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "20MB"
"#;

/// A path that is looked at once in 7 ms was never compared with anything: the flow sent probes, and never moved. And where a probe
/// leaves as the last one ends (a full packet takes 88 ns with its headers, a probe 10), there is no room for data.
#[test]
fn samples_that_can_never_be_compared_and_probes_without_room_are_refused() {
    let paths = ["telemetry.sampling=all", "telemetry.paths=3", "topology.delay=1us", "telemetry.path_interval=1000"];
    let near = ["topology.delay=100ns", "telemetry.sampling=probes", "transport.base_rtt=97ns"];
    let both = ["telemetry.sampling=all", "telemetry.paths=2", "telemetry.path_interval=2", "transport.base_rtt=48ns"];
    refused(
        TOML,
        &[
            (&[], "expected int_md, ifa, ioam, ioam_slim, or samples more often"),
            (&["telemetry.sampling=probes"], "telemetry.layout: samples are "),
            (&["telemetry.sampling=nth", "telemetry.every=100000"], "telemetry.layout: samples are "),
            (&["wire.profile=rocev2_ipv4"], "expected int_md, ifa, or samples more often"),
            (&paths, "expected int_md, ifa, ioam, ioam_slim, or probes of a path"),
            (&near, "expected at least 99 ns, or fewer probes"),
            (&[&["topology.delay=100ns"][..], &both].concat(), "expected at least 50 ns, or fewer probes"),
        ],
    );
    Run::of(TOML, &["telemetry.layout=ioam"]);
    Run::of(TOML, &["telemetry.sampling=nth"]);
}

/// The second half of the flow waits for the acknowledgement of the first, 10 ms: its first sample has nothing to be
/// compared with.
#[test]
fn samples_that_could_not_be_compared_are_counted() {
    for (layout, baseline_resets) in [("ioam", 0), ("paper", 1)] {
        let set = ["telemetry.sampling=all", "transport.base_rtt=1ms", "transport.window=true"];
        let run = Run::of(TOML, &[&set[..], &[&format!("telemetry.layout={layout}")]].concat());
        assert_eq!(run.count("/baseline_resets"), baseline_resets, "{layout}");
    }
}
