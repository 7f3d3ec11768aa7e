// SPDX-License-Identifier: GPL-2.0-only
//! `switch.profile`: keys of `[switch]` from an operator's `config_db.json`, where the scenario does not give them itself.

use super::keys::keys;
use crate::error::InputError;
use crate::input;
use crate::origin::Origin;
use crate::sonic::{self, SonicSwitch};

use std::path::Path;
use toml::de::DeTable;

const PATH: &str = "switch.profile";

keys! {
    Lists {
        /// A `config_db.json` of SONiC, beside the scenario's file: its pools, profiles, groups, queues and marks are keys of
        /// this section, unless that has them itself. `buffer` and `buffer_cell` are not in it. Notes list what has no counterpart.
        profile: Option<String>;
    }
}

/// Overrides with what a profile says ahead of them, and notes of what it says in vain. One that cannot be read says nothing, for
/// [`check`] to refuse.
pub(super) fn overrides(path: &Path, text: &str, given: &[String]) -> (Vec<String>, Vec<String>) {
    let named = named(text, given);
    let read = named.and_then(|(name, own)| Some((load(path, &name).ok()?, name, own)));
    let Some((read, name, own)) = read else { return (given.to_vec(), Vec::new()) };
    let is_own = |key: &str| {
        let of_line =
            given.iter().any(|set| set.split('=').next().is_some_and(|set| set.trim() == format!("switch.{key}")));
        of_line || own.iter().any(|own| own == key)
    };
    let keys = read.keys.iter().filter(|(key, _)| !is_own(key));
    let keys = keys.map(|(key, value)| format!("switch.{key}={value}"));
    let left_out = read.left_out.iter().map(|left_out| format!("{name}: {left_out}"));
    (keys.chain(given.iter().cloned()).collect(), left_out.collect())
}

/// Refuses a profile that cannot be read.
pub(super) fn check(path: &Path, lists: &Lists, origin: &Origin) -> Result<(), InputError> {
    let Some(name) = &lists.profile else { return Ok(()) };
    let refuse = |why| {
        let message = format!("{name} cannot be read: {why}; expected a config_db.json of SONiC beside the scenario");
        origin.error(&["profile"], message)
    };
    load(path, name).map(|_| ()).map_err(refuse)
}

/// What is read of a profile beside a scenario.
fn load(path: &Path, name: &str) -> Result<SonicSwitch, String> {
    let text = input::read_text(&path.with_file_name(name)).map_err(|error| error.to_string())?;
    sonic::read(&text)
}

/// The name of the profile, and the keys that the section has itself.
fn named(text: &str, given: &[String]) -> Option<(String, Vec<String>)> {
    // Most scenarios have none, and need not be parsed for it.
    let of_line = given.iter().rev().find_map(|set| set.strip_prefix(PATH)?.trim_start().strip_prefix('='));
    if of_line.is_none() && !text.contains("profile") {
        return None;
    }
    // Wrong values elsewhere are for others to refuse.
    let file = DeTable::parse(text).ok();
    let switch = file.as_ref().and_then(|file| file.get_ref().get("switch")?.get_ref().as_table());
    let of_file = || switch?.get("profile")?.get_ref().as_str().map(str::to_string);
    let name = of_line.map(|name| name.trim().trim_matches('"').to_string()).or_else(of_file)?;
    let own = switch.into_iter().flat_map(|switch| switch.keys()).map(|key| key.get_ref().to_string());
    Some((name, own.collect()))
}
