// SPDX-License-Identifier: GPL-2.0-only
//! Mistakes at the command line: each is told in words that name what was given, and leaves nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

mod common;
use common::{FAKE_SCENARIO, canned, err, folder, hpcc, out};

/// A folder with files of every kind that a user may name by mistake.
fn desk() -> TempDir {
    let desk = folder();
    canned(desk.path(), true);
    let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/quickstart.toml");
    fs::copy(quickstart, desk.path().join("good.toml")).expect("good.toml");
    fs::create_dir(desk.path().join("folder")).expect("folder");
    for (name, bytes) in [
        ("empty", &b""[..]),
        ("empty.toml", b""),
        ("text.txt", b"my notes\n"),
        ("binary", b"\x7fELF\x02\x01\x01\x00\xff\xfe\x00\x80"),
        ("a name \u{fc}.toml", b"[run]\nstop = 1\n"),
        ("sweep.toml", b"title = \"T\"\nbase = \"good.toml\"\n[[variant]]\nname = \"a\"\n"),
    ] {
        fs::write(desk.path().join(name), bytes).expect(name);
    }
    desk
}

/// All files and folders below one.
fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(entries(&path));
        }
        all.insert(path);
    }
    all
}

/// Gives each command line, words without spaces, and expects exit status 2, all of the words, and nothing written.
fn refused(mistakes: &[(&[&str], &[&str])]) {
    let desk = desk();
    let before = entries(desk.path());
    let mut wrong = String::new();
    for (arguments, words) in mistakes {
        let mut command = hpcc(arguments);
        command.current_dir(desk.path()).stdin(Stdio::null()).env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO);
        command.env("HPCC_SCRIPT", Path::new(env!("CARGO_MANIFEST_DIR")).join("../hpcc"));
        let output = command.output().expect("hpcc starts");
        let told = err(&output);
        let lacks: Vec<&&str> = words.iter().filter(|word| !told.contains(**word)).collect();
        let begins = told.starts_with("hpcc: ") || told.starts_with("error: ");
        let leaks = ["panicked", "os error", "RUST_BACKTRACE", ".rs:"].iter().any(|word| told.contains(word));
        let is_new = entries(desk.path()) != before;
        if output.status.code() != Some(2)
            || !lacks.is_empty()
            || !begins
            || leaks
            || is_new
            || !out(&output).is_empty()
        {
            wrong += &format!(
                "{arguments:?}: {:?}, lacks {lacks:?}, leaves files: {is_new}\n  {told}  {}\n",
                output.status,
                out(&output)
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn files_that_cannot_be_read_are_named_in_words() {
    refused(&[
        (&["run", "none.toml"], &["none.toml: no such file"]),
        (&["run", "folder"], &["folder: cannot be read: is a directory"]),
        (&["sweep", "none.toml"], &["none.toml: no such file"]),
        (&["topology", "none"], &["none: no such file"]),
        (&["workload", "none"], &["none: no such file"]),
        (&["trace", "none"], &["none: no such file"]),
        (&["dissect", "none"], &["none: no such file"]),
        (&["report", "none"], &["none: no such folder; expected that of a run"]),
        (&["compare", "none", "canned"], &["none: no such file"]),
        (&["compare", "canned", "none"], &["none: no such file"]),
        (&["bench", "--compare", "none", "empty"], &["none: no such file"]),
        (&["bench", "--reference", "none"], &["none: no such file"]),
        (&["parity", "--data", "none"], &["none/runs.csv: no such file"]),
        (&["topology", "good.toml/x"], &["good.toml/x: not a directory"]),
    ]);
}
