// SPDX-License-Identifier: GPL-2.0-only
//! What the hosts' transport makes of flows.

use super::flows::{PRIORITY, Wrong};
use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::pfc::DATA_PRIORITY;
use hpcc_core::transport::Protocol;

/// Refuses a flow that hosts with ns-3's stack cannot send as it asks.
pub(super) fn flow(flow: &Flow, scenario: &Scenario) -> Result<(), Wrong> {
    match scenario.settings.protocol.protocol {
        Protocol::Rdma => Ok(()),
        Protocol::Tcp | Protocol::Udp if flow.priority != DATA_PRIORITY => {
            let expected = format!("expected {DATA_PRIORITY}, in which TCP and UDP hosts send all packets");
            Err((PRIORITY, format!("the flow's priority is {}; {expected}", flow.priority)))
        }
        Protocol::Tcp | Protocol::Udp if flow.dport == 0 => {
            Err((&["dport"], "the flow's dport is 0; expected 1 to 65535 with TCP and UDP".into()))
        }
        Protocol::Tcp | Protocol::Udp => Ok(()),
    }
}
