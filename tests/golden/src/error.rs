// SPDX-License-Identifier: GPL-2.0-only
//! What can go wrong before there is anything to compare.

use std::io;
use std::path::{Path, PathBuf};

/// An error about golden data or the program under test. The text is one line, or what the program said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// The operating system refused.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// A file of the golden data is damaged, or two of them contradict each other.
    #[error("{}: {message}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// Nothing says which program to test.
    #[error("{0} is not set: run the tests through ./hpcc test, which builds the simulator and names it")]
    NoProgram(&'static str),
    /// The program under test did not run to its end.
    #[error("{run}: the simulator ended with {status}: {told}")]
    Program {
        /// The run.
        run: String,
        /// How the program ended.
        status: std::process::ExitStatus,
        /// What it said on standard error.
        told: String,
    },
}

impl GoldenError {
    /// Binds the system's answer to a file; for `map_err`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> GoldenError {
        move |cause| GoldenError::Io { path: path.to_owned(), cause }
    }

    /// Says what is wrong with a file.
    pub(crate) fn data(path: &Path, message: impl Into<String>) -> GoldenError {
        GoldenError::Data { path: path.to_owned(), message: message.into() }
    }
}
