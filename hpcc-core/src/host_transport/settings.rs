// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which transport hosts have, and the parameters of each.

use super::{HostTransport, all};
use crate::settings::{Input, Kind, Setting, SettingError, Settings, Value};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The key of the choice.
const KEY: &str = "kind";

/// Transports to choose from, and the choice.
#[derive(Clone, Debug)]
pub struct HostTransportSettings {
    /// At least one.
    transports: Vec<Box<dyn HostTransport>>,
    chosen: usize,
}

impl HostTransportSettings {
    /// The transports of this crate, and others besides.
    pub fn with(foreign: Vec<Box<dyn HostTransport>>) -> Self {
        HostTransportSettings { transports: all().into_iter().chain(foreign).collect(), chosen: 0 }
    }

    /// The chosen one.
    pub fn chosen(&self) -> &dyn HostTransport {
        self.transports[self.chosen].as_ref()
    }

    /// Whether that is queue pairs, which every simulator runs.
    pub fn is_queue_pairs(&self) -> bool {
        self.chosen().is_controlled()
    }

    fn names(&self) -> Vec<String> {
        self.transports.iter().map(|transport| transport.name().into()).collect()
    }
}

impl Default for HostTransportSettings {
    fn default() -> Self {
        HostTransportSettings::with(Vec::new())
    }
}

impl PartialEq for HostTransportSettings {
    fn eq(&self, other: &Self) -> bool {
        self.list().iter().all(|setting| self.get(setting.key) == other.get(setting.key))
    }
}

impl Settings for HostTransportSettings {
    fn list(&self) -> Vec<Setting> {
        let names = self.names();
        let help = "What sends messages and acknowledges them: queue pairs of RoCE under the algorithm of `[congestion_control]`, or \
                    Ultra Ethernet (`uec`). Change it to compare transports."
            .into();
        let default = Value::Word(names.first().cloned().unwrap_or_default());
        let choice = Setting {
            key: KEY,
            kind: Kind::Choice(names),
            auto: false,
            default,
            condition: None,
            of_network: false,
            assumed: None,
            help,
        };
        [choice].into_iter().chain(self.transports.iter().flat_map(|transport| transport.list())).collect()
    }

    fn get(&self, key: &str) -> Option<Value> {
        if key == KEY {
            return Some(Value::Word(self.chosen().name().into()));
        }
        self.transports.iter().find_map(|transport| transport.get(key))
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        if key == KEY {
            let mut names = self.transports.iter().map(|transport| transport.name());
            let place = names.position(|name| matches!(input, Input::Text(text) if text == name));
            self.chosen = place.ok_or_else(|| {
                let expected = Kind::Choice(self.names()).expected();
                SettingError::Value(format!("the value is {}; expected one of {expected}", input.shown()))
            })?;
            return Ok(());
        }
        for transport in &mut self.transports {
            match transport.set(key, input) {
                Err(SettingError::Unknown) => {}
                known => return known,
            }
        }
        Err(SettingError::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn a_transport_is_chosen_by_its_name() {
        let mut settings = HostTransportSettings::default();
        assert!(settings.is_queue_pairs() && settings == HostTransportSettings::default());
        settings.set(KEY, Input::Text("uec")).expect("a name");
        assert_eq!(settings.get(KEY), Some(Value::Word("uec".into())));
        assert!(!settings.is_queue_pairs() && settings != HostTransportSettings::default());
        let wrong = settings.set(KEY, Input::Text("nope"));
        assert!(matches!(wrong, Err(SettingError::Value(text)) if text.contains("one of \"roce\", \"uec\"")));
        assert_eq!(settings.set("nope", Input::Text("1")), Err(SettingError::Unknown));
    }

    /// Front ends tell them apart by their keys alone.
    #[test]
    fn no_two_transports_have_a_parameter_of_the_same_name() {
        let list = HostTransportSettings::default().list();
        let keys: BTreeSet<&str> = list.iter().map(|setting| setting.key).collect();
        assert_eq!(keys.len(), list.len());
        for transport in all() {
            for setting in transport.list() {
                assert_eq!(setting.condition.map(|condition| condition.key), Some(KEY), "{}", setting.key);
            }
        }
    }
}
