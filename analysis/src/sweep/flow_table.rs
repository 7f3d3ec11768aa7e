// SPDX-License-Identifier: GPL-2.0-only
//! All flows of all runs of a sweep as one tidy table: a row for each flow, with columns of its variant, of the axes and of
//! the seed. It is written as the files of the runs are read: no part of it needs to fit into memory but the last rows.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hpcc_model::results::{FctRecord, Rows, Summary, UnfinishedFlow};
use hpcc_model::visible;

use super::file::SweepFile;
use super::run::Run;
use crate::human;
use crate::save::{Draft, Own};

/// The first column, before the columns of the axes.
const VARIANT: &str = "variant";
/// Columns behind the columns of the axes.
const COLUMNS: [&str; 14] = [
    "seed",
    "group",
    "flow",
    "src",
    "dst",
    "sport",
    "dport",
    "priority",
    "size_bytes",
    "start_ns",
    "acked_bytes",
    "fct_ns",
    "ideal_ns",
    "slowdown",
];

/// Tables are known by their first line.
const OWN: Own = Own {
    what: "table of flows of a sweep",
    is_it: |begin| {
        begin.starts_with(b"variant,") && String::from_utf8_lossy(begin).contains(",seed,group,flow,src,dst")
    },
};

/// A CSV file that a table is wanted in.
#[derive(Clone, Debug)]
pub struct FlowTable(PathBuf);

/// A file whose name says its format.
///
/// # Errors
/// With what was expected.
pub fn flow_table(text: &str) -> Result<FlowTable, String> {
    if text.ends_with(".csv") { Ok(FlowTable(text.into())) } else { Err("expected a name that ends in .csv".into()) }
}

impl FlowTable {
    /// Refuses a place where no file can be.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<()> {
        OWN.ensure(&self.0).context("--table")
    }

    /// Writes the flows of complete runs below `out`. The file appears when it is complete.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write(&self, file: &SweepFile, out: &Path, runs: &[Run]) -> Result<()> {
        let draft = Draft::of(&self.0)?;
        let flows = fill(draft.path(), file, out, runs).with_context(|| self.0.display().to_string())?;
        draft.replace()?;
        human::tell(&format!(" {} in {}\n", human::counted(flows, "flow"), self.0.display()))
    }
}

/// Writes all rows, and says how many they are.
fn fill(path: &Path, file: &SweepFile, out: &Path, runs: &[Run]) -> Result<u64> {
    let mut table =
        csv::WriterBuilder::new().buffer_capacity(1 << 18).has_headers(false).from_writer(File::create(path)?);
    let axes = file.axes.iter().map(|axis| axis.name.as_str());
    table.write_record([VARIANT].into_iter().chain(axes).chain(COLUMNS))?;
    let mut rows = 0;
    for run in runs {
        let folder = out.join(&run.folder);
        let summary = Summary::read(&folder.join("summary.json"))?;
        let mut labels = vec![visible::cell(&file.variants[run.variant].name)];
        labels.extend(file.axes.values(run.step).into_iter().map(visible::cell));
        let mut row = |flow: FctRecord, acked_bytes: u64, times: (Option<u64>, Option<u64>, Option<String>)| {
            let FctRecord { flow, src, dst, sport, dport, priority, size, start_ns, group, .. } = flow;
            let ends = (flow, src, dst, sport, dport, priority, size, start_ns);
            rows += 1;
            table.serialize((&labels, summary.seed, visible::cell(summary.group_name(group)), ends, acked_bytes, times))
        };
        for flow in Rows::<FctRecord>::open(&folder.join("fct.csv"))? {
            let flow = flow?;
            row(flow, flow.size, (Some(flow.fct_ns), Some(flow.ideal_ns), Some(format!("{:.6}", flow.slowdown()))))?;
        }
        for flow in Rows::<UnfinishedFlow>::open(&folder.join("unfinished.csv"))? {
            let flow = flow?;
            row(described(&flow), flow.acked_bytes, (None, None, None))?;
        }
    }
    table.flush()?;
    Ok(rows)
}

/// What both kinds of flows have.
fn described(flow: &UnfinishedFlow) -> FctRecord {
    let UnfinishedFlow { flow, src, dst, sport, dport, priority, size, start_ns, acked_bytes: _, group } = *flow;
    FctRecord { flow, src, dst, sport, dport, priority, size, start_ns, fct_ns: 0, ideal_ns: 0, group }
}
