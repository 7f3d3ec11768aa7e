// SPDX-License-Identifier: GPL-2.0-only
//! Inputs without an end, or without a beginning, are refused at once.

use hpcc_tests::{Bench, TOML};
use std::process::Command;

#[test]
fn devices_and_pipes_are_no_input() {
    let bench = Bench::new(TOML);
    let pipe = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for input in ["/dev/zero", "pipe"] {
        for command in ["run", "sweep", "dissect", "trace"] {
            let output = bench.hpcc(&[command, input]);
            assert!(matches!(output.code, Some(1 | 2)), "{command} {input}: {}", output.err);
            assert!(output.err.contains("not a regular file"), "{command} {input}: {}", output.err);
        }
        let output = bench.hpcc(&["compare", input, input]);
        assert!(output.err.contains("not a regular file"), "compare {input}: {}", output.err);
    }
    bench.write("flows.toml", &(TOML[0].1.to_owned() + "[[traffic]]\nkind = 'file'\npath = '/dev/zero'\n"));
    let output = bench.run("flows.toml", &[]);
    assert_eq!(output.code, Some(2), "{}", output.err);
}
