// SPDX-License-Identifier: GPL-2.0-only
//! Mistakes in the reference's config, topology and flow files.

use crate::refusal;
use hpcc_tests::{Bench, REFERENCE, is_complete};

/// Changes one file of a good experiment and expects a refusal.
#[track_caller]
fn refused(file: &str, from: &str, to: &str, place: &str, words: &[&str]) {
    let bench = Bench::new(REFERENCE);
    bench.edit(file, from, to);
    refusal::refused(&bench, "config.txt", &[], place, words);
}

/// Cuts one file off and expects a refusal.
#[track_caller]
fn refused_after(file: &str, last: &str, place: &str, words: &[&str]) {
    let bench = Bench::new(REFERENCE);
    bench.truncate(file, last);
    refusal::refused(&bench, "config.txt", &[], place, words);
}

#[test]
fn a_misspelt_key_is_told_its_neighbour() {
    refused("config.txt", "U_TARGET", "U_TARGT", "config.txt:10:", &["U_TARGT", "did you mean U_TARGET?"]);
}

#[test]
fn an_unknown_key_is_named() {
    refused("config.txt", "INT_MULTI 4", "WARP_FACTOR 9", "config.txt:11:", &["unknown key WARP_FACTOR"]);
}

#[test]
fn missing_files_are_named() {
    refused("config.txt", "topology.txt", "none.txt", "config.txt:2:", &["TOPOLOGY_FILE", "none.txt"]);
    refused("config.txt", "flow.txt", "none.txt", "config.txt:3:", &["FLOW_FILE", "none.txt"]);
    refused("config.txt", "FLOW_FILE flow.txt\n", "", "config.txt:", &["FLOW_FILE is missing"]);
    refusal::refused(&Bench::new(REFERENCE), "none.txt", &[], "none.txt:", &["no such file"]);
}

#[test]
fn nodes_must_exist() {
    refused("topology.txt", "1 3 100Gbps", "9 3 100Gbps", "topology.txt:4:", &["no node 9", "0 to 3"]);
    refused("topology.txt", "\n3\n", "\n7\n", "topology.txt:2:", &["no node 7", "0 to 3"]);
    refused("flow.txt", "1 2 3 100", "9 2 3 100", "flow.txt:3:", &["source", "node 9", "nodes 0 to 3"]);
    refused("flow.txt", "1 2 3 100", "1 3 3 100", "flow.txt:3:", &["destination", "node 3, a switch"]);
}

#[test]
fn hosts_that_talk_must_be_connected() {
    let bench = Bench::new(REFERENCE);
    bench.edit("topology.txt", "4 1 3\n", "4 1 2\n");
    bench.edit("topology.txt", "1 3 100Gbps 1000ns 0\n", "");
    refusal::refused(&bench, "config.txt", &[], "flow.txt:3:", &["no path connects host 1 with host 2"]);
}

#[test]
fn flows_must_make_sense() {
    refused("flow.txt", "1 2 3 100", "2 2 3 100", "flow.txt:3:", &["same host, 2"]);
    refused("flow.txt", "200000", "0", "flow.txt:3:", &["size is 0"]);
    refused("flow.txt", "2.000000", "2.000009", "flow.txt:3:", &["sorted by start time"]);
}

#[test]
fn link_speeds_must_be_covered() {
    let place = "topology.txt:4:";
    refused("topology.txt", "1 3 100Gbps", "1 3 40Gbps", place, &["40Gbps", "telemetry", "25Gbps, 50Gbps, 100Gbps"]);
    let words = ["KMIN_MAP", "no ECN thresholds for 50Gbps", "line 4 of topology.txt"];
    refused("topology.txt", "1 3 100Gbps", "1 3 50Gbps", "config.txt:14:", &words);
}

#[test]
fn truncated_files_are_noticed() {
    refused_after("config.txt", "BUFFER_SIZE", "config.txt:16:", &["BUFFER_SIZE lacks a value"]);
    refused_after("config.txt", "PMAX_MAP 2 25000000000 0.2 100000000000", "config.txt:15:", &["PMAX_MAP"]);
    refused_after("topology.txt", "1 3 100Gbps", "topology.txt:4:", &["the file ends", "delay of link 2 of 3"]);
    refused_after("topology.txt", "4 1", "topology.txt:1:", &["the file ends", "number of links"]);
    refused_after("flow.txt", "1 2 3 100", "flow.txt:3:", &["the file ends", "size of flow 2 of 2"]);
    refused_after("flow.txt", "2.000000", "flow.txt:2:", &["the file ends", "flow 2 of 2"]);
}

#[test]
fn numbers_end_where_they_end() {
    refused("config.txt", "0.95", "0.95x", "config.txt:10:", &["U_TARGET", "\"0.95x\""]);
    refused("config.txt", "INT_MULTI 4", "INT_MULTI 4.0", "config.txt:11:", &["INT_MULTI", "\"4.0\""]);
    refused("config.txt", "50Mb/s", "50Mb/sec", "config.txt:6:", &["RATE_AI", "\"50Mb/sec\""]);
    refused("config.txt", "2.01", "2.01s", "config.txt:5:", &["SIMULATOR_STOP_TIME", "\"2.01s\""]);
    refused("topology.txt", "1 3 100Gbps", "1 3 100Gbpss", "topology.txt:4:", &["\"100Gbpss\""]);
    refused("topology.txt", "1 3 100Gbps 1000ns", "1 3 100Gbps 1000nsec", "topology.txt:4:", &["\"1000nsec\""]);
    refused("flow.txt", "200000", "200000B", "flow.txt:3:", &["size of flow 2", "\"200000B\""]);
    refused("flow.txt", "2.000005", "2.000005,", "flow.txt:3:", &["start time of flow 2", "\"2.000005,\""]);
}

/// The reference does not read it, and its authors' own files have it.
#[test]
fn what_follows_the_last_record_is_named() {
    for (file, from, to, note) in [
        ("flow.txt", "2\n0", "1\n0", "flow.txt:3: what follows the 1 flows that the first line announces is not read"),
        (
            "topology.txt",
            "2 3 100Gbps 1000ns 0\n",
            "2 3 100Gbps 1000ns 0\nFirst line: ...",
            "topology.txt:6: what follows the 3",
        ),
    ] {
        let bench = Bench::new(REFERENCE);
        bench.edit(file, from, to);
        let told = bench.run("config.txt", &[]);
        assert!(told.code == Some(0) && told.err.contains(note), "{file}: {}", told.err);
        assert!(is_complete(&bench.path("out")));
    }
    refused("topology.txt", "4 1 3", "4 1 2", "flow.txt:2:", &["no path connects host 0 with host 2"]);
}
