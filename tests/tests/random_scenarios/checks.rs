// SPDX-License-Identifier: GPL-2.0-only
//! What must be true of every run.

use crate::draw::Drawn;
use hpcc_formats::results::{CsvRow, FctRecord, ResultError, Rows, fct_csv, goodput_csv, queue_csv, unfinished_csv};
use hpcc_tests::Bench;
use std::collections::BTreeMap;

/// Checks the folders `first`, `second` and `watched`; the error says what is wrong.
pub fn all(bench: &Bench, scenario: &Drawn) -> Result<(), String> {
    same_results(bench)?;
    let summary: serde_json::Value = serde_json::from_str(&bench.read("watched/summary.json")).expect("JSON");
    let number = |key: &str| summary[key].as_u64().unwrap_or_else(|| panic!("{key} in {summary}"));
    let finished = fct_csv::read(&bench.path("watched/fct.csv")).map_err(|error| error.to_string())?;
    let unfinished = unfinished_csv::read(&bench.path("watched/unfinished.csv")).map_err(|error| error.to_string())?;
    let total = number("flows_total");
    expect(finished.len() as u64 + unfinished.len() as u64 == total, || {
        format!("{} finished and {} unfinished of {total} flows", finished.len(), unfinished.len())
    })?;
    let early = finished.iter().find(|row| row.fct_ns < row.ideal_ns);
    expect(early.is_none(), || format!("faster than ideal: {early:?}"))?;
    let drops = number("drops");
    expect(!scenario.lossless || drops == 0, || format!("{drops} drops with PFC"))?;
    let losses = number("losses");
    expect(scenario.lossy_links || losses == 0, || format!("{losses} losses on links that lose nothing"))?;
    expect(scenario.lossy_links || !scenario.lossless || unfinished.is_empty(), || "unfinished without a loss".into())?;
    queues(bench, scenario)?;
    bytes(bench, &finished)
}

fn all_rows<T: CsvRow>(rows: Result<Rows<T>, ResultError>) -> Result<Vec<T>, String> {
    rows.and_then(Iterator::collect).map_err(|error| error.to_string())
}

fn expect(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    holds.then_some(()).ok_or_else(why)
}

/// The seed fixes everything, and monitors change nothing.
fn same_results(bench: &Bench) -> Result<(), String> {
    for name in ["fct.csv", "unfinished.csv", "pfc.txt", "ports.csv"] {
        let first = bench.read(&format!("first/{name}"));
        for other in ["second", "watched"] {
            expect(first == bench.read(&format!("{other}/{name}")), || {
                format!("{name} differs in the run \"{other}\"")
            })?;
        }
    }
    Ok(())
}

/// No switch holds more than its buffer.
fn queues(bench: &Bench, scenario: &Drawn) -> Result<(), String> {
    let rows = all_rows(queue_csv::rows(&bench.path("watched/queue.csv")))?;
    let longest = rows.iter().max_by_key(|row| row.qlen_bytes);
    expect(longest.is_none_or(|row| row.qlen_bytes <= scenario.buffer), || format!("beyond the buffer: {longest:?}"))
}

/// What was acknowledged of a flow over time adds up to its size.
fn bytes(bench: &Bench, finished: &[FctRecord]) -> Result<(), String> {
    let rows = all_rows(goodput_csv::rows(&bench.path("watched/goodput.csv")))?;
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for row in rows {
        *sums.entry(row.flow).or_default() += row.bytes;
    }
    for row in finished {
        let sum = sums.get(&row.flow).copied().unwrap_or(0);
        expect(sum == row.size, || format!("{sum} bytes in goodput.csv of {row:?}"))?;
    }
    Ok(())
}
