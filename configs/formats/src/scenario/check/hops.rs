// SPDX-License-Identifier: GPL-2.0-only
//! Paths against the room for hops in a frame's telemetry.

use crate::scenario::Scenario;
use hpcc_core::cc::Reads;
use hpcc_core::topology::{Network, NodeKind};
use std::collections::{BTreeMap, VecDeque};

/// Above this many switches the distances would take longer than they are worth.
const MAX_SWITCHES: usize = 4096;

/// Counts flows that pass more switches than a frame can report: HPCC then learns nothing.
pub(super) struct LongPaths {
    /// Switches that a frame can report, and the distances; `None` if nobody asks.
    search: Option<(usize, Distances)>,
    long: u64,
}

impl LongPaths {
    pub fn new(scenario: &Scenario) -> LongPaths {
        let room = scenario.layout().max_hops();
        let asks =
            scenario.settings.needs().reads == Reads::Records && scenario.network.switches().count() <= MAX_SWITCHES;
        let search = room.filter(|_| asks).map(|room| (room, Distances::new(&scenario.network)));
        LongPaths { search, long: 0 }
    }

    /// Looks at the path of a flow between two hosts.
    pub fn see(&mut self, src: u32, dst: u32) {
        let Some((room, distances)) = &mut self.search else { return };
        self.long += u64::from(distances.switches_between(src, dst).is_some_and(|hops| hops > *room));
    }

    /// What the user should know.
    pub fn note(&self, total: u64) -> Option<String> {
        let LongPaths { search: Some((room, _)), long: long @ 1.. } = self else { return None };
        Some(format!(
            "{long} of {total} flows pass more than {room} switches, the most that telemetry can report: \
             HPCC does not control their rate"
        ))
    }
}

/// Shortest paths between switches, found when first asked for.
struct Distances {
    /// Switches next to each node.
    next: Vec<Vec<u32>>,
    /// For a switch: the number of links to every other node that a path of switches reaches.
    known: BTreeMap<u32, Vec<Option<usize>>>,
}

impl Distances {
    fn new(network: &Network) -> Distances {
        let mut next = vec![Vec::new(); network.nodes.len()];
        for link in &network.links {
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
