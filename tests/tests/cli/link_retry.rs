// SPDX-License-Identifier: GPL-2.0-only
//! Links that send again what they lose, from a file to the summary.

use hpcc_tests::Bench;

const TOML: &str = r#"
run.stop = "100ms"
topology = { kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 2, rate = "100Gbps", delay = "1us", loss = 0.01 }
traffic = [{ kind = "permutation", size = "1MB" }]
wire.llr = true
"#;

#[test]
fn hosts_hear_of_no_loss_with_any_number_of_threads() {
    let results = ["1", "2"].map(|threads| {
        let bench = Bench::new(&[("lossy.toml", TOML)]);
        let told = bench.hpcc(&["run", "lossy.toml", "--simulator", "core", "--threads", threads, "--out", "out"]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        let seen = ["losses", "drops", "resent_packets", "timeouts"].map(|key| summary[key].as_u64());
        assert_eq!(seen, [Some(0); 4]);
        // Four flows of a thousand packets pass four links each, and so do their answers.
        let [lost, resent] = ["lost", "resent"].map(|key| summary["link_retry"][key].as_u64().expect("a count"));
        assert!(lost > 100 && resent > lost && told.out.contains(" more sent again by links"), "{lost} of {resent}");
        bench.read("out/fct.csv")
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn a_buffer_that_holds_no_packet_is_refused() {
    for (set, expected) in [
        ("wire.llr_buffer=500", "llr_buffer is 500 bytes, less than a packet; expected "),
        ("wire.llr=false", "llr_buffer"),
    ] {
        let bench = Bench::new(&[("lossy.toml", &format!("{TOML}wire.llr_buffer = \"64KB\"\n"))]);
        let told = bench.run("lossy.toml", &[set]);
        assert!(told.code == Some(2) && told.err.contains(expected), "{set}: {:?} {}", told.code, told.err);
    }
}
