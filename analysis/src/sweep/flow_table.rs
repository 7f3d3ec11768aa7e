// SPDX-License-Identifier: GPL-2.0-only
//! All flows of all runs of a sweep as one tidy table: a row for each flow, with columns of its variant, of the axes and of
//! the seed. It is written as the files of the runs are read: no part of it needs to fit into memory but the last rows.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hpcc_formats::results::{FctRecord, Rows, Summary, UnfinishedFlow};
use hpcc_measures::tables::{Format, Kind, Table, Value};

use super::file::SweepFile;
use super::plan::Run;
use crate::human;
use crate::save::{self, Draft};

/// Columns behind those of the axes.
const COLUMNS: [(&str, Kind); 14] = [
    ("seed", Kind::Whole(64)),
    ("group", Kind::Text),
    ("flow", Kind::Whole(32)),
    ("src", Kind::Whole(32)),
    ("dst", Kind::Whole(32)),
    ("sport", Kind::Whole(16)),
    ("dport", Kind::Whole(16)),
    ("priority", Kind::Whole(8)),
    ("size_bytes", Kind::Whole(64)),
    ("start_ns", Kind::Whole(64)),
    ("acked_bytes", Kind::Whole(64)),
    ("fct_ns", Kind::Whole(64)),
    ("ideal_ns", Kind::Whole(64)),
    ("slowdown", Kind::Fraction),
];
/// The column before those of the axes.
const VARIANT: (&str, Kind) = ("variant", Kind::Text);

/// A file that a table is wanted in.
#[derive(Clone, Debug)]
pub struct FlowTable {
    path: PathBuf,
    format: Format,
}

/// A file whose name says its format.
///
/// # Errors
/// With what was expected.
pub fn flow_table(text: &str) -> Result<FlowTable, String> {
    let path = PathBuf::from(text);
    let format = match path.extension().and_then(OsStr::to_str) {
        Some("csv") => Format::Csv,
        Some("parquet") => Format::Parquet,
        Some(_) | None => return Err("expected a name that ends in .csv or .parquet".to_owned()),
    };
    Ok(FlowTable { path, format })
}

impl FlowTable {
    /// Refuses a sweep that would have two columns of one name, and a place where no file can be.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, file: &SweepFile) -> Result<()> {
        let taken = |name: &str| COLUMNS.iter().chain([&VARIANT]).any(|(column, _)| column.eq_ignore_ascii_case(name));
        if let Some(axis) = file.axes.iter().find(|axis| taken(&axis.name)) {
            let axis = &axis.name;
            bail!("--table: axis \"{axis}\" would be a second column of this name; expected another name of it");
        }
        save::ensure_writable(&self.path).context("--table")
    }

    /// Writes the flows of complete runs below `out`. The file appears when it is complete.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write(&self, file: &SweepFile, out: &Path, runs: &[Run]) -> Result<()> {
        let draft = Draft::of(&self.path)?;
        let flows = self.fill(draft.path(), file, out, runs)?;
        draft.replace()?;
        human::tell(&format!(" {} in {}\n", human::counted(flows, "flow"), self.path.display()))
    }

    fn fill(&self, path: &Path, file: &SweepFile, out: &Path, runs: &[Run]) -> Result<u64> {
        let name = || self.path.display().to_string();
        let axes = file.axes.iter().map(|axis| (axis.name.as_str(), Kind::Text));
        let columns: Vec<(&str, Kind)> = [VARIANT].into_iter().chain(axes).chain(COLUMNS).collect();
        let output = BufWriter::with_capacity(1 << 18, File::create(path).with_context(name)?);
        let mut table = Table::new(self.format, output, &columns).with_context(name)?;
        let mut flows = 0;
        for run in runs {
            let folder = out.join(&run.folder);
            let summary = Summary::read(&folder.join("summary.json"))?;
            let of_run = OfRun::new(file, run, &summary);
            for flow in Rows::<FctRecord>::open(&folder.join("fct.csv"))? {
                table.row(&mut of_run.finished(&flow?, &summary)).with_context(name)?;
                flows += 1;
            }
            for flow in Rows::<UnfinishedFlow>::open(&folder.join("unfinished.csv"))? {
                table.row(&mut of_run.unfinished(&flow?, &summary)).with_context(name)?;
                flows += 1;
            }
        }
        table.finish().with_context(name)?;
        Ok(flows)
    }
}

/// The columns of a flow that do not depend on whether it finished: records of both kinds have fields of the same names.
macro_rules! described {
    ($flow:expr, $summary:expr) => {
        [
            Value::Text($summary.group_name($flow.group)),
            Value::Whole($flow.flow.into()),
            Value::Whole($flow.src.into()),
            Value::Whole($flow.dst.into()),
            Value::Whole($flow.sport.into()),
            Value::Whole($flow.dport.into()),
            Value::Whole($flow.priority.into()),
            Value::Whole($flow.size),
            Value::Whole($flow.start_ns),
        ]
    };
}

/// What all flows of a run have in common.
struct OfRun<'a> {
    /// The variant, and the values on the axes.
    labels: Vec<Value<'a>>,
    seed: u64,
}

impl<'a> OfRun<'a> {
    fn new(file: &'a SweepFile, run: &Run, summary: &Summary) -> OfRun<'a> {
        let variant = file.variants[run.variant].name.value.as_str();
        OfRun {
            labels: [variant].into_iter().chain(file.axes.values(run.step)).map(Value::Text).collect(),
            seed: summary.seed,
        }
    }

    fn finished(&self, flow: &FctRecord, summary: &'a Summary) -> impl Iterator<Item = Value<'a>> {
        let slowdown = Value::Fraction(flow.slowdown());
        let times = [Value::Whole(flow.fct_ns), Value::Whole(flow.ideal_ns), slowdown];
        self.row(described!(flow, summary), flow.size, times)
    }

    fn unfinished(&self, flow: &UnfinishedFlow, summary: &'a Summary) -> impl Iterator<Item = Value<'a>> {
        self.row(described!(flow, summary), flow.acked_bytes, [Value::Absent; 3])
    }

    /// In the order of the columns.
    fn row(&self, flow: [Value<'a>; 9], acked_bytes: u64, times: [Value<'a>; 3]) -> impl Iterator<Item = Value<'a>> {
        let flow = flow.into_iter().chain([Value::Whole(acked_bytes)]).chain(times);
        self.labels.iter().copied().chain([Value::Whole(self.seed)]).chain(flow)
    }
}
