// SPDX-License-Identifier: GPL-2.0-only
//! A buffered file that knows its name.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{CsvRow, ResultError};

/// Large enough that the system is asked rarely.
const BUFFER_BYTES: usize = 1 << 18;

/// A file being written.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl OutputFile {
    /// Creates or empties a file.
    pub(crate) fn create(folder: &Path, name: &str) -> Result<OutputFile, ResultError> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(|cause| ResultError::io(&path, cause))?;
        Ok(OutputFile { path, out: BufWriter::with_capacity(BUFFER_BYTES, file) })
    }

    /// Creates or empties a CSV file and writes its header.
    pub(crate) fn create_csv<T: CsvRow>(folder: &Path, name: &str) -> Result<OutputFile, ResultError> {
        let mut file = OutputFile::create(folder, name)?;
        file.write(|out| writeln!(out, "{}", T::HEADER))?;
        Ok(file)
    }

    /// Writes with the given function.
    #[inline]
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), ResultError> {
        write(&mut self.out).map_err(|cause| ResultError::io(&self.path, cause))
    }

    /// Hands everything to the system.
    pub(crate) fn finish(mut self) -> Result<(), ResultError> {
        self.out.flush().map_err(|cause| ResultError::io(&self.path, cause))
    }
}
