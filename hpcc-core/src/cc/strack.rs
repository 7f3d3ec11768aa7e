// SPDX-License-Identifier: MIT OR Apache-2.0
//! STrack (Le et al., 2024, arXiv 2407.15266): round-trip times against a target, as Swift, but growth in proportion to the distance from
//! the target, and, far above it, the window that the network has just delivered. Its packets are to spread:
//! `transport.entropy = "bitmap"`, which passes over entropies whose packets were marked.
//!
//! | a round-trip time d | the window |
//! | --- | --- |
//! | below the target | grows by alpha (target - srtt) / window for each packet that is acknowledged |
//! | above twice the target, once in srtt | is what was acknowledged in the last whole T |
//! | else, once in srtt | falls to 1 - beta (d - target) / d of it, at least to 1 - max_mdf |
//!
//! The fifth timeout in a row leaves the least window. *Guesses*, for the paper is not clear about them: the target's base (beyond
//! 13 us of T ours) and its growth with hops, alpha, beta and max_mdf, which public simulators mark so, too; windows in packets and times in microseconds in the
//! growth; and the least window of a packet.

use super::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Loss, LossSignal, Needs, RateDecision, Steers, known_as,
};
use crate::random::Rng;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// Least base of the target by default, in ns.
const LEAST_BASE: f64 = 20_000.0;
/// A hop adds the base divided by this to the target.
const HOPS_TO_BASE: f64 = 6.55;
/// So many timeouts in a row leave the least window.
const TIMEOUTS: u32 = 5;
const MICROSECOND: f64 = 1_000.0;

crate::settings! {
    /// Parameters of STrack, all of them guesses.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct StrackConfig {
        /// Round-trip time that a flow aims for, before 1/6.55 of it is added for each link of the path; `auto`: 20 us, or 1.5 T where
        /// that is longer.
        #[change = "A smaller value keeps queues shorter; a larger one fills links better. Below T flows all but stop."]
        pub base_delay: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
        /// Packets that a flow adds in a round trip for each microsecond below its target.
        #[change = "A larger value takes free bandwidth sooner; queues vary more."]
        pub growth: f64 {0.0..=1000.0} = 0.25;
        /// Factor beta of a decrease: how strongly the window follows the excess over the target.
        #[change = "A larger value drains queues faster and risks idle links."]
        pub beta: f64 {0.0..=1.0} = 0.8;
        /// Largest part of the window that such a decrease takes.
        #[change = "A larger value reacts more to a sudden queue."]
        pub max_decrease: f64 {0.0..=1.0} = 0.5;
    }
}

impl Algorithm for StrackConfig {
    known_as!("strack", "STrack: round-trip times against a target, and what the network has delivered far above it");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Strack::new(self, limits))
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { rtt: true, steers: Steers::Window, ..Needs::default() }
    }
}

/// STrack's state for one flow. Windows are in packets.
#[derive(Clone, Debug)]
pub struct Strack {
    config: StrackConfig,
    limits: Arc<FlowLimits>,
    target: f64,
    window: f64,
    most: f64,
    /// Smoothed round-trip time in ns.
    srtt: f64,
    last_decrease: Option<Nanos>,
    /// When the present T began, and the packets that were acknowledged in it and in the one before.
    began: Option<Nanos>,
    acked: f64,
    achieved: Option<f64>,
    timeouts: u32,
}

impl Strack {
    /// The state of a new flow, which starts with line rate * T.
    pub fn new(config: &StrackConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        let usual = LEAST_BASE.max(1.5 * limits.base_rtt.0 as f64);
        let base = config.base_delay.map_or(usual, |delay| delay.0 as f64);
        let bdp = limits.line_rate.0 as f64 * limits.base_rtt.0 as f64 / 8e9;
        let most = (bdp / f64::from(limits.mtu.max(1))).max(1.0);
        Strack {
            config: *config,
            target: base + f64::from(limits.hops) * base / HOPS_TO_BASE,
            window: most,
            most,
            srtt: limits.base_rtt.0 as f64,
            last_decrease: None,
            began: None,
            acked: 0.0,
            achieved: None,
            timeouts: 0,
            limits,
        }
    }

    /// Counts what the network delivers in each T.
    fn count(&mut self, now: Nanos, packets: f64) {
        let t = self.limits.base_rtt;
        if self.began.is_none_or(|began| now >= began + t) {
            // Of several that have passed nothing came in the last.
            self.achieved = self.began.filter(|&began| now < began + t + t).map(|_| self.acked);
            (self.began, self.acked) = (Some(now), 0.0);
        }
        self.acked += packets;
    }

    fn decrease(&mut self, now: Nanos, rtt: f64) {
        if self.last_decrease.is_some_and(|last| ((now - last).0 as f64) < self.srtt) {
            return;
        }
        self.last_decrease = Some(now);
        self.window = match self.achieved {
            Some(achieved) if rtt > 2.0 * self.target => achieved,
            _ => {
                let share = self.config.beta * (rtt - self.target) / rtt;
                self.window * (1.0 - share).max(1.0 - self.config.max_decrease)
            }
        };
    }

    fn decision(&mut self) -> RateDecision {
        self.window = self.window.max(1.0).min(self.most);
        let bytes = (self.window * f64::from(self.limits.mtu)) as u64;
        RateDecision::Window { bytes, rate: self.limits.line_rate }
    }
}

impl CongestionControl for Strack {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let packets = feedback.acked as f64 / f64::from(self.limits.mtu.max(1));
        self.count(feedback.now, packets);
        if feedback.acked > 0 {
            self.timeouts = 0;
        }
        let Some(rtt) = feedback.rtt else { return RateDecision::Keep };
        let rtt = rtt.0 as f64;
        self.srtt += (rtt - self.srtt) / 8.0;
        if rtt < self.target {
            let below = (self.target - self.srtt).max(0.0) / MICROSECOND;
            self.window += self.config.growth * below * packets / self.window;
        } else {
            self.decrease(feedback.now, rtt);
        }
        self.decision()
    }

    fn on_loss(&mut self, loss: &Loss) -> RateDecision {
        match loss.signal {
            LossSignal::Nack | LossSignal::Trimmed { .. } => return RateDecision::Keep,
            LossSignal::Timeout => self.timeouts += 1,
        }
        if self.timeouts < TIMEOUTS {
            return RateDecision::Keep;
        }
        self.window = 0.0;
        self.decision()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng, survives_hostile_feedback};
    use approx::assert_abs_diff_eq;

    /// T is 13 us and the window 162.5 packets at most.
    fn strack(window: f64) -> Strack {
        Strack { window, ..Strack::new(&StrackConfig::default(), LIMITS) }
    }

    fn feed(flow: &mut Strack, now: u64, rtt: u64, acked: u64) -> f64 {
        let feedback = Feedback { rtt: Some(Nanos(rtt)), acked, ..ack(now, 1, 1) };
        flow.on_feedback(&feedback, &mut rng());
        flow.window
    }

    #[test]
    fn the_target_grows_with_hops() {
        let target = |hops| Strack::new(&StrackConfig::default(), FlowLimits { hops, ..LIMITS }).target;
        assert_abs_diff_eq!(target(0), 20_000.0);
        assert_abs_diff_eq!(target(6), 20_000.0 * (1.0 + 6.0 / 6.55), epsilon = 1e-6);
        let far = FlowLimits { base_rtt: Nanos(40_000), hops: 0, ..LIMITS };
        assert_abs_diff_eq!(Strack::new(&StrackConfig::default(), far).target, 60_000.0);
    }

    /// srtt stays at 13 us, 7 us below: 0.25 * 7 = 1.75 packets in a round trip of 100 acknowledgements.
    #[test]
    fn growth_follows_the_distance_from_the_target() {
        let mut flow = strack(100.0);
        assert_abs_diff_eq!(feed(&mut flow, 100, 13_000, 1_000), 100.0 + 1.75 / 100.0, epsilon = 1e-9);
        (1..100).for_each(|n| _ = feed(&mut flow, 100 + n, 13_000, 1_000));
        assert_abs_diff_eq!(flow.window, 101.75, epsilon = 0.02);
        // It adds to the window, and two packets at once count twice.
        assert_abs_diff_eq!(feed(&mut strack(50.0), 1, 13_000, 2_000), 50.0 + 2.0 * 1.75 / 50.0, epsilon = 1e-9);
        // A sample of 19 us leaves srtt at 13.75 us: 6.25 us below.
        assert_abs_diff_eq!(feed(&mut strack(100.0), 1, 19_000, 1_000), 100.0 + 0.25 * 6.25 / 100.0, epsilon = 1e-9);
    }

    /// 1.5 times the target: 1 - 0.8 / 3 is left. Within srtt, which is 15.125 us after it, nothing more.
    #[test]
    fn above_the_target_it_falls_once_in_a_smoothed_round_trip() {
        let mut flow = strack(150.0);
        assert_abs_diff_eq!(feed(&mut flow, 1_000, 30_000, 0), 110.0, epsilon = 1e-9);
        assert_abs_diff_eq!(feed(&mut flow, 16_000, 30_000, 0), 110.0, epsilon = 1e-9);
        assert_abs_diff_eq!(feed(&mut flow, 1_000 + 20_000, 30_000, 0), 110.0 * (1.0 - 0.8 / 3.0), epsilon = 1e-9);
        // Far above and nothing known to have been delivered: half, at the most.
        assert_abs_diff_eq!(feed(&mut strack(150.0), 1_000, 400_000, 0), 75.0, epsilon = 1e-9);
    }

    /// 40 packets in the T before.
    #[test]
    fn far_above_the_target_it_is_what_was_delivered() {
        let mut flow = strack(150.0);
        (0..40).for_each(|n| _ = feed(&mut flow, 13_000 + n * 300, 13_000, 1_000));
        assert_abs_diff_eq!(feed(&mut flow, 26_000, 40_001, 1_000), 40.0, epsilon = 1e-9);
        let mut idle = strack(150.0);
        (0..40).for_each(|n| _ = feed(&mut idle, 13_000 + n * 300, 13_000, 1_000));
        let before = idle.window;
        assert_abs_diff_eq!(feed(&mut idle, 39_000, 80_000, 1_000), before / 2.0, epsilon = 1e-9);
    }

    #[test]
    fn the_fifth_timeout_in_a_row_leaves_one_packet() {
        let mut flow = strack(150.0);
        let loss = |signal| Loss { now: Nanos(1), seq: 0, in_flight: 9_000, signal };
        for _ in 0..4 {
            assert_eq!(flow.on_loss(&loss(LossSignal::Timeout)), RateDecision::Keep);
        }
        feed(&mut flow, 1, 13_000, 1_000);
        for _ in 0..4 {
            assert_eq!(flow.on_loss(&loss(LossSignal::Timeout)), RateDecision::Keep, "not in a row");
        }
        assert_eq!(flow.on_loss(&loss(LossSignal::Nack)), RateDecision::Keep);
        let one = RateDecision::Window { bytes: 1_000, rate: LIMITS.line_rate };
        assert_eq!(flow.on_loss(&loss(LossSignal::Timeout)), one);
    }

    #[test]
    fn hostile_feedback_moves_it_within_its_bounds() {
        survives_hostile_feedback(&mut strack(1.0), LIMITS.line_rate);
    }
}
