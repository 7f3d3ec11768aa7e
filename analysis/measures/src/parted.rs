// SPDX-License-Identifier: GPL-2.0-only
//! Files of flows that are too long to be compared in memory, split so that equal flows of two files are in parts of
//! the same number.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hpcc_model::error::system_words;
use hpcc_model::results::fct_txt::{self, FctLine};
use tempfile::TempDir;

use crate::pairing::key;

/// Bytes of a part, about; in memory it takes four times that with its counterpart.
const PART: u64 = 32 << 20;
/// More files than this, a process may not have open.
const MOST_PARTS: u64 = 256;
/// Factor by which compression shrinks a file, about.
const COMPRESSED: u64 = 8;

/// A file in parts.
pub enum Parted<'a> {
    /// It is short enough.
    Whole(&'a Path),
    /// In a folder that is removed with this: a file for each part.
    Split(TempDir),
}

/// How many parts a file should have, 1 or more.
///
/// # Errors
/// If it cannot be looked at.
pub fn parts(path: &Path) -> Result<u64> {
    let length = fs::metadata(path).with_context(|| path.display().to_string())?.len();
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    let length = if is_compressed { length.saturating_mul(COMPRESSED) } else { length };
    Ok(length.div_ceil(PART).clamp(1, MOST_PARTS))
}

impl Parted<'_> {
    /// Splits a file into so many parts; flows keep their order in each.
    ///
    /// # Errors
    /// If it is not an fct.txt, or the folder for temporary files cannot hold it.
    pub fn of(path: &Path, parts: u64) -> Result<Parted<'_>> {
        if parts == 1 {
            return Ok(Parted::Whole(path));
        }
        let folder = tempfile::tempdir().context("no temporary folder")?;
        let name = || folder.path().display().to_string();
        let create = |part| File::create(part_file(&folder, part)).map(BufWriter::new);
        let mut files = (0..parts).map(create).collect::<Result<Vec<_>, _>>().with_context(name)?;
        fct_txt::each(path, |flow| {
            let part = (part_of(&flow) % parts) as usize;
            fct_txt::write(&mut files[part], &flow)
                .map_err(|cause| format!("it cannot be split into {}: {}", name(), system_words(&cause)))
        })?;
        files.iter_mut().try_for_each(Write::flush).with_context(name)?;
        Ok(Parted::Split(folder))
    }

    /// The flows of a part.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self, part: u64) -> Result<Vec<FctLine>> {
        Ok(match self {
            Parted::Whole(path) => fct_txt::read(path)?,
            Parted::Split(folder) => fct_txt::read(&part_file(folder, part))?,
        })
    }
}

fn part_file(folder: &TempDir, part: u64) -> PathBuf {
    folder.path().join(part.to_string())
}

/// Equal for flows that may be a pair.
fn part_of(flow: &FctLine) -> u64 {
    let mut hash = DefaultHasher::new();
    key(flow).hash(&mut hash);
    hash.finish()
}
