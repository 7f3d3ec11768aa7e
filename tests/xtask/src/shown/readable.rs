// SPDX-License-Identifier: GPL-2.0-only
//! What readers read, for tests.

use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 6] =
    ["", "configs", "configs/paper", "configs/paper/scenarios", "ns3-module/doc", "tests/golden"];
const KINDS: [&str; 3] = ["md", "rst", "toml"];

pub fn tree() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Pages, and scenarios and sweeps, which begin with comments.
pub fn pages() -> Vec<PathBuf> {
    let files = FOLDERS.iter().flat_map(|folder| fs::read_dir(tree().join(folder)).expect("a folder"));
    let paths = files.map(|entry| entry.expect("a file").path());
    paths.filter(|path| KINDS.iter().any(|kind| path.extension() == Some(kind.as_ref()))).collect()
}
