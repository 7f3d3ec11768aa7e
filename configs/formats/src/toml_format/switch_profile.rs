// SPDX-License-Identifier: GPL-2.0-only
//! `switch.profile`: keys of `[switch]` from an operator's `config_db.json`, where the scenario does not give them itself.

use super::keys::keys;
use crate::sonic::{self, SonicSwitch};
use hpcc_model::error::InputError;
use hpcc_model::input;
use hpcc_model::origin::Origin;
use hpcc_model::place::Place;

use hpcc_core::ecn::EcnThreshold;
use hpcc_core::topology::Network;
use hpcc_core::units::BitRate;
use std::path::Path;
use toml::de::DeTable;
use toml::{Table, Value};

const PATH: &str = "switch.profile";

keys! {
    Lists {
        /// A `config_db.json` of SONiC, beside the scenario's file: its pools, profiles, groups, queues and marks are keys of
        /// this section, unless that has them itself. `buffer` and `buffer_cell` are not in it. Notes list what has no counterpart.
        profile: Option<String>;
    }
}

/// Keys of the section's own thresholds, beside which a profile has none.
const THRESHOLDS: [&str; 4] = ["ecn_thresholds", "ecn_kmin", "ecn_kmax", "ecn_pmax"];

/// What it says of the watchdog is out of place where the scenario has none.
const WATCHDOG: &str = "pfc_watchdog";

/// Overrides with what a profile says ahead of them.
pub(super) struct Laid {
    pub overrides: Vec<String>,
    /// How many of them are the profile's, and where that is.
    pub elsewhere: (usize, Place),
    /// Notes of what it says in vain.
    pub left_out: Vec<String>,
}

/// Lays overrides over a profile. One that cannot be read says nothing, for [`check`] to refuse.
pub(super) fn overrides(path: &Path, text: &str, given: &[String]) -> Laid {
    let read = named(path, text, given).and_then(|named| Some((load(path, &named.profile).ok()?, named)));
    let Some((mut read, Named { profile, own, watchdog_off, place })) = read else {
        return Laid { overrides: given.to_vec(), elsewhere: (0, Place::file(path)), left_out: Vec::new() };
    };
    let is_own = |key: &str| {
        let of_line =
            given.iter().any(|set| set.split('=').next().is_some_and(|set| set.trim() == format!("switch.{key}")));
        of_line || own.iter().any(|own| own == key)
    };
    if watchdog_off {
        let had = read.keys.remove(WATCHDOG).is_some();
        read.keys.retain(|key, _| !key.starts_with(WATCHDOG));
        read.left_out.extend(had.then(|| format!("PFC_WD: the scenario turns switch.{WATCHDOG} off")));
    }
    read.left_out.extend(THRESHOLDS.iter().find(|key| is_own(key)).and_then(|key| give_way(&mut read.keys, key)));
    read.left_out.extend(overruled(&read.keys, &is_own));
    let keys = read.keys.iter().filter(|(key, _)| !is_own(key));
    let keys = keys.map(|(key, value)| format!("switch.{key}={value}")).collect::<Vec<_>>();
    Laid {
        elsewhere: (keys.len(), place),
        overrides: [&keys, given].concat(),
        left_out: read.left_out.iter().map(|left_out| format!("{profile}: {left_out}")).collect(),
    }
}

/// Takes out the thresholds that a key of the scenario's has the place of; which priorities are not marked at all remains.
fn give_way(keys: &mut Table, own: &str) -> Option<String> {
    let all = keys.remove("ecn_thresholds");
    let before = keys.get("class_ecn").and_then(Value::as_str).unwrap_or_default().to_string();
    let unmarked: Vec<&str> = before.split(", ").filter(|class| class.ends_with(":none")).collect();
    let is_less = unmarked.join(", ") != before;
    if is_less {
        keys.insert("class_ecn".into(), unmarked.join(", ").into());
    }
    let is_told = all.is_some() || is_less;
    is_told.then(|| format!("WRED_PROFILE: the scenario's switch.{own} takes the place of its thresholds"))
}

/// The keys of a profile that the scenario sets itself, so that a run does not test what the file says of them.
fn overruled(keys: &Table, is_own: &impl Fn(&str) -> bool) -> Option<String> {
    let own = keys.iter().filter(|(key, _)| is_own(key) && !THRESHOLDS.contains(&key.as_str()));
    let said = |(key, value): (&String, &Value)| {
        if value.is_array() { format!("switch.{key}") } else { format!("switch.{key} ({value} in the file)") }
    };
    let own = own.map(said).collect::<Vec<_>>().join(", ");
    (!own.is_empty()).then(|| format!("the scenario's own values take the place of the file's: {own}"))
}

/// Refuses a profile that cannot be read.
pub(super) fn check(path: &Path, lists: &Lists, origin: &Origin) -> Result<(), InputError> {
    let Some(name) = &lists.profile else { return Ok(()) };
    let refuse = |why: String| {
        let has_more = why.contains("; expected ");
        let expected = if has_more { "" } else { "; expected a config_db.json of SONiC beside the scenario" };
        origin.error(&["profile"], format!("{name} cannot be read: {why}{expected}"))
    };
    load(path, name).map(|_| ()).map_err(refuse)
}

/// Takes thresholds of rates that no switch has out of a profile's, which is of a switch with other ports, too; returns a note.
pub(super) fn keep_used(thresholds: &mut Vec<EcnThreshold>, network: &Network) -> Option<String> {
    let known: Vec<BitRate> = network.switch_rates().collect();
    let (used, unused) = thresholds.drain(..).partition(|threshold| known.contains(&threshold.rate));
    *thresholds = used;
    let unused: Vec<String> = unused.iter().map(|threshold: &EcnThreshold| threshold.rate.to_string()).collect();
    (!unused.is_empty()).then(|| format!("{PATH} has ports of {}, which no switch has here", unused.join(", ")))
}

/// What is read of a profile beside a scenario.
fn load(path: &Path, name: &str) -> Result<SonicSwitch, String> {
    let text = input::read_text(&path.with_file_name(name)).map_err(|error| error.to_string())?;
    sonic::read(&text)
}

/// The profile that a scenario names.
struct Named {
    profile: String,
    /// The keys that the section has itself.
    own: Vec<String>,
    /// Whether the scenario turns the watchdog off.
    watchdog_off: bool,
    /// Where what the profile says is, for errors about it.
    place: Place,
}

fn named(path: &Path, text: &str, given: &[String]) -> Option<Named> {
    // Most scenarios have none, and need not be parsed for it.
    let of_line = given.iter().rev().find_map(|set| set.strip_prefix(PATH)?.trim_start().strip_prefix('='));
    if of_line.is_none() && !text.contains("profile") {
        return None;
    }
    // Wrong values elsewhere are for others to refuse.
    let file = DeTable::parse(text).ok();
    let switch = file.as_ref().and_then(|file| file.get_ref().get("switch")?.get_ref().as_table());
    let of_file = || {
        let profile = switch?.get("profile")?;
        let line = text.get(..profile.span().start)?.matches('\n').count() + 1;
        Some((profile.get_ref().as_str()?.to_string(), format!("{PATH}, {}:{line}", path.display())))
    };
    let of_line = of_line.map(|name| (name.trim().trim_matches('"').to_string(), format!("--set {PATH}")));
    let (profile, by) = of_line.or_else(of_file)?;
    let own = switch.into_iter().flat_map(|switch| switch.keys()).map(|key| key.get_ref().to_string());
    let place = Place::file(Path::new(&format!("{profile} ({by})")));
    let of_line = given.iter().rev().find_map(|set| {
        let (key, value) = set.split_once('=')?;
        (key.trim().strip_prefix("switch.")? == WATCHDOG).then(|| value.trim().trim_matches('"'))
    });
    let watchdog = of_line.or_else(|| switch?.get(WATCHDOG)?.get_ref().as_str());
    Some(Named { profile, own: own.collect(), watchdog_off: watchdog == Some("off"), place })
}
