// SPDX-License-Identifier: GPL-2.0-only
//! Which ways packets of one flow may go in the course of a run.

use super::{LinkFailure, Scenario};
use hpcc_core::node::NodeSettings;
use hpcc_core::topology::Network;
use hpcc_core::topology::paths::FlowPaths;
use std::collections::BTreeSet;

impl Scenario {
    /// The ways that packets of one flow may go.
    pub(crate) fn ways(&self) -> FlowPaths<'_> {
        ways(&self.network, &self.settings, &self.link_failures, &self.legacy.nodes)
    }
}

/// The ways between nodes with these settings while these links fail; `unaware` nodes know nothing of telemetry.
pub(crate) fn ways<'a>(
    network: &'a Network,
    settings: &NodeSettings,
    failures: &[LinkFailure],
    unaware: &[u32],
) -> FlowPaths<'a> {
    let mut ways = settings.ways(network);
    if !failures.is_empty() {
        ways.parting = FlowPaths::any(network).parting;
        let first = ways.down.concat();
        ways.down.extend(states(failures).into_iter().map(|down| [first.as_slice(), &down].concat()));
    }
    ways.blind.extend(unaware.iter().filter(|&&node| !network.is_host(node)));
    ways.blind.sort_unstable();
    ways
}

/// Which links are down together: those that are whenever one fails or comes up.
pub(crate) fn states(failures: &[LinkFailure]) -> BTreeSet<Vec<u32>> {
    let is_down = |failure: &LinkFailure, now| failure.time <= now && failure.until.is_none_or(|until| now < until);
    let at = |now| failures.iter().filter(move |failure| is_down(failure, now)).flat_map(|failure| &failure.links);
    let times = failures.iter().flat_map(|failure| [Some(failure.time), failure.until]).flatten();
    times.map(|now| at(now).copied().collect()).collect()
}
