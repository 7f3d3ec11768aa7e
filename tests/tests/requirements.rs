// SPDX-License-Identifier: GPL-2.0-only
//! Every requirement that `requirements.toml` claims has a test that names it.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How many there are.
const COUNT: usize = 66;

/// This file names some in its own tests.
const SELF: &str = "requirements.rs";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    requirements: BTreeMap<String, Requirement>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Requirement {
    claimed: bool,
    /// The document that asks for it, and its sections.
    source: String,
    text: String,
    missing: Option<String>,
}

/// Where each requirement is named in test code.
type Named = BTreeMap<String, BTreeSet<PathBuf>>;

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the room is in the tree").to_owned()
}

fn table() -> BTreeMap<String, Requirement> {
    let path = tree().join("tests/requirements.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str::<Table>(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())).requirements
}

/// Collects what the tests in a folder of the tree name.
fn scan(folder: &Path, named: &mut Named) {
    for entry in fs::read_dir(tree().join(folder)).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let entry = entry.expect("entry");
        let name = entry.file_name();
        // Relative to the tree: the folders above it have names of their own.
        let (path, name) = (folder.join(&name), name.to_string_lossy());
        if entry.file_type().expect("type").is_dir() {
            if !name.starts_with('.') && name != "target" && name != "hpcc-out" {
                scan(&path, named);
            }
        } else if (name.ends_with(".rs") && name != SELF) || name.ends_with(".cc") {
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for id in ids(test_code(&path, &text)) {
                named.entry(id).or_default().insert(path.clone());
            }
        }
    }
}

/// The part of a source file that is test code: all of it in a folder of tests, otherwise what follows
/// `#[cfg(test)]`.
fn test_code<'a>(path: &Path, text: &'a str) -> &'a str {
    let in_folder = path.parent().is_some_and(|folder| {
        folder.components().any(|part| ["tests", "test"].iter().any(|name| part.as_os_str() == *name))
    });
    if in_folder || path.to_str().is_some_and(|name| name.ends_with("tests.rs")) {
        return text;
    }
    text.find("#[cfg(test)]").map_or("", |start| &text[start..])
}

/// `REQ-07` for each `REQ-07` and `fn req_07_` in the text.
fn ids(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for mark in ["REQ-", "fn req_"] {
        for (start, _) in text.match_indices(mark) {
            let digits = text[start + mark.len()..].chars().take_while(char::is_ascii_digit).collect::<String>();
            if !digits.is_empty() {
                found.insert(format!("REQ-{digits}"));
            }
        }
    }
    found
}

#[test]
fn the_table_is_complete() {
    let expected: Vec<String> = (1..=COUNT).map(|number| format!("REQ-{number:02}")).collect();
    let table = table();
    assert_eq!(table.keys().cloned().collect::<Vec<_>>(), expected);
    for (id, requirement) in &table {
        assert!(!requirement.text.is_empty(), "{id} has no text");
        let known = ["miao ", "pan ", "xiao ", "HPCC paper ", "RFC ", "P4 INT ", "ours: "];
        let of = |source: &str| known.iter().any(|document| source.starts_with(document));
        assert!(requirement.source.split("; ").all(of), "{id}: unknown source {}", requirement.source);
        assert!(!(requirement.claimed && requirement.missing.is_some()), "{id} is claimed, but something is missing");
    }
}

#[test]
fn every_claim_has_a_test() {
    let (table, mut named) = (table(), Named::new());
    scan(Path::new(""), &mut named);
    println!("not claimed:");
    for (id, requirement) in table.iter().filter(|(_, requirement)| !requirement.claimed) {
        let tested = if named.contains_key(id) { " [a test names it]" } else { "" };
        let missing = requirement.missing.as_ref().map_or_else(String::new, |missing| format!(" - {missing}"));
        println!("  {id} {}{missing}{tested}", requirement.text);
    }
    let claimed = table.iter().filter(|(_, requirement)| requirement.claimed);
    println!("claimed:");
    for (id, requirement) in claimed.clone() {
        println!("  {id} {}: {:?}", requirement.text, named.get(id).into_iter().flatten().collect::<Vec<_>>());
    }
    let untested: Vec<&String> = claimed.map(|(id, _)| id).filter(|id| !named.contains_key(*id)).collect();
    assert!(untested.is_empty(), "claimed in requirements.toml, but no test names them: {untested:?}");
    let unknown: Vec<_> = named.iter().filter(|(id, _)| !table.contains_key(*id)).collect();
    assert!(unknown.is_empty(), "named by tests, but not in requirements.toml: {unknown:?}");
}

#[test]
fn only_test_code_counts() {
    let text = "/// REQ-01\nfn req_02_x() {}\n#[cfg(test)]\nmod tests {\n/// REQ-07, REQ-08\nfn req_05_y() {}\n}";
    let found = |path: &str| ids(test_code(Path::new(path), text)).into_iter().collect::<Vec<_>>();
    assert_eq!(found("core/src/a.rs"), ["REQ-05", "REQ-07", "REQ-08"]);
    assert_eq!(found("module/test/a.cc").len(), 5);
    assert_eq!(found("core/src/tests.rs").len(), 5);
    assert!(ids("REQ-x and require_01").is_empty());
}
