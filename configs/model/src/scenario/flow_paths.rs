// SPDX-License-Identifier: GPL-2.0-only
//! Which ways packets of one flow may go in the course of a run.

use super::Scenario;
use hpcc_core::engine::LinkFailure;
use hpcc_core::node::NodeSettings;
use hpcc_core::topology::Network;
use hpcc_core::topology::paths::FlowPaths;
use hpcc_core::units::Nanos;
use std::collections::BTreeSet;

impl Scenario {
    /// The ways that packets of one flow may go.
    pub fn ways(&self) -> FlowPaths<'_> {
        ways(&self.network, &self.settings, &self.link_failures, &self.legacy.nodes)
    }
}

/// The ways between nodes with these settings while these links fail; `unaware` nodes know nothing of telemetry.
pub fn ways<'a>(
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

/// Which links routes avoid together: those that do whenever one is noticed to fail or to come up.
pub fn states(failures: &[LinkFailure]) -> BTreeSet<Vec<u32>> {
    // Convergence takes equally long after all of them.
    let noticed = || failures.iter().filter_map(|failure| Some((failure.noticed()?, &failure.links)));
    let at = |now: Nanos| {
        let down = noticed().filter(|((from, until), _)| *from <= now && until.is_none_or(|until| now < until));
        down.flat_map(|(_, links)| links.iter().copied()).collect()
    };
    noticed().flat_map(|((from, until), _)| [Some(from), until]).flatten().map(at).collect()
}
