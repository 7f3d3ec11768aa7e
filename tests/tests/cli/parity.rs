// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc parity` tells equal from different. That all runs are equal is a stage of `./hpcc test` of its own.

use hpcc_tests::Bench;
use std::os::unix::fs::symlink;
use std::path::Path;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden");

/// The reference's runs, with the table in a folder of our own.
fn copy() -> Bench {
    let table = std::fs::read_to_string(Path::new(GOLDEN).join("runs.csv")).expect("runs.csv");
    let bench = Bench::new(&[("runs.csv", &table)]);
    for folder in ["data", "campaigns"] {
        symlink(Path::new(GOLDEN).join(folder), bench.path(folder)).expect("link");
    }
    bench
}

#[test]
fn equal_runs_end_with_0() {
    let told = copy().hpcc(&["parity", "tiny-2flow/hp", "--data", "."]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    assert!(told.out.contains(" runs of the reference exact"), "{}", told.out);
}

#[test]
fn a_run_that_differs_ends_with_1_and_is_named() {
    let bench = copy();
    let row = bench.read("runs.csv").lines().find(|line| line.starts_with("tiny-2flow,hp,")).expect("a row").to_owned();
    let hops = row.split(',').nth(4).expect("packet hops");
    bench.edit("runs.csv", &format!("{row}\n"), &format!("{}\n", row.replace(&format!(",{hops},"), ",7,")));
    let told = bench.hpcc(&["parity", "tiny-2flow/hp", "--data", "."]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.out.contains(&format!("tiny-2flow/hp: {hops} packet-hops, expected 7")), "{}", told.out);
}

#[test]
fn nothing_to_compare_ends_with_2() {
    for (filter, data, words) in [("no/such", ".", "no run's name contains"), ("", "nowhere", "nowhere/runs.csv: ")] {
        let told = copy().hpcc(&["parity", filter, "--data", data]);
        assert_eq!(told.code, Some(2), "{}", told.out);
        assert!(told.err.contains(words), "{}", told.err);
    }
}
