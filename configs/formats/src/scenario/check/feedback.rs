// SPDX-License-Identifier: GPL-2.0-only
//! Telemetry's way back in a network of which a part knows nothing of it.

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::cc::Reads;
use std::collections::HashSet;

/// Counts the flows whose receivers send no telemetry back.
pub(super) struct Feedback {
    /// Legacy nodes; `None` if there are none, or the algorithm reads nothing.
    legacy: Option<HashSet<u32>>,
    unanswered: u64,
}

impl Feedback {
    pub fn new(scenario: &Scenario) -> Feedback {
        let nodes = &scenario.legacy.nodes;
        let asks = !nodes.is_empty() && scenario.settings.needs().reads != Reads::Nothing;
        Feedback { legacy: asks.then(|| nodes.iter().copied().collect()), unanswered: 0 }
    }

    /// Looks at a flow.
    pub fn see(&mut self, flow: &Flow) {
        let Some(legacy) = &self.legacy else { return };
        self.unanswered += u64::from(!legacy.contains(&flow.src) && legacy.contains(&flow.dst));
    }

    /// What the user should know.
    pub fn notes(&self, scenario: &Scenario, total: u64) -> Vec<String> {
        let Some(legacy) = &self.legacy else { return Vec::new() };
        let name = scenario.algorithm().name();
        let mut notes = Vec::new();
        if self.unanswered > 0 {
            let falls = scenario.settings.feedback.config().is_ok_and(|config| config.decay_after > 0);
            let so = if falls { "they fall to its least rate" } else { "it does not control their rate" };
            notes.push(format!(
                "{} of {total} flows of {name} go to legacy hosts, which send no telemetry back: {so}",
                self.unanswered
            ));
        }
        let network = &scenario.network;
        let from_switches = match scenario.settings.needs().reads {
            Reads::Records | Reads::Utilisation => true,
            Reads::Nothing | Reads::SendTime => false,
        };
        let all = |mut nodes: Box<dyn Iterator<Item = u32> + '_>| nodes.all(|node| legacy.contains(&node));
        if from_switches && !all(Box::new(network.hosts())) && all(Box::new(network.switches())) {
            notes.push(format!(
                "all switches are legacy ones, which add no telemetry: it does not control flows of {name}"
            ));
        }
        notes
    }
}
