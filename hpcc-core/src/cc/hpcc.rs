// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC in the rate form of the reference simulator (Li et al., SIGCOMM 2019, Algorithm 1; REQ-05..08).
//!
//! | quantity of the paper | here |
//! | --- | --- |
//! | U, normalised in-flight bytes of the worst link, averaged | [`Stage::utilisation`] |
//! | Wc, reference window | [`Stage::reference`], as a rate: Wc = window * reference / line rate |
//! | incStage | [`Stage::increases`] |
//! | lastUpdateSeq | `last_update_seq` |
//! | L, last telemetry of each hop | `last` |
//! | W_ai, additive increase in bytes | [`HpccConfig::additive_increase`], as a rate: W_ai = ai * T / 8 |

use super::{CongestionControl, Feedback, FlowLimits, RateDecision};
use crate::telemetry::{Hop, HopStack, MAX_HOPS};
use crate::units::BitRate;

/// Parameters of HPCC. The defaults are those of the reference's `config.txt` preset for HPCC, with
/// the paper's maxStage of 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpccConfig {
    /// Target utilisation eta, above 0 and up to 2 (REQ-09; SPEC section 9.15 allows more than 1).
    pub eta: f64,
    /// Rounds of additive increase before a multiplicative step; 0 makes every update multiplicative.
    pub max_stage: u32,
    /// W_ai as a rate.
    pub additive_increase: BitRate,
    /// The rate never falls below this.
    pub min_rate: BitRate,
    /// React to every acknowledgement against the reference rate, instead of once per round trip.
    pub fast_react: bool,
    /// Keep one (U, reference, stage) for each hop and take the lowest rate, instead of one for the worst hop.
    pub multi_rate: bool,
    /// Between commits, ignore hops that report an empty queue.
    pub sampled_feedback: bool,
}

impl Default for HpccConfig {
    fn default() -> Self {
        HpccConfig {
            eta: 0.95,
            max_stage: 5,
            additive_increase: BitRate::mbps(50),
            min_rate: BitRate::mbps(100),
            fast_react: true,
            multi_rate: false,
            sampled_feedback: false,
        }
    }
}

/// The variables of the control law, for the worst hop or for one hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// U: 1.0 where the bytes in flight equal capacity * T.
    pub utilisation: f64,
    /// The rate against which the next step is computed; changes only on commits.
    pub reference: BitRate,
    /// Consecutive additive increases.
    pub increases: u32,
}

/// HPCC's state for one flow.
#[derive(Clone, Debug)]
pub struct Hpcc {
    config: HpccConfig,
    limits: FlowLimits,
    last_update_seq: u64,
    last: [Hop; MAX_HOPS],
    /// One for each hop with `multi_rate`; otherwise the first stands for the worst hop.
    stages: [Stage; MAX_HOPS],
}

impl Hpcc {
    /// The state of a flow that has not heard of the network yet: U is 1, the rate the line rate.
    pub fn new(config: HpccConfig, limits: FlowLimits) -> Self {
        let stage = Stage { utilisation: 1.0, reference: limits.line_rate, increases: 0 };
        Hpcc { config, limits, last_update_seq: 0, last: [Hop::default(); MAX_HOPS], stages: [stage; MAX_HOPS] }
    }

    /// The control law's variables: one for each of `hops` hops with `multi_rate`, otherwise one.
    pub fn stages(&self, hops: usize) -> &[Stage] {
        let used = if self.config.multi_rate { hops.min(MAX_HOPS) } else { 1 };
        &self.stages[..used]
    }

    /// Takes one packet's telemetry in; returns the new rate if any hop had news.
    fn update(&mut self, stack: &HopStack, commit: bool) -> RateDecision {
        if self.config.multi_rate { self.update_each_hop(stack, commit) } else { self.update_worst_hop(stack, commit) }
    }

    fn update_worst_hop(&mut self, stack: &HopStack, commit: bool) -> RateDecision {
        let mut worst = 0.0;
        let mut worst_tau = 0;
        let mut heard = false;
        for (hop, last) in stack.hops().iter().zip(&mut self.last) {
            if self.config.sampled_feedback && hop.qlen == 0 && !commit {
                continue;
            }
            heard = true;
            let tau = stack.modulus.elapsed(last, hop);
            let load = in_flight(&self.limits, stack, last, hop, tau);
            if load > worst {
                worst = load;
                worst_tau = tau;
            }
            *last = *hop;
        }
        if !heard {
            return RateDecision::Keep;
        }
        let stage = &mut self.stages[0];
        stage.utilisation = average(&self.limits, stage.utilisation, worst, worst_tau);
        let next = step(&self.config, &self.limits, stage);
        if commit {
            *stage = next;
        }
        RateDecision::Repace(next.reference)
    }

    fn update_each_hop(&mut self, stack: &HopStack, commit: bool) -> RateDecision {
        let mut rate = self.limits.line_rate;
        let mut heard = false;
        for ((hop, last), stage) in stack.hops().iter().zip(&mut self.last).zip(&mut self.stages) {
            if self.config.sampled_feedback && hop.qlen == 0 && !commit {
                rate = rate.min(stage.reference);
                continue;
            }
            heard = true;
            let tau = stack.modulus.elapsed(last, hop);
            let load = in_flight(&self.limits, stack, last, hop, tau);
            *last = *hop;
            stage.utilisation = average(&self.limits, stage.utilisation, load, tau);
            let next = step(&self.config, &self.limits, stage);
            rate = rate.min(next.reference);
            if commit {
                *stage = next;
            }
        }
        if heard { RateDecision::Repace(rate) } else { RateDecision::Keep }
    }
}

impl CongestionControl for Hpcc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) -> RateDecision {
        let commit = feedback.ack_seq > self.last_update_seq;
        if !commit && !self.config.fast_react {
            return RateDecision::Keep;
        }
        if self.last_update_seq == 0 {
            self.last_update_seq = feedback.snd_nxt;
            if let Some(stack) = feedback.hops {
                self.last[..stack.hops().len()].copy_from_slice(stack.hops());
            }
            return RateDecision::Keep;
        }
        let decision = feedback.hops.map_or(RateDecision::Keep, |stack| self.update(stack, commit));
        if commit {
            self.last_update_seq = self.last_update_seq.max(feedback.snd_nxt);
        }
        decision
    }
}

/// Normalised in-flight bytes of one link: txRate / B + qlen / (B * T), the queue counted at the shorter of
/// two samples (paper, equation 2 and line 5 of Algorithm 1).
///
/// The order of operations is the reference's, to the last bit. Its queue term is qlen * line / (B * W):
/// the paper's where W = line * T. Without a window it is infinite, or not a number for an empty queue.
#[inline]
fn in_flight(limits: &FlowLimits, stack: &HopStack, last: &Hop, hop: &Hop, tau: u64) -> f64 {
    let capacity = hop.rate.0 as f64;
    let sent_bits = (stack.modulus.sent(last, hop) * 8) as f64;
    let queue = hop.qlen.min(last.qlen) as f64;
    sent_bits / (tau as f64 * 1e-9) / capacity + queue * limits.line_rate.0 as f64 / capacity / limits.window as f64
}

/// U after a sample that covers `tau` ns: the moving average over one T (lines 10 and 11 of Algorithm 1).
#[inline]
fn average(limits: &FlowLimits, utilisation: f64, load: f64, tau: u64) -> f64 {
    let t = limits.base_rtt.0;
    let tau = tau.min(t);
    (utilisation * (t - tau) as f64 + load * tau as f64) / t as f64
}

/// One step of the control law from the reference rate (lines 13 to 19 of Algorithm 1).
#[inline]
fn step(config: &HpccConfig, limits: &FlowLimits, stage: &Stage) -> Stage {
    let overload = stage.utilisation / config.eta;
    let multiplicative = overload >= 1.0 || stage.increases >= config.max_stage;
    let (base, increases) = if multiplicative {
        (BitRate::from_f64(stage.reference.0 as f64 / overload), 0)
    } else {
        (stage.reference, stage.increases + 1)
    };
    let rate = base.saturating_add(config.additive_increase).max(config.min_rate).min(limits.line_rate);
    Stage { reference: rate, increases, ..*stage }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Modulus;
    use crate::units::Nanos;

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };
    /// B = 100 Gb/s, T = 13 us, W = 162 500 B, W_ai = 80 B: the setting of SPEC section 1.5.
    const LIMITS: FlowLimits = FlowLimits { line_rate: BitRate::gbps(100), base_rtt: Nanos(13_000), window: 162_500 };
    /// 80 bytes in 13 us.
    const W_AI: BitRate = BitRate(80 * 8 * 1_000_000_000 / 13_000);

    fn config() -> HpccConfig {
        HpccConfig { additive_increase: W_AI, min_rate: BitRate(1), ..HpccConfig::default() }
    }

    fn window(rate: BitRate) -> f64 {
        rate.0 as f64 * 13_000e-9 / 8.0
    }

    fn stage(utilisation: f64, window: f64, increases: u32) -> Stage {
        Stage { utilisation, reference: BitRate((window * 8.0 / 13_000e-9) as u64), increases }
    }

    /// REQ-05: the worked numbers of SPEC section 1.5, computed from the paper's formulas.
    #[test]
    fn req_05_worked_numbers() {
        let cases = [
            (3.0, 162_500.0, 0, 5, 51_538.333, 0),
            (0.5, 81_250.0, 0, 5, 81_330.0, 1),
            (0.5, 81_250.0, 5, 5, 154_455.0, 0),
            (0.5, 81_250.0, 0, 0, 154_455.0, 0),
            (1.153_846_153_8, 162_500.0, 0, 5, 133_871.667, 0),
        ];
        for (u, wc, increases, max_stage, expected, next_increases) in cases {
            let config = HpccConfig { max_stage, ..config() };
            let next = step(&config, &LIMITS, &stage(u, wc, increases));
            assert!((window(next.reference) - expected).abs() < 0.01, "{u}: {}", window(next.reference));
            assert_eq!(next.increases, next_increases);
        }
    }

    /// REQ-05: U moves by tau / T towards the sample.
    #[test]
    fn req_05_average_over_one_rtt() {
        assert!((average(&LIMITS, 1.0, 3.0, 13_000) - 3.0).abs() < 1e-12);
        assert!((average(&LIMITS, 1.0, 3.0, 1_000) - 1.153_846_153_8).abs() < 1e-9);
        assert!((average(&LIMITS, 1.0, 3.0, 99_000) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn req_05_the_shorter_of_two_queues_counts() {
        let stack = HopStack::new(MODULUS);
        let hop = |ts, tx_bytes, qlen| Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen };
        let load = in_flight(&LIMITS, &stack, &hop(0, 0, 162_500), &hop(1_000, 12_500, 16_250), 1_000);
        assert!((load - 1.1).abs() < 1e-9, "{load}");
        let wrapped =
            in_flight(&LIMITS, &stack, &hop((1 << 24) - 500, (512 << 20) - 500, 0), &hop(500, 12_000, 0), 1_000);
        assert!((wrapped - 1.0).abs() < 1e-9, "{wrapped}");
    }

    fn feedback(ack_seq: u64, snd_nxt: u64, hops: &HopStack) -> Feedback<'_> {
        Feedback { now: Nanos(0), ack_seq, snd_nxt, congestion_marked: false, hops: Some(hops) }
    }

    fn stack(ts: u64, tx_bytes: u64, qlen: u64) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        stack.push(Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen });
        stack
    }

    /// REQ-06, REQ-07: every acknowledgement moves the rate, but the reference moves once in a round trip.
    #[test]
    fn req_06_reference_commits_once_per_rtt() {
        let mut hpcc = Hpcc::new(config(), LIMITS);
        assert_eq!(hpcc.on_feedback(&feedback(1_000, 100_000, &stack(0, 0, 0))), RateDecision::Keep);
        let mut rates = alloc::vec::Vec::new();
        for n in 1..=5u64 {
            let sample = stack(1_000 * n, 12_500 * n, 200_000);
            let RateDecision::Repace(rate) = hpcc.on_feedback(&feedback(1_000 * (n + 1), 110_000, &sample)) else {
                panic!("feedback {n} brought no rate")
            };
            rates.push(rate);
            assert_eq!(hpcc.stages(1)[0].reference, LIMITS.line_rate);
        }
        assert!(rates.windows(2).all(|pair| pair[1] < pair[0]), "{rates:?}");
        hpcc.on_feedback(&feedback(100_001, 200_000, &stack(6_000, 75_000, 200_000)));
        assert!(hpcc.stages(1)[0].reference < LIMITS.line_rate);
    }

    #[test]
    fn without_fast_react_only_commits_count() {
        let mut hpcc = Hpcc::new(HpccConfig { fast_react: false, ..config() }, LIMITS);
        hpcc.on_feedback(&feedback(1_000, 100_000, &stack(0, 0, 0)));
        let before = hpcc.stages(1)[0];
        assert_eq!(hpcc.on_feedback(&feedback(2_000, 100_000, &stack(1_000, 12_500, 90_000))), RateDecision::Keep);
        assert_eq!(hpcc.stages(1)[0], before);
        assert_ne!(hpcc.on_feedback(&feedback(100_001, 200_000, &stack(1_000, 12_500, 90_000))), RateDecision::Keep);
    }

    #[test]
    fn sampled_feedback_skips_empty_queues_between_commits() {
        let mut hpcc = Hpcc::new(HpccConfig { sampled_feedback: true, ..config() }, LIMITS);
        hpcc.on_feedback(&feedback(1_000, 100_000, &stack(0, 0, 0)));
        assert_eq!(hpcc.on_feedback(&feedback(2_000, 100_000, &stack(500, 6_000, 0))), RateDecision::Keep);
        assert_ne!(hpcc.on_feedback(&feedback(2_000, 100_000, &stack(900, 9_000, 640))), RateDecision::Keep);
    }

    /// One bottleneck hop: a rate for each hop is the same law as a rate for the worst hop.
    #[test]
    fn one_hop_multi_rate_equals_single_rate() {
        let mut single = Hpcc::new(config(), LIMITS);
        let mut multi = Hpcc::new(HpccConfig { multi_rate: true, ..config() }, LIMITS);
        for n in 0..40u64 {
            let sample = stack(700 * n, 8_000 * n, 512 * (n % 7) * 20);
            let f = feedback(1_000 * n, 1_000 * n + 30_000, &sample);
            assert_eq!(single.on_feedback(&f), multi.on_feedback(&f), "feedback {n}");
        }
    }

    #[test]
    fn missing_telemetry_keeps_the_rate() {
        let mut hpcc = Hpcc::new(config(), LIMITS);
        for ack_seq in [1_000, 2_000, 200_000] {
            let nothing = Feedback { now: Nanos(0), ack_seq, snd_nxt: 150_000, congestion_marked: true, hops: None };
            assert_eq!(hpcc.on_feedback(&nothing), RateDecision::Keep);
        }
    }

    #[test]
    fn hostile_samples_stay_within_the_rate_bounds() {
        let config = HpccConfig { min_rate: BitRate::mbps(100), ..config() };
        let no_window = FlowLimits { window: 0, ..LIMITS };
        for limits in [LIMITS, no_window] {
            let mut hpcc = Hpcc::new(config, limits);
            for n in 0..200u64 {
                let sample = stack(n * n % (1 << 24), n * 0x9e37_79b9 % (512 << 20), n % 3 * 5_000_000);
                if let RateDecision::Repace(rate) = hpcc.on_feedback(&feedback(n * 1_000, n * 1_000 + 9_000, &sample)) {
                    assert!(rate >= config.min_rate && rate <= limits.line_rate, "{rate}");
                }
            }
        }
    }

    /// Paper, appendix A: one synchronous step brings a single bottleneck to eta.
    #[test]
    fn synchronous_flows_reach_eta_in_one_step() {
        let config = HpccConfig { max_stage: 0, additive_increase: BitRate(0), ..config() };
        let rates = [10u64, 35, 90].map(BitRate::gbps);
        let load = rates.iter().map(|r| r.0 as f64).sum::<f64>() / 100e9;
        let after = rates.map(|reference| {
            step(&config, &LIMITS, &Stage { utilisation: load, reference, increases: 0 }).reference.0 as f64
        });
        assert!((after.iter().sum::<f64>() / 100e9 - config.eta).abs() < 1e-9);
    }
}
