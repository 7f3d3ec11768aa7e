// SPDX-License-Identifier: GPL-2.0-only
//! Networks and flows that need more memory than there is are refused.

use hpcc_tests::{Bench, ProcessOutput, hpcc, is_complete};

/// Runs with so much memory.
fn run_in(bench: &Bench, memory: &str) -> ProcessOutput {
    let mut command = hpcc();
    command.args(["run", "scenario.toml", "--out", "out"]).env("HPCC_MEMORY", memory).current_dir(bench.path(""));
    ProcessOutput::from(command.output().expect("the command starts"))
}

/// The error of a run that is refused for it.
fn refusal(bench: &Bench, memory: &str) -> String {
    let output = run_in(bench, memory);
    assert_eq!(output.code, Some(2), "{}", output.err);
    assert!(!is_complete(&bench.path("out")), "{}", output.err);
    output.err
}

/// Many hosts around one switch.
const STAR: &str = "[run]\nstop = '10ms'\n\
    [topology]\nkind = 'star'\nhosts = 65_000\nrate = '100Gbps'\ndelay = '1us'\n\
    [[traffic]]\nkind = 'permutation'\nsize = '1KB'\n";

#[test]
fn a_network_that_does_not_fit_is_refused() {
    let bench = Bench::new(&[("scenario.toml", STAR)]);
    let output = refusal(&bench, "300MB");
    for words in ["scenario.toml:3: topology: ", "MB for 65000 links", "300MB are available"] {
        assert!(output.contains(words), "{words}: {output}");
    }
    let output = refusal(&bench, "much");
    assert!(output.contains("environment: HPCC_MEMORY: \"much\""), "{output}");
}

/// Each microsecond three hosts send to a fourth, which needs 24 us to receive it.
const OVERLOAD: &str = "[run]\nstop = '10ms'\n\
    [topology]\nkind = 'star'\nhosts = 4\nrate = '100Gbps'\ndelay = '1us'\n\
    [[traffic]]\nkind = 'periodic_incast'\nreceiver = 0\nsender_count = 3\nsize = '100KB'\ninterval = '1us'\n\
    duration = '9ms'\n";

#[test]
fn flows_in_progress_that_do_not_fit_are_refused() {
    let bench = Bench::new(&[("scenario.toml", OVERLOAD)]);
    let output = refusal(&bench, "20MB");
    for words in ["scenario.toml:8: traffic: at 34", "us at least 99", "20MB are available beside the network"] {
        assert!(output.contains(words), "{words}: {output}");
    }
    // As many flows, but each is over before the next begins.
    bench.edit("scenario.toml", "100KB", "1KB");
    let output = run_in(&bench, "20MB");
    assert_eq!(output.code, Some(0), "{}", output.err);
}
