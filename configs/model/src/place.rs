// SPDX-License-Identifier: GPL-2.0-only
//! Where a value came from, so that a check made long after parsing can still name file and line.

use crate::error::InputError;
use std::path::Path;
use std::sync::Arc;

/// Stands for the file in errors about values of the command line.
pub const COMMAND_LINE: &str = "--set";

/// A position in an input. Cheap to clone: one per link is kept while a scenario is checked.
#[derive(Clone, Debug)]
pub struct Place {
    file: Arc<Path>,
    line: Option<u32>,
    /// The key whose value stands there, if one does.
    key: Option<Arc<str>>,
}

impl Place {
    /// A file as a whole.
    pub fn file(path: &Path) -> Place {
        Place { file: path.into(), line: None, key: None }
    }

    /// The command line.
    pub fn command_line() -> Place {
        Place::file(Path::new(COMMAND_LINE))
    }

    /// This place, for the value of a key.
    pub fn of(self, key: impl Into<Arc<str>>) -> Place {
        Place { key: Some(key.into()), ..self }
    }

    /// A variable of the environment.
    pub fn environment() -> Place {
        Place::file(Path::new("environment"))
    }

    /// A line of the same file, counted from 1.
    pub fn at(&self, line: u32) -> Place {
        Place { file: self.file.clone(), line: Some(line), key: None }
    }

    /// Where this is, as said at another place: `line 12`, or `line 12 of FILE`.
    pub fn seen_from(&self, other: &Place) -> Option<String> {
        let line = self.line?;
        if self.file == other.file {
            return Some(format!("line {line}"));
        }
        Some(format!("line {line} of {}", self.file.display()))
    }

    /// Whether another place is in the same input.
    pub fn is_beside(&self, other: &Place) -> bool {
        self.file == other.file
    }

    /// The line, counted from 1.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// An error at this place, which blames the key that stands there.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        let key = self.key.as_ref().map(|key| key.to_string());
        InputError { key, ..InputError::new(&self.file, self.line, message) }
    }

    /// This place, for `key` in any element of a list: the line tells which, or else the own key does.
    pub fn named(&self, key: &str) -> Place {
        let own = self.key.clone().filter(|own| self.line.is_none() && without_indices(own) == without_indices(key));
        self.clone().of(own.unwrap_or_else(|| key.into()))
    }

    /// An error at this place that blames `key`.
    pub fn key_error(&self, key: impl AsRef<str>, message: impl Into<String>) -> InputError {
        self.named(key.as_ref()).error(message)
    }
}

/// A dotted path without numbers of elements: `traffic.0.size` is `traffic.size`.
pub fn without_indices(path: &str) -> String {
    let is_index = |name: &&str| name.bytes().all(|byte| byte.is_ascii_digit());
    path.split('.').filter(|name| !is_index(name)).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_command_line_needs_the_number_of_an_element() {
        let told = |place: &Place, key: &str| place.key_error(key, "is odd").to_string();
        let set = Place::command_line().of("traffic.1.size");
        assert_eq!(told(&set, "traffic.size"), "--set: traffic.1.size: is odd");
        assert_eq!(told(&set, "topology.hosts"), "--set: topology.hosts: is odd");
        assert_eq!(set.error("is odd").to_string(), "--set: traffic.1.size: is odd");
        let line = Place::file(Path::new("a.toml")).at(7).of("traffic.1.size");
        assert_eq!(told(&line, "traffic.size"), "a.toml:7: traffic.size: is odd");
    }
}
