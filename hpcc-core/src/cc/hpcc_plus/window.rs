// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ComputeWind` of the drafts: W from U (lines 11 to 20), and the parameters that it goes by.

use crate::cc::share::or_share;
use crate::cc::{FlowLimits, RateDecision, words};
use crate::settings::Conflict;
use crate::units::{BitRate, Bytes, Nanos};
use alloc::format;
use alloc::sync::Arc;

crate::settings! {
    /// Parameters of the control law in window form. The defaults are the drafts' eta and maxStage (REQ-09); they leave N
    /// open: 100 flows are the paper's.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct WindowLaw {
        /// Target utilisation eta: the share of the busiest link's capacity that flows aim for.
        #[change = words::ETA]
        pub eta: f64 {0.01..=2.0} = 0.95;
        /// Round trips in a row in which a flow below the target only adds its increase, before it jumps to the target.
        /// With 0 every update is such a jump.
        #[change = words::MAX_STAGE]
        pub max_stage: u32 = 5;
        /// Number N of flows that are expected to share a link: each adds W_init * (1 - eta) / N in a round trip.
        #[change = "Raise it where more flows share a link, or the queue never drains; lower it where fewer do, for \
            equal shares sooner."]
        pub expected_flows: u32 {1..=u32::MAX} = 100;
        /// W_ai, the bytes that a flow adds to its window in each round trip; `auto`: by `expected_flows`.
        #[change = "Set it to fix the step whatever line rate and T are."]
        pub additive_increase: Option<Bytes> = None;
        /// Lowest sending rate of a flow, and times T its smallest window; `auto`: 1/1000 of the line rate.
        #[change = words::MIN_RATE]
        pub min_rate: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
    }
}

impl WindowLaw {
    /// Checks parameters against each other.
    ///
    /// # Errors
    /// If W_ai is given twice, or not at all.
    pub fn check(&self) -> Result<(), Conflict> {
        if self.additive_increase.is_some() && self.expected_flows != WindowLaw::default().expected_flows {
            let message = "additive_increase and expected_flows exclude each other: one follows from the other";
            return Err(Conflict::new("additive_increase", message.into()));
        }
        if self.additive_increase.is_none() && self.eta >= 1.0 {
            let message = format!(
                "eta is {}, of which nothing is left for flows to add, so that they never come to equal shares; expected less than \
                 1, or additive_increase in bytes",
                self.eta
            );
            return Err(Conflict::new("eta", message));
        }
        Ok(())
    }

    /// W_ai in bytes.
    pub(in crate::cc) fn window_step(&self, line_rate: BitRate, base_rtt: Nanos) -> f64 {
        let fair = || bytes(line_rate, base_rtt) * (1.0 - self.eta).max(0.0) / f64::from(self.expected_flows.max(1));
        self.additive_increase.map_or_else(fair, |step| step.0 as f64)
    }

    /// The least rate of a flow of this line rate.
    pub(in crate::cc) fn least(&self, line_rate: BitRate) -> BitRate {
        or_share(self.min_rate, line_rate, 1_000)
    }
}

/// The window of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    law: WindowLaw,
    limits: Arc<FlowLimits>,
    /// The least rate.
    least: BitRate,
    /// W_ai in bytes.
    step: f64,
    /// Wc in bytes: the window against which the next one is computed; changes only on commits.
    reference: f64,
    /// incStage: consecutive additive increases.
    increases: u32,
}

impl Window {
    /// W = Wc = W_init = line rate * T (REQ-08).
    pub fn new(law: WindowLaw, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        let mut window = Window {
            law,
            least: law.least(limits.line_rate),
            step: 0.0,
            reference: bytes(limits.line_rate, limits.base_rtt),
            increases: 0,
            limits,
        };
        window.step = match law.additive_increase {
            None => window.fair_step(law.expected_flows),
            Some(Bytes(bytes)) => bytes as f64,
        };
        window
    }

    /// Wc in bytes.
    pub fn reference(&self) -> f64 {
        self.reference
    }

    /// The target U of the busiest link.
    pub fn eta(&self) -> f64 {
        self.law.eta
    }

    /// Sets W and Wc to a window that somebody else computed.
    pub fn install(&mut self, window: f64) {
        self.reference = self.clamp(window);
    }

    /// incStage, the additive increases in a row.
    pub fn increases(&self) -> u32 {
        self.increases
    }

    /// W_ai in bytes.
    pub fn additive_increase(&self) -> f64 {
        self.step
    }

    /// So many flows share the bottleneck (REQ-20). A W_ai that was given in bytes stays.
    pub fn expect_flows(&mut self, flows: u32) {
        if self.law.additive_increase.is_none() {
            self.step = self.fair_step(flows);
        }
    }

    /// W_init * (1 - eta) / N; an eta above 1 leaves no headroom to share.
    fn fair_step(&self, flows: u32) -> f64 {
        let headroom = bytes(self.limits.line_rate, self.limits.base_rtt) * (1.0 - self.law.eta);
        headroom.max(0.0) / f64::from(flows.max(1))
    }

    /// The additive increases start over.
    pub fn restart(&mut self) {
        self.increases = 0;
    }

    /// W in bytes for a measured U. `commit`, the drafts' `updateWc`, makes it the reference of the next ones.
    #[inline]
    pub fn compute(&mut self, utilisation: f64, commit: bool) -> f64 {
        let multiplicative = utilisation >= self.law.eta || self.increases >= self.law.max_stage;
        let (base, increases) = if multiplicative {
            (self.reference / (utilisation / self.law.eta), 0)
        } else {
            (self.reference, self.increases + 1)
        };
        let window = self.clamp(base + self.step);
        if commit {
            (self.reference, self.increases) = (window, increases);
        }
        window
    }

    /// Bounds that the drafts leave out: W_min to W_init. A link on which nothing moves
    /// has U = 0 and asks for an infinite window.
    #[inline]
    pub fn clamp(&self, window: f64) -> f64 {
        let least = bytes(self.least, self.limits.base_rtt).max(1.0);
        window.max(least).min(bytes(self.limits.line_rate, self.limits.base_rtt))
    }

    /// Line 27: the window, and the pace R = W / T that goes with it. Whole bytes and bits, rounded down.
    #[inline]
    pub fn decision(&self, window: f64) -> RateDecision {
        let rate = BitRate::from_f64(window * 8e9 / self.limits.base_rtt.0.max(1) as f64);
        RateDecision::Window { bytes: (window as u64).max(1), rate: rate.max(self.least).min(self.limits.line_rate) }
    }
}

/// Bytes that a rate sends in a time.
#[inline]
fn bytes(rate: BitRate, time: Nanos) -> f64 {
    rate.0 as f64 * time.0 as f64 / 8e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::LIMITS;
    use approx::assert_abs_diff_eq;

    const LAW: WindowLaw = WindowLaw {
        eta: 0.95,
        max_stage: 5,
        expected_flows: 100,
        additive_increase: Some(Bytes(80)),
        min_rate: Some(BitRate(1)),
    };

    fn window(law: WindowLaw, reference: f64, increases: u32) -> Window {
        Window { reference, increases, ..Window::new(law, LIMITS) }
    }

    /// REQ-05: computed independently from Algorithm 1 of the paper: U, Wc, incStage, maxStage,
    /// commit; then W, Wc, incStage.
    #[test]
    fn req_05_worked_numbers() {
        let cases = [
            ((3.0, 162_500.0, 0, 5, true), (51_538.333, 51_538.333, 0)),
            ((1.153_846_2, 162_500.0, 0, 5, false), (133_871.667, 162_500.0, 0)),
            ((0.5, 81_250.0, 0, 5, true), (81_330.0, 81_330.0, 1)),
            ((0.5, 81_250.0, 5, 5, true), (154_455.0, 154_455.0, 0)),
            ((0.5, 81_250.0, 0, 0, true), (154_455.0, 154_455.0, 0)),
        ];
        for ((u, wc, increases, max_stage, commit), (w, next_wc, next_increases)) in cases {
            let mut window = window(WindowLaw { max_stage, ..LAW }, wc, increases);
            let computed = window.compute(u, commit);
            assert_abs_diff_eq!(computed, w, epsilon = 0.01);
            assert_abs_diff_eq!(window.reference(), next_wc, epsilon = 0.01);
            assert_eq!(window.increases(), next_increases);
        }
    }

    #[test]
    fn req_09_defaults_are_the_drafts() {
        let law = WindowLaw::default();
        assert_eq!((law.eta, law.max_stage), (0.95, 5));
    }

    /// REQ-10: the paper's 81.25 bytes (100 flows, 13 us), and 25 and 156.25 bytes of its 16-to-1 case (4 us).
    #[test]
    fn req_10_additive_increase_shares_the_headroom() {
        let step = |base_rtt, flows| {
            let law = WindowLaw { expected_flows: flows, additive_increase: None, ..LAW };
            Window::new(law, FlowLimits { base_rtt: Nanos(base_rtt), ..LIMITS }).additive_increase()
        };
        for (base_rtt, flows, expected) in [(13_000, 100, 81.25), (4_000, 100, 25.0), (4_000, 16, 156.25)] {
            assert_abs_diff_eq!(step(base_rtt, flows), expected, epsilon = 1e-9);
        }
    }

    #[test]
    fn a_reported_number_of_flows_replaces_the_expected_one_but_not_given_bytes() {
        let by_flows = WindowLaw { additive_increase: None, ..LAW };
        let step = |law| {
            let mut window = Window::new(law, LIMITS);
            window.expect_flows(10);
            window.additive_increase()
        };
        assert_abs_diff_eq!(step(by_flows), 812.5, epsilon = 1e-9);
        assert_eq!(step(LAW), 80.0);
        assert_eq!(step(WindowLaw { eta: 1.5, ..by_flows }), 0.0);
    }

    #[test]
    fn an_eta_without_headroom_needs_a_step_in_bytes() {
        let check = |eta, additive_increase| WindowLaw { eta, additive_increase, ..WindowLaw::default() }.check();
        assert_eq!(check(1.0, None).map_err(|wrong| wrong.key), Err("eta"));
        assert_eq!([check(0.99, None), check(1.2, Some(Bytes(80)))], [Ok(()), Ok(())]);
    }

    #[test]
    fn windows_stay_between_the_least_and_one_bdp() {
        let law = WindowLaw { min_rate: Some(BitRate::mbps(100)), ..LAW };
        assert_eq!(window(law, 81_250.0, 5).compute(0.0, true), 162_500.0);
        assert_eq!(window(law, 200.0, 0).compute(1e12, true), 162.5);
        assert_eq!(
            window(WindowLaw { min_rate: Some(BitRate::gbps(200)), ..LAW }, 9.0, 0).compute(1.0, true),
            162_500.0
        );
    }

    /// 162 500 bytes in 13 us are 100 Gb/s.
    #[test]
    fn req_08_the_pace_is_the_window_over_t() {
        let window = Window::new(LAW, LIMITS);
        let decision = |w| window.decision(w);
        assert_eq!(decision(162_500.0), RateDecision::Window { bytes: 162_500, rate: BitRate::gbps(100) });
        assert_eq!(decision(40_625.9), RateDecision::Window { bytes: 40_625, rate: BitRate(25_000_553_846) });
    }
}
