// SPDX-License-Identifier: GPL-2.0-only
//! `trace`: a packet trace as text, in the 2019 simulator's words or as CSV.

use anyhow::Result;
use hpcc_model::results::packet_trace::{TraceReader, TraceRecord};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::human;

/// Prints every record of a trace: as the 2019 simulator's `trace_reader` does, or as CSV with a header row.
///
/// # Errors
/// If the file cannot be read, or stops making sense; what came before has been printed then.
pub fn trace(path: &Path, csv: bool) -> Result<()> {
    let out = BufWriter::new(io::stdout().lock());
    human::printed(if csv { print_csv(path, out) } else { print_text(path, out) })
}

/// Hands `see` every record.
fn each(path: &Path, mut see: impl FnMut(TraceRecord) -> Result<()>) -> Result<()> {
    let mut records = TraceReader::open(path)?.peekable();
    if records.peek().is_none() {
        human::note(format_args!("{}: the trace has no events", path.display()));
    }
    records.try_for_each(|record| see(record?))
}

fn print_text(path: &Path, mut out: impl Write) -> Result<()> {
    each(path, |record| Ok(writeln!(out, "{record}")?))?;
    Ok(out.flush()?)
}

fn print_csv(path: &Path, out: impl Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    each(path, |record| Ok(writer.serialize(record)?))?;
    Ok(writer.flush()?)
}
