// SPDX-License-Identifier: GPL-2.0-only
//! Where files are looked for: beside the file that names them, then in the working folder.

use hpcc_tests::{Bench, REFERENCE};
use std::fs;

/// The 2019 simulator itself must be started from the folder of its inputs; we need not be.
#[test]
fn a_reference_config_runs_unchanged_from_another_folder() {
    let bench = Bench::new(REFERENCE);
    assert_eq!(bench.run_to("near", "config.txt", &[]).code, Some(0));
    fs::create_dir(bench.path("their experiment")).expect("folder");
    for (name, _) in REFERENCE {
        fs::rename(bench.path(name), bench.path("their experiment").join(name)).expect("input");
    }
    let output = bench.run_to("far", "their experiment/config.txt", &[]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert_eq!(bench.read("far/fct.txt"), bench.read("near/fct.txt"));
    let left: Vec<_> = fs::read_dir(bench.path("their experiment")).expect("folder").collect();
    assert_eq!(left.len(), REFERENCE.len(), "only the inputs: {left:?}");
}

#[test]
fn the_folder_of_the_config_comes_before_the_working_folder() {
    let bench = Bench::new(REFERENCE);
    fs::create_dir(bench.path("sub")).expect("folder");
    bench.write("sub/config.txt", &bench.read("config.txt"));
    bench.write("sub/flow.txt", "1\n0 2 3 100 100000 2.000000\n");
    let output = bench.run("sub/config.txt", &[]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    // Flows from beside the config, the topology from the working folder.
    assert_eq!(bench.read("out/fct.txt").lines().count(), 1);
}
