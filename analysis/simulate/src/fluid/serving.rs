// SPDX-License-Identifier: GPL-2.0-only
//! In which order, and by which weights, links serve the priorities of a scenario.

use super::streams::{Class, IN_TURN};
use hpcc_core::switch::{Classes, Service};
use hpcc_model::scenario::Scenario;
use std::collections::BTreeSet;

/// How classes are distinguished, by priority, on links that hosts and switches send by.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// `None`: all flows in turn, whatever their priorities.
    hosts: Option<[Class; 8]>,
    switches: [Class; 8],
}

impl Served {
    /// On a link that a host or a switch sends by.
    pub fn by(&self, is_host: bool) -> Option<&[Class; 8]> {
        if is_host { self.hosts.as_ref() } else { Some(&self.switches) }
    }
}

/// How classes are served; nothing if all flows are of one. Without classes switches serve queues in turn, hosts flows.
pub fn served(scenario: &Scenario) -> Option<Served> {
    if priorities(scenario).len() < 2 {
        return None;
    }
    let of = |classes: Option<Classes>| classes.map(by_priority);
    let switches = of(*scenario.settings.switch.classes);
    let switches = switches.unwrap_or([Class { tier: IN_TURN, weight: 1.0 }; 8]);
    Some(Served { hosts: of(*scenario.settings.transport.classes), switches })
}
fn by_priority(classes: Classes) -> [Class; 8] {
    let services = classes.services();
    std::array::from_fn(|priority| match services[priority] {
        Service::Strict { place } => Class { tier: place, weight: 1.0 },
        Service::Weighted { quantum } => Class { tier: IN_TURN, weight: f64::from(quantum.max(1)) },
        Service::Leftover => Class { tier: IN_TURN + 1 + priority as u8, weight: 1.0 },
    })
}

/// Priorities of all flows. A flow that cannot be read is told where flows are read.
fn priorities(scenario: &Scenario) -> BTreeSet<u8> {
    let listed = scenario.flows.walk_groups().flatten().map(|(_, flow)| flow.priority);
    listed.chain(scenario.flows.jobs.iter().map(|job| job.priority)).collect()
}
