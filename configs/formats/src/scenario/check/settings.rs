// SPDX-License-Identifier: GPL-2.0-only
//! Settings against the links that they must serve.

use super::{frames, qos};
use crate::error::InputError;
use crate::scenario::{Places, Scenario};
use hpcc_core::cc::Reads;
use hpcc_core::node::{LinkRates, NodeSettings, lowest_rate};
use hpcc_core::settings::Named;
use hpcc_core::switch::BufferKind;
use hpcc_core::telemetry::LayoutName;
use hpcc_core::topology::routes::Routes;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};

/// Refuses settings that the network's links contradict, and drops ECN thresholds that no port uses.
pub(in crate::scenario) fn settings(scenario: &mut Scenario, places: &Places) -> Result<(), InputError> {
    if scenario.stop.0 == 0 {
        return Err(places.stop.error("the stop time is 0; expected more"));
    }
    telemetry(scenario, places)?;
    sampling(scenario, places)?;
    patience(scenario, places)?;
    frames::frames(scenario, places)?;
    qos::report(scenario);
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
    Ok(())
}

/// Refuses telemetry whose counters may always wrap between two samples, and probes that would fill a link, and adds a note if
/// flows look for other paths where there are none. Routes are searched only where one of these could be.
fn sampling(scenario: &mut Scenario, places: &Places) -> Result<(), InputError> {
    let Scenario { settings, network, notes, .. } = scenario;
    let mover = mover(settings);
    if settings.samples_often() && !settings.sends_probes() && mover.is_none() {
        return Ok(());
    }
    let payload = u32::try_from(settings.transport.mtu.0).unwrap_or(u32::MAX);
    let routes = Routes::new(network, payload);
    settings.check_counters(routes.kinds()).map_err(|wrong| places.layout.error(wrong.conflict.message))?;
    settings.check_probes(routes.kinds()).map_err(|wrong| places.base_rtt.error(wrong.conflict.message))?;
    if let Some(key) = mover.filter(|_| !has_choice(network, &routes)) {
        notes.push(format!(
            "no switch has several shortest ways to a host, so that {key} gives flows nothing to choose from"
        ));
    }
    Ok(())
}

/// The key by which flows take other paths, if they do.
fn mover(settings: &NodeSettings) -> Option<&'static str> {
    let fast_cnp = &settings.fast_cnp_host;
    if settings.feedback.paths > 1 {
        Some("telemetry.paths")
    } else {
        (fast_cnp.common.enabled && fast_cnp.migrate).then_some("fast_cnp.migrate")
    }
}

/// Whether a switch may send frames to a host by one of several ports.
fn has_choice(network: &Network, routes: &Routes) -> bool {
    network.switches().any(|switch| {
        let table = routes.table(switch);
        network.hosts().any(|host| table.next_hops(host).len() > 1)
    })
}

/// Refuses a TCP that gives up before an answer can come. Routes are searched only where that could be on the longest one that
/// there can be.
fn patience(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let Scenario { settings, network, .. } = scenario;
    let slowest = network.links.iter().map(|link| link.delay).max().unwrap_or_default();
    if !settings.may_give_up(slowest, network.switches().count() as u64 + 1) {
        return Ok(());
    }
    let payload = u32::try_from(settings.transport.mtu.0).unwrap_or(u32::MAX);
    let routes = Routes::new(network, payload);
    let wrong = settings.check_patience(routes.kinds().map(|(path, _)| path));
    wrong.map_err(|wrong| places.tcp_timeout.error(wrong.conflict.message))
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

/// Adds a note if what switches drop may stay lost.
pub(in crate::scenario) fn note_losses(scenario: &mut Scenario) {
    if scenario.settings.switch.mode == BufferKind::Lossy && scenario.transport().timeout.is_none() {
        scenario.notes.push("switches drop packets, and without a timeout a flow may never finish".into());
    }
}

/// Adds a note if flows may change their path and the records that they go by do not tell.
pub(in crate::scenario) fn note_paths(scenario: &mut Scenario) {
    let layout = scenario.layout().name();
    let fast_cnp = &scenario.settings.fast_cnp_host;
    let why = if !scenario.link_failures.is_empty() {
        "links fail"
    } else if fast_cnp.common.enabled && fast_cnp.migrate {
        "flows move to other paths (fast_cnp.migrate)"
    } else {
        return;
    };
    if scenario.settings.needs().reads != Reads::Records || layout.tells_paths() {
        return;
    }
    let able: Vec<&str> = LayoutName::with_records().filter(|name| name.tells_paths()).map(Named::name).collect();
    scenario.notes.push(format!(
        "{why}, and records of layout = \"{}\" do not say which path they are of: a flow then compares those of different links, \
         and may fall to its lowest rate. Expected layout = {}",
        layout.name(),
        able.join(" or ")
    ));
}

/// Refuses a switch without room for what its ports keep, or for two packets: it could do nothing but drop. Once the priorities of
/// flows are known.
pub(in crate::scenario) fn buffer(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
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
            let far = too_far(scenario, switch, places).unwrap_or_default();
            places.buffer.error(wrong.conflict.message + &far)
        })?;
    }
    Ok(())
}

/// What to add to the error of a buffer if the delay of one link alone is too long for it: then it is rather that which is wrong.
fn too_far(scenario: &Scenario, switch: u32, places: &Places) -> Option<String> {
    let fits = |link: &Link, delay| scenario.settings.check_memory(switch, std::iter::once((link.rate, delay))).is_ok();
    let mut links = scenario.network.links.iter().zip(&places.links);
    let (link, place) = links.find(|(link, _)| {
        let is_own = link.a == switch || link.b == switch;
        is_own && fits(link, Nanos(0)) && !fits(link, link.delay)
    })?;
    let line = place.seen_from(&places.buffer.place).map_or_else(String::new, |line| format!(" ({line})"));
    Some(format!(
        "; the link from {} to {}{line} alone takes more than the buffer, with its delay of {}",
        link.a, link.b, link.delay
    ))
}
