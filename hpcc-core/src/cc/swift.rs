// SPDX-License-Identifier: MIT OR Apache-2.0
//! Swift (Kumar et al., SIGCOMM 2020, Algorithm 1): additive increase below a target delay, decrease in proportion to
//! what is above it, at most once in a round trip. The target grows with the hops of the path, and with small windows,
//! so that many flows can share a link.
//!
//! Hosts of the simulation take no time to handle a packet: the fabric's delay is the whole round-trip time, by the
//! sender's clock; where CSIG brings the longest queue or delay of a hop, T and that. Windows are in packets, as in the paper; below one packet the pace spreads them over several round
//! trips.

use super::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Loss, LossSignal, Needs, RateDecision, Reads, Steers, known_as,
};
use crate::random::Rng;
use crate::recurrence::{Recurs, recurs};
use crate::settings::Conflict;
use crate::telemetry::{Signal, Telemetry};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;

crate::settings! {
    /// Parameters of Swift. Increase, decrease and its limit are the paper's; the targets depend on the network, and these
    /// are for a few hops of 100 Gb/s.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SwiftConfig {
        /// Round-trip time that a flow aims for, before additions for hops and a small window; `auto`: 1.5 T.
        #[change = "A smaller value keeps queues shorter; a larger one fills links better."]
        pub base_target: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
        /// Added to the target for each link of the path.
        #[change = "Raise it where flows of longer paths get too little; 0 treats all paths alike."]
        pub hop_target: Nanos = Nanos(250);
        /// Most that is added to the target for a small window.
        #[change = "Raise it where many flows share a link and throughput or fairness suffers; 0 turns it off."]
        pub scaling_range: Nanos = Nanos(25_000);
        /// Window in packets up to which all of `scaling_range` is added.
        #[change = "Lower it to add all of it to smaller windows only."]
        pub scaling_min: f64 {0.001..=1_000_000.0} = 0.1;
        /// Window in packets from which on nothing is added; above `scaling_min`.
        #[change = "Raise it to the windows of flows that are alone on a link."]
        pub scaling_max: f64 {0.001..=1_000_000.0} = 100.0;
        /// Packets that a flow below its target adds to its window in a round trip.
        #[change = "A larger value takes free bandwidth sooner; queues vary more."]
        pub additive_increase: f64 {0.0..=1000.0} = 1.0;
        /// Factor beta of a decrease: how strongly the window follows the excess over the target.
        #[change = "A larger value drains queues faster and risks idle links."]
        pub beta: f64 {0.0..=1.0} = 0.8;
        /// Largest part of the window that one decrease takes, a loss's included.
        #[change = "A larger value reacts more to a sudden queue; a smaller one protects throughput from single long \
            delays."]
        pub max_decrease: f64 {0.0..=1.0} = 0.5;
        /// Least window in packets; at 0.01 a packet leaves in each 100 round trips.
        #[change = "Lower it for incasts of very many flows."]
        pub min_window: f64 {0.001..=1.0} = 0.01;
    }
}

impl Algorithm for SwiftConfig {
    known_as!("swift", "Swift: round-trip times that the sender measures, against a target");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Swift::new(self, limits))
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { rtt: true, also: Reads::Delay, steers: Steers::Window, ..Needs::default() }
    }

    fn check(&self) -> Result<(), Conflict> {
        let SwiftConfig { scaling_min, scaling_max, .. } = *self;
        if scaling_min < scaling_max {
            return Ok(());
        }
        let message = format!("scaling_max is {scaling_max}; expected more than scaling_min, {scaling_min}");
        Err(Conflict::new("scaling_max", message))
    }
}

/// Swift's state for one flow.
#[derive(Clone, Debug)]
pub struct Swift {
    config: SwiftConfig,
    limits: Arc<FlowLimits>,
    /// The window, in packets; below 1 packets are paced.
    window: f64,
    most: f64,
    /// The last round-trip time.
    rtt: Nanos,
    last_decrease: Nanos,
}

impl Swift {
    /// The state of a new flow, which starts with line rate * T (REQ-08).
    pub fn new(config: &SwiftConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        let bdp = limits.line_rate.0 as f64 * limits.base_rtt.0 as f64 / 8e9;
        let most = (bdp / f64::from(limits.mtu.max(1))).max(1.0);
        let rtt = limits.base_rtt;
        Swift { config: *config, limits, window: most, most, rtt, last_decrease: Nanos(0) }
    }

    /// The target delay: base, hops, and the addition for the window's size (section 3.5 of the paper).
    fn target(&self) -> f64 {
        let SwiftConfig { base_target, hop_target, scaling_range, scaling_min, scaling_max, .. } = self.config;
        let base = base_target.map_or(1.5 * self.limits.base_rtt.0 as f64, |target| target.0 as f64);
        let inverse = |window: f64| 1.0 / libm::sqrt(window);
        let alpha = scaling_range.0 as f64 / (inverse(scaling_min) - inverse(scaling_max));
        let scaling = alpha * (inverse(self.window) - inverse(scaling_max));
        base + f64::from(self.limits.hops) * hop_target.0 as f64 + scaling.clamp(0.0, scaling_range.0 as f64)
    }

    fn increase(&mut self, packets: f64) {
        let step = self.config.additive_increase * packets;
        self.window += if self.window >= 1.0 { step / self.window } else { step };
    }

    /// Cuts the window to `factor` of it, at most once in a round trip.
    fn decrease(&mut self, now: Nanos, factor: f64) {
        if now < self.last_decrease + self.rtt && self.last_decrease > Nanos(0) {
            return;
        }
        self.window *= factor.max(1.0 - self.config.max_decrease);
        self.last_decrease = now;
    }

    /// Window and pace: below one packet, a packet each so many round trips.
    fn decision(&mut self) -> RateDecision {
        self.window = self.window.max(self.config.min_window).min(self.most);
        let bytes = self.window * f64::from(self.limits.mtu);
        if self.window >= 1.0 {
            return RateDecision::Window { bytes: bytes as u64, rate: self.limits.line_rate };
        }
        let rate = BitRate::from_f64(bytes * 8e9 / self.rtt.0.max(1) as f64);
        RateDecision::Window { bytes: (bytes as u64).max(1), rate: rate.max(BitRate(1)).min(self.limits.line_rate) }
    }
}

impl CongestionControl for Swift {
    fn recurring(&mut self) -> Option<&mut dyn Recurs> {
        Some(self)
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let told = if let Telemetry::Signal(Signal::Delay(delay) | Signal::Queue(delay)) = feedback.telemetry {
            Some(self.limits.base_rtt + delay)
        } else {
            feedback.rtt
        };
        let Some(rtt) = told else { return RateDecision::Keep };
        self.rtt = rtt;
        let (delay, target) = (rtt.0 as f64, self.target());
        if delay < target {
            self.increase(feedback.acked as f64 / f64::from(self.limits.mtu.max(1)));
        } else {
            self.decrease(feedback.now, 1.0 - self.config.beta * (delay - target) / delay);
        }
        self.decision()
    }

    fn on_loss(&mut self, loss: &Loss) -> RateDecision {
        let factor = match loss.signal {
            LossSignal::Nack | LossSignal::Trimmed { .. } | LossSignal::Timeout => 1.0 - self.config.max_decrease,
        };
        self.decrease(loss.now, factor);
        self.decision()
    }
}

recurs! {
    Swift {
        config: constant,
        limits: constant,
        window: plain,
        most: constant,
        rtt: plain,
        last_decrease: since_rtt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    /// T is 13 us: the target is 19.5 us for a window of 100 packets or more, without hops.
    fn swift() -> Swift {
        Swift::new(&SwiftConfig::default(), LIMITS)
    }

    fn feed(swift: &mut Swift, now: u64, rtt: u64) -> f64 {
        let feedback = Feedback { rtt: Some(Nanos(rtt)), acked: 1_000, ..ack(now, 1, 1) };
        swift.on_feedback(&feedback, &mut rng());
        swift.window
    }

    /// Section 3.5: all of the range at 0.1 packets, none from 100 on, alpha / sqrt(w) + beta between; and hops.
    #[test]
    fn the_target_grows_with_hops_and_small_windows() {
        let target = |window, hops| {
            let limits = FlowLimits { hops, ..LIMITS };
            Swift { window, ..Swift::new(&SwiftConfig::default(), limits) }.target()
        };
        assert_eq!((target(100.0, 0), target(162.0, 0), target(162.0, 6)), (19_500.0, 19_500.0, 21_000.0));
        assert!((target(0.1, 0) - 44_500.0).abs() < 1e-6 && (target(0.01, 0) - 44_500.0).abs() < 1e-6);
        let between = 19_500.0 + 25_000.0 * (0.5 - 0.1) / (1.0 / libm::sqrt(0.1) - 0.1);
        assert_abs_diff_eq!(target(4.0, 0), between, epsilon = 1e-6);
    }

    /// CSIG's queue on top of T takes the place of the measured time: 13 us of it are a round trip of 26 us.
    #[test]
    fn a_told_delay_goes_before_the_measured_one() {
        let told = |telemetry, rtt| {
            let mut swift = Swift { window: 100.0, ..swift() };
            let feedback = Feedback { rtt: Some(Nanos(rtt)), acked: 1_000, telemetry, ..ack(1, 1, 1) };
            swift.on_feedback(&feedback, &mut rng());
            swift.window
        };
        let signal = Telemetry::Signal(Signal::Queue(Nanos(13_000)));
        assert_abs_diff_eq!(told(signal, 13_000), told(Telemetry::Nothing, 26_000));
        assert!(told(signal, 13_000) < 100.0 && told(Telemetry::Nothing, 13_000) > 100.0);
    }

    /// One packet in a round trip: 100 acknowledgements of a window of 100.
    #[test]
    fn below_the_target_a_round_trip_adds_one_packet() {
        let mut swift = Swift { window: 100.0, ..swift() };
        for n in 0..100 {
            feed(&mut swift, n * 100, 13_000);
        }
        assert_abs_diff_eq!(swift.window, 101.0, epsilon = 0.01);
        let mut small = Swift { window: 0.5, ..swift };
        assert_eq!(feed(&mut small, 99_000, 13_000), 1.5);
    }

    /// An acknowledgement of two packets adds two of the shares.
    #[test]
    fn the_increase_is_per_acknowledged_packet() {
        let config = SwiftConfig { additive_increase: 0.25, ..SwiftConfig::default() };
        let mut swift = Swift { window: 0.5, ..Swift::new(&config, LIMITS) };
        let feedback = Feedback { rtt: Some(Nanos(13_000)), acked: 2_000, ..ack(1, 1, 1) };
        swift.on_feedback(&feedback, &mut rng());
        assert_eq!(swift.window, 1.0);
    }

    #[test]
    fn at_the_target_nothing_is_added_and_a_round_trip_ends_with_its_last_nanosecond() {
        let mut swift = Swift { window: 150.0, ..swift() };
        assert_eq!(feed(&mut swift, 100_000, 19_500), 150.0);
        assert_eq!(feed(&mut swift, 138_999, 39_000), 150.0, "a cut by nothing is one");
        assert_abs_diff_eq!(feed(&mut swift, 139_000, 39_000), 90.0, epsilon = 1e-9);
    }

    #[test]
    fn the_ends_of_the_scaling_must_differ() {
        let check = |scaling_min, scaling_max| {
            SwiftConfig { scaling_min, scaling_max, ..SwiftConfig::default() }.check().map_err(|conflict| conflict.key)
        };
        assert_eq!(
            (check(0.1, 100.0), check(1.0, 1.0), check(2.0, 1.0)),
            (Ok(()), Err("scaling_max"), Err("scaling_max"))
        );
    }

    /// Twice the target: 1 - 0.8 / 2 = 0.6 is left. Eight times: 0.3, but one cut takes half at the most.
    #[test]
    fn above_the_target_the_window_falls_once_in_a_round_trip_by_half_at_the_most() {
        let mut swift = Swift { window: 150.0, ..swift() };
        assert_abs_diff_eq!(feed(&mut swift, 100_000, 39_000), 90.0, epsilon = 1e-9);
        assert!(abs_diff_eq!(feed(&mut swift, 120_000, 39_000), 90.0, epsilon = 1e-9), "within a round trip");
        let mut deep = Swift { window: 150.0, ..self::swift() };
        assert_abs_diff_eq!(feed(&mut deep, 100_000, 156_000), 75.0, epsilon = 1e-9);
    }

    #[test]
    fn losses_cut_by_half_once_in_a_round_trip() {
        let mut swift = swift();
        let loss = |now, signal| Loss { now: Nanos(now), seq: 0, in_flight: 9_000, signal };
        swift.on_loss(&loss(50_000, LossSignal::Nack));
        swift.on_loss(&loss(51_000, LossSignal::Timeout));
        assert_eq!(swift.window, 81.25);
    }

    /// Half a packet in a round trip of 20 us: 1000 bytes in 40 us are 200 Mb/s.
    #[test]
    fn below_one_packet_the_pace_spreads_packets_over_round_trips() {
        let mut swift = Swift { window: 0.5, rtt: Nanos(20_000), ..swift() };
        assert_eq!(swift.decision(), RateDecision::Window { bytes: 500, rate: BitRate::mbps(200) });
        let mut one = Swift { window: 1.0, ..swift };
        assert_eq!(one.decision(), RateDecision::Window { bytes: 1_000, rate: LIMITS.line_rate });
    }
}
