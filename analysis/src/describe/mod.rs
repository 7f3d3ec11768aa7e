// SPDX-License-Identifier: GPL-2.0-only
//! `topology` and `workload`: what a file describes, in figures and in the reference's formats.

mod distribution;
mod max_flow;
mod paths;
mod tiers;
pub mod topology;
pub mod workload;

pub use tiers::tiers;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hpcc_formats::input;
use tempfile::NamedTempFile;

/// No line that begins a file of numbers is longer.
const LONGEST_LINE: u64 = 4_096;

/// What a file seems to be.
enum Content {
    /// A scenario of either format.
    Scenario,
    /// So many numbers in the first line: a topology, flows or a distribution.
    Numbers(usize),
}

impl Content {
    /// Tells by the first line with something in it that is no comment.
    fn of(path: &Path) -> Result<Content> {
        let named = || path.display().to_string();
        let mut file = BufReader::new(input::open(path).with_context(named)?);
        loop {
            let mut line = Vec::new();
            let length = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).with_context(named)?;
            let text = String::from_utf8_lossy(&line);
            let words: Vec<&str> = text.split_whitespace().collect();
            match words.first() {
                Some(first) if first.starts_with('#') => {}
                Some(first) if first.parse::<f64>().is_ok() => return Ok(Content::Numbers(words.len())),
                Some(_) => return Ok(Content::Scenario),
                None if length == 0 => return Ok(Content::Scenario),
                None => {}
            }
        }
    }
}

/// Facts one below the other, each behind its name, which is not repeated.
fn lines(facts: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut last = "";
    for (name, words) in facts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {:<10} {words}", if *name == last { "" } else { name });
        last = name;
    }
    text
}

/// Writes a new file, as a whole or not at all.
fn save(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), io::Error>) -> Result<()> {
    let named = || format!("cannot write {}", path.display());
    ensure!(!path.exists(), "{} exists; expected the name of a new file", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "cannot write {}: there is no folder {}", path.display(), folder.display());
    let draft = NamedTempFile::new_in(folder).with_context(named)?;
    let mut out = BufWriter::new(draft.as_file());
    write(&mut out).with_context(named)?;
    out.into_inner().map_err(io::IntoInnerError::into_error).with_context(named)?;
    // Temporary files are private; this one is not.
    fs::set_permissions(draft.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644)).with_context(named)?;
    draft.persist_noclobber(path).with_context(named)?;
    Ok(())
}
