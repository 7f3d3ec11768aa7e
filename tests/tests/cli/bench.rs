// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc bench --suite`, on the smallest tree, and beside another program.

use hpcc_tests::Bench;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_suite_measures_each_traffic_with_each_build() {
    let program = std::env::var("HPCC_SCENARIO_PROGRAM").expect("HPCC_SCENARIO_PROGRAM");
    let bench = Bench::new(&[]);
    // It is called as the 2019 simulator is, and ends with an error if the files that its configuration names are not
    // there.
    bench.write(
        "reference",
        "#!/bin/sh\nset -e\nfor key in TOPOLOGY FLOW TRACE; do cat $(sed -n \"s/^${key}_FILE //p\" $1); done\n",
    );
    fs::set_permissions(bench.path("reference"), fs::Permissions::from_mode(0o755)).expect("reference");
    let options = ["--hosts", "16", "--runs", "1", "--against", program.as_str(), "--reference", "./reference"];
    let output = bench.xtask(&[&["bench", "--suite"][..], &options].concat());
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.out.contains("times as fast") && output.out.contains(" reference "), "{}", output.out);
    let hops = |traffic: &str, build: &str| {
        let row = output.out.lines().find(|line| line.contains(traffic) && line.contains(build));
        let cells: Vec<&str> = row.expect(traffic).split(traffic).nth(1).expect("cells").split_whitespace().collect();
        cells[1].parse::<u64>().expect("packet-hops")
    };
    for traffic in ["one flow", "permutation", "Poisson"] {
        assert_eq!(hops(traffic, " this "), hops(traffic, " other "), "{}", output.out);
    }
    // 200 packets of 1,000 bytes over six links, and their acknowledgements back; no path of the sixteen is longer.
    assert_eq!(hops("one flow", " this "), 2 * 6 * 200);
    assert!((hops("permutation", " this ") / 400) <= 6 * 16, "{}", output.out);
}
