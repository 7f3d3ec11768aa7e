// SPDX-License-Identifier: GPL-2.0-only
//! How a run may end.

use hpcc_tests::{Bench, ProcessOutput, is_complete};
use rayon::prelude::*;

/// Seconds of processor time after which a run is taken for endless.
const SECONDS: &str = "20";

/// A run: what it is, the files of its bench, the one that is run, and overrides.
pub type Run = (String, Vec<(&'static str, String)>, String, Vec<String>);

/// Runs all, several at a time, and panics with what is wrong with how any ends. Fewer than `least` are a mistake of the test.
pub fn all_end_orderly(runs: &[Run], least: usize) {
    assert!(runs.len() > least, "{} runs", runs.len());
    let wrong: Vec<String> = runs
        .par_iter()
        .filter_map(|(what, files, config, set)| {
            let bench = Bench::new(&[]);
            files.iter().for_each(|(name, text)| bench.write(name, text));
            wrong(&bench, config, set).map(|wrong| format!("{what:.200}: {wrong:.400}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} runs:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

/// Runs the simulator on a file of the bench, and says what is wrong with how it ends: neither with results, nor with a
/// refusal that names a place and leaves nothing.
fn wrong(bench: &Bench, config: &str, set: &[String]) -> Option<String> {
    let output = bench.simulate(config, set, SECONDS);
    let complaint = complaint(bench, &output)?;
    Some(format!("{complaint} (exit {:?})\n{}", output.code, output.err))
}

fn complaint(bench: &Bench, output: &ProcessOutput) -> Option<&'static str> {
    let complete = is_complete(&bench.path("out"));
    match output.code {
        Some(0 | 3) => (!complete).then_some("no results"),
        Some(2) if complete => Some("results of a refused run"),
        Some(2) => {
            let refusals: Vec<&str> = output.err.lines().filter(|line| line.starts_with("hpcc: ")).collect();
            (refusals.len() != 1 || !refusals[0].contains(": ")).then_some("not one line that says why")
        }
        Some(_) | None => Some("no orderly end"),
    }
}
