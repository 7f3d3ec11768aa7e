// SPDX-License-Identifier: GPL-2.0-only
//! What the ranks of jobs did and when: the chain of what followed what until the last of them ended, and the timeline as a trace.

mod path;
mod perfetto;

pub use path::{Segment, critical_path};
pub use perfetto::write as write_perfetto;

use std::collections::HashMap;

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_model::results::timeline_csv::{self, TimelineRow};

/// The rows of a run's timeline; nothing if it was not recorded. A receive begins when its message is sent, if it was there before.
///
/// # Errors
/// If the file cannot be read.
pub fn rows(results: &Results) -> Result<Option<Vec<TimelineRow>>> {
    let file = results.dir.join("timeline.csv");
    if !file.exists() {
        return Ok(None);
    }
    let mut rows = timeline_csv::read(&file)?;
    let is_send = |row: &&TimelineRow| row.what == "send";
    let sent: HashMap<_, _> = rows.iter().filter(is_send).map(|row| (row.message, row.begin_ns)).collect();
    for row in rows.iter_mut().filter(|row| row.what == "receive") {
        row.begin_ns = sent.get(&row.message).map_or(row.begin_ns, |&begin| begin.max(row.begin_ns));
    }
    rows.sort_by_key(|row| (row.group, row.rank, row.begin_ns, row.number));
    Ok(Some(rows))
}

/// The rows of each job, by its group.
pub fn by_job(rows: &[TimelineRow]) -> impl Iterator<Item = &[TimelineRow]> {
    rows.chunk_by(|one, next| one.group == next.group)
}

/// The name of a job.
pub fn name(results: &Results, job: &[TimelineRow]) -> String {
    let group = job.first().map_or(0, |row| row.group);
    results.summary.groups.get(group as usize).cloned().unwrap_or_default()
}
