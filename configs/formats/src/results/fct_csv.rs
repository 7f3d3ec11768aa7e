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

#[cfg(test)]
mod tests {
    use super::super::testing::{file_with, rewritten};
    use super::*;

    fn sample() -> FctRecord {
        FctRecord {
            flow: 3,
            src: 1,
            dst: 2,
            sport: 10_000,
            dport: 100,
            priority: 3,
            size: 1_000_000,
            start_ns: 2_000_059_999,
            fct_ns: 144_937,
            ideal_ns: 88_000,
            group: 1,
        }
    }

    fn with_header(rows: &str) -> String {
        format!("{}\n{rows}", FctRecord::HEADER)
    }

    #[test]
    fn rows_survive_a_round_trip() {
        let row = rewritten(&[sample()], |out, flow| flow.write(out));
        assert_eq!(row, "3,1,2,10000,100,3,1000000,2000059999,144937,88000,1.647011,1\n");
        let (_folder, path) = file_with("fct.csv", with_header(&row));
        assert_eq!(read(&path).expect("own output"), [sample()]);
        // By the names of the fields, which takes longer, it is the same row: digits with a sign are no number of ours.
        let (_folder, path) = file_with("fct.csv", with_header(&row.replace("88000", "+88000")));
        assert_eq!(read(&path).expect("as serde reads it"), [sample()]);
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        let row = "3,1,2,10000,100,3,1000000,2000059999,144937,88000,1.647011,0";
        for (text, end) in [
            (String::new(), "fct.csv:1: the header should read 'flow,src,dst"),
            ("a,b\n".to_owned(), "fct.csv:1: the header should read 'flow,src,dst"),
            (
                with_header(&format!("{row}\n{}", &row[..30])),
                "fct.csv:3: the file ends within this line: it is cut off",
            ),
            (with_header("1,2\n"), "fct.csv:2: 2 values where the header names 12"),
            (with_header(&row.replace("1000000", "big")) + "\n", "fct.csv:2: size_bytes: "),
            (with_header(&row.replace("10000,100,", "10000,70000,")) + "\n", "fct.csv:2: dport: "),
        ] {
            let (_folder, path) = file_with("fct.csv", text);
            let message = read(&path).expect_err("accepted").to_string();
            assert!(message.contains(end), "{message}");
        }
    }
}
