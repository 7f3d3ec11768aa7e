// SPDX-License-Identifier: GPL-2.0-only
//! What is measured of a run whose last flow is not its end, and of flows whose path is not the usual one: found by somebody who had
//! the pages alone.

use hpcc_tests::{Bench, Run};

/// Four hosts send without an end to a fifth, and one flow finishes early.
const ENDLESS: &str = r#"
[run]
stop = "5ms"
[topology]
kind = "star"
hosts = 5
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "none"
[transport]
window = false
timeout = "0s"
[switch]
buffer = "1MB"
[[traffic]]
kind = "incast"
sender_count = 4
receiver = 4
size = "endless"
[[traffic]]
kind = "flow"
name = "short"
src = 0
dst = 1
size = 1000
[monitor]
queue_interval = "10us"
goodput_interval = "100us"
"#;

/// Two variants' worth of measures of it.
const SWEEP: &str = r#"
title = "x"
base = "run.toml"
[[variant]]
name = "none"
[report]
columns = ["queue_p50_bytes", "pfc_paused_percent"]
[[claim]]
text = "goodput"
expected = "x"
measure = "total-goodput"
of = "none"
holds = { at_least = 90 }
[[claim]]
text = "paused"
expected = "x"
measure = "paused-share"
of = "none"
holds = { at_least = 0.2 }
"#;

/// Of a metric of the sweep the only value.
fn metric(csv: &str, name: &str) -> f64 {
    let row = csv.lines().find(|line| line.contains(&format!(",{name},"))).unwrap_or_else(|| panic!("{name}: {csv}"));
    row.rsplit(',').next().and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{row}"))
}

#[test]
fn flows_without_an_end_are_measured_to_the_end_of_the_run() {
    let run = Run::of(ENDLESS, &[]);
    assert_eq!(run.count("/busy_until_ns"), 5_000_000, "they send to the end");
    let bench = Bench::new(&[("run.toml", ENDLESS), ("sweep.toml", SWEEP)]);
    let out = bench.hpcc(&["sweep", "sweep.toml", "--out", "out", "--simulator", "core"]);
    assert_eq!(out.code, Some(0), "{}{}", out.out, out.err);
    let csv = bench.read("out/sweep.csv");
    let paused = metric(&csv, "pfc_paused_percent");
    assert!(
        (20.0..40.0).contains(&paused),
        "four of five senders wait three quarters of the time, of 10 ports: {paused}"
    );
    assert!(metric(&csv, "queue_p50_bytes") > 100_000.0, "{csv}");
    assert!(out.out.matches("does not hold").count() == 0, "{}", out.out);
}

/// A pause that goes on when all flows are over is no part of the time that is measured.
#[test]
fn pauses_behind_the_last_flow_are_no_share_of_its_time() {
    let run = "[run]\nstop = \"5ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
         [congestion_control]\nalgorithm = \"none\"\n[transport]\ntimeout = \"0s\"\n[[traffic]]\nkind = \"flow\"\nsrc = 0\n\
         dst = 1\nsize = \"1MB\"\n[failures]\nstorms = [{ host = 1, time = \"1ms\" }]\n";
    let sweep = "title = \"x\"\nbase = \"run.toml\"\n[[variant]]\nname = \"none\"\n[report]\ncolumns = [\"pfc_paused_percent\"]\n";
    let bench = Bench::new(&[("run.toml", run), ("sweep.toml", sweep)]);
    let out = bench.hpcc(&["sweep", "sweep.toml", "--out", "out", "--simulator", "core"]);
    assert_eq!(out.code, Some(0), "{}{}", out.out, out.err);
    let paused = metric(&bench.read("out/sweep.csv"), "pfc_paused_percent");
    assert!(paused.abs() < 1e-9, "the flow ends at 90 us, the storm begins at 1 ms: {paused}");
}

/// Flows alone take as long as is ideal, whatever seeds or weights ECMP's hash has.
#[test]
fn a_flow_alone_takes_its_ideal_time_by_every_ecmp() {
    let toml = r#"
[run]
stop = "10ms"
[topology]
kind = "links"
hosts = 3
switches = 4
rate = "100Gbps"
delay = "1us"
links = [{a=0,b=3},{a=3,b=4},{a=3,b=5,rate="10Gbps"},{a=4,b=6},{a=5,b=6},{a=6,b=1},{a=6,b=2}]
[transport]
window = false
[congestion_control]
algorithm = "none"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = 100000
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = 100000
start = "200us"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = 100000
start = "400us"
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = 100000
start = "600us"
"#;
    for set in [
        &["load_balancing.ecmp_weighted=true"][..],
        &["load_balancing.ecmp_seed=tier"],
        &["load_balancing.ecmp_seed=none"],
        &["load_balancing.scheme=random", "load_balancing.priorities=1"],
    ] {
        let slowdowns = Run::of(toml, set).slowdowns();
        assert_eq!(slowdowns.len(), 4, "{set:?}");
        assert!(slowdowns.iter().all(|slowdown| (slowdown - 1.0).abs() < 0.001), "{set:?}: {slowdowns:?}");
    }
}
