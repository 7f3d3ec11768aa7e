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

#[cfg(test)]
mod tests {
    #[test]
    fn a_changed_setting_flow_or_link_is_another_input() {
        let dir = tempfile::tempdir().expect("folder");
        let file = dir.path().join("a.toml");
        let text = "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
            [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
        std::fs::write(&file, text).expect("scenario");
        let digest = |set: &[&str]| {
            let overrides: Vec<String> = set.iter().map(|pair| (*pair).to_owned()).collect();
            crate::load(&file, &overrides).expect("scenario").digest().expect("digest")
        };
        let plain = digest(&[]);
        assert_eq!(plain, digest(&["run.seed=1"]));
        for pair in [
            "run.seed=2",
            "traffic.0.size=2MB",
            "traffic.0.name=long",
            "topology.delay=2us",
            "congestion_control.eta=0.9",
        ] {
            assert_ne!(plain, digest(&[pair]), "{pair}");
        }
    }
}
