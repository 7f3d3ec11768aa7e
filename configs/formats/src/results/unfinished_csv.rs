// SPDX-License-Identifier: GPL-2.0-only
//! `unfinished.csv`: one row per flow that had not completed at the end. Only a header in a good run.

use std::io::{self, Write};
use std::path::Path;

use super::csv_file::{self, write_numbers};
use super::{CsvRow, ResultError, UnfinishedFlow};

impl CsvRow for UnfinishedFlow {
    const HEADER: &'static str = "flow,src,dst,sport,dport,priority,size_bytes,start_ns,acked_bytes,group";

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
            self.acked_bytes,
            self.group.into(),
        ];
        write_numbers(out, &numbers)?;
        writeln!(out)
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<UnfinishedFlow>, ResultError> {
    csv_file::read(path)
}
