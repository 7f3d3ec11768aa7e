// SPDX-License-Identifier: GPL-2.0-only
//! Flows: can each of them be sent, and can it arrive?

use super::control::Controlled;
use super::leaving;
use super::memory;
use super::priorities::InUse;
use super::sums;
use crate::draft::Places;
use crate::error::InputError;
use crate::flow::Flow;
use crate::flows::{FlowList, FlowSource, FlowTotals, Traffic};
use crate::lint::Pass;
use crate::scenario::{Scenario, host};
use hpcc_core::engine::{ENDLESS, FlowOptions};
use hpcc_core::host_transport::HostTransportSettings;
use hpcc_core::pfc::DATA_PRIORITY;
use hpcc_core::settings::Named;
use hpcc_core::switch::Scope;
use hpcc_core::topology::routes::Routes;
use hpcc_core::transport::{Protocol, QueuePairs, Recovery};
use hpcc_core::workload::Servers;
use std::sync::Arc;

/// Refuses the first flow, in input order, that could never complete, and settles for which priorities switches keep
/// memory. Returns facts of the flows for lints as well.
pub(super) fn flows(
    scenario: &mut Scenario,
    mut traffic: Vec<Traffic>,
    routes: &Routes,
    places: &Places,
) -> Result<(FlowList, Pass), InputError> {
    let mut controlled = Controlled::default();
    let mut totals = FlowTotals::default();
    let mut priorities = InUse::new(scenario);
    let mut pass = Pass::new(scenario);
    let mut links = leaving::OfFlows::new(scenario);
    for Traffic { group, source, .. } in &traffic {
        for placed in source.walk() {
            let (flow, place) = placed?;
            let refuse = |(keys, message): Wrong| source.error(&place, keys, message);
            flow_alone(&flow, scenario).map_err(refuse)?;
            priorities.see(&flow).map_err(|message| refuse((PRIORITY, message)))?;
            let Some(path) = routes.links(flow.src, flow.dst) else {
                return Err(refuse((DESTINATION, no_path(&flow))));
            };
            nic(&flow, routes).map_err(|message| refuse((&["nic"], message)))?;
            links.see(&flow, routes);
            totals.add(&flow);
            sums::flows(&totals).map_err(|message| refuse((SIZE, message)))?;
            sequence_numbers(&totals, scenario).map_err(|message| refuse((SIZE, message)))?;
            let too_many = pass.see(group, &flow, &path);
            controlled.see(&flow, too_many, routes, scenario, places)?;
        }
    }
    for Traffic { group, source, .. } in &traffic {
        sums::job(source)?;
        for placed in source.samples(scenario.servers) {
            let (flow, place) = placed?;
            let refuse = |(keys, message): Wrong| source.error(&place, keys, message);
            flow_alone(&flow, scenario).map_err(refuse)?;
            priorities.see(&flow).map_err(|message| refuse((PRIORITY, message)))?;
            let links = routes.links(flow.src, flow.dst);
            let links = links.ok_or_else(|| refuse((RANKS, no_path(&flow) + by_rails(scenario.servers))))?;
            if scenario.protocol(flow.src).is_of_stack() {
                return Err(refuse((RANKS, format!("host {} has TCP, and messages of jobs go by RDMA", flow.src))));
            }
            let too_many = pass.see(group, &flow, &links);
            controlled.see(&flow, too_many, routes, scenario, places)?;
        }
    }
    scenario.notes.extend(links.note());
    for Traffic { group, source, .. } in &mut traffic {
        if let FlowSource::Job { job, .. } = source {
            leaving::settle(Arc::make_mut(job), group, routes, scenario);
        }
    }
    scenario.notes.extend(traffic.iter().flat_map(|traffic| traffic.source.notes()));
    priorities.settle(scenario);
    controlled.settle(routes, scenario, places)?;
    let flows = FlowList::new(traffic, totals);
    memory::flows(scenario, &flows)?;
    watched(scenario, totals.count, places)?;
    Ok((flows, pass))
}

/// Refuses the number of a flow to watch that the scenario does not have.
fn watched(scenario: &Scenario, count: u64, places: &Places) -> Result<(), InputError> {
    match scenario.monitor.control_flows.iter().find(|&&flow| u64::from(flow) >= count) {
        None => Ok(()),
        Some(flow) => Err(places.control_flows.error(format!(
            "control_flows names flow {flow}, but there are {count}; expected their numbers, from 0 in the order of their start"
        ))),
    }
}

/// The fault of a flow, and the keys that may have caused it, of which a section has one.
type Wrong = (&'static [&'static str], String);

fn no_path(flow: &Flow) -> String {
    format!(
        "no path connects host {} with host {}; expected hosts that links connect, or a switch beside each that shall forward",
        flow.src, flow.dst
    )
}

/// What else joins the hosts of servers.
fn by_rails(servers: Option<Servers>) -> &'static str {
    let is_off = servers.is_some_and(|servers| !servers.pxn);
    if is_off { ", or servers.pxn = true, by which messages change their rail inside a server" } else { "" }
}

const RANKS: &[&str] = &["ranks", "kind"];
const SOURCE: &[&str] = &["src", "senders", "sender_count", "kind"];
const DESTINATION: &[&str] = &["dst", "receiver", "kind"];
const SIZE: &[&str] = &["size", "sizes"];
const PRIORITY: &[&str] = &["priority"];

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
    let least = if scenario.faults().data_in_queue_0 { 0 } else { 1 };
    if !(least..=7).contains(&flow.priority) {
        let message = format!(
            "the flow's priority is {}; expected {least} to 7 (0 is the switches' own queue for control frames)",
            flow.priority
        );
        return Err((PRIORITY, message));
    }
    if flow.options.stop <= flow.start {
        let message =
            format!("the flow stops at {}, and starts at {}; expected a later time", flow.options.stop, flow.start);
        return Err((&["stop"], message));
    }
    let kind = scenario.settings.host_transport.chosen().name();
    if flow.is_own() && kind != HostTransportSettings::default().chosen().name() {
        let message = format!("a flow of transport.kind = \"{kind}\" has an end, and no nic, rate or stop of its own");
        return Err((&["nic", "rate", "stop", "size"], message + "; expected none"));
    }
    of_stack(flow, scenario)?;
    guarantee(flow, scenario).map_err(|message| (PRIORITY, message))?;
    chunks(flow, scenario).map_err(|message| (SIZE, message))
}

/// Refuses a link that does not lead to a flow's destination.
fn nic(flow: &Flow, routes: &Routes) -> Result<(), String> {
    let Some(nic) = flow.options.nic else { return Ok(()) };
    let table = routes.table(flow.src);
    let known = table.next_hops(flow.dst);
    if known.contains(&nic.into()) {
        return Ok(());
    }
    let known: Vec<String> = known.iter().map(u16::to_string).collect();
    Err(format!(
        "the flow is to leave host {} by its link {nic}; expected one that is on a shortest path to host {}: {}",
        flow.src,
        flow.dst,
        known.join(" or ")
    ))
}

/// Refuses a flow that hosts with ns-3's stack cannot send as it asks.
fn of_stack(flow: &Flow, scenario: &Scenario) -> Result<(), Wrong> {
    let (from, to) = (scenario.protocol(flow.src), scenario.protocol(flow.dst));
    if from != to {
        let name = |protocol: Protocol| protocol.name().to_uppercase();
        let message = format!(
            "host {} sends by {} to host {}, which has {}; expected hosts with the same",
            flow.src,
            name(from),
            flow.dst,
            name(to)
        );
        return Err((DESTINATION, message));
    }
    match from {
        Protocol::Tcp | Protocol::Udp if flow.is_own() => {
            let message = "a flow of TCP or UDP has an end, and no nic, rate or stop of its own; expected none";
            Err((&["nic", "rate", "stop", "size"], message.into()))
        }
        Protocol::Tcp | Protocol::Udp if flow.priority != DATA_PRIORITY => {
            let expected = format!("expected {DATA_PRIORITY}, in which TCP and UDP hosts send all packets");
            Err((PRIORITY, format!("the flow's priority is {}; {expected}", flow.priority)))
        }
        Protocol::Tcp | Protocol::Udp if flow.dport == 0 => {
            Err((&["dport"], "the flow's dport is 0; expected 1 to 65535 with TCP and UDP".into()))
        }
        Protocol::Rdma | Protocol::Tcp | Protocol::Udp => Ok(()),
    }
}

/// Refuses a flow that would be measured against the share of a class that is sure of none (REQ-29).
fn guarantee(flow: &Flow, scenario: &Scenario) -> Result<(), String> {
    let switch = &scenario.settings.switch;
    if switch.telemetry_scope == Scope::Port || scenario.legacy.nodes.contains(&flow.src) {
        return Ok(());
    }
    let classes = switch.classes.filter(|_| scenario.layout().max_hops().is_some());
    if classes.is_none_or(|classes| classes.has_guaranteed_share(flow.priority)) {
        return Ok(());
    }
    Err(format!(
        "priority {} of the flow is sure of nothing, and telemetry_scope = \"queue\" tells of a class's share; expected a \
         class with a quantum, or the first strict one",
        flow.priority
    ))
}

/// Going back to the start of a chunk never ends one that is not full.
fn chunks(flow: &Flow, scenario: &Scenario) -> Result<(), String> {
    let chunk = scenario.settings.transport.chunk.0;
    let may_stop = flow.size == ENDLESS || flow.options.stop != FlowOptions::NONE.stop;
    if scenario.settings.transport.recovery == Recovery::GoBackZero && may_stop {
        return Err(
            "the flow stops anywhere, and transport.recovery = \"go_back_zero\" completes whole chunks only".into()
        );
    }
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
