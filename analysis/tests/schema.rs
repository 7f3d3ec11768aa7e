// SPDX-License-Identifier: GPL-2.0-only
//! The JSON schemas, against the files that are shipped, by a validator that knows nothing of this project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jsonschema::Validator;
use serde_json::Value;

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs")
}

fn validator(kind: &str) -> Validator {
    let printed = Command::new(env!("CARGO_BIN_EXE_hpcc")).args(["schema", kind]).output().expect("hpcc starts");
    let schema: Value = serde_json::from_slice(&printed.stdout).expect(kind);
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{kind} is no schema: {error}"));
    jsonschema::draft7::new(&schema).expect(kind)
}

fn json(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

fn complaints(validator: &Validator, text: &str) -> Vec<String> {
    validator.iter_errors(&json(text)).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn every_shipped_file_is_valid_and_names_its_schema() {
    let (scenario, sweep) = (validator("scenario"), validator("sweep"));
    let mut files = 0;
    let folders = ["", "paper", "paper/scenarios"].map(|name| configs().join(name));
    for path in folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("configs"))
        .map(|entry| entry.expect("entry").path())
    {
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        files += 1;
        let text = fs::read_to_string(&path).expect("text");
        let named = text.lines().find_map(|line| line.strip_prefix("#:schema ")).expect("a line #:schema");
        assert!(path.with_file_name(named).is_file(), "{}: {named}", path.display());
        let validator = if named.ends_with("sweep.json") { &sweep } else { &scenario };
        let complaints = complaints(validator, &text);
        assert!(complaints.is_empty(), "{}: {complaints:#?}", path.display());
    }
    assert!(files > 40, "{files} files");
}

/// Lines of the quick start, and their replacements.
#[test]
fn mistakes_in_a_scenario_are_refused() {
    let validator = validator("scenario");
    let text = fs::read_to_string(configs().join("quickstart.toml")).expect("text");
    for (right, wrong) in [
        ("eta = 0.95", "etta = 0.95"),
        ("eta = 0.95", "eta = 3.0"),
        ("eta = 0.95", "eta = \"0.95\""),
        ("\"hpcc\"", "\"hpc\""),
        ("buffer = \"32MiB\"", "buffer = \"32 parsecs\""),
        ("kind = \"star\"", "kind = \"stern\""),
        ("delay = \"1us\"", "delay = 1"),
        ("stop = \"4ms\"", ""),
        ("[switch]", "[compatibility]\nmissed_wakeup = true\n[switch]"),
    ] {
        assert!(text.contains(right), "{right}");
        let wrong_text = text.replacen(right, wrong, 1);
        assert!(!complaints(&validator, &wrong_text).is_empty(), "{wrong} is valid");
    }
}

#[test]
fn what_a_scenario_may_say_is_valid() {
    let validator = validator("scenario");
    let text = fs::read_to_string(configs().join("quickstart.toml")).expect("text");
    for more in [
        "[compatibility]\nprofile = \"reference\"\nmissed_wakeups = false\n",
        "[transport]\nmtu = 1500\ntimeout = \"auto\"\nwindow = false\n",
        "[fast_cnp]\ndomain = [0, 4]\nborders = [[4, 5]]\ncapable = \"auto\"\n",
        "[failures]\nlinks = [{ time = \"1ms\", a = 0, b = 20 }]\n",
    ] {
        let complaints = complaints(&validator, &format!("{text}\n{more}"));
        assert!(complaints.is_empty(), "{more}: {complaints:#?}");
    }
    let classes = text.replace("buffer = \"32MiB\"", "classes = \"3:3000, 4:1000\"");
    assert!(complaints(&validator, &classes).is_empty());
    let foreign = text.replace("algorithm = \"hpcc\"", "algorithm = \"ns3::QueueTarget\"\nTarget = \"20000\"");
    assert!(complaints(&validator, &foreign).is_empty());
}

#[test]
fn mistakes_in_a_sweep_are_refused() {
    let validator = validator("sweep");
    let good = "title = \"T\"\nbase = \"a.toml\"\n[[variant]]\nname = \"a\"\nset = [\"run.seed=1\"]\n";
    assert!(complaints(&validator, good).is_empty());
    let report = format!("{good}[report]\nplots = [\"pie\"]\n");
    for wrong in [good.replace("title", "titel"), good.replace("name = \"a\"\n", ""), report] {
        assert!(!complaints(&validator, &wrong).is_empty(), "{wrong}");
    }
}
