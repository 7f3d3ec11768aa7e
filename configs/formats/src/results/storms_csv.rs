// SPDX-License-Identifier: GPL-2.0-only
//! `storms.csv`: every pause that a switch's watchdog found to last too long.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CsvRow, ResultError, csv_file};

/// A storm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StormRow {
    /// The switch.
    pub node: u32,
    /// Its port, counted from 1.
    pub port: u32,
    /// The priority that was paused.
    pub priority: u8,
    /// When the watchdog found it, in ns.
    pub begin_ns: u64,
    /// When pauses counted again, in ns; nothing if the run ended before.
    pub end_ns: Option<u64>,
    /// Packets that were dropped meanwhile.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl CsvRow for StormRow {
    const HEADER: &'static str = "node,port,priority,begin_ns,end_ns,packets,bytes";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let StormRow { node, port, priority, begin_ns, end_ns, packets, bytes } = *self;
        let end = end_ns.map_or_else(String::new, |end| end.to_string());
        writeln!(out, "{node},{port},{priority},{begin_ns},{end},{packets},{bytes}")
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<StormRow>, ResultError> {
    csv_file::read(path)
}
