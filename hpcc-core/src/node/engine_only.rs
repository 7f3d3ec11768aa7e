// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the [engine](crate::engine) alone does yet: the ns-3 module refuses it.

use super::NodeSettings;
use crate::settings::Value;
use alloc::format;
use alloc::string::String;

/// Settings, as `section.key`, with a value that only the engine knows.
pub const ENGINE_ONLY: [(&str, &str); 8] = [
    ("telemetry.layout", "bolt"),
    ("congestion_control.algorithm", "bolt"),
    ("load_balancing.scheme", "conga"),
    ("load_balancing.scheme", "conweave"),
    ("switch.overflow", "trim"),
    ("switch.pfc_watchdog", "drop"),
    ("switch.pfc_watchdog", "forward"),
    ("transport.recovery", "sack"),
];

impl NodeSettings {
    /// The first setting, as `section.key`, with a value that only the engine knows, and a sentence about it.
    pub fn engine_only(&self) -> Option<(&'static str, String)> {
        let has = |&(path, value): &(&str, &str)| {
            let (section, key) = path.split_once('.').unwrap_or_default();
            self.get(section, None, key) == Some(Value::Word(value.into()))
        };
        let transport =
            (!self.host_transport.is_queue_pairs()).then(|| ("transport.kind", self.host_transport.chosen().name()));
        let (path, value) = ENGINE_ONLY.into_iter().find(has).or(transport)?;
        Some((path, format!("the ns-3 module has no \"{value}\" yet; expected --simulator core, or another value")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_the_engine_alone_is_found() {
        assert_eq!(NodeSettings::default().engine_only(), None);
        for (path, value) in ENGINE_ONLY {
            let (section, key) = path.split_once('.').expect("a section and a key");
            let settings = crate::testing::node_with(&[(section, key, value)]);
            assert_eq!(settings.engine_only().map(|(path, _)| path), Some(path));
        }
    }
}
