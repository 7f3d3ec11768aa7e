// SPDX-License-Identifier: GPL-2.0-only
//! Settings against the links that they must serve.

use crate::draft::Places;
use crate::error::InputError;
use crate::scenario::Scenario;
use hpcc_core::node::{LinkRates, NodeSettings, lowest_rate};
use hpcc_core::topology::routes::Routes;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};

/// Refuses settings that the network's links contradict, and drops ECN thresholds that no port uses.
pub(super) fn settings(scenario: &mut Scenario, routes: &Routes, places: &Places) -> Result<(), InputError> {
    if scenario.stop.0 == 0 {
        return Err(places.stop.error("the stop time is 0; expected more"));
    }
    telemetry(scenario, places)?;
    sampling(&scenario.settings, routes, places)?;
    let patience = scenario.settings.check_patience(routes.kinds().map(|(path, _)| path));
    patience.map_err(|wrong| places.tcp_timeout.error(wrong.conflict.message))?;
    frames(scenario, places)?;
    min_rate(scenario, places)?;
    ecn(scenario, places)
}

/// Whether a switch has a port on this link.
fn at_switch(network: &Network, link: &Link) -> bool {
    [link.a, link.b].iter().any(|&node| network.nodes[node as usize] == NodeKind::Switch)
}

/// A config.txt has no key for the layout.
const IN_CONFIG_TXT: &str =
    " in a scenario in TOML, or in this file another CC_MODE, which reads no records (1, 7 or 8)";

fn telemetry(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    for (link, place) in scenario.network.links.iter().zip(&places.links) {
        if at_switch(&scenario.network, link) {
            let hint = if places.layout.key == "CC_MODE" { IN_CONFIG_TXT } else { "" };
            scenario.settings.check_link(link).map_err(|wrong| place.error(wrong.conflict.message + hint))?;
        }
    }
    for (degraded, place) in scenario.degraded.iter().zip(&places.degraded) {
        for link in degraded.links.iter().map(|&link| degraded.of(&scenario.network, link)) {
            if at_switch(&scenario.network, &link) {
                let checked = scenario.settings.check_link(&link);
                checked.map_err(|wrong| place.key_error("failures.degraded", wrong.conflict.message))?;
            }
        }
    }
    Ok(())
}

/// Refuses telemetry whose counters may always wrap between two samples, and probes that would fill a link.
fn sampling(settings: &NodeSettings, routes: &Routes, places: &Places) -> Result<(), InputError> {
    settings.check_counters(routes.kinds()).map_err(|wrong| places.layout.error(wrong.conflict.message))?;
    settings.check_probes(routes.kinds()).map_err(|wrong| places.base_rtt.error(wrong.conflict.message))
}

/// Refuses links that a full frame passes in no time.
fn frames(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let wire = scenario.settings.full_frame() + scenario.settings.wire.frame_gap();
    let rounding = scenario.transport().rounding();
    for (link, place) in scenario.network.links.iter().zip(&places.links) {
        if link.rate.tx_time(wire, rounding) == Nanos(0) {
            return Err(place.error(format!(
                "the link from {} to {} runs at {}, where the {wire} bytes of a full packet take 0 ns; expected at least 1 ns, or wire.exact_rates = true",
                link.a, link.b, link.rate
            )));
        }
    }
    Ok(())
}

fn min_rate(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let wrong = lowest_rate(scenario.algorithm(), &LinkRates::of(&scenario.network));
    wrong.map_err(|conflict| places.min_rate.error(conflict.message))
}

fn ecn(scenario: &mut Scenario, places: &Places) -> Result<(), InputError> {
    let network = &scenario.network;
    let mut used: Vec<BitRate> = Vec::new();
    for (link, place) in network.links.iter().zip(&places.links) {
        if !at_switch(network, link) {
            continue;
        }
        let missing = scenario.settings.ecn_thresholds.as_ref().filter(|_| scenario.settings.switch.ecn);
        if missing.is_some_and(|list| list.iter().all(|entry| entry.rate != link.rate)) {
            let line = place.seen_from(&places.ecn.place).map_or_else(String::new, |line| format!(" ({line})"));
            return Err(places.ecn.error(format!(
                "no ECN thresholds for {}, the rate of the link from {} to {}{line}; expected an entry for each link rate",
                link.rate, link.a, link.b
            )));
        }
        used.push(link.rate);
    }
    used.sort_unstable();
    used.dedup();
    let thresholds = used.into_iter().map(|rate| scenario.settings.ecn_threshold(rate)).collect();
    scenario.settings.ecn_thresholds = Some(thresholds);
    Ok(())
}

/// Refuses a switch without room for the reserves of its ports, or for two packets: it would drop everything. To be
/// called once the priorities of flows are known.
pub(super) fn buffer(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let network = &scenario.network;
    let mut ports: Vec<Vec<(BitRate, Nanos)>> = vec![Vec::new(); network.nodes.len()];
    for link in &network.links {
        for node in [link.a, link.b] {
            ports[node as usize].push((link.rate, link.delay));
        }
    }
    for switch in network.switches() {
        let memory = scenario.settings.check_memory(switch, ports[switch as usize].iter().copied());
        memory.map_err(|wrong| {
            let blamed = if wrong.conflict.key == "buffer_groups" { &places.groups } else { &places.buffer };
            blamed.error(wrong.conflict.message)
        })?;
    }
    Ok(())
}
