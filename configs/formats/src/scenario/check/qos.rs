// SPDX-License-Identifier: GPL-2.0-only
//! Classes of service against what must hear of them (REQ-29).

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::settings::Named;
use hpcc_core::switch::{Classes, Scope, SwitchSettings, Wait};

/// Adds notes where nobody hears of queues, and where answers may be held up.
pub(super) fn report(scenario: &mut Scenario) {
    let SwitchSettings { telemetry_scope: scope, telemetry_queue: wait, .. } = scenario.settings.switch;
    let layout = scenario.layout();
    if (scope, wait) != (Scope::default(), Wait::default()) && layout.max_hops().is_none() {
        let layout = layout.name().name();
        scenario.notes.push(format!(
            "telemetry_scope and telemetry_queue have no effect: telemetry \"{layout}\" has no records of hops"
        ));
    }
    let acks = scenario.transport().ack_priority;
    if classes(scenario).is_some_and(|classes| acks > 0 && !classes.is_sure(acks)) {
        scenario.notes.push(format!(
            "acknowledgements travel in priority {acks}, which is sure of nothing of a link: others may hold them up"
        ));
    }
}

/// How queues are served; `None`: in turn.
fn classes(scenario: &Scenario) -> Option<Classes> {
    Classes::parse(&scenario.settings.switch.classes).ok()
}

/// Refuses a flow that would be measured against the share of a class that is sure of none.
pub(super) fn guarantee(flow: &Flow, scenario: &Scenario) -> Result<(), String> {
    if scenario.settings.switch.telemetry_scope == Scope::Port || scenario.legacy.nodes.contains(&flow.src) {
        return Ok(());
    }
    let Some(classes) = classes(scenario).filter(|_| scenario.layout().max_hops().is_some()) else { return Ok(()) };
    if classes.is_sure(flow.priority) {
        return Ok(());
    }
    Err(format!(
        "priority {} of the flow is sure of nothing, and telemetry_scope = \"queue\" tells of a class's share; expected a \
         class with a quantum, or the first strict one",
        flow.priority
    ))
}
