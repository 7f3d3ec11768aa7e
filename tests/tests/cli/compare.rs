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
fn equal_runs_end_with_0() {
    let told = runs().hpcc(&["compare", "a", "same"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.out.contains("2 flows in both, 2 exact, 0 different"), "{}", told.out);
}

#[test]
fn different_runs_end_with_1_and_show_the_flows() {
    let told = runs().hpcc(&["compare", "a/fct.txt", "b/fct.txt"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("2 flows in both, 0 exact, 2 different"), "{}", told.out);
    assert!(told.out.contains("200000"), "{}", told.out);
}

#[test]
fn what_cannot_be_compared_ends_with_2() {
    let bench = runs();
    bench.write("cut.txt", &bench.read("a/fct.txt")[..60]);
    for (file, words) in [("none", "none"), ("cut.txt", "cut.txt:2:"), ("scenario.toml", "scenario.toml:1:")] {
        let told = bench.hpcc(&["compare", "a", file]);
        assert_eq!(told.code, Some(2), "{file}: {}", told.out);
        assert!(told.err.starts_with("hpcc: ") && told.err.contains(words), "{}", told.err);
    }
}
