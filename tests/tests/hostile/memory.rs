// SPDX-License-Identifier: GPL-2.0-only
//! Networks and flows that need more memory than there is are refused.

use hpcc_tests::{Bench, ProcessOutput, TOML, hpcc, is_complete};

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

/// The operations of all sections together are what counts.
#[test]
fn jobs_that_do_not_fit_together_are_refused() {
    let network = "[run]\nstop = '1ms'\n[topology]\nkind = 'star'\nhosts = 8\nrate = '100Gbps'\ndelay = '1us'\n";
    let job = "[[traffic]]\nkind = 'transformer'\nlayers = 48\nhidden = 64\nsequence = 16\nteraflops = 100\n\
        tensor = 8\nmicro_batches = 4\niterations = 2\n";
    let bench = Bench::new(&[("scenario.toml", &[network, &job.repeat(4)].concat())]);
    let output = refusal(&bench, "10MB");
    assert!(output.contains("operations would take about"), "{output}");
}

/// A folder of results may name any node.
#[test]
fn a_page_takes_no_memory_for_nodes_that_are_not_there() {
    let bench = Bench::new(TOML);
    let output = bench.run("scenario.toml", &[]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let ports = bench.read("out/ports.csv");
    let far: Vec<String> = ports.lines().map(|line| line.replacen(",1,1,", ",1,4294967295,", 1)).collect();
    std::fs::write(bench.path("out/ports.csv"), far.join("\n") + "\n").expect("written");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -v 4000000; exec \"$0\" report out"]).arg(hpcc().get_program());
    let output = ProcessOutput::from(command.current_dir(bench.path("")).output().expect("the command starts"));
    assert!(output.code.is_some(), "it was ended: {}", output.err);
}

/// What somebody else wrote stays.
#[test]
fn a_page_replaces_pages_alone() {
    let bench = Bench::new(TOML);
    assert_eq!(bench.run("scenario.toml", &[]).code, Some(0));
    let before = bench.read("scenario.toml");
    let output = bench.hpcc(&["report", "out", "--out", "scenario.toml"]);
    assert_eq!(output.code, Some(2), "{}", output.err);
    assert!(output.err.contains("scenario.toml exists and is no page of hpcc"), "{}", output.err);
    assert_eq!(bench.read("scenario.toml"), before);
    for _ in 0..2 {
        let output = bench.hpcc(&["report", "out", "--out", "page.html"]);
        assert_eq!(output.code, Some(0), "{}", output.err);
    }
}

/// What a file says commands no terminal.
#[test]
fn errors_and_tables_have_no_control_characters() {
    let bench = Bench::new(TOML);
    bench.edit("scenario.toml", "[run]", "[run]\n\"k\\u001b]0;x\\u0007\\u202e\" = 1");
    let output = bench.run("scenario.toml", &[]);
    assert_eq!(output.code, Some(2), "{}", output.err);
    assert!(output.err.contains("k\\u{1b}]0;x\\u{7}\\u{202e}"), "{}", output.err);
    assert!(!output.err.chars().any(|letter| letter.is_control() && letter != '\n'), "{:?}", output.err);
}
