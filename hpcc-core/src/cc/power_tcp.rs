// SPDX-License-Identifier: MIT OR Apache-2.0
//! PowerTCP (Addanki, Michel and Schmid, NSDI 2022, Algorithm 1): the window follows the power of the busiest link, which
//! is the product of voltage (bytes on the link's path and in its queue) and current (the rate at which they arrive).
//!
//! | paper | here |
//! | --- | --- |
//! | lambda, current | bytes sent and queued between two records, over their distance in time |
//! | nu, voltage | queue + B * T |
//! | Gamma_norm = lambda * nu / (B^2 * T), smoothed over T | `power` |
//! | cwnd_old, the window when the acknowledged packet left, remembered once in a round trip | `old`: the window when the present round trip began |
//! | w = gamma * (cwnd_old / Gamma + beta) + (1 - gamma) * w | [`PowerWindow::update`] |
//!
//! At the fixed point Gamma is 1 + (sum of beta) / (B * T): the queue is the sum of all flows' beta, and windows are as
//! beta to beta (theorems 1 and 3 of the paper). Few flows swing about it: packets that are acknowledged at the beginning of a
//! round trip left with the window before `old`, so that a change counts twice.

use super::share::or_share;
use super::{Algorithm, CongestionControl, Feedback, FlowLimits, Needs, RateDecision, Reads, known_as, words};
use crate::random::Rng;
use crate::telemetry::{Hop, HopStack, LastHops, Modulus, Telemetry};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;

crate::settings! {
    /// Parameters of both forms of PowerTCP.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PowerLaw {
        /// Weight gamma of the newest window in the moving average.
        #[change = "A larger value reacts faster, to noise as well; the paper recommends the default."]
        pub gamma: f64 {0.01..=1.0} = 0.9;
        /// Number N of flows that are expected to share a link: each adds line rate * T / N in a round trip. It is the
        /// paper's beta.
        #[change = "Raise it where more flows share a link, for shorter queues; lower it where fewer do, for equal \
            shares sooner."]
        pub expected_flows: u32 {1..=u32::MAX} = 10;
        /// Lowest sending rate of a flow; `auto`: 1/1000 of the line rate.
        #[change = words::MIN_RATE]
        pub min_rate: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
    }
}

crate::settings! {
    /// Parameters of PowerTCP. The paper recommends gamma = 0.9.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PowerTcpConfig {
        ..law: PowerLaw = PowerLaw::default();
    }
}

impl Algorithm for PowerTcpConfig {
    known_as!("power_tcp", "PowerTCP: the power of the busiest link");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(PowerTcp::new(self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        Some(self.law.least(line_rate))
    }

    fn needs(&self) -> Needs {
        Needs { reads: Reads::Records, ..Needs::default() }
    }
}

impl PowerLaw {
    /// The least rate of a flow of this line rate.
    pub(super) fn least(&self, line_rate: BitRate) -> BitRate {
        or_share(self.min_rate, line_rate, 1_000)
    }
}

/// The window of a flow under either form of PowerTCP.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerWindow {
    law: PowerLaw,
    limits: Arc<FlowLimits>,
    /// The least rate.
    least: BitRate,
    /// The window, in bytes.
    pub window: f64,
    /// The window in bytes when the present round trip began.
    old: f64,
    /// Gamma, averaged over T.
    power: f64,
    /// The acknowledgement of a byte beyond this one ends the round trip.
    round: u64,
}

impl PowerWindow {
    /// A flow starts with line rate * T.
    pub fn new(law: PowerLaw, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        let window = bytes(limits.line_rate, limits.base_rtt);
        PowerWindow { law, least: law.least(limits.line_rate), limits, window, old: window, power: 1.0, round: 0 }
    }

    /// Takes in a sample of the power that covers `elapsed` ns.
    pub fn smooth(&mut self, power: f64, elapsed: u64) {
        let t = self.limits.base_rtt.0.max(1);
        let elapsed = elapsed.min(t);
        self.power = (self.power * (t - elapsed) as f64 + power * elapsed as f64) / t as f64;
    }

    /// Whether an acknowledgement ends a round trip; the next one begins.
    pub fn ends_round(&mut self, feedback: &Feedback<'_>) -> bool {
        let ends = feedback.ack_seq > self.round;
        if ends {
            self.round = self.round.max(feedback.snd_nxt);
        }
        ends
    }

    /// A round trip begins with this window.
    pub fn keep(&mut self) {
        self.old = self.window;
    }

    /// Moves the window by the power.
    pub fn update(&mut self) -> RateDecision {
        let PowerLaw { gamma, expected_flows, min_rate: _ } = self.law;
        let min_rate = self.least;
        let most = bytes(self.limits.line_rate, self.limits.base_rtt);
        let beta = most / f64::from(expected_flows);
        let window = gamma * (self.old / self.power + beta) + (1.0 - gamma) * self.window;
        let least = bytes(min_rate, self.limits.base_rtt).max(1.0);
        // NaN, of an empty window by a power of 0, becomes the least: `min` ignores it, and `most` is 0 then.
        self.window = window.min(most).max(least);
        let rate = BitRate::from_f64(self.window * 8e9 / self.limits.base_rtt.0.max(1) as f64);
        let rate = rate.max(min_rate).min(self.limits.line_rate);
        RateDecision::Window { bytes: self.window as u64, rate }
    }
}

/// Bytes that a rate sends in a time.
fn bytes(rate: BitRate, time: Nanos) -> f64 {
    rate.0 as f64 * time.0 as f64 / 8e9
}

/// PowerTCP's state for one flow.
#[derive(Clone, Debug)]
pub struct PowerTcp {
    window: PowerWindow,
    last: LastHops,
}

impl PowerTcp {
    /// The state of a flow that has not heard of the network yet.
    pub fn new(config: &PowerTcpConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        PowerTcp { window: PowerWindow::new(config.law, limits), last: LastHops::default() }
    }

    /// Takes in records; `None` if they tell nothing, as the first ones of a path do.
    fn measure(&mut self, now: Nanos, stack: &HopStack) -> Option<()> {
        if !self.last.continue_in(now, stack) {
            self.last.restart(now, stack);
            self.window.power = 1.0;
            return None;
        }
        let t = self.window.limits.base_rtt;
        let samples = self.last.pairs(stack).filter_map(|(last, hop)| link_power(&stack.modulus, last, hop, t));
        let (power, elapsed) = samples.max_by(|one, other| one.0.total_cmp(&other.0))?;
        self.last.keep(now, stack);
        self.window.smooth(power, elapsed);
        Some(())
    }
}

/// Gamma_norm of a link between two of its records, and the time between them in ns.
fn link_power(modulus: &Modulus, last: &Hop, hop: &Hop, t: Nanos) -> Option<(f64, u64)> {
    let elapsed = modulus.elapsed(last, hop);
    if elapsed == 0 || elapsed > modulus.ts / 2 || hop.rate.0 == 0 {
        return None;
    }
    let capacity = hop.rate.0 as f64 / 8e9;
    let queued = hop.qlen as f64 - last.qlen as f64;
    let current = (modulus.sent(last, hop) as f64 + queued).max(0.0) / elapsed as f64;
    let bdp = capacity * t.0.max(1) as f64;
    let voltage = hop.qlen as f64 + bdp;
    Some((current * voltage / (capacity * bdp), elapsed))
}

impl CongestionControl for PowerTcp {
    fn baseline_resets(&self) -> u64 {
        self.last.restarts()
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let Telemetry::Hops(stack) = feedback.telemetry else { return RateDecision::Keep };
        if self.measure(feedback.now, stack).is_none() {
            return RateDecision::Keep;
        }
        let decision = self.window.update();
        if self.window.ends_round(feedback) {
            self.window.keep();
        }
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use alloc::vec::Vec;
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    const MODULUS: Modulus = Modulus { ts: 1 << 40, tx_bytes: 1 << 50 };
    const T: u64 = 13_000;
    const BDP: f64 = 162_500.0;

    fn hop(ts: u64, tx_bytes: u64, qlen: u64) -> Hop {
        Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen }
    }

    /// Figure 3 of the paper: a full link without a queue has power 1; a queue of B * T that stands has 2, by voltage; one
    /// that grows at B has 4, by voltage and current: more than either of the two alone tells.
    #[test]
    fn power_sees_both_the_queue_and_its_growth() {
        let power = |queue: [u64; 2], sent| {
            let (last, hop) = (hop(0, 0, queue[0]), hop(T, sent, queue[1]));
            link_power(&MODULUS, &last, &hop, Nanos(T)).expect("comparable").0
        };
        let bdp = BDP as u64;
        assert_abs_diff_eq!(power([0, 0], bdp), 1.0, epsilon = 1e-9);
        assert_abs_diff_eq!(power([bdp, bdp], bdp), 2.0, epsilon = 1e-9);
        assert_abs_diff_eq!(power([0, bdp], bdp), 4.0, epsilon = 1e-9);
        assert!(power([bdp, 0], bdp) < 1e-9, "a queue that drains at B");
    }

    #[test]
    fn records_without_time_between_them_or_of_no_link_have_no_power() {
        let of = |ts, rate| {
            let modulus = Modulus { ts: 1 << 24, ..MODULUS };
            link_power(&modulus, &hop(7, 0, 0), &Hop { rate, ..hop(ts, 9_000, 0) }, Nanos(T))
                .map(|(_, elapsed)| elapsed)
        };
        let rate = BitRate::gbps(100);
        assert_eq!((of(7, rate), of(1_007, BitRate(0)), of(1_007, rate)), (None, None, Some(1_000)));
        assert_eq!((of(7 + (1 << 23), rate), of(8 + (1 << 23), rate)), (Some(1 << 23), None), "half a wrap");
        assert_eq!(of((1 << 24) - 1, rate), None, "an overtaken packet");
    }

    /// 162 500 bytes by a power of 2, and a tenth of 162 500 bytes: 97 500 in 13 us are 60 Gb/s.
    #[test]
    fn the_pace_is_the_window_over_t() {
        let mut window = PowerWindow::new(PowerLaw { gamma: 1.0, ..PowerLaw::default() }, LIMITS);
        window.smooth(2.0, T);
        assert_eq!(window.update(), RateDecision::Window { bytes: 97_500, rate: BitRate::gbps(60) });
    }

    #[test]
    fn req_22_another_path_starts_over_and_leaves_the_window() {
        let mut flow = PowerTcp::new(&PowerTcpConfig::default(), LIMITS);
        let mut hear = |path, ts| {
            let mut stack = HopStack::new(MODULUS);
            stack.path = path;
            stack.push(hop(ts, ts * 12, 90_000));
            let feedback = Feedback { telemetry: Telemetry::Hops(&stack), ..ack(ts, ts, ts + 1) };
            let decision = flow.on_feedback(&feedback, &mut rng());
            (decision == RateDecision::Keep, flow.window.power == 1.0, flow.baseline_resets())
        };
        assert_eq!((hear(1, 1_000), hear(1, 2_000)), ((true, true, 0), (false, false, 0)));
        assert_eq!((hear(2, 3_000), hear(2, 4_000)), ((true, true, 1), (false, false, 1)));
    }

    /// A link of fluid that these flows share, in steps of T / 50: windows after 400 T, and the queue in bytes.
    fn share(expected: &[u32], start: &[f64]) -> (Vec<f64>, f64) {
        const STEPS: u64 = 50;
        let mut flows: Vec<PowerTcp> = expected
            .iter()
            .zip(start)
            .map(|(&expected_flows, &share)| {
                let law = PowerLaw { expected_flows, ..PowerLaw::default() };
                let mut flow = PowerTcp::new(&PowerTcpConfig { law }, LIMITS);
                (flow.window.window, flow.window.old) = (share * BDP, share * BDP);
                flow
            })
            .collect();
        let (mut sent, mut queue, mut random) = (0.0, 0.0, rng());
        for step in 0..400 * STEPS {
            // What is in flight arrives within T and the time in the queue.
            let windows: f64 = flows.iter().map(|flow| flow.window.window).sum();
            let arrived = windows / (1.0 + queue / BDP) / STEPS as f64;
            let left = f64::min(queue + arrived, BDP / STEPS as f64);
            (queue, sent) = (queue + arrived - left, sent + left);
            let mut stack = HopStack::new(MODULUS);
            stack.push(hop(step * T / STEPS, sent as u64, queue as u64));
            for flow in &mut flows {
                let telemetry = Telemetry::Hops(&stack);
                let (acked, next) = (1 + step * 1_000, (step + STEPS) * 1_000);
                flow.on_feedback(&Feedback { telemetry, ..ack(step * T / STEPS, acked, next) }, &mut random);
            }
        }
        (flows.iter().map(|flow| flow.window.window).collect(), queue)
    }

    /// Theorem 1: the queue at the fixed point is the sum of beta.
    #[test]
    fn the_queue_settles_at_the_sum_of_beta() {
        let (windows, queue) = share(&[10, 10], &[0.9, 0.1]);
        assert_relative_eq!(queue, 2.0 * BDP / 10.0, max_relative = 0.02);
        assert_relative_eq!(windows.iter().sum::<f64>(), BDP + queue, max_relative = 0.02);
    }

    /// Theorem 3: windows are as beta to beta, whatever they were at the start.
    #[test]
    fn windows_become_proportional_to_beta() {
        for start in [[0.9, 0.1], [0.2, 0.8]] {
            let (windows, _) = share(&[10, 20], &start);
            assert_abs_diff_eq!(windows[0] / windows[1], 2.0, epsilon = 0.05);
        }
    }
}
