// SPDX-License-Identifier: GPL-2.0-only
//! `switch.profile`: keys of `[switch]` from an operator's `config_db.json`, where the scenario does not give them itself.

use super::keys::keys;
use crate::error::InputError;
use crate::place::Place;
use crate::sonic;
use std::fs;
use std::path::Path;
use toml::Table;

const PATH: &str = "switch.profile";

keys! {
    Lists {
        /// A `config_db.json` of SONiC, beside the scenario's file: its pools, profiles, groups, queues and marks are keys of this
        /// section, unless that has them itself. `buffer` and `buffer_cell` are not in it. Notes list what has no counterpart.
        profile: Option<String>;
    }
}

/// Overrides with what a profile says ahead of them, and notes of what it says in vain.
pub(super) fn overrides(path: &Path, text: &str, given: &[String]) -> Result<(Vec<String>, Vec<String>), InputError> {
    let Some((name, file)) = named(text, given) else { return Ok((given.to_vec(), Vec::new())) };
    let profile = path.with_file_name(&name);
    let refuse = |message: String| Place::file(&profile).error(message);
    let json = fs::read_to_string(&profile)
        .map_err(|error| refuse(format!("{error}; expected the config_db.json that {PATH} names")))?;
    let read = sonic::read(&json).map_err(refuse)?;
    let switch = file.get("switch").and_then(|switch| switch.as_table());
    let is_own = |key: &str| {
        let of_line =
            given.iter().any(|set| set.split('=').next().is_some_and(|set| set.trim() == format!("switch.{key}")));
        of_line || switch.is_some_and(|switch| switch.contains_key(key))
    };
    let keys = read.keys.iter().filter(|(key, _)| !is_own(key));
    let keys = keys.map(|(key, value)| format!("switch.{key}={value}"));
    let left_out = read.left_out.iter().map(|left_out| format!("{name}: {left_out}"));
    Ok((keys.chain(given.iter().cloned()).collect(), left_out.collect()))
}

/// The name of the profile, and the scenario that names it.
fn named(text: &str, given: &[String]) -> Option<(String, Table)> {
    // Most scenarios have none, and need not be parsed for it.
    let of_line = given.iter().rev().find_map(|set| set.strip_prefix(PATH)?.trim_start().strip_prefix('='));
    if of_line.is_none() && !text.contains("profile") {
        return None;
    }
    let file: Table = toml::from_str(text).unwrap_or_default();
    let of_file = || file.get("switch")?.get("profile")?.as_str().map(str::to_string);
    let name = of_line.map(|name| name.trim().trim_matches('"').to_string()).or_else(of_file)?;
    Some((name, file))
}
