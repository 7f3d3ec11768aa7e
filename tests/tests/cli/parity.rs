// SPDX-License-Identifier: GPL-2.0-only
//! `./hpcc parity` tells equal from different. That all runs are equal is a stage of `./hpcc test` of its own.

use hpcc_tests::Bench;
use std::os::unix::fs::symlink;
use std::path::Path;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden");

#[test]
fn a_run_that_differs_is_named() {
    // The 2019 simulator's runs, with the table in a folder of our own.
    let table = std::fs::read_to_string(Path::new(GOLDEN).join("runs.csv")).expect("runs.csv");
    let bench = Bench::new(&[("runs.csv", &table)]);
    for folder in ["data", "campaigns"] {
        symlink(Path::new(GOLDEN).join(folder), bench.path(folder)).expect("link");
    }
    let output = bench.xtask(&["parity", "tiny-2flow/hp", "--data", "."]);
    assert_eq!(output.code, Some(0), "{}{}", output.out, output.err);
    assert!(output.out.contains(" runs of the 2019 simulator exact"), "{}", output.out);

    let row = table.lines().find(|line| line.starts_with("tiny-2flow,hp,")).expect("a row");
    let hops = row.split(',').nth(4).expect("packet hops");
    bench.edit("runs.csv", &format!("{row}\n"), &format!("{}\n", row.replace(&format!(",{hops},"), ",7,")));
    let output = bench.xtask(&["parity", "tiny-2flow/hp", "--data", "."]);
    assert_eq!(output.code, Some(1), "{}{}", output.out, output.err);
    assert!(output.out.contains(&format!("tiny-2flow/hp: {hops} packet-hops, expected 7")), "{}", output.out);
}
