// SPDX-License-Identifier: GPL-2.0-only
//! What a file describes, before anything is made of it.

use crate::alone;
use hpcc_model::error::InputError;
use hpcc_model::place::Place;
use hpcc_model::text;
use std::path::Path;
use toml::de::DeTable;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One simulation, as TOML.
    Scenario,
    /// Variants of one, as TOML.
    Sweep,
    /// One simulation, as the 2019 simulator's `config.txt`.
    Reference,
    /// A job of another simulator.
    Job,
}

/// The kind of a file, as far as its sections tell. Whether it can be used is for its reader to find out.
///
/// # Errors
/// If the file cannot be read.
pub fn kind(path: &Path) -> Result<FileKind, InputError> {
    if alone::scenario(path).is_some() {
        return Ok(FileKind::Job);
    }
    let text = text::read(path)?;
    Ok(match (is_toml(path, &text), variants(&text)) {
        (false, _) => FileKind::Reference,
        (true, None) => FileKind::Scenario,
        (true, Some(_)) => FileKind::Sweep,
    })
}

/// The text of a scenario, or of one that a job alone stands for.
pub(crate) fn scenario_text(path: &Path) -> Result<String, InputError> {
    alone::scenario(path).map_or_else(|| text::read(path), Ok)
}

/// Whether a file is TOML, not the 2019 simulator's `config.txt`.
pub(crate) fn is_toml(path: &Path, text: &str) -> bool {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return true;
    }
    let content = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    content.is_some_and(|line| line.starts_with('[') || line.contains('='))
}

/// Refuses a sweep file where a scenario is expected.
pub(crate) fn refuse_sweep(path: &Path, text: &str) -> Result<(), InputError> {
    let Some(line) = variants(text) else { return Ok(()) };
    let message = format!("this is a sweep: use ./hpcc sweep {}", path.display());
    Err(Place::file(path).at(line).error(message))
}

/// The line of a sweep file's first section of variants.
fn variants(text: &str) -> Option<u32> {
    let root = DeTable::parse(text).ok()?;
    let (_, variants) = root.get_ref().get_key_value("variant")?;
    text.as_bytes().get(..variants.span().start).map(text::line_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_tell() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("file");
        for (text, expected) in [
            ("title = \"T\"\n\n[[variant]]\nname = \"a\"\n", FileKind::Sweep),
            ("[run]\nstop = \"1ms\"\n", FileKind::Scenario),
            ("[[variant]\n", FileKind::Scenario),
            ("CC_MODE 3\n", FileKind::Reference),
        ] {
            std::fs::write(&path, text).expect("file");
            assert_eq!(kind(&path), Ok(expected), "{text}");
        }
        let refused = refuse_sweep(Path::new("a.toml"), "\n[[variant]]\n").expect_err("a sweep");
        assert_eq!(refused.to_string(), "a.toml:2: this is a sweep: use ./hpcc sweep a.toml");
    }
}
