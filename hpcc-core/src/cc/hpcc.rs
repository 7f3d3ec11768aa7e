// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC in the rate form of the 2019 simulator (Li et al., SIGCOMM 2019, Algorithm 1; REQ-05..08).
//!
//! | quantity of the paper | here |
//! | --- | --- |
//! | U, normalised in-flight bytes of the worst link, averaged | [`Stage::utilisation`] |
//! | Wc, reference window | [`Stage::reference`], as a rate: Wc = window * reference / line rate |
//! | incStage | [`Stage::increases`] |
//! | lastUpdateSeq | `last_update_seq` |
//! | L, last telemetry of each hop, and whose path they are of | `last` |
//! | W_ai, additive increase in bytes | [`ControlLaw::additive_increase`], as a rate: W_ai = ai * T / 8 |
//!
//! Records that cannot be compared with the last ones - they are of another path, or too late - take their place, and U and
//! incStage start over, as in [HPCC++](super::hpcc_plus). The 2019 simulator compares them all the same
//! ([`ReferenceFaults::blind_to_paths`](crate::reference_faults::ReferenceFaults::blind_to_paths)).

use super::share::or_share;
use super::{
    Algorithm, CongestionControl, ControlLaw, Feedback, FlowLimits, Needs, NoEffect, Notification, RateDecision,
    Reaction, Reads, Stage, control_law::FlowLaw, known_as,
};
use crate::random::Rng;
use crate::telemetry::{Hop, HopStack, LastHops, MAX_HOPS, Telemetry};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;
use smallvec::SmallVec;

crate::settings! {
    /// Parameters of HPCC.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HpccConfig {
        /// Whether a flow reacts to every acknowledgement; otherwise it reacts once in a round trip. It reacts against
        /// the rate of the last round trip.
        #[change = "Turn it off to see the worth of the immediate reaction."]
        pub fast_react: bool = true;
        /// Whether a flow keeps a rate for each hop and sends at the lowest; otherwise it keeps one, for the busiest hop.
        #[change = "Turn it on where the bottleneck moves between links; the paper's HPCC has it off."]
        pub multi_rate: bool = false;
        /// Whether a flow ignores hops with an empty queue, except once in a round trip.
        #[change = "Turn it on to save computation; a flow notices free bandwidth up to a round trip later."]
        pub sampled_feedback: bool = false;
        ..law: ControlLaw = ControlLaw::default();
    }
}

/// The least rate in millionths of the line rate.
const LEAST: u64 = 1_000;

impl Algorithm for HpccConfig {
    known_as!("hpcc", "HPCC in the rate form of the 2019 simulator");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Hpcc::new(*self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        Some(or_share(self.law.min_rate, line_rate, LEAST))
    }

    fn window_step(&self, line_rate: BitRate, base_rtt: Nanos) -> Option<f64> {
        Some(self.law.window_step(line_rate, base_rtt))
    }

    fn needs(&self) -> Needs {
        Needs { reads: Reads::Records, reaction: Reaction::Records, ..Needs::default() }
    }
}

/// HPCC's state for one flow. Members that every acknowledgement needs stand first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Hpcc {
    law: FlowLaw,
    limits: Arc<FlowLimits>,
    last_update_seq: u64,
    /// As in [`HpccConfig`].
    fast_react: bool,
    multi_rate: bool,
    sampled_feedback: bool,
    /// Place of the worst hop; with `multi_rate` of the one with the lowest rate.
    busiest: Option<u8>,
    /// One for each hop with `multi_rate`; otherwise one that stands for the worst hop.
    stages: SmallVec<[Stage; 1]>,
    last: LastHops,
}

impl Hpcc {
    /// The state of a flow that has not heard of the network yet: U is 1, the rate the line rate.
    pub fn new(config: HpccConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        Hpcc {
            law: config.law.of(limits.line_rate, LEAST),
            last_update_seq: 0,
            fast_react: config.fast_react,
            multi_rate: config.multi_rate,
            sampled_feedback: config.sampled_feedback,
            last: LastHops::default(),
            stages: SmallVec::from_elem(Stage::initial(&limits), if config.multi_rate { MAX_HOPS } else { 1 }),
            busiest: None,
            limits,
        }
    }

    /// The control law's variables: one for each of `hops` hops with `multi_rate`, otherwise one.
    pub fn stages(&self, hops: usize) -> &[Stage] {
        let used = if self.multi_rate { hops.min(MAX_HOPS) } else { 1 };
        &self.stages[..used]
    }

    /// Takes one packet's telemetry in; returns the new rate if any hop had news.
    fn update(&mut self, now: Nanos, stack: &HopStack, commit: bool) -> RateDecision {
        if self.multi_rate {
            self.update_each_hop(now, stack, commit)
        } else {
            self.update_worst_hop(now, stack, commit)
        }
    }

    /// Begins anew with the records of a packet. The rate stays.
    fn rearm(&mut self, now: Nanos, stack: &HopStack) {
        let known = self.stages(self.last.len().max(1));
        let reference = known.iter().map(|stage| stage.reference).min().unwrap_or(self.limits.line_rate);
        self.stages.fill(Stage { reference, ..Stage::initial(&self.limits) });
        self.busiest = None;
        self.last.restart(now, stack);
    }

    /// Whether a packet's records may be compared with the last ones.
    #[inline]
    fn continues(&self, now: Nanos, stack: &HopStack) -> bool {
        self.last.continue_in(now, stack) || self.limits.faults.blind_to_paths
    }

    fn update_worst_hop(&mut self, now: Nanos, stack: &HopStack, commit: bool) -> RateDecision {
        let mut worst = 0.0;
        let mut worst_tau = 0;
        let mut worst_place = None;
        let mut updated = false;
        for (place, (last, hop)) in (0..).zip(self.last.renew(now, stack)) {
            if self.sampled_feedback && hop.qlen == 0 && !commit {
                continue;
            }
            updated = true;
            let tau = stack.modulus.elapsed(last, hop);
            let load = in_flight(&self.limits, stack, last, hop, tau);
            if load > worst {
                worst = load;
                worst_tau = tau;
                worst_place = Some(place);
            }
            *last = *hop;
        }
        if !updated {
            return RateDecision::Keep;
        }
        self.busiest = worst_place;
        let stage = &mut self.stages[0];
        stage.utilisation = average(&self.limits, stage.utilisation, worst, worst_tau);
        let next = self.law.step(&self.limits, stage);
        if commit {
            *stage = next;
        }
        RateDecision::Repace(next.reference)
    }

    fn update_each_hop(&mut self, now: Nanos, stack: &HopStack, commit: bool) -> RateDecision {
        let mut lowest = (BitRate(u64::MAX), None);
        let mut updated = false;
        for (place, ((last, hop), stage)) in (0..).zip(self.last.renew(now, stack).zip(&mut self.stages)) {
            if self.sampled_feedback && hop.qlen == 0 && !commit {
                lowest = lower(lowest, stage.reference, place);
                continue;
            }
            updated = true;
            let tau = stack.modulus.elapsed(last, hop);
            let load = in_flight(&self.limits, stack, last, hop, tau);
            *last = *hop;
            stage.utilisation = average(&self.limits, stage.utilisation, load, tau);
            let next = self.law.step(&self.limits, stage);
            lowest = lower(lowest, next.reference, place);
            if commit {
                *stage = next;
            }
        }
        if !updated {
            return RateDecision::Keep;
        }
        self.busiest = lowest.1;
        RateDecision::Repace(lowest.0.min(self.limits.line_rate))
    }

    /// Takes in a switch's report of the hops up to its own. It is compared with the last acknowledged records, which
    /// stay, and U does not fall: [`Inflight::measure_first_hops`](super::hpcc_plus::Inflight::measure_first_hops) says
    /// why.
    fn update_first_hops(&mut self, stack: &HopStack) -> Result<RateDecision, NoEffect> {
        let Hpcc { multi_rate, limits, last, stages, .. } = self;
        let (mut updated, mut busier, mut worst, mut worst_tau) = (false, false, 0.0, 0);
        for (place, (last, hop)) in last.pairs(stack).enumerate() {
            let tau = stack.modulus.elapsed(last, hop);
            if hop.rate != last.rate || tau == 0 || tau > stack.modulus.ts / 2 {
                continue;
            }
            updated = true;
            let load = in_flight(limits, stack, last, hop, tau);
            if *multi_rate {
                busier |= raise(limits, &mut stages[place], load, tau);
            } else if load > worst {
                (worst, worst_tau) = (load, tau);
            }
        }
        if !updated {
            return Err(NoEffect::Incomparable);
        }
        if !*multi_rate {
            busier = raise(limits, &mut stages[0], worst, worst_tau);
        }
        if !busier {
            return Err(NoEffect::NotBusier);
        }
        let stages = self.stages(self.last.len()).iter();
        let rates = stages.map(|stage| self.law.step(&self.limits, stage).reference);
        rates.min().map(RateDecision::Repace).ok_or(NoEffect::Incomparable)
    }
}

impl CongestionControl for Hpcc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let commit = feedback.ack_seq > self.last_update_seq;
        if !commit && !self.fast_react {
            return RateDecision::Keep;
        }
        if self.last_update_seq == 0 {
            self.last_update_seq = feedback.snd_nxt;
            if let Telemetry::Hops(stack) | Telemetry::Overwritten(stack) = feedback.telemetry {
                self.last.restart(feedback.now, stack);
            }
            return RateDecision::Keep;
        }
        let mut commit = commit;
        let decision = match feedback.telemetry {
            Telemetry::Hops(stack) if self.continues(feedback.now, stack) => self.update(feedback.now, stack, commit),
            Telemetry::Hops(stack) => {
                self.rearm(feedback.now, stack);
                commit = true;
                RateDecision::Keep
            }
            Telemetry::Nothing
            | Telemetry::Overwritten(_)
            | Telemetry::Link(_)
            | Telemetry::SentAt(_)
            | Telemetry::Utilisation(_)
            | Telemetry::Window(_)
            | Telemetry::Signal(_)
            | Telemetry::Bolt(_) => RateDecision::Keep,
        };
        if commit {
            self.last_update_seq = self.last_update_seq.max(feedback.snd_nxt);
        }
        decision
    }

    /// As in [HPCC++](super::hpcc_plus): U and the rate move at once, the 2019 simulator stays.
    fn on_notification(&mut self, notification: &Notification<'_>) -> Result<RateDecision, NoEffect> {
        let Telemetry::Hops(stack) = notification.telemetry else { return Err(NoEffect::NoRecords) };
        let known = self.last.begin_with(notification.now, stack) || self.limits.faults.blind_to_paths;
        if self.last_update_seq != 0 && known { self.update_first_hops(stack) } else { Err(NoEffect::Incomparable) }
    }

    fn baseline_resets(&self) -> u64 {
        self.last.restarts()
    }

    /// With `multi_rate` U of the hop with the lowest rate.
    fn utilisation(&self) -> Option<f64> {
        let place = self.busiest.filter(|_| self.multi_rate).unwrap_or(0);
        self.stages.get(usize::from(place)).map(|stage| stage.utilisation)
    }

    fn bottleneck(&self) -> Option<u8> {
        self.busiest
    }
}

/// The lower of two rates, and the place of its hop; of equal ones the first.
#[inline]
fn lower(lowest: (BitRate, Option<u8>), rate: BitRate, place: u8) -> (BitRate, Option<u8>) {
    if rate < lowest.0 { (rate, Some(place)) } else { lowest }
}

/// Normalised in-flight bytes of one link: txRate / B + qlen / (B * T), the queue counted at the shorter of
/// two samples (paper, equation 2 and line 5 of Algorithm 1).
///
/// The order of operations is the 2019 simulator's, to the last bit. Its queue term is qlen * line / (B * W):
/// the paper's where W = line * T. Where W is 0 ([`crate::reference_faults::ReferenceFaults::windowless_hpcc`]) it is infinite, or not
/// a number for an empty queue.
#[inline]
fn in_flight(limits: &FlowLimits, stack: &HopStack, last: &Hop, hop: &Hop, tau: u64) -> f64 {
    let capacity = hop.rate.0 as f64;
    let sent_bits = (stack.modulus.sent(last, hop) * 8) as f64;
    let queue = hop.qlen.min(last.qlen) as f64;
    sent_bits / (tau as f64 * 1e-9) / capacity + queue * limits.line_rate.0 as f64 / capacity / limits.path_bytes as f64
}

/// Takes a load into U where that makes it higher. Returns whether it does.
fn raise(limits: &FlowLimits, stage: &mut Stage, load: f64, tau: u64) -> bool {
    let before = stage.utilisation;
    stage.utilisation = average(limits, before, load, tau).max(before);
    stage.utilisation > before
}

/// U after a sample that covers `tau` ns: the moving average over one T (lines 10 and 11 of Algorithm 1).
#[inline]
fn average(limits: &FlowLimits, utilisation: f64, load: f64, tau: u64) -> f64 {
    let t = limits.base_rtt.0;
    let tau = tau.min(t);
    (utilisation * (t - tau) as f64 + load * tau as f64) / t as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, W_AI, ack, rate, rng};
    use crate::reference_faults::ReferenceFaults;
    use crate::telemetry::Modulus;
    use approx::assert_abs_diff_eq;

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };

    fn config() -> HpccConfig {
        let law = ControlLaw { additive_increase: Some(W_AI), min_rate: Some(BitRate(1)), ..ControlLaw::default() };
        HpccConfig { law, ..HpccConfig::default() }
    }

    fn feed(hpcc: &mut Hpcc, ack_seq: u64, snd_nxt: u64, hops: HopStack) -> RateDecision {
        hpcc.on_feedback(&Feedback { telemetry: Telemetry::Hops(&hops), ..ack(0, ack_seq, snd_nxt) }, &mut rng())
    }

    /// Without a window the path's own bytes weigh the queue; the 2019 simulator divides by the window all the same.
    #[test]
    fn a_queue_weighs_the_same_without_a_window() {
        let stack = HopStack::new(MODULUS);
        let hop = |ts, tx_bytes, qlen| Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen };
        let load = |limits: &FlowLimits, queue| {
            in_flight(limits, &stack, &hop(0, 0, queue), &hop(1_000, 12_500, queue), 1_000)
        };
        let unbounded = FlowLimits { window: 0, ..LIMITS };
        assert_abs_diff_eq!(load(&unbounded, 16_250), load(&LIMITS, 16_250), epsilon = 1e-12);
        let reference = FlowLimits { path_bytes: 0, ..unbounded };
        assert!(load(&reference, 16_250).is_infinite() && load(&reference, 0).is_nan());
    }

    fn stack(ts: u64, tx_bytes: u64, qlen: u64) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        stack.push(Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen });
        stack
    }

    /// REQ-22: the link of the new path has sent more than any link could since the last record.
    #[test]
    fn req_22_records_of_another_path_are_kept_and_not_compared() {
        for (multi_rate, blind_to_paths) in [(false, false), (true, false), (false, true), (true, true)] {
            let limits = FlowLimits { faults: ReferenceFaults { blind_to_paths, ..ReferenceFaults::NONE }, ..LIMITS };
            let mut hpcc = Hpcc::new(HpccConfig { multi_rate, ..config() }, limits);
            let mut feed = |path, ts: u64, tx_bytes| {
                let mut records = stack(ts, tx_bytes, 0);
                records.path = path;
                feed(&mut hpcc, ts + 1, 9_000, records)
            };
            feed(1, 1_000, 12_500);
            feed(1, 2_000, 24_000);
            let decision = feed(2, 3_000, 400_000_000);
            if blind_to_paths {
                assert!(rate(decision) < BitRate::mbps(100), "{decision:?}");
            } else {
                assert_eq!(decision, RateDecision::Keep);
            }
            let after = rate(feed(2, 4_000, 400_011_000));
            assert_eq!(after >= BitRate::gbps(90), !blind_to_paths, "{after}");
            assert_eq!(hpcc.baseline_resets(), u64::from(!blind_to_paths));
        }
    }

    #[test]
    fn without_fast_react_only_commits_count() {
        let mut hpcc = Hpcc::new(HpccConfig { fast_react: false, ..config() }, LIMITS);
        feed(&mut hpcc, 1_000, 100_000, stack(0, 0, 0));
        let before = hpcc.stages(1)[0];
        assert_eq!(feed(&mut hpcc, 2_000, 100_000, stack(1_000, 12_500, 90_000)), RateDecision::Keep);
        assert_eq!(hpcc.stages(1)[0], before);
        assert_ne!(feed(&mut hpcc, 100_001, 200_000, stack(1_000, 12_500, 90_000)), RateDecision::Keep);
    }

    /// Two hops whose counters began at 0: time, bytes sent and queue of each.
    fn path(hops: [(u64, u64, u64); 2]) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        for (ts, tx_bytes, qlen) in hops {
            stack.push(Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen });
        }
        stack
    }

    /// With a rate for each hop, a hop that is skipped keeps its U, and its rate still bounds the flow's.
    #[test]
    fn sampled_feedback_skips_hops_with_an_empty_queue() {
        let mut hpcc = Hpcc::new(HpccConfig { sampled_feedback: true, multi_rate: true, ..config() }, LIMITS);
        feed(&mut hpcc, 1_000, 100_000, path([(0, 0, 0); 2]));
        feed(&mut hpcc, 2_000, 100_000, path([(1_000, 25_000, 0), (1_000, 0, 640)]));
        assert_eq!(hpcc.stages(2)[0].utilisation, 1.0, "at twice its capacity, but without a queue");
        assert_eq!(hpcc.stages(2)[1].utilisation, 12.0 / 13.0);
        feed(&mut hpcc, 100_001, 200_000, path([(1_000, 25_000, 0), (2_000, 0, 640)]));
        assert_eq!(hpcc.stages(2)[0].utilisation, 14.0 / 13.0, "once in a round trip it counts");
    }

    /// Algorithm 1, line 6: u' > u. Both hops are half used, over 1 us and over 2.
    #[test]
    fn of_equally_busy_hops_the_first_counts() {
        let mut hpcc = Hpcc::new(config(), LIMITS);
        feed(&mut hpcc, 1_000, 100_000, path([(0, 0, 0); 2]));
        feed(&mut hpcc, 2_000, 100_000, path([(1_000, 6_250, 0), (2_000, 12_500, 0)]));
        assert_eq!(hpcc.stages(1)[0].utilisation, 12.5 / 13.0);
    }

    fn notify(hpcc: &mut Hpcc, stack: &HopStack) -> Result<RateDecision, NoEffect> {
        let telemetry = Telemetry::Hops(stack);
        hpcc.on_notification(&Notification { telemetry, ..crate::cc::testing::NOTIFICATION })
    }

    /// Half a wrap of the clock, 8.4 ms, is the longest time that is told from one backwards.
    #[test]
    fn a_notification_that_cannot_be_compared_says_so() {
        let mut hpcc = Hpcc::new(config(), LIMITS);
        feed(&mut hpcc, 1_000, 100_000, path([(7, 0, 0); 2]));
        let mut slower = HopStack::new(MODULUS);
        slower.push(Hop { rate: BitRate::gbps(40), ts: 1_007, tx_bytes: 99_000, qlen: 0 });
        assert_eq!(notify(&mut hpcc, &slower), Err(NoEffect::Incomparable), "another port");
        let at = |ts| path([(ts, 99_000, 0); 2]);
        for (ts, error) in [
            (7, NoEffect::Incomparable),
            (7 + (1 << 23), NoEffect::NotBusier),
            (8 + (1 << 23), NoEffect::Incomparable),
            ((1 << 24) - 1, NoEffect::Incomparable),
        ] {
            assert_eq!(notify(&mut hpcc, &at(ts)), Err(error), "at {ts}");
        }
    }

    /// From an idle path to half the capacity: the increase of a busy hop's law counts, not U = 1 of a hop that is not
    /// there.
    #[test]
    fn a_notification_asks_only_hops_that_are_there_for_a_rate() {
        let mut hpcc = Hpcc::new(HpccConfig { multi_rate: true, ..config() }, LIMITS);
        feed(&mut hpcc, 1_000, 100_000, path([(0, 0, 0); 2]));
        feed(&mut hpcc, 2_000, 100_000, path([(13_000, 0, 0); 2]));
        let decision = notify(&mut hpcc, &path([(26_000, 81_250, 0); 2]));
        assert_eq!(decision, Ok(RateDecision::Repace(LIMITS.line_rate)));
    }

    /// The first hop is full and takes its reference below the other's. Then, within the round trip, the other one has twice
    /// its capacity: the flow goes by half of that hop's reference.
    #[test]
    fn with_a_rate_for_each_hop_the_bottleneck_is_the_hop_that_the_flow_goes_by() {
        let mut hpcc = Hpcc::new(HpccConfig { multi_rate: true, ..config() }, LIMITS);
        feed(&mut hpcc, 1_000, 100_000, path([(0, 0, 0); 2]));
        feed(&mut hpcc, 100_001, 200_000, path([(13_000, 162_500, 0), (13_000, 81_250, 0)]));
        assert_eq!((hpcc.bottleneck(), hpcc.utilisation()), (Some(0), Some(1.0)));
        feed(&mut hpcc, 150_000, 200_000, path([(26_000, 243_750, 0), (26_000, 406_250, 0)]));
        assert_eq!((hpcc.bottleneck(), hpcc.utilisation()), (Some(1), Some(2.0)));
    }

    /// One bottleneck hop: a rate for each hop is the same law as a rate for the worst hop.
    #[test]
    fn one_hop_multi_rate_equals_single_rate() {
        let mut single = Hpcc::new(config(), LIMITS);
        let mut multi = Hpcc::new(HpccConfig { multi_rate: true, ..config() }, LIMITS);
        for n in 0..40u64 {
            let sample = stack(700 * n, 8_000 * n, 512 * (n % 7) * 20);
            let [first, second] =
                [&mut single, &mut multi].map(|hpcc| feed(hpcc, 1_000 * n, 1_000 * n + 30_000, sample.clone()));
            assert_eq!(first, second, "feedback {n}");
        }
    }
}
