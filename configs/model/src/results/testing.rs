// SPDX-License-Identifier: GPL-2.0-only
//! Small helpers of this room's tests.

use std::io::{self, Write};
use std::path::PathBuf;

use tempfile::TempDir;

/// A file with the given content, and the folder that goes away with it.
pub(crate) fn file_with(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("temporary file");
    (folder, path)
}

/// What `write` makes of some rows.
pub(crate) fn rewritten<T>(rows: &[T], write: impl Fn(&mut Vec<u8>, &T) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    for row in rows {
        write(&mut text, row).expect("writing to memory");
    }
    text.flush().expect("memory");
    String::from_utf8(text).expect("text")
}
