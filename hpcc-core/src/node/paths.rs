// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which paths packets of one flow take, as far as settings decide it.

use super::NodeSettings;
use crate::topology::Network;
use crate::topology::paths::FlowPaths;
use crate::transport::Entropy;
use alloc::vec::Vec;

impl NodeSettings {
    /// Whether flows of a host with these settings change the ports that switches choose paths by.
    /// `notifies` says whether the network has Fast CNP.
    pub(super) fn changes_ports(&self, notifies: bool) -> bool {
        let migrates = notifies && self.fast_cnp_host.migrate;
        self.transport.entropy != Entropy::Flow || self.feedback.paths > 1 || migrates
    }

    /// The ways that packets of one flow may take through a network of such nodes while no link fails.
    pub fn ways<'a>(&self, network: &'a Network) -> FlowPaths<'a> {
        let parting = if self.changes_ports(self.fast_cnp.enabled) {
            FlowPaths::any(network).parting
        } else {
            self.load_balancing.parting(network)
        };
        let blind = if self.switch.stamp_telemetry { Vec::new() } else { network.switches().collect() };
        let mut ways = FlowPaths { parting, blind, ..FlowPaths::single(network) };
        if self.faults().last_parallel_link {
            ways.down = Vec::from([network.superseded_links()]);
        }
        ways
    }
}
