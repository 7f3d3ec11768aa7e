// SPDX-License-Identifier: GPL-2.0-only
//! The rows of the page's flow table, column by column.

use anyhow::Result;
use hpcc_measures::results::{Life, Results};
use serde_json::{Value, json};

use super::entry::Entry;
use crate::chart::number::short;

/// Rows of all entries together.
const MOST_ROWS: usize = 100_000;

/// The flows of an entry; where all entries together have too many, those that did not finish, and the slowest: a hundredth
/// of all at least.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn columns(entry: &Entry, entries: usize) -> Result<Value> {
    let total: u64 = entry.runs.iter().map(|run| run.finished() + run.unfinished()).sum();
    let unfinished: u64 = entry.runs.iter().map(Results::unfinished).sum();
    let most = (MOST_ROWS / entries.max(1)).max((total.div_ceil(100) + unfinished) as usize);
    let mut rows = Vec::new();
    for (place, run) in entry.runs.iter().enumerate() {
        let mut keep = |life: Life, fct_ns: Option<u64>, slowdown: Option<f64>| {
            rows.push(Row { place, life, fct_ns, slowdown });
            if rows.len() >= 2 * most {
                keep_worst(&mut rows, most);
            }
        };
        run.each_flow(|flow| keep(Life::of_finished(flow), Some(flow.fct_ns), Some(flow.slowdown())))?;
        run.each_unfinished(|flow| keep(Life::of_unfinished(flow, run.summary.simulated_ns), None, None))?;
    }
    keep_worst(&mut rows, most);
    rows.sort_by_key(|row| (row.place, row.life.flow));
    let of = |value: &dyn Fn(&Row) -> Value| rows.iter().map(value).collect::<Vec<Value>>();
    Ok(json!({
        "of": total,
        "seed": (entry.runs.len() > 1).then(|| of(&|row| entry.runs[row.place].summary.seed.into())),
        "flow": of(&|row| row.life.flow.into()),
        "group": of(&|row| row.life.group.into()),
        "src": of(&|row| row.life.src.into()),
        "dst": of(&|row| row.life.dst.into()),
        "size": of(&|row| row.life.size.into()),
        "start": of(&|row| {
            let begin_ns = entry.runs[row.place].window.from_ns;
            ((row.life.start_ns as f64 - begin_ns as f64) / 1e3).into()
        }),
        "fct": of(&|row| row.fct_ns.map(|ns| ns as f64 / 1e3).into()),
        "slowdown": of(&|row| row.slowdown.map(short).into()),
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
    life: Life,
    /// None of a flow that did not finish.
    fct_ns: Option<u64>,
    slowdown: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_measures::results::in_memory;
    use hpcc_model::results::{FctRecord, Summary, UnfinishedFlow};

    /// So many flows, of which those with the first numbers are the slowest, and one that did not finish.
    fn run(flows: u32) -> Results {
        let flow = |flow| FctRecord { flow, fct_ns: u64::from(9_000_000 - flow), ideal_ns: 9, ..FctRecord::default() };
        let unfinished = UnfinishedFlow { flow: flows, ..UnfinishedFlow::default() };
        in_memory(Summary::default(), (0..flows).map(flow).collect(), vec![unfinished])
    }

    fn columns_of(runs: Vec<Results>, entries: usize) -> Value {
        columns(&Entry { name: "a".into(), runs, is_run: true, shown: crate::manifest::Shown::default() }, entries)
            .expect("in memory")
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
    fn however_many_entries_there_are_a_hundredth_and_the_unfinished_stay() {
        let columns = columns_of(vec![run(20_000)], 100_000);
        let flows = columns["flow"].as_array().expect("a column");
        assert_eq!((flows.len(), flows[200].as_u64(), &columns["fct"][201]), (202, Some(200), &Value::Null));
    }

    #[test]
    fn runs_share_the_rows() {
        let columns = columns_of(vec![run(100_000), run(100_000)], 1);
        let flows = columns["flow"].as_array().expect("a column");
        let chosen = [0, 49_998, 49_999, 50_000, 99_999].map(|row| flows[row].as_u64());
        assert_eq!(chosen, [0, 49_998, 100_000, 0, 100_000].map(Some));
    }
}
