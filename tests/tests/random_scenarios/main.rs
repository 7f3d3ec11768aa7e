// SPDX-License-Identifier: GPL-2.0-only
//! Scenarios drawn at random, run through the simulator, and held against what must be true of every run.
//!
//! The number of scenarios is `HPCC_RANDOM_SCENARIOS`, the first seed `HPCC_RANDOM_SEED`: `./hpcc fuzz SECONDS scenarios`
//! sets both, as it does for runs that several processes share.

mod checks;
mod draw;
mod shared;

use hpcc_tests::{Bench, seeds};
use rayon::prelude::*;

/// Seconds of processor time after which a run is taken for endless.
const SECONDS: &str = "100";

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
    let seeds = seeds(60);
    let count = seeds.end - seeds.start;
    let wrong: Vec<String> = seeds.into_par_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {count} scenarios:\n{}", wrong.len(), wrong.join("\n"));
}
