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

/// Gives each command line, words without spaces, and expects exit status 2, all of the words, and nothing written.
fn refused(mistakes: &[(&[&str], &[&str])]) {
    let desk = desk();
    let before = entries(desk.path());
    let mut wrong = String::new();
    for (arguments, words) in mistakes {
        let mut command = hpcc(arguments);
        command.current_dir(desk.path()).stdin(Stdio::null()).env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO);
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        command.env("HPCC_SCRIPT", tree.join("hpcc")).env("HPCC_GOLDEN_DATA", tree.join("tests/golden"));
        let output = command.output().expect("hpcc starts");
        let told = err(&output);
        let lacks: Vec<&&str> = words.iter().filter(|word| !told.contains(**word)).collect();
        let begins = told.starts_with("hpcc: ");
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
        (&["report", "none"], &["none: no such folder; expected the folder of a run"]),
        (&["report", "circle"], &["circle: too many levels of symbolic links; expected the folder of a run"]),
        (&["report", "canned", "--out", "circle/a.html"], &["circle/a.html: too many levels of symbolic links"]),
        (&["compare", "none", "canned"], &["none: no such file"]),
        (&["compare", "canned", "none"], &["none: no such file"]),
        (&["bench", "--compare", "none", "empty"], &["none: no such file"]),
        (&["bench", "--reference", "none"], &["none: no such file"]),
        (&["parity", "--data", "none"], &["none: expected a folder as tests/golden", "none/runs.csv: no such file"]),
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
        (&["dist", "--out", "empty/x"], &["cannot write empty/x: empty is not a directory"]),
        (&["docs", "--runs", "--out", "empty"], &["empty: is a file; expected a folder"]),
        (&["sweep", "sweep.toml", "--out", "text.txt"], &["text.txt: not a directory"]),
        (&["sweep", "sweep.toml", "--out", "text.txt/x"], &["text.txt/x: not a directory"]),
        (&["sweep", "sweep.toml", "--out", "canned"], &["canned: the folder holds files that are no sweep"]),
        (&["reproduce", "fig13", "--out", "text.txt"], &["text.txt: is a file; expected a folder"]),
    ];
    refused(mistakes);
}

#[test]
fn names_that_no_file_can_have_are_found_first() {
    let long = "a".repeat(300);
    let told = format!("cannot write {long}: file name too long");
    refused(&[
        (&["report", "canned", "--out", &long], &[&told]),
        (&["bench", "--out", &long], &[&told]),
        (&["new", &long], &[&told]),
        (&["run", &long], &["cannot be read: file name too long"]),
    ]);
}

#[test]
fn links_to_nothing_are_no_new_files() {
    let desk = desk();
    std::os::unix::fs::symlink("nowhere", desk.path().join("link")).expect("a link");
    for arguments in [&["new", "link"][..], &["topology", "good.toml", "--write", "link"]] {
        let output = hpcc(arguments).current_dir(desk.path()).stdin(Stdio::null()).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err(&output).contains("link exists; expected the name of a new file"), "{}", err(&output));
    }
}

#[test]
fn temporary_folders_that_cannot_be_are_named() {
    let desk = desk();
    let mut command = hpcc(&["bench", "--suite", "--hosts", "16", "--runs", "1"]);
    command.current_dir(desk.path()).env("TMPDIR", "/nowhere").env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO);
    let output = command.output().expect("hpcc starts");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(err(&output), "hpcc: no temporary folder can be made in /nowhere: no such folder\n");
}

#[test]
fn a_script_that_is_not_there_is_named() {
    for arguments in [&["test"][..], &["build"], &["audit"]] {
        let output = hpcc(arguments).env("HPCC_SCRIPT", "/nowhere/hpcc").output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let words = "hpcc: cannot start the script /nowhere/hpcc, which HPCC_SCRIPT names: no such file\n";
        assert_eq!(err(&output), words, "{arguments:?}");
    }
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
        (
            &["compare", "canned", "good.toml"],
            &["good.toml:1: ", "expected an fct.txt, plain or .gz, or the folder of a run"],
        ),
        (&["compare", "canned", "binary"], &["binary:1: not text; expected an fct.txt"]),
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

#[test]
fn files_of_another_kind_are_told_apart() {
    refused(&[
        (&["run", "canned"], &["canned: cannot be read: is a directory; expected a file"]),
        (&["run", "sweep.toml"], &["sweep.toml: this is a sweep: use ./hpcc sweep sweep.toml"]),
        (&["sweep", "good.toml"], &["good.toml: this is a scenario: use ./hpcc run good.toml"]),
        (&["sweep", "binary"], &["binary: no text: invalid UTF-8"]),
        (&["sweep", "empty.toml"], &["empty.toml", "missing key \"title\""]),
        (&["sweep", "folder"], &["folder: is a directory; expected a file"]),
        (&["topology", "empty"], &["empty: is empty; expected a scenario in TOML, or a config.txt"]),
        (&["topology", "text.txt"], &["text.txt: no scenario: it is neither TOML nor has a key of the reference"]),
        (&["topology", "canned/summary.json"], &["canned/summary.json: no scenario: it is neither TOML"]),
        (&["topology", "canned/fct.csv"], &["canned/fct.csv: no scenario: it is neither TOML"]),
        (&["topology", "binary"], &["binary:1: is not a text file"]),
        (&["topology", "folder"], &["folder: is a directory; expected a file"]),
        (&["topology", "a name \u{fc}.toml"], &["a name \u{fc}.toml:2: run.stop: "]),
        (&["workload", "empty"], &["empty: is empty; expected a scenario in TOML"]),
        (&["workload", "/dev/null"], &["/dev/null: not a regular file; expected one, no device or pipe"]),
        (&["workload", "sweep.toml"], &["sweep.toml:3: this is a sweep: use ./hpcc sweep sweep.toml"]),
        (&["dissect", "text.txt"], &["text.txt: no capture; expected pcap or pcapng"]),
        (&["dissect", "binary"], &["binary: no capture; expected pcap or pcapng"]),
        (&["dissect", "folder"], &["folder: is a directory; expected a file"]),
        (&["dissect", "--hex", "zz"], &["--hex: \"z\" at 1 is no digit"]),
        (&["trace", "text.txt"], &["text.txt: this is no packet trace"]),
        (&["trace", "folder"], &["folder: is a directory; expected a file"]),
        (&["report", "folder"], &["folder: no output folder of a run, as it has no summary.json"]),
        (&["report", "binary"], &["binary: is a file; expected the folder of a run"]),
        (&["bench", "--compare", "binary", "empty"], &["binary: no text: invalid UTF-8"]),
        (&["bench", "--compare", "empty", "empty"], &["empty is no measurement of ./hpcc bench"]),
        (&["bench", "--compare", "folder", "empty"], &["folder: is a directory; expected a file"]),
        (&["bench", "--reference", "folder"], &["folder: is a directory; expected a program"]),
        (&["bench", "--reference", "text.txt"], &["text.txt: is no program that may be executed"]),
        (&["bench", "--suite", "--against", "text.txt"], &["text.txt: is no program that may be executed"]),
        (&["parity", "--data", "text.txt"], &["text.txt: expected a folder as tests/golden of a source tree"]),
        (&["test", "--ns3", "folder"], &["folder is no ns-3 tree"]),
        (&["new", "good.toml"], &["good.toml exists; expected the name of a new file"]),
    ]);
}

#[test]
fn values_that_cannot_be_are_named_with_their_option() {
    let more = "--until <TIME>";
    refused(&[
        (&["report", "canned", "--warm-up", "-1ms"], &["'-1ms' for '--warm-up <TIME>'", "is negative"]),
        (&["report", "canned", "--until", "5"], &["'5' for", more, "has no unit"]),
        (&["report", "canned", "--warm-up", "5ms", "--until", "1ms"], &["warm-up and end, 5000000 and 1000000 ns"]),
        (&["report", "canned", "--flow", "-1"], &["'-1' for '--flow <N|N-M>': expected the number of a flow"]),
        (&["report", "canned", "--flow", "99"], &["canned: no flow is selected"]),
        (&["report", "canned", "--group", "nobody"], &["there is no group \"nobody\"; there are "]),
        (&["report", "canned", "--style", "x"], &["'x' for '--style <STYLE>'", "possible values: screen"]),
        (&["report", "canned", "canned"], &["canned is given twice"]),
        (&["new", "a.toml", "--hosts", "99999999999"], &["'99999999999' for '--hosts <N>'", "from 2 to 131071"]),
        (&["new", "a.toml", "--delay", "-1us"], &["'-1us' for '--delay <DELAY>'", "is negative"]),
        (&["new", "a.toml", "--rate", "-1Gbps"], &["'-1Gbps' for '--rate <RATE>'", "is negative"]),
        (&["new", "a.toml", "--size", "-1"], &["'-1' for '--size <SIZE>'", "is negative"]),
        (&["new", "a.toml", "--seed", "1.5"], &["'1.5' for '--seed <N>': expected a whole number from 0"]),
        (&["bench", "--suite", "--hosts", "-5"], &["'-5' for '--hosts <N,...>': expected a whole number from 1"]),
        (&["bench", "--suite", "--hosts", "100"], &["no fat tree of 100 hosts; expected some of 16, 128"]),
        (&["parity", "nosuchrun"], &["no run's name contains \"nosuchrun\""]),
        (&["explain", ""], &["there is no setting \"\""]),
        (&["schema", "nope"], &["'nope' for '[FILE]'", "possible values: scenario, sweep"]),
        (&["topology", "good.toml", "--set", "x"], &["--set: \"x\" is no setting; expected KEY=VALUE"]),
        (&["topology", "good.toml", "--set", "="], &["--set: a part of the key is empty"]),
        (&["sweep", "sweep.toml", "--run", "99"], &["--run 99: sweep.toml has runs 1 to 1"]),
        (&["sweep", "sweep.toml", "--run", "1"], &["hpcc-out/sweep: no sweep was begun in this folder"]),
        (&["sweep", "sweep.toml", "--table", "x.txt"], &["'x.txt' for '--table <FILE>': expected a name that ends in"]),
        (&["sweep", "sweep.toml", "--slurm", "a=b"], &["--slurm: the options of sbatch are for --engine slurm"]),
        (&["sweep", "sweep.toml", "--quick"], &["sweep.toml: there is no quick form; expected a section [quick]"]),
        (&["docs", "--runs", "nosuchpage"], &["--runs: no page shows a command with nosuchpage"]),
        (&["dissect", "text.txt", "--telemetry", "x"], &["--telemetry x: expected one of paper"]),
    ]);
}

#[test]
fn options_given_twice_or_against_each_other_are_refused() {
    refused(&[
        (&["run", "good.toml", "--out", "a", "--out", "b"], &["'--out <DIR>' cannot be used multiple times"]),
        (&["run", "good.toml", "--seed", "1", "--seed", "2"], &["'--seed <N>' cannot be used multiple times"]),
        (&["run", "good.toml", "--set", "run.seed=1", "--set", "run.seed=2"], &["run.seed: the key is given twice"]),
        (&["run", "good.toml", "--set", "run.seed=1", "--seed", "1"], &["run.seed: the key is given twice"]),
        (&["run", "good.toml", "empty"], &["unexpected argument 'empty'"]),
        (&["-q", "-q", "run", "good.toml"], &["'--quiet' cannot be used multiple times"]),
        (&["sweep", "sweep.toml", "--collect", "--jobs", "3"], &["'--collect' cannot be used with '--jobs <N>'"]),
        (&["sweep", "sweep.toml", "--engine", "print", "--jobs", "2"], &["--jobs: who executes the commands decides"]),
        (&["bench", "--micro", "--runs", "3"], &["'--micro' cannot be used with '--runs <N>'"]),
        (&["bench", "--hosts", "16"], &["--suite"]),
        (&["dissect", "--hex", "00", "text.txt"], &["'--hex <DIGITS>' cannot be used with '[FILE]'"]),
        (&["test", "--parity"], &["--ns3 <DIR>..."]),
        (&["docs", "--check"], &["--runs"]),
        (&["new", "a.toml", "--load", "0.5"], &["--load belongs to --traffic poisson"]),
        (&["compare", "canned"], &["<B>"]),
        (&["run", "good.toml", "--quiet=no"], &["unexpected value 'no' for '--quiet'"]),
    ]);
}
