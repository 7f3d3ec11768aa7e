// SPDX-License-Identifier: GPL-2.0-only
//! A base round-trip time that no packet can keep.

use crate::scenario::Scenario;
use hpcc_core::cc::Reads;
use hpcc_core::transport::LinkSpec;
use hpcc_core::units::Nanos;

/// Looks for flows whose path takes longer than the base round-trip time of all.
pub(crate) struct ShortRtt {
    base_rtt: Option<Nanos>,
    /// The longest time that a signal takes along a path and back.
    longest: Nanos,
}

impl ShortRtt {
    pub fn new(scenario: &Scenario) -> ShortRtt {
        let (transport, needs) = (scenario.transport(), scenario.settings.needs());
        // Nothing else goes by it.
        let matters = transport.window || needs.rtt || needs.reads != Reads::Nothing;
        ShortRtt { base_rtt: transport.base_rtt.filter(|_| matters), longest: Nanos(0) }
    }

    pub fn see(&mut self, path: &[LinkSpec]) {
        if self.base_rtt.is_some() {
            let one_way: u64 = path.iter().fold(0, |sum, (_, delay)| sum.saturating_add(delay.0));
            self.longest = self.longest.max(Nanos(one_way.saturating_mul(2)));
        }
    }

    /// What the user should know.
    pub fn note(&self) -> Option<String> {
        let base_rtt = self.base_rtt.filter(|&base_rtt| base_rtt < self.longest)?;
        Some(format!(
            "transport.base_rtt = {base_rtt} is shorter than signals take on a path and back, {}: no queue is needed for windows to be \
             too small and delays to look like congestion; expected more than that, or \"auto\"",
            self.longest
        ))
    }
}
