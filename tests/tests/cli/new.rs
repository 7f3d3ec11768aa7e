// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc new`: what it writes runs.

use hpcc_tests::{Bench, END_OF_INPUT, ProcessOutput, hpcc, on_terminal};

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
        let output = bench.hpcc(&[&["new", &name], *options].concat());
        assert_eq!(output.code, Some(0), "{options:?}: {}", output.err);
        assert!(output.out.contains(&format!("./hpcc run {name}")), "{}", output.out);
        let ran = bench.run(&name, &[]);
        assert_eq!(ran.code, Some(0), "{options:?}: {}{}", ran.err, ran.out);
    }
}

/// `hpcc new my.toml` with these options on a terminal at which this is typed.
fn asked(bench: &Bench, options: &[&str], typed: &str) -> ProcessOutput {
    let mut command = hpcc();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../hpcc");
    command.args(["new", "my.toml"]).args(options).current_dir(bench.path("")).env("HPCC_SCRIPT", script);
    on_terminal(command, typed)
}

/// The fabric carries all that hosts send, unless options ask for less.
#[test]
fn a_fabric_carries_what_hosts_send() {
    let bench = Bench::new(&[]);
    let written = |name: &str, options: &[&str]| {
        let output = bench.hpcc(&[&["new", name, "--traffic", "poisson", "--load", "0.9"], options].concat());
        assert_eq!(output.code, Some(0), "{}", output.err);
        let described = bench.hpcc(&["workload", name]);
        assert_eq!(described.code, Some(0), "{}", described.err);
        (bench.read(name), described.out.contains("overbooks"))
    };
    for (number, (options, line)) in [
        (&["--topology", "leaf_spine", "--hosts", "32"][..], "spines = 8\n"),
        (&["--topology", "leaf_spine", "--hosts", "32", "--fabric-rate", "400Gbps"], "spines = 2\n"),
        (&["--topology", "leaf_spine", "--hosts", "32", "--leaves", "8"], "spines = 4\n"),
        (&["--topology", "fat_tree", "--hosts", "32"], "aggs_per_pod = 4\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let (text, is_overbooked) = written(&format!("{number}.toml"), options);
        assert!(text.contains(line) && !is_overbooked, "{options:?}: {text}");
    }
    assert!(written("less.toml", &["--topology", "leaf_spine", "--hosts", "32", "--spines", "2"]).1);
}

#[test]
fn wrong_answers_are_asked_again_with_the_reason() {
    let bench = Bench::new(&[]);
    let typed = "ring\nleaf_spine\nmany\n6\n131068\n8\n100\n0Gbps\n25Gbps\nhpc\nswift\nburst\nincast\n0\nbig\n20KB\n";
    let output = asked(&bench, &[], typed);
    assert_eq!(output.code, Some(0), "{}", output.err);
    for words in [
        "topology (star, dumbbell, leaf_spine, fat_tree) [star]: \"ring\" is none of them; expected one of star, ",
        "number of hosts [16]: expected a whole number from 2 to 131071\nnumber of hosts [16]: 6 hosts cannot be spread over 4 leaves",
        "the network has ",
        "rate of every link [100Gbps]: \"100\" has no unit",
        "rate of every link [100Gbps]: expected more than 0\n",
        "\"hpc\" is none of them",
        "\"burst\" is none of them; expected one of incast, flow, permutation, poisson\n",
        "size of each flow [500KB]: expected more than 0\nsize of each flow [500KB]: \"big\" is not",
    ] {
        assert!(output.err.contains(words), "{words}: {}", output.err);
    }
    let text = bench.read("my.toml");
    for line in ["hosts_per_leaf = 2\n", "rate = \"25Gbps\"\n", "algorithm = \"swift\"\n", "size = \"20KB\"\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(bench.run("my.toml", &[]).code, Some(0));
}

#[test]
fn the_return_key_gives_what_is_usual_unless_an_option_contradicts() {
    let bench = Bench::new(&[]);
    let output = asked(&bench, &["--size", "1KB", "--hosts", "6"], "fat_tree\n\n\n\npoisson\nflow\n");
    assert_eq!(output.code, Some(0), "{}", output.err);
    for words in ["6 hosts cannot be spread over 8 racks", "--size has no use with --traffic poisson"] {
        assert!(output.err.contains(words), "{}", output.err);
    }
    let text = bench.read("my.toml");
    assert!(text.contains("kind = \"star\"") && text.contains("rate = \"100Gbps\""), "{text}");
}

#[test]
fn the_end_of_the_input_ends_it_without_a_file() {
    for typed in ["", "star\nmany\n"] {
        let bench = Bench::new(&[]);
        let output = asked(&bench, &[], &format!("{typed}{END_OF_INPUT}"));
        assert_eq!(output.code, Some(2), "{typed:?}: {}", output.err);
        let last = output.err.lines().last().unwrap_or_default();
        assert!(last.starts_with("hpcc: there is no answer to \""), "{typed:?}: {}", output.err);
        assert!(!bench.path("my.toml").exists() && output.out.is_empty(), "{typed:?}");
    }
}
