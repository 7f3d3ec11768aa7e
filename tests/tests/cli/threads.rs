// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc run --threads`: refused where it cannot be, the same results where it can.

use hpcc_tests::{Bench, hpcc};
use std::fs;

/// Two racks, whose flows meet.
const TOML: &str = r#"
run.stop = "1ms"
wire.profile = "rocev2_ipv6"
topology = { kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 4, rate = "100Gbps", delay = "1us" }
traffic = [{ kind = "incast", receiver = 0, sender_count = 7, size = "100KB" }]
monitor = { queue_interval = "1us", goodput_interval = "10us", trace_nodes = [0, 9], capture_nodes = [8] }
"#;

#[test]
fn several_threads_give_the_results_of_one() {
    let bench = Bench::new(&[("racks.toml", TOML)]);
    for (simulator, threads, out) in [("core", "1", "one"), ("core", "2", "core"), ("ns3", "2", "ns3")] {
        let run = ["run", "racks.toml", "--simulator", simulator, "--threads", threads, "--out", out, "--quiet"];
        let told = bench.hpcc(&run);
        assert_eq!(told.code, Some(0), "{}", told.err);
    }
    let mut compared = 0;
    for file in fs::read_dir(bench.path("one")).expect("results") {
        let name = file.expect("a file").file_name().into_string().expect("a name of ours");
        if name != "summary.json" && name != "report.html" {
            let read = |folder: &str| fs::read(bench.path(folder).join(&name)).ok();
            assert!(read("one") == read("core") && read("one") == read("ns3"), "{name} differs");
            compared += 1;
        }
    }
    assert!(compared > 8, "{compared} files");
}

#[test]
fn threads_are_refused_with_a_reason() {
    let bench = Bench::new(&[("racks.toml", TOML)]);
    let core = ["--simulator", "core"];
    for (options, words) in [
        ([&core[..], &["--ranks", "2"]].concat(), "with --simulator core, --threads share a run"),
        ([&core[..], &["--threads", "0"]].concat(), "from 1 to 1024"),
        ([&core[..], &["--threads", "5"]].concat(), "this network has no 5 parts: links of hosts"),
        ([&core[..], &["--threads", "2", "--set", "run.order=insertion"]].concat(), "it has run.order = \"insertion\""),
        (
            [&core[..], &["--threads", "2", "--set", "compatibility.shared_rng=true"]].concat(),
            "draw from one generator",
        ),
    ] {
        let output =
            hpcc().args(["run", "racks.toml", "--out", "none"]).args(&options).current_dir(bench.path("")).output();
        let output = output.expect("it starts");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && err.contains(words), "{options:?}: {err}");
        assert!(!bench.path("none").exists() && !bench.path("none.partial").exists(), "{options:?}");
    }
}
