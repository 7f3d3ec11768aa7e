// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithm never asks which format its telemetry came in (REQ-23): what switches report reads back alike
//! from each, up to what the format's fields leave of it.

use hpcc_core::cc::{Algorithm, Feedback, FlowLimits, HpccConfig, HpccPlusConfig, RateDecision};
use hpcc_core::random::Rng;
use hpcc_core::telemetry::{Hop, HopStack, Layout, MAX_SECTION, Snapshot, Telemetry};
use hpcc_core::units::{BitRate, Nanos};
use proptest::prelude::*;

/// All layouts with records of hops that the drafts name; the 2019 simulator's is not among them.
fn layouts() -> impl Iterator<Item = Layout> {
    Layout::with_records().filter(|layout| layout.name() != "reference")
}

/// What a sender reads of a packet that passed these hops.
fn carry(layout: &Layout, hops: &[Snapshot]) -> HopStack {
    let mut section = [0; MAX_SECTION];
    let mut len = layout.prepare(&mut section, Nanos(0));
    for hop in hops {
        len = layout.stamp(&mut section, len, hop);
    }
    let mut stack = HopStack::default();
    let is_read = matches!(layout.read(&section[..len], &mut stack), Telemetry::Hops(_));
    assert!(is_read, "{layout:?}");
    stack
}

/// A hop as the fields of a layout leave it.
fn left(layout: &Layout, hop: &Snapshot) -> Hop {
    let (rate, now) = (hop.rate, hop.now.0);
    match layout.name() {
        "paper" | "draft" => Hop {
            rate,
            ts: now % 16_777_216,
            tx_bytes: hop.tx_bytes % (128 * 1_048_576) / 128 * 128,
            qlen: if hop.qlen >= 5_242_800 { 5_242_800 } else { hop.qlen / 80 * 80 },
        },
        "int_md" => Hop { rate, ts: now, tx_bytes: hop.tx_bytes % (1 << 39), qlen: hop.qlen.min(16_777_214) },
        "ifa" => {
            let ts = now % 1_048_576_000_000_000;
            Hop { rate, ts, tx_bytes: hop.tx_bytes % (1 << 63), qlen: hop.qlen.min(4_294_967_295) }
        }
        "ioam" => {
            let ts = now % (4_294_967_296 * 1_000_000_000);
            Hop { rate, ts, tx_bytes: hop.tx_bytes % (1 << 39), qlen: hop.qlen.min(4_294_967_294) }
        }
        "ioam_slim" => {
            let tx_bytes = hop.tx_bytes / 128 % (1 << 28) * 128;
            Hop { rate, ts: now % 1_000_000_000, tx_bytes, qlen: hop.qlen.min(4_294_967_294) }
        }
        other => panic!("what the fields of {other} leave of a hop is not told here"),
    }
}

prop_compose! {
    /// A hop of less than 4 s, the most that IFA's residence can say.
    fn any_hop()(switch_id: u32, ports: (u16, u16), queue: u8, hop_limit: u8, gbps in prop::sample::select(
        &[10, 25, 40, 50, 100, 200, 400, 800][..]), arrived in 0..1u64 << 62, waited in 0..4_000_000_000u64,
        tx_bytes: u64, qlen in prop_oneof![0..100_000u64, any::<u64>()]) -> Snapshot {
        let (ingress, egress) = ports;
        let (rate, now) = (BitRate::gbps(gbps), Nanos(arrived + waited));
        Snapshot { switch_id, ingress, egress, queue, hop_limit, rate, arrived: Nanos(arrived), now, tx_bytes, qlen }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn req_23_every_format_carries_the_same_hops(hops in prop::collection::vec(any_hop(), 0..=15)) {
        for layout in layouts() {
            let hops = &hops[..hops.len().min(layout.max_hops().expect("records of hops"))];
            let expected: Vec<Hop> = hops.iter().map(|hop| left(&layout, hop)).collect();
            let stack = carry(&layout, hops);
            prop_assert_eq!(stack.hops(), &expected[..], "{:?}", layout);
        }
    }
}

/// Five links that fill and drain, in steps that every format expresses exactly but for wraps; the compact
/// counters wrap on the way.
fn path(packet: u64) -> [Snapshot; 5] {
    core::array::from_fn(|hop| {
        let hop = hop as u64;
        let now = 16_700_000 + packet * 1_000 + hop * 700;
        Snapshot {
            switch_id: hop as u32 + 1,
            hop_limit: 64 - hop as u8,
            rate: BitRate::gbps(if hop == 2 { 400 } else { 100 }),
            arrived: Nanos(now - 500),
            now: Nanos(now),
            tx_bytes: 134_000_000 / 128 * 128 + packet * 12_416,
            qlen: if packet / 50 % 2 == hop % 2 { packet % 50 * 800 } else { 0 },
            ..Snapshot::IDLE
        }
    })
}

/// The rates that an algorithm sets in answer to 400 packets.
fn rates(algorithm: &dyn Algorithm, layout: &Layout) -> Vec<RateDecision> {
    let limits = FlowLimits { hops: 5, ..FlowLimits::of(BitRate::gbps(100), Nanos(13_000), 162_500) };
    let mut flow = algorithm.start(limits.into());
    let mut rng = Rng::new(1, 1);
    (0..400)
        .map(|packet| {
            let stack = carry(layout, &path(packet));
            let (now, ack_seq) = (Nanos(16_710_000 + packet * 1_000), packet * 12_000);
            let (snd_nxt, telemetry) = (ack_seq + 100_000, Telemetry::Hops(&stack));
            let feedback =
                Feedback { now, ack_seq, snd_nxt, acked: 12_000, rtt: None, congestion_marked: false, telemetry };
            flow.on_feedback(&feedback, &mut rng)
        })
        .collect()
}

#[test]
fn req_23_hpcc_sets_the_same_rates_whatever_the_format() {
    let algorithms: [&dyn Algorithm; 2] = [&HpccConfig::default(), &HpccPlusConfig::default()];
    for algorithm in algorithms {
        let expected = rates(algorithm, &Layout::named("int_md").expect("known"));
        let distinct: std::collections::BTreeSet<u64> = expected
            .iter()
            .filter_map(|decision| match decision {
                RateDecision::Set(rate) | RateDecision::Repace(rate) | RateDecision::Window { rate, .. } => {
                    Some(rate.0)
                }
                RateDecision::Keep => None,
            })
            .collect();
        assert!(distinct.len() > 50, "only {} rates", distinct.len());
        for layout in layouts() {
            assert!(rates(algorithm, &layout) == expected, "{layout:?}");
        }
    }
}
