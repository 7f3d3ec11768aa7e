// SPDX-License-Identifier: GPL-2.0-only
//! Every key of a scenario that is no setting - of networks, traffic, failures, attacks, monitors - at and beyond the ends of
//! what types can hold. The files are those with which fuzzing begins.

use crate::{extremes, outcome};
use hpcc_tests::Bench;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use toml::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/scenario");

/// Files that some of the scenarios name.
const LISTS: &[(&str, &str)] = &[
    ("topology.txt", "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 100Gbps 1000ns 0\n"),
    ("flow.txt", "2\n0 2 3 100 20000 0.000000\n1 2 3 100 20000 0.000005\n"),
    ("sizes.cdf", "1000 50\n9000 100\n"),
    ("sonic.json", include_str!("../../fuzz/seeds/sonic.json")),
    ("job.goal", include_str!("../../fuzz/seeds/jobs/job.goal")),
    ("job.cm", include_str!("../../fuzz/seeds/jobs/job.cm")),
    ("trace.0.json", include_str!("../../fuzz/seeds/jobs/trace.0.json")),
    ("trace.1.json", include_str!("../../fuzz/seeds/jobs/trace.1.json")),
    ("groups.json", include_str!("../../fuzz/seeds/jobs/groups.json")),
    ("matrix.txt", include_str!("../../fuzz/seeds/jobs/matrix.txt")),
    ("requests.csv", include_str!("../../fuzz/seeds/jobs/requests.csv")),
    ("job.simai", include_str!("../../fuzz/seeds/jobs/job.simai")),
    ("tree.topo", include_str!("../../fuzz/seeds/jobs/tree.topo")),
];

/// The scenarios: names and texts.
fn scenarios() -> Vec<(String, String)> {
    let files = fs::read_dir(FOLDER).expect(FOLDER).map(|file| file.expect(FOLDER));
    let read = |file: fs::DirEntry| {
        let name = file.file_name().into_string().expect("a name");
        (name, fs::read_to_string(file.path()).expect("a scenario"))
    };
    files.map(read).collect()
}

/// Calls `see` with the dotted path of each value that has no parts, and of each list.
fn leaves(path: &str, value: &Value, see: &mut impl FnMut(String, &Value)) {
    let below = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| leaves(&below(key), value, see)),
        Value::Array(list) => {
            see(path.into(), value);
            list.iter().enumerate().for_each(|(index, value)| leaves(&below(&index.to_string()), value, see));
        }
        Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
            see(path.into(), value);
        }
    }
}

/// Values to try in place of a value.
fn instead_of(value: &Value) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    match value {
        Value::Integer(_) => extremes::whole(),
        Value::Float(_) => extremes::real(),
        Value::String(text) if text.starts_with(|letter: char| letter.is_ascii_digit()) => {
            extremes::quantity(text.trim_start_matches(|letter: char| letter.is_ascii_digit()))
        }
        Value::String(_) => {
            [words(&["", "x", "-1", "/dev/zero", "18446744073709551616"]), vec!["9".repeat(9999)]].concat()
        }
        Value::Boolean(_) => words(&["true", "false", "2", "nan"]),
        Value::Array(_) => words(&["[]", "[[]]", "[0]", "[-1]", "[9223372036854775807]", "{}", "x", "1"]),
        Value::Table(_) | Value::Datetime(_) => Vec::new(),
    }
}

#[test]
fn every_key_has_limits_that_hold() {
    let mut runs = Vec::new();
    for (name, text) in scenarios() {
        let scenario: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lists = LISTS.iter().map(|(name, text)| (*name, (*text).to_owned()));
        let files: Vec<_> = lists.chain([("scenario.toml", text.clone())]).collect();
        let mut run = |set: Vec<String>| {
            runs.push((format!("{name} {set:.200?}"), files.clone(), "scenario.toml".into(), set));
        };
        run(Vec::new());
        leaves("", &scenario, &mut |path, value| {
            instead_of(value).iter().for_each(|other| run(vec![format!("{path}={other}")]));
        });
    }
    outcome::all_end_orderly(&runs, 1000);
}

/// The keys of a section of the schema, each with the kind that has it, if there are kinds.
fn keys_of(section: &str, schema: &Json) -> Vec<String> {
    let one = |schema: &Json, kind: &str| -> Vec<String> {
        let keys = schema["properties"].as_object().expect(section).keys();
        keys.map(|key| format!("{section} {kind} {key}")).collect()
    };
    let schema = if schema["type"] == "array" { &schema["items"] } else { schema };
    match schema["oneOf"].as_array() {
        Some(kinds) => {
            let name = |kind: &Json| kind["properties"]["kind"]["const"].as_str().expect(section).to_string();
            kinds.iter().flat_map(|kind| one(kind, &name(kind))).collect()
        }
        None => one(schema, ""),
    }
}

#[test]
fn no_key_is_left_out() {
    const SECTIONS: [&str; 10] =
        ["run", "topology", "traffic", "servers", "gpu", "nic", "legacy", "failures", "attack", "monitor"];
    let output = Bench::new(&[]).hpcc(&["schema"]);
    let schema: Json = serde_json::from_str(&output.out).expect("the schema");
    let mut missing: BTreeSet<String> =
        SECTIONS.iter().flat_map(|name| keys_of(name, &schema["properties"][*name])).collect();
    for (name, text) in scenarios() {
        let scenario: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (section, content) in scenario.as_table().expect("sections") {
            let kinded = ["topology", "traffic"].contains(&section.as_str());
            for table in content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice) {
                let kind = table.get("kind").and_then(Value::as_str).filter(|_| kinded).unwrap_or_default();
                for key in table.as_table().expect("keys").keys() {
                    missing.remove(&format!("{section} {kind} {key}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
