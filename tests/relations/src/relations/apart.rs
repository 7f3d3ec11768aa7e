// SPDX-License-Identifier: GPL-2.0-only
//! What shares nothing changes nothing.

use super::{Broken, Context, Second, Verdict, verdict};
use crate::document::Document;
use crate::draw::Draw;
use crate::keys::Scope;
use crate::run::{NoRun, Results};
use hpcc_core::topology::Network;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Names of traffic that is not looked at begin with this.
const OTHER: &str = "other";

/// Hosts by the switch of their first link.
fn racks(network: &Network) -> Vec<Vec<u32>> {
    let ports = network.ports();
    let leaf = |host: u32| ports[host as usize].first().map(|port| port.peer);
    let leaves: BTreeSet<Option<u32>> = network.hosts().map(leaf).collect();
    leaves.into_iter().map(|of| network.hosts().filter(|&host| leaf(host) == of).collect()).collect()
}

/// Traffic in some racks, and other traffic and events in others.
pub(super) fn draw(mut draw: Draw<'_>) -> Document {
    let mut racks = racks(&draw.network);
    draw.rng.shuffle(&mut racks);
    let others = racks.split_off(1 + draw.rng.below(racks.len() as u64 / 2 + 1) as usize);
    let ports = draw.network.ports();
    let near = |hosts: &[u32]| -> BTreeSet<u32> {
        let leaves = hosts.iter().flat_map(|&node| ports[node as usize].iter().map(|port| port.peer));
        leaves.chain(hosts.iter().copied()).collect()
    };
    let scope = |network: &Network, racks: Vec<Vec<u32>>, foreign: &BTreeSet<u32>| {
        let mut hosts = racks.concat();
        hosts.sort_unstable();
        let is_foreign = |node: u32| foreign.contains(&node);
        let links = network.links.iter().filter(|link| !is_foreign(link.a) && !is_foreign(link.b));
        let links = links.map(|link| (link.a, link.b)).collect();
        Scope::of(network, hosts, links)
    };
    let ours = near(&racks.concat());
    let (ours, others) = (scope(&draw.network, racks, &BTreeSet::new()), scope(&draw.network, others, &ours));
    draw.settings();
    if ours.hosts.len() < 2 || others.hosts.len() < 2 {
        // Repaired into a scenario that the relation is not about.
        return draw.document;
    }
    for place in 0..1 + draw.rng.below(3) {
        let mut section = draw.traffic(&ours);
        section.insert("name".into(), format!("own{place}").into());
        draw.document.push("traffic", section);
    }
    if draw.rng.chance(40) && !others.links.is_empty() {
        draw.failures(&others);
    }
    for place in 0..1 + draw.rng.below(2) {
        let mut section = draw.traffic(&others);
        section.insert("name".into(), format!("{OTHER}{place}").into());
        // Behind ours: what random sections draw may depend on their places, which is a relation of its own.
        draw.document.push("traffic", section);
    }
    draw.document
}

fn is_other(section: &Table) -> bool {
    section.get("name").and_then(Value::as_str).is_some_and(|name| name.starts_with(OTHER))
}

pub(super) fn apart(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return Verdict::Idle };
    let has_both = document.list("traffic").any(is_other) || document.0.contains_key("failures");
    if !has_both || document.list("traffic").all(is_other) || document.0.contains_key("attack") {
        return Verdict::Idle;
    }
    let mut own = document.clone();
    own.retain("traffic", |section| !is_other(section));
    own.0.remove("failures");
    own.0.remove("servers");
    let mut other = document.clone();
    other.retain("traffic", is_other);
    let Ok(alone) = context.bench.run(&own) else { return Verdict::Idle };
    let mut foreign = touched(document, &scenario.network);
    if document.list("traffic").any(is_other) {
        let Ok(others) = context.bench.run(&other) else { return Verdict::Idle };
        foreign.extend(used(&others, &scenario.network));
    }
    if used(&alone, &scenario.network).iter().any(|node| foreign.contains(node)) {
        return Verdict::Idle;
    }
    let both = match context.bench.run(document) {
        Ok(both) => both,
        Err(NoRun::NotSo | NoRun::Refused(_)) => return Verdict::Idle,
    };
    // Where links fail, flows change paths, and records have to tell these apart: the layout is the network's, and is told.
    if ["layout", "hops"]
        .iter()
        .any(|key| alone.told["scenario"]["telemetry"][key] != both.told["scenario"]["telemetry"][key])
    {
        return Verdict::Idle;
    }
    let groups: Vec<&str> = alone.summary.groups.iter().map(String::as_str).collect();
    let why = ["fct.csv", "unfinished.csv", "endless.csv"].iter().find_map(|name| {
        let (a, b) = (flows(&alone, name, &groups), flows(&both, name, &groups));
        let mut pairs = a.iter().zip(&b);
        let differ = pairs.find(|(a, b)| a != b).map(|(a, b)| format!("{name}: {a}; {b}"));
        differ.or_else(|| (a.len() != b.len()).then(|| format!("{name}: {} and {} rows", a.len(), b.len())))
    });
    verdict(why, || Second::File(own.text()))
}

/// The ends of links that fail, switches that reboot and their neighbours, and hosts that pause.
fn touched(document: &Document, network: &Network) -> BTreeSet<u32> {
    let mut nodes = BTreeSet::new();
    for list in ["links", "degraded", "storms", "reboots"] {
        let events = document.get("failures", list).and_then(Value::as_array);
        for event in events.into_iter().flatten() {
            let ends = ["a", "b", "host", "switch"].iter().filter_map(|key| event.get(key)?.as_integer());
            nodes.extend(ends.filter_map(|node| u32::try_from(node).ok()));
        }
    }
    let ports = network.ports();
    let reboots = document.get("failures", "reboots").and_then(Value::as_array).into_iter().flatten();
    let reboots = reboots.filter_map(|reboot| u32::try_from(reboot.get("switch")?.as_integer()?).ok());
    let all: Vec<u32> = nodes.iter().copied().filter(|&node| network.is_host(node)).chain(reboots).collect();
    nodes.extend(all.iter().flat_map(|&node| ports[node as usize].iter().map(|port| port.peer)));
    nodes
}

/// Nodes that carried something.
fn used(results: &Results, network: &Network) -> BTreeSet<u32> {
    let mut nodes = BTreeSet::new();
    for row in results.rows("ports.csv") {
        if Results::number(&row, "sent_bytes") > 0 {
            nodes.extend(["node", "peer"].map(|key| Results::number(&row, key) as u32));
        }
    }
    for name in ["fct.csv", "unfinished.csv", "endless.csv"] {
        for row in results.rows(name) {
            nodes.extend(["src", "dst"].map(|key| Results::number(&row, key) as u32));
        }
    }
    let ports = network.ports();
    let hosts: Vec<u32> = nodes.iter().copied().filter(|&node| network.is_host(node)).collect();
    nodes.extend(hosts.iter().flat_map(|&node| ports[node as usize].iter().map(|port| port.peer)));
    nodes
}

/// Flows of our sections with all that is known of them but their numbers.
fn flows(results: &Results, name: &str, groups: &[&str]) -> Vec<String> {
    let names = &results.summary.groups;
    let is_ours = |row: &std::collections::BTreeMap<&str, &str>| {
        let group = names.get(Results::number(row, "group") as usize).map_or("", String::as_str);
        groups.contains(&group).then_some(group.to_owned())
    };
    let line = |row: std::collections::BTreeMap<&str, &str>| {
        let group = is_ours(&row)?;
        let cells = row.iter().filter(|(column, _)| !["flow", "group"].contains(column));
        Some(cells.map(|(column, text)| format!("{column} {text}")).chain([group]).collect::<Vec<_>>().join(", "))
    };
    let mut lines: Vec<String> = results.rows(name).into_iter().filter_map(line).collect();
    lines.sort();
    lines
}

/// Traffic with names, of which some is random.
pub(super) fn draw_random(mut draw: Draw<'_>) -> Document {
    let scope = draw.scope();
    for place in 0..2 + draw.rng.below(3) {
        let mut section = draw.traffic(&scope);
        let name = if place == 0 { OTHER.to_owned() } else { format!("own{place}") };
        section.insert("name".into(), name.into());
        draw.document.push("traffic", section);
    }
    draw.document
}

pub(super) fn front(document: &Document, _: &Context<'_>) -> Verdict {
    let mut own = document.clone();
    own.retain("traffic", |section| !is_other(section));
    let listed = |document: &Document| -> Option<Vec<String>> {
        let scenario = hpcc_formats::load_text(crate::draw::place(), &document.text()).ok()?;
        let names = &scenario.flows.groups;
        let mut lines = Vec::new();
        for flow in scenario.flows.walk_groups() {
            let (group, flow) = flow.ok()?;
            let name = names.get(group as usize)?;
            if !name.starts_with(OTHER) {
                lines.push(format!("{name}: {flow:?}"));
            }
        }
        lines.sort();
        let ranks = scenario.flows.jobs.iter().map(|job| (&names[job.group as usize], format!("{:?}", job.hosts)));
        lines
            .extend(ranks.filter(|(name, _)| !name.starts_with(OTHER)).map(|(name, hosts)| format!("{name}: {hosts}")));
        Some(lines)
    };
    if own.list("traffic").next().is_none() || own == *document {
        return Verdict::Idle;
    }
    let (Some(a), Some(b)) = (listed(&own), listed(document)) else { return Verdict::Idle };
    let mut pairs = a.iter().zip(&b);
    let why = pairs.find(|(a, b)| a != b).map(|(a, b)| format!("{a}; {b}"));
    let why = why.or_else(|| (a.len() != b.len()).then(|| format!("{} and {} flows", a.len(), b.len())));
    match why {
        Some(why) => Verdict::Broken(Broken { why, second: Second::Listed(own.text()) }),
        None => Verdict::Holds,
    }
}
