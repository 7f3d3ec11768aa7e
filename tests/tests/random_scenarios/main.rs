// SPDX-License-Identifier: GPL-2.0-only
//! Scenarios drawn at random, run through the simulator, and held against what must be true of every run.
//!
//! The number of scenarios is `HPCC_RANDOM_SCENARIOS`, the first seed `HPCC_RANDOM_SEED`: `./hpcc fuzz SECONDS scenarios`
//! sets both, as it does for runs that several processes share.

mod checks;
mod draw;
mod shared;

use hpcc_tests::Bench;
use rayon::prelude::*;
use std::env;

/// Seconds of processor time after which a run is taken for endless.
const SECONDS: &str = "100";

fn from_environment(variable: &str, default: u64) -> u64 {
    env::var(variable)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// Runs a scenario once with monitors and twice without; returns what is wrong.
fn wrong(seed: u64) -> Option<String> {
    let scenario = draw::scenario(seed);
    let bench =
        Bench::new(&[("plain.toml", &scenario.text), ("watched.toml", &(scenario.text.clone() + draw::MONITORS))]);
    let run = |config: &str, out: &str| {
        let told = bench.simulate_to(out, config, &[], SECONDS);
        matches!(told.code, Some(0 | 3)).then_some(()).ok_or(format!("ends with {:?}: {}", told.code, told.err))
    };
    let result = run("plain.toml", "first")
        .and_then(|()| run("plain.toml", "second"))
        .and_then(|()| run("watched.toml", "watched"))
        .and_then(|()| checks::all(&bench, &scenario));
    result.err().map(|why| format!("seed {seed}: {why}\n{}", scenario.text))
}

#[test]
fn what_is_true_of_every_run_is_true_of_random_ones() {
    let (count, first) = (from_environment("HPCC_RANDOM_SCENARIOS", 60), from_environment("HPCC_RANDOM_SEED", 1));
    let wrong: Vec<String> = (first..first + count).into_par_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {count} scenarios:\n{}", wrong.len(), wrong.join("\n"));
}
