// SPDX-License-Identifier: GPL-2.0-only
//! When HPCC++ reacts, and to which rate of a link: what the drafts chose, and what they chose it over (draft-miao-rtgwg-
//! hpccplus-00, sections 4.2 and 9.2; figures 6 and 13 of the HPCC paper).

use hpcc_model::results::queue_csv;
use hpcc_tests::{Run, refused};

/// The switch, and its port to the receiver.
const BOTTLENECK: (u32, u32) = (17, 17);

/// Sixteen hosts send to one at the same moment.
const INCAST: &str = r#"
[run]
stop = "2ms"
[topology]
kind = "star"
hosts = 17
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "hpcc_plus"
[telemetry]
layout = "paper"
[[traffic]]
kind = "incast"
receiver = 16
sender_count = 16
size = "50MB"
[monitor]
queue_interval = "1us"
"#;

/// The queue before the receiver: each change with its time in ns.
type Queue = Vec<(u64, u64)>;

/// The queue, and what the flows brought in as a part of the link's capacity.
fn run(toml: &str, set: &str) -> (Queue, f64) {
    let run = Run::ending(toml, &[set], 3);
    let rows = queue_csv::rows(&run.bench.path("out/queue.csv")).expect("queues").map(|row| row.expect("a row"));
    let rows = rows.filter(|row| (row.node, row.port) == BOTTLENECK).map(|row| (row.time_ns, row.qlen_bytes));
    (rows.collect(), run.acked().iter().sum::<u64>() as f64 / 25e6)
}

/// Figure 13 of the HPCC paper. One reaction in a round trip leaves the first queue for longer; a reaction to each
/// acknowledgement by itself takes one queue for many, and leaves a fourth of the link idle.
#[test]
fn req_06_a_reaction_to_each_acknowledgement_starves_and_one_in_t_is_slow() {
    let [both, rtt, ack] = ["both", "rtt", "ack"].map(|react| {
        let (queue, used) = run(INCAST, &format!("congestion_control.react={react}"));
        let peak = queue.iter().map(|&(_, bytes)| bytes).max().expect("a queue");
        let after_peak = queue.iter().skip_while(|&&(_, bytes)| bytes < peak);
        let drained = after_peak.clone().find(|&&(_, bytes)| bytes < peak / 10).expect("it drains").0;
        (drained - after_peak.clone().next().expect("a peak").0, used)
    });
    assert!(rtt.0 > both.0 + 40_000, "{rtt:?} after {both:?}");
    assert!(both.1 > 0.85 && rtt.1 > 0.85 && ack.1 < 0.75, "{both:?} {rtt:?} {ack:?}");
}

/// Figure 6 of the HPCC paper: two flows over one link. What waits at the start drains, once; with the rate of arrivals it
/// counts twice, the flows slow down too much, speed up again, and queues come back.
#[test]
fn the_rate_of_arrivals_makes_queues_oscillate() {
    let two = INCAST.replace("sender_count = 16", "sender_count = 2");
    let [sent, arriving] = ["tx", "rx"].map(|rate| {
        let (queue, _) = run(&two, &format!("congestion_control.link_rate={rate}"));
        let grown = queue.into_iter().skip_while(|&(_, bytes)| bytes < 45_000);
        grown.skip_while(|&(_, bytes)| bytes > 10_000).map(|(_, bytes)| bytes).max()
    });
    assert!(sent < Some(2_500) && arriving > Some(25_000), "{sent:?} {arriving:?}");
}

#[test]
fn arrivals_need_records_of_queue_lengths() {
    let rx = "congestion_control.link_rate=rx";
    refused(
        INCAST,
        &[
            (&[rx, "switch.telemetry_queue=sojourn"], "telemetry_queue = \"sojourn\" does not tell"),
            (&[rx, "telemetry.content=busiest_link"], "telemetry.content: content needs the algorithm hpcc_plus, with"),
            (&[rx, "congestion_control.algorithm=rx_hpcc"], "link_rate"),
        ],
    );
}
