// SPDX-License-Identifier: GPL-2.0-only
//! Whether the machine can hold the network. What flows take depends on how many are in progress at a time, which only the
//! run can tell.

use crate::error::InputError;
use crate::memory::{self, VARIABLE, pretty};
use crate::place::Place;
use crate::scenario::{Places, Scenario};
use hpcc_core::topology::Network;

/// For each pair of hosts: the kind of path between them.
const PER_PAIR_OF_HOSTS: u64 = 4;
/// For each node and destination: the set of next hops, in a list that doubles when it is full.
const PER_NODE_AND_DESTINATION: u64 = 3;
/// For each link: two ports with their queues, and a node. As measured.
const PER_LINK: u64 = 8 << 10;

/// What a network takes, by what takes it.
fn needs(network: &Network, fails: bool) -> [(u64, String); 3] {
    let (hosts, nodes) = (network.hosts().count() as u64, network.nodes.len() as u64);
    let tables = if fails { 2 } else { 1 };
    [
        (tables * PER_PAIR_OF_HOSTS * hosts * hosts, format!("the paths between {hosts} hosts")),
        (tables * PER_NODE_AND_DESTINATION * nodes * nodes, format!("the routing tables of {nodes} nodes")),
        (PER_LINK * network.links.len() as u64, format!("{} links", network.links.len())),
    ]
}

/// Refuses a network that the machine cannot hold.
pub(in crate::scenario) fn memory(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let Some(place) = places.links.first() else { return Ok(()) };
    let available = memory::available().map_err(|why| Place::environment().error(why))?;
    let needs = needs(&scenario.network, !scenario.link_failures.is_empty());
    let sum = needs.iter().map(|(bytes, _)| bytes).sum();
    let Some(available) = available.filter(|&available| available < sum) else { return Ok(()) };
    let parts: Vec<String> = needs.iter().map(|(bytes, what)| format!("{} for {what}", pretty(*bytes))).collect();
    Err(place.key_error(
        "topology",
        format!(
            "the network takes about {} of memory ({}), and {} are available; expected a smaller network, or \
             {VARIABLE}=SIZE in the environment to try it all the same",
            pretty(sum),
            parts.join(", "),
            pretty(available)
        ),
    ))
}
