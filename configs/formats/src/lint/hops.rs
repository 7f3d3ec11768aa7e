// SPDX-License-Identifier: GPL-2.0-only
//! Paths against the room for hops in a frame's telemetry.

use crate::scenario::{LinkFailure, Scenario};
use hpcc_core::cc::Reads;
use hpcc_core::topology::{Network, NodeKind};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// Above this many switches the distances would take longer than they are worth.
const MAX_SWITCHES: usize = 4096;

/// Counts flows that pass more switches than a frame can report: HPCC then learns nothing.
pub(crate) struct LongPaths {
    /// `None` if nobody asks.
    search: Option<Search>,
    /// Flows whose path is too long from the start.
    pub long: u64,
    /// Others whose path is too long once links have failed.
    pub detoured: u64,
    /// Hosts whose flows read no telemetry.
    legacy: HashSet<u32>,
}

/// Switches that a frame can report, and the distances in the network as it is, and while links have failed.
struct Search {
    room: usize,
    intact: Distances,
    failed: Vec<Distances>,
}

impl LongPaths {
    pub fn new(scenario: &Scenario) -> LongPaths {
        let room = scenario.layout().max_hops();
        let switches = scenario.network.switches().count();
        let asks = scenario.settings.needs().reads == Reads::Records && switches <= MAX_SWITCHES;
        let search = room.filter(|_| asks).map(|room| {
            let without = |down: &BTreeSet<u32>| Distances::new(&scenario.network, down);
            let failed = states(&scenario.link_failures);
            // As many as take no longer than those of the largest network.
            let failed = failed.iter().take(MAX_SWITCHES / switches.max(1)).map(without).collect();
            Search { room, intact: without(&BTreeSet::new()), failed }
        });
        let legacy = scenario.legacy.nodes.iter().copied().collect();
        LongPaths { search, long: 0, detoured: 0, legacy }
    }

    /// Looks at the path of a flow between two hosts. Returns its switches if they are too many from the start.
    pub fn see(&mut self, src: u32, dst: u32) -> Option<usize> {
        let Search { room, intact, failed } = self.search.as_mut().filter(|_| !self.legacy.contains(&src))?;
        let is_long = |distances: &mut Distances| distances.switches_between(src, dst).is_some_and(|hops| hops > *room);
        if is_long(intact) {
            self.long += 1;
            return intact.switches_between(src, dst);
        }
        self.detoured += u64::from(failed.iter_mut().any(is_long));
        None
    }

    /// The most switches that telemetry can report, if somebody asks.
    pub fn room(&self) -> Option<usize> {
        self.search.as_ref().map(|search| search.room)
    }
}

/// Which links are down together: those that are whenever one fails or comes up.
fn states(failures: &[LinkFailure]) -> BTreeSet<BTreeSet<u32>> {
    let is_down = |failure: &LinkFailure, now| failure.time <= now && failure.until.is_none_or(|until| now < until);
    let at = |now| failures.iter().filter(move |failure| is_down(failure, now)).flat_map(|failure| &failure.links);
    let times = failures.iter().flat_map(|failure| [Some(failure.time), failure.until]).flatten();
    times.map(|now| at(now).copied().collect()).collect()
}

/// Shortest paths between switches, found when first asked for.
struct Distances {
    /// Switches next to each node.
    next: Vec<Vec<u32>>,
    /// For a switch: the number of links to every other node that a path of switches reaches.
    known: BTreeMap<u32, Vec<Option<usize>>>,
}

impl Distances {
    /// Without the links that are down.
    fn new(network: &Network, down: &BTreeSet<u32>) -> Distances {
        let mut next = vec![Vec::new(); network.nodes.len()];
        for (_, link) in (0..).zip(&network.links).filter(|(number, _)| !down.contains(number)) {
            for (from, to) in [(link.a, link.b), (link.b, link.a)] {
                if network.nodes[to as usize] == NodeKind::Switch {
                    next[from as usize].push(to);
                }
            }
        }
        Distances { next, known: BTreeMap::new() }
    }

    /// Switches on the shortest path between two hosts, `None` if no switches connect them.
    fn switches_between(&mut self, src: u32, dst: u32) -> Option<usize> {
        let Distances { next, known } = self;
        let last = &next[dst as usize];
        let from = |first: &u32| {
            let links = known.entry(*first).or_insert_with(|| search(next, *first));
            last.iter().filter_map(|switch| links[*switch as usize]).min()
        };
        next[src as usize].iter().filter_map(from).min().map(|links| links + 1)
    }
}

/// Breadth-first from one switch over switches.
fn search(next: &[Vec<u32>], from: u32) -> Vec<Option<usize>> {
    let mut links = vec![None; next.len()];
    links[from as usize] = Some(0);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((node, distance)) = queue.pop_front() {
        for &switch in &next[node as usize] {
            if links[switch as usize].is_none() {
                links[switch as usize] = Some(distance + 1);
                queue.push_back((switch, distance + 1));
            }
        }
    }
    links
}
