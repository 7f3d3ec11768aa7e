// SPDX-License-Identifier: GPL-2.0-only
//! Whether the machine can hold the network and the flows that are in progress at a time.

use super::progress::InProgress;
use crate::error::InputError;
use crate::flows::FlowList;
use crate::memory::{self, VARIABLE, pretty};
use crate::place::Place;
use crate::scenario::{Places, Scenario};
use hpcc_core::settings::Value;
use hpcc_core::topology::routes::Routes;

/// For each link: two ports with their queues, and a node. As measured.
const PER_LINK: u64 = 8 << 10;
/// For each flow in progress: both its ends, and its congestion control. As measured; 1.3 kB with DCQCN.
const PER_FLOW: u64 = 2_000;

/// What a network takes, by what takes it.
fn needs(scenario: &Scenario) -> [(u64, String); 2] {
    let network = &scenario.network;
    // The routes of the start stay beside those around failed links.
    let tables = if scenario.link_failures.is_empty() { 1 } else { 2 };
    let bytes = Routes::table_bytes(network, scenario.has_fast_cnp());
    [
        (tables * bytes, format!("the routing tables of {} nodes", network.nodes.len())),
        (PER_LINK * network.links.len() as u64, format!("{} links", network.links.len())),
    ]
}

/// What this process may still take, if anything tells.
fn available() -> Result<Option<u64>, InputError> {
    memory::available().map_err(|why| Place::environment().error(why))
}

/// How to go on in spite of a refusal.
fn insist() -> String {
    format!("or {VARIABLE}=SIZE in the environment to try it all the same")
}

/// Refuses a network that the machine cannot hold.
pub(in crate::scenario) fn memory(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let Some(place) = places.links.first() else { return Ok(()) };
    let needs = needs(scenario);
    let sum = needs.iter().map(|(bytes, _)| bytes).sum();
    let Some(available) = available()?.filter(|&available| available < sum) else { return Ok(()) };
    let parts: Vec<String> = needs.iter().map(|(bytes, what)| format!("{} for {what}", pretty(*bytes))).collect();
    Err(place.key_error(
        "topology",
        format!(
            "the network takes about {} of memory ({}), and {} are available; expected a smaller network, {}",
            pretty(sum),
            parts.join(", "),
            pretty(available),
            insist()
        ),
    ))
}

/// Refuses flows of which more are in progress at a time than the machine can hold beside the network, which fits.
pub(super) fn flows(scenario: &Scenario, flows: &FlowList) -> Result<(), InputError> {
    let network: u64 = needs(scenario).iter().map(|(bytes, _)| bytes).sum();
    let Some(rest) = available()?.map(|available| available.saturating_sub(network)) else { return Ok(()) };
    let most = rest / PER_FLOW;
    if flows.totals.count <= most {
        return Ok(());
    }
    let mut progress = InProgress::new(&scenario.network, most);
    for (_, placed) in flows.walk_placed() {
        let (flow, place) = placed?;
        if flow.start >= scenario.stop {
            break;
        }
        let Some(count) = progress.see(&flow) else { continue };
        let message = format!(
            "at {} at least {count} flows are in progress, which take about {} of memory, and {} are available beside the \
             network; expected fewer flows or shorter ones, {}",
            Value::Time(flow.start).pretty(),
            pretty(count.saturating_mul(PER_FLOW)),
            pretty(rest),
            insist()
        );
        return Err(place.key_error("traffic", message));
    }
    Ok(())
}
