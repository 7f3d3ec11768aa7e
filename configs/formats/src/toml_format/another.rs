// SPDX-License-Identifier: GPL-2.0-only
//! Another algorithm than the file's, from the command line: what the file says of both counts for it, too. What it has no use
//! for, what is another quantity of the same name, or what contradicts it, is dropped, and told.

use super::source::Source;
use hpcc_core::cc::Reads;
use hpcc_core::node::NodeSettings;
use hpcc_model::error::InputError;
use hpcc_model::scenario::ANOTHER_ALGORITHM;
use toml::de::{DeTable, DeValue};

/// What a file says in these sections may be meant for its own algorithm alone.
const SECTIONS: [&str; 2] = ["congestion_control", "telemetry"];
const KEY: &str = "algorithm";
/// The algorithm of a file that names none.
const DEFAULT: &str = "hpcc";

/// Keys of a file, each `section.key`, of which it is not known whether the algorithm of the command line can use them.
pub(super) struct Another {
    candidates: Vec<String>,
    is_chosen: bool,
    dropped: Vec<String>,
    /// What was wrong first.
    first: Option<InputError>,
}

impl Another {
    /// None, unless an override chooses another algorithm than the file. What overrides set is no candidate.
    pub fn of(source: &Source<'_>, settings: &NodeSettings) -> Another {
        let found = candidates(source);
        let is_chosen = found.is_some();
        let (own, chosen, candidates) = found.unwrap_or_default();
        let reads = |name: &str| settings.control.named(name).is_ok_and(|known| known.needs().reads != Reads::Nothing);
        // Telemetry that nobody reads would only make frames longer.
        let is_unread = reads(&own) && !reads(&chosen);
        let is_other = |key: &String| {
            if is_unread && key.starts_with(SECTIONS[1]) {
                return true;
            }
            let words = |algorithm: &str| quantity(settings, algorithm, key);
            words(&own).zip(words(&chosen)).is_some_and(|(own, chosen)| own != chosen)
        };
        let (dropped, candidates) = candidates.into_iter().partition(is_other);
        Another { candidates, is_chosen, dropped, first: None }
    }

    /// Whether there is one.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// The keys that do not count.
    pub fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// Drops the key that an error is about, or else all that may be at fault. Returns whether to read once more.
    ///
    /// # Errors
    /// The first that is of no key that goes, if nothing is left to drop.
    pub fn drop_for(&mut self, error: InputError) -> Result<(), InputError> {
        let place = error.key.as_ref().and_then(|key| self.candidates.iter().position(|known| known == key));
        // What is wrong with a key that goes is no news.
        let error = if place.is_some() { error } else { self.first.get_or_insert(error).clone() };
        match place {
            Some(place) => self.dropped.push(self.candidates.remove(place)),
            None if self.candidates.is_empty() => return Err(error),
            None => self.dropped.append(&mut self.candidates),
        }
        Ok(())
    }

    /// What to say of the keys that do not count.
    pub fn note(&self) -> Option<String> {
        let names = self.dropped.join(", ");
        let verb = if self.dropped.len() == 1 { "does" } else { "do" };
        (!self.dropped.is_empty()).then(|| format!("{ANOTHER_ALGORITHM}: its {names} {verb} not count"))
    }
}

/// What an algorithm's parameter is, in the words of its help: up to how it is used, or found by default.
fn quantity(settings: &NodeSettings, algorithm: &str, key: &str) -> Option<String> {
    let key = key.strip_prefix(SECTIONS[0])?.strip_prefix('.')?;
    let setting = settings.section(SECTIONS[0], Some(algorithm)).into_iter().find(|setting| setting.key == key)?;
    setting.help.split([';', ':', ',', '.']).next().map(str::to_owned)
}

/// The file's algorithm, that of an override if it is another one, and what the file says besides.
fn candidates(source: &Source<'_>) -> Option<(String, String, Vec<String>)> {
    let path = format!("{}.{KEY}", SECTIONS[0]);
    let chosen = source.overrides.iter().rfind(|setting| setting.path == path)?;
    let root = DeTable::parse(source.text).ok()?.into_inner();
    let table = |name: &str| root.get(name).and_then(|section| section.get_ref().as_table());
    let own = table(SECTIONS[0]).and_then(|table| table.get(KEY)).map(|own| own.get_ref());
    let own = own.map_or(Some(DEFAULT), DeValue::as_str).unwrap_or_default();
    let chosen = chosen.value.trim().trim_matches(['"', '\'']);
    if own == chosen {
        return None;
    }
    let keys = SECTIONS.iter().filter_map(|name| Some((name, table(name)?)));
    let all = keys.flat_map(|(name, table)| table.keys().map(move |key| format!("{name}.{}", key.get_ref())));
    let is_set = |key: &String| source.overrides.iter().any(|setting| setting.path == key);
    Some((own.into(), chosen.into(), all.filter(|key| *key != path && !is_set(key)).collect()))
}
