// SPDX-License-Identifier: MIT OR Apache-2.0
//! DCTCP (Alizadeh et al., SIGCOMM 2010) in the rate form of the 2019 simulator.
//!
//! Once in a round trip the fraction of marked acknowledgements moves alpha; the first mark of a round trip
//! cuts the rate by alpha / 2, a round trip without a cut raises it.

use super::share::or_share;
use super::{Algorithm, CongestionControl, Feedback, FlowLimits, Needs, RateDecision, known_as, words};
use crate::ecn::EcnThreshold;
use crate::random::Rng;
use crate::units::BitRate;
use alloc::boxed::Box;
use alloc::sync::Arc;

crate::settings! {
    /// Parameters of DCTCP. The defaults are the 2019 simulator's preset for 100 Gb/s.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DctcpConfig {
        /// Weight g of the newest round trip's fraction of marked packets in alpha, by half of which the rate is cut.
        #[change = "A larger value follows the newest marks; a smaller one reacts later."]
        pub gain: f64 {0.0..=1.0} = 1.0 / 16.0;
        /// Added to the rate in a round trip without a cut; `auto`: 0.615 % of the line rate.
        #[change = words::STEP]
        pub additive_increase: Option<BitRate> = None;
        /// Lowest sending rate of a flow; `auto`: 1/100 of the line rate.
        #[change = words::MIN_RATE]
        pub min_rate: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
    }
}

impl DctcpConfig {
    /// The parameters with the rates of a flow of this line rate.
    fn settled(self, line_rate: BitRate) -> DctcpConfig {
        DctcpConfig {
            additive_increase: Some(or_share(self.additive_increase, line_rate, 6_150)),
            min_rate: Some(or_share(self.min_rate, line_rate, 10_000)),
            ..self
        }
    }
}

impl Algorithm for DctcpConfig {
    known_as!("dctcp", "DCTCP: the fraction of ECN marks");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Dctcp::new(*self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        self.settled(line_rate).min_rate
    }

    fn needs(&self) -> Needs {
        let ecn = EcnThreshold { rate: BitRate::gbps(100), kmin: 300_000, kmax: 300_000, pmax: 1.0 };
        Needs { ecn: Some(ecn), ..Needs::default() }
    }
}

/// DCTCP's state for one flow.
#[derive(Clone, Debug)]
pub struct Dctcp {
    config: DctcpConfig,
    limits: Arc<FlowLimits>,
    rate: BitRate,
    /// Estimated fraction of marked packets; 1 at first.
    alpha: f64,
    /// A round trip ends with the acknowledgement of a byte beyond this one.
    last_update_seq: u64,
    /// Marked acknowledgements in this round trip.
    marked: u32,
    /// Acknowledgements that this round trip should bring.
    batch: u32,
    /// After a cut: no other before the acknowledgement of a byte beyond this one (congestion window reduced).
    reduced_until: Option<u64>,
}

impl Dctcp {
    /// The state of a new flow.
    pub fn new(config: DctcpConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        Dctcp {
            config: config.settled(limits.line_rate),
            rate: limits.line_rate,
            alpha: 1.0,
            last_update_seq: 0,
            marked: 0,
            batch: 1,
            reduced_until: None,
            limits,
        }
    }

    /// Closes a round trip.
    fn close_batch(&mut self, feedback: &Feedback<'_>) {
        let first = self.last_update_seq == 0;
        if !first {
            let fraction = (f64::from(self.marked) / f64::from(self.batch)).min(1.0);
            self.alpha = (1.0 - self.config.gain) * self.alpha + self.config.gain * fraction;
            self.marked = 0;
        }
        let in_flight = if first {
            feedback.snd_nxt
        } else if self.limits.faults.wrapping_in_flight {
            feedback.snd_nxt.wrapping_sub(feedback.ack_seq)
        } else {
            feedback.snd_nxt.saturating_sub(feedback.ack_seq)
        };
        self.last_update_seq = feedback.snd_nxt;
        self.batch = (in_flight / u64::from(self.limits.mtu.max(1)) + 1) as u32;
    }
}

impl CongestionControl for Dctcp {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let before = self.rate;
        self.marked = self.marked.saturating_add(u32::from(feedback.congestion_marked));
        let round_trip = feedback.ack_seq > self.last_update_seq;
        if round_trip {
            self.close_batch(feedback);
        }
        self.reduced_until = self.reduced_until.filter(|&until| feedback.ack_seq <= until);
        if feedback.congestion_marked && self.reduced_until.is_none() {
            let cut = BitRate::from_f64(self.rate.0 as f64 * (1.0 - self.alpha / 2.0));
            self.rate = cut.max(self.config.min_rate.unwrap_or_default());
            self.reduced_until = Some(feedback.snd_nxt);
        }
        if round_trip && self.reduced_until.is_none() {
            self.rate =
                self.rate.saturating_add(self.config.additive_increase.unwrap_or_default()).min(self.limits.line_rate);
        }
        if self.rate == before { RateDecision::Keep } else { RateDecision::Set(self.rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rate, rng};
    use crate::reference_faults::ReferenceFaults;
    use approx::assert_abs_diff_eq;

    fn marked(ack_seq: u64, snd_nxt: u64) -> Feedback<'static> {
        Feedback { congestion_marked: true, ..ack(0, ack_seq, snd_nxt) }
    }

    /// alpha starts at 1: the first mark halves the rate, and no other does until what was in flight is
    /// acknowledged.
    #[test]
    fn a_mark_cuts_once_in_a_round_trip() {
        let (mut dctcp, mut rng) = (Dctcp::new(DctcpConfig::default(), LIMITS), rng());
        assert_eq!(dctcp.on_feedback(&marked(1_000, 50_000), &mut rng), RateDecision::Set(BitRate::gbps(50)));
        for n in 2..=50 {
            assert_eq!(dctcp.on_feedback(&marked(n * 1_000, 60_000), &mut rng), RateDecision::Keep, "{n}");
        }
        let expected = BitRate(50_000_000_000 - 50_000_000_000 / 2);
        assert_eq!(rate(dctcp.on_feedback(&marked(51_000, 90_000), &mut rng)), expected);
    }

    /// Ten packets in flight, five marked: alpha = 15/16 * 1 + 1/16 * 5/10.
    #[test]
    fn alpha_follows_the_marked_fraction() {
        let (mut dctcp, mut rng) = (Dctcp::new(DctcpConfig::default(), LIMITS), rng());
        dctcp.on_feedback(&ack(0, 1_000, 9_000), &mut rng);
        for n in 2..=9 {
            let feedback = Feedback { congestion_marked: n < 7, ..ack(0, n * 1_000, 20_000) };
            dctcp.on_feedback(&feedback, &mut rng);
        }
        dctcp.on_feedback(&ack(0, 10_000, 20_000), &mut rng);
        assert_abs_diff_eq!(dctcp.alpha, (15.0 + 0.5) / 16.0, epsilon = 1e-12);
    }

    /// After two NACKs an acknowledgement may pass `snd_nxt`: nothing is in flight, or 4 billion packets in the
    /// 2019 simulator.
    #[test]
    fn a_batch_is_not_negative() {
        for (wrapping_in_flight, marked_fraction) in [(false, 1.0), (true, 0.0)] {
            let limits =
                FlowLimits { faults: ReferenceFaults { wrapping_in_flight, ..ReferenceFaults::NONE }, ..LIMITS };
            let (mut dctcp, mut rng) = (Dctcp::new(DctcpConfig::default(), limits), rng());
            for feedback in [ack(0, 1_000, 1_000), ack(0, 5_000, 4_000), marked(6_000, 9_000)] {
                dctcp.on_feedback(&feedback, &mut rng);
            }
            let alpha = (15.0 * 15.0 / 16.0 + marked_fraction) / 16.0;
            assert_abs_diff_eq!(dctcp.alpha, alpha, epsilon = 1e-6);
        }
    }

    #[test]
    fn a_quiet_round_trip_adds_one_increase() {
        let (mut dctcp, mut rng) = (Dctcp::new(DctcpConfig::default(), LIMITS), rng());
        dctcp.on_feedback(&marked(1_000, 9_000), &mut rng);
        assert_eq!(dctcp.on_feedback(&ack(0, 9_000, 18_000), &mut rng), RateDecision::Keep);
        let raised = BitRate(50_615_000_000);
        assert_eq!(dctcp.on_feedback(&ack(0, 9_001, 18_000), &mut rng), RateDecision::Set(raised));
        assert_eq!(dctcp.on_feedback(&ack(0, 10_000, 18_000), &mut rng), RateDecision::Keep);
    }
}
