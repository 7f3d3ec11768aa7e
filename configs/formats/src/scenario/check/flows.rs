// SPDX-License-Identifier: GPL-2.0-only
//! Flows: can each of them be sent, and can it arrive?

use super::attacked::Attacked;
use super::bordered::Bordered;
use super::control::Controlled;
use super::crowded::Crowded;
use super::cut_off::CutOff;
use super::feedback::Feedback;
use super::priorities::InUse;
use super::silent::Silent;
use super::traces::Traces;
use super::{memory, overbooked, oversubscribed, protocol, qos};
use crate::error::InputError;
use crate::flow::Flow;
use crate::flows::{FlowList, FlowTotals, Traffic};
use crate::scenario::{Places, QueueHistogram, Scenario};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::{QueuePairs, Recovery};
use std::collections::{BTreeSet, HashSet};

/// Refuses the first flow, in input order, that could never complete, and adds notes about those that would
/// never be seen or never be controlled.
pub(in crate::scenario) fn flows(
    scenario: &mut Scenario,
    traffic: Vec<Traffic>,
    places: &Places,
) -> Result<FlowList, InputError> {
    let reach = Reach::new(&scenario.network);
    let (mut controlled, mut cut_off) = (Controlled::new(scenario), CutOff::new(scenario));
    let mut totals = FlowTotals::default();
    let mut priorities = InUse::new(scenario);
    let (mut attacked, mut feedback) = (Attacked::new(scenario), Feedback::new(scenario));
    let (mut bordered, mut silent) = (Bordered::new(scenario), Silent::new(scenario));
    let mut crowded = Crowded::new(scenario);
    let mut traces = Traces::new(scenario);
    let mut late = 0;
    for Traffic { group, source, .. } in &traffic {
        for placed in source.walk() {
            let (flow, place) = placed?;
            let refuse = |(keys, message): Wrong| source.error(&place, keys, message);
            flow_alone(&flow, scenario).map_err(refuse)?;
            priorities.see(&flow).map_err(|message| refuse((PRIORITY, message)))?;
            if !reach.connects(flow.src, flow.dst) {
                let message = format!(
                    "no path connects host {} with host {}; expected hosts that links connect",
                    flow.src, flow.dst
                );
                return Err(refuse((DESTINATION, message)));
            }
            if let Some(since) = cut_off.for_good(&flow, &scenario.network) {
                let message = format!(
                    "the flow begins at {}, and from {since} to the end of the run failed links leave no way from host {} to host \
                     {}; expected an earlier start, or until in failures.links",
                    flow.start, flow.src, flow.dst
                );
                return Err(refuse((START, message)));
            }
            totals.add(&flow);
            sequence_numbers(&totals, scenario).map_err(|message| refuse((SIZE, message)))?;
            late += u64::from(flow.start >= scenario.stop);
            controlled.see(&flow, scenario, places)?;
            attacked.see(group, &flow);
            feedback.see(&flow);
            bordered.see(&flow);
            silent.see(&flow);
            crowded.see(&flow);
            traces.see(scenario, &flow);
        }
    }
    scenario.notes.extend(traffic.iter().filter_map(|traffic| traffic.source.note()));
    priorities.settle(scenario);
    attacked.settle(scenario, &traffic, places)?;
    note_idle_flows(scenario, late, totals.count);
    note_unwritten_histogram(scenario);
    let unanswered = feedback.notes(scenario, totals.count);
    scenario.notes.extend(unanswered);
    scenario.notes.extend(bordered.note());
    scenario.notes.extend(silent.note(totals.count));
    scenario.notes.extend(crowded.note());
    controlled.settle(scenario, totals.count, places)?;
    let traced = traces.notes(scenario);
    scenario.notes.extend(traced);
    let overbooked = overbooked::find(&scenario.network, &traffic);
    scenario.notes.extend(overbooked.map(|host| format!("random traffic overbooks receivers: {host}")));
    let oversubscribed = oversubscribed::find(&scenario.network, &traffic);
    scenario.notes.extend(oversubscribed.map(|part| format!("random traffic overbooks the fabric: {part}")));
    let mut flows = FlowList::new(traffic, totals);
    (flows.overbooked, flows.oversubscribed) = (overbooked, oversubscribed);
    memory::flows(scenario, &flows)?;
    Ok(flows)
}

/// What is wrong with a flow, and the keys that may have said so, of which a section has one.
pub(super) type Wrong = (&'static [&'static str], String);

const SOURCE: &[&str] = &["src", "senders", "sender_count", "kind"];
const DESTINATION: &[&str] = &["dst", "receiver", "kind"];
const START: &[&str] = &["start", "kind"];
const SIZE: &[&str] = &["size", "sizes"];
pub(super) const PRIORITY: &[&str] = &["priority"];

fn flow_alone(flow: &Flow, scenario: &Scenario) -> Result<(), Wrong> {
    for (keys, role, node) in [(SOURCE, "source", flow.src), (DESTINATION, "destination", flow.dst)] {
        host(&scenario.network, node).map_err(|why| (keys, format!("the flow's {role} is {why}")))?;
    }
    if flow.src == flow.dst {
        let message = format!("source and destination of the flow are the same host, {}; expected two", flow.src);
        return Err((SOURCE, message));
    }
    if flow.size == 0 {
        return Err((SIZE, "the flow's size is 0; expected at least 1 byte".into()));
    }
    let least = if scenario.quirks().data_in_queue_0 { 0 } else { 1 };
    if !(least..=7).contains(&flow.priority) {
        let message = format!(
            "the flow's priority is {}; expected {least} to 7 (0 is the switches' own queue for control frames)",
            flow.priority
        );
        return Err((PRIORITY, message));
    }
    protocol::flow(flow, scenario)?;
    qos::guarantee(flow, scenario).map_err(|message| (PRIORITY, message))?;
    chunks(flow, scenario).map_err(|message| (SIZE, message))
}

/// Going back to the start of a chunk never ends one that is not full.
fn chunks(flow: &Flow, scenario: &Scenario) -> Result<(), String> {
    let chunk = scenario.settings.transport.chunk.0;
    if scenario.settings.transport.recovery == Recovery::GoBackZero && !flow.size.is_multiple_of(chunk) {
        return Err(format!(
            "the flow's size is {} bytes, which it would never complete with transport.recovery = \"go_back_zero\"; expected a \
             multiple of {chunk}, which is transport.chunk",
            flow.size
        ));
    }
    Ok(())
}

/// Bytes for which queue pairs that flows share have sequence numbers, whole packets included.
const MOST_SHARED_BYTES: u64 = 1 << 62;

/// Messages of one queue pair have their sequence numbers one behind the other, each from a whole packet on. They must suffice
/// even if all flows so far share a queue pair.
fn sequence_numbers(totals: &FlowTotals, scenario: &Scenario) -> Result<(), String> {
    let transport = &scenario.settings.transport;
    let rounding = totals.count.saturating_mul(transport.mtu.0);
    if transport.queue_pairs == QueuePairs::PerPair && totals.bytes.saturating_add(rounding) > MOST_SHARED_BYTES {
        return Err(format!(
            "with this flow there are {} bytes; expected at most {MOST_SHARED_BYTES} in all, for which queue_pairs = \"per_pair\" has \
             sequence numbers",
            totals.bytes
        ));
    }
    Ok(())
}

/// Checks that a node exists and is a host; otherwise says what it is instead.
pub(crate) fn host(network: &Network, node: u32) -> Result<(), String> {
    match network.nodes.get(node as usize) {
        Some(NodeKind::Host) => Ok(()),
        Some(NodeKind::Switch) => Err(format!("node {node}, a switch; expected a host")),
        None => Err(match network.nodes.len() {
            0 => format!("node {node}, but there are no nodes; expected a host"),
            count => format!("node {node}, but there are only nodes 0 to {}; expected a host", count - 1),
        }),
    }
}

/// Adds a note if flows would never be seen.
fn note_idle_flows(scenario: &mut Scenario, late: u64, total: u64) {
    if total == 0 {
        scenario.notes.push("there are no flows".into());
    }
    if late > 0 {
        scenario.notes.push(format!("{late} of {total} flows start at or after the stop time and never run"));
    }
    let (attacks, stop) = (&scenario.attacks, scenario.stop);
    let idle = attacks.iter().filter(|attack| attack.start >= stop).count();
    if idle > 0 {
        let note = format!("{idle} of {} attacks start at or after the stop time and never run", attacks.len());
        scenario.notes.push(note);
    }
}

/// Samples of the reference's histogram that nobody sees.
fn note_unwritten_histogram(scenario: &mut Scenario) {
    let Some(QueueHistogram { start, end }) = scenario.monitor.queue_histogram else { return };
    let end = end.min(scenario.stop);
    let last_written = end.0 / QueueHistogram::PRINT_INTERVAL.0 * QueueHistogram::PRINT_INTERVAL.0;
    if end > start && last_written <= start.0 {
        scenario.notes.push(format!(
            "the queue histogram from {start} to {end} stays empty: it is written at multiples of {} only",
            QueueHistogram::PRINT_INTERVAL
        ));
    }
}

/// Which hosts can reach each other. Only switches forward, so a path is a direct cable or leads through
/// one connected group of switches.
pub(super) struct Reach {
    /// Groups of switches that each host is cabled to.
    groups: Vec<Vec<usize>>,
    cables: HashSet<(u32, u32)>,
}

impl Reach {
    fn new(network: &Network) -> Reach {
        Reach::without(network, &BTreeSet::new())
    }

    /// Without the links that are down.
    pub fn without(network: &Network, down: &BTreeSet<u32>) -> Reach {
        let links = || (0..).zip(&network.links).filter(|(number, _)| !down.contains(number)).map(|(_, link)| link);
        let is_switch = |node: u32| network.nodes[node as usize] == NodeKind::Switch;
        let mut parent: Vec<usize> = (0..network.nodes.len()).collect();
        for link in links().filter(|link| is_switch(link.a) && is_switch(link.b)) {
            let (a, b) = (root(&mut parent, link.a as usize), root(&mut parent, link.b as usize));
            parent[a] = b;
        }
        let mut reach = Reach { groups: vec![Vec::new(); network.nodes.len()], cables: HashSet::new() };
        for link in links() {
            match (is_switch(link.a), is_switch(link.b)) {
                (false, true) => reach.groups[link.a as usize].push(root(&mut parent, link.b as usize)),
                (true, false) => reach.groups[link.b as usize].push(root(&mut parent, link.a as usize)),
                (false, false) => reach.cables.extend([(link.a, link.b), (link.b, link.a)]),
                (true, true) => {}
            }
        }
        reach
    }

    pub fn connects(&self, a: u32, b: u32) -> bool {
        let groups = &self.groups[b as usize];
        self.groups[a as usize].iter().any(|group| groups.contains(group)) || self.cables.contains(&(a, b))
    }
}

/// The representative of a node's group, shortening the path to it on the way.
fn root(parent: &mut [usize], node: usize) -> usize {
    let mut at = node;
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}
