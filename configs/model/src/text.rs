// SPDX-License-Identifier: GPL-2.0-only
//! Reading text files, and finding the files that they name.

use crate::error::{InputError, system_words};
use crate::place::Place;
use std::path::{Path, PathBuf};

/// The whole file as text. Missing, unreadable and non-UTF-8 files are errors; the latter name the line.
pub fn read(path: &Path) -> Result<String, InputError> {
    let place = Place::file(path);
    let bytes = crate::input::read(path).map_err(|error| unreadable(&place, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        place.at(line_count(valid)).error("is not a text file: invalid UTF-8")
    })
}

/// The line, counted from 1, that follows `before`.
pub fn line_count(before: &[u8]) -> u32 {
    let newlines = before.iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(newlines).unwrap_or(u32::MAX - 1) + 1
}

/// The line of a JSON file that is to blame: behind the last line end there is none.
pub fn json_line(error: &serde_json::Error, bytes: &[u8]) -> u32 {
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    u32::try_from(error.line()).unwrap_or(u32::MAX).min(line_count(whole))
}

/// The path of a file that `referrer` names: relative to the referrer's folder if it is there, otherwise
/// relative to the working folder.
pub fn resolve(referrer: &Path, name: &str) -> Option<PathBuf> {
    let beside = referrer.parent().unwrap_or(Path::new("")).join(name);
    [beside, PathBuf::from(name)].into_iter().find(|path| path.is_file())
}

/// Says that [`resolve`] finds nothing.
pub fn no_file(key: &str, name: &str) -> String {
    format!(
        "{key} is \"{name}\", but there is no such file; expected a path from the scenario's folder, or from the working folder"
    )
}

/// Why a file cannot be read.
pub fn unreadable(place: &Place, error: &std::io::Error) -> InputError {
    let words = system_words(error);
    let is_there = error.kind() != std::io::ErrorKind::NotFound;
    place.error(if is_there { format!("cannot be read: {words}") } else { words })
}
