// SPDX-License-Identifier: GPL-2.0-only
//! Flows that nothing controls, for what they are: their path is too long for telemetry, or they are too short to be sampled
//! twice. A flow within a window is over before anything could control it. What hosts and switches say is asked before.

use crate::draft::{Control, Places};
use crate::error::InputError;
use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::node::Located;
use hpcc_core::topology::routes::Routes;

/// Findings about the flows seen so far.
#[derive(Default)]
pub(super) struct Controlled {
    /// Payload of the longest flow.
    longest: u64,
    /// The largest bandwidth-delay product between two hosts, in bytes, once it is asked for.
    window: Option<u64>,
}

impl Controlled {
    /// Refuses a flow whose path has too many switches, unless notifications may reach its sender, or the file is one of the
    /// 2019 simulator.
    pub fn see(
        &mut self,
        flow: &Flow,
        too_many: Option<usize>,
        routes: &Routes,
        scenario: &Scenario,
        places: &Places,
    ) -> Result<(), InputError> {
        self.longest = self.longest.max(flow.size);
        let (Some(switches), Some(control)) = (too_many, &places.control) else { return Ok(()) };
        if scenario.settings.fast_cnp.enabled || flow.size <= self.window(routes) {
            return Ok(());
        }
        let blame = |wrong: Located| match wrong.conflict.key {
            "hops" => control.hops.error(wrong.conflict.message),
            _ => places.layout.error(wrong.conflict.message),
        };
        scenario.settings.check_hops(switches).map_err(blame)
    }

    /// Refuses samples so rare that no flow has two, if one is longer than a window.
    pub fn settle(mut self, routes: &Routes, scenario: &Scenario, places: &Places) -> Result<(), InputError> {
        if let Some(Control { every, .. }) = &places.control
            && let Err(wrong) = scenario.settings.check_samples(self.longest)
            && self.longest > self.window(routes)
        {
            return Err(every.error(wrong.conflict.message));
        }
        Ok(())
    }

    fn window(&mut self, routes: &Routes) -> u64 {
        let window = || routes.kinds().map(|(path, _)| path.bdp(path.rtt())).max().unwrap_or_default();
        *self.window.get_or_insert_with(window)
    }
}
