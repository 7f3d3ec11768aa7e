// SPDX-License-Identifier: GPL-2.0-only
//! Files that appear as a whole or not at all: a full disk leaves no part of one that looks complete. Folders that a file's
//! name has and that are missing are made with it.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};
use hpcc_formats::error::system_words;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use tempfile::{NamedTempFile, TempDir};

/// What is going to be a file, under another name in the same folder. It goes away if it is dropped.
pub struct Draft {
    file: NamedTempFile<File>,
    target: PathBuf,
    /// Go away with it, so behind it.
    folders: NewFolders,
}

impl Draft {
    /// An empty draft of `target`.
    ///
    /// # Errors
    /// If the folder cannot be made or written to, or `target` is none of a file.
    pub fn of(target: &Path) -> Result<Draft> {
        let is_folder = target.is_dir() || target.as_os_str().as_bytes().ends_with(b"/");
        ensure!(!is_folder, "cannot write {}: is a directory; expected the name of a file", target.display());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folders = NewFolders::make(folder).map_err(|error| refusal(target, &error))?;
        // The name of the draft is another one, which is shorter.
        if let Some(error) = fs::symlink_metadata(target).err().filter(|error| error.kind() != io::ErrorKind::NotFound)
        {
            return Err(refusal(target, &error));
        }
        // Not as temporary files are made: they are private, and their errors name them, whom nobody knows.
        let made = tempfile::Builder::new().prefix(".hpcc-").make_in(folder, |path| File::create_new(path));
        let file = made.map_err(|error| refusal(target, &error))?;
        Ok(Draft { file, target: target.to_owned(), folders })
    }

    /// Name of the file that it is going to be.
    pub fn name(&self) -> String {
        self.target.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Where it is as long as it is a draft.
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
    pub fn keep(mut self) -> Result<()> {
        self.file.persist_noclobber(&self.target).map_err(|error| refusal(&self.target, &error.error))?;
        self.folders.keep();
        Ok(())
    }

    /// Gives it its name; a file of that name is replaced.
    ///
    /// # Errors
    /// Those of the system.
    pub fn replace(mut self) -> Result<()> {
        self.file.persist(&self.target).map_err(|error| refusal(&self.target, &error.error))?;
        self.folders.keep();
        Ok(())
    }
}

/// A folder that goes away again.
///
/// # Errors
/// If there can be none.
pub fn temporary_folder() -> Result<TempDir> {
    let place = env::temp_dir();
    tempfile::tempdir()
        .map_err(|error| anyhow!("no temporary folder can be made in {}: {}", place.display(), kind(&error)))
}

/// What kind of error it is. Those of temporary files name them, whom nobody knows.
fn kind(error: &io::Error) -> String {
    let is_there = error.kind() != io::ErrorKind::NotFound;
    if is_there { error.kind().to_string() } else { "no such folder".into() }
}

/// Folders that were made for a file; without it they go away again.
struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Makes a folder, and those above it that are missing.
    fn make(folder: &Path) -> io::Result<NewFolders> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = NewFolders(folder.ancestors().take_while(is_missing).map(Path::to_owned).collect());
        fs::create_dir_all(folder).map(|()| made)
    }

    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        // Others may have put something there meanwhile.
        self.0.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
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
        return write_to_device(path, content.as_ref()).map_err(|error| refusal(path, &error));
    }
    let mut draft = Draft::of(path)?;
    draft.fill(|out| out.write_all(content.as_ref()))?;
    draft.replace()
}

/// Removes a file if it is there. Where nothing can be written, a file that is not there is no trouble, either.
///
/// # Errors
/// Those of the system.
pub fn remove(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refusal(path, &error)),
        _ => Ok(()),
    }
}

/// Refuses a name that [`replace`] cannot write to, before anything that takes long. Leaves no folder that is made for that.
///
/// # Errors
/// Why.
pub fn ensure_writable(path: &Path) -> Result<()> {
    if is_device(path) { Ok(()) } else { Draft::of(path).map(drop) }
}

/// Refuses the name of a folder that results cannot be put into, before anything that takes long.
///
/// # Errors
/// Why.
pub fn ensure_folder(path: &Path) -> Result<()> {
    ensure!(path.is_dir() || !path.exists(), "{}: is a file; expected a folder", path.display());
    let _made = NewFolders::make(path).map_err(|error| refusal(path, &error))?;
    let made = tempfile::Builder::new().prefix(".hpcc-").tempfile_in(path);
    made.map(drop).map_err(|error| anyhow!("cannot write {}: {}", path.display(), kind(&error)))
}

fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
}

/// Writes to what is no regular file. To open a pipe from which nobody reads would wait for ever, unless asked not to.
fn write_to_device(path: &Path, content: &[u8]) -> io::Result<()> {
    let is_pipe = fs::metadata(path)?.file_type().is_fifo();
    let mut options = File::options();
    options.write(true);
    let reached = is_pipe.then(|| options.clone().custom_flags(OFlag::O_NONBLOCK.bits()).open(path));
    let _reader_stays = reached.transpose().map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::ENXIO as i32 => io::Error::other("is a pipe from which nobody reads"),
        _ => error,
    })?;
    // Now that it does not wait any more: what is written has to, where the reader is slow.
    options.open(path)?.write_all(content)
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
    fn what_cannot_be_written_wholly_is_not_there() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.toml");
        let full = || io::Error::other("no space");
        let told = create(&path, |out| out.write_all(b"half").and(Err(full()))).expect_err("full").to_string();
        assert_eq!(told, format!("cannot write {}: no space", path.display()));
        assert!(names(folder.path()).is_empty());
        replace(&path, "whole").expect("written");
        let mut draft = Draft::of(&path).expect("draft");
        assert!(draft.fill(|out| out.write_all(b"half").and(Err(full()))).is_err());
        drop(draft);
        assert_eq!(fs::read_to_string(&path).expect("old"), "whole");
        assert_eq!(names(folder.path()), ["a.toml"]);
    }

    #[test]
    fn new_files_replace_none_and_others_do() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a");
        create(&path, |out| out.write_all(b"one")).expect("written");
        let told = create(&path, |out| out.write_all(b"two")).expect_err("there").to_string();
        assert!(told.ends_with("a exists; expected the name of a new file"), "{told}");
        replace(&path, "three").expect("replaced");
        assert_eq!(fs::read_to_string(&path).expect("file"), "three");
        let usual = File::create(folder.path().join("b")).and_then(|file| file.metadata()).expect("file").permissions();
        assert_eq!(fs::metadata(&path).expect("file").permissions(), usual);
    }

    #[test]
    fn errors_name_the_file_and_not_its_draft() {
        let nowhere = Path::new("/proc/self/fd/nothing.json");
        for told in [ensure_writable(nowhere), replace(nowhere, "{}")] {
            let told = told.expect_err("no place for files").to_string();
            assert!(told.starts_with("cannot write /proc/self/fd/nothing.json: "), "{told}");
            assert!(!told.contains(".hpcc-"), "{told}");
        }
        assert!(ensure_writable(Path::new("/dev/null")).is_ok());
        for folder in ["/tmp", "nosuch/"] {
            let told = ensure_writable(Path::new(folder)).expect_err("folder").to_string();
            assert!(told.ends_with("is a directory; expected the name of a file"), "{told}");
        }
    }

    #[test]
    fn a_pipe_is_written_to_where_somebody_reads_from_it() {
        let folder = tempfile::tempdir().expect("folder");
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        let told = replace(&pipe, "text").expect_err("nobody reads").to_string();
        assert!(told.ends_with("pipe: is a pipe from which nobody reads"), "{told}");
        // Longer than what a pipe holds.
        let text = "text".repeat(100_000);
        let reader = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(&pipe).expect("a reader");
        let read = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe)
        });
        replace(&pipe, &text).expect("written");
        drop(reader);
        assert_eq!(read.join().expect("a thread").expect("text").len(), text.len());
    }

    #[test]
    fn missing_folders_are_made_with_the_file_only() {
        let root = tempfile::tempdir().expect("folder");
        let path = root.path().join("a/b/c.txt");
        ensure_writable(&path).expect("can be made");
        assert!(create(&path, |_| Err(io::Error::other("no space"))).is_err());
        assert!(names(root.path()).is_empty());
        replace(&path, "text").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "text");
        assert!(ensure_writable(&root.path().join("nosuch/../d")).is_err());
        assert!(
            ensure_writable(&path.join("d")).expect_err("no folder").to_string().contains("c.txt is not a directory")
        );
        assert_eq!(names(root.path()), ["a"]);
    }
}
