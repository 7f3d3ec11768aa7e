// SPDX-License-Identifier: GPL-2.0-only
//! Whether the machine can hold the network and the flows that are in progress at a time.

use super::progress::InProgress;
use crate::draft::Places;
use crate::error::InputError;
use crate::flows::FlowList;
use crate::memory::{self, insist, pretty};
use crate::place::Place;
use crate::scenario::Scenario;
use hpcc_core::settings::Value;
use hpcc_core::topology::routes::Routes;
use std::collections::BTreeMap;

/// Bytes for the program without a network. As measured.
pub const PROGRAM: u64 = 24 << 20;
/// Bytes for each link: two ports with their queues, and a node. As measured.
pub const PER_LINK: u64 = 8 << 10;
/// Bytes for each flow in progress: both its ends, and its congestion control. As measured; 1.3 kB with DCQCN.
pub const PER_FLOW: u64 = 2_000;
/// Bytes for each packet on its way, and its answer. As measured.
pub const PER_PACKET: u64 = 400;

/// Links of a path over which much is on its way.
const PATH: usize = 4;

/// Memory of a network, by its parts.
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

/// Memory that a run takes, in bytes, roughly: the program itself, the network, the flows that are in progress at a time at least
/// (congestion may keep more), and the packets that hosts may send in a round trip.
///
/// # Errors
/// If a file of flows was changed since the scenario was read.
pub fn estimate(scenario: &Scenario) -> Result<u64, InputError> {
    let mut progress = InProgress::new(&scenario.network, 0);
    let mut most = 0;
    let mut sent = BTreeMap::<u32, u64>::new();
    for flow in scenario.flows.walk() {
        let flow = flow?;
        if flow.start >= scenario.stop {
            break;
        }
        most = progress.see(&flow).unwrap_or(0).max(most);
        let sent = sent.entry(flow.src).or_default();
        *sent = sent.saturating_add(flow.size);
    }
    let network: u64 = needs(scenario).iter().map(|(bytes, _)| bytes).sum();
    // Between two looks at all machines, each may get a flow.
    let flows = PER_FLOW.saturating_mul(most + scenario.network.nodes.len() as u64);
    let mut rates = BTreeMap::<u32, u64>::new();
    for link in &scenario.network.links {
        for end in [link.a, link.b] {
            *rates.entry(end).or_default() += link.rate.0;
        }
    }
    let nanoseconds = u128::from(round_trip(scenario));
    let in_flight = |(host, bytes): (&u32, &u64)| {
        let rate = rates.get(host).copied().unwrap_or_default();
        u64::try_from(u128::from(rate) * nanoseconds / 8_000_000_000).unwrap_or(u64::MAX).min(*bytes)
    };
    let bytes: u64 = sent.iter().map(in_flight).sum();
    let packets = PER_PACKET.saturating_mul(bytes / scenario.settings.transport.mtu.0.max(1));
    Ok(PROGRAM.saturating_add(network).saturating_add(flows).saturating_add(packets))
}

/// A round trip over the longest links that a path may have, in nanoseconds.
fn round_trip(scenario: &Scenario) -> u64 {
    let mut delays: Vec<u64> = scenario.network.links.iter().map(|link| link.delay.0).collect();
    delays.sort_unstable_by(|a, b| b.cmp(a));
    delays.iter().take(PATH).sum::<u64>().saturating_mul(2)
}

/// Memory that this process may still take, if known.
fn available() -> Result<Option<u64>, InputError> {
    memory::available().map_err(|why| Place::environment().error(why))
}

/// Refuses a network that the machine cannot hold.
pub(super) fn memory(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let Some(place) = places.network.as_ref().or(places.links.first()) else { return Ok(()) };
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

/// Refuses flows if more are in progress at a time than the machine can hold beside the network.
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
