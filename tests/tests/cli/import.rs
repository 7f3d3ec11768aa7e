// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc import`, and configurations that are run with keys of TOML.

use hpcc_tests::{Bench, REFERENCE};

/// Runs it on the engine that needs no ns-3.
#[track_caller]
fn completion_times(bench: &Bench, file: &str, set: &[&str]) -> String {
    let set = set.iter().flat_map(|set| ["--set", set]);
    let run = ["run", file, "--simulator", "core", "--out", "times", "--force"];
    let output = bench.hpcc(&run.into_iter().chain(set).collect::<Vec<_>>());
    assert_eq!(output.code, Some(0), "{}", output.err);
    bench.read("times/fct.txt")
}

#[test]
fn an_imported_configuration_runs_as_itself() {
    let bench = Bench::new(REFERENCE);
    let direct = completion_times(&bench, "config.txt", &[]);
    let output = bench.hpcc(&["import", "config.txt", "--out", "below/mine.toml"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(bench.read("below/mine.toml").contains("path = \"../topology.txt\""), "named from its folder");
    assert_eq!(completion_times(&bench, "below/mine.toml", &[]), direct);
    let slower = "congestion_control.eta=0.5";
    let imported = completion_times(&bench, "below/mine.toml", &[slower]);
    assert_eq!(completion_times(&bench, "config.txt", &[slower]), imported, "the same key in both");
    assert_ne!(imported, direct);
    let again = bench.hpcc(&["import", "config.txt", "--out", "below/mine.toml"]);
    assert_eq!(again.code, Some(2), "it is there");
    assert!(again.err.contains("mine.toml exists"), "{}", again.err);
    let sweep = "title = \"T\"\nbase = \"config.txt\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = [\"congestion_control.eta=0.5\"]\n";
    bench.write("sweep.toml", sweep);
    let output = bench.hpcc(&["sweep", "sweep.toml", "--simulator", "core", "--out", "swept", "--quiet"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
}

#[test]
fn every_configuration_of_a_folder_is_imported_and_all_is_said() {
    let bench = Bench::new(REFERENCE);
    let config = bench.read("config.txt");
    for folder in ["other", "notes"] {
        std::fs::create_dir(bench.path(folder)).expect("folder");
    }
    bench.write("other/config.conf", &format!("{config}\nLB_MODE 6\nENABLE_PFC 1 {{of a descendant}}\nWARP 9\n"));
    bench.write("notes/README", "TOPOLOGY_FILE names the network.\n");
    let output = bench.hpcc(&["import", "."]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    for said in [
        "guessed: LB_MODE 6 (LetFlow)",
        "taken: ENABLE_PFC 1 as switch.mode = \"lossless\"",
        "dropped: nobody knows WARP",
        "wrote ./config.toml",
        "wrote ./other/config.toml",
    ] {
        assert!(output.out.contains(said), "{said}: {}", output.out);
    }
    let refused = bench.hpcc(&["run", "other/config.conf", "--simulator", "core"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("unknown key WARP; --set unknown_keys=skip goes on without"), "{}", refused.err);
    assert_eq!(bench.hpcc(&["import", "notes"]).code, Some(2), "nothing there");
    assert_eq!(bench.hpcc(&["import", "config.toml"]).code, Some(2), "TOML already");
}

/// What it writes names the job's file, and sends as the file alone does.
#[test]
fn a_job_is_imported_as_a_scenario() {
    let bench =
        Bench::new(&[("a.cm", "Nodes 3\nConnections 2\n2->0 id 1 start 0 size 9000\n1->0 id 2 start 5000 size 70\n")]);
    let output = bench.hpcc(&["import", "a.cm", "--out", "below/a.toml"]);
    assert!(output.out.contains("guessed: [topology]") && output.out.contains("star of 400 Gb/s"), "{}", output.out);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(bench.read("below/a.toml").contains("path = \"../a.cm\""), "{}", bench.read("below/a.toml"));
    let times = completion_times(&bench, "below/a.toml", &[]);
    assert_eq!(times, completion_times(&bench, "a.cm", &[]));
    assert_ne!(times, completion_times(&bench, "below/a.toml", &["topology.rate='1Gbps'"]));
    let refused = bench.hpcc(&["import", "a.cm", "--out", "b.toml", "--set", "run.stop=1s"]);
    assert!(refused.code == Some(2) && refused.err.contains("has no keys"), "{}", refused.err);
}
