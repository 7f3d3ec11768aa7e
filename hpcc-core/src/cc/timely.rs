// SPDX-License-Identifier: MIT OR Apache-2.0
//! TIMELY (Mittal et al., SIGCOMM 2015) as the 2019 simulator has it: once in a round trip, the
//! round-trip time and its gradient move the rate.

use super::share::or_share;
use super::{Algorithm, CongestionControl, Feedback, FlowLimits, Needs, RateDecision, Reads, known_as, words};
use crate::random::Rng;
use crate::settings::Conflict;
use crate::telemetry::Telemetry;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;

crate::settings! {
    /// Parameters of TIMELY. The defaults are the 2019 simulator's preset for 100 Gb/s; the 2019 simulator fixes all
    /// but the rates.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TimelyConfig {
        /// Added to the rate in each of the first `hyper_after` increases in a row; `auto`: 1/1000 of the line rate.
        #[change = words::STEP]
        pub additive_increase: Option<BitRate> = None;
        /// Added to the rate in each later increase; `auto`: 1/200 of the line rate.
        #[change = words::STEP]
        pub hyper_increase: Option<BitRate> = None;
        /// Increases in a row before `hyper_increase` takes over.
        #[change = "A smaller value takes free bandwidth sooner and overshoots more."]
        pub hyper_after: u32 = 5;
        /// Lowest sending rate of a flow; `auto`: 1/100 of the line rate.
        #[change = words::MIN_RATE]
        pub min_rate: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
        /// Weight alpha of the newest difference of two round-trip times in their average.
        #[change = "A larger value follows the newest difference, noise included; a smaller one is smoother and later."]
        pub weight: f64 {0.0..=1.0} = 0.875;
        /// Factor beta of a decrease: how strongly the rate follows a growing or a long round-trip time.
        #[change = "A larger value cuts deeper, for shorter queues and less throughput."]
        pub decrease: f64 {0.0..=1.0} = 0.8;
        /// Round-trip time below which the rate only grows, at most `high`; `auto`: 50 us, at least 1.25 T.
        #[change = "Set it above the round-trip time of the idle network, bursts included; too high, a queue of that \
            length always stands."]
        pub low: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
        /// Round-trip time above which the rate only falls; `auto`: 500 us, at least 2 T.
        #[change = "Lower it to bound delay more tightly, at the cost of throughput."]
        pub high: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
        /// Round-trip time in whose parts the trend is measured; `auto`: 20 us, at least T.
        #[change = "A larger value makes flows less sensitive to the trend."]
        pub min_rtt: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
    }
}

/// The times of the 2019 simulator, which fixes them.
pub const LOW: Nanos = Nanos(50_000);
/// The higher one.
pub const HIGH: Nanos = Nanos(500_000);
/// The round-trip time in whose parts the trend is measured.
pub const MIN_RTT: Nanos = Nanos(20_000);

impl TimelyConfig {
    /// The parameters of a flow of this line rate on a path with this T.
    fn settled(self, line_rate: BitRate, base_rtt: Nanos) -> TimelyConfig {
        let (low, high) = (Nanos(base_rtt.0.saturating_mul(5) / 4), Nanos(base_rtt.0.saturating_mul(2)));
        TimelyConfig {
            low: self.low.or(Some(LOW.max(low).min(self.high.unwrap_or(Nanos::LONGEST)))),
            high: self.high.or(Some(HIGH.max(high).max(self.low.unwrap_or_default()))),
            min_rtt: self.min_rtt.or(Some(MIN_RTT.max(base_rtt))),
            additive_increase: Some(or_share(self.additive_increase, line_rate, 1_000)),
            hyper_increase: Some(or_share(self.hyper_increase, line_rate, 5000)),
            min_rate: Some(or_share(self.min_rate, line_rate, 10_000)),
            ..self
        }
    }
}

impl Algorithm for TimelyConfig {
    known_as!("timely", "TIMELY: round-trip times and their gradient, measured by 8 bytes that come back");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Timely::new(*self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        self.settled(line_rate, Nanos(0)).min_rate
    }

    fn needs(&self) -> Needs {
        // The 2019 simulator's preset has no window, and its acknowledgements overtake data.
        Needs { reads: Reads::SendTime, window: false, acks_first: true, ..Needs::default() }
    }

    fn check(&self) -> Result<(), Conflict> {
        let (low, high) = (self.low.unwrap_or(Nanos(0)), self.high.unwrap_or(Nanos::LONGEST));
        if low <= high {
            return Ok(());
        }
        Err(Conflict::new("low", format!("low is {low}, more than high, {high}; expected at most that")))
    }
}

/// TIMELY's state for one flow.
#[derive(Clone, Debug)]
pub struct Timely {
    config: TimelyConfig,
    limits: Arc<FlowLimits>,
    rate: BitRate,
    /// A round trip ends with the acknowledgement of a byte beyond this one.
    last_update_seq: u64,
    last_rtt: Nanos,
    /// Average difference between successive round-trip times in nanoseconds.
    difference: f64,
    /// Increases in a row.
    increases: u32,
}

impl Timely {
    /// The state of a new flow.
    pub fn new(config: TimelyConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        Timely {
            config: config.settled(limits.line_rate, limits.base_rtt),
            rate: limits.line_rate,
            last_update_seq: 0,
            last_rtt: Nanos(0),
            difference: 0.0,
            increases: 0,
            limits,
        }
    }

    /// The factor of the rate, `None` for an increase.
    fn factor(&self, rtt: Nanos) -> Option<f64> {
        let TimelyConfig { decrease, low, high, min_rtt, .. } = self.config;
        let [low, high, min_rtt] = [low, high, min_rtt].map(Option::unwrap_or_default);
        if rtt < low {
            return None;
        }
        if rtt > high {
            return Some(1.0 - decrease * (1.0 - high.0 as f64 / rtt.0 as f64));
        }
        let gradient = self.difference / min_rtt.0 as f64;
        (gradient > 0.0).then(|| (1.0 - decrease * gradient).max(0.0))
    }

    fn update(&mut self, rtt: Nanos) {
        let newest = rtt.0 as f64 - self.last_rtt.0 as f64;
        self.difference = (1.0 - self.config.weight) * self.difference + self.config.weight * newest;
        match self.factor(rtt) {
            None => {
                let hyper = self.increases >= self.config.hyper_after;
                let step = if hyper { self.config.hyper_increase } else { self.config.additive_increase };
                self.rate = self.rate.saturating_add(step.unwrap_or_default()).min(self.limits.line_rate);
                self.increases = self.increases.saturating_add(1);
            }
            Some(factor) => {
                self.rate =
                    BitRate::from_f64(self.rate.0 as f64 * factor).max(self.config.min_rate.unwrap_or_default());
                self.increases = 0;
            }
        }
    }
}

impl CongestionControl for Timely {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        if feedback.ack_seq <= self.last_update_seq {
            return RateDecision::Keep;
        }
        let Telemetry::SentAt(sent) = feedback.telemetry else { return RateDecision::Keep };
        let rtt = feedback.now.saturating_sub(sent);
        let first = self.last_update_seq == 0;
        if !first {
            self.update(rtt);
        }
        if feedback.snd_nxt > self.last_update_seq {
            self.last_update_seq = feedback.snd_nxt;
            self.last_rtt = rtt;
        }
        if first { RateDecision::Keep } else { RateDecision::Set(self.rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rate, rng};

    /// Feeds one round trip after the other; returns the rate after the last.
    fn after(rtts: &[u64]) -> BitRate {
        let (mut timely, mut rng) = (Timely::new(TimelyConfig::default(), LIMITS), rng());
        timely.rate = BitRate::gbps(40);
        let mut decision = RateDecision::Keep;
        for (n, rtt) in (1..).zip(rtts) {
            let telemetry = Telemetry::SentAt(Nanos(n * 1_000_000 - rtt));
            let feedback = Feedback { telemetry, ..ack(n * 1_000_000, n * 1_000, n * 1_000 + 500) };
            decision = timely.on_feedback(&feedback, &mut rng);
        }
        rate(decision)
    }

    #[test]
    fn short_round_trips_add_and_after_five_in_a_row_add_more() {
        assert_eq!(after(&[20_000, 49_999]), BitRate::mbps(40_100));
        assert_eq!(after(&[20_000; 6]), BitRate::mbps(40_500));
        assert_eq!(after(&[20_000; 7]), BitRate::mbps(41_000));
    }

    /// 1 ms: 1 - 0.8 * (1 - 0.5) = 0.6.
    #[test]
    fn long_round_trips_cut_by_how_far_they_are_beyond() {
        assert_eq!(after(&[20_000, 1_000_000]), BitRate::gbps(24));
    }

    /// Between the thresholds: 60 us then 70 us differ by 10 us; 0.875 * 10 / 20 = 0.4375 of the least
    /// round-trip time, so that 1 - 0.8 * 0.4375 = 0.65 is left.
    #[test]
    fn a_rising_gradient_cuts_and_a_falling_one_adds() {
        assert_eq!(after(&[60_000, 70_000]), BitRate(25_999_999_999), "26 Gb/s, truncated in binary");
        assert_eq!(after(&[70_000, 60_000]), BitRate::mbps(40_100));
        assert_eq!(after(&[60_000, 400_000]), BitRate::gbps(1), "never below the least rate");
    }

    /// At the thresholds themselves the gradient decides, and a gradient of 0 adds.
    #[test]
    fn between_the_thresholds_includes_them() {
        assert_eq!(after(&[40_000, 50_000]), BitRate(25_999_999_999));
        assert_eq!(after(&[510_000, 500_000]), BitRate::mbps(40_100));
        assert_eq!(after(&[60_000, 60_000]), BitRate::mbps(40_100));
    }

    /// An eighth of 8750 ns is 0.0547 of the least round-trip time: 1 - 0.8 * 0.0547 = 0.95625 of 26 Gb/s are left.
    #[test]
    fn differences_are_averaged() {
        assert!(after(&[60_000, 70_000, 70_000]).0.abs_diff(24_862_500_000) < 10);
    }

    #[test]
    fn the_lower_threshold_is_at_most_the_higher() {
        let check = |low, high| {
            TimelyConfig { low: Some(Nanos(low)), high: Some(Nanos(high)), ..TimelyConfig::default() }
                .check()
                .map_err(|it| it.key)
        };
        assert_eq!((check(5, 6), check(6, 6), check(7, 6)), (Ok(()), Ok(()), Err("low")));
    }

    /// After a go-back an acknowledgement may pass what was sent since: the round goes on, with its round-trip time.
    #[test]
    fn a_round_trip_begins_with_news_only() {
        let (mut timely, mut rng) = (Timely::new(TimelyConfig::default(), LIMITS), rng());
        for (ack_seq, rtt) in [(1_000, 30_000), (5_000, 40_000)] {
            let telemetry = Telemetry::SentAt(Nanos(1_000_000 - rtt));
            timely.on_feedback(&Feedback { telemetry, ..ack(1_000_000, ack_seq, 4_000) }, &mut rng);
        }
        assert_eq!((timely.last_update_seq, timely.last_rtt), (4_000, Nanos(30_000)));
    }

    #[test]
    fn only_one_acknowledgement_of_a_round_trip_counts() {
        let (mut timely, mut rng) = (Timely::new(TimelyConfig::default(), LIMITS), rng());
        let telemetry = Telemetry::SentAt(Nanos(0));
        let mut decide = |ack_seq| {
            let feedback = Feedback { telemetry, ..ack(600_000, ack_seq, 9_000) };
            timely.on_feedback(&feedback, &mut rng)
        };
        assert_eq!(
            (decide(1_000), decide(2_000), decide(9_000)),
            (RateDecision::Keep, RateDecision::Keep, RateDecision::Keep)
        );
        assert_ne!(decide(9_001), RateDecision::Keep);
    }
}
