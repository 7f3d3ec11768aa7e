// SPDX-License-Identifier: GPL-2.0-only
//! Sections of plain settings: what they can hold is declared in the core, beside what uses it.

use super::assign::{assign, present_name};
use super::document::Document;
use super::keys::{Group, Read};
use super::source::Entry;
use hpcc_core::node::{Located, NodeSettings, Part};
use hpcc_core::settings::Setting;
use hpcc_core::topology::Network;
use hpcc_model::error::{InputError, suggestion};
use hpcc_model::place::Place;
use hpcc_model::scenario::Assumed;
use std::collections::BTreeMap;
use toml::Value;

/// Where the keys of plain sections were given.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Of each section that is there.
    sections: BTreeMap<&'static str, Place>,
    /// Of each key, by section.
    keys: BTreeMap<(&'static str, String), Place>,
}

impl Given {
    /// Where a key was given; else its section; else the file.
    pub fn place(&self, document: &Document<'_>, section: &str, key: &str) -> Place {
        let key = self.keys.iter().find(|((known, name), _)| *known == section && name == key).map(|(_, place)| place);
        let place = key.or_else(|| self.sections.get(section));
        place.cloned().unwrap_or_else(|| document.file())
    }

    /// Whether a key was given.
    pub fn has(&self, section: &str, key: &str) -> bool {
        self.keys.keys().any(|(known, name)| *known == section && name == key)
    }

    /// Defaults that decide results, of settings that count and were not given.
    pub fn assumed(&self, settings: &NodeSettings) -> Vec<Assumed> {
        let chosen = settings.control.chosen().name();
        let of_part = |part: Part<'_>| {
            let is_off = part.section == "compatibility" || part.algorithm.is_some_and(|name| name != chosen);
            let list = if is_off { Vec::new() } else { part.settings.list() };
            let of_setting = |setting: &Setting| {
                let reason = setting.assumed.filter(|_| settings.decides(&part, setting))?;
                let value = part.settings.get(setting.key)?.text();
                let is_given = self.has(part.section, setting.key);
                (!is_given).then(|| Assumed {
                    key: format!("{}.{}", part.section, setting.key),
                    value,
                    reason: reason.into(),
                })
            };
            list.iter().filter_map(of_setting).collect::<Vec<_>>()
        };
        settings.parts().into_iter().flat_map(of_part).collect()
    }

    /// A key of a section that was given besides one, with its place.
    pub fn besides(&self, section: &str, key: &str) -> Option<(&str, &Place)> {
        let mut keys = self.keys.iter().filter(|((known, name), _)| *known == section && name != key);
        keys.next().map(|((_, name), place)| (name.as_str(), place))
    }

    /// Adds a section that is there.
    pub fn add_section(&mut self, section: &'static str, place: Place) {
        self.sections.insert(section, place);
    }

    /// Adds a key that is not plain.
    pub fn add_key(&mut self, section: &'static str, key: &str, place: Place) {
        self.keys.insert((section, key.into()), place);
    }

    /// Reads a section, if it is there. Returns those of its keys that are not plain.
    pub fn section<T: Group>(
        &mut self,
        document: &mut Document<'_>,
        settings: &mut NodeSettings,
        section: &'static str,
    ) -> Result<Read<T>, InputError> {
        let Some(entry) = document.section(section) else {
            return Read::new(section, document.file(), Vec::new());
        };
        let lists = T::keys();
        self.add_section(section, entry.place());
        let is_list = |entry: &Entry<'_>| lists.iter().any(|list| list.setting.key == entry.key);
        let (listed, entries): (Vec<_>, Vec<_>) = entry.section()?.into_iter().partition(is_list);
        self.read(settings, section, None, entries)?;
        Read::new(section, entry.place(), listed)
    }

    /// Sets what a section says; `algorithm` names whose parameters the section `congestion_control` has.
    pub fn read(
        &mut self,
        settings: &mut NodeSettings,
        section: &'static str,
        algorithm: Option<&str>,
        mut entries: Vec<Entry<'_>>,
    ) -> Result<(), InputError> {
        // A class of a program has keys of its own.
        let is_class = |entry: &Entry<'_>| matches!(entry.value(), Some(Value::String(name)) if name.contains("::"));
        entries.sort_by_key(|entry| !is_class(entry));
        let mut known = settings.section(section, algorithm);
        for entry in entries {
            let (key, wrong) = (present_name(section, &entry.key), |message: String| entry.error(section, message));
            let Some(setting) = known.iter().find(|setting| setting.key == key) else {
                let keys: Vec<&str> = known.iter().map(|setting| setting.key).collect();
                let of = algorithm.map_or_else(String::new, |name| format!(" (algorithm = \"{name}\")"));
                let hint = owners(settings, section, key).unwrap_or_else(|| suggestion(key, &keys));
                return Err(wrong(format!("unknown key {key} in [{section}]{hint}{of}")));
            };
            assign(setting, &entry, |input| settings.set(section, algorithm, setting.key, input)).map_err(wrong)?;
            if is_class(&entry) {
                known = settings.section(section, algorithm);
            }
            let place = entry.place();
            if self.keys.insert((section, key.into()), place.clone()).is_some() {
                return Err(
                    place.key_error(format!("{section}.{key}"), "it is given by an older name, too; expected one")
                );
            }
        }
        Ok(())
    }

    /// Checks settings, once all is resolved: each that was given must count, if for `others` alone, and none may contradict
    /// another.
    pub fn check(
        &self,
        document: &Document<'_>,
        (settings, others): (&NodeSettings, &NodeSettings),
        network: &Network,
    ) -> Result<(), InputError> {
        for ((section, key), place) in &self.keys {
            if let Some(message) = settings.idle(section, key).filter(|_| others.idle(section, key).is_some()) {
                return Err(place.key_error(format!("{section}.{key}"), message));
            }
        }
        settings.check(network).map_err(|wrong| self.error(document, &wrong))
    }

    /// Refuses keys of a section - or `other` ones - without the one that turns it on, with which alone they have an effect; `on`
    /// says how it does. Returns a note where a file, or the command line, says that it is off: comparing with that should not
    /// need another file.
    pub fn check_on(
        &self,
        section: &str,
        (switch, is_on, on): (&str, bool, &str),
        other: Option<(&str, &Place)>,
    ) -> Result<Option<String>, InputError> {
        let key = self.besides(section, switch).or(other);
        let Some((key, place)) = key.filter(|_| !is_on) else { return Ok(None) };
        if self.has(section, switch) {
            return Ok(Some(format!("{section}.{switch} turns it off: nothing else in [{section}] has an effect")));
        }
        let message = format!("{key} belongs to {switch} = {on}, which [{section}] does not say");
        Err(place.key_error(format!("{section}.{key}"), message))
    }

    /// An error of the core with its place.
    pub fn error(&self, document: &Document<'_>, wrong: &Located) -> InputError {
        let Located { section, conflict } = wrong;
        let place = self.place(document, section, conflict.key);
        place.key_error(format!("{section}.{}", conflict.key), conflict.message.clone())
    }
}

/// The algorithms of a section that have a parameter, as the tail of a message; `None` if none has.
fn owners(settings: &NodeSettings, section: &str, key: &str) -> Option<String> {
    let parts = settings.parts().into_iter().filter(|part| part.section == section && part.settings.get(key).is_some());
    let names: Vec<String> = parts.filter_map(|part| Some(format!("\"{}\"", part.algorithm?))).collect();
    (!names.is_empty()).then(|| format!("; it belongs to algorithm = {}", names.join(" or ")))
}
