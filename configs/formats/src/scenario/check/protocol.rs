// SPDX-License-Identifier: GPL-2.0-only
//! What the hosts' transport makes of links and flows.

use crate::error::InputError;
use crate::flow::Flow;
use crate::scenario::{Places, Scenario};
use hpcc_core::topology::NodeKind;
use hpcc_core::transport::Protocol;

/// The priority of all that TCP hosts send.
const TCP_PRIORITY: u8 = 3;

/// Refuses a second link of a TCP host: its stack would have to choose.
pub(super) fn links(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    match scenario.settings.protocol.protocol {
        Protocol::Rdma => return Ok(()),
        Protocol::Tcp => {}
    }
    let network = &scenario.network;
    let mut linked = vec![false; network.nodes.len()];
    for (link, place) in network.links.iter().zip(&places.links) {
        for node in [link.a, link.b].map(|node| node as usize) {
            if network.nodes[node] == NodeKind::Host && std::mem::replace(&mut linked[node], true) {
                let message = format!("host {node} has a second link; expected one with transport.protocol = \"tcp\"");
                return Err(place.error(message));
            }
        }
    }
    Ok(())
}

/// Refuses a flow that TCP hosts cannot send as it asks.
pub(super) fn flow(flow: &Flow, scenario: &Scenario) -> Result<(), String> {
    match scenario.settings.protocol.protocol {
        Protocol::Rdma => Ok(()),
        Protocol::Tcp if flow.priority != TCP_PRIORITY => Err(format!(
            "the flow's priority is {}; expected {TCP_PRIORITY}, in which TCP hosts send all packets",
            flow.priority
        )),
        Protocol::Tcp if flow.dport == 0 => Err("the flow's dport is 0; expected 1 to 65535 with TCP".into()),
        Protocol::Tcp => Ok(()),
    }
}
