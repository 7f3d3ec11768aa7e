// SPDX-License-Identifier: GPL-2.0-only
//! Periods that a run leaves out.

use crate::fleet::Paused;
use hpcc_core::engine::{Engine, Skipped};
use hpcc_model::results::SkipSummary;
use hpcc_model::scenario::{Monitor, Scenario, SkipMode};

/// An engine leaves out periods, if the scenario says so and nobody looks at what is between them.
pub(crate) fn skip(scenario: &Scenario, engine: &mut Engine, why_not: Option<&str>) {
    if scenario.skip != SkipMode::Off && why_not.is_none() {
        engine.skip_periods(scenario.stop, scenario.skip == SkipMode::Eager);
    }
}

/// Why nothing may be left out: what the run records, or who else takes part.
pub(crate) fn why_not(scenario: &Scenario, is_alone: bool) -> Option<&'static str> {
    let Monitor { goodput_interval, sent_interval, control_interval, .. } = &scenario.monitor;
    let watched = [
        (goodput_interval, "monitor.goodput_interval"),
        (sent_interval, "monitor.sent_interval"),
        (control_interval, "monitor.control_interval"),
    ];
    let watched = watched.into_iter().find(|(interval, _)| interval.is_some()).map(|(_, key)| key);
    watched.or((!is_alone).then_some("several threads or processes, or a program"))
}

/// What was left out.
pub(crate) fn summary(scenario: &Scenario, engine: &mut Paused<'_>, why_not: Option<&str>) -> Option<SkipSummary> {
    if scenario.skip == SkipMode::Off {
        return None;
    }
    let Skipped { events, time, periods, leaps, tries, refusal } = engine.whole().skipped();
    // What ended a try is of no interest where others have found something.
    let refusal = why_not.or(refusal.filter(|_| leaps == 0)).map(Into::into);
    Some(SkipSummary { events, time_ns: time.0, periods, leaps, tries, refusal })
}
