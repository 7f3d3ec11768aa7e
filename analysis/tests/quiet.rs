// SPDX-License-Identifier: GPL-2.0-only
//! `--quiet`, before and behind every command.

use std::fs;
use std::path::Path;
use std::process::Output;

mod common;
use common::{FAKE_SCENARIO, canned, err, folder, hpcc, out};

/// A command in a folder with results, and a scenario that nobody reads.
fn output_of(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = hpcc(arguments);
    command.current_dir(folder).env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO);
    command.env("FAKE_END", "0").env("FAKE_RESULTS", folder.join("canned"));
    command.output().expect("hpcc starts")
}

#[test]
fn summaries_of_what_is_in_files_are_notes() {
    let folder = folder();
    canned(folder.path(), true);
    fs::write(folder.path().join("any.toml"), "").expect("any.toml");
    for arguments in [&["run", "any.toml", "--out", "out", "--simulator", "ns3"][..], &["report", "canned"]] {
        let is_run = arguments[0] == "run";
        let output = output_of(folder.path(), &[&["-q"], arguments].concat());
        assert_eq!(err(&output).lines().any(|line| line == "argument --quiet"), is_run, "the simulator is quiet, too");
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(0), ""), "{arguments:?}: {}", err(&output));
        assert!(!err(&output).contains("hpcc:"), "{}", err(&output));
    }
    assert!(["out/queue.svg", "canned/report.html"].iter().all(|name| folder.path().join(name).exists()));
}

#[test]
fn what_a_command_is_there_to_print_is_printed() {
    let folder = folder();
    canned(folder.path(), true);
    let quickstart = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/quickstart.toml");
    let sweep = format!("title = \"T\"\nbase = {quickstart:?}\n[[variant]]\nname = \"a\"\n");
    fs::write(folder.path().join("sweep.toml"), sweep).expect("sweep.toml");
    for (arguments, words) in [
        (&["compare", "canned", "canned"][..], "2 exact"),
        (&["topology", quickstart], "hosts"),
        (&["sweep", "sweep.toml", "--list"], "a"),
    ] {
        let (loud, quiet) =
            (output_of(folder.path(), arguments), output_of(folder.path(), &[arguments, &["--quiet"]].concat()));
        assert!(out(&loud).contains(words), "{arguments:?}: {}{}", out(&loud), err(&loud));
        assert_eq!(out(&quiet), out(&loud), "{arguments:?}: {}", err(&quiet));
    }
    let written = output_of(folder.path(), &["topology", quickstart, "--write", "net.txt", "-q"]);
    assert!(out(&written).contains("hosts") && !out(&written).contains("wrote"), "{}", out(&written));
}

#[test]
fn errors_are_told_all_the_same() {
    let folder = folder();
    for arguments in [&["-q", "run", "none.toml"][..], &["compare", "-q", "none", "none"], &["-q"], &["-q", "runn"]] {
        let output = output_of(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!err(&output).is_empty(), "{arguments:?}");
    }
}
