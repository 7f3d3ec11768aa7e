// SPDX-License-Identifier: GPL-2.0-only
//! Reading line-based files, plain or compressed, with errors that name the line.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::str::{FromStr, SplitAsciiWhitespace};

use flate2::read::MultiGzDecoder;

use super::ResultError;
use crate::input;

/// Opens a file for reading; one whose name ends in `.gz` is decompressed on the way.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, ResultError> {
    let file = input::open(path).map_err(|cause| ResultError::io(path, cause))?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        return Ok(Box::new(MultiGzDecoder::new(file)));
    }
    Ok(Box::new(file))
}

/// Hands every line of a file to `parse`, without its end.
pub(crate) fn for_each_line(path: &Path, parse: impl FnMut(&str) -> Result<(), String>) -> Result<(), ResultError> {
    for_each_line_of(path, BufReader::new(open(path)?), parse)
}

/// Hands every line of `input` to `parse`, without its end; `path` is for errors.
///
/// A last line without an end is refused: whatever wrote these files ends every line, so the file was cut,
/// and a number cut short would look like a smaller one.
pub(crate) fn for_each_line_of(
    path: &Path,
    mut input: impl BufRead,
    mut parse: impl FnMut(&str) -> Result<(), String>,
) -> Result<(), ResultError> {
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let length = input::read_line(&mut input, &mut bytes).map_err(|cause| ResultError::io(path, cause))?;
        if length == 0 {
            break;
        }
        parse_line(&bytes, &mut parse).map_err(|message| ResultError::line(path, line, message))?;
    }
    Ok(())
}

fn parse_line(bytes: &[u8], parse: &mut impl FnMut(&str) -> Result<(), String>) -> Result<(), String> {
    let text = str::from_utf8(bytes).map_err(|_| "not text".to_owned())?;
    let line = text.strip_suffix('\n').ok_or("the file ends within this line: it is cut off")?;
    parse(line)
}

/// The words of a line, taken one by one under the name that an error message shall give them.
pub(crate) struct Words<'a>(SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    /// Splits a line at white space.
    pub(crate) fn of(line: &'a str) -> Words<'a> {
        Words(line.split_ascii_whitespace())
    }

    /// The next word as a decimal number.
    pub(crate) fn number<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        let word = self.word(name)?;
        word.parse().map_err(|_| format!("{name}: '{word}' is not a number in range"))
    }

    /// The next word as a hexadecimal number of 32 bits, without a prefix.
    pub(crate) fn hex(&mut self, name: &str) -> Result<u32, String> {
        let word = self.word(name)?;
        u32::from_str_radix(word, 16).map_err(|_| format!("{name}: '{word}' is not a hexadecimal address"))
    }

    /// The next word as 0 or 1.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.word(name)? {
            "0" => Ok(false),
            "1" => Ok(true),
            word => Err(format!("{name}: '{word}' is neither 0 nor 1")),
        }
    }

    /// The next word.
    pub(crate) fn word(&mut self, name: &str) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| format!("{name} is missing"))
    }

    /// Every remaining word as a decimal number.
    pub(crate) fn numbers(self, name: &str) -> Result<Vec<u64>, String> {
        self.0.map(|word| word.parse().map_err(|_| format!("{name}: '{word}' is not a number"))).collect()
    }

    /// Fails if a word is left.
    pub(crate) fn end(mut self) -> Result<(), String> {
        match self.0.next() {
            Some(word) => Err(format!("'{word}' is one value too many")),
            None => Ok(()),
        }
    }
}
