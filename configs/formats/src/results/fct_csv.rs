// SPDX-License-Identifier: GPL-2.0-only
//! `fct.csv`: one row per completed flow, in the order of completion.

use std::io::{self, Write};
use std::path::Path;

use super::csv_file::{self, number, write_numbers};
use super::{CsvRow, FctRecord, ResultError};

impl CsvRow for FctRecord {
    const HEADER: &'static str = "flow,src,dst,sport,dport,priority,size_bytes,start_ns,fct_ns,ideal_ns,slowdown,group";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let numbers = [
            self.flow.into(),
            self.src.into(),
            self.dst.into(),
            self.sport.into(),
            self.dport.into(),
            self.priority.into(),
            self.size,
            self.start_ns,
            self.fct_ns,
            self.ideal_ns,
        ];
        write_numbers(out, &numbers)?;
        writeln!(out, ",{:.6},{}", self.slowdown(), self.group)
    }

    fn of_numbers(record: &csv::ByteRecord) -> Option<FctRecord> {
        Some(FctRecord {
            flow: number(record, 0)?,
            src: number(record, 1)?,
            dst: number(record, 2)?,
            sport: number(record, 3)?,
            dport: number(record, 4)?,
            priority: number(record, 5)?,
            size: number(record, 6)?,
            start_ns: number(record, 7)?,
            fct_ns: number(record, 8)?,
            ideal_ns: number(record, 9)?,
            group: number(record, 11)?,
        })
    }
}

/// Reads a whole file. The slowdown column is there for spreadsheets; readers compute it anew.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<FctRecord>, ResultError> {
    csv_file::read(path)
}
