// SPDX-License-Identifier: GPL-2.0-only
//! The program that makes a run, in short: an equal scenario and an equal program give equal results, so that a run whose
//! folder names both need not be repeated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Hash of a program, of the libraries that it loads, and of those that are loaded besides.
///
/// # Errors
/// If one of them cannot be read.
pub fn hash(program: &Path, besides: &[PathBuf]) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    for file in std::iter::once(program.to_owned()).chain(libraries(program)).chain(besides.iter().cloned()) {
        hasher.update(&fs::read(file)?);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The files that `ldd` names; none of a script.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let Ok(output) = Command::new("ldd").arg(program).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let paths = text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from);
    paths.filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_program_or_library_is_another_one() {
        let dir = tempfile::tempdir().expect("folder");
        let program = dir.path().join("program");
        fs::write(&program, "one").expect("written");
        let one = hash(&program, &[]).expect("read");
        fs::write(&program, "two").expect("written");
        let two = hash(&program, &[]).expect("read");
        assert!(one != two && two != hash(&program, std::slice::from_ref(&program)).expect("read"));
        assert!(!libraries(Path::new("/bin/sh")).is_empty(), "the C library");
        assert!(hash(&dir.path().join("absent"), &[]).is_err());
    }
}
