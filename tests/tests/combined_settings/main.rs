// SPDX-License-Identifier: GPL-2.0-only
//! Random scenarios with several settings at once, often at the ends of their ranges: each is refused with a reason, or runs
//! and ends with results that can be true.
//!
//! `HPCC_RANDOM_SCENARIOS` and `HPCC_RANDOM_SEED` try others: `./hpcc fuzz SECONDS scenarios` sets both.

mod checks;
mod draw;
mod echo;
mod values;

use checks::Results;
use draw::Draft;
use hpcc_core::transport::Protocol;
use hpcc_tests::{Bench, ScenarioRng, has_tcp, seeds};
use rayon::prelude::*;

/// Seconds of processor time after which a run is taken for endless.
const SECONDS: &str = "20";

/// The outcome of a seed.
enum Outcome {
    Ran,
    Refused,
    Wrong(String),
}

/// Runs the scenario of a seed.
fn outcome(seed: u64, has_stack: bool) -> Outcome {
    let mut rng = ScenarioRng::new(seed, 3);
    let mut draft = Draft::new(&mut rng, seed, has_stack);
    let bench = Bench::new(&[]);
    let result = repaired(&mut draft, &mut rng, &bench).and_then(|()| run(&mut rng, &bench));
    match result {
        Ok(true) => Outcome::Ran,
        Ok(false) => Outcome::Refused,
        Err(why) => Outcome::Wrong(format!("seed {seed}: {why}\n{}", draft.text())),
    }
}

/// Takes out of the scenario what contradicts itself.
fn repaired(draft: &mut Draft, rng: &mut ScenarioRng, bench: &Bench) -> Result<(), String> {
    let is_whole = |error: &hpcc_formats::error::InputError| error.key.is_some() && !error.message.is_empty();
    let errors = draft.repair(rng, &bench.path("scenario.toml")).map_err(|error| format!("nothing mends {error}"))?;
    let vague = errors.iter().find(|error| !is_whole(error));
    vague.map_or(Ok(()), |error| Err(format!("no key: {error}")))
}

/// Runs the scenario and checks the results; false if the simulator refuses it.
fn run(rng: &mut ScenarioRng, bench: &Bench) -> Result<bool, String> {
    let scenario = hpcc_formats::load(&bench.path("scenario.toml"), &[]).map_err(|error| error.to_string())?;
    let output = bench.simulate("scenario.toml", &[], SECONDS);
    if output.code == Some(2) {
        let is_orderly = output.err.lines().filter(|line| line.starts_with("hpcc: ")).count() == 1;
        let has_left = bench.path("out").exists();
        return if is_orderly && !has_left { Ok(false) } else { Err(format!("no orderly refusal: {}", output.err)) };
    }
    let results = checks::all(bench, &scenario, &output)?;
    if !results.unfinished.is_empty() && !checks::may_stall(&scenario, &results) {
        goes_on(bench, &results)?;
    }
    if scenario.settings.protocol.protocol == Protocol::Rdma {
        bench.core_agrees("scenario.toml", &[], SECONDS)?;
    }
    match rng.below(4) {
        0 => same_again(bench, &[])?,
        1 if scenario.legacy.nodes.is_empty() => same_again(bench, &echo::values(&scenario))?,
        // Monitors change nothing.
        2 => same_again(bench, &["monitor={queue_interval='1us',goodput_interval='5us'}".into()])?,
        _ => {}
    }
    Ok(true)
}

/// With more time unfinished flows go on, and others end at the same time.
fn goes_on(bench: &Bench, results: &Results) -> Result<(), String> {
    let output = bench.simulate_to("longer", "scenario.toml", &["run.stop=1s".into()], SECONDS);
    match output.code {
        // A run that takes so long is not at its end.
        None if !checks::is_broken(&output) => return Ok(()),
        Some(0 | 3) => {}
        Some(_) | None => return Err(format!("a longer run ends with {:?}: {}", output.code, output.err)),
    }
    let (ended, on_the_way) = checks::flows(bench, "longer")?;
    let other = results.finished.iter().find(|flow| !ended.contains(flow));
    if let Some(flow) = other {
        return Err(format!("ends at another time in a longer run: {flow:?}"));
    }
    let stuck = results.unfinished.iter().find(|flow| on_the_way.contains(flow));
    stuck.map_or(Ok(()), |flow| Err(format!("no progress within a second: {flow:?}")))
}

/// A second run, with these settings, has the same results.
fn same_again(bench: &Bench, set: &[String]) -> Result<(), String> {
    let output = bench.simulate_to("again", "scenario.toml", set, SECONDS);
    if !matches!(output.code, Some(0 | 3)) {
        return Err(format!("a second run ends with {:?}: {}\n{set:?}", output.code, output.err));
    }
    for name in ["fct.csv", "unfinished.csv", "ports.csv", "pfc.txt"] {
        if bench.read(&format!("out/{name}")) != bench.read(&format!("again/{name}")) {
            return Err(format!("{name} differs in a second run with {set:?}"));
        }
    }
    Ok(())
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
