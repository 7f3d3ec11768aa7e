// SPDX-License-Identifier: GPL-2.0-only
//! What every refused input has in common.

use hpcc_tests::{Bench, is_complete};

/// Runs and expects a refusal: exit status 2, one line that starts with `place` (`FILE:LINE:`) and holds all
/// `words`, and nothing that looks like results.
#[track_caller]
pub fn refused(bench: &Bench, config: &str, set: &[&str], place: &str, words: &[&str]) {
    let told = bench.run(config, set);
    let message = told.err.trim_end();
    println!("{message}");
    assert_eq!(told.code, Some(2), "{message}");
    let says = message.strip_prefix("hpcc: ").unwrap_or_else(|| panic!("not ours: {message}"));
    assert!(says.starts_with(place), "expected {place}, found: {message}");
    for word in words {
        assert!(says.contains(word), "expected \"{word}\" in: {message}");
    }
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(told.out.is_empty(), "{}", told.out);
    for folder in ["out", "out.partial"] {
        assert!(!is_complete(&bench.path(folder)), "{folder} looks complete");
    }
}
