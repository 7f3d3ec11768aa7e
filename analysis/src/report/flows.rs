// SPDX-License-Identifier: GPL-2.0-only
//! The rows of the page's flow table, column by column.

use anyhow::Result;
use bit_set::BitSet;
use hpcc_formats::results::FctRecord;
use hpcc_measures::results::{Life, Results};
use serde_json::{Value, json};

use super::entry::Entry;
use super::number::short;

/// Rows of all entries together.
const MOST_ROWS: u64 = 100_000;

/// The flows of an entry, or by number every so many of them where all entries together have too many.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn columns(entry: &Entry, entries: usize) -> Result<Value> {
    let total: u64 = entry.runs.iter().map(|run| run.finished() + run.unfinished()).sum();
    let most = (MOST_ROWS / entries.max(1) as u64).max(1);
    let mut thinned = Thinned { every: total.div_ceil(most).max(1), next: 0 };
    let mut rows = Vec::new();
    for run in &entry.runs {
        let begin = rows.len();
        thinned.add(run, &mut rows)?;
        rows[begin..].sort_by_key(|row| row.flow);
    }
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
        "slowdown": rows.iter().map(|row| row.slowdown).collect::<Vec<_>>(),
    }))
}

/// Takes every so many flows, in the order of their numbers, through several runs.
struct Thinned {
    every: u64,
    /// Flows to leave out before the next one.
    next: u64,
}

impl Thinned {
    /// Adds rows of a run; only those that are taken are ever in memory, and a bit for each flow.
    fn add(&mut self, run: &Results, rows: &mut Vec<Row>) -> Result<()> {
        let taken = if self.every > 1 { Some(self.taken(run)?) } else { None };
        let is_taken = |flow: u32| taken.as_ref().is_none_or(|taken| taken.contains(flow as usize));
        run.each_flow(|flow| {
            if is_taken(flow.flow) {
                rows.push(Row::finished(run, flow));
            }
        })?;
        run.each_unfinished(|flow| {
            if is_taken(flow.flow) {
                rows.push(Row::new(run, &Life::of_unfinished(flow, run.summary.simulated_ns)));
            }
        })
    }

    fn taken(&mut self, run: &Results) -> Result<BitSet> {
        let mut numbers = BitSet::new();
        run.each_flow(|flow| _ = numbers.insert(flow.flow as usize))?;
        run.each_unfinished(|flow| _ = numbers.insert(flow.flow as usize))?;
        let mut taken = BitSet::new();
        for flow in &numbers {
            if self.next == 0 {
                taken.insert(flow);
                self.next = self.every;
            }
            self.next -= 1;
        }
        Ok(taken)
    }
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

impl Row {
    fn new(run: &Results, life: &Life) -> Row {
        Row {
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
        let (fct_us, slowdown) = (Some(flow.fct_ns as f64 / 1e3), Some(short(flow.slowdown())));
        Row { fct_us, slowdown, ..Row::new(run, &Life::of_finished(flow)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_formats::results::Summary;
    use hpcc_measures::results::in_memory;

    #[test]
    fn too_many_flows_are_thinned_out_and_counted() {
        let flows = (0..250_000).map(|flow| FctRecord { flow, ..FctRecord::default() }).collect();
        let run = in_memory(Summary::default(), flows, Vec::new());
        let entry = Entry { name: "a".into(), runs: vec![run], is_run: true };
        let columns = |entries| columns(&entry, entries).expect("in memory");
        let shown = |entries| columns(entries)["flow"].as_array().map_or(0, Vec::len);
        assert_eq!((shown(1), shown(2)), (83_334, 50_000));
        assert_eq!((&columns(1)["of"], &columns(1)["flow"][7]), (&json!(250_000), &json!(21)));
    }

    #[test]
    fn runs_are_thinned_out_together() {
        let run = || {
            let flows = (0..100_001).map(|flow| FctRecord { flow, ..FctRecord::default() }).collect();
            in_memory(Summary::default(), flows, Vec::new())
        };
        let entry = Entry { name: "a".into(), runs: vec![run(), run()], is_run: true };
        let columns = columns(&entry, 1).expect("in memory");
        let flows = columns["flow"].as_array().expect("a column");
        assert_eq!((flows.len(), &flows[33_333], &flows[33_334]), (66_668, &json!(99_999), &json!(1)));
    }
}
