// SPDX-License-Identifier: GPL-2.0-only
//! Senders that a congested switch neither marks nor tells, with Fast CNP: a notification takes the place of a mark, and does
//! not arrive, or nothing is marked and nobody is notified.

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::attack::AttackKind;
use hpcc_core::cc::{Reads, Steers};
use hpcc_core::fast_cnp::Crossing;
use hpcc_core::topology::NodeSet;
use hpcc_core::transport::Protocol;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Why a sender hears nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Why {
    /// A border is in the way of notifications.
    Border,
    /// Its host accepts none of a switch on its path.
    Refused,
    /// Nothing is marked, and switches do not notify it.
    Unmarked,
}

/// Looks for such senders.
pub(crate) struct Unheard {
    /// Switches beside each node that send notifications.
    notifiers: Vec<Vec<u32>>,
    /// Hosts whose packets are not marked where they make a notification.
    told: NodeSet,
    /// Hosts that switches notify at all.
    notified: NodeSet,
    accepts: NodeSet,
    marks: bool,
    /// Neighbours from which a notification comes to a node.
    ways: Vec<Vec<u32>>,
    is_host: Vec<bool>,
    /// Switches from which notifications come to a host.
    heard: HashMap<u32, HashSet<u32>>,
    found: HashMap<Why, (u64, BTreeSet<u32>)>,
    /// Hosts whose congestion control is none of notifications and marks.
    others: HashSet<u32>,
}

impl Unheard {
    /// `None` without Fast CNP.
    pub fn new(scenario: &Scenario) -> Option<Unheard> {
        let (settings, network) = (&scenario.settings, &scenario.network);
        let (common, switch) = (&settings.fast_cnp, &settings.fast_cnp_switch);
        if !common.enabled || settings.protocol.protocol != Protocol::Rdma {
            return None;
        }
        // Checked: the texts name nodes.
        let domain = NodeSet::parse_hosts(&switch.domain, network).ok()?;
        let understand = common.notified(network).ok()?;
        let capable = match &switch.capable {
            Some(text) => NodeSet::parse_hosts(text, network).ok()?,
            None => understand.clone(),
        };
        let outside = NodeSet::hosts(network).without(&domain);
        let unknown = NodeSet::hosts(network).without(&capable);
        let told = if switch.mark_unknown { domain.without(&unknown) } else { domain.clone() };
        // An attacker may tell switches of any host that it does not understand them.
        let spoofs = scenario.attacks.iter().filter(|attack| attack.kind == AttackKind::SpoofedIcmpv6);
        let spoofed: Vec<NodeSet> = spoofs.filter_map(|attack| attack.victims(network).ok()).collect();
        let notified = spoofed.iter().fold(understand.without(&outside), |left, victims| left.without(victims));
        let legacy: HashSet<u32> = scenario.legacy.nodes.iter().copied().collect();
        let sends = |node: &u32| !network.is_host(*node) && !legacy.contains(node);
        let closes = |near: u32, far: u32| {
            scenario.borders.iter().any(|border| {
                let crossing = match (border.node, border.outside) {
                    pair if pair == (near, far) => Crossing::Outbound,
                    pair if pair == (far, near) => Crossing::Inbound,
                    _ => return false,
                };
                switch.border_side.closes(crossing)
            })
        };
        let (mut ways, mut notifiers) = (vec![Vec::new(); network.nodes.len()], vec![Vec::new(); network.nodes.len()]);
        for (near, far) in network.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]) {
            notifiers[far as usize].extend(Some(near).filter(sends));
            ways[far as usize].extend(Some(near).filter(|&near| !closes(near, far)));
        }
        let is_other = |&host: &u32| scenario.node_settings(host).needs().steers == Steers::Nothing;
        let stack = network.hosts().filter(|&host| scenario.protocol(host) != Protocol::Rdma);
        Some(Unheard {
            notifiers,
            told,
            notified,
            accepts: settings.fast_cnp_host.sources(network).ok()?,
            marks: settings.switch.ecn,
            ways,
            is_host: (0..network.nodes.len() as u32).map(|node| network.is_host(node)).collect(),
            heard: HashMap::new(),
            found: HashMap::new(),
            others: stack.chain(network.hosts().filter(is_other)).collect(),
        })
    }

    /// Looks at a flow.
    pub fn see(&mut self, flow: &Flow) {
        let Some(why) = self.why(flow.src, flow.dst) else { return };
        let (flows, hosts) = self.found.entry(why).or_default();
        *flows += 1;
        hosts.insert(flow.src);
    }

    fn why(&mut self, src: u32, dst: u32) -> Option<Why> {
        if self.others.contains(&src) {
            return None;
        }
        if !self.told.contains(src) {
            return (!self.marks && !self.notified.contains(src)).then_some(Why::Unmarked);
        }
        let Unheard { heard, ways, is_host, notifiers, .. } = self;
        let heard = heard.entry(src).or_insert_with(|| from(src, ways, is_host));
        // Those at the two ends stand for all on the way.
        let mut near = notifiers[src as usize].iter().chain(&notifiers[dst as usize]);
        if near.clone().any(|switch| !heard.contains(switch)) {
            Some(Why::Border)
        } else if near.any(|&switch| !self.accepts.contains(switch)) {
            Some(Why::Refused)
        } else {
            (!self.marks && !self.notified.contains(src)).then_some(Why::Unmarked)
        }
    }

    /// What the user should know.
    pub fn notes(&self, scenario: &Scenario) -> Vec<String> {
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|(why, _)| **why);
        let switch = &scenario.settings.fast_cnp_switch;
        let between = match (self.marks, switch.mark_between) {
            (false, _) => "switch.ecn = false marks none of their packets",
            (true, false) => "with mark_between = false their packets are not marked either",
            (true, true) => {
                "only their packets between two notifications are marked (mark_between), as far as the thresholds of ECN are reached"
            }
        };
        let records = match scenario.settings.needs().reads {
            Reads::Nothing => "",
            Reads::Records | Reads::SendTime | Reads::Utilisation | Reads::Load | Reads::Delay | Reads::Bolt => {
                "; telemetry that comes back tells them all the same"
            }
        };
        let note = |(why, (flows, hosts)): (&Why, &(u64, BTreeSet<u32>))| {
            let first = hosts.first().copied().unwrap_or_default();
            let more = if hosts.len() > 1 { format!(" and {} other hosts", hosts.len() - 1) } else { String::new() };
            let total = scenario.flows.totals.count;
            let what = match why {
                Why::Border => format!(
                    "switches notify their sender of congestion, and fast_cnp.borders stop the notification: {between}. Expected \
                     fast_cnp.domain without them, whose packets are marked then"
                ),
                Why::Refused => format!(
                    "switches notify their sender of congestion, which does not believe these switches (fast_cnp.accept_from): \
                     {between}"
                ),
                Why::Unmarked => {
                    "switch.ecn = false marks nothing, and switches do not notify their sender, which is outside \
                                  fast_cnp.domain, or does not understand them, or of which an attacker says so"
                        .to_owned()
                }
            };
            format!(
                "{flows} of {total} flows, from host {first}{more}, hear neither a mark nor a notification: {what}{records}"
            )
        };
        found.into_iter().map(note).collect()
    }
}

/// Switches from which something comes to a host by these ways.
fn from(host: u32, ways: &[Vec<u32>], is_host: &[bool]) -> HashSet<u32> {
    let (mut found, mut next) = (HashSet::new(), vec![host]);
    while let Some(node) = next.pop() {
        let switches = ways[node as usize].iter().filter(|&&near| !is_host[near as usize]);
        next.extend(switches.filter(|&&near| found.insert(near)));
    }
    found
}
