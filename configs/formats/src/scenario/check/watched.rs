// SPDX-License-Identifier: GPL-2.0-only
//! The flows that are watched are there.

use crate::error::InputError;
use crate::scenario::{Places, Scenario};

/// Refuses the number of a flow that the scenario does not have.
pub(in crate::scenario) fn watched_flows(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let count = scenario.flows.totals.count;
    match scenario.monitor.control_flows.iter().find(|&&flow| u64::from(flow) >= count) {
        None => Ok(()),
        Some(flow) => Err(places.control_flows.error(format!(
            "control_flows names flow {flow}, but there are {count}; expected their numbers, from 0 in the order of their start"
        ))),
    }
}
