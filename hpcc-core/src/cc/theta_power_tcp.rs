// SPDX-License-Identifier: MIT OR Apache-2.0
//! theta-PowerTCP (Addanki, Michel and Schmid, NSDI 2022, Algorithm 2): PowerTCP for networks without telemetry. Where
//! the link is full, a round-trip time theta tells the queue, and its change the queue's growth: the power is
//! (1 + d theta / dt) * theta / T, and the window moves once in a round trip.

use super::power_tcp::{PowerLaw, PowerWindow};
use super::{Algorithm, CongestionControl, Feedback, FlowLimits, Needs, RateDecision, known_as};
use crate::random::Rng;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;

crate::settings! {
    /// Parameters of theta-PowerTCP.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ThetaPowerTcpConfig {
        ..law: PowerLaw = PowerLaw::default();
    }
}

impl Algorithm for ThetaPowerTcpConfig {
    known_as!("theta_power_tcp", "PowerTCP without telemetry: round-trip times that the sender measures");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(ThetaPowerTcp::new(self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        Some(self.law.least(line_rate))
    }

    fn needs(&self) -> Needs {
        Needs { rtt: true, ..Needs::default() }
    }
}

/// theta-PowerTCP's state for one flow.
#[derive(Clone, Debug)]
pub struct ThetaPowerTcp {
    window: PowerWindow,
    base_rtt: Nanos,
    /// The last round-trip time, and when it came.
    last: Option<(Nanos, Nanos)>,
}

impl ThetaPowerTcp {
    /// The state of a flow without an acknowledgement.
    pub fn new(config: &ThetaPowerTcpConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        ThetaPowerTcp { base_rtt: limits.base_rtt, window: PowerWindow::new(config.law, limits), last: None }
    }

    /// Takes in a round-trip time.
    fn measure(&mut self, now: Nanos, rtt: Nanos) {
        let Some((last, at)) = self.last.replace((rtt, now)) else { return };
        let elapsed = now.saturating_sub(at).0;
        if elapsed == 0 {
            return;
        }
        let gradient = (rtt.0 as f64 - last.0 as f64) / elapsed as f64;
        let power = (1.0 + gradient).max(0.0) * rtt.0 as f64 / self.base_rtt.0.max(1) as f64;
        self.window.smooth(power, elapsed);
    }
}

impl CongestionControl for ThetaPowerTcp {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        if let Some(rtt) = feedback.rtt {
            self.measure(feedback.now, rtt);
        }
        if !self.window.ends_round(feedback) {
            return RateDecision::Keep;
        }
        let decision = self.window.update();
        self.window.keep();
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    const T: u64 = 13_000;
    const BDP: f64 = 162_500.0;

    fn flow() -> ThetaPowerTcp {
        ThetaPowerTcp::new(&ThetaPowerTcpConfig::default(), LIMITS)
    }

    /// The window after round trips of these times, one acknowledgement each.
    fn after(rtts: &[u64]) -> f64 {
        let (mut flow, mut random, mut now, mut seq) = (flow(), rng(), 0, 1);
        for &rtt in rtts {
            now += rtt;
            let feedback = Feedback { rtt: Some(Nanos(rtt)), ..ack(now, seq, seq + 9_999) };
            flow.on_feedback(&feedback, &mut random);
            seq += 10_000;
        }
        flow.window.window
    }

    /// A round-trip time of T for good: power 1, so that w -> 0.9 * (w + beta) + 0.1 * w, up to line rate * T.
    #[test]
    fn an_idle_path_lets_the_window_grow_to_one_bdp() {
        assert_abs_diff_eq!(after(&[T; 30]), BDP, epsilon = 1e-6);
    }

    /// 2 T for good, a queue of one B * T: power 2. The fixed point of w = 0.9 * (w / 2 + beta) + 0.1 * w is 2 * beta.
    #[test]
    fn a_standing_queue_halves_the_window_down_to_two_betas() {
        let expected = 2.0 * BDP / 10.0;
        assert_relative_eq!(after(&[2 * T; 60]), expected, max_relative = 1e-6);
    }

    /// From T to 2 T in 2 T of time: the gradient is 1/2, the power 1.5 * 2 = 3; a standing queue of that length has 2.
    #[test]
    fn a_growing_queue_counts_for_more_than_a_standing_one() {
        let growing = after(&[T, 2 * T]);
        let (first, beta) = (BDP, BDP / 10.0);
        let expected = 0.9 * (first / 3.0 + beta) + 0.1 * first;
        assert_abs_diff_eq!(growing, expected, epsilon = 1.0);
    }

    #[test]
    fn only_one_acknowledgement_of_a_round_trip_moves_the_window() {
        let (mut flow, mut random) = (flow(), rng());
        let mut decide = |now, seq| {
            let feedback = Feedback { rtt: Some(Nanos(2 * T)), ..ack(now, seq, 50_000) };
            flow.on_feedback(&feedback, &mut random)
        };
        assert_ne!(decide(1, 1_000), RateDecision::Keep);
        assert_eq!((decide(2, 2_000), decide(3, 50_000)), (RateDecision::Keep, RateDecision::Keep));
        assert_ne!(decide(4, 50_001), RateDecision::Keep);
    }
}
