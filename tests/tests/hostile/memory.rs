// SPDX-License-Identifier: GPL-2.0-only
//! Networks that need more memory than there is are refused.

use hpcc_tests::{Bench, Told, hpcc, is_complete};

/// Runs with so much memory.
fn run_in(bench: &Bench, memory: &str) -> Told {
    let mut command = hpcc();
    command.args(["run", "scenario.toml", "--out", "out"]).env("HPCC_MEMORY", memory).current_dir(bench.path(""));
    let told = Told::from(command.output().expect("the command starts"));
    assert!(!is_complete(&bench.path("out")), "{}", told.err);
    told
}

/// Many hosts around one switch.
const STAR: &str = "[run]\nstop = '10ms'\n\
    [topology]\nkind = 'star'\nhosts = 65_000\nrate = '100Gbps'\ndelay = '1us'\n\
    [[traffic]]\nkind = 'permutation'\nsize = '1KB'\n";

#[test]
fn a_network_that_does_not_fit_is_refused() {
    let bench = Bench::new(&[("scenario.toml", STAR)]);
    let told = run_in(&bench, "20GB");
    assert_eq!(told.code, Some(2), "{}", told.err);
    for words in ["scenario.toml:3: topology: ", "17GB for the paths between 65000 hosts", "20GB are available"] {
        assert!(told.err.contains(words), "{words}: {}", told.err);
    }
    let told = run_in(&bench, "much");
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("environment: HPCC_MEMORY: \"much\""), "{}", told.err);
}
