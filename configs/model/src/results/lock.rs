// SPDX-License-Identifier: GPL-2.0-only
//! A folder that one process at a time has to itself. The lock ends with the process, however that ends, and leaves no
//! file behind.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::ResultError;

/// A locked folder; dropping it unlocks.
#[derive(Debug)]
pub struct FolderLock {
    folder: Flock<File>,
}

impl FolderLock {
    /// Creates the folder if there is none and locks it. `None` if another process has it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn try_take(folder: &Path) -> Result<Option<FolderLock>, ResultError> {
        loop {
            fs::create_dir_all(folder).map_err(|cause| ResultError::io(folder, cause))?;
            let taken = FolderLock::take(folder, FlockArg::LockExclusiveNonblock);
            // One that was made for nothing goes away again; one that holds something cannot.
            let Some(lock) = taken.inspect_err(|_| drop(fs::remove_dir(folder)))? else { return Ok(None) };
            if lock.is_at(folder) {
                return Ok(Some(lock));
            }
        }
    }

    /// Locks a folder, after whoever has it or reads it. `None` if there is no such folder.
    ///
    /// # Errors
    /// Those of the system.
    pub fn wait(folder: &Path) -> Result<Option<FolderLock>, ResultError> {
        FolderLock::wait_as(folder, FlockArg::LockExclusive)
    }

    /// Keeps others from replacing a folder while it is read. Any number may read. `None` if there is no such folder.
    ///
    /// # Errors
    /// Those of the system.
    pub fn read(folder: &Path) -> Result<Option<FolderLock>, ResultError> {
        FolderLock::wait_as(folder, FlockArg::LockShared)
    }

    fn wait_as(folder: &Path, how: FlockArg) -> Result<Option<FolderLock>, ResultError> {
        while folder.is_dir() {
            match FolderLock::take(folder, how)? {
                Some(lock) if lock.is_at(folder) => return Ok(Some(lock)),
                Some(_) | None => {}
            }
        }
        Ok(None)
    }

    fn take(folder: &Path, how: FlockArg) -> Result<Option<FolderLock>, ResultError> {
        let file = File::open(folder).map_err(|cause| ResultError::io(folder, cause))?;
        match Flock::lock(file, how) {
            Ok(lock) => Ok(Some(FolderLock { folder: lock })),
            Err((_, Errno::EWOULDBLOCK)) => Ok(None),
            Err((_, errno)) => Err(ResultError::io(folder, errno.into())),
        }
    }

    /// Whether the folder still has its name: it may have got another one while we waited.
    fn is_at(&self, folder: &Path) -> bool {
        let (Ok(locked), Ok(named)) = (self.folder.metadata(), fs::metadata(folder)) else { return false };
        (locked.dev(), locked.ino()) == (named.dev(), named.ino())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_owner_at_a_time() {
        let root = tempfile::tempdir().expect("folder");
        let folder = root.path().join("new");
        let first = FolderLock::try_take(&folder).expect("system").expect("free");
        assert!(FolderLock::try_take(&folder).expect("system").is_none());
        drop(first);
        assert!(FolderLock::try_take(&folder).expect("system").is_some());
        assert!(FolderLock::wait(&root.path().join("absent")).expect("system").is_none());
    }

    #[test]
    fn a_folder_that_was_renamed_is_another_one() {
        let root = tempfile::tempdir().expect("folder");
        let (old, new) = (root.path().join("old"), root.path().join("new"));
        let lock = FolderLock::try_take(&old).expect("system").expect("free");
        fs::rename(&old, &new).expect("renamed");
        assert!(!lock.is_at(&old) && lock.is_at(&new));
        assert!(FolderLock::try_take(&old).expect("system").is_some(), "a new folder of the old name");
    }
}
