// SPDX-License-Identifier: GPL-2.0-only
//! Which process or thread simulates which node of a run that several share.

use crate::scenario::{EventOrder, Scenario};
use hpcc_core::topology::partition::Units;

/// The part, from 0 on, of each node of a run that so many processes or threads share.
///
/// # Errors
/// Why they cannot share it, or not so many.
pub fn divide(scenario: &Scenario, parts: u32) -> Result<Vec<u32>, String> {
    let refused = if scenario.order == EventOrder::Insertion {
        "it has run.order = \"insertion\", in which each event follows from all before; expected \"canonical\""
    } else if scenario.stack().is_some() {
        "hosts with ns-3's TCP/IP stack are of one process; expected transport.protocol = \"rdma\""
    } else if !scenario.attacks.is_empty() {
        "it has attackers, who know all flows; expected none"
    } else if scenario.faults().shared_rng {
        "all its nodes draw from one generator, which is the 2019 simulator's fault shared_rng"
    } else if !scenario.flows.jobs.is_empty() && !scenario.transport().shares_queue_pairs(true) {
        "its jobs have a queue pair for each message; expected transport.queue_pairs = \"per_pair\""
    } else {
        let together = scenario.servers.map(|servers| servers.pairs(&scenario.network)).unwrap_or_default();
        return Units::with(&scenario.network, &together).divide(parts).map_err(|few| {
            format!(
                "this network has no {parts} parts: links of hosts and links without delay are not cut, which leaves {} part{}",
                few.units,
                if few.units == 1 { "" } else { "s" }
            )
        });
    };
    Err(format!("this run cannot be shared: {refused}"))
}
