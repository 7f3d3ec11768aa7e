// SPDX-License-Identifier: GPL-2.0-only
//! Paths against the room for hops in a frame's telemetry.

use crate::scenario::{Scenario, states};
use hpcc_core::cc::Reads;
use hpcc_core::topology::routes::Routes;
use std::collections::{BTreeSet, HashSet};

/// Routes around failed links are searched for as many states of the network as this has switches, at most.
const MAX_SWITCHES: usize = 4096;

/// Counts flows that pass more switches than a frame can report: HPCC then learns nothing.
pub(crate) struct LongPaths {
    /// Switches that a frame can report; `None` without telemetry.
    pub room: Option<usize>,
    /// Routes while links have failed.
    failed: Vec<Routes>,
    /// Flows whose path is too long from the start.
    pub long: u64,
    /// Others whose path is too long once links have failed.
    pub detoured: u64,
    /// Hosts whose flows read no telemetry.
    legacy: HashSet<u32>,
}

impl LongPaths {
    pub fn new(scenario: &Scenario) -> LongPaths {
        let asks = scenario.settings.needs().reads == Reads::Records;
        let room = scenario.layout().max_hops().filter(|_| asks);
        let states = if room.is_some() { states(&scenario.link_failures) } else { BTreeSet::new() };
        let most = MAX_SWITCHES / scenario.network.switches().count().max(1);
        let failed = states.iter().take(most).map(|down| Routes::avoiding(&scenario.network, 1, down, false)).collect();
        let legacy = scenario.legacy.nodes.iter().copied().collect();
        LongPaths { room, failed, long: 0, detoured: 0, legacy }
    }

    /// Looks at the path of a flow between two hosts over so many switches. Returns them if they are too many from the start.
    pub fn see(&mut self, src: u32, dst: u32, switches: usize) -> Option<usize> {
        let room = self.room.filter(|_| !self.legacy.contains(&src))?;
        if switches > room {
            self.long += 1;
            return Some(switches);
        }
        let is_long = |routes: &Routes| routes.links(src, dst).is_some_and(|links| links.len() > room + 1);
        self.detoured += u64::from(self.failed.iter().any(is_long));
        None
    }
}
