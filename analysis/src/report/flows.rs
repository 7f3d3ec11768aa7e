// SPDX-License-Identifier: GPL-2.0-only
//! The rows of the page's flow table, column by column.

use serde_json::{Value, json};

use super::entry::Entry;
use super::number::short;

/// Rows of all entries together.
const MOST_ROWS: usize = 100_000;

/// The flows of an entry, or every so many of them where all entries together have too many.
pub fn columns(entry: &Entry, entries: usize) -> Value {
    let total: usize = entry.runs.iter().map(|run| run.flows.len() + run.unfinished.len()).sum();
    let most = (MOST_ROWS / entries.max(1)).max(1);
    let rows: Vec<Row> = entry.runs.iter().flat_map(rows).step_by(total.div_ceil(most).max(1)).collect();
    let seeds = (entry.runs.len() > 1).then(|| rows.iter().map(|row| row.seed).collect::<Vec<_>>());
    json!({
        "of": total,
        "seed": seeds,
        "flow": rows.iter().map(|row| row.flow).collect::<Vec<_>>(),
        "group": rows.iter().map(|row| row.group).collect::<Vec<_>>(),
        "src": rows.iter().map(|row| row.src).collect::<Vec<_>>(),
        "dst": rows.iter().map(|row| row.dst).collect::<Vec<_>>(),
        "size": rows.iter().map(|row| row.size).collect::<Vec<_>>(),
        "start": rows.iter().map(|row| row.start_us).collect::<Vec<_>>(),
        "fct": rows.iter().map(|row| row.fct_us).collect::<Vec<_>>(),
        "slowdown": rows.iter().map(|row| row.slowdown).collect::<Vec<_>>(),
    })
}

struct Row {
    seed: u64,
    flow: u32,
    group: u32,
    src: u32,
    dst: u32,
    size: u64,
    start_us: f64,
    /// None of a flow that did not finish.
    fct_us: Option<f64>,
    slowdown: Option<f64>,
}

fn rows(run: &crate::results::Results) -> Vec<Row> {
    let origin = run.window.from_ns;
    let start_us = |start_ns: u64| (start_ns as f64 - origin as f64) / 1e3;
    let finished = run.flows.iter().map(|flow| Row {
        seed: run.summary.seed,
        flow: flow.flow,
        group: flow.group,
        src: flow.src,
        dst: flow.dst,
        size: flow.size,
        start_us: start_us(flow.start_ns),
        fct_us: Some(flow.fct_ns as f64 / 1e3),
        slowdown: Some(short(flow.slowdown())),
    });
    let others = run.unfinished.iter().map(|flow| Row {
        seed: run.summary.seed,
        flow: flow.flow,
        group: flow.group,
        src: flow.src,
        dst: flow.dst,
        size: flow.size,
        start_us: start_us(flow.start_ns),
        fct_us: None,
        slowdown: None,
    });
    let mut rows: Vec<Row> = finished.chain(others).collect();
    rows.sort_by_key(|row| row.flow);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::in_memory;
    use hpcc_formats::results::{FctRecord, Summary};

    #[test]
    fn too_many_flows_are_thinned_out_and_counted() {
        let flows = (0..250_000).map(|flow| FctRecord { flow, ..FctRecord::default() }).collect();
        let run = in_memory(Summary::default(), flows, Vec::new());
        let entry = Entry { name: "a".into(), runs: vec![run], is_run: true };
        let shown = |entries| columns(&entry, entries)["flow"].as_array().map_or(0, Vec::len);
        assert_eq!((shown(1), shown(2)), (83_334, 50_000));
        assert_eq!(columns(&entry, 1)["of"], 250_000);
    }
}
