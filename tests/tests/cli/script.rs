// SPDX-License-Identifier: GPL-2.0-only
//! The script `hpcc`: help and mistakes need no ns-3, and do nothing.

use hpcc_tests::{Bench, Told, script};

/// Runs the script where there is no ns-3 tree, and checks that it has not begun to get one.
#[track_caller]
fn told(arguments: &[&str]) -> Told {
    let bench = Bench::new(&[]);
    let mut command = script();
    command.args(arguments).current_dir(bench.path("")).env("HPCC_CACHE", bench.path("cache"));
    for variable in ["NS3_DIR", "HPCC_SCENARIO_PROGRAM", "HPCC_ANALYSIS_PROGRAM"] {
        command.env_remove(variable);
    }
    let told = Told::from(command.output().expect("the script starts"));
    assert!(!bench.path("cache").exists() && !told.err.contains("ns-3"), "{arguments:?}: {}", told.err);
    told
}

#[test]
fn every_command_has_help() {
    let all = told(&["--help"]);
    assert_eq!(all.code, Some(0), "{}", all.err);
    let (_, list) = all.out.split_once("Commands:\n").expect("commands");
    let commands: Vec<&str> =
        list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(["run", "test", "build", "fuzz", "reqs"].iter().all(|name| commands.contains(name)), "{commands:?}");
    for name in commands.into_iter().filter(|name| *name != "help") {
        let help = told(&[name, "--help"]);
        assert_eq!(help.code, Some(0), "{name}: {}", help.err);
        assert!(help.out.contains("Usage: ./hpcc"), "{name}: {}", help.out);
    }
}

#[test]
fn the_version_is_told() {
    let version = told(&["--version"]);
    assert_eq!((version.code, version.out.trim()), (Some(0), concat!("hpcc ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn mistakes_are_explained_before_anything_is_built() {
    for (arguments, words) in [
        (&["runn"][..], "'run'"),
        (&["run"], "<CONFIG>"),
        (&["test", "--fast"], "--fast"),
        (&["fuzz", "long"], "long"),
        (&["bench", "--runs", "0"], "--runs"),
        (&["sweep", "nowhere.toml"], "nowhere.toml"),
    ] {
        let mistake = told(arguments);
        assert_eq!(mistake.code, Some(2), "{arguments:?}: {}", mistake.err);
        assert!(mistake.err.contains(words), "{arguments:?}: {}", mistake.err);
    }
}
