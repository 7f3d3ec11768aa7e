// SPDX-License-Identifier: GPL-2.0-only
//! What other crates may be, as `deny.toml` says: licences, sources, versions. `./hpcc audit` asks cargo-deny, which also
//! knows advisories; this does without.

use serde::Deserialize;
use spdx::Expression;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// The workspaces, by folder.
const WORKSPACES: [&str; 3] = [".", "hpcc-core/fuzz", "tests/fuzz"];
/// Where crates may come from; those of ours have no source.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// `deny.toml`, as far as it is used here.
#[derive(Debug, Deserialize)]
struct Deny {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    skip: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Lock {
    package: Vec<Package>,
}

fn deny() -> Deny {
    let text = fs::read_to_string(Path::new(ROOT).join("deny.toml")).expect("deny.toml");
    toml::from_str(&text).expect("deny.toml")
}

/// The crates that a workspace needs on this machine, with what they say of themselves.
fn packages(workspace: &str) -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let about = Command::new(&cargo).arg("-vV").output().expect("cargo").stdout;
    let about = String::from_utf8(about).expect("text");
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", host]);
    let output = command.current_dir(Path::new(ROOT).join(workspace)).output().expect("cargo");
    assert!(output.status.success(), "{workspace}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Metadata>(&output.stdout).expect("metadata").packages
}

impl Licenses {
    /// Whether a crate may be used.
    fn permit(&self, package: &Package) -> bool {
        let exception = self.exceptions.iter().find(|exception| exception.name == package.name);
        // Older crates write a slash for "or".
        let license = package.license.as_deref().map(|license| license.replace('/', " OR "));
        let expression = license.and_then(|license| Expression::parse(&license).ok());
        expression.is_some_and(|expression| {
            expression.evaluate(|licence| {
                let name = licence.to_string();
                self.allow.contains(&name) || exception.is_some_and(|other| other.allow.contains(&name))
            })
        })
    }
}

#[test]
fn crates_have_licences_that_suit_ours() {
    let licenses = deny().licenses;
    for workspace in WORKSPACES {
        let packages = packages(workspace);
        assert!(packages.len() > 5, "{workspace}: {packages:?}");
        let wrong: Vec<&Package> = packages.iter().filter(|package| !licenses.permit(package)).collect();
        assert!(wrong.is_empty(), "{workspace}: {wrong:#?}");
    }
    let package = |name: &str, license: &str| Package {
        name: name.into(),
        version: String::new(),
        license: Some(license.into()),
        source: None,
    };
    for (name, license, permitted) in [
        ("other", "MIT/Apache-2.0", true),
        ("other", "Apache-2.0", false),
        ("other", "MIT AND Apache-2.0", false),
        ("other", "Apache-2.0 WITH LLVM-exception", false),
        ("clang-sys", "Apache-2.0", true),
        ("other", "made up", false),
    ] {
        assert_eq!(licenses.permit(&package(name, license)), permitted, "{name}: {license}");
    }
}

#[test]
fn crates_come_from_one_place_and_in_one_version() {
    let skip = deny().bans.skip;
    for workspace in WORKSPACES {
        let file = Path::new(ROOT).join(workspace).join("Cargo.lock");
        let lock: Lock = toml::from_str(&fs::read_to_string(&file).expect(workspace)).expect(workspace);
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for package in &lock.package {
            assert!(package.source.as_deref().is_none_or(|source| source == REGISTRY), "{workspace}: {package:?}");
            if !skip.contains(&format!("{}@{}", package.name, package.version)) {
                versions.entry(&package.name).or_default().push(&package.version);
            }
        }
        versions.retain(|_, versions| versions.len() > 1);
        assert!(versions.is_empty(), "{workspace}: {versions:?}");
    }
}

/// The crates that a package of ours is made of, and those of the macros in it, each with its features.
fn features(package: &str) -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let mut command = Command::new(cargo);
    command.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}\t{f}"]);
    let output = command.args(["--package", package]).current_dir(ROOT).output().expect("cargo");
    assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    let mut features = BTreeMap::<String, BTreeSet<String>>::new();
    for line in String::from_utf8(output.stdout).expect("text").lines() {
        let (name, of_crate) = line.split_once('\t').expect("two columns");
        features.entry(name.to_owned()).or_default().insert(of_crate.trim_end_matches(" (*)").to_owned());
    }
    features
}

/// Whoever tries hpcc waits for both; a crate whose features differ would be compiled twice, with all that need it.
#[test]
fn the_command_and_the_simulator_share_what_is_compiled() {
    let (command, simulator) = (features("hpcc-analysis"), features("ns3-bridge"));
    let shared: Vec<&String> = command.keys().filter(|name| simulator.contains_key(*name)).collect();
    assert!(shared.len() > 50, "{shared:?}");
    for name in shared {
        // Macros, which run on the machine that builds, may want more of a crate; then it is there twice.
        let same = command[name].is_subset(&simulator[name]) || simulator[name].is_subset(&command[name]);
        assert!(same, "{name}: the command has it with {:?}, the simulator with {:?}", command[name], simulator[name]);
    }
}
