// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc explain`: what a key of a scenario means.

use anyhow::{Result, bail};
use hpcc_core::node::{NodeSettings, Part};
use hpcc_core::settings::{Condition, Setting};
use hpcc_formats::error::nearest;

use super::{ATTACK, attribute, of_part, section};
use crate::human;

/// A setting and where it belongs.
struct Entry {
    /// Section and key.
    path: String,
    /// The algorithm whose parameter it is, if it is one.
    algorithm: Option<String>,
    /// The attributes that are the same setting; an attack has none.
    attributes: Vec<String>,
    setting: Setting,
}

/// Prints what a key means, or without one all keys.
///
/// # Errors
/// If there is no such key; the nearest one is named then.
pub fn explain(key: Option<&str>) -> Result<()> {
    let entries = entries(&NodeSettings::default());
    let Some(key) = key else { return human::print(&overview(&entries)) };
    let asked: Vec<&Entry> = entries.iter().filter(|entry| entry.is_called(key)).collect();
    if asked.is_empty() {
        let names: Vec<&str> = entries.iter().flat_map(Entry::names).collect();
        let hint = nearest(key, &names).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        bail!(
            "there is no setting {key}{hint} (./hpcc explain lists all; configs/README.md has the sections that describe \
             one experiment)"
        );
    }
    let explained: Vec<String> = asked.into_iter().map(Entry::explained).collect();
    human::print(&explained.join("\n"))
}

/// All settings that files can have.
fn entries(settings: &NodeSettings) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for part in &settings.parts() {
        for setting in of_part(part) {
            add(&mut entries, part, setting);
        }
    }
    let attack = |setting: Setting| Entry {
        path: format!("{ATTACK}.{}", setting.key),
        algorithm: None,
        attributes: Vec::new(),
        setting,
    };
    entries.extend(section(settings, ATTACK).into_iter().map(attack));
    entries
}

/// Adds a setting; one that hosts and switches share has two attributes.
fn add(entries: &mut Vec<Entry>, part: &Part<'_>, setting: Setting) {
    let (path, attribute) = (format!("{}.{}", part.section, setting.key), attribute(part, setting.key));
    let same = |entry: &&mut Entry| entry.path == path && entry.algorithm.as_deref() == part.algorithm;
    match entries.iter_mut().find(same) {
        Some(entry) => entry.attributes.extend(attribute),
        None => {
            let algorithm = part.algorithm.map(Into::into);
            entries.push(Entry { path, algorithm, attributes: attribute.into_iter().collect(), setting });
        }
    }
}

/// A line for each setting.
fn overview(entries: &[Entry]) -> String {
    let name = |entry: &Entry| match &entry.algorithm {
        Some(algorithm) => format!("{} ({algorithm})", entry.path),
        None => entry.path.clone(),
    };
    let width = entries.iter().map(|entry| name(entry).len()).max().unwrap_or_default();
    let line = |entry: &Entry| format!("{:width$}  {}\n", name(entry), entry.setting.default.pretty());
    entries.iter().map(line).collect()
}

impl Entry {
    /// What users may call it: its path, its key alone, and its attributes with and without their class.
    fn names(&self) -> impl Iterator<Item = &str> {
        let attributes = self.attributes.iter().map(String::as_str);
        let short = attributes.clone().filter_map(|attribute| attribute.rsplit("::").next());
        [self.path.as_str(), self.setting.key].into_iter().chain(attributes).chain(short)
    }

    fn is_called(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    fn explained(&self) -> String {
        let Setting { kind, auto, default, condition, help, .. } = &self.setting;
        let algorithm = self.algorithm.iter().map(|name| format!("algorithm = \"{name}\""));
        let other = condition.iter().map(|Condition { key, values }| {
            let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            format!("{key} = {}", values.join(" or "))
        });
        let with: Vec<String> = algorithm.chain(other).collect();
        let mut text = format!("{}: {help}\n", self.path);
        let mut line = |name: &str, value: &str| text += &format!("  {name:<9} {value}\n");
        if !with.is_empty() {
            line("only with", &with.join(" and "));
        }
        line("expected", &(kind.expected() + if *auto { ", or \"auto\"" } else { "" }));
        line("default", &default.pretty());
        if !self.attributes.is_empty() {
            line("attribute", &self.attributes.join(", "));
        }
        text
    }
}
