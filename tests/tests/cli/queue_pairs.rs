// SPDX-License-Identifier: GPL-2.0-only
//! Flows that are messages of one queue pair: they leave one after the other, and what congestion control has learnt stays.

use hpcc_tests::{Run, refused};

/// Two flows from host 0 to host 1.
const PAIR: &str = r#"
[run]
stop = "10ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "20KB"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "30KB"
"#;

/// Host 1 sends to host 2 all the time; host 0 does so twice, and rests in between.
const WARM: &str = r#"
[run]
stop = "10ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "flow"
src = 1
dst = 2
size = "4MB"
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = "500KB"
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = "500KB"
start = "150us"
[monitor]
control_interval = "1us"
control_flows = [1, 2]
"#;

const SHARED: &str = "transport.queue_pairs=per_pair";

/// The completion time of each flow in ns, by its number.
fn durations(toml: &str, set: &[&str]) -> Vec<u64> {
    Run::of(toml, set).durations()
}

/// On an idle link the second ends when one flow with the bytes of both would: its completion time is the serialisation of
/// both and one round trip. That goes for priorities and ports apart, too.
#[test]
fn the_second_of_two_messages_waits_for_the_first() {
    let (one, _) = PAIR.rsplit_once("[[traffic]]").expect("two flows");
    let alone = |size: &str| durations(&one.replace("20KB", size), &[])[0];
    let (first, both) = (alone("20KB"), alone("50KB"));
    assert_eq!(durations(PAIR, &[SHARED]), [first, both]);
    let turns = durations(PAIR, &[]);
    assert!(turns[0] > first + 1_000 && turns[1] == both, "{turns:?} {first} {both}");
    for apart in ["dport = 101", "priority = 4"] {
        let toml = PAIR.replace("size = \"30KB\"", &format!("size = \"30KB\"\n{apart}"));
        assert_eq!(durations(&toml, &[SHARED]), turns, "{apart}");
    }
}

/// Rates of each flow's points in `control.csv`, in bit/s.
fn rates(algorithm: &str, queue_pairs: &str) -> [Vec<f64>; 2] {
    let algorithm = format!("congestion_control.algorithm={algorithm}");
    let run = Run::of(WARM, &[&algorithm, &format!("transport.queue_pairs={queue_pairs}")]);
    let (flows, rates) = (run.column("control.csv", "flow"), run.column("control.csv", "rate_bps"));
    let of = |number: f64| {
        flows.iter().zip(&rates).filter(|(flow, _)| **flow == Some(number)).filter_map(|(_, r)| *r).collect()
    };
    [1.0, 2.0].map(of)
}

/// The second message begins at the rate that the first has ended with; with DCQCN, whose timers go on while the queue pair
/// rests, at what they have made of it.
#[test]
fn the_second_message_begins_with_what_the_first_has_learnt() {
    const LINE: f64 = 1e11;
    for (algorithm, most) in [("hpcc", 1.01), ("hpcc_plus", 1.01), ("dcqcn", 2.0)] {
        let [first, second] = rates(algorithm, "per_pair");
        let (last, next) = (first.last().expect("points"), second.first().expect("points"));
        assert!(*last < 0.7 * LINE && *next <= most * last, "{algorithm}: from {last} to {next} bit/s");
        let [_, cold] = rates(algorithm, "per_flow");
        assert!(cold[0] > 0.99 * LINE, "{algorithm}: {} bit/s", cold[0]);
    }
}

#[test]
fn what_a_shared_queue_pair_cannot_be_with_is_refused() {
    refused(
        PAIR,
        &[
            (&[SHARED, "transport.recovery=go_back_zero"], "queue_pairs = \"per_pair\" excludes recovery"),
            (
                &[SHARED, "compatibility.profile=reference"],
                "queue_pairs = \"per_pair\" excludes faults of the 2019 simulator",
            ),
            (&[SHARED, "transport.protocol=tcp", "congestion_control.algorithm=hpcc_plus"], "queue_pairs"),
            (&[SHARED, "traffic.0.size=9223372036854775807B"], "to 9007199254740991B"),
        ],
    );
}

/// Records from before a pause are older than a turn of their counters: nothing can be told from them, and a message after a pause
/// is as fast as the first.
#[test]
fn messages_after_long_pauses_are_no_slower() {
    let flow = |src: u32, dst: u32, size: &str, start: u32| {
        format!("[[traffic]]\nkind = 'flow'\nsrc = {src}\ndst = {dst}\nsize = '{size}'\nstart = '{start}ms'\n")
    };
    let network = "[run]\nstop = '80ms'\n[topology]\nkind = 'dumbbell'\nleft = 2\nright = 2\nrate = '100Gbps'\ndelay = '1us'\n\
                   [transport]\nqueue_pairs = 'per_pair'\n[congestion_control]\nalgorithm = 'hpcc'\n";
    let messages: String = (0..5).map(|n| flow(0, 2, "500KB", 18 * n)).collect();
    let run = Run::ending(&(network.to_owned() + &flow(1, 3, "10GB", 0) + &messages), &[], 3);
    let slowdowns = run.slowdowns();
    assert!(slowdowns.len() == 5 && slowdowns.iter().all(|&slowdown| slowdown < 6.0), "{slowdowns:?}");
}
