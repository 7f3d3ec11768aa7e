// SPDX-License-Identifier: GPL-2.0-only
//! `jobs.csv`: how long each job took.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CsvRow, ResultError, csv_file};

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRow {
    /// Number of its group among those of the summary.
    pub group: u32,
    /// How many ranks it has.
    pub ranks: u32,
    /// How many of them were over by the end of the run.
    pub finished: u32,
    /// When it began, in ns.
    pub start_ns: u64,
    /// From then to the end of its last rank, in ns; nothing if the run ended before.
    pub time_ns: Option<u64>,
    /// Messages between hosts that have finished.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The job's time where messages wait for nothing but those before them at their own host, in ns; nothing if it is not over.
    pub ideal_ns: Option<u64>,
    /// For how long a rank has computed, in ns: the mean of those that are over.
    pub compute_ns: u64,
    /// For how long a rank that was not over has not computed, in ns, likewise: communication that no computation hides.
    pub exposed_ns: u64,
    /// The rank that ended last.
    pub slowest: u32,
    /// From the end of the first rank to the end of the last one, in ns.
    pub spread_ns: u64,
}

impl CsvRow for JobRow {
    const HEADER: &'static str =
        "group,ranks,finished,start_ns,time_ns,messages,bytes,ideal_ns,compute_ns,exposed_ns,slowest,spread_ns";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let JobRow { group, ranks, finished, start_ns, time_ns, messages, bytes, .. } = *self;
        let JobRow { ideal_ns, compute_ns, exposed_ns, slowest, spread_ns, .. } = *self;
        let text = |time: Option<u64>| time.map_or_else(String::new, |time| time.to_string());
        let (time, ideal) = (text(time_ns), text(ideal_ns));
        write!(out, "{group},{ranks},{finished},{start_ns},{time},{messages},{bytes}")?;
        writeln!(out, ",{ideal},{compute_ns},{exposed_ns},{slowest},{spread_ns}")
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<JobRow>, ResultError> {
    csv_file::read(path)
}
