// SPDX-License-Identifier: GPL-2.0-only
//! Errors that need more than one part of a scenario: flows against the network, switches against links.

mod control;
mod flows;
mod leaving;
pub mod memory;
mod priorities;
mod progress;
mod settings;
mod sums;

pub use sums::sums;

use crate::draft::Draft;
use crate::error::InputError;
use crate::lint;
use crate::scenario::Scenario;
use hpcc_core::topology::routes::Routes;

/// The scenario, if its parts agree with each other.
pub fn agree(draft: Draft) -> Result<Scenario, InputError> {
    let Draft { mut scenario, flows, places } = draft;
    memory::memory(&scenario, &places)?;
    let payload = u32::try_from(scenario.settings.transport.mtu.0).unwrap_or(u32::MAX);
    let routes = Routes::new(&scenario.network, payload);
    settings::settings(&mut scenario, &routes, &places)?;
    let (flows, pass) = flows::flows(&mut scenario, flows, &routes, &places)?;
    scenario.flows = flows;
    settings::buffer(&scenario, &places)?;
    let findings = lint::findings(&scenario, &pass);
    scenario.notes.extend(findings.iter().map(|finding| finding.message.clone()));
    scenario.findings = findings;
    Ok(scenario)
}
