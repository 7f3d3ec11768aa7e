// SPDX-License-Identifier: GPL-2.0-only
//! Reading CSV files: a fixed header, rows, errors that name the line.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::{CsvRow, ResultError};

/// The rows of a CSV file, read one at a time: the file may be larger than memory.
pub struct Rows<T> {
    path: PathBuf,
    reader: csv::Reader<File>,
    record: csv::ByteRecord,
    row: PhantomData<T>,
}

impl<T: CsvRow> Rows<T> {
    /// Opens a file and checks its header and its end.
    ///
    /// # Errors
    /// If the file cannot be read, is cut off, or has another header.
    pub fn open(path: &Path) -> Result<Rows<T>, ResultError> {
        let io = |cause| ResultError::io(path, cause);
        let mut file = crate::input::open(path).map_err(io)?;
        let complete = ends_with_a_line_end(&mut file).map_err(io)?;
        let mut reader = csv::Reader::from_reader(file);
        check_header::<T>(path, &mut reader)?;
        if !complete {
            return Err(ResultError::line(
                path,
                last_line(path).map_err(io)?,
                "the file ends within this line: it is cut off",
            ));
        }
        Ok(Rows { path: path.to_owned(), reader, record: csv::ByteRecord::new(), row: PhantomData })
    }
}

impl<T: CsvRow> Iterator for Rows<T> {
    type Item = Result<T, ResultError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(false) => None,
            Ok(true) => Some(T::of(&self.record).map_err(|(column, why)| {
                let line = self.record.position().map_or(1, csv::Position::line);
                ResultError::line(&self.path, line, format!("{column}: {why}"))
            })),
            Err(error) => Some(Err(explain(&self.path, error))),
        }
    }
}

fn ends_with_a_line_end(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    file.rewind()?;
    Ok(last == *b"\n")
}

/// The number of the last line. Only called to complain, so it may take its time.
fn last_line(path: &Path) -> io::Result<u64> {
    let mut ends = 0;
    let mut input = io::BufReader::new(File::open(path)?);
    loop {
        let chunk = io::BufRead::fill_buf(&mut input)?;
        if chunk.is_empty() {
            return Ok(ends + 1);
        }
        ends += chunk.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let length = chunk.len();
        io::BufRead::consume(&mut input, length);
    }
}

fn check_header<T: CsvRow>(path: &Path, reader: &mut csv::Reader<File>) -> Result<(), ResultError> {
    let matches = reader.headers().is_ok_and(|header| header.iter().eq(T::COLUMNS.iter().copied()));
    if matches {
        return Ok(());
    }
    Err(ResultError::line(path, 1, format!("the header should read '{}'", T::header())))
}

fn explain(path: &Path, error: csv::Error) -> ResultError {
    let line = error.position().map_or(1, csv::Position::line);
    let message = match error.into_kind() {
        csv::ErrorKind::Io(cause) => return ResultError::io(path, cause),
        csv::ErrorKind::Utf8 { .. } => "not text".to_owned(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} values where the header names {expected_len}")
        }
        csv::ErrorKind::Deserialize { .. } | csv::ErrorKind::Seek | csv::ErrorKind::Serialize(_) | _ => {
            "not a row of this format".to_owned()
        }
    };
    ResultError::line(path, line, message)
}

#[cfg(test)]
mod tests {
    use super::super::control_csv::ControlRow;
    use super::super::goodput_csv::GoodputRow;
    use super::super::ports_csv::PortRow;
    use super::super::queue_csv::QueueRow;
    use super::super::testing::{file_with, rewritten};
    use super::super::{FctRecord, UnfinishedFlow};
    use super::*;
    use std::fmt::Debug;

    fn all<T: CsvRow>(path: &Path) -> Result<Vec<T>, ResultError> {
        Rows::open(path)?.collect()
    }

    #[track_caller]
    fn is_written_and_read<T: CsvRow + PartialEq + Debug>(rows: &[T], text: &str) {
        assert_eq!(rewritten(rows, |out, row| row.write(out)), text);
        let (_folder, path) = file_with("rows.csv", format!("{}\n{text}", T::header()));
        assert_eq!(all::<T>(&path).expect("own output"), rows);
    }

    fn flow() -> FctRecord {
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

    const FLOW: &str = "3,1,2,10000,100,3,1000000,2000059999,144937,88000,1.647011,1\n";

    #[test]
    fn rows_survive_a_round_trip() {
        is_written_and_read(&[flow()], FLOW);
        let row = UnfinishedFlow { flow: 1, src: 2, size: 3000, acked_bytes: 1000, ..UnfinishedFlow::default() };
        is_written_and_read(&[row], "1,2,0,0,0,0,3000,0,1000,0\n");
        let row = GoodputRow { time_ns: 2_000_010_000, flow: 7, goodput_bps: 24_000_000_000, bytes: 30_000 };
        is_written_and_read(&[row], "2000010000,7,24000000000,30000\n");
        let row = QueueRow { time_ns: 2_000_000_100, node: 9, port: 3, qlen_bytes: 5_240 };
        is_written_and_read(&[row], "2000000100,9,3,5240\n");
        let row = PortRow {
            node: 20,
            port: 3,
            is_switch: 1,
            peer: 2,
            peer_port: 1,
            rate_bps: 5,
            delay_ns: 6,
            ..PortRow::default()
        };
        let sent = PortRow { sent_bytes: Some(5_000), ..row };
        let rows = [sent, PortRow { is_switch: 0, paused_ns: 70, fcs_errors: Some(4), ..row }];
        is_written_and_read(&rows, "20,3,1,2,1,5,6,0,5000,\n20,3,0,2,1,5,6,70,,4\n");
        let known = ControlRow {
            time_ns: 2_000,
            flow: 7,
            rate_bps: 24_000_000_000,
            window_bytes: 30_000,
            in_flight_bytes: 29_000,
            utilisation: Some(0.953_125),
            bottleneck: Some(2),
            rtt_ns: Some(8_500),
        };
        let rows = [known, ControlRow { utilisation: None, bottleneck: None, rtt_ns: None, ..known }];
        let text = "2000,7,24000000000,30000,29000,0.953125,2,8500\n2000,7,24000000000,30000,29000,,,\n";
        is_written_and_read(&rows, text);
        let endless = ControlRow { utilisation: Some(f64::INFINITY), ..known };
        assert!(rewritten(&[endless], |out, row| row.write(out)).ends_with("29000,,2,8500\n"), "no number");
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        let with_header = |rows: &str| format!("{}\n{rows}", FctRecord::header());
        for (text, end) in [
            (String::new(), "fct.csv:1: the header should read 'flow,src,dst"),
            ("a,b\n".to_owned(), "fct.csv:1: the header should read 'flow,src,dst"),
            (
                with_header(&format!("{FLOW}{}", &FLOW[..30])),
                "fct.csv:3: the file ends within this line: it is cut off",
            ),
            (with_header("1,2\n"), "fct.csv:2: 2 values where the header names 12"),
            (with_header(&FLOW.replace("1000000", "big")), "fct.csv:2: size_bytes: "),
            (with_header(&FLOW.replace("10000,100,", "10000,70000,")), "fct.csv:2: dport: "),
        ] {
            let (_folder, path) = file_with("fct.csv", text);
            let message = all::<FctRecord>(&path).expect_err("accepted").to_string();
            assert!(message.contains(end), "{message}");
        }
    }
}
