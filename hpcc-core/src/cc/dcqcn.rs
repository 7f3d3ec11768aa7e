// SPDX-License-Identifier: MIT OR Apache-2.0
//! DCQCN (Zhu et al., SIGCOMM 2015) as the 2019 simulator has it: every marked acknowledgement counts as
//! a congestion notification, and decreases and increases come from timers; increases also from the paper's counter of bytes, if
//! it is set.
//!
//! | timer | each time |
//! | --- | --- |
//! | [`ALPHA`] | moves alpha towards 1 if a mark came since, otherwise towards 0 |
//! | [`DECREASE`] | cuts the rate by alpha / 2 if a mark came since, and starts the increases anew |
//! | [`INCREASE`] | raises the target (not in fast recovery) and halves the distance to it |
//! | [`NOTICE`] | is when a mark takes effect that NICs have been busy with |

use super::share::or_share;
use super::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Needs, NoEffect, Notification, Origin, RateDecision, Reaction,
    Timers, known_as, words,
};
use crate::ecn::EcnThreshold;
use crate::random::Rng;
use crate::recurrence::{Recurs, recurs};
use crate::units::{BitRate, Bytes, Nanos};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

/// Timer of alpha.
pub const ALPHA: u8 = 0;
/// Timer of decreases.
pub const DECREASE: u8 = 1;
/// Timer of increases; runs from the first decrease on.
pub const INCREASE: u8 = 2;
/// Timer of the oldest mark that has not taken effect.
pub const NOTICE: u8 = 3;

/// Places of what increases the rate.
const BY_TIME: usize = 0;
const BY_BYTES: usize = 1;

/// The 2019 simulator's first decrease comes this much later than the interval says.
const FIRST_DECREASE_DELAY: Nanos = Nanos(1);

crate::settings! {
    /// Parameters of DCQCN. The defaults are the 2019 simulator's preset for 100 Gb/s, with two intervals of the paper:
    /// notifications, which the 2019 simulator does not limit, and alpha. With the preset's 1 us alpha would vanish
    /// between two notifications; it belongs to the 2019 simulator's fault `notify_every_mark`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DcqcnConfig {
        /// Weight g of the newest interval in alpha, the estimate of congestion by which the rate is cut.
        #[change = "A larger value cuts deeply after short congestion; a smaller one averages over more intervals."]
        pub gain: f64 {0.0..=1.0} = 1.0 / 256.0;
        /// Time between two updates of alpha; one without a notification lowers it.
        #[change = "Keep it longer than `notification_interval`, or alpha decays between two notifications and cuts are \
            small."]
        pub alpha_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(55_000);
        /// Least time between two cuts of the rate.
        #[change = "Raise it beyond `notification_interval` to cut less often."]
        pub decrease_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(4_000);
        /// Time between two increases of the rate.
        #[change = "A shorter one takes free bandwidth sooner; queues grow sooner after a cut."]
        pub increase_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(300_000);
        /// Acknowledged bytes after which the rate is increased, besides the timer (B); 0: by the timer alone. The target
        /// then grows once either has had `fast_recovery` turns, and by `hyper_increase` once both have had more.
        #[change = "Set it to 10 MB for the increases of DCQCN's paper: fast flows recover by bytes, slow ones by time."]
        pub byte_counter: Bytes = Bytes(0);
        /// Increases after a cut that halve the distance to the target rate and leave the target as it is (F).
        #[change = "A larger value stays longer at or below the old rate."]
        pub fast_recovery: u32 = 1;
        /// Added to the target rate by the first increase after fast recovery; `auto`: 1/5000 of the line rate.
        #[change = words::STEP]
        pub additive_increase: Option<BitRate> = None;
        /// Added to the target rate by each later increase; `auto`: 1/500 of the line rate.
        #[change = words::STEP]
        pub hyper_increase: Option<BitRate> = None;
        /// Whether every cut makes the rate before it the new target; otherwise only a cut that follows an increase does.
        #[change = "Turn it on to let several cuts in a row lower the target: flows are calmer and slower."]
        pub clamp_target: bool = false;
        /// Least time between two notifications of a receiver about marked packets of one flow (N).
        #[change = "A shorter one makes senders cut more; change `alpha_interval` with it."]
        pub notification_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = DEFAULT_NOTIFICATION_INTERVAL;
        /// Time that the NICs of receiver and sender take from a mark to its effect, besides the network's. A switch's own
        /// notification takes none.
        #[change = "Set it to what your NICs show (55 us have been seen): queues grow higher before flows react."]
        pub cnp_delay: Nanos {Nanos(0)..=Nanos::LONGEST} = Nanos(0);
        /// Alpha at a flow's first notification (NVIDIA's `initial_alpha_value` / 1023).
        #[change = "A lower one makes the first cuts small."]
        pub initial_alpha: f64 {0.0..=1.0} = 1.0;
        /// Rate that a flow takes at its first notification, if it was faster (`rate_to_set_on_first_cnp`), at least `min_rate`; `auto`:
        /// its own. Increases go on towards the rate before.
        #[change = "Set it to slow a flow down at once, before the first cut."]
        pub rate_on_first_cnp: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
        /// Share of the rate that each cut leaves at least (`rpg_min_dec_fac`, there in percent).
        #[change = "0.5 and less change nothing: a cut leaves half. A larger one makes cuts small."]
        pub min_decrease_factor: f64 {0.0..=1.0} = 0.0;
        /// Rate from which on only its port limits a flow (`rpg_max_rate`); `auto`: the line rate.
        #[change = "Set it below the line rate to let recovered flows send at line rate again."]
        pub max_rate: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
        /// Lowest sending rate of a flow; `auto`: 1/100 of the line rate.
        #[change = words::MIN_RATE]
        pub min_rate: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
    }
}

/// N of the paper.
pub const DEFAULT_NOTIFICATION_INTERVAL: Nanos = Nanos(50_000);

impl DcqcnConfig {
    /// The parameters with the rates of a flow of this line rate.
    fn settled(self, line_rate: BitRate) -> DcqcnConfig {
        DcqcnConfig {
            additive_increase: Some(or_share(self.additive_increase, line_rate, 200)),
            hyper_increase: Some(or_share(self.hyper_increase, line_rate, 2000)),
            min_rate: Some(or_share(self.min_rate, line_rate, 10_000)),
            ..self
        }
    }
}

impl Algorithm for DcqcnConfig {
    known_as!("dcqcn", "DCQCN: ECN marks; every marked acknowledgement is a notification");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Dcqcn::new(*self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        self.settled(line_rate).min_rate
    }

    fn needs(&self) -> Needs {
        // The 2019 simulator's preset has no window, and its acknowledgements overtake data.
        Needs {
            notification_interval: Some(self.notification_interval),
            reaction: Reaction::Mark,
            window: false,
            acks_first: true,
            ecn: Some(EcnThreshold::USUAL),
            ..Needs::default()
        }
    }
}

/// DCQCN's state for one flow.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    config: DcqcnConfig,
    limits: Arc<FlowLimits>,
    rate: BitRate,
    /// Where increases lead.
    target: BitRate,
    alpha: f64,
    /// Whether the timers run: from the first mark on.
    started: bool,
    /// When marks take effect that the NICs are busy with.
    noticed: VecDeque<Nanos>,
    /// Whether a mark came since [`ALPHA`] last fired.
    mark_for_alpha: bool,
    /// Whether a mark came since the last decrease.
    mark_for_decrease: bool,
    /// Increases since the last decrease, by the timer and by the counter.
    increases: [u32; 2],
    /// Bytes acknowledged since the counter last turned; it runs from the first decrease on.
    counted: u64,
    timers: Timers,
}

impl Dcqcn {
    /// The state of a new flow.
    pub fn new(config: DcqcnConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        Dcqcn {
            config: config.settled(limits.line_rate),
            rate: limits.line_rate,
            target: limits.line_rate,
            alpha: config.initial_alpha,
            started: false,
            noticed: VecDeque::new(),
            mark_for_alpha: false,
            mark_for_decrease: false,
            increases: [0; 2],
            counted: 0,
            timers: Timers::default(),
            limits,
        }
    }

    /// The estimate of congestion, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// A mark has come back: the sender's NIC may need time until it acts on it.
    #[inline]
    fn on_mark(&mut self, now: Nanos) -> RateDecision {
        if self.config.cnp_delay == Nanos(0) {
            return self.react(now);
        }
        let at = now + self.config.cnp_delay;
        if self.noticed.is_empty() {
            self.timers.arm(NOTICE, at);
        }
        self.noticed.push_back(at);
        RateDecision::Keep
    }

    fn notice(&mut self, now: Nanos) -> RateDecision {
        self.noticed.pop_front();
        if let Some(&next) = self.noticed.front() {
            self.timers.arm(NOTICE, next);
        }
        self.react(now)
    }

    #[inline]
    fn react(&mut self, now: Nanos) -> RateDecision {
        self.mark_for_alpha = true;
        self.mark_for_decrease = true;
        if self.started {
            return RateDecision::Keep;
        }
        self.start(now);
        match self.config.rate_on_first_cnp {
            Some(rate) if rate < self.rate => {
                self.rate = rate.max(self.config.min_rate.unwrap_or_default());
                RateDecision::Set(self.rate)
            }
            Some(_) | None => RateDecision::Keep,
        }
    }

    fn start(&mut self, now: Nanos) {
        self.started = true;
        self.mark_for_alpha = false;
        self.target = self.rate;
        self.timers.arm(ALPHA, now + self.config.alpha_interval);
        self.timers.arm(DECREASE, now + self.config.decrease_interval + FIRST_DECREASE_DELAY);
    }

    fn update_alpha(&mut self, now: Nanos) {
        let gain = self.config.gain;
        let decayed = (1.0 - gain) * self.alpha;
        self.alpha = if self.mark_for_alpha { decayed + gain } else { decayed };
        self.mark_for_alpha = false;
        self.timers.arm(ALPHA, now + self.config.alpha_interval);
    }

    fn decrease(&mut self, now: Nanos) -> RateDecision {
        self.timers.arm(DECREASE, now + self.config.decrease_interval);
        if !self.mark_for_decrease {
            return RateDecision::Keep;
        }
        self.mark_for_decrease = false;
        if self.config.clamp_target || self.increases != [0; 2] {
            self.target = self.rate;
        }
        let share = (1.0 - self.alpha / 2.0).max(self.config.min_decrease_factor);
        let cut = BitRate::from_f64(self.rate.0 as f64 * share);
        self.rate = cut.max(self.config.min_rate.unwrap_or_default());
        (self.increases, self.counted) = ([0; 2], 0);
        self.timers.arm(INCREASE, now + self.config.increase_interval);
        RateDecision::Set(self.rate)
    }

    /// An increase by the timer or by the counter.
    fn increase(&mut self, by: usize) -> RateDecision {
        let [by_time, by_bytes] = self.increases;
        let fast = self.config.fast_recovery;
        let slowest = if self.config.byte_counter == Bytes(0) { by_time } else { by_time.min(by_bytes) };
        let step = if by_time.max(by_bytes) < fast {
            None
        } else if slowest > fast {
            self.config.hyper_increase
        } else {
            self.config.additive_increase
        };
        if let Some(step) = step {
            self.target = self.target.saturating_add(step).min(self.limits.line_rate);
        }
        // Each half is truncated on its own, as in the 2019 simulator.
        self.rate = BitRate(self.rate.0 / 2 + self.target.0 / 2);
        self.increases[by] = self.increases[by].saturating_add(1);
        if self.config.max_rate.is_some_and(|most| self.rate >= most) {
            (self.rate, self.target) = (self.limits.line_rate, self.limits.line_rate);
        }
        RateDecision::Set(self.rate)
    }
}

impl CongestionControl for Dcqcn {
    fn recurring(&mut self) -> Option<&mut dyn Recurs> {
        Some(self)
    }

    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let decision = if feedback.congestion_marked { self.on_mark(feedback.now) } else { RateDecision::Keep };
        let Bytes(turn) = self.config.byte_counter;
        if turn == 0 || self.timers.due(INCREASE).is_none() {
            return decision;
        }
        self.counted += feedback.acked;
        if self.counted < turn {
            return RateDecision::Keep;
        }
        self.counted %= turn;
        self.increase(BY_BYTES)
    }

    /// A switch's notification counts as a marked acknowledgement, whatever records it brings.
    fn on_notification(&mut self, notification: &Notification<'_>) -> Result<RateDecision, NoEffect> {
        Ok(match notification.origin {
            Origin::Receiver => self.on_mark(notification.now),
            Origin::Network(_) => self.react(notification.now),
        })
    }

    fn on_port(&mut self, line_rate: BitRate) {
        Arc::make_mut(&mut self.limits).line_rate = line_rate;
    }

    fn on_timer(&mut self, timer: u8, now: Nanos) -> RateDecision {
        if !self.timers.fire(timer, now) {
            return RateDecision::Keep;
        }
        match timer {
            DECREASE => self.decrease(now),
            NOTICE => self.notice(now),
            INCREASE => {
                self.timers.arm(INCREASE, now + self.config.increase_interval);
                self.increase(BY_TIME)
            }
            _ => {
                self.update_alpha(now);
                RateDecision::Keep
            }
        }
    }

    fn timers(&self) -> Option<&Timers> {
        Some(&self.timers)
    }

    #[inline]
    fn timers_mut(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }
}

recurs! {
    Dcqcn {
        config: constant,
        limits: constant,
        rate: plain,
        target: plain,
        alpha: plain,
        started: plain,
        noticed: until,
        mark_for_alpha: plain,
        mark_for_decrease: plain,
        increases: plain,
        counted: plain,
        timers: part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Armed;
    use crate::cc::testing::{LIMITS, ack, rng};

    fn mark(dcqcn: &mut Dcqcn, now: u64) {
        let feedback = Feedback { congestion_marked: true, ..ack(now, 1_000, 9_000) };
        assert_eq!(dcqcn.on_feedback(&feedback, &mut rng()), RateDecision::Keep);
    }

    fn dcqcn(config: DcqcnConfig) -> Dcqcn {
        Dcqcn::new(config, LIMITS)
    }

    #[test]
    fn the_first_mark_starts_alpha_and_decrease() {
        let mut dcqcn = dcqcn(DcqcnConfig::default());
        dcqcn.on_feedback(&ack(5, 1_000, 9_000), &mut rng());
        assert_eq!(dcqcn.timers.take_armed(), Armed(0));
        mark(&mut dcqcn, 10);
        assert_eq!(dcqcn.timers.take_armed(), Armed(1 << ALPHA | 1 << DECREASE));
        assert_eq!(dcqcn.timers.due(ALPHA), Some(Nanos(55_010)));
        assert_eq!(dcqcn.timers.due(DECREASE), Some(Nanos(4_011)));
        mark(&mut dcqcn, 20);
        assert_eq!(dcqcn.timers.take_armed(), Armed(0));
    }

    /// g = 1/256: one interval without a mark, then one with.
    #[test]
    fn alpha_decays_without_marks_and_grows_with_them() {
        let mut dcqcn = dcqcn(DcqcnConfig::default());
        mark(&mut dcqcn, 0);
        dcqcn.on_timer(ALPHA, Nanos(55_000));
        assert_eq!(dcqcn.alpha(), 255.0 / 256.0);
        mark(&mut dcqcn, 55_500);
        dcqcn.on_timer(ALPHA, Nanos(110_000));
        assert_eq!(dcqcn.alpha(), 255.0 / 256.0 * (255.0 / 256.0) + 1.0 / 256.0);
        assert_eq!(dcqcn.timers.due(ALPHA), Some(Nanos(165_000)));
    }

    /// alpha = 1: 100 Gb/s, then 50; target 100. F = 1: 75 by fast recovery, 87.5 towards 100 (capped).
    #[test]
    fn a_decrease_halves_and_increases_approach_the_target() {
        let mut dcqcn = dcqcn(DcqcnConfig::default());
        mark(&mut dcqcn, 0);
        assert_eq!(dcqcn.on_timer(DECREASE, Nanos(4_001)), RateDecision::Set(BitRate::gbps(50)));
        assert_eq!(dcqcn.timers.due(DECREASE), Some(Nanos(8_001)));
        assert_eq!(dcqcn.timers.due(INCREASE), Some(Nanos(304_001)));
        assert_eq!(dcqcn.on_timer(DECREASE, Nanos(8_001)), RateDecision::Keep, "no mark since");
        assert_eq!(dcqcn.on_timer(INCREASE, Nanos(304_001)), RateDecision::Set(BitRate::gbps(75)));
        assert_eq!(dcqcn.timers.due(INCREASE), Some(Nanos(604_001)));
        assert_eq!(dcqcn.on_timer(INCREASE, Nanos(604_001)), RateDecision::Set(BitRate::mbps(87_500)));
    }

    /// After an increase the decrease makes the old rate the target; F = 1 then adds 20 and 200 Mb/s.
    #[test]
    fn the_target_grows_after_fast_recovery() {
        let mut dcqcn = dcqcn(DcqcnConfig::default());
        mark(&mut dcqcn, 0);
        dcqcn.on_timer(DECREASE, Nanos(4_001));
        dcqcn.on_timer(INCREASE, Nanos(304_001));
        mark(&mut dcqcn, 304_002);
        assert_eq!(dcqcn.on_timer(DECREASE, Nanos(400_000)), RateDecision::Set(BitRate::mbps(37_500)));
        let mut next = |at| dcqcn.on_timer(INCREASE, Nanos(at));
        assert_eq!(next(700_000), RateDecision::Set(BitRate::mbps((37_500 + 75_000) / 2)));
        assert_eq!(next(1_000_000), RateDecision::Set(BitRate::mbps((56_250 + 75_020) / 2)));
        assert_eq!(next(1_300_000), RateDecision::Set(BitRate((65_635_000_000 + 75_220_000_000) / 2)));
    }

    /// On a port of 80 Gb/s fast recovery still leads to the old target; each further increase is capped.
    #[test]
    fn increases_are_capped_by_the_port_that_the_flow_is_on() {
        let mut dcqcn = dcqcn(DcqcnConfig::default());
        mark(&mut dcqcn, 0);
        dcqcn.on_timer(DECREASE, Nanos(4_001));
        dcqcn.on_port(BitRate::gbps(80));
        assert_eq!(dcqcn.on_timer(INCREASE, Nanos(304_001)), RateDecision::Set(BitRate::gbps(75)));
        assert_eq!(dcqcn.on_timer(INCREASE, Nanos(604_001)), RateDecision::Set(BitRate::mbps(77_500)));
        dcqcn.on_port(BitRate::gbps(100));
        assert_eq!(dcqcn.on_timer(INCREASE, Nanos(904_001)), RateDecision::Set(BitRate::mbps(78_850)));
    }

    #[test]
    fn the_target_stays_through_decreases_in_a_row_unless_it_is_clamped() {
        for (clamp_target, expected) in [(false, BitRate::mbps(62_500)), (true, BitRate::mbps(37_500))] {
            let mut dcqcn = dcqcn(DcqcnConfig { clamp_target, ..DcqcnConfig::default() });
            mark(&mut dcqcn, 0);
            dcqcn.on_timer(DECREASE, Nanos(4_001));
            mark(&mut dcqcn, 5_000);
            assert_eq!(dcqcn.on_timer(DECREASE, Nanos(8_001)), RateDecision::Set(BitRate::gbps(25)));
            assert_eq!(dcqcn.on_timer(INCREASE, Nanos(308_001)), RateDecision::Set(expected));
        }
    }

    /// F = 1, 20 and 200 Mb/s: fast recovery by bytes, then a step once either has had its turn, hyper increase once both have had
    /// two.
    #[test]
    fn bytes_increase_the_rate_beside_the_timer() {
        let mut dcqcn = dcqcn(DcqcnConfig { byte_counter: Bytes(3_000), ..DcqcnConfig::default() });
        dcqcn.on_feedback(&Feedback { acked: 9_000, ..ack(0, 1_000, 9_000) }, &mut rng());
        mark(&mut dcqcn, 0);
        dcqcn.on_timer(DECREASE, Nanos(4_001));
        dcqcn.target = BitRate::gbps(60);
        let acked =
            |dcqcn: &mut Dcqcn, acked| dcqcn.on_feedback(&Feedback { acked, ..ack(5_000, 1_000, 9_000) }, &mut rng());
        assert_eq!(acked(&mut dcqcn, 2_999), RateDecision::Keep, "what came before the cut does not count");
        assert_eq!(acked(&mut dcqcn, 1), RateDecision::Set(BitRate::gbps(55)));
        assert_eq!(acked(&mut dcqcn, 3_500), RateDecision::Set(BitRate::mbps(57_510)));
        assert_eq!(dcqcn.target, BitRate::mbps(60_020));
        dcqcn.on_timer(INCREASE, Nanos(304_001));
        dcqcn.on_timer(INCREASE, Nanos(604_001));
        assert_eq!(dcqcn.target, BitRate::mbps(60_060), "by the timer as many as by bytes: not more than F");
        dcqcn.on_timer(INCREASE, Nanos(904_001));
        assert_eq!(dcqcn.target, BitRate::mbps(60_260), "both have had more than F");
        mark(&mut dcqcn, 904_002);
        dcqcn.on_timer(DECREASE, Nanos(908_001));
        assert_eq!((dcqcn.increases, dcqcn.counted), ([0, 0], 0));
    }

    /// 55 us in NICs: two marks before the first has its effect, each with its own; a switch's word takes none.
    #[test]
    fn a_mark_takes_effect_when_nics_are_done_with_it() {
        let mut dcqcn = dcqcn(DcqcnConfig { cnp_delay: Nanos(55_000), ..DcqcnConfig::default() });
        mark(&mut dcqcn, 1_000);
        mark(&mut dcqcn, 51_000);
        assert_eq!((dcqcn.timers.due(NOTICE), dcqcn.timers.due(DECREASE)), (Some(Nanos(56_000)), None));
        assert_eq!(dcqcn.on_timer(NOTICE, Nanos(56_000)), RateDecision::Keep);
        assert_eq!((dcqcn.timers.due(NOTICE), dcqcn.timers.due(DECREASE)), (Some(Nanos(106_000)), Some(Nanos(60_001))));
        assert_eq!(dcqcn.on_timer(DECREASE, Nanos(60_001)), RateDecision::Set(BitRate::gbps(50)));
        assert_eq!(dcqcn.on_timer(DECREASE, Nanos(64_001)), RateDecision::Keep, "the second mark is not seen yet");
        dcqcn.on_timer(NOTICE, Nanos(106_000));
        assert_eq!(dcqcn.on_timer(DECREASE, Nanos(108_001)), RateDecision::Set(BitRate::gbps(25)));
        assert_eq!(dcqcn.timers.due(NOTICE), None);
        let notification =
            Notification { now: Nanos(110_000), origin: Origin::Network([0; 16]), ..crate::cc::testing::NOTIFICATION };
        assert_eq!(dcqcn.on_notification(&notification), Ok(RateDecision::Keep));
        assert_eq!(dcqcn.on_timer(DECREASE, Nanos(112_001)), RateDecision::Set(BitRate::mbps(12_500)));
    }

    /// Alpha 0.5 cuts by a quarter; a least share of 0.9 by a tenth; from 95 Gb/s on the limit is gone.
    #[test]
    fn a_nics_own_parameters() {
        let first = |config: DcqcnConfig| {
            let mut dcqcn = dcqcn(config);
            mark(&mut dcqcn, 0);
            dcqcn.on_timer(DECREASE, Nanos(4_001))
        };
        let usual = DcqcnConfig::default();
        assert_eq!(first(DcqcnConfig { initial_alpha: 0.5, ..usual }), RateDecision::Set(BitRate::gbps(75)));
        assert_eq!(first(DcqcnConfig { min_decrease_factor: 0.9, ..usual }), RateDecision::Set(BitRate::gbps(90)));
        assert_eq!(first(DcqcnConfig { min_decrease_factor: 0.3, ..usual }), RateDecision::Set(BitRate::gbps(50)));

        let mut slowed = dcqcn(DcqcnConfig { rate_on_first_cnp: Some(BitRate::gbps(10)), ..usual });
        let marked = Feedback { congestion_marked: true, ..ack(0, 1_000, 9_000) };
        assert_eq!(slowed.on_feedback(&marked, &mut rng()), RateDecision::Set(BitRate::gbps(10)));
        assert_eq!(slowed.on_feedback(&marked, &mut rng()), RateDecision::Keep);
        assert_eq!(slowed.on_timer(DECREASE, Nanos(4_001)), RateDecision::Set(BitRate::gbps(5)));
        assert_eq!(slowed.on_timer(INCREASE, Nanos(304_001)), RateDecision::Set(BitRate::mbps(52_500)), "to 100");

        let least =
            DcqcnConfig { min_rate: Some(BitRate::gbps(20)), rate_on_first_cnp: Some(BitRate::gbps(10)), ..usual };
        assert_eq!(dcqcn(least).on_feedback(&marked, &mut rng()), RateDecision::Set(BitRate::gbps(20)));

        let mut free = dcqcn(DcqcnConfig { max_rate: Some(BitRate::gbps(80)), ..usual });
        mark(&mut free, 0);
        free.on_timer(DECREASE, Nanos(4_001));
        assert_eq!(free.on_timer(INCREASE, Nanos(304_001)), RateDecision::Set(BitRate::gbps(75)));
        assert_eq!(free.on_timer(INCREASE, Nanos(604_001)), RateDecision::Set(BitRate::gbps(100)), "past 80");
    }

    /// REQ-44: the cut is the one of a marked acknowledgement, by the same timers.
    #[test]
    fn req_44_a_notification_cuts_as_a_mark_does() {
        let (mut marked, mut notified) = (dcqcn(DcqcnConfig::default()), dcqcn(DcqcnConfig::default()));
        for now in [0, 900, 5_000] {
            mark(&mut marked, now);
            let notification = Notification { now: Nanos(now), ..crate::cc::testing::NOTIFICATION };
            assert_eq!(notified.on_notification(&notification), Ok(RateDecision::Keep));
            assert_eq!(notified.timers, marked.timers);
        }
        for (timer, now) in [(ALPHA, 1_000), (DECREASE, 4_001), (DECREASE, 8_001), (INCREASE, 304_001)] {
            let [one, other] = [&mut marked, &mut notified].map(|flow| flow.on_timer(timer, Nanos(now)));
            assert_eq!(one, other);
        }
        assert_eq!(notified.rate, marked.rate);
        assert!(notified.rate < LIMITS.line_rate);
    }
}
