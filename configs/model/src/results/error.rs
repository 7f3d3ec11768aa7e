// SPDX-License-Identifier: GPL-2.0-only
//! What can go wrong with a result file, always with the file's name.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::system_words;

/// An error about one result file or folder. The text is one line and names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The operating system refused.
    #[error("{}: {}", path.display(), system_words(cause))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// A line does not follow the format.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The fault.
        message: String,
    },
    /// A folder cannot be used for output.
    #[error("{}: {message}", path.display())]
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
}

impl ResultError {
    /// Binds the system's answer to the file that was asked for.
    pub(crate) fn io(path: &Path, cause: io::Error) -> ResultError {
        ResultError::Io { path: path.to_owned(), cause }
    }

    /// Binds a complaint to a line (counted from 1) of a file.
    pub(crate) fn line(path: &Path, line: u64, message: impl Into<String>) -> ResultError {
        ResultError::Line { path: path.to_owned(), line, message: message.into() }
    }

    /// Says why a folder cannot take results.
    pub(crate) fn folder(path: &Path, message: impl Into<String>) -> ResultError {
        ResultError::Folder { path: path.to_owned(), message: message.into() }
    }
}
