// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc explain`: what a key of a scenario means.

use std::path::Path;

use anyhow::{Result, bail};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Condition, Setting};
use hpcc_model::error::nearest;
use hpcc_model::jobs::hardware;

use super::file_keys::{self, Key};
use super::{ATTACK, Schema, attribute, of_part, section};
use crate::control;
use crate::human::paragraph;
use crate::table::left_aligned;

/// A setting and where it belongs.
struct Entry {
    /// Section and key.
    path: String,
    /// The algorithm whose parameter it is, if it is one.
    algorithm: Option<String>,
    /// The attribute that is the same setting; an attack has none.
    attribute: Option<String>,
    setting: Setting,
}

/// What a key means, or without one all keys.
///
/// # Errors
/// If there is no such key; the nearest one is named then.
pub fn explain(key: Option<&str>) -> Result<String> {
    let entries = entries(&NodeSettings::default());
    let others = others(&entries);
    let Some(key) = key else { return Ok(overview(&entries, &others)) };
    let called = entries.iter().filter(|entry| entry.is_called(key));
    let settings = alike(called).into_iter().map(|entries| explained_setting(&entries));
    let keys = others.iter().filter(|(_, other)| is_called(other, key)).map(|(file, other)| explained(*file, other));
    let is_algorithm = NodeSettings::default().control.names().iter().any(|name| name == key);
    let algorithm = is_algorithm.then(|| {
        let choice = format!("congestion_control.algorithm = \"{key}\"");
        paragraph(&format!("{key}: a congestion control, which {choice} chooses. What follows are its parameters."))
    });
    let explained: Vec<String> = algorithm.into_iter().chain(settings).chain(keys).collect();
    if explained.is_empty() {
        let paths = others.iter().map(|(_, other)| other.path.as_str());
        let names: Vec<&str> = entries.iter().flat_map(Entry::names).chain(paths).collect();
        let hint = nearest(key, &names).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        bail!("there is no setting \"{key}\"{hint} (./hpcc explain lists all)");
    }
    Ok(explained.join("\n"))
}

/// The figures of a profile of hardware.
///
/// # Errors
/// If the key has no names to explain, or there is no such profile.
pub fn explain_named(key: &str, name: &str) -> Result<String> {
    if !["profile", "gpu.profile", "nic.profile"].contains(&key) {
        bail!("\"{key}\" has no \"{name}\" to explain; expected profile NAME, or a key alone");
    }
    let names = || hardware::names().collect::<Vec<_>>().join(", ");
    let Some(figures) = hardware::figures(name) else {
        bail!("there is no profile \"{name}\" with figures; expected one of {}", names());
    };
    let row = |figure: hardware::Figure| {
        vec![figure.name, figure.value.to_string(), figure.unit.into(), figure.source.into()]
    };
    Ok(left_aligned(&["figure", "value", "unit", "source"], figures.into_iter().map(row)))
}

/// What a scenario does not say and what decides its results all the same.
///
/// # Errors
/// If the file is none that can run.
pub fn assumed(file: &Path, set: &[String]) -> Result<String> {
    let scenario = hpcc_formats::load_with(file, set, control::defaults())?;
    if scenario.assumed.is_empty() {
        return Ok("nothing that decides results is left to defaults\n".into());
    }
    let rows = scenario.assumed.iter().map(|one| vec![one.key.clone(), one.value.clone(), one.reason.clone()]);
    Ok(left_aligned(&["key", "value", "why"], rows))
}

/// The keys of scenario files, and the keys of sweep files.
fn others(entries: &[Entry]) -> Vec<(Schema, Key)> {
    let keys = Schema::ALL
        .into_iter()
        .flat_map(|file| file_keys::of(&file.keys(), "").into_iter().map(move |key| (file, key)));
    keys.filter(|(_, key)| entries.iter().all(|entry| entry.path != key.path)).collect()
}

/// Whether a key of a file has this name, with or without its section, or the index of one of several sections.
fn is_called(key: &Key, name: &str) -> bool {
    let words: Vec<&str> = name.split('.').filter(|word| word.parse::<usize>().is_err()).collect();
    let short = key.path.rsplit('.').next();
    key.path == words.join(".")
        || short == Some(name)
        || key.path.strip_suffix(short.unwrap_or_default()) == Some(&format!("{name}."))
}

/// A key of a file in words.
fn explained(file: Schema, key: &Key) -> String {
    let of = match file {
        Schema::Scenario => "",
        Schema::Sweep => " (sweep files)",
    };
    let help = key.help.as_deref().unwrap_or("What the section is.");
    let mut text = paragraph(&format!("{}{of}: {help}", key.path));
    let mut line = |name: &str, value: &str| text += &format!("  {name:<9} {value}\n");
    // The schema of each kind knows its own name only.
    if key.path.rsplit('.').next() == Some("kind") {
        line("expected", &alternatives(&key.kinds));
    } else {
        if !key.kinds.is_empty() {
            line("only with", &format!("kind = {}", alternatives(&key.kinds)));
        }
        match key.path.strip_prefix("legacy.") {
            // The schema has no more of them there than their names.
            Some(parameter) if key.expected.is_empty() => {
                line("expected", &format!("what congestion_control.{parameter} expects"));
            }
            _ if key.expected.is_empty() => {}
            _ => line("expected", &key.expected),
        }
    }
    if let Some(default) = &key.default {
        line("default", default);
    }
    text
}

/// All settings that files can have.
fn entries(settings: &NodeSettings) -> Vec<Entry> {
    let parts = settings.parts();
    let of_nodes = parts.iter().flat_map(|part| {
        of_part(part).into_iter().map(|setting| Entry {
            path: format!("{}.{}", part.section, setting.key),
            algorithm: part.algorithm.map(Into::into),
            attribute: attribute(part, &setting),
            setting,
        })
    });
    let attack = |setting: Setting| Entry {
        path: format!("{ATTACK}.{}", setting.key),
        algorithm: None,
        attribute: None,
        setting,
    };
    of_nodes.chain(section(settings, ATTACK).into_iter().map(attack)).collect()
}

/// A line for each setting, and each other key of a file.
fn overview(entries: &[Entry], others: &[(Schema, Key)]) -> String {
    let name = |entry: &Entry| match &entry.algorithm {
        Some(algorithm) => format!("{} ({algorithm})", entry.path),
        None => entry.path.clone(),
    };
    let width = entries.iter().map(|entry| name(entry).len()).max().unwrap_or_default();
    let line = |entry: &Entry| format!("{:width$}  {}\n", name(entry), entry.setting.default.pretty());
    fn rest((file, key): &(Schema, Key)) -> (String, Option<&str>) {
        let name = match file {
            Schema::Scenario => key.path.clone(),
            Schema::Sweep => format!("{} (sweep)", key.path),
        };
        (name, key.default.as_deref())
    }
    // What several kinds of a section have with other defaults is one key, too.
    let mut named: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, default) in others.iter().map(rest) {
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, defaults)) => defaults.extend(default.filter(|default| !defaults.contains(default))),
            None => named.push((name, default.into_iter().collect())),
        }
    }
    let rest = named
        .into_iter()
        .map(|(name, defaults)| format!("{name:width$}  {}", defaults.join(" or ")).trim_end().to_owned() + "\n");
    entries.iter().map(line).chain(rest).collect()
}

impl Entry {
    /// What users may call it: its path, its key alone, and its attribute with and without its class.
    fn names(&self) -> impl Iterator<Item = &str> {
        let attribute = self.attribute.as_deref();
        let short = attribute.and_then(|attribute| attribute.rsplit("::").next());
        [self.path.as_str(), self.setting.key].into_iter().chain(attribute).chain(short)
    }

    fn is_called(&self, name: &str) -> bool {
        let section = self.path.strip_suffix(self.setting.key).and_then(|section| section.strip_suffix('.'));
        section == Some(name) || self.algorithm.as_deref() == Some(name) || self.names().any(|known| known == name)
    }
}

/// Settings of one name, together where algorithms differ in nothing else.
fn alike<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<Vec<&'a Entry>> {
    let mut groups: Vec<Vec<&Entry>> = Vec::new();
    for entry in entries {
        let same = |group: &&mut Vec<&Entry>| group[0].path == entry.path && group[0].setting == entry.setting;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups
}

/// What settings mean that are [`alike`].
fn explained_setting(entries: &[&Entry]) -> String {
    let Some(Entry { path, setting: Setting { kind, auto, default, condition, help, .. }, .. }) = entries.first()
    else {
        return String::new();
    };
    let algorithms: Vec<&String> = entries.iter().filter_map(|entry| entry.algorithm.as_ref()).collect();
    let algorithm = (!algorithms.is_empty()).then(|| format!("algorithm = {}", alternatives(&algorithms)));
    let other = condition.iter().map(|Condition { key, values }| format!("{key} = {}", alternatives(values)));
    let with: Vec<String> = algorithm.into_iter().chain(other).collect();
    let attributes: Vec<&str> = entries.iter().filter_map(|entry| entry.attribute.as_deref()).collect();
    let mut text = paragraph(&format!("{path}: {help}"));
    let mut line = |name: &str, value: &str| text += &format!("  {name:<9} {value}\n");
    if !with.is_empty() {
        line("only with", &with.join(" and "));
    }
    line("expected", &(kind.expected() + if *auto { ", or \"auto\"" } else { "" }));
    line("default", &default.pretty());
    if !attributes.is_empty() {
        line("attribute", &attributes.join(", "));
    }
    text
}

/// Words of files, one of which holds.
fn alternatives(words: &[impl AsRef<str>]) -> String {
    words.iter().map(|word| format!("\"{}\"", word.as_ref())).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A help is read once: sentences, not notes.
    #[test]
    fn every_key_says_what_it_does_and_every_setting_when_to_change_it() {
        let entries = entries(&NodeSettings::default());
        let settings = entries.iter().map(|entry| (entry.path.as_str(), Some(entry.setting.help.as_str())));
        let others = others(&entries);
        let keys = others.iter().map(|(_, key)| (key.path.as_str(), key.help.as_deref()));
        for (path, help) in settings.chain(keys) {
            let help = help.unwrap_or_else(|| panic!("{path} has no help"));
            let first = help.chars().next();
            assert!(first.is_some_and(char::is_uppercase) && help.split(' ').count() > 3, "{path}: {help}");
            assert!(help.ends_with('.') || help.ends_with(". +"), "{path}: {help}");
        }
        for Entry { path, setting, .. } in &entries {
            assert!(setting.summary().len() < setting.help.len(), "{path} does not say when to change it");
        }
    }
}
