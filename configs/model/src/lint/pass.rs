// SPDX-License-Identifier: GPL-2.0-only
//! The one pass over all flows that lints share.

use super::crowded::Crowded;
use super::hops::LongPaths;
use super::short_rtt::ShortRtt;
use super::starved::Starved;
use super::trimming::FullOfCuts;
use super::unheard::Unheard;
use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::attack::{Aim, AttackKind, AttackSettings};
use hpcc_core::cc::Reads;
use hpcc_core::pfc::DATA_PRIORITY;
use hpcc_core::topology::{Network, NodeSet};
use hpcc_core::transport::{LinkSpec, Protocol, TransportConfig};
use hpcc_core::units::Nanos;
use std::collections::HashSet;

/// Facts of flows for lints.
pub(crate) struct Pass {
    stop: Nanos,
    /// Flows that start at the stop time or later.
    pub late: u64,
    legacy: HashSet<u32>,
    /// Whether these have TCP.
    is_tcp: bool,
    /// Flows in the class of TCP: of TCP, where legacy hosts have it, and of RDMA.
    pub in_class: [u64; 2],
    /// Whether somebody waits for telemetry.
    reads: bool,
    /// Flows to legacy hosts from others.
    pub unanswered: u64,
    /// How receivers acknowledge; `None` where each flow's last packet is answered, or begins anywhere in a queue pair.
    transport: Option<TransportConfig>,
    /// Flows whose last packet is never acknowledged.
    pub silent: u64,
    pub paths: LongPaths,
    pub crowded: Crowded,
    pub cuts: FullOfCuts,
    pub starved: Starved,
    pub short_rtt: ShortRtt,
    /// With Fast CNP.
    pub unheard: Option<Unheard>,
    network: Network,
    /// Attacks that need flows and have found none yet, each with its number and its victims.
    waiting: Vec<(usize, AttackSettings, NodeSet)>,
}

impl Pass {
    pub fn new(scenario: &Scenario) -> Pass {
        let transport = scenario.transport();
        let is_rdma = scenario.settings.protocol.protocol == Protocol::Rdma;
        let may_be_silent = is_rdma && transport.ack_every == 0 && !transport.shares_queue_pairs(false);
        let needs_flows = |(_, attack): &(usize, &AttackSettings)| attack.kind != AttackKind::FloodedFastCnp;
        let with_victims = |(number, attack): (usize, &AttackSettings)| {
            // Checked: the text names hosts.
            Some((number, attack.clone(), attack.victims(&scenario.network).ok()?))
        };
        Pass {
            stop: scenario.stop,
            late: 0,
            legacy: scenario.legacy.nodes.iter().copied().collect(),
            is_tcp: scenario.legacy.tcp().is_some(),
            in_class: [0; 2],
            reads: scenario.settings.needs().reads != Reads::Nothing,
            unanswered: 0,
            transport: may_be_silent.then_some(transport),
            silent: 0,
            paths: LongPaths::new(scenario),
            crowded: Crowded::new(scenario),
            cuts: FullOfCuts::new(scenario),
            starved: Starved::new(scenario),
            short_rtt: ShortRtt::new(scenario),
            unheard: Unheard::new(scenario),
            network: if scenario.attacks.is_empty() { Network::default() } else { scenario.network.clone() },
            waiting: (1..).zip(&scenario.attacks).filter(needs_flows).filter_map(with_victims).collect(),
        }
    }

    /// Looks at a flow of this traffic, and the links of its path. Returns its switches if they are more than telemetry can
    /// report.
    pub fn see(&mut self, traffic: &str, flow: &Flow, links: &[LinkSpec]) -> Option<usize> {
        let is_legacy = |host| self.legacy.contains(&host);
        let is_rdma = !(self.is_tcp && is_legacy(flow.src));
        self.in_class[usize::from(is_rdma)] += u64::from(flow.priority == DATA_PRIORITY);
        self.late += u64::from(flow.start >= self.stop);
        self.unanswered += u64::from(self.reads && !is_legacy(flow.src) && is_legacy(flow.dst));
        let is_silent = self.transport.as_ref().is_some_and(|transport| !transport.acknowledges(flow.size));
        self.silent += u64::from(is_silent);
        let flows = self.crowded.see(flow);
        self.cuts.see(flow);
        if is_rdma && !is_legacy(flow.src) {
            self.starved.see(flow, links, flows);
            self.short_rtt.see(links);
        }
        if let Some(unheard) = &mut self.unheard {
            unheard.see(flow);
        }
        let Pass { network, waiting, .. } = self;
        let aim = Aim { traffic, src: flow.src, dst: flow.dst, start: flow.start };
        waiting.retain(|(_, attack, victims)| !attack.aims_at(victims, &aim, network));
        self.paths.see(flow.src, flow.dst, links.len().saturating_sub(1))
    }

    /// Numbers, from 1 on, of attacks that no flow was for.
    pub fn attacks_without_flows(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter().map(|(number, ..)| *number)
    }
}
