// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC over PINT telemetry (Ben Basat et al., SIGCOMM 2020) as the 2019 simulator has it: the switches
//! average the utilisation, a packet brings home the largest of its path, and a sender may look at only a
//! fraction of the acknowledgements.

use super::share::or_share;
use super::{
    Algorithm, CongestionControl, ControlLaw, Feedback, FlowLimits, Needs, RateDecision, Reads, Stage,
    control_law::FlowLaw, known_as,
};
use crate::random::Rng;
use crate::telemetry::Telemetry;
use crate::units::BitRate;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// Sampling draws are compared in units of 1/65536.
const DRAWS: u32 = 65_536;

crate::settings! {
    /// Parameters of HPCC-PINT. The defaults are the 2019 simulator's preset for 100 Gb/s.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HpccPintConfig {
        /// Probability that the sender looks at the telemetry of an acknowledgement.
        #[change = "Lower it to study fewer samples: flows react later, and queues are longer."]
        pub sample_probability: f64 {HpccPintConfig::LEAST_PROBABILITY..=1.0} = 1.0;
        ..law: ControlLaw = ControlLaw { max_stage: 0, ..ControlLaw::default() };
    }
}

impl HpccPintConfig {
    /// With a lower probability the draw, of 16 bits, never looks at any.
    pub const LEAST_PROBABILITY: f64 = 1.0 / DRAWS as f64;
}

/// The least rate in millionths of the line rate.
const LEAST: u64 = 10_000;

impl Algorithm for HpccPintConfig {
    known_as!(
        "hpcc_pint",
        "HPCC with probabilistic telemetry: the busiest hop's utilisation in 1 byte, or 2 for bases below 1.05"
    );

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(HpccPint::new(*self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        Some(or_share(self.law.min_rate, line_rate, LEAST))
    }

    fn needs(&self) -> Needs {
        Needs { reads: Reads::Utilisation, ..Needs::default() }
    }
}

/// HPCC-PINT's state for one flow.
#[derive(Clone, Debug)]
pub struct HpccPint {
    law: FlowLaw,
    limits: Arc<FlowLimits>,
    /// An acknowledgement is looked at if its draw is below this.
    sampled_draws: u32,
    last_update_seq: u64,
    stage: Stage,
}

impl HpccPint {
    /// The state of a new flow.
    pub fn new(config: HpccPintConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        HpccPint {
            law: config.law.of(limits.line_rate, LEAST),
            sampled_draws: (f64::from(DRAWS) * config.sample_probability) as u32,
            last_update_seq: 0,
            stage: Stage::initial(&limits),
            limits,
        }
    }
}

impl CongestionControl for HpccPint {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, rng: &mut Rng) -> RateDecision {
        if rng.rand.draw() % DRAWS >= self.sampled_draws {
            return RateDecision::Keep;
        }
        let Telemetry::Utilisation(utilisation) = feedback.telemetry else { return RateDecision::Keep };
        if self.last_update_seq == 0 {
            self.last_update_seq = feedback.snd_nxt;
            return RateDecision::Keep;
        }
        self.stage.utilisation = utilisation;
        let next = self.law.step(&self.limits, &self.stage);
        if feedback.ack_seq > self.last_update_seq {
            self.stage = next;
            self.last_update_seq = self.last_update_seq.max(feedback.snd_nxt);
        }
        RateDecision::Repace(next.reference)
    }

    fn utilisation(&self) -> Option<f64> {
        Some(self.stage.utilisation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rate, rng};
    use crate::settings::{Input, Settings};

    fn pint(sample_probability: f64) -> HpccPint {
        HpccPint::new(HpccPintConfig { sample_probability, ..HpccPintConfig::default() }, LIMITS)
    }

    /// U = 1.9 is twice eta: half the rate and an increase of 50 Mb/s.
    #[test]
    fn every_acknowledgement_moves_the_rate_but_one_in_a_round_trip_the_reference() {
        let (mut pint, mut rng) = (pint(1.0), rng());
        let telemetry = Telemetry::Utilisation(1.9);
        let mut feed = |seq| pint.on_feedback(&Feedback { telemetry, ..ack(0, seq, 50_000) }, &mut rng);
        assert_eq!(feed(1_000), RateDecision::Keep, "the first only starts the round trip");
        for seq in [2_000, 3_000, 50_000] {
            assert_eq!(feed(seq), RateDecision::Repace(BitRate::mbps(50_050)), "{seq}");
        }
        assert_eq!(rate(feed(50_001)), BitRate::mbps(50_050));
        assert_eq!(rate(feed(51_000)), BitRate::mbps(25_075), "the 2019 simulator has moved");
    }

    /// The rate follows from the 2019 simulator and this code alone: the switches have averaged it already.
    #[test]
    fn the_sender_does_not_average() {
        let (mut pint, mut rng) = (pint(1.0), rng());
        pint.on_feedback(&Feedback { telemetry: Telemetry::Utilisation(1.0), ..ack(0, 1, 50_000) }, &mut rng);
        let mut feed = |utilisation| {
            let telemetry = Telemetry::Utilisation(utilisation);
            rate(pint.on_feedback(&Feedback { telemetry, ..ack(0, 9, 50_000) }, &mut rng))
        };
        assert_eq!(feed(0.95 * 4.0), BitRate::mbps(25_050));
        assert_eq!(feed(0.95 * 2.0), BitRate::mbps(50_050));
        assert_eq!(pint.utilisation(), Some(0.95 * 2.0), "that which the rate follows from, also within a round trip");
    }

    /// A sixteenth of the acknowledgements: each draw is made, about one in sixteen is below the bound.
    #[test]
    fn sampling_looks_at_its_share_and_draws_for_each() {
        let (mut pint, mut rng) = (pint(1.0 / 16.0), rng());
        let telemetry = Telemetry::Utilisation(1.9);
        let feedback = Feedback { telemetry, ..ack(0, 1_000, 50_000) };
        let mut reference = rng.clone();
        let heard = (0..16_000).filter(|_| pint.on_feedback(&feedback, &mut rng) != RateDecision::Keep).count();
        assert!((900..1_100).contains(&heard), "{heard}");
        for _ in 0..16_000 {
            reference.rand.draw();
        }
        assert_eq!(rng.rand, reference.rand);
    }

    /// One draw of 65 536.
    #[test]
    fn the_least_probability_is_that_of_one_draw() {
        let set = |probability| HpccPintConfig::default().set("sample_probability", Input::Real(probability)).is_ok();
        assert_eq!([1.0 / 65_536.0, 1.0 / 65_537.0, 1.0, 1.1].map(set), [true, false, true, false]);
    }
}
