// SPDX-License-Identifier: GPL-2.0-only
//! What a flow has in flight before and after it first hears of the network (REQ-08), by its packets.

use hpcc_model::results::packet_trace::{PacketKind, TraceEvent, TraceReader, TraceRecord};
use hpcc_tests::Bench;
use serde_json::Value;

/// Three hosts with ports of 100 Gb/s send to host 3 over 25 Gb/s.
const TOML: &str = r#"
[run]
stop = "400us"
[topology]
kind = "dumbbell"
left = 3
right = 1
rate = "100Gbps"
delay = "1us"
bottleneck_rate = "25Gbps"
[telemetry]
layout = "paper"
[[traffic]]
kind = "incast"
receiver = 3
sender_count = 3
size = "2MB"
[monitor]
trace_nodes = [0]
"#;
const MTU: u64 = 1_000;

/// Packets of host 0: time and bytes in flight, the packet's included.
struct Sending {
    in_flight: Vec<(u64, u64)>,
    first_ack: u64,
    base_rtt: u64,
}

impl Sending {
    fn of(algorithm: &str) -> Sending {
        let bench = Bench::new(&[("narrow.toml", TOML)]);
        let output = bench.run("narrow.toml", &[&format!("congestion_control.algorithm={algorithm}")]);
        assert!(matches!(output.code, Some(0 | 3)), "{algorithm}: {}", output.err);
        let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        let reader = TraceReader::open(&bench.path("out/packets.tr")).expect("a trace");
        let (mut in_flight, mut acked, mut first_ack) = (Vec::new(), 0, u64::MAX);
        for record in reader {
            let TraceRecord { kind, event, time_ns, seq, payload_bytes, .. } = record.expect("a record");
            match (kind, event) {
                (PacketKind::Data, TraceEvent::Dequeue) => {
                    in_flight.push((time_ns, u64::from(seq) + u64::from(payload_bytes) - acked));
                }
                (PacketKind::Ack, TraceEvent::Receive) => {
                    acked = acked.max(u64::from(seq));
                    first_ack = first_ack.min(time_ns);
                }
                _ => {}
            }
        }
        Sending { in_flight, first_ack, base_rtt: summary["base_rtt_ns"].as_u64().expect("T") }
    }

    /// The most in flight at packets sent from one time to another.
    fn most(&self, from: u64, to: u64) -> u64 {
        self.in_flight.iter().filter(|(time, _)| (from..to).contains(time)).map(|&(_, bytes)| bytes).max().unwrap_or(0)
    }
}

/// W_init is the port's rate * T, and so the flow is paced at that rate until it hears: it then slows down, and never has
/// more in flight than at first.
#[test]
fn req_08_a_flow_starts_with_its_ports_rate_times_t_and_congestion_takes_from_it() {
    for algorithm in ["hpcc_plus", "rx_hpcc", "power_tcp", "hpcc"] {
        let sending = Sending::of(algorithm);
        let first_window = 100 * sending.base_rtt / 8;
        let before = sending.most(0, sending.first_ack);
        assert!(
            before * 10 > first_window * 9,
            "{algorithm}: {before} of {first_window} bytes before the first answer"
        );
        let most = sending.most(0, u64::MAX);
        assert!(most <= first_window + MTU, "{algorithm}: {most} bytes in flight, {first_window} at first");
        let later = sending.most(sending.first_ack + 30 * sending.base_rtt, u64::MAX);
        assert!(0 < later && later < before, "{algorithm}: {later} bytes in flight with a third of 25 Gb/s");
    }
}
