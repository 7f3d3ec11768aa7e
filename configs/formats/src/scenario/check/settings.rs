// SPDX-License-Identifier: GPL-2.0-only
//! Settings against the links that they must serve.

use super::{frames, qos};
use crate::error::InputError;
use crate::scenario::{Places, Scenario};
use hpcc_core::cc::Algorithm;
use hpcc_core::settings::Named;
use hpcc_core::switch::{BufferKind, SwitchSettings};
use hpcc_core::topology::routes::Routes;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Bytes};

/// Most bytes of headers and telemetry in a frame.
const FRAME_OVERHEAD: u32 = 48 + 128;
/// Bytes that a switch sets aside for each port.
const RESERVE_PER_PORT: u128 = 4096;

/// Refuses settings that the network's links contradict, and drops ECN thresholds that no port uses.
pub(in crate::scenario) fn settings(scenario: &mut Scenario, places: &Places) -> Result<(), InputError> {
    if scenario.stop.0 == 0 {
        return Err(places.stop.error("the stop time is 0; expected more"));
    }
    telemetry(scenario, places)?;
    counters(scenario, places)?;
    frames::frames(scenario, places)?;
    qos::report(scenario);
    min_rate(scenario, places)?;
    ecn(scenario, places)?;
    buffer(scenario, places)
}

/// Whether a switch has a port on this link.
fn at_switch(network: &Network, link: &Link) -> bool {
    [link.a, link.b].iter().any(|&node| network.nodes[node as usize] == NodeKind::Switch)
}

fn telemetry(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let Some(rates) = scenario.layout().rates() else { return Ok(()) };
    for (link, place) in scenario.network.links.iter().zip(&places.links) {
        if at_switch(&scenario.network, link) && !rates.contains(&link.rate) {
            let found = format!("the link from {} to {} runs at {}", link.a, link.b, link.rate);
            let known: Vec<String> = rates.iter().map(ToString::to_string).collect();
            let layout = scenario.layout().name().name();
            let expected = known.join(", ");
            return Err(place.error(format!(
                "{found}, which the {layout} telemetry layout cannot express; expected one of {expected}"
            )));
        }
    }
    Ok(())
}

/// Refuses telemetry whose counters may always wrap between two samples. Routes are searched only where samples are few.
fn counters(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let Scenario { settings, network, .. } = scenario;
    if settings.samples_often() {
        return Ok(());
    }
    let payload = u32::try_from(settings.transport.mtu.0).unwrap_or(u32::MAX);
    let routes = Routes::new(network, payload);
    settings.check_counters(routes.kinds()).map_err(|wrong| places.layout.error(wrong.conflict.message))
}

fn min_rate(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    lowest_rate(scenario.algorithm(), &scenario.network).map_err(|message| places.min_rate.error(message))
}

/// Refuses an algorithm whose lowest sending rate is none, or more than a host link has.
pub(crate) fn lowest_rate(algorithm: &dyn Algorithm, network: &Network) -> Result<(), String> {
    let Some(min_rate) = algorithm.min_rate() else { return Ok(()) };
    let at_host = |link: &&Link| [link.a, link.b].iter().any(|&n| network.nodes[n as usize] == NodeKind::Host);
    let Some(slowest) = network.links.iter().filter(at_host).map(|link| link.rate).min() else { return Ok(()) };
    if min_rate == BitRate(0) || min_rate > slowest {
        return Err(format!(
            "the lowest sending rate is {min_rate}; expected more than 0 and at most {slowest}, the slowest host link"
        ));
    }
    Ok(())
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

/// A queue that cannot hold two packets loses every other one.
fn lossy_buffer(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    let SwitchSettings { alpha, buffer: Bytes(bytes), .. } = scenario.settings.switch;
    let most = (bytes as f64 * (alpha / (1.0 + alpha))) as u64;
    let needed = 2 * (scenario.settings.transport.mtu.0 + u64::from(FRAME_OVERHEAD));
    if most < needed {
        return Err(places.buffer.error(format!(
            "of the buffer's {bytes} bytes one queue may hold {most}, less than two packets; expected {needed} or more"
        )));
    }
    Ok(())
}

/// Each port keeps room for what arrives after it asked its peer to pause. What is left is shared.
fn buffer(scenario: &Scenario, places: &Places) -> Result<(), InputError> {
    if scenario.settings.switch.mode == BufferKind::Lossy {
        return lossy_buffer(scenario, places);
    }
    let network = &scenario.network;
    let pause = scenario.settings.switch.pause();
    let mut needed = vec![0u128; network.nodes.len()];
    for link in &network.links {
        for node in [link.a, link.b] {
            needed[node as usize] += u128::from(pause.headroom(link.rate, link.delay)) + RESERVE_PER_PORT;
        }
    }
    for switch in network.switches() {
        let needed = needed[switch as usize];
        if needed > u128::from(scenario.settings.switch.buffer.0) {
            return Err(places.buffer.error(format!(
                "the buffer has {} bytes, but the headroom and reserve of switch {switch}'s ports take {needed}; \
                 expected at least that much",
                scenario.settings.switch.buffer.0
            )));
        }
    }
    Ok(())
}
