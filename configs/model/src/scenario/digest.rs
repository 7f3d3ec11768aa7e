// SPDX-License-Identifier: GPL-2.0-only
//! What a scenario is, in short: equal digests, equal simulations.

use super::Scenario;
use crate::error::InputError;

impl Scenario {
    /// Hash of every setting, the network, and each flow, whatever files they came from, in hexadecimal digits.
    ///
    /// # Errors
    /// If a file of flows was changed since the scenario was read.
    pub fn digest(&self) -> Result<String, InputError> {
        let mut hash = blake3::Hasher::new();
        hash.update(self.effective().to_string().as_bytes());
        hash.update(format!("{:?}{:?}{:?}", self.network, self.monitor, self.borders).as_bytes());
        if !self.flows.jobs.is_empty() {
            hash.update(format!("{:?}", self.flows.jobs).as_bytes());
        }
        for flow in self.flows.walk_groups() {
            let (group, flow) = flow?;
            for number in [group, flow.src, flow.dst, flow.priority.into(), flow.dport.into()] {
                hash.update(&number.to_le_bytes());
            }
            for number in [flow.size, flow.start.0] {
                hash.update(&number.to_le_bytes());
            }
        }
        Ok(hash.finalize().to_hex().to_string())
    }
}
