// SPDX-License-Identifier: GPL-2.0-only
//! `queue.csv`: the queue length of a switch port, one row whenever a sample differs from the one before.
//!
//! Every port starts empty, so its first row is its first sample with a queue.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv_file::write_numbers;
use super::{CsvRow, ResultError, Rows};

/// A new queue length of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRow {
    /// When it was sampled, in ns.
    pub time_ns: u64,
    /// Number of the switch.
    pub node: u32,
    /// Number of its port, in the order of its links.
    pub port: u32,
    /// Bytes in the queue.
    pub qlen_bytes: u64,
}

impl CsvRow for QueueRow {
    const HEADER: &'static str = "time_ns,node,port,qlen_bytes";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write_numbers(out, &[self.time_ns, self.node.into(), self.port.into(), self.qlen_bytes])?;
        out.write_all(b"\n")
    }
}

/// Opens a file, whose rows come in the order of time.
///
/// # Errors
/// If the file cannot be read, is cut off, or has another header; each row can fail with its line.
pub fn rows(path: &Path) -> Result<Rows<QueueRow>, ResultError> {
    Rows::open(path)
}
