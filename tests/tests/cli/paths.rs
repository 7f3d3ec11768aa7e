// SPDX-License-Identifier: GPL-2.0-only
//! Where files are looked for: beside the file that names them, then in the working folder.

use hpcc_golden::{Golden, Match, Verdict};
use hpcc_tests::{Bench, REFERENCE};
use std::fs;

/// The reference itself must be started from the folder of its inputs; we need not be.
#[test]
fn a_reference_config_runs_unchanged_from_another_folder() {
    let golden = Golden::in_tree().expect("golden data");
    let case = golden.case(golden.run("tiny-2flow", "hp").expect("run")).expect("files");
    let bench = Bench::new(&[]);
    let inputs = bench.path("their experiment");
    fs::create_dir(&inputs).expect("folder");
    case.unpack(&inputs).expect("inputs");
    let told = bench.run("their experiment/config_hp.txt", &[]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let found = hpcc_golden::Outputs { fct: bench.read("out/fct.txt"), ..Default::default() };
    assert_eq!(Verdict::of(&case.expected, &found).fct, Match::Equal);
    let left: Vec<_> = fs::read_dir(&inputs).expect("folder").collect();
    assert_eq!(left.len(), 4, "only the inputs: {left:?}");
}

#[test]
fn the_folder_of_the_config_comes_before_the_working_folder() {
    let bench = Bench::new(REFERENCE);
    fs::create_dir(bench.path("sub")).expect("folder");
    bench.write("sub/config.txt", &bench.read("config.txt"));
    bench.write("sub/flow.txt", "1\n0 2 3 100 100000 2.000000\n");
    let told = bench.run("sub/config.txt", &[]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    // Flows from beside the config, the topology from the working folder.
    assert_eq!(bench.read("out/fct.txt").lines().count(), 1);
}

#[test]
fn a_folder_is_no_config() {
    let bench = Bench::new(&[]);
    fs::create_dir(bench.path("sub")).expect("folder");
    let told = bench.run("sub", &[]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.starts_with("hpcc: sub:"), "{}", told.err);
}
