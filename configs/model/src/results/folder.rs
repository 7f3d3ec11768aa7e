// SPDX-License-Identifier: GPL-2.0-only
//! An output folder that appears under its name only when it is complete.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

use super::collectives_csv::CollectiveRow;
use super::control_csv::ControlRow;
use super::files::ENDLESS;
use super::goodput_csv::GoodputRow;
use super::jobs_csv::JobRow;
use super::pauses_csv::PauseRow;
use super::ports_csv::PortRow;
use super::queue_csv::QueueRow;
use super::requests_csv::RequestRow;
use super::sent_csv::SentRow;
use super::storms_csv::StormRow;
use super::timeline_csv::TimelineRow;
use super::{CsvRow, FctRecord, FolderLock, ResultError, UnfinishedFlow, summary};
use crate::error::system_words;

/// Every file that this project puts into an output folder. The summary comes last: it says that the others
/// are complete.
const OUR_FILES: [&str; 28] = [
    "fct.txt",
    "pfc.txt",
    "qlen.txt",
    FctRecord::FILE,
    UnfinishedFlow::FILE,
    ENDLESS,
    QueueRow::FILE,
    "packets.tr",
    "packets.pcap",
    "packets.pcapng",
    GoodputRow::FILE,
    ControlRow::FILE,
    SentRow::FILE,
    PortRow::FILE,
    JobRow::FILE,
    CollectiveRow::FILE,
    RequestRow::FILE,
    PauseRow::FILE,
    StormRow::FILE,
    TimelineRow::FILE,
    "timeline.json",
    "queue.svg",
    "goodput.svg",
    "slowdown.svg",
    "control.svg",
    "report.html",
    INPUTS,
    SUMMARY,
];
const SUMMARY: &str = "summary.json";

/// Names the inputs of a sweep's run: if they are still the same, the run need not be repeated.
pub const INPUTS: &str = "inputs.blake3";

/// The folder that is being filled, `NAME.partial`, which is ours alone, and the one that it is going to be, `NAME`.
#[derive(Debug)]
pub(crate) struct OutputFolder {
    partial: PathBuf,
    target: PathBuf,
    _lock: FolderLock,
}

impl OutputFolder {
    /// Creates `NAME.partial`, empty. `NAME` may be absent, empty, or hold an earlier result; of a symbolic link, the folder
    /// that it leads to.
    pub(crate) fn create(target: &Path) -> Result<OutputFolder, ResultError> {
        let target = resolved(target)?;
        let Some(partial) = partial_of(&target) else {
            return Err(ResultError::folder(&target, "an output folder needs a name of its own"));
        };
        check_replaceable(&target)?;
        let Some(lock) = FolderLock::try_take(&partial)? else {
            return Err(ResultError::folder(&target, "another run is writing its results there; choose another --out"));
        };
        remove_our_files(&partial)?;
        Ok(OutputFolder { partial, target, _lock: lock })
    }

    /// Where files go until the folder is complete.
    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    /// Removes what there is of it; whatever hinders that has hindered it before, and is told already.
    pub(crate) fn give_up(self) {
        let _ = remove_our_files(&self.partial).map(|()| fs::remove_dir(&self.partial));
    }

    /// Gives the folder its name, in one step: whoever opens `NAME` finds the old results or the new ones. Whoever
    /// reads the old ones at the moment, and has locked them, may finish.
    pub(crate) fn complete(self) -> Result<(), ResultError> {
        // Kept until the end: what was `NAME` is called `NAME.partial` for a moment, and no other run may take it.
        let _old = FolderLock::wait(&self.target)?;
        if is_vacant(&self.target)? {
            return rename(&self.partial, &self.target);
        }
        // Only files of ours are replaced: whatever else lies in the folder moves along.
        for entry in fs::read_dir(&self.target).map_err(|cause| ResultError::io(&self.target, cause))? {
            let name = entry.map_err(|cause| ResultError::io(&self.target, cause))?.file_name();
            if OUR_FILES.iter().all(|ours| name != **ours) {
                rename(&self.target.join(&name), &self.partial.join(&name))?;
            }
        }
        exchange(&self.partial, &self.target)?;
        remove_our_files(&self.partial)?;
        fs::remove_dir(&self.partial).map_err(|cause| ResultError::io(&self.partial, cause))
    }
}

/// Where the results of a run are until they are complete; `None` where a path has no name.
fn partial_of(target: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(target.file_name()?);
    name.push(".partial");
    Some(target.with_file_name(name))
}

/// The folder itself where a path ends in symbolic links, which cannot change places with a folder.
fn resolved(target: &Path) -> Result<PathBuf, ResultError> {
    // With a slash at the end, a link is what it leads to.
    let target: PathBuf = target.components().collect();
    if !target.is_symlink() {
        return Ok(target);
    }
    fs::canonicalize(&target).map_err(|cause| {
        ResultError::folder(
            &target,
            format!("a symbolic link to no folder ({}); expected one to a folder", system_words(&cause)),
        )
    })
}

/// Waits until no run writes results for a folder any more, such as one whose sweep was killed.
///
/// # Errors
/// Those of the system.
pub fn wait_for_writer(target: &Path) -> Result<(), ResultError> {
    let Some(partial) = partial_of(&resolved(target)?) else { return Ok(()) };
    FolderLock::wait(&partial).map(drop)
}

/// What a run that did not end well left for a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remains {
    /// Nothing.
    Nothing,
    /// Part of its results, in this folder.
    Part(PathBuf),
    /// All of them, in this folder: it could not be given its name.
    All(PathBuf),
}

/// Looks for what a run left that did not end well.
pub fn remains(target: &Path) -> Remains {
    match resolved(target).ok().as_deref().and_then(partial_of) {
        Some(partial) if summary::is_ours(&partial.join(SUMMARY)) => Remains::All(partial),
        Some(partial) if partial.is_dir() => Remains::Part(partial),
        Some(_) | None => Remains::Nothing,
    }
}

/// Lets two folders swap their names. File systems that cannot do it at once do it in two steps, between which `target`
/// is absent.
fn exchange(partial: &Path, target: &Path) -> Result<(), ResultError> {
    match renameat2(AT_FDCWD, partial, AT_FDCWD, target, RenameFlags::RENAME_EXCHANGE) {
        Ok(()) => Ok(()),
        Err(Errno::EINVAL | Errno::ENOSYS) => {
            let aside = partial.with_extension("old");
            rename(target, &aside)?;
            rename(partial, target)?;
            rename(&aside, partial)
        }
        Err(errno) => Err(ResultError::io(target, errno.into())),
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
