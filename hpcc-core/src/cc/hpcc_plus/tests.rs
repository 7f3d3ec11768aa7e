// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC++ fed with records: the drafts' listing, the guards around it, and the rate form beside it.

use super::*;
use crate::cc::testing::{LIMITS, W_AI, ack, rng};
use crate::cc::{ControlLaw, Hpcc, HpccConfig};
use crate::telemetry::{Hop, HopStack, Modulus, Signal};
use crate::units::{Bytes, Nanos};
use alloc::vec::Vec;
use approx::{abs_diff_eq, assert_abs_diff_eq};

const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };
const T: u64 = 13_000;
const BDP: u64 = 162_500;

fn config() -> HpccPlusConfig {
    let additive_increase = Some(Bytes(80));
    let law = WindowLaw { additive_increase, min_rate: Some(BitRate(1)), ..WindowLaw::default() };
    HpccPlusConfig { law, ..HpccPlusConfig::default() }
}

fn hop(ts: u64, tx_bytes: u64, qlen: u64) -> Hop {
    Hop { rate: BitRate::gbps(100), ts: ts % MODULUS.ts, tx_bytes: tx_bytes % MODULUS.tx_bytes, qlen }
}

fn stack(path: u64, hops: &[Hop]) -> HopStack {
    let mut stack = HopStack::new(MODULUS);
    stack.path = path;
    hops.iter().for_each(|hop| stack.push(*hop));
    stack
}

fn feedback(now: u64, (ack_seq, snd_nxt): (u64, u64), stack: &HopStack) -> Feedback<'_> {
    Feedback { telemetry: Telemetry::Hops(stack), ..ack(now, ack_seq, snd_nxt) }
}

fn feed(flow: &mut HpccPlus, now: u64, seqs: (u64, u64), stack: &HopStack) -> RateDecision {
    flow.decide(&feedback(now, seqs, stack))
}

/// A flow that has heard once: at time 0, of an idle port with `queue` bytes, having sent up to byte 100 000.
fn armed(queue: u64) -> HpccPlus {
    let mut flow = HpccPlus::new(config(), LIMITS);
    assert_eq!(feed(&mut flow, 0, (1_000, 100_000), &stack(7, &[hop(0, 0, queue)])), RateDecision::Keep);
    flow
}

fn bytes(decision: RateDecision) -> u64 {
    decision.window_bytes().unwrap_or_else(|| panic!("{decision:?}"))
}

/// The drafts' listing, line by line, on counters that never wrap.
struct Listing {
    last: Option<Vec<Hop>>,
    u: f64,
    wc: f64,
    inc_stage: u32,
    last_update_seq: u64,
}

impl Listing {
    fn new_ack(&mut self, seq: u64, snd_nxt: u64, l: &[Hop]) -> Option<f64> {
        let Some(last) = self.last.replace(l.to_vec()) else {
            self.last_update_seq = snd_nxt;
            return None;
        };
        let (t, eta, w_ai) = (13e-6, 0.95, 80.0);
        let (mut u, mut tau) = (0.0, 0.0);
        for i in 0..l.len() {
            let dt = (l[i].ts - last[i].ts) as f64 * 1e-9;
            let b = l[i].rate.0 as f64 / 8.0;
            let tx_rate = (l[i].tx_bytes - last[i].tx_bytes) as f64 / dt;
            let u_prime = l[i].qlen.min(last[i].qlen) as f64 / (b * t) + tx_rate / b;
            if u_prime > u {
                (u, tau) = (u_prime, dt);
            }
        }
        tau = f64::min(tau, t);
        self.u = (1.0 - tau / t) * self.u + tau / t * u;
        let update_wc = seq > self.last_update_seq;
        let w;
        if self.u >= eta || self.inc_stage >= 5 {
            w = (self.wc / (self.u / eta) + w_ai).min(162_500.0);
            if update_wc {
                (self.inc_stage, self.wc) = (0, w);
            }
        } else {
            w = (self.wc + w_ai).min(162_500.0);
            if update_wc {
                (self.inc_stage, self.wc) = (self.inc_stage + 1, w);
            }
        }
        if update_wc {
            self.last_update_seq = snd_nxt;
        }
        Some(w)
    }
}

/// Records of three hops under loads that wander, with acknowledgements 700 ns apart and a bandwidth-delay product
/// in flight.
fn trace(mut each: impl FnMut(u64, (u64, u64), &[Hop; 3])) {
    let mut rng = rng();
    let mut hops = [hop(0, 0, 0), Hop { rate: BitRate::gbps(400), ..hop(0, 0, 0) }, hop(0, 0, 0)];
    for n in 1..=4_000u64 {
        for hop in &mut hops {
            let elapsed = 500 + u64::from(rng.rand.draw()) % 400;
            let line = hop.rate.0 * elapsed / 8_000_000_000;
            hop.ts += elapsed;
            hop.tx_bytes += line * (60 + n / 50 % 41) / 100;
            hop.qlen = (hop.qlen + u64::from(rng.rand.draw()) % 9_000).saturating_sub(4_400);
        }
        each(700 * n, (1_000 * n, 1_000 * n + BDP), &hops);
    }
}

#[test]
fn req_05_follows_the_listing() {
    let mut flow = HpccPlus::new(config(), LIMITS);
    let mut listing = Listing { last: None, u: 1.0, wc: 162_500.0, inc_stage: 0, last_update_seq: 0 };
    let mut decisions = 0;
    trace(|now, (ack_seq, snd_nxt), hops| {
        let wrapped = hops.map(|hop| Hop { ts: hop.ts % MODULUS.ts, tx_bytes: hop.tx_bytes % MODULUS.tx_bytes, ..hop });
        let decision = feed(&mut flow, now, (ack_seq, snd_nxt), &stack(7, &wrapped));
        if let Some(w) = listing.new_ack(ack_seq, snd_nxt, hops) {
            assert!(abs_diff_eq!(bytes(decision) as f64, w, epsilon = 1.0), "{decision:?} for {w} at {now}");
            assert_abs_diff_eq!(flow.window().reference(), listing.wc, epsilon = 1e-3);
            assert_eq!(flow.window().increases(), listing.inc_stage);
            decisions += 1;
        }
    });
    assert_eq!(decisions, 3_999);
}

/// Both forms on one trace: the window that the rate form's rate stands for is the window form's.
#[test]
fn window_form_and_rate_form_coincide() {
    let mut plus = HpccPlus::new(config(), LIMITS);
    let rate_config = HpccConfig {
        law: ControlLaw { additive_increase: Some(W_AI), min_rate: Some(BitRate(1)), ..ControlLaw::default() },
        ..HpccConfig::default()
    };
    let mut rate_form = Hpcc::new(rate_config, LIMITS);
    let (mut windows, mut rng) = (Vec::new(), rng());
    trace(|now, seqs, hops| {
        let records = stack(0, hops);
        let feedback = feedback(now, seqs, &records);
        match (plus.decide(&feedback), rate_form.on_feedback(&feedback, &mut rng)) {
            (RateDecision::Window { bytes, .. }, RateDecision::Repace(rate)) => {
                let of_rate = rate.0 as f64 * T as f64 / 8e9;
                assert!(abs_diff_eq!(bytes as f64, of_rate, epsilon = 1.01), "{bytes} and {of_rate} at {now}");
                windows.push(bytes);
            }
            pair => assert_eq!(pair, (RateDecision::Keep, RateDecision::Keep)),
        }
    });
    assert_eq!(windows.len(), 3_999);
    assert!(windows.iter().min() < Some(&(BDP / 2)), "the trace asks for smaller windows");
}

/// REQ-06, REQ-07: every acknowledgement moves the window, but Wc moves once in a round trip.
#[test]
fn req_06_wc_commits_once_per_round_trip() {
    let mut flow = HpccPlus::new(config(), LIMITS);
    let mut commits = Vec::new();
    let mut reference = flow.window().reference();
    trace(|now, seqs, hops| {
        feed(&mut flow, now, seqs, &stack(0, hops));
        if core::mem::replace(&mut reference, flow.window().reference()) != flow.window().reference() {
            commits.push(seqs.0);
        }
    });
    assert!(commits.len() > 20 && commits.windows(2).all(|pair| pair[1] - pair[0] > BDP), "{commits:?}");
}

#[test]
fn req_07_every_acknowledgement_moves_window_and_records() {
    let mut flow = armed(BDP);
    let windows: Vec<_> = (1..=5)
        .map(|n| bytes(feed(&mut flow, n * 100, (2_000, 100_000), &stack(7, &[hop(n * 100, n * 1_250, BDP)]))))
        .collect();
    assert!(windows.windows(2).all(|pair| pair[1] < pair[0]), "{windows:?}");
    assert_eq!(flow.window().reference(), 162_500.0);
}

/// REQ-22: records of two paths are not compared: taken for one path, the numbers would be a load of thousands.
#[test]
fn req_22_another_path_starts_over_and_leaves_the_window() {
    let other_port = hop(100, 400 << 20, 5_000_000);
    let mut flow = armed(5_000_000);
    for n in 1..=3 {
        feed(&mut flow, n * T, (100_000 * n + 1, 100_000 * n), &stack(7, &[hop(n * T, n * BDP / 2, 0)]));
    }
    assert_eq!(flow.window().increases(), 3);
    let before = flow.window().reference();
    for other in [stack(8, &[other_port]), stack(8, &[other_port, other_port])] {
        let mut rerouted = flow.clone();
        assert_eq!(feed(&mut rerouted, 3 * T + 100, (900_000, 900_000), &other), RateDecision::Keep);
        assert_eq!((rerouted.utilisation(), rerouted.window().increases()), (1.0, 0));
        assert_eq!((flow.baseline_resets(), rerouted.baseline_resets()), (0, 1));
        assert_eq!(rerouted.window().reference(), before);
        let next: Vec<_> = other.hops().iter().map(|h| hop(h.ts + T, h.tx_bytes + BDP / 2, 0)).collect();
        feed(&mut rerouted, 4 * T, (900_001, 900_001), &stack(8, &next));
        assert_abs_diff_eq!(rerouted.utilisation(), 0.5, epsilon = 1e-4);
    }
    assert!(
        bytes(feed(&mut flow, 3 * T + 100, (900_000, 900_000), &stack(7, &[hop(3 * T + 100, 400 << 20, 0)]))) < 9_000
    );
}

/// After 9 ms of 16.8 a clock may as well have run backwards; 1 ms is told without doubt.
#[test]
fn a_silence_in_which_a_counter_may_wrap_starts_over() {
    for (silence, compared) in [(1_000_000, true), (9_000_000, false), (30_000_000, false)] {
        let mut flow = armed(0);
        let decision = feed(&mut flow, silence, (100_001, 200_000), &stack(7, &[hop(silence, 1_000, 0)]));
        assert_eq!(decision != RateDecision::Keep, compared, "{silence} ns");
    }
}

/// The record of an overtaken packet would be nearly a wrap ahead: it counts for nothing, and L stays.
#[test]
fn an_overtaken_packet_counts_for_nothing() {
    let mut flow = armed(0);
    feed(&mut flow, 2_000, (2_000, 100_000), &stack(7, &[hop(2_000, 25_000, 0)]));
    let before = flow.utilisation();
    assert_eq!(feed(&mut flow, 2_100, (2_000, 100_000), &stack(7, &[hop(1_000, 12_500, 0)])), RateDecision::Keep);
    feed(&mut flow, 3_000, (3_000, 100_000), &stack(7, &[hop(3_000, 37_500, 0)]));
    assert!((before - 1.0).abs() < 1e-12 && (flow.utilisation() - 1.0).abs() < 1e-12);
}

/// REQ-06: after a go-back the acknowledgements still on their way do not each end a round.
#[test]
fn req_06_go_back_n_does_not_shorten_the_round() {
    let mut flow = armed(0);
    let mut rounds = 0;
    for n in 1..=50u64 {
        let (seq, before) = (10_000 + 1_000 * n, flow.window().increases());
        feed(&mut flow, 100 * n, (seq, seq), &stack(7, &[hop(100 * n, 600 * n, 0)]));
        rounds += u32::from(flow.window().increases() != before);
    }
    assert_eq!(rounds, 0);
    let mut rerouted = flow.clone();
    for n in 51..=53 {
        feed(&mut rerouted, 100 * n, (70_000, 70_000 - n), &stack(8, &[hop(100 * n, 600 * n, 0)]));
    }
    assert_eq!(rerouted.window().reference(), flow.window().reference());
    feed(&mut flow, 6_000, (100_001, 100_001), &stack(7, &[hop(6_000, 36_000, 0)]));
    assert_eq!(flow.window().increases(), 1);
}

/// CSIG: free share and queue come one by one. A T later U is 1 - 1/4 + 6.5 us / 13 us; the window waits for both.
#[test]
fn signals_of_the_bottleneck_make_u() {
    let mut flow = HpccPlus::new(config(), LIMITS);
    let mut hear = |now, signal| {
        let decision = flow.decide(&Feedback { telemetry: Telemetry::Signal(signal), ..ack(now, now, 100_000) });
        (decision != RateDecision::Keep, flow.utilisation())
    };
    assert_eq!(hear(1_000, Signal::Share(0.0)), (false, 1.0), "no queue yet");
    assert_eq!(hear(2_000, Signal::Queue(Nanos(0))), (false, 1.0), "the first of both arms");
    assert_eq!(hear(2_000 + T, Signal::Share(0.25)), (true, 0.75));
    assert_eq!(hear(2_000 + T + T / 2, Signal::Queue(Nanos(T / 2))), (true, 1.0), "half of the way to 1.25");
    assert_eq!(hear(3_000 + 2 * T, Signal::Delay(Nanos(T))), (false, 1.0), "no part of U");
}
