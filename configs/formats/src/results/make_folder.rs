// SPDX-License-Identifier: GPL-2.0-only
//! Folders on the way to results.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Creates a folder, and those above it, if there is none.
///
/// # Errors
/// If `..` stands behind a folder that is not there - that would be made, and stay empty; if a part of the path is a file; and
/// those of the system.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut above = PathBuf::new();
    for component in folder.components() {
        let is_missing = !above.as_os_str().is_empty() && !above.is_dir();
        if component == Component::ParentDir && is_missing {
            let message = format!("there is no folder {}, behind which \"..\" stands", above.display());
            return Err(io::Error::new(ErrorKind::NotFound, message));
        }
        above.push(component);
        // A circle of symbolic links, for one; what is not there is made.
        if let Err(error) = fs::metadata(&above)
            && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        {
            return Err(error);
        }
        if above.exists() && !above.is_dir() {
            let message = format!("{} is not a directory", above.display());
            return Err(io::Error::new(ErrorKind::NotADirectory, message));
        }
    }
    fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_is_made_to_be_left_again() {
        let bench = tempfile::tempdir().expect("folder");
        let told = make_folder(&bench.path().join("nosuch/../x")).expect_err("refused").to_string();
        assert!(told.ends_with("nosuch, behind which \"..\" stands"), "{told}");
        assert_eq!(fs::read_dir(bench.path()).expect("folder").count(), 0);
        fs::write(bench.path().join("file"), "").expect("a file");
        let told = make_folder(&bench.path().join("file/x")).expect_err("refused").to_string();
        assert!(told.ends_with("/file is not a directory"), "{told}");
        std::os::unix::fs::symlink("circle", bench.path().join("circle")).expect("a link");
        let told = make_folder(&bench.path().join("circle/x")).expect_err("refused").to_string();
        assert!(told.starts_with("Too many levels of symbolic links"), "{told}");
        for good in ["a/b", "a/../c", "a/b/../../d/e"] {
            make_folder(&bench.path().join(good)).expect("made");
            assert!(bench.path().join(good).is_dir(), "{good}");
        }
    }
}
