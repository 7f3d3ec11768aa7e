// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host of one's own: HPCC is told what acknowledgements bring, and says how fast to send: `cargo run --example controller`.

use hpcc_core::cc::{Algorithm, Feedback, FlowLimits, HpccConfig};
use hpcc_core::random::Rng;
use hpcc_core::telemetry::{Hop, HopStack, Modulus, Telemetry};
use hpcc_core::units::{BitRate, Nanos};

/// Nanoseconds from packet to acknowledgement, and what a link of 100 Gb/s sends meanwhile.
const ROUND_TRIP: u64 = 12_000;
const WINDOW: u64 = 150_000;

fn main() {
    let rate = BitRate::gbps(100);
    let limits = FlowLimits { hops: 1, ..FlowLimits::of(rate, Nanos(ROUND_TRIP), WINDOW) };
    let mut flow = HpccConfig::default().start(limits.into());
    let mut rng = Rng::new(1, 1);
    for round in 1..=10 {
        // The only switch is busy, and its queue grows.
        let (ts, queue) = (round * ROUND_TRIP, (round - 1) * 30_000);
        let mut hops = HopStack::new(Modulus { ts: 1 << 24, tx_bytes: 1 << 20 });
        hops.push(Hop { rate, ts, tx_bytes: round * WINDOW % (1 << 20), qlen: queue });
        let feedback = Feedback {
            now: Nanos(ts),
            ack_seq: round * WINDOW,
            snd_nxt: (round + 1) * WINDOW,
            acked: WINDOW,
            rtt: None,
            congestion_marked: false,
            telemetry: Telemetry::Hops(&hops),
        };
        println!("queue {queue:>6} bytes: {:?}", flow.on_feedback(&feedback, &mut rng));
    }
}
