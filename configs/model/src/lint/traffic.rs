// SPDX-License-Identifier: GPL-2.0-only
//! Flows that run, but not as one may think.

use super::Pass;
use crate::overbooked::overbooked as find_overbooked;
use crate::scenario::{DegradedLinks, Scenario};
use hpcc_core::cc::Reads;
use hpcc_core::pfc::DATA_PRIORITY;

/// A line for some of all flows, if there are some.
fn some(count: u64, scenario: &Scenario, what: &str) -> Vec<String> {
    let total = scenario.flows.totals.count;
    (count > 0).then(|| format!("{count} of {total} flows {what}")).into_iter().collect()
}

pub(super) fn no_flows(scenario: &Scenario, _: &Pass) -> Vec<String> {
    (scenario.flows.totals.count == 0 && scenario.flows.jobs.is_empty())
        .then(|| "there are no flows".to_owned())
        .into_iter()
        .collect()
}

pub(super) fn late_flows(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    some(pass.late, scenario, "start at or after the stop time and never run")
}

/// Attacks on nothing.
pub(super) fn idle_attacks(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    let late = scenario.attacks.iter().zip(1..).filter(|(attack, _)| attack.start >= scenario.stop);
    let late = late.map(|(_, number)| format!("attack {number} starts at or after the stop time"));
    let without = pass
        .attacks_without_flows()
        .map(|number| format!("attack {number} hits nobody: no victim sends a flow that it is about"));
    late.chain(without).collect()
}

/// Failures that change nothing.
pub(super) fn idle_failures(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let (network, stop) = (&scenario.network, scenario.stop);
    let link = |links: &[u32]| {
        let link = network.links[links[0] as usize];
        format!("the link from {} to {}", link.a, link.b)
    };
    let fails = scenario.link_failures.iter().map(|failure| (failure.time, link(&failure.links) + " fails"));
    let worse = scenario.degraded.iter().map(|degraded| (degraded.time, link(&degraded.links) + " becomes worse"));
    let storms = scenario.storms.iter().map(|storm| (storm.time, format!("the storm of host {} begins", storm.host)));
    let late = fails.chain(worse).chain(storms).filter(|&(time, _)| time >= stop);
    let late = late.map(|(time, what)| format!("{what} at {time}, and the run ends at {stop}: nothing comes of it"));
    let is_same = |degraded: &&DegradedLinks| {
        let mut links = degraded.links.iter();
        degraded.quality.bit_errors == 0.0
            && links.all(|&link| degraded.of(network, link) == network.links[link as usize])
    };
    let same = scenario.degraded.iter().filter(is_same);
    late.chain(same.map(|degraded| format!("{} has the same rate while it is degraded", link(&degraded.links))))
        .collect()
}

/// One queue for two kinds of transport, and one pair of thresholds.
pub(super) fn shared_class(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    let [tcp, rdma] = pass.in_class;
    let what = format!(
        "go by TCP and share priority {DATA_PRIORITY} with {rdma} of RDMA: its queues, and its thresholds of marks; another \
         traffic.priority for RDMA, with switch.classes and switch.class_ecn, keeps them apart"
    );
    some(if rdma > 0 { tcp } else { 0 }, scenario, &what)
}

/// Telemetry does not come back from legacy nodes.
pub(super) fn legacy_feedback(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    let (network, legacy) = (&scenario.network, &scenario.legacy.nodes);
    let (reads, name) = (scenario.settings.needs().reads, scenario.algorithm().name());
    if legacy.is_empty() || reads == Reads::Nothing {
        return Vec::new();
    }
    let falls = scenario.settings.feedback.config().decay_after > 0;
    let so = if falls { "they fall to its least rate" } else { "it does not control their rate" };
    let go = format!("of {name} go to legacy hosts, which send no telemetry back: {so}");
    let mut notes = some(pass.unanswered, scenario, &go);
    let from_switches = !matches!(reads, Reads::Nothing | Reads::SendTime);
    let all_hosts = network.hosts().all(|node| legacy.contains(&node));
    if from_switches && !all_hosts && network.switches().all(|node| legacy.contains(&node)) {
        notes
            .push(format!("all switches are legacy ones, which add no telemetry: it does not control flows of {name}"));
    }
    notes
}

/// `transport.ack_offset` is a byte: from there on the receiver answers.
pub(super) fn unacknowledged_ends(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    let transport = scenario.transport();
    let then = if transport.timeout.is_some() { "end after a timeout" } else { "never end without a timeout" };
    let offset = transport.ack_offset;
    let what = format!(
        "are shorter than transport.ack_offset, {offset} bytes: nothing acknowledges their last packet, and they {then}"
    );
    some(pass.silent, scenario, &what)
}

/// So many flows at a time that their least rates fill a link.
pub(super) fn least_rates(_: &Scenario, pass: &Pass) -> Vec<String> {
    pass.crowded.note().into_iter().collect()
}

/// Flows that may rest far below their share.
pub(super) fn starved_flows(_: &Scenario, pass: &Pass) -> Vec<String> {
    pass.starved.note().into_iter().collect()
}

/// A base round-trip time that no packet can keep.
pub(super) fn short_base_rtt(_: &Scenario, pass: &Pass) -> Vec<String> {
    pass.short_rtt.note().into_iter().collect()
}

/// Flows that no switch can tell of congestion.
pub(super) fn unheard_senders(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    pass.unheard.as_ref().map(|unheard| unheard.notes(scenario)).unwrap_or_default()
}

/// Random traffic that brings more than links carry.
pub(super) fn overbooked(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let found = find_overbooked(&scenario.network, &scenario.flows.offers);
    let note = |part: &crate::overbooked::Overbooked| {
        let what = if part.hosts == 1 { "receivers" } else { "the fabric" };
        format!("random traffic overbooks {what}: {part}")
    };
    found.iter().map(note).collect()
}

/// Paths that pass more switches than telemetry can report.
pub(super) fn long_paths(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    let paths = &pass.paths;
    let pass = |when: &str| {
        let room = paths.room.unwrap_or_default();
        let most = "the most that telemetry can report: HPCC does not control their rate";
        format!("pass more than {room} switches{when}, {most}")
    };
    let mut notes = some(paths.long, scenario, &pass(""));
    notes.extend(some(paths.detoured, scenario, &pass(" while links are down")));
    notes
}
