// SPDX-License-Identifier: GPL-2.0-only
//! Where a value came from, so that a check made long after parsing can still name file and line.

use crate::error::InputError;
use std::path::Path;
use std::sync::Arc;

/// Stands for the file in errors about values of the command line.
pub(crate) const COMMAND_LINE: &str = "--set";

/// A position in an input. Cheap to clone: one per link is kept while a scenario is checked.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    file: Arc<Path>,
    line: Option<u32>,
}

impl Place {
    /// A file as a whole.
    pub fn file(path: &Path) -> Place {
        Place { file: path.into(), line: None }
    }

    /// A value from the command line.
    pub fn command_line() -> Place {
        Place::file(Path::new(COMMAND_LINE))
    }

    /// A variable of the environment.
    pub fn environment() -> Place {
        Place::file(Path::new("environment"))
    }

    /// A line of the same file, counted from 1.
    pub fn at(&self, line: u32) -> Place {
        Place { file: self.file.clone(), line: Some(line) }
    }

    /// Where this is, as said at another place: `line 12`, or `line 12 of FILE`.
    pub fn seen_from(&self, other: &Place) -> Option<String> {
        let line = self.line?;
        if self.file == other.file {
            return Some(format!("line {line}"));
        }
        Some(format!("line {line} of {}", self.file.display()))
    }

    /// The line, counted from 1.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// An error at this place.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(&self.file, self.line, message)
    }

    /// An error at this place that blames `key`.
    pub fn key_error(&self, key: impl Into<String>, message: impl Into<String>) -> InputError {
        InputError { key: Some(key.into()), ..self.error(message) }
    }
}
