// SPDX-License-Identifier: GPL-2.0-only
//! In which order, and by which weights, links serve the priorities of a scenario.

use super::streams::Class;
use hpcc_core::switch::{Classes, Service};
use hpcc_formats::scenario::Scenario;
use std::collections::BTreeSet;

/// The tier of queues that are served in turn; strict ones go before.
const IN_TURN: u8 = 8;

/// How classes are told apart, by priority; nothing if all flows are of one. Switches' classes count, or else those of hosts;
/// without either, queues are served in turn.
pub fn classes(scenario: &Scenario) -> Option<[Class; 8]> {
    if priorities(scenario).len() < 2 {
        return None;
    }
    let services = |classes: Classes| classes.services();
    let of_switches = *scenario.settings.switch.classes;
    let of_hosts = *scenario.settings.transport.classes;
    let services = of_switches.or(of_hosts).map(services);
    Some(std::array::from_fn(|priority| match services.map(|services| services[priority]) {
        None => Class { tier: IN_TURN, weight: 1.0 },
        Some(Service::Strict) => Class { tier: priority as u8, weight: 1.0 },
        Some(Service::Weighted { quantum }) => Class { tier: IN_TURN, weight: f64::from(quantum.max(1)) },
        Some(Service::Leftover) => Class { tier: IN_TURN + 1 + priority as u8, weight: 1.0 },
    }))
}

/// Priorities of all flows. A flow that cannot be read is told where flows are read.
fn priorities(scenario: &Scenario) -> BTreeSet<u8> {
    let listed = scenario.flows.walk_groups().flatten().map(|(_, flow)| flow.priority);
    listed.chain(scenario.flows.jobs.iter().map(|job| job.priority)).collect()
}
