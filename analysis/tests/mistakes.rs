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

#[test]
fn places_that_cannot_be_written_to_are_found_first() {
    let mistakes: &[(&[&str], &[&str])] = &[
        (
            &["report", "canned", "--out", "folder"],
            &["cannot write folder: is a directory; expected the name of a file"],
        ),
        (
            &["report", "canned", "--out", "pages/"],
            &["cannot write pages/: is a directory; expected the name of a file"],
        ),
        (&["report", "canned", "--out", "empty/a.html"], &["cannot write empty/a.html: empty is not a directory"]),
        (&["report", "canned", "--out", "no/../a.html"], &["cannot write no/../a.html: there is no folder no"]),
        (&["report", "none", "--out", "folder"], &["cannot write folder"]),
        (&["bench", "--out", "folder"], &["cannot write folder: is a directory"]),
        (&["topology", "good.toml", "--write", "text.txt"], &["text.txt exists; expected the name of a new file"]),
        (
            &["topology", "good.toml", "--write", "empty/net.txt"],
            &["cannot write empty/net.txt: empty is not a directory"],
        ),
        (&["workload", "good.toml", "--write", "folder/"], &["folder/ exists"]),
        (&["new", "folder"], &["folder exists"]),
        (&["new", "empty/new.toml"], &["cannot write empty/new.toml: empty is not a directory"]),
        (&["sweep", "sweep.toml", "--table", "folder.csv/"], &["cannot write folder.csv/: is a directory"]),
        (&["dist", "--out", "empty"], &["empty: is a file; expected a folder"]),
        (&["docs", "--runs", "--out", "empty"], &["empty: is a file; expected a folder"]),
        (&["sweep", "sweep.toml", "--out", "text.txt"], &["text.txt: not a directory"]),
        (&["sweep", "sweep.toml", "--out", "text.txt/x"], &["text.txt/x: not a directory"]),
        (&["sweep", "sweep.toml", "--out", "canned"], &["canned: the folder holds files that are no sweep"]),
        (&["reproduce", "fig13", "--out", "text.txt"], &["text.txt: is a file; expected a folder"]),
    ];
    refused(mistakes);
}

#[test]
fn folders_that_are_missing_are_made() {
    let desk = desk();
    for (arguments, file) in [
        (&["new", "a/b/new.toml"][..], "a/b/new.toml"),
        (&["topology", "good.toml", "--write", "a/c/net.txt"], "a/c/net.txt"),
        (&["workload", "good.toml", "--write", "d/flows.txt"], "d/flows.txt"),
        (&["report", "canned", "--out", "e/f/page.html"], "e/f/page.html"),
    ] {
        let output = hpcc(arguments).current_dir(desk.path()).stdin(Stdio::null()).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", err(&output));
        assert!(desk.path().join(file).is_file(), "{file}");
    }
}

#[test]
fn tables_are_not_taken_for_lists_of_flows() {
    refused(&[
        (&["compare", "canned/fct.csv", "canned"], &["canned/fct.csv: is a CSV file; expected an fct.txt"]),
        (&["compare", "canned", "canned/queue.csv"], &["canned/queue.csv: is a CSV file; expected an fct.txt"]),
        (&["report", "canned/fct.csv"], &["canned/fct.csv: is a file; expected the folder of a run"]),
        (&["report", "canned/summary.json"], &["canned/summary.json: is a file; expected the folder of a run"]),
        (&["compare", "canned", "folder"], &["folder/fct.txt: no such file"]),
        (&["compare", "canned", "good.toml"], &["good.toml:1: "]),
        (&["compare", "canned", "binary"], &["binary:1: "]),
        (&["compare", "empty", "empty"], &["empty and empty: neither holds a flow"]),
    ]);
}

#[test]
fn words_that_contradict_one_another_are_refused() {
    refused(&[
        (
            &["reproduce", "fig13", "list"],
            &["list prints a table of all figures and runs none; expected it without fig13"],
        ),
        (&["reproduce", "list", "all"], &["list prints a table", "expected it without all"]),
        (&["reproduce", "all", "fig13"], &["all means every figure; expected it without fig13"]),
        (&["reproduce", "fig13", "fig13"], &["fig13 is given twice; expected it once"]),
        (&["reproduce", "list", "--quick"], &["list prints a table", "expected it without --quick"]),
        (&["reproduce", "list", "--out", "a"], &["list prints a table", "expected it without --out"]),
        (&["reproduce", "list", "--record"], &["list prints a table", "expected it without --record"]),
        (&["reproduce", "fig13", "--list", "--record"], &["'--list' cannot be used with", "'--record'"]),
        (&["reproduce"], &["<FIGURE|all|list>"]),
        (&["reproduce", "fig99"], &["there is no figure \"fig99\"; did you mean fig9"]),
        (&["sweep", "sweep.toml", "--list", "--jobs", "2"], &["'--list' cannot be used with", "'--jobs <N>'"]),
        (&["sweep", "sweep.toml", "--list", "--fresh"], &["'--list' cannot be used with", "'--fresh'"]),
    ]);
}
