// SPDX-License-Identifier: GPL-2.0-only
//! What tests ask of scenarios.

use hpcc_model::flow::Flow;
use hpcc_model::flows::FlowList;

/// Flows that are held in memory.
pub(crate) trait Collected {
    /// All flows; panics where one cannot be had.
    fn collect(&self) -> Vec<Flow>;
}

impl Collected for FlowList {
    fn collect(&self) -> Vec<Flow> {
        self.walk().map(|flow| flow.expect("a flow")).collect()
    }
}
