// SPDX-License-Identifier: GPL-2.0-only
//! The timeline as a trace that ui.perfetto.dev and chrome://tracing read: a process for each rank, in it a thread for
//! computations, collectives, and messages of either way, and arrows from sends to receives.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hpcc_model::results::timeline_csv::TimelineRow;
use serde::Serialize;

/// Names of threads, and of what is in them.
const THREADS: [&str; 4] = ["compute", "collectives", "send", "receive"];
/// What overlaps in a thread has threads of its own, at most so many.
const LANES: usize = 1 << 12;

/// An event of the trace, with the names that the format has.
#[derive(Serialize)]
struct Event<'a> {
    ph: &'a str,
    name: &'a str,
    cat: &'a str,
    pid: u32,
    tid: usize,
    /// Begin and length, in microseconds.
    ts: f64,
    dur: f64,
    /// An arrow's number, and that it ends at the event around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    bp: &'a str,
    args: Arguments<'a>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Arguments<'a> {
    /// Of a process or a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    collective: Option<u32>,
}

/// Writes events, one behind the other.
struct Trace<'a, W> {
    out: &'a mut W,
    is_empty: bool,
}

impl<W: Write> Trace<'_, W> {
    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        let begin: &[u8] = if std::mem::take(&mut self.is_empty) { b"\n" } else { b",\n" };
        self.out.write_all(begin)?;
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }

    /// Names a process, or a thread.
    fn name(&mut self, what: &str, pid: u32, tid: usize, name: &str) -> io::Result<()> {
        let args = Arguments { name: Some(name), ..Arguments::default() };
        self.put(&Event { ph: "M", name: what, cat: "", pid, tid, ts: 0.0, dur: 0.0, id: None, bp: "e", args })
    }
}

/// Writes the jobs of a run, each with its name.
///
/// # Errors
/// Those of `out`.
pub fn write<'a>(jobs: impl Iterator<Item = (String, &'a [TimelineRow])>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let (mut trace, mut processes) = (Trace { out, is_empty: true }, 0);
    for (name, job) in jobs {
        for rank in job.chunk_by(|one, next| one.rank == next.rank) {
            processes += 1;
            trace.name("process_name", processes, 0, &format!("{name}: rank {}", rank[0].rank))?;
            rank_events(rank, processes, &mut trace)?;
        }
    }
    trace.out.write_all(b"\n]}\n")
}

/// The events of a rank, whose rows are in the order of their begins.
fn rank_events<W: Write>(rows: &[TimelineRow], pid: u32, trace: &mut Trace<'_, W>) -> io::Result<()> {
    // When the last event of each lane ends.
    let mut lanes: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for row in rows {
        let thread = THREADS.iter().position(|name| *name == row.what).unwrap_or(1);
        let ends = lanes.entry(thread).or_default();
        let lane = ends.iter().position(|&end| end <= row.begin_ns).unwrap_or(ends.len()).min(LANES - 1);
        let tid = thread * LANES + lane;
        if lane == ends.len() {
            ends.push(0);
            trace.name("thread_name", pid, tid, THREADS[thread])?;
        }
        ends[lane] = ends[lane].max(row.end_ns);
        let [ts, end] = [row.begin_ns, row.end_ns].map(|ns| ns as f64 / 1e3);
        let name = match row.peer {
            Some(peer) if row.what == "send" => &format!("to {peer}"),
            Some(peer) => &format!("from {peer}"),
            None => &row.what,
        };
        let &TimelineRow { size: bytes, operation, collective, message: id, .. } = row;
        let args = Arguments { name: None, bytes, operation, collective };
        let event = Event { ph: "X", name, cat: THREADS[thread], pid, tid, ts, dur: end - ts, id: None, bp: "e", args };
        trace.put(&event)?;
        let arrow = |ph, ts| Event { ph, name: "message", cat: "message", ts, dur: 0.0, id, ..event };
        match row.what.as_str() {
            "send" => trace.put(&arrow("s", ts))?,
            "receive" => trace.put(&arrow("f", end))?,
            _ => {}
        }
    }
    Ok(())
}
