// SPDX-License-Identifier: GPL-2.0-only
//! Hosts that take what arrives more slowly than their link brings it (`[receive]`).

use hpcc_formats::results::fct_csv;
use hpcc_tests::Bench;
use serde_json::Value;

/// Host 0 sends to host 3, and host 1 to host 2. Frames of 1,000 bytes of payload have 1,048 bytes.
const TOML: &str = r#"
[run]
stop = "50ms"
[topology]
kind = "star"
hosts = 4
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "none"
[transport]
window = false
[switch]
buffer = "200MB"
[receive]
slow = "3"
rate = "40Gbps"
buffer = "300KB"
[[traffic]]
kind = "flow"
src = 0
dst = 3
size = "10MB"
[[traffic]]
kind = "flow"
src = 1
dst = 2
size = "10MB"
"#;

/// The completion time of each flow in ns, and the run's summary.
fn run(sets: &[&str]) -> (Vec<u64>, Value) {
    let bench = Bench::new(&[("run.toml", TOML)]);
    let told = bench.run("run.toml", sets);
    assert_eq!(told.code, Some(0), "{sets:?}: {}", told.err);
    let mut flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
    flows.sort_by_key(|flow| flow.flow);
    let summary = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    (flows.iter().map(|flow| flow.fct_ns).collect(), summary)
}

fn count(summary: &Value, pointer: &str) -> u64 {
    summary.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}: {summary:#}"))
}

/// Ten thousand frames at the host's rate, and what the first and the last answer take besides.
#[test]
fn a_slow_host_takes_what_its_rate_lets_it() {
    for (rate, gbps) in [("40Gbps", 40), ("10Gbps", 10), ("99Gbps", 99)] {
        let (fct, summary) = run(&[&format!("receive.rate={rate}")]);
        let taken = 10_000 * 1_048 * 8 / gbps;
        assert!((taken..taken + 10_000).contains(&fct[0]), "{rate}: {} ns, {taken} ns to take", fct[0]);
        // Another host's frames do not wait.
        assert!((838_400..860_000).contains(&fct[1]), "{rate}: {} ns", fct[1]);
        assert_eq!(count(&summary, "/receive/dropped"), 0, "{rate}");
        assert_eq!(count(&summary, "/receive/pauses"), count(&summary, "/pfc_pauses"), "{rate}");
    }
    let (_, summary) = run(&["receive.rate=40Gbps"]);
    assert!(count(&summary, "/receive/pauses") > 10, "{summary:#}");
    // While it is paused nothing comes, and otherwise the link's rate.
    let share = count(&summary, "/pfc_pause_ns") as f64 / (10_000.0 * 1_048.0 * 8.0 / 40.0);
    assert!((0.5..0.65).contains(&share), "paused {share} of the time, 0.6 is what 40 of 100 Gb/s need");
}

/// The sooner it pauses the less it holds; the closer the threshold to resume, the more and the shorter pauses.
#[test]
fn thresholds_say_when_to_pause_and_when_to_resume() {
    let (_, early) = run(&["receive.pause_above=100KB"]);
    let (_, often) = run(&["receive.pause_above=100KB", "receive.resume_below=90KB"]);
    let pauses = |summary| count(summary, "/receive/pauses");
    assert!(pauses(&often) > pauses(&early), "{} and {} pauses", pauses(&often), pauses(&early));
    let settings = &early["scenario"]["receive"];
    assert_eq!((count(settings, "/pause_above_bytes"), count(settings, "/resume_below_bytes")), (100_000, 50_000));
}

/// Where nothing is paused, what the buffer has no room for is sent again.
#[test]
fn without_pauses_frames_are_dropped_and_sent_again() {
    let (fct, summary) = run(&[
        "switch.mode=lossy",
        "transport.recovery=selective_repeat",
        "transport.timeout=200us",
        "receive.buffer=20KB",
    ]);
    let dropped = count(&summary, "/receive/dropped");
    assert_eq!(count(&summary, "/drops"), 0, "switches have room");
    assert!(dropped > 0, "{summary:#}");
    assert_eq!((count(&summary, "/receive/pauses"), count(&summary, "/pfc_pauses")), (0, 0));
    assert!(count(&summary, "/resent_packets") >= dropped, "{dropped} dropped: {summary:#}");
    assert!(fct[0] >= 10_000 * 1_048 * 8 / 40, "{fct:?}");
}

/// Probes wait behind data, and records come back with what has been taken: all ways of telemetry go on.
#[test]
fn telemetry_comes_back_from_slow_hosts() {
    for packets in ["all", "probes", "rtt"] {
        let (fct, _) = run(&[
            "congestion_control.algorithm=hpcc_plus",
            "transport.window=true",
            &format!("telemetry.packets={packets}"),
        ]);
        assert!((2_096_000..2_600_000).contains(&fct[0]), "{packets}: {fct:?}");
    }
}

#[test]
fn without_slow_hosts_the_section_is_off() {
    let bench = Bench::new(&[("run.toml", TOML)]);
    let told = bench.run("run.toml", &["receive.slow=none"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.err.contains("receive.slow turns it off: nothing else in [receive] has an effect"), "{}", told.err);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    assert!(summary["receive"].is_null() && summary["scenario"]["receive"].is_null(), "{summary:#}");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    for (sets, expected) in [
        (&["receive.slow=4"][..], &["receive.slow", "node 4 is a switch; expected hosts"][..]),
        (&["receive.slow=7"], &["receive.slow", "7"]),
        (&["receive.rate=100Gbps"], &["receive.rate", "from 3 to 4, brings no more than 100Gbps", "less"]),
        (&["receive.buffer=20KB"], &["receive.buffer", "20000 bytes", "may come over the link from 3 to 4"]),
        (&["receive.pause_above=290KB"], &["receive.pause_above", "expected at most"]),
        (&["receive.pause_above=9KB", "receive.resume_below=10KB"], &["receive.resume_below", "at most that"]),
        (&["switch.mode=lossy", "receive.pause_above=9KB"], &["receive.pause_above", "lossy", "expected auto"]),
        (&["switch.mode=lossy", "receive.resume_below=9KB"], &["receive.resume_below", "lossy"]),
    ] {
        let bench = Bench::new(&[("run.toml", TOML)]);
        let told = bench.run("run.toml", sets);
        assert_eq!(told.code, Some(2), "{sets:?}: {}", told.err);
        assert!(expected.iter().all(|part| told.err.contains(part)), "{sets:?}: {}", told.err);
        assert!(!bench.path("out").exists(), "{sets:?} left results");
    }
    let bench = Bench::new(&[("run.toml", &TOML.replace("slow = \"3\"\n", ""))]);
    let told = bench.run("run.toml", &[]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("receive.buffer: buffer belongs to slow = HOSTS"), "{}", told.err);
    assert!(told.err.contains(", which [receive] does not say"), "{}", told.err);
}
