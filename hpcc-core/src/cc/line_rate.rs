// SPDX-License-Identifier: MIT OR Apache-2.0
//! No congestion control: line rate, bounded by the window alone.

use super::{Algorithm, CongestionControl, Feedback, FlowLimits, Needs, RateDecision, Steers, known_as};
use crate::random::Rng;
use crate::recurrence::{Recurs, recurs};
use crate::settings::Settings;
use crate::units::BitRate;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// Flows without congestion control, which have no parameters and no state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineRate;

impl Settings for LineRate {}

impl Algorithm for LineRate {
    known_as!("none", "line rate, bounded by the window alone");

    fn start(&self, _: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(*self)
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { steers: Steers::Nothing, ..Needs::default() }
    }
}

impl CongestionControl for LineRate {
    fn recurring(&mut self) -> Option<&mut dyn Recurs> {
        Some(self)
    }

    fn on_feedback(&mut self, _: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        RateDecision::Keep
    }
}

recurs! { LineRate {} }
