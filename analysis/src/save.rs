// SPDX-License-Identifier: GPL-2.0-only
//! Files that appear as a whole or not at all: a full disk leaves no part of one that looks complete. Folders that a file's
//! name has and that are missing are made with it.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use hpcc_model::error::system_words;
use tempfile::{NamedTempFile, TempDir};

/// Prefix of the names of drafts.
const PREFIX: &str = ".hpcc-";

/// What is going to be a file, under another name in the same folder. It goes away if it is dropped.
pub struct Draft {
    file: NamedTempFile<File>,
    target: PathBuf,
}

impl Draft {
    /// An empty draft of `target`.
    ///
    /// # Errors
    /// If the folder cannot be made or written to, or `target` is none of a file.
    pub fn of(target: &Path) -> Result<Draft> {
        ensure_name(target)?;
        let folder = folder_of(target);
        // Not as temporary files are made, which are private.
        let make = || tempfile::Builder::new().prefix(PREFIX).make_in(folder, |path| File::create_new(path));
        let file = fs::create_dir_all(folder).and_then(|()| make()).map_err(|error| refusal(target, &error))?;
        Ok(Draft { file, target: target.to_owned() })
    }

    /// Path of the draft.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Fills it.
    ///
    /// # Errors
    /// Those of `write`, and of the system.
    pub fn fill(&mut self, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> Result<()> {
        let mut out = BufWriter::new(self.file.as_file());
        let written = write(&mut out).and_then(|()| out.into_inner().map_err(io::IntoInnerError::into_error));
        written.map(drop).map_err(|error| refusal(&self.target, &error))
    }

    /// Gives it its name, which must be free.
    ///
    /// # Errors
    /// If the name is taken, and those of the system.
    pub fn keep(self) -> Result<()> {
        let kept = self.file.persist_noclobber(&self.target);
        kept.map(drop).map_err(|error| refusal(&self.target, &error.error))
    }

    /// Gives it its name; a file of that name is replaced.
    ///
    /// # Errors
    /// Those of the system.
    pub fn replace(self) -> Result<()> {
        self.file.persist(&self.target).map(drop).map_err(|error| refusal(&self.target, &error.error))
    }
}

/// `hpcc-out/` and the name of the file that describes the experiment.
///
/// # Errors
/// If the path does not end in a name.
pub fn default_out(config: &Path) -> Result<PathBuf> {
    let stem = config.file_stem().with_context(|| format!("{}: not the name of a file", config.display()))?;
    Ok(Path::new("hpcc-out").join(stem))
}

/// A folder that goes away again.
///
/// # Errors
/// If there can be none.
pub fn temporary_folder() -> Result<TempDir> {
    tempfile::tempdir().with_context(|| format!("no temporary folder can be made in {}", env::temp_dir().display()))
}

/// Writes a new file.
///
/// # Errors
/// If there is one of that name, or it cannot be written.
pub fn create(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> Result<()> {
    ensure_new(path)?;
    let mut draft = Draft::of(path)?;
    draft.fill(write)?;
    draft.keep()
}

/// Refuses the name of a file that is there.
///
/// # Errors
/// If it is.
pub fn ensure_new(path: &Path) -> Result<()> {
    ensure!(path.symlink_metadata().is_err(), "{} exists; expected the name of a new file", path.display());
    Ok(())
}

/// Writes a file; one of that name is replaced. What is not a regular file is written to: a device must stay one.
///
/// # Errors
/// If it cannot be written.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    if is_device(path) {
        return fs::write(path, content).map_err(|error| refusal(path, &error));
    }
    let mut draft = Draft::of(path)?;
    draft.fill(|out| out.write_all(content.as_ref()))?;
    draft.replace()
}

/// How files of a command look: what was written by it may be replaced by it, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// What such a file is, for errors.
    pub what: &'static str,
    /// Whether a file that begins so is one.
    pub is_it: fn(&[u8]) -> bool,
}

/// Bytes read to know a file's kind.
const BEGIN: u64 = 4_096;

impl Own {
    /// Refuses a name that cannot be written to, or under which there is something else, before anything that takes long.
    ///
    /// # Errors
    /// Why.
    pub fn ensure(self, path: &Path) -> Result<()> {
        ensure_writable(path)?;
        if path.symlink_metadata().is_err() || is_device(path) {
            return Ok(());
        }
        let mut begin = Vec::new();
        let read = File::open(path).and_then(|file| file.take(BEGIN).read_to_end(&mut begin));
        let is_own = read.is_ok() && (begin.is_empty() || (self.is_it)(&begin));
        ensure!(is_own, "{} exists and is no {}; expected one, or the name of a new file", path.display(), self.what);
        Ok(())
    }
}

/// Removes a file if it is there. Where nothing can be written, a file that is not there is no trouble, either.
///
/// # Errors
/// Those of the system.
pub fn remove(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    fs::remove_file(path).map_err(|error| refusal(path, &error))
}

/// Refuses a name that [`replace`] cannot write to, before anything that takes long.
///
/// # Errors
/// Why.
pub fn ensure_writable(path: &Path) -> Result<()> {
    if is_device(path) {
        return Ok(());
    }
    ensure_name(path)?;
    let existing = folder_of(path).ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let made = tempfile::Builder::new().prefix(PREFIX).make_in(existing, |path| File::create_new(path));
    made.map(drop).map_err(|error| refusal(path, &error))
}

/// Refuses the name of a folder that results cannot be put into, before anything that takes long.
///
/// # Errors
/// Why.
pub fn ensure_folder(path: &Path) -> Result<()> {
    ensure!(path.is_dir() || !path.exists(), "{}: is a file; expected a folder", path.display());
    ensure_writable(&path.join(PREFIX))
}

/// Refuses what no file can be called.
fn ensure_name(path: &Path) -> Result<()> {
    let is_folder = path.is_dir() || path.as_os_str().as_bytes().ends_with(b"/");
    ensure!(!is_folder, "cannot write {}: is a directory; expected the name of a file", path.display());
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refusal(path, &error)),
        _ => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
}

/// Why a file cannot be written.
fn refusal(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("cannot write {}: {}", path.display(), system_words(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("folder");
        entries.map(|entry| entry.expect("entry").file_name().into_string().expect("name")).collect()
    }

    #[test]
    fn files_are_there_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.toml");
        let told = create(&path, |out| out.write_all(b"half").and(Err(io::Error::other("no space"))));
        assert_eq!(told.expect_err("full").to_string(), format!("cannot write {}: no space", path.display()));
        assert!(names(folder.path()).is_empty());
        create(&path, |out| out.write_all(b"one")).expect("written");
        let told = create(&path, |out| out.write_all(b"two")).expect_err("there").to_string();
        assert!(told.ends_with("a.toml exists; expected the name of a new file"), "{told}");
        replace(&path, "three").expect("replaced");
        let mut draft = Draft::of(&path).expect("draft");
        draft.fill(|out| out.write_all(b"four")).expect("filled");
        drop(draft);
        assert_eq!(
            (fs::read_to_string(&path).expect("file"), names(folder.path())),
            ("three".into(), vec!["a.toml".into()])
        );
        let usual = File::create(folder.path().join("b")).and_then(|file| file.metadata()).expect("file").permissions();
        assert_eq!(fs::metadata(&path).expect("file").permissions(), usual);
    }

    #[test]
    fn only_own_files_are_replaced() {
        let own = Own { what: "page of hpcc", is_it: |begin| begin.starts_with(b"<html>") };
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a");
        own.ensure(&path).expect("a new file");
        for mine in ["", "<html>old"] {
            fs::write(&path, mine).expect("written");
            own.ensure(&path).expect("an own file");
        }
        fs::write(&path, "[run]\n").expect("written");
        let told = own.ensure(&path).expect_err("a scenario").to_string();
        assert!(told.ends_with("a exists and is no page of hpcc; expected one, or the name of a new file"), "{told}");
        let link = folder.path().join("b");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        own.ensure(&link).expect_err("a link to a scenario");
        own.ensure(Path::new("/dev/null")).expect("a device");
    }

    #[test]
    fn what_can_be_written_is_known_before() {
        let root = tempfile::tempdir().expect("folder");
        let path = root.path().join("a/b/c.txt");
        ensure_writable(&path).expect("can be made");
        assert!(names(root.path()).is_empty());
        replace(&path, "text").expect("written");
        let told = ensure_writable(&path.join("d")).expect_err("no folder").to_string();
        assert!(told.ends_with("c.txt/d: not a directory"), "{told}");
        let nowhere = ensure_writable(Path::new("/proc/self/fd/nothing.json")).expect_err("no place").to_string();
        assert!(
            nowhere.starts_with("cannot write /proc/self/fd/nothing.json: ") && !nowhere.contains(PREFIX),
            "{nowhere}"
        );
        ensure_writable(Path::new("/dev/null")).expect("a device");
        replace(Path::new("/dev/null"), "text").expect("a device");
    }
}
