// SPDX-License-Identifier: GPL-2.0-only
//! `timeline.csv`: what each rank of a job did, from begin to end, and what it began after.

use super::csv_row::csv_row;

csv_row! {
    /// Something that a rank did.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TimelineRow in "timeline.csv" {
        /// Number of the job's group among those of the summary.
        group: u32,
        /// The rank.
        rank: u32,
        /// Counts what the rank began, from 0; nothing of a whole collective.
        number: Option<u32>,
        /// `compute`, `wait`, `send` until the acknowledgement, `receive` until the last byte, or the name of a whole collective.
        what: String,
        /// The rank at the other end of a message; nothing if any will do.
        peer: Option<u32>,
        /// Bytes of a message that is sent.
        size: Option<u64>,
        /// When it began, in ns.
        begin_ns: u64,
        /// When it was over, in ns.
        end_ns: u64,
        /// The number of what the rank ended when it began this; nothing at the begin of the job.
        cause: Option<u32>,
        /// The message's number, which is the one of its flow.
        message: Option<u32>,
        /// Number of the operation in the rank's file.
        operation: Option<u32>,
        /// Number of the collective, as in `collectives.csv`, that it is or belongs to.
        collective: Option<u32>,
    }
}

impl TimelineRow {
    /// A row of a rank that says nothing yet.
    pub fn of(group: u32, rank: u32) -> TimelineRow {
        TimelineRow { group, rank, ..TimelineRow::default() }
    }
}
