// SPDX-License-Identifier: GPL-2.0-only
//! The timeline of each job: bars by rank, time that no computation hides, and the critical path.

use std::cmp::Reverse;

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_model::results::timeline_csv::TimelineRow;
use serde_json::{Value, json};

use crate::chart::number::short;
use crate::timeline::{self, Segment, critical_path};

/// Of more bars the longest are shown.
const MOST_BARS: usize = 20_000;
/// Of a longer path the longest segments are listed.
const MOST_SEGMENTS: usize = 400;

/// Kinds of bars, as the page numbers them.
const COMPUTE: u8 = 0;
const COLLECTIVE: u8 = 1;
const SEND: u8 = 2;
const RECEIVE: u8 = 3;
const EXPOSED: u8 = 4;

/// Rank, kind, begin, end, and whose row.
type Bar<'a> = (u32, u8, u64, u64, Option<&'a TimelineRow>);

/// The jobs of a run; none if no timeline was recorded.
///
/// # Errors
/// If a file of the run cannot be read.
pub fn timelines(results: &Results) -> Result<Vec<Value>> {
    let rows = timeline::rows(results)?.unwrap_or_default();
    Ok(timeline::by_job(&rows).map(|job| of_job(timeline::name(results, job), job)).collect())
}

fn of_job(name: String, job: &[TimelineRow]) -> Value {
    let mut bars: Vec<Bar<'_>> = Vec::new();
    let start = job.iter().map(|row| row.begin_ns).min().unwrap_or_default();
    for rank in job.chunk_by(|one, next| one.rank == next.rank) {
        bars.extend(rank.iter().map(|row| (row.rank, kind(row), row.begin_ns, row.end_ns, Some(row))));
        let gaps = exposed(rank, start);
        bars.extend(gaps.into_iter().map(|(from, until)| (rank[0].rank, EXPOSED, from, until, None)));
    }
    let all = bars.len();
    // Drawn in this order: what is long does not hide what is short.
    bars.sort_by_key(|bar| (Reverse(bar.3 - bar.2), bar.0, bar.2));
    bars.truncate(MOST_BARS);
    let micros = |ns: u64| ns as f64 / 1e3;
    let bar =
        |&(rank, kind, from, until, row): &Bar<'_>| json!([rank, kind, micros(from), micros(until), row.map(words)]);
    let path = critical_path(job);
    let sum = |computes| {
        path.iter().filter(|part| part.computes() == computes).map(Segment::time_ns).fold(0, u64::saturating_add)
    };
    let mut listed: Vec<usize> = (0..path.len()).collect();
    listed.sort_by_key(|&place| (Reverse(path[place].time_ns()), place));
    listed.truncate(MOST_SEGMENTS);
    listed.sort_unstable();
    let segment = |place: &usize| {
        let part = &path[*place];
        json!([part.row.rank, part.rank, micros(part.row.begin_ns), micros(part.end_ns), words(part.row)])
    };
    json!({
        "name": name,
        "ranks": job.iter().map(|row| row.rank).max().unwrap_or_default() + 1,
        "from": micros(start),
        "until": micros(job.iter().map(|row| row.end_ns).max().unwrap_or_default()),
        "bars": bars.iter().map(bar).collect::<Vec<_>>(),
        "of": all,
        "path": listed.iter().map(segment).collect::<Vec<_>>(),
        "segments": path.len(),
        "computed": short(micros(sum(true))),
        "communicated": short(micros(sum(false))),
    })
}

fn kind(row: &TimelineRow) -> u8 {
    match row.what.as_str() {
        "compute" => COMPUTE,
        "send" => SEND,
        "receive" => RECEIVE,
        _ => COLLECTIVE,
    }
}

/// What a row is, in words.
fn words(row: &TimelineRow) -> String {
    let size = row.size.map_or_else(String::new, |size| format!(" {}", crate::human::bytes(size)));
    let peer = row.peer.map_or_else(String::new, |peer| match row.what.as_str() {
        "send" => format!(" to rank {peer}"),
        _ => format!(" from rank {peer}"),
    });
    let part = match (row.collective, row.number) {
        (Some(number), None) => format!(" {number}"),
        (Some(number), Some(_)) => format!(", collective {number}"),
        (None, _) => String::new(),
    };
    let operation = row.operation.map_or_else(String::new, |number| format!(", operation {number}"));
    format!("{}{size}{peer}{part}{operation}", row.what)
}

/// When a rank did not compute before its last end.
fn exposed(rows: &[TimelineRow], start: u64) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut until = start;
    for row in rows.iter().filter(|row| kind(row) == COMPUTE) {
        gaps.extend((row.begin_ns > until).then_some((until, row.begin_ns)));
        until = until.max(row.end_ns);
    }
    let end = rows.iter().map(|row| row.end_ns).max().unwrap_or_default();
    gaps.extend((end > until).then_some((until, end)));
    gaps
}
