// SPDX-License-Identifier: GPL-2.0-only
//! The rows of the page's flow table, column by column.

use anyhow::Result;
use hpcc_formats::results::FctRecord;
use hpcc_measures::results::{Life, Results};
use serde_json::{Value, json};

use super::entry::Entry;
use super::number::short;

/// Rows of all entries together.
const MOST_ROWS: usize = 100_000;

/// The flows of an entry; where all entries together have too many, those that did not finish, and the slowest.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn columns(entry: &Entry, entries: usize) -> Result<Value> {
    let total: u64 = entry.runs.iter().map(|run| run.finished() + run.unfinished()).sum();
    let most = (MOST_ROWS / entries.max(1)).max(1);
    let mut rows = Vec::new();
    for (place, run) in entry.runs.iter().enumerate() {
        let mut keep = |row: Row| {
            rows.push(Row { place, ..row });
            if rows.len() >= 2 * most {
                keep_worst(&mut rows, most);
            }
        };
        run.each_flow(|flow| keep(Row::finished(run, flow)))?;
        run.each_unfinished(|flow| keep(Row::new(run, &Life::of_unfinished(flow, run.summary.simulated_ns))))?;
    }
    keep_worst(&mut rows, most);
    rows.sort_by_key(|row| (row.place, row.flow));
    let seeds = (entry.runs.len() > 1).then(|| rows.iter().map(|row| row.seed).collect::<Vec<_>>());
    Ok(json!({
        "of": total,
        "seed": seeds,
        "flow": rows.iter().map(|row| row.flow).collect::<Vec<_>>(),
        "group": rows.iter().map(|row| row.group).collect::<Vec<_>>(),
        "src": rows.iter().map(|row| row.src).collect::<Vec<_>>(),
        "dst": rows.iter().map(|row| row.dst).collect::<Vec<_>>(),
        "size": rows.iter().map(|row| row.size).collect::<Vec<_>>(),
        "start": rows.iter().map(|row| row.start_us).collect::<Vec<_>>(),
        "fct": rows.iter().map(|row| row.fct_us).collect::<Vec<_>>(),
        "slowdown": rows.iter().map(|row| row.slowdown.map(short)).collect::<Vec<_>>(),
    }))
}

/// Drops the fastest flows of too many.
fn keep_worst(rows: &mut Vec<Row>, most: usize) {
    if rows.len() > most {
        let slowness = |row: &Row| row.slowdown.unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| slowness(b).total_cmp(&slowness(a)));
        rows.truncate(most);
    }
}

struct Row {
    /// Of its run in the entry.
    place: usize,
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

impl Row {
    fn new(run: &Results, life: &Life) -> Row {
        Row {
            place: 0,
            seed: run.summary.seed,
            flow: life.flow,
            group: life.group,
            src: life.src,
            dst: life.dst,
            size: life.size,
            start_us: (life.start_ns as f64 - run.window.from_ns as f64) / 1e3,
            fct_us: None,
            slowdown: None,
        }
    }

    fn finished(run: &Results, flow: &FctRecord) -> Row {
        let (fct_us, slowdown) = (Some(flow.fct_ns as f64 / 1e3), Some(flow.slowdown()));
        Row { fct_us, slowdown, ..Row::new(run, &Life::of_finished(flow)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_formats::results::{Summary, UnfinishedFlow};
    use hpcc_measures::results::in_memory;

    /// So many flows, of which those with the first numbers are the slowest, and one that did not finish.
    fn run(flows: u32) -> Results {
        let flow = |flow| FctRecord { flow, fct_ns: u64::from(9_000_000 - flow), ideal_ns: 9, ..FctRecord::default() };
        let unfinished = UnfinishedFlow { flow: flows, ..UnfinishedFlow::default() };
        in_memory(Summary::default(), (0..flows).map(flow).collect(), vec![unfinished])
    }

    fn columns_of(runs: Vec<Results>, entries: usize) -> Value {
        columns(&Entry { name: "a".into(), runs, is_run: true }, entries).expect("in memory")
    }

    #[test]
    fn of_too_many_flows_the_slowest_and_the_unfinished_stay() {
        for (entries, most) in [(1, 100_000), (2, 50_000)] {
            let columns = columns_of(vec![run(250_000)], entries);
            let flows = columns["flow"].as_array().expect("a column");
            assert_eq!((&columns["of"], flows.len()), (&json!(250_001), most));
            assert_eq!((&flows[most - 2], &flows[most - 1]), (&json!(most - 2), &json!(250_000)));
            assert_eq!(columns["fct"][most - 1], Value::Null);
        }
    }

    #[test]
    fn runs_share_the_rows() {
        let columns = columns_of(vec![run(100_000), run(100_000)], 1);
        let flows = columns["flow"].as_array().expect("a column");
        let chosen = [0, 49_998, 49_999, 50_000, 99_999].map(|row| flows[row].as_u64());
        assert_eq!(chosen, [0, 49_998, 100_000, 0, 100_000].map(Some));
    }

    #[test]
    fn few_flows_are_all_there() {
        assert_eq!(columns_of(vec![run(3)], 1)["flow"], json!([0, 1, 2, 3]));
    }
}
