// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc new`: what it writes runs.

use hpcc_tests::Bench;

#[test]
fn a_new_scenario_runs_to_its_end() {
    let bench = Bench::new(&[]);
    for (number, options) in [
        &["--hosts", "4"][..],
        &["--topology", "leaf_spine", "--hosts", "4", "--traffic", "permutation", "--rate", "25Gbps", "--size", "1MB"],
        &["--topology", "fat_tree", "--hosts", "8", "--algorithm", "dcqcn", "--size", "20KB", "--delay", "100us"],
        &["--topology", "dumbbell", "--hosts", "3", "--traffic", "flow", "--algorithm", "swift"],
    ]
    .iter()
    .enumerate()
    {
        let name = format!("new{number}.toml");
        let told = bench.hpcc(&[&["new", &name], *options].concat());
        assert_eq!(told.code, Some(0), "{options:?}: {}", told.err);
        assert!(told.out.contains(&format!("./hpcc run {name}")), "{}", told.out);
        let ran = bench.run(&name, &[]);
        assert_eq!(ran.code, Some(0), "{options:?}: {}{}", ran.err, ran.out);
    }
}
