// SPDX-License-Identifier: GPL-2.0-only
//! What the CSV files have in common: a fixed header, rows of numbers, errors that name the line.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::ResultError;

/// A row of one CSV format.
pub trait CsvRow: DeserializeOwned {
    /// The first line of the file, without its end.
    const HEADER: &'static str;

    /// Writes the row, with its end.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(&self, out: &mut impl Write) -> io::Result<()>;
}

/// The rows of a CSV file, read one at a time: the file may be larger than memory.
pub struct Rows<T> {
    path: PathBuf,
    rows: csv::DeserializeRecordsIntoIter<File, T>,
    header: Vec<&'static str>,
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
        let header = T::HEADER.split(',').collect();
        Ok(Rows { path: path.to_owned(), rows: reader.into_deserialize(), header, row: PhantomData })
    }
}

impl<T: CsvRow> Iterator for Rows<T> {
    type Item = Result<T, ResultError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next()?;
        Some(row.map_err(|error| explain(&self.path, &self.header, error)))
    }
}

/// Reads a whole file.
pub(crate) fn read<T: CsvRow>(path: &Path) -> Result<Vec<T>, ResultError> {
    Rows::open(path)?.collect()
}

/// Writes numbers separated by commas, and no line end. Long files consist of nothing else, so this is made
/// to be quick.
pub(crate) fn write_numbers(out: &mut impl Write, numbers: &[u64]) -> io::Result<()> {
    let mut buffer = itoa::Buffer::new();
    for (index, &number) in numbers.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(buffer.format(number).as_bytes())?;
    }
    Ok(())
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
    let matches = reader.headers().is_ok_and(|header| header.iter().eq(T::HEADER.split(',')));
    if matches {
        return Ok(());
    }
    Err(ResultError::line(path, 1, format!("the header should read '{}'", T::HEADER)))
}

fn explain(path: &Path, header: &[&str], error: csv::Error) -> ResultError {
    let line = error.position().map_or(1, csv::Position::line);
    let message = match error.into_kind() {
        csv::ErrorKind::Io(cause) => return ResultError::io(path, cause),
        csv::ErrorKind::Utf8 { .. } => "not text".to_owned(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} values where the header names {expected_len}")
        }
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|field| header.get(field as usize)).unwrap_or(&"row");
            format!("{column}: {}", err.kind())
        }
        csv::ErrorKind::Seek | csv::ErrorKind::Serialize(_) | _ => "not a row of this format".to_owned(),
    };
    ResultError::line(path, line, message)
}
