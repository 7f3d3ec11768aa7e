// SPDX-License-Identifier: GPL-2.0-only
//! What a file holds, in short: how many rows, how many bytes, and their BLAKE3 hash. `summary.json` has it for each
//! file of a run, so that a reader finds out when one was cut off or changed.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ResultError;

/// The bytes that are read at a time.
const CHUNK: usize = 1 << 18;

/// A file in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Lines below the header; none in binary files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// BLAKE3 hash of the content, in hexadecimal digits.
    pub blake3: String,
}

impl FileDigest {
    /// Refuses a file that was changed since it was written.
    ///
    /// # Errors
    /// If the file cannot be read, or with what is missing or different.
    pub fn check(&self, path: &Path) -> Result<(), ResultError> {
        let found = Meter::of(path).map_err(|cause| ResultError::io(path, cause))?;
        let (bytes, lines) = (found.bytes, found.lines);
        if found.hex() == self.blake3 {
            return Ok(());
        }
        let rows = self.rows.map(|rows| (rows, lines.saturating_sub(header_lines(path))));
        let message = match rows {
            Some((wrote, has)) if wrote != has => {
                format!(
                    "has {has} rows, but summary.json counts {wrote}: the file was cut off or changed after the run"
                )
            }
            Some(_) | None if bytes != self.bytes => {
                format!(
                    "has {bytes} bytes, but summary.json counts {}: the file was cut off or changed after the run",
                    self.bytes
                )
            }
            Some(_) | None => {
                "differs from what the run wrote (BLAKE3 hash in summary.json): the file was changed".to_owned()
            }
        };
        Err(ResultError::folder(path, message))
    }
}

/// CSV files have one.
fn header_lines(path: &Path) -> u64 {
    u64::from(path.extension().is_some_and(|extension| extension == "csv"))
}

/// Whether a file consists of lines.
fn has_lines(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "csv" || extension == "txt")
}

/// Counts and hashes what passes.
#[derive(Clone, Debug, Default)]
struct Meter {
    lines: u64,
    bytes: u64,
    hash: blake3::Hasher,
}

impl Meter {
    fn of(path: &Path) -> io::Result<Meter> {
        let mut meter = Meter::default();
        let mut input = BufReader::with_capacity(CHUNK, crate::input::open(path)?);
        let mut chunk = vec![0; CHUNK];
        loop {
            match input.read(&mut chunk)? {
                0 => return Ok(meter),
                length => meter.see(&chunk[..length]),
            }
        }
    }

    fn see(&mut self, bytes: &[u8]) {
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
    }

    fn hex(&self) -> String {
        self.hash.finalize().to_hex().to_string()
    }
}

/// A file being written, and its digest so far.
#[derive(Debug)]
pub(crate) struct Digested {
    file: File,
    meter: Meter,
}

impl Digested {
    /// Creates or empties a file.
    pub(crate) fn create(path: &Path) -> io::Result<Digested> {
        Ok(Digested { file: File::create(path)?, meter: Meter::default() })
    }

    /// What was written.
    pub(crate) fn digest(&self, path: &Path) -> FileDigest {
        let rows = self.meter.lines.saturating_sub(header_lines(path));
        FileDigest { rows: has_lines(path).then_some(rows), bytes: self.meter.bytes, blake3: self.meter.hex() }
    }
}

impl Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.meter.see(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_or_changed_is_said() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("fct.csv");
        let mut out = Digested::create(&path).expect("created");
        out.write_all(b"a,b\n1,2\n3,4\n").expect("written");
        let digest = out.digest(&path);
        assert_eq!((digest.rows, digest.bytes), (Some(2), 12));
        digest.check(&path).expect("as written");
        for (text, words) in [
            ("a,b\n1,2\n", "fct.csv: has 1 rows, but summary.json counts 2"),
            ("a,b\n1,2\n3,\n", "fct.csv: has 11 bytes, but summary.json counts 12"),
            ("a,b\n1,2\n3,5\n", "fct.csv: differs from what the run wrote"),
        ] {
            std::fs::write(&path, text).expect("changed");
            let message = digest.check(&path).expect_err("accepted").to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
