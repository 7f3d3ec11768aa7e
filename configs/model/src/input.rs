// SPDX-License-Identifier: GPL-2.0-only
//! Opening files that a user names: they must have an end.

use std::fs::{self, File};
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// Most bytes of a file that is read as a whole.
const LONGEST_FILE: u64 = 256 << 20;

/// Most bytes of a line; lines of queue histograms have megabytes.
const LONGEST_LINE: u64 = 1 << 24;

/// Opens a file for reading. Devices, pipes and folders are refused: some have no end, and some never begin.
///
/// # Errors
/// If it cannot be opened or is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe waits for its writer, so this is asked before.
    let known = fs::metadata(path)?;
    if known.is_dir() {
        return Err(invalid("is a directory; expected a file".into()));
    }
    if !known.is_file() {
        return Err(invalid("not a regular file; expected one, no device or pipe".into()));
    }
    File::open(path)
}

/// Reads a whole file.
///
/// # Errors
/// As [`open`], and if it is longer than 256 MiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    if length > LONGEST_FILE || file.take(LONGEST_FILE + 1).read_to_end(&mut bytes)? as u64 > LONGEST_FILE {
        return Err(invalid(format!("{length} bytes long; expected at most {LONGEST_FILE}")));
    }
    Ok(bytes)
}

/// Reads a whole text file.
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| invalid("no text: invalid UTF-8".into()))
}

/// Appends the next line, with its end, and returns its length; 0 at the end of the file.
///
/// # Errors
/// Those of the input, and if the line is longer than 16 MiB.
pub(crate) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let length = input.take(LONGEST_LINE).read_until(b'\n', line)?;
    if length as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
        return Err(invalid(format!("a line is longer than {LONGEST_LINE} bytes")));
    }
    Ok(length)
}

fn invalid(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T: std::fmt::Debug>(result: io::Result<T>, words: &str) {
        let message = result.expect_err(words).to_string();
        assert!(message.contains(words), "{message}");
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        refused(read(folder.path()), "is a directory; expected a file");
        for path in [Path::new("/dev/zero"), Path::new("/dev/null"), &pipe] {
            refused(open(path), "not a regular file");
            refused(read(path), "not a regular file");
        }
        let long = folder.path().join("long");
        File::create(&long).and_then(|file| file.set_len(LONGEST_FILE + 1)).expect("a sparse file");
        refused(read(&long), "268435457 bytes long; expected at most 268435456");
        let mut input = io::BufReader::new(open(&long).expect("regular"));
        refused(read_line(&mut input, &mut Vec::new()), "longer than 16777216 bytes");
    }

    #[test]
    fn lines_come_one_by_one() {
        let (mut input, mut line) = (&b"one\ntwo"[..], Vec::new());
        assert_eq!(read_line(&mut input, &mut line).expect("a line"), 4);
        assert_eq!(read_line(&mut input, &mut line).expect("a line"), 3);
        assert_eq!(read_line(&mut input, &mut line).expect("the end"), 0);
        assert_eq!(line, b"one\ntwo");
    }
}
