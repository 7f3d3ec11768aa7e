// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc bench --suite`, on the smallest tree, and beside another program.

use hpcc_tests::Bench;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_suite_measures_each_traffic_with_each_build() {
    let program = std::env::var("HPCC_SCENARIO_PROGRAM").expect("HPCC_SCENARIO_PROGRAM");
    let told =
        Bench::new(&[]).hpcc(&["bench", "--suite", "--hosts", "16", "--runs", "1", "--against", program.as_str()]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let hops = |traffic: &str, build: &str| {
        let row = told.out.lines().find(|line| line.contains(traffic) && line.contains(build));
        let cells: Vec<&str> = row.expect(traffic).split(traffic).nth(1).expect("cells").split_whitespace().collect();
        cells[1].parse::<u64>().expect("packet-hops")
    };
    for traffic in ["one flow", "permutation", "Poisson"] {
        assert_eq!(hops(traffic, " this "), hops(traffic, " other "), "{}", told.out);
    }
    // 200 packets of 1,000 bytes over six links, and their acknowledgements back; no path of the sixteen is longer.
    assert_eq!(hops("one flow", " this "), 2 * 6 * 200);
    assert!((hops("permutation", " this ") / 400) <= 6 * 16, "{}", told.out);
}

#[test]
fn a_reference_takes_part_in_the_suite() {
    let bench = Bench::new(&[]);
    // It is called as the reference is, and ends with an error if the files that its configuration names are not there.
    let program = bench.path("reference");
    bench.write(
        "reference",
        "#!/bin/sh\nset -e\nfor key in TOPOLOGY FLOW TRACE; do cat $(sed -n \"s/^${key}_FILE //p\" $1); done\n",
    );
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("reference");
    let program = program.to_str().expect("path");
    let told = bench.hpcc(&["bench", "--suite", "--hosts", "16", "--runs", "1", "--reference", program]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let (beside, suite) = told.out.split_once("times as fast").expect(&told.out);
    assert!(beside.contains("reference (CPU s)") && suite.contains("permutation"), "{}", told.out);
    for name in ["fat-fbhdp30-short/hp", "fat-websearch30/hp"] {
        let row = suite.lines().find(|line| line.contains(name)).expect(name);
        let cells: Vec<f64> = row.split_whitespace().filter_map(|cell| cell.parse().ok()).collect();
        // This one only copies three files.
        assert!(cells[0] < 0.1 * cells[1] && cells[2] < 0.1, "{row}");
    }
    let none = bench.hpcc(&["bench", "--suite", "--reference", "nowhere"]);
    assert!(none.code == Some(2) && none.err.contains("nowhere"), "{}", none.err);
}

#[test]
fn sizes_that_are_no_trees_and_options_without_the_suite_are_refused() {
    for (arguments, words) in [
        (&["bench", "--suite", "--hosts", "100"][..], "expected some of 16, 128"),
        (&["bench", "--large"], "--suite"),
        (&["bench", "--suite", "--micro"], "cannot be used with"),
    ] {
        let told = Bench::new(&[]).hpcc(arguments);
        assert_eq!(told.code, Some(2), "{}", told.err);
        assert!(told.err.contains(words), "{}", told.err);
    }
}
