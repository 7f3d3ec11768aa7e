// SPDX-License-Identifier: GPL-2.0-only
//! Full frames against what counts them: whole nanoseconds.

use crate::draft::Places;
use crate::error::InputError;
use crate::scenario::Scenario;
use hpcc_core::units::Nanos;

/// Refuses links that a full frame passes in no time.
pub(super) fn frames(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let wire = scenario.settings.full_frame() + scenario.settings.wire.frame_gap();
    let rounding = scenario.transport().rounding();
    for (link, place) in scenario.network.links.iter().zip(&places.links) {
        if link.rate.tx_time(wire, rounding) == Nanos(0) {
            return Err(place.error(format!(
                "the link from {} to {} runs at {}, where the {wire} bytes of a full packet take 0 ns; expected at least 1 ns",
                link.a, link.b, link.rate
            )));
        }
    }
    Ok(())
}
