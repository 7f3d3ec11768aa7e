// SPDX-License-Identifier: GPL-2.0-only
//! What is wrong with an input, and where.

use crate::visible;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An input that cannot be used. Displays as `file:line: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The file as the user named it; `--set` for a value that was set on the command line.
    pub file: PathBuf,
    /// Line of the offending text, counted from 1; `None` where no single line is to blame.
    pub line: Option<u32>,
    /// The key whose value is to blame, if one is (`U_TARGET`, `congestion_control.eta`).
    pub key: Option<String>,
    /// What was found and what was expected instead.
    pub message: String,
    /// Overrides of the command line without which the file would not be wrong here.
    pub set: Vec<String>,
}

impl InputError {
    /// Key and message, for those to whom file and line mean nothing.
    pub fn without_place(&self) -> String {
        match &self.key {
            Some(key) if !self.message.contains(key.as_str()) => format!("{key}: {}", self.message),
            _ => self.message.clone(),
        }
    }

    /// An error that no key and no override is to blame for.
    pub fn new(file: &Path, line: Option<u32>, message: impl Into<String>) -> InputError {
        InputError { file: file.to_owned(), line, key: None, message: message.into(), set: Vec::new() }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", visible::word(&self.file.to_string_lossy()))?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", visible::word(&self.without_place()))?;
        match &self.set[..] {
            [] => Ok(()),
            set => write!(f, " (with --set {})", visible::word(&set.join(" --set "))),
        }
    }
}

impl std::error::Error for InputError {}

/// The system's words as a part of a sentence: "permission denied", without its number.
pub fn system_words(error: &io::Error) -> String {
    if error.raw_os_error().is_none() {
        return without_numbers(&error.to_string());
    }
    if error.kind() == io::ErrorKind::NotFound {
        return "no such file".into();
    }
    let words = without_numbers(&error.to_string());
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A text without the numbers that stand behind the system's words in it.
pub fn without_numbers(text: &str) -> String {
    let mut parts = text.split(NUMBER);
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        words += behind.strip_prefix(')').unwrap_or(behind);
    }
    words
}

/// The text before the number of an error of the system.
const NUMBER: &str = " (os error ";

/// The candidate that resembles `word` most, if one does.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let likeness = |candidate: &str| strsim::jaro_winkler(&folded, &candidate.to_lowercase());
    let best = candidates.iter().map(|candidate| (likeness(candidate), *candidate)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score > 0.75).map(|(_, candidate)| candidate)
}

/// The [`nearest`] candidate as the tail of a message: `; did you mean U_TARGET?`. A word that resembles none gets the
/// list of all.
pub fn suggestion(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates) {
        Some(candidate) => format!("; did you mean {candidate}?"),
        None if candidates.is_empty() => String::new(),
        None => format!("; expected one of {}", candidates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_file_line_key_and_message() {
        let mut error =
            InputError { key: Some("KEY".into()), ..InputError::new(Path::new("a.txt"), Some(3), "is odd") };
        assert_eq!(error.to_string(), "a.txt:3: KEY: is odd");
        error.message = "KEY is odd".into();
        error.line = None;
        assert_eq!(error.to_string(), "a.txt: KEY is odd");
        error.set = vec!["a.b=1".into(), "c=2".into()];
        assert_eq!(error.to_string(), "a.txt: KEY is odd (with --set a.b=1 --set c=2)");
    }

    #[test]
    fn the_system_speaks_in_words() {
        let words = |code| system_words(&io::Error::from_raw_os_error(code));
        let known = [(2, "no such file"), (13, "permission denied"), (20, "not a directory"), (21, "is a directory")];
        for (code, expected) in known {
            assert_eq!(words(code), expected);
        }
        assert_eq!(words(28), "no space left on device");
        assert_eq!(system_words(&io::Error::other("a line is longer than this")), "a line is longer than this");
        let inner = format!("row 7: {} at its end", io::Error::from_raw_os_error(5));
        assert_eq!(without_numbers(&inner), "row 7: Input/output error at its end");
    }

    #[test]
    fn suggestion_prefers_the_nearest_and_falls_back_to_the_list() {
        assert_eq!(suggestion("U_TARGT", &["RATE_AI", "U_TARGET"]), "; did you mean U_TARGET?");
        assert_eq!(suggestion("zzz", &["eta", "stop"]), "; expected one of eta, stop");
        assert_eq!(suggestion("zzz", &[]), "");
    }
}
