// SPDX-License-Identifier: GPL-2.0-only
//! `goodput.csv`: the bytes of a flow that have arrived since its previous row, or since its start, each counted once, and the
//! rate that this amounts to: never above that of its links, but by what one packet more makes of a short interval. Of TCP and UDP,
//! which a program's stack carries, the acknowledged ones count. Each flow has a last row when it completes or the run ends, so its bytes add up. One that
//! completes at the time of a sample has two rows of that time, which share the interval before it. Where nothing of any
//! flow arrived for a thousand samples, further ones have no rows, but for the last before something does.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv_file::write_numbers;
use super::{CsvRow, ResultError, Rows};

/// The rate of one flow over one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoodputRow {
    /// End of the interval, in ns.
    pub time_ns: u64,
    /// Number of the flow, in the order of the scenario.
    pub flow: u32,
    /// Payload that has arrived, in bits per second.
    pub goodput_bps: u64,
    /// Payload that has arrived, in bytes.
    pub bytes: u64,
}

impl CsvRow for GoodputRow {
    const HEADER: &'static str = "time_ns,flow,goodput_bps,bytes";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write_numbers(out, &[self.time_ns, self.flow.into(), self.goodput_bps, self.bytes])?;
        out.write_all(b"\n")
    }
}

/// Opens a file, whose rows come in the order of time.
///
/// # Errors
/// If the file cannot be read, is cut off, or has another header; each row can fail with its line.
pub fn rows(path: &Path) -> Result<Rows<GoodputRow>, ResultError> {
    Rows::open(path)
}
