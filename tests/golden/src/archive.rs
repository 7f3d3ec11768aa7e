// SPDX-License-Identifier: GPL-2.0-only
//! A scenario's files, as a tar archive compressed with zstd.

use crate::error::GoldenError;
use ruzstd::decoding::StreamingDecoder;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Text files by name.
pub(crate) type Files = BTreeMap<String, String>;

/// Reads all files of an archive that has no folders.
pub(crate) fn read(path: &Path) -> Result<Files, GoldenError> {
    Ok(read_folders(path)?.into_values().flatten().collect())
}

/// Reads all files of an archive, folder by folder.
pub(crate) fn read_folders(path: &Path) -> Result<BTreeMap<String, Files>, GoldenError> {
    let file = File::open(path).map_err(GoldenError::io(path))?;
    let decoder = StreamingDecoder::new(BufReader::new(file))
        .map_err(|error| GoldenError::data(path, format!("no zstd archive: {error}")))?;
    unpack(decoder).map_err(GoldenError::io(path))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_archive_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.tar.zst");
        assert!(matches!(read(&path), Err(GoldenError::Io { .. })));
        std::fs::write(&path, "text").expect("file");
        assert!(read(&path).expect_err("accepted").to_string().contains("a.tar.zst: no zstd archive"));
    }
}
