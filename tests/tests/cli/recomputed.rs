// SPDX-License-Identifier: GPL-2.0-only
//! HPCC++ by a second reckoning: window and U of `control.csv` from nothing but the bytes of a capture at the sender.

use hpcc_tests::Bench;
use serde_json::Value;
use std::fs;

/// Two flows over three links of three rates.
const TOML: &str = r#"
[run]
stop = "400us"
[topology]
kind = "links"
hosts = 3
switches = 2
rate = "100Gbps"
delay = "1us"
links = [{ a = 0, b = 3 }, { a = 1, b = 4 }, { a = 3, b = 4, rate = "200Gbps" }, { a = 4, b = 2, rate = "40Gbps" }]
[wire]
profile = "rocev2_ipv6"
[telemetry]
layout = "int_md"
[congestion_control]
algorithm = "hpcc_plus"
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = "10MB"
[[traffic]]
kind = "flow"
src = 1
dst = 2
size = "200KB"
start = "100us"
[monitor]
capture_nodes = [0]
control_interval = "1us"
control_flows = [0]
"#;
const MTU: u64 = 1_000;
const LINE: f64 = 100e9;
/// Gb/s by IFA's code of a rate.
const SPEEDS: [f64; 8] = [10.0, 25.0, 40.0, 50.0, 100.0, 200.0, 400.0, 800.0];
/// Where the UDP header of an IPv6 packet without extensions begins, and the BTH behind it.
const UDP: usize = 14 + 40;
const BTH: usize = UDP + 8;

/// A switch's record of a link.
#[derive(Clone, Copy)]
struct Record {
    ns: u64,
    queue: f64,
    rate: f64,
    sent: u64,
}

/// Frames of a capture with their times in ns.
fn frames(capture: &[u8]) -> Vec<(u64, &[u8])> {
    let word = |at: usize| u64::from(u32::from_be_bytes(capture[at..at + 4].try_into().expect("4 bytes")));
    let (mut at, mut found) = (24, Vec::new());
    while at < capture.len() {
        let (time, len) = (word(at) * 1_000_000_000 + word(at + 4), word(at + 8) as usize);
        found.push((time, &capture[at + 16..at + 16 + len]));
        at += 16 + len;
    }
    found
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// The records behind an AETH in the order of the path: 28 bytes each behind 16 of header, the last hop first.
fn records(frame: &[u8]) -> Vec<Record> {
    let hops = frame[BTH + 16 + 16..frame.len() - 4].chunks_exact(28).rev();
    hops.map(|hop| Record {
        ns: number(&hop[12..20]),
        queue: number(&hop[9..12]) as f64,
        rate: SPEEDS[usize::from(hop[20] >> 4)] * 1e9,
        sent: number(&hop[20..28]) & (u64::MAX >> 4),
    })
    .collect()
}

/// The drafts' variables, with their eta, maxStage and N, in bytes and ns.
struct Sender {
    t: f64,
    first: f64,
    window: f64,
    reference: f64,
    stage: u32,
    utilisation: f64,
    last: Vec<Record>,
    round: u64,
}

impl Sender {
    fn new(t: f64) -> Sender {
        let first = LINE * t / 8e9;
        Sender { t, first, window: first, reference: first, stage: 0, utilisation: 1.0, last: Vec::new(), round: 0 }
    }

    /// Lines 1 to 10.
    fn measure(&mut self, now: &[Record]) {
        let (mut worst, mut tau) = (0.0, 0.0);
        for (new, old) in now.iter().zip(&self.last) {
            let time = (new.ns - old.ns) as f64;
            let sent = (new.sent - old.sent) as f64 * 8e9 / time;
            let load = new.queue.min(old.queue) * 8e9 / (new.rate * self.t) + sent / new.rate;
            if load > worst {
                (worst, tau) = (load, time.min(self.t));
            }
        }
        self.utilisation = (1.0 - tau / self.t) * self.utilisation + tau / self.t * worst;
    }

    /// Lines 11 to 27, for an acknowledgement of the bytes before `acked`.
    fn hear(&mut self, acked: u64, next: u64, now: Vec<Record>) {
        let commit = acked > self.round;
        if !self.last.is_empty() {
            self.measure(&now);
            let (base, stage) = if self.utilisation >= 0.95 || self.stage >= 5 {
                (self.reference / (self.utilisation / 0.95), 0)
            } else {
                (self.reference, self.stage + 1)
            };
            let least = 1e8 * self.t / 8e9;
            self.window = (base + self.first * (1.0 - 0.95) / 100.0).clamp(least, self.first);
            if commit {
                (self.reference, self.stage) = (self.window, stage);
            }
        }
        if commit {
            self.round = self.round.max(next);
        }
        self.last = now;
    }
}

#[test]
fn req_05_window_and_u_follow_from_the_bytes_on_the_wire() {
    let bench = Bench::new(&[("wire.toml", TOML)]);
    let output = bench.run("wire.toml", &[]);
    assert_eq!(output.code, Some(3), "the first flow goes on: {}", output.err);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let table = bench.read("out/control.csv");
    let mut rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>()).peekable();
    let capture = fs::read(bench.path("out/packets.pcap")).expect("a capture");
    let mut sender = Sender::new(summary["base_rtt_ns"].as_f64().expect("T"));
    let (mut next, mut before, mut checked) = (0, 0, 0);
    for (time, frame) in frames(&capture) {
        let at = |row: &[&str]| row[0].parse::<u64>().expect("ns");
        while let Some(row) = rows.next_if(|row| at(row) < time) {
            // Bytes that come at the very time of a row may be in it or not.
            if at(&row) == before {
                continue;
            }
            let [window, utilisation] = [3, 5].map(|column| row[column].parse::<f64>().expect("a number"));
            assert!((window - sender.window).abs() <= 1.0, "{row:?}: {}", sender.window);
            assert!((utilisation - sender.utilisation).abs() < 2e-6, "{row:?}: {}", sender.utilisation);
            checked += 1;
        }
        let ends = |psn: u64| (psn + 1) * MTU;
        if frame[BTH..].first() == Some(&17) {
            sender.hear(ends(number(&frame[BTH + 9..BTH + 12])), next, records(frame));
        } else {
            next += MTU;
        }
        before = time;
    }
    assert!(checked > 300, "{checked} rows");
    assert!(sender.utilisation > 0.9 && sender.window < sender.first / 2.0, "a busy path");
}
