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
}

impl CsvRow for JobRow {
    const HEADER: &'static str = "group,ranks,finished,start_ns,time_ns,messages,bytes";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let JobRow { group, ranks, finished, start_ns, time_ns, messages, bytes } = *self;
        let time = time_ns.map_or_else(String::new, |time| time.to_string());
        writeln!(out, "{group},{ranks},{finished},{start_ns},{time},{messages},{bytes}")
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<JobRow>, ResultError> {
    csv_file::read(path)
}
