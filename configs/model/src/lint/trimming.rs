// SPDX-License-Identifier: GPL-2.0-only
//! Packets that are cut to little avail.

use super::Pass;
use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::switch::{Overflow, Service};
use hpcc_core::units::BitRate;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Algorithms that send on at the same rate when packets are cut: no mark and no record comes back.
const DEAF: [&str; 2] = ["none", "dcqcn"];

/// The hosts that send to one at a time, and the rate of their links together.
#[derive(Default)]
struct Senders {
    /// When flows cannot have ended before, and their hosts.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    flows: BTreeMap<u32, u32>,
    rate: u64,
}

/// Links of receivers that cut packets alone may fill, ahead of data.
pub(crate) struct FullOfCuts {
    /// Bytes of a cut packet and of a whole one; `None` where that cannot be, or nobody knows.
    sizes: Option<(u64, u64)>,
    /// The capacity of each node's links together.
    rates: Vec<u64>,
    to: BTreeMap<u32, Senders>,
    /// Host, senders at a time, and the rate of their links: where these exceed the host's most.
    worst: Option<(u32, usize, u64)>,
}

impl FullOfCuts {
    pub fn new(scenario: &Scenario) -> FullOfCuts {
        let (switch, whole) = (&scenario.settings.switch, u64::from(scenario.settings.full_frame()));
        let is_first = switch.overflow == Overflow::Trim && switch.trim_queue == 0;
        let is_deaf = DEAF.contains(&scenario.algorithm().name());
        let size = switch.trim_size.filter(|_| is_first && is_deaf);
        let mut rates = vec![0_u64; scenario.network.nodes.len()];
        for link in &scenario.network.links {
            [link.a, link.b]
                .iter()
                .for_each(|&end| rates[end as usize] = rates[end as usize].saturating_add(link.rate.0));
        }
        FullOfCuts { sizes: size.map(|size| (size.0, whole)), rates, to: BTreeMap::new(), worst: None }
    }

    /// Looks at a flow. None ends before its receiver's links could have carried it.
    pub fn see(&mut self, flow: &Flow) {
        if self.sizes.is_none() {
            return;
        }
        let rate = |node: u32| self.rates[node as usize].max(1);
        let lasts = u128::from(flow.size) * 8_000_000_000 / u128::from(rate(flow.dst));
        let end = flow.start.0.saturating_add(u64::try_from(lasts).unwrap_or(u64::MAX));
        let senders = self.to.entry(flow.dst).or_default();
        while let Some(&Reverse((_, host))) = senders.ends.peek().filter(|first| first.0.0 <= flow.start.0) {
            senders.ends.pop();
            let left = senders.flows.entry(host).or_insert(1);
            *left -= 1;
            if *left == 0 {
                senders.flows.remove(&host);
                senders.rate -= rate(host);
            }
        }
        senders.ends.push(Reverse((end, flow.src)));
        let flows = senders.flows.entry(flow.src).or_default();
        if *flows == 0 {
            senders.rate = senders.rate.saturating_add(rate(flow.src));
        }
        *flows += 1;
        let share = |host: u32, sent: u64| sent as f64 / rate(host) as f64;
        let known = self.worst.map_or(0.0, |(host, _, sent)| share(host, sent));
        if share(flow.dst, senders.rate) > known {
            self.worst = Some((flow.dst, senders.flows.len(), senders.rate));
        }
    }
}

/// Packets that are cut fill a link by themselves, and go ahead of data, which so stays away.
pub(super) fn full_of_cuts(scenario: &Scenario, pass: &Pass) -> Vec<String> {
    let full = &pass.cuts;
    let (Some((size, whole)), Some((host, senders, sent))) = (full.sizes, full.worst) else { return Vec::new() };
    let rate = full.rates[host as usize].max(1);
    let load = sent as f64 / rate as f64 * size as f64 / whole as f64;
    if load <= 1.0 {
        return Vec::new();
    }
    let most = (u128::from(whole) * u128::from(rate) / u128::from(sent.max(1))) as u64;
    let expected = if most < 64 { String::new() } else { format!("a switch.trim_size of at most {most}, ") };
    vec![format!(
        "{senders} hosts send to host {host} at a time, and their packets, once cut from {whole} to {size} bytes, take {load:.2} times \
         its {}, ahead of data: with {} these flows may never end; expected {expected}a switch.trim_queue that \
         switch.classes serves beside data, or an algorithm that reads telemetry",
        BitRate(rate),
        scenario.algorithm().name()
    )]
}

/// Cut packets that are nearly as long as whole ones: where many senders meet, they fill the link for nothing.
pub(super) fn long_cuts(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let (switch, whole) = (&scenario.settings.switch, u64::from(scenario.settings.full_frame()));
    let size = switch.trim_size.filter(|size| switch.overflow == Overflow::Trim && 2 * size.0 > whole);
    let note = |size| {
        format!(
            "switch.trim_size = {size} leaves more than half of a packet of {whole} bytes: cut packets fill a link like whole ones, and \
             an incast may never end; expected such as 128B"
        )
    };
    size.into_iter().map(|size| note(size.0)).collect()
}

/// Headers in a queue that is served only while all others are empty.
pub(super) fn waiting_headers(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let switch = &scenario.settings.switch;
    let queue = switch.trim_queue;
    let Some(classes) = (*switch.classes).filter(|_| switch.overflow == Overflow::Trim && queue > 0) else {
        return Vec::new();
    };
    let is_left = classes.services().get(queue as usize) == Some(&Service::Leftover);
    let note = || {
        format!(
            "headers of cut packets wait in queue {queue} (switch.trim_queue), which switch.classes leaves out: they leave only while \
             nothing else may; expected such as \"{queue}:strict\" in front"
        )
    };
    is_left.then(note).into_iter().collect()
}
