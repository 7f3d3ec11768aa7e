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

#[cfg(test)]
mod tests {
    use super::super::testing::{file_with, rewritten};
    use super::*;

    #[test]
    fn rows_survive_a_round_trip() {
        let flow = UnfinishedFlow { flow: 1, src: 2, size: 3000, acked_bytes: 1000, ..UnfinishedFlow::default() };
        let row = rewritten(&[flow], |out, flow| flow.write(out));
        let (_folder, path) = file_with("unfinished.csv", format!("{}\n{row}", UnfinishedFlow::HEADER));
        assert_eq!(read(&path).expect("own output"), [flow]);
    }

    #[test]
    fn a_bad_number_is_refused_with_its_line() {
        let (_folder, path) =
            file_with("unfinished.csv", format!("{}\n1,2,3,4,5,6,7,8,-9,0\n", UnfinishedFlow::HEADER));
        let message = read(&path).expect_err("accepted").to_string();
        assert!(message.contains("unfinished.csv:2: acked_bytes: "), "{message}");
    }
}
