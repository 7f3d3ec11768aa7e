// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that have no effect for more than one reason, or unless another one has any value but one.

use super::NodeSettings;
use crate::settings::Setting;
use crate::switch::BufferKind;
use crate::units::{Bytes, Nanos};

/// Beside what a setting counts.
struct Requirement {
    /// As errors name it.
    what: &'static str,
    /// Whether it holds, once all is resolved.
    is_so: fn(&NodeSettings) -> bool,
}

/// Beside what a setting counts, if more than its declaration says of it.
fn beside(section: &str, key: &str) -> Option<Requirement> {
    match (section, key) {
        ("transport", "chunk") => Some(Requirement {
            what: "recovery = \"go_back_zero\", or to an ack_offset above 1",
            is_so: |node| node.transport.recovery.to_chunks || node.transport.ack_offset > Bytes(1),
        }),
        ("transport", "timeout_low" | "timeout_low_packets" | "timeout_base_rtts" | "timeout_back_off") => {
            Some(Requirement { what: "a timeout above 0", is_so: |node| node.transport.timeout != Some(Nanos(0)) })
        }
        ("switch", "alpha") => Some(Requirement {
            what: "mode = \"lossy\", or to lossy_priorities",
            is_so: |node| node.switch.mode == BufferKind::Lossy || node.switch.lossy_priorities.is_some(),
        }),
        _ => None,
    }
}

/// Whether a plan of switches' memory says in place of a setting what that says.
fn is_planned(section: &str, key: &str) -> bool {
    section == "switch" && ["alpha", "class_alpha", "headroom", "pause_threshold"].contains(&key)
}

impl NodeSettings {
    /// Whether a setting of a section counts beside others only, so that [`NodeSettings::idle`] may refuse it.
    pub fn may_be_idle(section: &str, setting: &Setting) -> bool {
        setting.condition.is_some() || beside(section, setting.key).is_some() || is_planned(section, setting.key)
    }

    /// Beside what a setting counts, if it does not count here; once all is resolved.
    pub(super) fn useless(&self, section: &str, key: &str) -> Option<&'static str> {
        if self.buffer_plan.is_some() && is_planned(section, key) {
            return Some("switches without buffer_pools, whose profiles say it in its place");
        }
        let beside = beside(section, key)?;
        (!(beside.is_so)(self)).then_some(beside.what)
    }
}

#[cfg(test)]
mod tests {

    use crate::topology::Network;

    /// Why a key of `[transport]` does not count beside one other.
    fn idle(key: &str, other: &str, value: &str) -> Option<alloc::string::String> {
        let mut settings = crate::testing::node_with(&[("transport", other, value)]);
        settings.resolve(&Network::default());
        settings.idle("transport", key)
    }

    #[test]
    fn what_repeats_packets_counts_where_they_are_repeated_so() {
        for (key, other, value, expected) in [
            ("nack_interval", "recovery", "go_back_n", None),
            ("nack_interval", "recovery", "go_back_zero", None),
            ("nack_interval", "recovery", "selective_repeat", Some("recovery = \"go_back_n\" or")),
            ("chunk", "recovery", "go_back_zero", None),
            ("chunk", "recovery", "go_back_n", Some("recovery = \"go_back_zero\", or to an ack_offset")),
            ("chunk", "recovery", "selective_repeat", Some("recovery = \"go_back_zero\"")),
            ("chunk", "ack_offset", "2", None),
            ("chunk", "ack_offset", "0", Some("recovery = \"go_back_zero\"")),
            ("timeout_back_off", "timeout", "0s", Some("a timeout above 0")),
            ("timeout_low", "timeout", "0s", Some("a timeout above 0")),
            ("timeout_low_packets", "timeout", "0s", Some("a timeout above 0")),
            ("timeout_base_rtts", "timeout", "0s", Some("a timeout above 0")),
            ("timeout_back_off", "timeout", "1us", None),
            ("timeout_back_off", "timeout", "auto", None),
            ("mtu", "timeout", "0s", None),
        ] {
            let found = idle(key, other, value);
            match expected {
                None => assert_eq!(found, None, "{key} beside {other}"),
                Some(reason) => {
                    let message = found.unwrap_or_default();
                    assert!(message.starts_with(&alloc::format!("{key} belongs to {reason}")), "{key}: {message}");
                }
            }
        }
    }
}
