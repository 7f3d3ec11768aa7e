// SPDX-License-Identifier: GPL-2.0-only
//! The critical path of a job: from its last end back to its begin, each time to what had to be over before.

use std::collections::HashMap;
use std::iter;

use hpcc_model::results::timeline_csv::TimelineRow;

/// A piece of the path: a computation, or a message from its begin to where the path goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// What is on the path: of a message, its sender's row.
    pub row: &'a TimelineRow,
    /// The rank where it ends.
    pub rank: u32,
    /// When it ends there, in ns.
    pub end_ns: u64,
}

impl Segment<'_> {
    /// Whether it is a computation.
    pub fn computes(&self) -> bool {
        self.row.what == "compute"
    }

    /// How long it takes, in ns.
    pub fn time_ns(&self) -> u64 {
        self.end_ns - self.row.begin_ns
    }
}

/// The critical path of a job, from its begin to its end. Each segment begins when the one before ends.
pub fn critical_path(job: &[TimelineRow]) -> Vec<Segment<'_>> {
    let own = |row: &&TimelineRow| row.number.is_some();
    let known: HashMap<_, _> = job.iter().filter(own).map(|row| ((row.rank, row.number), row)).collect();
    let sends: HashMap<_, _> = job.iter().filter(|row| row.what == "send").map(|row| (row.message, row)).collect();
    let cause = |row: &TimelineRow| row.cause.and_then(|cause| known.get(&(row.rank, Some(cause))).copied());
    // What a row waited for: itself, or the message that it received, if that came after it.
    let segment = |row: &'_ TimelineRow| {
        let received = (row.what == "receive" && row.end_ns > row.begin_ns).then_some(row.message);
        let sent = received.and_then(|message| sends.get(&message).copied());
        (sent, row.rank, row.end_ns)
    };
    let last = job.iter().filter(own).max_by_key(|row| (row.end_ns, std::cmp::Reverse(row.rank)));
    let rows = iter::successors(last, |row| cause(segment(row).0.unwrap_or(row)));
    let mut path: Vec<Segment<'_>> = rows
        .map(|row| {
            let (sent, rank, end_ns) = segment(row);
            Segment { row: sent.unwrap_or(row), rank, end_ns }
        })
        .filter(|segment| segment.time_ns() > 0)
        .collect();
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        rank: u32,
        number: u32,
        what: &str,
        times: (u64, u64),
        cause: Option<u32>,
        message: Option<u32>,
    ) -> TimelineRow {
        let what = what.to_owned();
        let (begin_ns, end_ns) = times;
        TimelineRow { number: Some(number), what, begin_ns, end_ns, cause, message, ..TimelineRow::of(0, rank) }
    }

    /// Rank 0 computes and sends; rank 1 computes for less long, waits for the message, and computes again.
    #[test]
    fn the_path_follows_messages_to_their_senders() {
        let rows = [
            row(0, 0, "compute", (0, 50), None, None),
            row(0, 1, "send", (50, 75), Some(0), Some(7)),
            row(1, 0, "compute", (0, 30), None, None),
            row(1, 1, "receive", (30, 70), Some(0), Some(7)),
            row(1, 2, "compute", (70, 90), Some(1), None),
        ];
        let found = |rows: &[TimelineRow]| -> Vec<(u32, u64, u64)> {
            critical_path(rows).iter().map(|part| (part.rank, part.row.begin_ns, part.end_ns)).collect()
        };
        assert_eq!(found(&rows), [(0, 0, 50), (1, 50, 70), (1, 70, 90)]);
        // A message that is there before its receive is none that anybody waits for.
        let early = [rows[0].clone(), rows[1].clone(), row(1, 0, "compute", (0, 70), None, None)];
        let early = [&early[..], &[row(1, 1, "receive", (70, 70), Some(0), Some(7)), rows[4].clone()]].concat();
        assert_eq!(found(&early), [(1, 0, 70), (1, 70, 90)]);
    }
}
