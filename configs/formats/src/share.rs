// SPDX-License-Identifier: GPL-2.0-only
//! Which process simulates which node of a run that several processes share.

use crate::scenario::{EventOrder, Scenario};
use hpcc_core::topology::Network;
use hpcc_core::topology::partition::Units;

/// The process, from 0 on, of each node of a run.
///
/// # Errors
/// Why processes cannot share the run, or not so many.
pub fn divide(scenario: &Scenario, processes: u32) -> Result<Vec<u32>, String> {
    let refused = if scenario.order == EventOrder::Insertion {
        "it has run.order = \"insertion\", which is the order of one process; expected \"canonical\""
    } else if scenario.stack().is_some() {
        "what hosts with ns-3's TCP/IP stack send cannot leave its process; expected transport.protocol = \"rdma\""
    } else if !scenario.attacks.is_empty() {
        "it has attackers"
    } else if scenario.faults().shared_rng {
        "all its nodes draw from one generator, which is the reference's fault shared_rng"
    } else {
        return divide_network(&scenario.network, processes);
    };
    Err(format!("several processes cannot share this run: {refused}"))
}

/// The process, from 0 on, of each node of a network.
///
/// # Errors
/// If there are more processes than parts that it can be cut into.
pub fn divide_network(network: &Network, processes: u32) -> Result<Vec<u32>, String> {
    Units::new(network).divide(processes).map_err(|too_few| {
        format!(
            "{processes} processes cannot share this network: links of hosts and links without delay are not cut, which \
             leaves {} part{}",
            too_few.units,
            if too_few.units == 1 { "" } else { "s" }
        )
    })
}
