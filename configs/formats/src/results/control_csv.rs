// SPDX-License-Identifier: GPL-2.0-only
//! `control.csv`: what congestion control has made of flows, sampled at an interval.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv_file::write_numbers;
use super::{CsvRow, ResultError, Rows};

/// The state of one flow at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlRow {
    /// When, in ns.
    pub time_ns: u64,
    /// Number of the flow, in the order of the scenario.
    pub flow: u32,
    /// Sending rate in bits per second.
    pub rate_bps: u64,
    /// Window in bytes, 0 where the flow has none.
    pub window_bytes: u64,
    /// Bytes that were sent and not acknowledged.
    pub in_flight_bytes: u64,
    /// U of the busiest link as the sender reckons it; nothing where the algorithm knows none.
    pub utilisation: Option<f64>,
    /// Place on the path of the link that U was last moved by, 0 for the first switch's; nothing where it is not known.
    pub bottleneck: Option<u8>,
    /// Newest round-trip time of a packet in ns, from its first bit to its acknowledgement; nothing before the first.
    pub rtt_ns: Option<u64>,
}

impl CsvRow for ControlRow {
    const HEADER: &'static str = "time_ns,flow,rate_bps,window_bytes,in_flight_bytes,utilisation,bottleneck,rtt_ns";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let numbers = [self.time_ns, self.flow.into(), self.rate_bps, self.window_bytes, self.in_flight_bytes];
        write_numbers(out, &numbers)?;
        match self.utilisation.filter(|utilisation| utilisation.is_finite()) {
            Some(utilisation) => write!(out, ",{utilisation:.6}")?,
            None => out.write_all(b",")?,
        }
        write_known(out, self.bottleneck.map(u64::from))?;
        write_known(out, self.rtt_ns)?;
        out.write_all(b"\n")
    }
}

/// A field that may be empty.
fn write_known(out: &mut impl Write, number: Option<u64>) -> io::Result<()> {
    match number {
        Some(number) => write!(out, ",{number}"),
        None => out.write_all(b","),
    }
}

/// Opens a file, whose rows come in the order of time.
///
/// # Errors
/// If the file cannot be read, is cut off, or has another header; each row can fail with its line.
pub fn rows(path: &Path) -> Result<Rows<ControlRow>, ResultError> {
    Rows::open(path)
}
