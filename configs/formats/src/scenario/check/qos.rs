// SPDX-License-Identifier: GPL-2.0-only
//! Classes of service against what must hear of them (REQ-29).

use crate::error::InputError;
use crate::scenario::{Flow, Places, Scenario};
use hpcc_core::switch::{ReportConfig, Scope};

/// Refuses a guard that would take honest telemetry for lies, and adds a note where nobody hears of queues.
pub(super) fn report(scenario: &mut Scenario, places: &Places) -> Result<(), InputError> {
    let report = scenario.switch.report;
    if report.scope == Scope::Queue && scenario.feedback.guard {
        return Err(places.scope.error(
            "with telemetry.guard = true: a class that uses more than its share would look like a link that sends faster \
             than it can; expected telemetry_scope = \"port\", or no guard",
        ));
    }
    if report != ReportConfig::default() && scenario.layout.max_hops().is_none() {
        let layout = scenario.layout.name();
        scenario.notes.push(format!(
            "telemetry_scope and telemetry_queue have no effect: telemetry \"{layout}\" has no records of hops"
        ));
    }
    let acks = scenario.transport.ack_priority;
    if scenario.switch.classes.is_some_and(|classes| acks > 0 && !classes.is_sure(acks)) {
        scenario.notes.push(format!(
            "acknowledgements travel in priority {acks}, which is sure of nothing of a link: others may hold them up"
        ));
    }
    Ok(())
}

/// Refuses a flow that would be measured against the share of a class that is sure of none.
pub(super) fn guarantee(flow: &Flow, scenario: &Scenario) -> Result<(), String> {
    let hears = scenario.layout.max_hops().is_some() && !scenario.legacy.nodes.contains(&flow.src);
    let Some(classes) = scenario.switch.classes.filter(|_| hears && scenario.switch.report.scope == Scope::Queue)
    else {
        return Ok(());
    };
    if classes.is_sure(flow.priority) {
        return Ok(());
    }
    Err(format!(
        "priority {} of the flow is sure of nothing, and telemetry_scope = \"queue\" tells of a class's share; expected a \
         class with a quantum, or the first strict one",
        flow.priority
    ))
}
