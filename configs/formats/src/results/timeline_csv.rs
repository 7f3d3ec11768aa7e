// SPDX-License-Identifier: GPL-2.0-only
//! `timeline.csv`: what each rank of a job did, from begin to end, and what it began after.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CsvRow, ResultError, csv_file};

/// Something that a rank did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineRow {
    /// Number of the job's group among those of the summary.
    pub group: u32,
    /// The rank.
    pub rank: u32,
    /// Counts what the rank began, from 0; nothing of a whole collective.
    pub number: Option<u32>,
    /// `compute`, `send` until the acknowledgement, `receive` until the last byte, or the name of a whole collective.
    pub what: String,
    /// The rank at the other end of a message; nothing if any will do.
    pub peer: Option<u32>,
    /// Bytes of a message that is sent.
    pub size: Option<u64>,
    /// When it began, in ns.
    pub begin_ns: u64,
    /// When it was over, in ns.
    pub end_ns: u64,
    /// The number of what the rank ended when it began this; nothing at the begin of the job.
    pub cause: Option<u32>,
    /// The message's number, which is the one of its flow.
    pub message: Option<u32>,
    /// Number of the operation in the rank's file.
    pub operation: Option<u32>,
    /// Number of the collective, as in `collectives.csv`, that it is or belongs to.
    pub collective: Option<u32>,
}

impl TimelineRow {
    /// A row of a rank that says nothing yet.
    pub fn of(group: u32, rank: u32) -> TimelineRow {
        TimelineRow {
            group,
            rank,
            number: None,
            what: String::new(),
            peer: None,
            size: None,
            begin_ns: 0,
            end_ns: 0,
            cause: None,
            message: None,
            operation: None,
            collective: None,
        }
    }
}

impl CsvRow for TimelineRow {
    const HEADER: &'static str = "group,rank,number,what,peer,size,begin_ns,end_ns,cause,message,operation,collective";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let text = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let short = |value: Option<u32>| text(value.map(u64::from));
        let TimelineRow { group, rank, number, what, peer, size, begin_ns, end_ns, .. } = self;
        let (number, peer, size) = (short(*number), short(*peer), text(*size));
        write!(out, "{group},{rank},{number},{what},{peer},{size},{begin_ns},{end_ns}")?;
        let [cause, message, operation, collective] =
            [self.cause, self.message, self.operation, self.collective].map(short);
        writeln!(out, ",{cause},{message},{operation},{collective}")
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<TimelineRow>, ResultError> {
    csv_file::read(path)
}
