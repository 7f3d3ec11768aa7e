// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc bench --suite`, on the smallest tree.

use hpcc_tests::Bench;

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
