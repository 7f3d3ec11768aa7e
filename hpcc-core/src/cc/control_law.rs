// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's control law, in the 2019 simulator's rate form (Algorithm 1 of the paper, lines 13 to 19;
//! REQ-05). HPCC and HPCC-PINT differ in how they learn the utilisation, not in what they make of it.

use super::share::or_share;
use super::{FlowLimits, words};
use crate::units::{BitRate, Nanos};

/// The step by default, in millionths of the line rate.
const STEP: u64 = 500;

crate::settings! {
    /// Parameters of the control law. The defaults are the 2019 simulator's `config.txt` preset for HPCC, with the
    /// paper's maxStage of 5.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ControlLaw {
        /// Target utilisation eta: the share of the busiest link's capacity that flows aim for.
        #[change = words::ETA]
        pub eta: f64 {0.01..=2.0} = 0.95;
        /// Round trips in a row in which a flow below the target only adds its increase, before it jumps to the target.
        /// With 0 every update is such a jump.
        #[change = words::MAX_STAGE]
        pub max_stage: u32 = 5;
        /// W_ai / T, the rate that a flow adds in each round trip; `auto`: 1/2000 of the line rate.
        #[change = words::ADDITIVE_INCREASE]
        pub additive_increase: Option<BitRate> = None;
        /// Lowest sending rate of a flow; `auto`: 1/1000, with `hpcc_pint` 1/100, of the line rate.
        #[change = words::MIN_RATE]
        pub min_rate: Option<BitRate> {BitRate(1)..=BitRate::HIGHEST} = None;
    }
}

/// The variables of the control law, for the worst hop or for one hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// U: 1.0 where the bytes in flight equal capacity * T.
    pub utilisation: f64,
    /// The rate against which the next step is computed; changes only on commits.
    pub reference: BitRate,
    /// Consecutive additive increases.
    pub increases: u32,
}

impl Stage {
    /// A flow that has not heard of the network yet: U is 1, the rate the line rate.
    pub fn initial(limits: &FlowLimits) -> Stage {
        Stage { utilisation: 1.0, reference: limits.line_rate, increases: 0 }
    }
}

impl ControlLaw {
    /// W_ai in bytes.
    pub(super) fn window_step(&self, line_rate: BitRate, base_rtt: Nanos) -> f64 {
        or_share(self.additive_increase, line_rate, STEP).0 as f64 * base_rtt.0 as f64 / 8e9
    }

    /// The law of a flow of this line rate; the least rate is by default so many millionths of it.
    pub(super) fn of(&self, line_rate: BitRate, least: u64) -> FlowLaw {
        FlowLaw {
            eta: self.eta,
            step: or_share(self.additive_increase, line_rate, STEP),
            least: or_share(self.min_rate, line_rate, least),
            max_stage: self.max_stage,
        }
    }
}

/// The control law of one flow, whose line rate is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowLaw {
    eta: f64,
    step: BitRate,
    least: BitRate,
    max_stage: u32,
}

impl FlowLaw {
    /// A rate that was divided by an overload, which may be 0.
    #[inline]
    fn divided(&self, limits: &FlowLimits, rate: f64) -> BitRate {
        if rate >= BitRate::LIMIT && limits.faults.infinite_rate_is_zero {
            return BitRate(0);
        }
        BitRate::from_f64(rate)
    }

    /// One step from the reference rate.
    #[inline]
    pub fn step(&self, limits: &FlowLimits, stage: &Stage) -> Stage {
        let overload = stage.utilisation / self.eta;
        let multiplicative = overload >= 1.0 || stage.increases >= self.max_stage;
        let (base, increases) = if multiplicative {
            (self.divided(limits, stage.reference.0 as f64 / overload), 0)
        } else {
            (stage.reference, stage.increases + 1)
        };
        let rate = base.saturating_add(self.step).max(self.least).min(limits.line_rate);
        Stage { reference: rate, increases, ..*stage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, W_AI};
    use crate::reference_faults::ReferenceFaults;

    const LAW: FlowLaw = FlowLaw { eta: 0.95, max_stage: 0, step: W_AI, least: BitRate::mbps(100) };

    /// A link on which nothing moved asks for an infinite rate.
    #[test]
    fn an_idle_path_gives_the_line_rate_and_the_lowest_in_the_reference() {
        for (infinite_rate_is_zero, rate) in [(false, LIMITS.line_rate), (true, BitRate::mbps(100))] {
            let limits =
                FlowLimits { faults: ReferenceFaults { infinite_rate_is_zero, ..ReferenceFaults::NONE }, ..LIMITS };
            for utilisation in [0.0, 1e-12] {
                assert_eq!(LAW.step(&limits, &Stage { utilisation, ..Stage::initial(&limits) }).reference, rate);
            }
            let unknown = Stage { utilisation: f64::NAN, increases: LAW.max_stage, ..Stage::initial(&limits) };
            assert_eq!(LAW.step(&limits, &unknown).reference, LIMITS.line_rate);
        }
    }
}
