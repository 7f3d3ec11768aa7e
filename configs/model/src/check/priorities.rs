// SPDX-License-Identifier: GPL-2.0-only
//! The priorities in which flows, their acknowledgements and CNPs travel, for each of which lossless switches keep memory. What
//! switches, and receivers as notifications, send is in [priority 0](hpcc_core::transport::NOTIFICATION_PRIORITY), which needs
//! none, unless CNPs have a [priority](TransportConfig::cnp_priority) of their own.

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::node::{check_flow, check_notifications};
use hpcc_core::switch::Priorities;
use hpcc_core::transport::TransportConfig;
use std::collections::HashSet;
use std::iter;

/// The priorities of the flows seen so far.
pub(super) struct InUse {
    /// How hosts answer.
    transport: TransportConfig,
    /// Which hosts are legacy, and how they answer: their algorithm may ask for another priority.
    legacy: Option<(HashSet<u32>, TransportConfig)>,
    /// The priorities that the scenario names, if those that are paused are among them.
    given: Option<Priorities>,
    /// Those that are not paused.
    lossy: Priorities,
    used: Priorities,
}

impl InUse {
    pub fn new(scenario: &Scenario) -> InUse {
        let lossy = scenario.settings.switch.lossy_priorities.unwrap_or(Priorities::NONE);
        let given = scenario.settings.switch.pfc_priorities.map(|paused| paused.and(lossy));
        let nodes = || scenario.legacy.nodes.iter().copied().collect();
        let legacy = scenario.legacy.settings.as_ref().map(|settings| (nodes(), settings.transport()));
        InUse { transport: scenario.transport(), legacy, given, lossy, used: Priorities::NONE }
    }

    /// Refuses a flow whose frames, or whose answers, have a priority that the scenario does not name.
    pub fn see(&mut self, flow: &Flow) -> Result<(), String> {
        let legacy = self.legacy.as_ref().filter(|(nodes, _)| nodes.contains(&flow.dst));
        let receiver = legacy.map_or(&self.transport, |(_, transport)| transport);
        let answers = receiver.answer_priority(flow.priority);
        self.used = self.used.with(flow.priority).with(answers).with(receiver.notification_priority());
        let Some(given) = self.given else { return Ok(()) };
        check_flow(given, flow.priority, answers)
            .and_then(|()| check_notifications(given, receiver.notification_priority()))
            .map_err(|wrong| format!("{} in {}.{}", wrong.conflict.message, wrong.section, wrong.conflict.key))
    }

    /// Settles for which priorities switches keep memory, legacy ones as all others: for those that were seen, unless the
    /// scenario names them.
    pub fn settle(self, scenario: &mut Scenario) {
        let paused = self.used.without(self.lossy);
        let keeps = scenario.settings.pfc_priorities().is_some() && paused != Priorities::NONE;
        if keeps {
            let all = iter::once(&mut scenario.settings).chain(&mut scenario.legacy.settings);
            all.for_each(|settings| _ = settings.switch.pfc_priorities.get_or_insert(paused));
        }
    }
}
