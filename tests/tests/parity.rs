// SPDX-License-Identifier: GPL-2.0-only
//! Parity: the reference's own experiments give the reference's own results, to the nanosecond and the byte
//! (REQ-05, REQ-06, REQ-07).
//!
//! With `--nocapture` a table is printed. Its ns/hop include the queue monitor's events, as the reference's do; in
//! short runs, these are most of the time.

use hpcc_golden::{CLAIMED_MODES, Case, Golden, GoldenError, Match, Replay, Run, Simulator, Source, is_claimed};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What came of a run.
type Outcome = Result<Replay, GoldenError>;

fn golden() -> Golden {
    Golden::in_tree().expect("golden data")
}

fn simulator() -> Simulator {
    Simulator::from_environment().unwrap_or_else(|error| panic!("{error}"))
}

fn case(golden: &Golden, run: &Run) -> Case {
    golden.case(run).unwrap_or_else(|error| panic!("{error}"))
}

/// The runs that a test is about: claimed ones, others.
fn select(golden: &Golden, wanted: impl Fn(&Run) -> bool) -> (Vec<Case>, Vec<Case>) {
    golden.runs().iter().filter(|run| wanted(run)).map(|run| case(golden, run)).partition(is_claimed)
}

/// Repeats all claimed runs and fails with a list of those that differ.
fn check(wanted: impl Fn(&Run) -> bool) {
    let (mut claimed, others) = select(&golden(), wanted);
    // The longest first, so that no processor waits at the end.
    claimed.sort_by_key(|case| std::cmp::Reverse(case.run.packet_hops));
    let outcomes = replay(&claimed);
    println!("{}", table(&outcomes));
    println!("{} runs compared; not claimed, not compared: {}", outcomes.len(), census(&others));
    expect_exact(&outcomes);
}

fn replay(cases: &[Case]) -> Vec<(Run, Outcome)> {
    let simulator = simulator();
    cases.par_iter().with_max_len(1).map(|case| (case.run.clone(), simulator.replay(case))).collect()
}

fn expect_exact(outcomes: &[(Run, Outcome)]) {
    let failures: Vec<String> = outcomes.iter().filter_map(|(run, outcome)| failure(run, outcome)).collect();
    assert!(failures.is_empty(), "{} of {} runs differ:\n{}", failures.len(), outcomes.len(), failures.join("\n"));
    assert!(!outcomes.is_empty(), "no run is claimed");
}

fn failure(run: &Run, outcome: &Outcome) -> Option<String> {
    let Replay { verdict, summary } = match outcome {
        Ok(replay) => replay,
        Err(error) => return Some(error.to_string()),
    };
    let mut reasons = verdict.differences();
    if let Some(expected) = run.packet_hops.filter(|&expected| expected != summary.packet_hops) {
        reasons.push(format!("{} packet-hops, expected {expected}", summary.packet_hops));
    }
    (!reasons.is_empty()).then(|| format!("{run}: {}", reasons.join("; ")))
}

fn table(outcomes: &[(Run, Outcome)]) -> String {
    let mut text = format!(
        "{:36} {:>5} {:>5} {:>12} {:>7} {:>7} {:>7} {:>7} {:>9}\n",
        "run", "flows", "exact", "largest (ns)", "pfc", "qlen", "trace", "ns/hop", "reference"
    );
    for (run, outcome) in outcomes {
        let name = run.to_string();
        let Ok(Replay { verdict, summary }) = outcome else {
            text += &format!("{name:36} {:>5} failed\n", run.flows);
            continue;
        };
        let reference = run.ns_per_packet_hop().map(|nanos| format!("{nanos:.0}"));
        text += &format!(
            "{name:36} {:>5} {:>5} {:>12} {:>7} {:>7} {:>7} {:>7.0} {:>9}\n",
            verdict.flows,
            verdict.exact,
            verdict.largest_ns,
            word(&verdict.pfc),
            word(&verdict.qlen),
            word(&verdict.trace),
            summary.ns_per_packet_hop,
            reference.unwrap_or_default(),
        );
    }
    text
}

fn word(file: &Match) -> &'static str {
    match file {
        Match::Equal => "equal",
        Match::Unknown => "-",
        Match::Differs { .. } => "differs",
    }
}

/// How many runs there are of each kind: `CC_MODE 1: 20, link down: 4`.
fn census(cases: &[Case]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases {
        let kind = if case.has_link_down() { "link down".into() } else { format!("CC_MODE {}", case.run.cc_mode) };
        *counts.entry(kind).or_default() += 1;
    }
    if counts.is_empty() {
        return "none".into();
    }
    counts.iter().map(|(kind, count)| format!("{kind}: {count}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_reference_is_matched_byte_for_byte() {
    check(|run| run.source() == Source::Reference && run.is_quick());
}

#[test]
fn the_oracle_is_matched_byte_for_byte() {
    check(|run| run.source() == Source::Oracle);
}

/// None is refused: each runs as it is.
#[test]
fn campaigns_are_matched_byte_for_byte() {
    for campaign in Golden::CAMPAIGNS {
        expect_exact(&replay(&golden().campaign(campaign).unwrap_or_else(|error| panic!("{error}"))));
    }
}

/// Two milliseconds of a fat tree of 320 hosts.
#[test]
#[ignore = "takes half a minute; run with --ignored"]
fn the_large_runs_of_the_reference_are_matched_byte_for_byte() {
    check(|run| !run.is_quick());
}

/// A controller that is there but not claimed would never be compared; one that is not there must say so.
#[test]
fn what_is_not_claimed_is_refused() {
    let (golden, simulator) = (golden(), simulator());
    let (_, others) = select(&golden, |run| run.source() == Source::Reference && run.is_quick());
    let mut seen: Vec<String> = Vec::new();
    for case in &others {
        let kind = census(std::slice::from_ref(case));
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let folder = tempfile::tempdir().expect("folder");
        let config = case.unpack(folder.path()).unwrap_or_else(|error| panic!("{error}"));
        let out = folder.path().join("out");
        let output = simulator.run(folder.path(), &config, &out, &[]).unwrap_or_else(|error| panic!("{error}"));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !matches!(output.status.code(), Some(0 | 3)),
            "{} runs, but tests/golden/src/claims.rs does not claim it ({CLAIMED_MODES:?}), so it is not compared",
            case.run
        );
        assert_eq!(output.status.code(), Some(2), "{}: {told}", case.run);
        assert!(told.contains("CC_MODE") || told.contains("LINK_DOWN"), "{told}");
        assert!(!out.exists(), "{}", case.run);
    }
}
