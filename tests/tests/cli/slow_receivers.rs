// SPDX-License-Identifier: GPL-2.0-only
//! Hosts that take what arrives more slowly than their link brings it (`[receive]`).

use hpcc_tests::{Run, refused};

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
hosts = "3"
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

/// Ten thousand frames at the host's rate, and what the first and the last answer take besides.
#[test]
fn a_slow_host_takes_what_its_rate_lets_it() {
    for (rate, gbps) in [("40Gbps", 40), ("10Gbps", 10), ("99Gbps", 99)] {
        let run = Run::of(TOML, &[&format!("receive.rate={rate}")]);
        let (fct, taken) = (run.durations(), 10_000 * 1_048 * 8 / gbps);
        assert!((taken..taken + 10_000).contains(&fct[0]), "{rate}: {} ns, {taken} ns to take", fct[0]);
        // Another host's frames do not wait.
        assert!((838_400..860_000).contains(&fct[1]), "{rate}: {} ns", fct[1]);
        assert_eq!(run.count("/receive/dropped"), 0, "{rate}");
        assert_eq!(run.count("/receive/pauses"), run.count("/pfc_pauses"), "{rate}");
        // While it is paused nothing comes, and otherwise the link's rate.
        let share = run.count("/pfc_pause_ns") as f64 / taken as f64;
        assert!(
            gbps != 40 || (0.5..0.65).contains(&share),
            "paused {share} of the time, 0.6 is what 40 of 100 Gb/s need"
        );
    }
    let pauses = |resume: &str| Run::of(TOML, &["receive.pause_above=100KB", resume]).count("/receive/pauses");
    assert!(pauses("receive.resume_below=90KB") > pauses("receive.resume_below=50KB"), "more and shorter ones");
}

/// Where nothing is paused, what the buffer has no room for is sent again.
#[test]
fn without_pauses_frames_are_dropped_and_sent_again() {
    let recovery = ["switch.mode=lossy", "transport.recovery=selective_repeat", "transport.timeout=200us"];
    let run = Run::of(TOML, &[&recovery[..], &["receive.buffer=20KB"]].concat());
    let dropped = run.count("/receive/dropped");
    assert_eq!((run.count("/drops"), run.count("/receive/pauses"), run.count("/pfc_pauses")), (0, 0, 0));
    assert!(dropped > 0 && run.count("/resent_packets") >= dropped, "{dropped} dropped: {:#}", run.summary);
    assert!(run.durations()[0] >= 10_000 * 1_048 * 8 / 40);
}

/// Probes wait behind data, and records come back with what has been taken: all ways of telemetry go on.
#[test]
fn telemetry_comes_back_from_slow_hosts() {
    for packets in ["all", "probes", "rtt"] {
        let set = ["congestion_control.algorithm=hpcc_plus", "transport.window=true"];
        let fct = Run::of(TOML, &[&set[..], &[&format!("telemetry.sampling={packets}")]].concat()).durations();
        assert!((2_096_000..2_600_000).contains(&fct[0]), "{packets}: {fct:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    refused(
        TOML,
        &[
            (&["receive.hosts=4"], "node 4 is a switch; expected hosts"),
            (&["receive.rate=100Gbps"], "from 3 to 4, brings no more than 100Gbps"),
            (&["receive.buffer=20KB"], "may come over the link from 3 to 4"),
            (&["receive.pause_above=290KB"], "receive.pause_above"),
            (&["receive.pause_above=9KB", "receive.resume_below=10KB"], "at most that"),
            (&["switch.mode=lossy", "receive.pause_above=9KB"], "expected auto"),
        ],
    );
    refused(&TOML.replace("hosts = \"3\"\n", ""), &[(&[], "receive.buffer: buffer belongs to hosts = HOSTS")]);
}
