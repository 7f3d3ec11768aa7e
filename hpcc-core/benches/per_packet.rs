// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the core costs per packet: each controller's feedback, each telemetry layout's stamp and read, a switch's
//! two decisions. `./hpcc bench --micro` runs it.

use divan::{Bencher, black_box};
use hpcc_core::cc::{
    Algorithm, DcqcnConfig, DctcpConfig, Feedback, FlowLimits, HpccConfig, HpccPintConfig, HpccPlusConfig, TimelyConfig,
};
use hpcc_core::random::Rng;
use hpcc_core::telemetry::{Hop, HopStack, Layout, LayoutSettings, MAX_SECTION, Modulus, Snapshot, Telemetry};
use hpcc_core::units::{BitRate, Nanos};

const LIMITS: FlowLimits = FlowLimits { hops: 4, ..FlowLimits::of(BitRate::gbps(100), Nanos(12_240), 153_000) };
/// Of the packets that a controller is fed in turn.
const LAP: u64 = 64;
/// Counters wrap where the packets start over, so that time goes on.
const MODULUS: Modulus = Modulus { ts: LAP * 100, tx_bytes: LAP * 1_090 };

fn main() {
    divan::main();
}

/// Telemetry of the n-th packet over `hops` busy links.
fn stack(n: u64, hops: usize) -> HopStack {
    let mut stack = HopStack::new(MODULUS);
    for hop in 0..hops as u64 {
        let (ts, tx_bytes, qlen) = (n * 100 % MODULUS.ts, n * 1_090 % MODULUS.tx_bytes, (n * 320 + hop) % 40_000);
        stack.push(Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen });
    }
    stack
}

/// Feeds a controller one acknowledgement after the other, each with the next packet's telemetry.
fn feed(bencher: Bencher<'_, '_>, algorithm: &dyn Algorithm, telemetry: &dyn Fn(u64, &HopStack) -> Telemetry<'_>) {
    let stacks: Vec<HopStack> = (0..LAP).map(|n| stack(n, 5)).collect();
    let mut flow = algorithm.start(LIMITS.into());
    let mut rng = Rng::new(26, 1);
    let mut n = 0;
    bencher.bench_local(|| {
        n += 1;
        let feedback = Feedback {
            now: Nanos(n * 100),
            ack_seq: n * 1_000,
            snd_nxt: n * 1_000 + 100_000,
            acked: 1_000,
            rtt: None,
            congestion_marked: n.is_multiple_of(16),
            telemetry: telemetry(n, &stacks[(n % LAP) as usize]),
        };
        black_box(flow.on_feedback(black_box(&feedback), &mut rng))
    });
}

#[divan::bench]
fn feedback_hpcc_5_hops(bencher: Bencher<'_, '_>) {
    feed(bencher, &HpccConfig::default(), &|_, stack| Telemetry::Hops(stack));
}

#[divan::bench]
fn feedback_hpcc_plus_5_hops(bencher: Bencher<'_, '_>) {
    feed(bencher, &HpccPlusConfig::default(), &|_, stack| Telemetry::Hops(stack));
}

#[divan::bench]
fn feedback_hpcc_multi_rate_5_hops(bencher: Bencher<'_, '_>) {
    let config = HpccConfig { multi_rate: true, ..HpccConfig::default() };
    feed(bencher, &config, &|_, stack| Telemetry::Hops(stack));
}

#[divan::bench]
fn feedback_hpcc_pint(bencher: Bencher<'_, '_>) {
    feed(bencher, &HpccPintConfig::default(), &|n, _| Telemetry::Utilisation((n % 100) as f64 / 80.0));
}

#[divan::bench]
fn feedback_dcqcn(bencher: Bencher<'_, '_>) {
    feed(bencher, &DcqcnConfig::default(), &|_, _| Telemetry::Nothing);
}

#[divan::bench]
fn feedback_timely(bencher: Bencher<'_, '_>) {
    feed(bencher, &TimelyConfig::default(), &|n, _| Telemetry::SentAt(Nanos(n * 90)));
}

#[divan::bench]
fn feedback_dctcp(bencher: Bencher<'_, '_>) {
    feed(bencher, &DctcpConfig::default(), &|_, _| Telemetry::Nothing);
}

fn names() -> impl Iterator<Item = &'static str> {
    Layout::with_records().map(|layout| layout.name())
}

fn layout(name: &str) -> Layout {
    let mut settings = LayoutSettings::of(name);
    settings.shared.multiplier = Some(4);
    settings.config(false)
}

fn snapshot(n: u64) -> Snapshot {
    let (arrived, now) = (Nanos(n * 87), Nanos(n * 87 + 600));
    Snapshot { arrived, now, tx_bytes: n * 1_090, qlen: n % 90_000, ..Snapshot::IDLE }
}

#[divan::bench(args = names())]
fn stamp_one_hop(bencher: Bencher<'_, '_>, name: &str) {
    let layout = layout(name);
    let mut section = [0; MAX_SECTION];
    let empty = layout.prepare(&mut section, Nanos(0));
    let mut n = 0;
    bencher.bench_local(|| {
        n += 1;
        layout.prepare(&mut section, Nanos(0));
        black_box(layout.stamp(&mut section, empty, black_box(&snapshot(n))))
    });
}

#[divan::bench(args = names())]
fn read_5_hops(bencher: Bencher<'_, '_>, name: &str) {
    let layout = layout(name);
    let mut section = [0; MAX_SECTION];
    let mut len = layout.prepare(&mut section, Nanos(0));
    for n in 0..5 {
        len = layout.stamp(&mut section, len, &snapshot(n));
    }
    let mut stack = HopStack::new(MODULUS);
    bencher.bench_local(|| {
        black_box(layout.read(black_box(&section[..len]), &mut stack));
    });
}
