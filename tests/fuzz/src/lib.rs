// SPDX-License-Identifier: GPL-2.0-only
//! What the targets share: files, for every reader takes a path.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A scenario of two flows to one host.
pub const SCENARIO: &str = "[run]\nstop = '1ms'\n\
    [topology]\nkind = 'star'\nhosts = 3\nrate = '100Gbps'\ndelay = '1us'\n\
    [[traffic]]\nkind = 'flow'\nsrc = 0\ndst = 2\nsize = '20KB'\n\
    [[traffic]]\nkind = 'flow'\nsrc = 1\ndst = 2\nsize = '40KB'\nstart = '5us'\n";

/// A temporary folder of files.
pub struct Folder(TempDir);

impl Folder {
    /// A folder with these files.
    pub fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().expect("temporary folder"));
        files.iter().for_each(|(name, text)| drop(folder.write(name, text.as_bytes())));
        folder
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    }
}

/// Executes a command line of `hpcc` on a file or folder. What it says of bad input is up to it.
pub fn hpcc(words: &[&str], path: &Path) {
    let program = ["hpcc"].iter().chain(words).map(OsString::from);
    drop(hpcc_analysis::run(program.chain([path.into()])));
}
