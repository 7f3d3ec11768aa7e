// SPDX-License-Identifier: GPL-2.0-only
//! Full frames against what counts them: whole nanoseconds, and the units of telemetry.

use crate::error::InputError;
use crate::scenario::{Places, Scenario};
use hpcc_core::cc::Reads;
use hpcc_core::units::{BitRate, Nanos, Rounding};

/// Above this share of a frame's time its rounding is worth a note.
const ROUNDING: f64 = 0.01;

/// Refuses links that a full frame passes in no time, and adds notes about rates that are not those of the links and units
/// that are coarser than a frame.
pub(super) fn frames(scenario: &mut Scenario, places: &Places) -> Result<(), InputError> {
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
    let notes = [rounded(scenario, wire), coarse(scenario)];
    scenario.notes.extend(notes.into_iter().flatten());
    Ok(())
}

/// How far whole nanoseconds are from the rate of a link, if they are far: as a share of a frame's time.
fn error(rate: BitRate, wire: u32) -> f64 {
    exact(rate, wire) / rate.tx_time(wire, Rounding::Nearest).0 as f64 - 1.0
}

/// Nanoseconds that a frame takes.
fn exact(rate: BitRate, wire: u32) -> f64 {
    f64::from(wire) * 8e9 / rate.0 as f64
}

/// The link whose rate is furthest from what whole nanoseconds make of it. That the reference's faults floor them is theirs.
fn rounded(scenario: &Scenario, wire: u32) -> Option<String> {
    match scenario.transport().rounding() {
        Rounding::Nearest => {}
        Rounding::Floored | Rounding::Exact => return None,
    }
    let rates = scenario.network.links.iter().map(|link| link.rate);
    let worst = rates.max_by(|&a, &b| error(a, wire).abs().total_cmp(&error(b, wire).abs()))?;
    let error = error(worst, wire);
    let (time, exact) = (worst.tx_time(wire, Rounding::Nearest).0, exact(worst, wire));
    let than = if error > 0.0 { "faster" } else { "slower" };
    (error.abs() > ROUNDING).then(|| {
        format!(
            "times are whole nanoseconds: at {worst} the {wire} bytes of a full packet take {time} ns, not {exact:.2}, so that \
             such links, and ideal times over them, are {:.1} % {than} than their rate; wire.exact_rates = true keeps it",
            100.0 * error.abs()
        )
    })
}

/// Telemetry that may see no byte between two frames that follow each other.
fn coarse(scenario: &Scenario) -> Option<String> {
    let frame = u64::from(scenario.settings.full_frame());
    let unit = scenario.layout().tx_unit().filter(|&unit| unit > frame)?;
    (scenario.settings.needs().reads == Reads::Records).then(|| {
        format!(
            "telemetry counts sent bytes in units of {unit} (telemetry.multiplier), more than the {frame} of a full packet: where \
             no unit is counted between two packets, \"{}\" keeps the utilisation of those before, so that it reads too high \
             and flows leave a part of their links unused",
            scenario.algorithm().name()
        )
    })
}
