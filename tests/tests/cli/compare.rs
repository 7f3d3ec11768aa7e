// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc compare` on real runs.

use hpcc_tests::{Bench, TOML};

/// Two runs of one scenario, the second with another target utilisation.
fn runs() -> Bench {
    let bench = Bench::new(TOML);
    for (out, eta) in [("a", "0.95"), ("same", "0.95"), ("b", "0.80")] {
        let told = bench.run_to(out, "scenario.toml", &[&format!("congestion_control.eta={eta}")]);
        assert_eq!(told.code, Some(0), "{}", told.err);
    }
    bench
}

#[test]
fn runs_are_compared_flow_by_flow() {
    let bench = runs();
    bench.write("cut.txt", &bench.read("a/fct.txt")[..60]);
    for (other, code, words) in [
        ("same", 0, "2 flows in both, 2 exact, 0 different"),
        ("b/fct.txt", 1, "2 flows in both, 0 exact, 2 different"),
        ("cut.txt", 2, "cut.txt:2:"),
    ] {
        let told = bench.hpcc(&["compare", "a", other]);
        assert_eq!(told.code, Some(code), "{other}: {}", told.err);
        assert!(told.out.contains(words) || told.err.contains(words), "{other}: {}{}", told.out, told.err);
    }
}
