// SPDX-License-Identifier: GPL-2.0-only
//! Flows that leave the domain of Fast CNP: what a switch beyond the border notifies their senders of never arrives.

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::fast_cnp::BorderSide;
use hpcc_core::topology::{Network, NodeSet};

/// The first flow over a border whose sender would hear neither notifications nor marks.
#[derive(Default)]
pub(super) struct Bordered {
    /// For each node the domain that it is in; none without borders.
    domains: Vec<u32>,
    /// Domains that have switches, and so somebody who notifies.
    notifying: Vec<u32>,
    /// Senders whose packets are not marked where they are notified.
    unmarked: NodeSet,
    found: Option<(u32, u32)>,
}

impl Bordered {
    pub fn new(scenario: &Scenario) -> Bordered {
        let (network, switch) = (&scenario.network, &scenario.settings.fast_cnp_switch);
        let is_closed = switch.common.enabled && switch.border_side == BorderSide::Both;
        if scenario.borders.is_empty() || !is_closed {
            return Bordered::default();
        }
        let Some(unmarked) = unmarked(scenario) else { return Bordered::default() };
        let domains = domains(scenario);
        let switches = (0..).zip(&domains).filter(|&(node, _)| !network.is_host(node));
        let notifying = switches.map(|(_, &domain)| domain).collect();
        Bordered { domains, notifying, unmarked, found: None }
    }

    /// Looks at a flow.
    pub fn see(&mut self, flow: &Flow) {
        let domain = |node: u32| self.domains.get(node as usize);
        let (Some(from), Some(to)) = (domain(flow.src), domain(flow.dst)) else { return };
        if from != to && self.notifying.contains(to) && self.unmarked.contains(flow.src) {
            self.found.get_or_insert((flow.src, flow.dst));
        }
    }

    /// What there is to say about them.
    pub fn note(&self) -> Option<String> {
        let (src, dst) = self.found?;
        Some(format!(
            "fast_cnp.borders is between host {src} and host {dst}, to which it sends: switches beyond it notify host {src}, the border \
             drops that, and the packets are not marked; leave such hosts out of fast_cnp.domain, or of fast_cnp.capable, and they \
             are marked"
        ))
    }
}

/// Senders that switches notify in place of marks; `None` where settings that are refused elsewhere do not say.
fn unmarked(scenario: &Scenario) -> Option<NodeSet> {
    let (network, switch) = (&scenario.network, &scenario.settings.fast_cnp_switch);
    let notified = NodeSet::parse(&switch.domain, network).ok()?;
    let unheard = match &switch.capable {
        _ if !switch.mark_unknown => NodeSet::default(),
        Some(capable) => NodeSet::hosts(network).without(&NodeSet::parse(capable, network).ok()?),
        None => NodeSet::hosts(network).without(&switch.common.notified(network).ok()?),
    };
    Some(notified.without(&unheard))
}

/// For each node the least node that links inside its domain lead to.
fn domains(scenario: &Scenario) -> Vec<u32> {
    let Network { nodes, links } = &scenario.network;
    let is_border = |a: u32, b: u32| {
        scenario.borders.iter().any(|border| [(a, b), (b, a)].contains(&(border.node, border.outside)))
    };
    let inside: Vec<(usize, usize)> =
        links.iter().filter(|link| !is_border(link.a, link.b)).map(|link| (link.a as usize, link.b as usize)).collect();
    let mut domains: Vec<u32> = (0..).take(nodes.len()).collect();
    loop {
        let before = domains.clone();
        for &(a, b) in &inside {
            let least = domains[a].min(domains[b]);
            (domains[a], domains[b]) = (least, least);
        }
        if domains == before {
            return domains;
        }
    }
}
