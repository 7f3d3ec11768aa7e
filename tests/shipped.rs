// SPDX-License-Identifier: GPL-2.0-only
//! The experiments that users start from: the files of `configs/`.

use crate::has_tcp;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder: `""`, or one below `configs/`.
#[derive(Debug)]
pub struct Shipped {
    /// Files that describe one run.
    pub scenarios: Vec<PathBuf>,
    /// Files that compare several.
    pub sweeps: Vec<PathBuf>,
}

impl Shipped {
    /// Finds the shipped scenarios, without those of TCP where hosts cannot run it.
    ///
    /// # Panics
    /// If the folder or a file cannot be read, or there is none.
    pub fn find(folder: &str) -> Shipped {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs").join(folder);
        let entries = fs::read_dir(folder).expect("a folder below configs");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        if paths.iter().any(|path| is_of_tcp(path)) && !has_tcp() {
            paths.retain(|path| !is_of_tcp(path));
        }
        paths.sort();
        assert!(!paths.is_empty());
        let (sweeps, scenarios) = paths.into_iter().partition(|path| is_sweep(path));
        Shipped { scenarios, sweeps }
    }
}

/// Whether hosts of a file run ns-3's TCP or UDP: its name says so.
pub fn is_of_tcp(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tcp"))
}

fn is_sweep(path: &Path) -> bool {
    fs::read_to_string(path).expect("text").contains("[[variant]]")
}
