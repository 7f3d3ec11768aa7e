// SPDX-License-Identifier: GPL-2.0-only
//! A buffered file that knows its name.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::digest::{Digested, FileDigest};
use super::{CsvRow, ResultError};

/// Large enough that the system is asked rarely.
const BUFFER_BYTES: usize = 1 << 18;

/// A file being written.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    out: BufWriter<Digested>,
}

impl OutputFile {
    /// Creates or empties a file.
    pub(crate) fn create(folder: &Path, name: &str) -> Result<OutputFile, ResultError> {
        let path = folder.join(name);
        let file = Digested::create(&path).map_err(|cause| ResultError::io(&path, cause))?;
        Ok(OutputFile { path, out: BufWriter::with_capacity(BUFFER_BYTES, file) })
    }

    /// Creates or empties the CSV file of such rows and writes its header.
    pub(crate) fn create_csv<T: CsvRow>(folder: &Path) -> Result<OutputFile, ResultError> {
        OutputFile::create_csv_as::<T>(folder, T::FILE)
    }

    /// Likewise under another name.
    pub(crate) fn create_csv_as<T: CsvRow>(folder: &Path, name: &str) -> Result<OutputFile, ResultError> {
        let mut file = OutputFile::create(folder, name)?;
        file.write(|out| writeln!(out, "{}", T::header()))?;
        Ok(file)
    }

    /// Creates or empties a CSV file and writes all its rows.
    pub(crate) fn create_rows<T: CsvRow>(folder: &Path, rows: &[T]) -> Result<OutputFile, ResultError> {
        let mut file = OutputFile::create_csv::<T>(folder)?;
        file.write(|out| rows.iter().try_for_each(|row| row.write(out)))?;
        Ok(file)
    }

    /// Writes with the given function.
    #[inline]
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<Digested>) -> io::Result<()>,
    ) -> Result<(), ResultError> {
        write(&mut self.out).map_err(|cause| ResultError::io(&self.path, cause))
    }

    /// Hands everything to the system, and says what the file holds.
    pub(crate) fn finish(mut self) -> Result<FileDigest, ResultError> {
        self.out.flush().map_err(|cause| ResultError::io(&self.path, cause))?;
        Ok(self.out.get_ref().digest(&self.path))
    }

    /// The file's name, without its folder.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}
