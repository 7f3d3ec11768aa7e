// SPDX-License-Identifier: GPL-2.0-only
//! Flows whose last packet nobody acknowledges: `transport.ack_interval` is no interval, but a byte from which on the receiver
//! answers.

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::transport::{Protocol, QueuePairs, TransportConfig};

/// Counts those flows.
pub(super) struct Silent {
    /// How receivers acknowledge; `None` where each flow's last packet is answered, or begins anywhere in a queue pair.
    transport: Option<TransportConfig>,
    flows: u64,
}

impl Silent {
    pub fn new(scenario: &Scenario) -> Silent {
        let transport = scenario.transport();
        let is_rdma = scenario.settings.protocol.protocol == Protocol::Rdma;
        let counts = is_rdma && transport.ack_every == 0 && transport.queue_pairs == QueuePairs::PerFlow;
        Silent { transport: counts.then_some(transport), flows: 0 }
    }

    /// Looks at a flow.
    pub fn see(&mut self, flow: &Flow) {
        let is_silent = self.transport.as_ref().is_some_and(|transport| !transport.acknowledges(flow.size));
        self.flows += u64::from(is_silent);
    }

    /// What the user should know.
    pub fn note(&self, total: u64) -> Option<String> {
        let transport = self.transport.as_ref().filter(|_| self.flows > 0)?;
        let then = if transport.timeout.is_some() { "end after a timeout" } else { "never end without a timeout" };
        Some(format!(
            "{} of {total} flows are shorter than transport.ack_interval, {} bytes: nothing acknowledges their last packet, and \
             they {then}",
            self.flows, transport.ack_interval
        ))
    }
}
