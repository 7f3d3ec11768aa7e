// SPDX-License-Identifier: GPL-2.0-only
//! Random scenarios with several settings at once, often at the ends of their ranges: each is refused with a reason, or runs
//! and ends with results that can be true, the same in ns-3 and without it. What holds without ns-3 is in tests/relations.
//!
//! `HPCC_RANDOM_SCENARIOS` and `HPCC_RANDOM_SEED` try others: `./hpcc fuzz SECONDS scenarios` sets both.

use hpcc_core::transport::Protocol;
use hpcc_model::error::InputError;
use hpcc_model::scenario::Scenario;
use hpcc_relations::draw::Draw;
use hpcc_relations::repair;
use hpcc_relations::run::Results;
use hpcc_tests::{Bench, ProcessOutput, ScenarioRng, has_tcp, seeds};
use rayon::prelude::*;

/// Seconds of processor time after which a run is taken for endless.
const SECONDS: &str = "20";
/// Words by which programs say that they broke, whatever their exit code.
const BROKEN: &[&str] =
    &["panicked", "Sanitizer", "runtime error", "ASSERT", "NS_FATAL", "overflow", "terminate called"];

/// The outcome of a seed.
enum Outcome {
    Ran,
    Refused,
    Wrong(String),
}

/// Runs the scenario of a seed.
fn outcome(seed: u64, has_stack: bool) -> Outcome {
    let mut rng = ScenarioRng::new(seed, 3);
    let mut document = Draw::new(&mut rng, seed, has_stack).all();
    let repaired = repair(&mut document, &mut rng);
    let bench = Bench::new(&[("scenario.toml", &document.text())]);
    let result = repaired.map_err(|error| format!("nothing mends {error}")).and_then(|(scenario, errors)| {
        let is_vague = |error: &&InputError| error.key.is_none() || error.message.is_empty();
        errors.iter().find(is_vague).map_or(Ok(()), |error| Err(format!("no key: {error}")))?;
        run(&scenario, &bench)
    });
    match result {
        Ok(true) => Outcome::Ran,
        Ok(false) => Outcome::Refused,
        Err(why) => Outcome::Wrong(format!("seed {seed}: {why}\n{}", document.text())),
    }
}

/// Runs the scenario and checks the results; false if the simulator refuses it.
fn run(scenario: &Scenario, bench: &Bench) -> Result<bool, String> {
    let output = bench.simulate("scenario.toml", &[], SECONDS);
    if output.code == Some(2) {
        let is_orderly = output.err.lines().filter(|line| line.starts_with("hpcc: ")).count() == 1;
        let has_left = bench.path("out").exists();
        return if is_orderly && !has_left { Ok(false) } else { Err(format!("no orderly refusal: {}", output.err)) };
    }
    ended(&output)?;
    let results = Results::read(&bench.path("out")).ok_or("no results")?;
    hpcc_relations::relations::sums_of(scenario, &results).map_or(Ok(()), Err)?;
    if scenario.settings.protocol.protocol == Protocol::Rdma {
        bench.core_agrees("scenario.toml", &[], SECONDS)?;
    }
    Ok(true)
}

/// A run ends in order.
fn ended(output: &ProcessOutput) -> Result<(), String> {
    let is_broken = BROKEN.iter().any(|word| output.err.contains(word));
    // A deadlock may end it, where that is asked for.
    let is_known = matches!(output.code, Some(0 | 3 | 4));
    if is_known && !is_broken { Ok(()) } else { Err(format!("ends with {:?}: {}", output.code, output.err)) }
}

#[test]
fn settings_go_together_or_are_refused() {
    let seeds = seeds(200);
    let count = seeds.end - seeds.start;
    let has_stack = has_tcp();
    let outcomes: Vec<Outcome> = seeds.into_par_iter().map(|seed| outcome(seed, has_stack)).collect();
    let ran = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Ran)).count() as u64;
    println!("{ran} of {count} scenarios ran");
    let wrong: Vec<&str> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Wrong(why) => Some(why.as_str()),
            Outcome::Ran | Outcome::Refused => None,
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {count} scenarios:\n{}", wrong.len(), wrong.join("\n"));
    assert!(2 * ran > count, "{ran} of {count} scenarios ran");
}
