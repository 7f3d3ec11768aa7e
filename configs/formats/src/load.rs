// SPDX-License-Identifier: GPL-2.0-only
//! From a file of either format to a scenario.

use crate::alone;
use crate::kind::{is_toml, refuse_sweep, scenario_text};
use crate::{reference, toml_format};
use hpcc_core::node::NodeSettings;
use hpcc_model::check;
use hpcc_model::draft::Draft;
use hpcc_model::error::InputError;
use hpcc_model::place::{COMMAND_LINE, Place};
use hpcc_model::scenario::Scenario;
use std::path::Path;

/// Reads and checks a scenario.
///
/// A `.toml` file is TOML, and so is any file whose first line of content opens a section or assigns a value;
/// a job of another simulator alone is one, too; everything else is the 2019 simulator's `config.txt`. Each override is
/// `KEY=VALUE` and replaces what the file says: a dotted path for TOML (`congestion_control.eta=0.98`), a key for the
/// 2019 simulator (`U_TARGET=0.98`). In both, `compatibility.NAME=false` corrects one of the 2019 simulator's faults.
///
/// # Errors
/// Anything that is misspelt, missing, out of range or inconsistent, with file and line where there is one.
pub fn load(path: &Path, overrides: &[String]) -> Result<Scenario, InputError> {
    load_with(path, overrides, NodeSettings::default())
}

/// As [`load`], with other defaults, and perhaps more algorithms to choose from.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: &Path, overrides: &[String], defaults: NodeSettings) -> Result<Scenario, InputError> {
    refuse_overlaps(overrides)?;
    let text = scenario_text(path)? + &alone::memory(path, overrides);
    let parsed = |overrides: &[String]| parse(path, &text, overrides, defaults.clone());
    parsed(overrides).map_err(|error| name_overrides(error, overrides, || parsed(&[]).err()))
}

/// As [`load`], of a text that is in no file yet; `path` is where it would be.
///
/// # Errors
/// As [`load`].
pub fn load_text(path: &Path, text: &str) -> Result<Scenario, InputError> {
    parse(path, text, &[], NodeSettings::default())
}

/// Whether a scenario is TOML, and no `config.txt` of the 2019 simulator.
pub fn is_toml_file(path: &Path) -> bool {
    scenario_text(path).is_ok_and(|text| is_toml(path, &text))
}

/// A scenario without its flows, with `defaults` as in [`load_with`], whose settings were not checked against its network: for
/// those who look at the network.
///
/// # Errors
/// As [`load`], but for what does not fit the network.
pub fn load_network(path: &Path, overrides: &[String], defaults: NodeSettings) -> Result<Scenario, InputError> {
    let text = scenario_text(path)?;
    draft(path, &text, overrides, defaults).map(|draft| draft.scenario)
}

/// As [`load_network`], of a text that is in no file yet; `path` is where it would be.
///
/// # Errors
/// As [`load_network`].
pub fn load_network_text(path: &Path, text: &str) -> Result<Scenario, InputError> {
    draft(path, text, &[], NodeSettings::default()).map(|draft| draft.scenario)
}

/// Refuses two overrides if one would undo the other.
///
/// # Errors
/// With both.
pub fn refuse_overlaps(overrides: &[String]) -> Result<(), InputError> {
    let keys: Vec<&str> = overrides.iter().filter_map(|pair| Some(pair.split_once('=')?.0.trim())).collect();
    for (index, key) in keys.iter().enumerate() {
        let Some(earlier) = keys[..index].iter().find(|earlier| overlap(earlier, key)) else { continue };
        let message = match earlier == key {
            true => "the key is given twice; expected one value".to_owned(),
            false => format!("{earlier} is given, too, and one holds the other; expected one of them"),
        };
        return Err(Place::command_line().of(*key).error(format!("{key}: {message}")));
    }
    Ok(())
}

/// Whether both are one key, or one is a table or list and the other a key in it.
pub fn overlap(one: &str, other: &str) -> bool {
    let holds = |table: &str, key: &str| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
    one == other || holds(one, other) || holds(other, one)
}

fn parse(path: &Path, text: &str, overrides: &[String], defaults: NodeSettings) -> Result<Scenario, InputError> {
    check::agree(draft(path, text, overrides, defaults)?)
}

fn draft(path: &Path, text: &str, overrides: &[String], defaults: NodeSettings) -> Result<Draft, InputError> {
    let draft = if is_toml(path, text) {
        refuse_sweep(path, text)?;
        toml_format::read(path, text, overrides, defaults)?
    } else {
        reference::read(path, text, overrides, defaults)?
    };
    check::sums(&draft)?;
    Ok(draft)
}

/// Adds the overrides to an error that blames a line of a file, if it is not there without them.
fn name_overrides(error: InputError, overrides: &[String], without: impl Fn() -> Option<InputError>) -> InputError {
    if overrides.is_empty() || error.file == Path::new(COMMAND_LINE) || without().as_ref() == Some(&error) {
        return error;
    }
    InputError { set: overrides.to_vec(), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_override_sets_no_other_undoes() {
        let told = |pairs: &[&str]| {
            let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
            refuse_overlaps(&pairs).map_err(|error| error.to_string())
        };
        assert!(told(&["a.b=1", "a.bc=1", "d.0.b=x=y", "d.1.b=1"]).is_ok());
        let twice = "--set: a.b: the key is given twice; expected one value";
        assert_eq!(told(&["a.b=1", " a.b =2"]).expect_err("twice"), twice);
        let other = "is given, too, and one holds the other; expected one of them";
        for (first, second) in [("a.b", "a"), ("a", "a.b"), ("d.0.b", "d"), ("d", "d.1.b"), ("d.1", "d.1.b.c")] {
            let pairs = [format!("{first}=1"), "e=1".into(), format!("{second}={{}}")];
            let told = told(&pairs.each_ref().map(String::as_str)).expect_err("a part of it");
            assert_eq!(told, format!("--set: {second}: {first} {other}"));
        }
    }

    #[test]
    fn overrides_that_make_an_error_are_named() {
        let set = ["a=1".to_owned(), "b=2".to_owned()];
        let error = InputError::new(Path::new("a.toml"), Some(3), "is odd");
        let named = |without: Option<InputError>| name_overrides(error.clone(), &set, || without.clone()).to_string();
        assert_eq!(named(Some(error.clone())), "a.toml:3: is odd");
        assert_eq!(named(None), "a.toml:3: is odd (with --set a=1 --set b=2)");
    }

    #[test]
    fn a_changed_setting_flow_or_link_is_another_input() {
        let dir = tempfile::tempdir().expect("folder");
        let file = dir.path().join("a.toml");
        let text = "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
            [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
        std::fs::write(&file, text).expect("scenario");
        let digest = |set: &[&str]| {
            let overrides: Vec<String> = set.iter().map(|pair| (*pair).to_owned()).collect();
            load(&file, &overrides).expect("scenario").digest().expect("digest")
        };
        let plain = digest(&[]);
        assert_eq!(plain, digest(&["run.seed=1"]));
        for pair in [
            "run.seed=2",
            "traffic.0.size=2MB",
            "traffic.0.name=long",
            "topology.delay=2us",
            "congestion_control.eta=0.9",
        ] {
            assert_ne!(plain, digest(&[pair]), "{pair}");
        }
    }
}
