// SPDX-License-Identifier: GPL-2.0-only
//! An output folder that appears under its name only when it is complete.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ResultError, summary};

/// Every file that this project puts into an output folder. The summary comes last: it says that the others
/// are complete.
const OUR_FILES: [&str; 13] = [
    "fct.txt",
    "pfc.txt",
    "qlen.txt",
    "fct.csv",
    "unfinished.csv",
    "queue.csv",
    "packets.tr",
    "packets.pcap",
    "goodput.csv",
    "queue.svg",
    "goodput.svg",
    "slowdown.svg",
    SUMMARY,
];
const SUMMARY: &str = "summary.json";

/// The folder that is being filled, `NAME.partial`, and the one that it is going to be, `NAME`.
#[derive(Debug)]
pub(crate) struct OutputFolder {
    partial: PathBuf,
    target: PathBuf,
}

impl OutputFolder {
    /// Creates `NAME.partial`, empty. `NAME` may be absent, empty, or hold an earlier result.
    pub(crate) fn create(target: &Path) -> Result<OutputFolder, ResultError> {
        let mut name = match target.file_name() {
            Some(name) => OsString::from(name),
            None => return Err(ResultError::folder(target, "an output folder needs a name of its own")),
        };
        check_replaceable(target)?;
        name.push(".partial");
        let partial = target.with_file_name(name);
        remove_our_files(&partial)?;
        fs::create_dir_all(&partial).map_err(|cause| ResultError::io(&partial, cause))?;
        Ok(OutputFolder { partial, target: target.to_owned() })
    }

    /// Where files go until the folder is complete.
    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    /// Gives the folder its name.
    pub(crate) fn complete(self) -> Result<(), ResultError> {
        if is_vacant(&self.target)? {
            return rename(&self.partial, &self.target);
        }
        // Only files of ours are replaced: whatever else lies in the folder stays. The old summary goes first
        // and the new one comes last, so that no mixture has one.
        remove_our_files(&self.target)?;
        for name in OUR_FILES {
            let file = self.partial.join(name);
            if file.exists() {
                rename(&file, &self.target.join(name))?;
            }
        }
        fs::remove_dir(&self.partial).map_err(|cause| ResultError::io(&self.partial, cause))
    }
}

fn check_replaceable(target: &Path) -> Result<(), ResultError> {
    if is_vacant(target)? || summary::is_ours(&target.join(SUMMARY)) {
        return Ok(());
    }
    Err(ResultError::folder(target, "the folder holds files that are not results of hpcc; choose another --out"))
}

/// Whether there is nothing, or an empty folder.
fn is_vacant(folder: &Path) -> Result<bool, ResultError> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(cause) => Err(ResultError::io(folder, cause)),
    }
}

fn remove_our_files(folder: &Path) -> Result<(), ResultError> {
    for name in OUR_FILES.iter().rev() {
        let file = folder.join(name);
        match fs::remove_file(&file) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(ResultError::io(&file, cause)),
            _ => {}
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<(), ResultError> {
    fs::rename(from, to).map_err(|cause| ResultError::io(to, cause))
}
