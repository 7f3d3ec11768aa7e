// SPDX-License-Identifier: GPL-2.0-only
//! `collectives.csv`: each iteration of each collective that all its ranks have ended, with the bandwidths of nccl-tests.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CsvRow, ResultError, csv_file};

/// One iteration of a collective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveRow {
    /// Number of the job's group among those of the summary.
    pub group: u32,
    /// Number of the collective in its job.
    pub collective: u32,
    /// What it does.
    pub operation: String,
    /// By which algorithm.
    pub algorithm: String,
    /// Among how many ranks.
    pub ranks: u32,
    /// Bytes, as nccl-tests count them.
    pub size: u64,
    /// Which iteration, counted from 0.
    pub iteration: u32,
    /// When the first rank began, in ns.
    pub start_ns: u64,
    /// From then to the end of the last rank, in ns.
    pub time_ns: u64,
    /// Bandwidth of the algorithm, size over time, in bytes per nanosecond, which is GB/s.
    pub algbw: f64,
    /// Bandwidth of the bus: that of the algorithm times nccl-tests' factor, in GB/s.
    pub busbw: f64,
    /// The rank that ended last.
    pub slowest: u32,
}

impl CsvRow for CollectiveRow {
    const HEADER: &'static str =
        "group,collective,operation,algorithm,ranks,size,iteration,start_ns,time_ns,algbw,busbw,slowest";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let CollectiveRow { group, collective, operation, algorithm, ranks, size, .. } = self;
        let CollectiveRow { iteration, start_ns, time_ns, algbw, busbw, slowest, .. } = self;
        write!(out, "{group},{collective},{operation},{algorithm},{ranks},{size},{iteration},{start_ns},{time_ns}")?;
        writeln!(out, ",{algbw:.4},{busbw:.4},{slowest}")
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<CollectiveRow>, ResultError> {
    csv_file::read(path)
}
