// SPDX-License-Identifier: GPL-2.0-only
//! A scenario's files, as a tar archive compressed with zstd.

use anyhow::{Context, Result, anyhow};
use ruzstd::decoding::StreamingDecoder;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Text files by name.
pub type Files = BTreeMap<String, String>;

/// Reads all files of an archive, folder by folder; those that are in none are in the folder without a name.
///
/// # Errors
/// If the file cannot be read or is no such archive; the error names it.
pub fn read(path: &Path) -> Result<BTreeMap<String, Files>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let decoder = StreamingDecoder::new(BufReader::new(file))
        .map_err(|error| anyhow!("{}: not a zstd archive: {error}", path.display()))?;
    unpack(decoder).with_context(|| path.display().to_string())
}

fn unpack(tar: impl Read) -> io::Result<BTreeMap<String, Files>> {
    let mut folders: BTreeMap<String, Files> = BTreeMap::new();
    for entry in tar::Archive::new(tar).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path()?.into_owned();
        let name = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        let folder = name(path.parent().and_then(Path::file_name));
        folders.entry(folder).or_default().insert(name(path.file_name()), text);
    }
    Ok(folders)
}
