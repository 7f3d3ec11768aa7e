// SPDX-License-Identifier: GPL-2.0-only
//! Mistakes at the command line: each is answered by an error that names what was given, and leaves nothing.

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
    std::os::unix::fs::symlink("circle", desk.path().join("circle")).expect("a link");
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

/// Gives each command line, and expects exit status 2, all of the words, and nothing written.
fn refused(mistakes: &[(&[&str], &[&str])]) {
    let desk = desk();
    let before = entries(desk.path());
    let mut wrong = String::new();
    for (arguments, words) in mistakes {
        let mut command = hpcc(arguments);
        command.current_dir(desk.path()).stdin(Stdio::null()).env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO);
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        command.env("HPCC_SCRIPT", tree.join("hpcc"));
        let output = command.output().expect("hpcc starts");
        let printed = err(&output);
        let lacks: Vec<&&str> = words.iter().filter(|word| !printed.contains(**word)).collect();
        let begins = printed.starts_with("hpcc: ");
        let leaks = ["panicked", "os error", "RUST_BACKTRACE", ".rs:"].iter().any(|word| printed.contains(word));
        let is_new = entries(desk.path()) != before;
        if output.status.code() != Some(2)
            || !lacks.is_empty()
            || !begins
            || leaks
            || is_new
            || !out(&output).is_empty()
        {
            wrong += &format!(
                "{arguments:?}: {:?}, lacks {lacks:?}, leaves files: {is_new}\n  {printed}  {}\n",
                output.status,
                out(&output)
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn files_of_other_kinds_and_places_that_cannot_be_are_named() {
    let long = "a".repeat(300);
    refused(&[
        // Files that cannot be read.
        (&["run", "none.toml"], &["none.toml: no such file"]),
        (&["run", "folder"], &["folder: cannot be read: is a directory"]),
        (&["topology", "good.toml/x"], &["good.toml/x: not a directory"]),
        (&["report", "none"], &["none: no such folder; expected the folder of a run"]),
        (&["compare", "canned", "none"], &["none: no such file"]),
        (&["run", &long], &["cannot be read: file name too long"]),
        // Files of another kind.
        (&["run", "sweep.toml"], &["sweep.toml: this is a sweep: use ./hpcc sweep sweep.toml"]),
        (&["sweep", "good.toml"], &["good.toml: this is a scenario: use ./hpcc run good.toml"]),
        (&["sweep", "text.txt"], &["text.txt: this is no sweep, which is TOML: ./hpcc run takes a config.txt"]),
        (&["sweep", "binary"], &["binary: no text: invalid UTF-8"]),
        (&["sweep", "empty.toml"], &["empty.toml", "missing key \"title\""]),
        (&["topology", "empty"], &["empty: is empty; expected a scenario in TOML, or a config.txt"]),
        (&["topology", "canned/fct.csv"], &["canned/fct.csv: no scenario: it is neither TOML"]),
        (&["topology", "a name \u{fc}.toml"], &["a name \u{fc}.toml:2: run.stop: "]),
        (&["dissect", "text.txt"], &["text.txt: no capture; expected pcap or pcapng"]),
        (&["trace", "text.txt"], &["text.txt: this is no packet trace"]),
        (&["report", "folder"], &["folder: no output folder of a run, as it has no summary.json"]),
        (&["report", "canned/fct.csv"], &["canned/fct.csv: is a file; expected the folder of a run"]),
        (&["compare", "canned/fct.csv", "canned"], &["canned/fct.csv:1: ", "expected an fct.txt"]),
        (&["compare", "canned", "good.toml"], &["good.toml:1: ", "expected an fct.txt, plain or .gz, or the folder"]),
        (&["compare", "empty", "empty"], &["empty and empty: neither holds a flow"]),
        // Places that cannot be written to.
        (
            &["report", "canned", "--out", "folder"],
            &["cannot write folder: is a directory; expected the name of a file"],
        ),
        (&["report", "canned", "--out", "empty/a.html"], &["cannot write empty/a.html: not a directory"]),
        (&["topology", "good.toml", "--write", "text.txt"], &["text.txt exists; expected the name of a new file"]),
        (&["sweep", "sweep.toml", "--out", "text.txt"], &["text.txt: not a directory"]),
        (&["sweep", "sweep.toml", "--out", "canned"], &["canned: the folder holds files that are no sweep"]),
    ]);
}

#[test]
fn folders_that_are_missing_are_made() {
    let desk = desk();
    for (arguments, file) in [
        (&["topology", "good.toml", "--write", "a/c/net.txt"][..], "a/c/net.txt"),
        (&["report", "canned", "--out", "e/f/page.html"], "e/f/page.html"),
    ] {
        let output = hpcc(arguments).current_dir(desk.path()).stdin(Stdio::null()).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", err(&output));
        assert!(desk.path().join(file).is_file(), "{file}");
    }
}

#[test]
fn values_and_options_that_cannot_be_are_named() {
    refused(&[
        (&["report", "canned", "--warm-up", "-1ms"], &["'-1ms' for '--warm-up <TIME>'", "is negative"]),
        (&["report", "canned", "--until", "5"], &["'5' for", "--until <TIME>", "has no unit"]),
        (&["report", "canned", "--warm-up", "5ms", "--until", "1ms"], &["warm-up and end, 5000000 and 1000000 ns"]),
        (&["report", "canned", "--flow", "2-1"], &["'2-1' for '--flow <N|N-M>': expected the number of a flow"]),
        (&["report", "canned", "--flow", "99"], &["canned: no flow is selected"]),
        (&["report", "canned", "--group", "nobody"], &["there is no group \"nobody\"; there are "]),
        (&["explain", "transport.mtuu"], &["did you mean transport.mtu?"]),
        (&["topology", "good.toml", "--set", "x"], &["--set: \"x\" is no setting; expected KEY=VALUE"]),
        (&["run", "good.toml", "--seed", "new"], &["'new' for '--seed <N>': expected a whole number from 0 to"]),
        (&["run", "good.toml", "--set", "run.seed=1", "--seed", "1"], &["run.seed: the key is given twice"]),
        (&["sweep", "sweep.toml", "--run", "99"], &["--run 99: sweep.toml has runs 1 to 1"]),
        (&["sweep", "sweep.toml", "--run", "1"], &["hpcc-out/sweep: no sweep was begun in this folder"]),
        (&["sweep", "sweep.toml", "--table", "x.txt"], &["'x.txt' for '--table <FILE>': expected a name that ends in"]),
        (&["sweep", "sweep.toml", "--slurm", "a=b"], &["--slurm: the options of sbatch are for --engine slurm"]),
        (
            &["sweep", "sweep.toml", "--quick"],
            &["sweep.toml: --quick: there is no smaller version; expected a section [quick]"],
        ),
        (&["sweep", "sweep.toml", "--list", "--jobs", "2"], &["'--list' cannot be used with", "'--jobs <N>'"]),
        (&["reproduce", "fig99"], &["there is no figure \"fig99\"; did you mean fig9"]),
        (&["dissect", "text.txt", "--telemetry", "x"], &["--telemetry x: expected one of paper"]),
    ]);
}
