// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc compare` on real runs.

use hpcc_tests::{Bench, TOML};

#[test]
fn runs_are_equal_or_differ_or_cannot_be_compared() {
    let bench = Bench::new(TOML);
    for (out, eta) in [("a", "0.95"), ("same", "0.95"), ("b", "0.80")] {
        let output = bench.run_to(out, "scenario.toml", &[&format!("congestion_control.eta={eta}")]);
        assert_eq!(output.code, Some(0), "{}", output.err);
    }
    bench.write("cut.txt", &bench.read("a/fct.txt")[..60]);
    for (a, b, code, words) in [
        ("a", "same", 0, "2 flows in both, 2 exact, 0 different"),
        ("a/fct.txt", "b/fct.txt", 1, "2 flows in both, 0 exact, 2 different"),
        ("a", "none", 2, "hpcc: none"),
        ("a", "cut.txt", 2, "hpcc: cut.txt:2:"),
        ("a", "scenario.toml", 2, "hpcc: scenario.toml:1:"),
    ] {
        let output = bench.hpcc(&["compare", a, b]);
        assert_eq!(output.code, Some(code), "{a} {b}: {}", output.out);
        assert!(output.out.contains(words) || output.err.starts_with(words), "{}{}", output.out, output.err);
    }
}
