// SPDX-License-Identifier: GPL-2.0-only
//! By which links of hosts with several the messages of a job leave. The rule: routes say which links lead to a destination; of those
//! a job's message takes all, a part by each, unless `traffic.links` says otherwise; a listed flow takes its `nic`, or one that
//! a hash chooses. What may stay idle is told.

use crate::flow::Flow;
use crate::job::{JobSpec, Links};
use crate::scenario::{Assumed, Scenario};
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::Named;
use hpcc_core::topology::Port;
use hpcc_core::topology::routes::Routes;
use hpcc_core::transport::Entropy;
use hpcc_core::workload::Leaving;
use hpcc_core::workload::collective::Plan;
use itertools::Itertools;
use std::collections::BTreeMap;

/// Settles it for a job of a name, on these routes.
pub(super) fn settle(job: &mut JobSpec, name: &str, routes: &Routes, scenario: &mut Scenario) {
    scenario.notes.extend(idle_nics(job, name));
    let links = common_links(job, routes, scenario);
    // Of parallel links the 2019 simulator uses the last.
    if links < 2 || scenario.faults() != ReferenceFaults::NONE {
        return;
    }
    let transport = scenario.settings.host_transport.chosen().name();
    if !scenario.settings.host_transport.is_queue_pairs() {
        let note = if scenario.settings.host_transport.chosen().sprays() {
            let note =
                "traffic.links has no effect: packets of a message leave by all links that lead to its destination";
            job.links.map(|_| format!("{note} (transport.kind = \"{transport}\")"))
        } else {
            Some(format!(
                "each message of {name} leaves by one of {links} links, which a hash chooses: others may be idle"
            ))
        };
        return scenario.notes.extend(note);
    }
    let how = job.usual_links();
    job.leaving = match how {
        Links::Striped => Leaving::Striped(links),
        Links::Hashed => Leaving::Hashed,
        Links::ByChannel => Leaving::ByChannel(links),
    };
    if job.links.is_none() {
        let reason = format!("{links} links of a host lead to the same hosts");
        scenario.assumed.push(Assumed { key: "traffic.links".into(), value: how.name().into(), reason });
    }
    let told = match how {
        Links::Striped => format!("each message of {name} leaves in {links} parts, one by each"),
        Links::Hashed => format!("each queue pair of {name} keeps to one, which a hash chooses: others may be idle"),
        Links::ByChannel => format!("each channel of {name} has the next one: with fewer channels others are idle"),
    };
    let note = format!("{links} links of a host lead to the same hosts: {told} (traffic.links = \"{}\")", how.name());
    scenario.notes.push(note);
}

/// NICs of servers by which no ring or tree leaves.
fn idle_nics(job: &JobSpec, name: &str) -> Option<String> {
    let nics = |plan: &Plan| plan.pattern.channels(plan.layout.as_deref());
    // Where switches of servers take part, each rank sends by its own NIC.
    let mut leaving = job.collectives().iter().filter(|plan| !plan.pattern.in_servers);
    let plan = leaving.find(|plan| plan.channels < nics(plan))?;
    let (channels, nics) = (plan.channels, nics(plan));
    Some(format!("{channels} of the {nics} NICs of a server send, one for each channel of {name}; the others are idle"))
}

/// So many links, from the first on, lead from each host of a job to the others.
fn common_links(job: &JobSpec, routes: &Routes, scenario: &Scenario) -> u8 {
    let lead = |src, dst| {
        let table = routes.table(src);
        let ports = table.next_hops(dst);
        (0..u8::MAX).take_while(|&link| ports.contains(&link.into())).count() as u8
    };
    let pairs = job.samples(scenario.servers).map(|flow| (flow.src, flow.dst)).unique();
    pairs.map(|(src, dst)| lead(src, dst)).min().unwrap_or(1)
}

/// Listed flows of hosts with several links, each of which takes one.
pub(super) struct OfFlows {
    /// Hosts with several links.
    several: Vec<bool>,
    /// How many flows a host sends, and how many links lead to a destination.
    sent: BTreeMap<u32, (u32, u32)>,
}

impl OfFlows {
    pub fn new(scenario: &Scenario) -> OfFlows {
        // Elsewhere each packet may take another link.
        let keeps = scenario.settings.transport.entropy == Entropy::Flow && scenario.settings.feedback.paths <= 1;
        // Packets on one path leave by one of the links to a switch, whatever the transport: see `Exits`.
        let are_apart = |ports: &[Port]| ports.iter().map(|port| port.peer).all_unique();
        let sprays = scenario.settings.host_transport.chosen().sprays();
        let keeps = keeps && scenario.faults() == ReferenceFaults::NONE;
        let several = scenario
            .network
            .ports()
            .iter()
            .map(|ports| keeps && ports.len() > 1 && !(sprays && are_apart(ports)))
            .collect();
        OfFlows { several, sent: BTreeMap::new() }
    }

    pub fn see(&mut self, flow: &Flow, routes: &Routes) {
        if self.several.get(flow.src as usize) == Some(&true) {
            let links = routes.table(flow.src).next_hops(flow.dst).len() as u32;
            let (flows, most) = self.sent.entry(flow.src).or_default();
            *flows += 1;
            *most = links.max(*most);
        }
    }

    /// Tells of hosts of which links are idle, for there are fewer flows.
    pub fn note(self) -> Option<String> {
        let mut idle = self.sent.iter().filter(|(_, (flows, links))| flows < links);
        let (host, (flows, links)) = idle.next()?;
        let more = match idle.count() {
            0 => String::new(),
            count => format!("; so it is at {count} hosts more"),
        };
        Some(format!(
            "host {host} has {links} links that lead to a destination, and flows for {flows} of them, for each takes one, its nic or by \
             a hash: others are idle{more}"
        ))
    }
}
