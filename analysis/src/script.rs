// SPDX-License-Identifier: GPL-2.0-only
//! The source tree of this command, whose script `hpcc` has started it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

/// Names the script.
const SCRIPT_VARIABLE: &str = "HPCC_SCRIPT";

/// A file beside this program, where `./hpcc install` puts what it needs.
pub fn beside(name: &str) -> Option<PathBuf> {
    env::current_exe().ok().map(|program| program.with_file_name(name)).filter(|file| file.exists())
}

/// The folder with the experiments: that of an installed program, or of the script.
///
/// # Errors
/// If there is neither.
pub fn source_tree() -> Result<PathBuf> {
    if let Some(configs) = beside("configs") {
        return Ok(configs.with_file_name(""));
    }
    Ok(script()?.parent().map(Path::to_path_buf).unwrap_or_default())
}

/// The script.
///
/// # Errors
/// If this command was not started by it.
pub fn script() -> Result<PathBuf> {
    let script = env::var_os(SCRIPT_VARIABLE).filter(|script| !script.is_empty());
    script.map(PathBuf::from).ok_or_else(|| {
        anyhow!("{SCRIPT_VARIABLE} is not set: use ./hpcc of a source tree, or what ./hpcc install makes")
    })
}
