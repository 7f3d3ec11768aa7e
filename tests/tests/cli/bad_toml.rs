// SPDX-License-Identifier: GPL-2.0-only
//! Mistakes in TOML scenarios.

use crate::refusal;
use hpcc_tests::{Bench, REFERENCE, TOML};

/// Changes the good scenario and expects a refusal.
#[track_caller]
fn refused(from: &str, to: &str, place: &str, words: &[&str]) {
    let bench = Bench::new(TOML);
    bench.edit("scenario.toml", from, to);
    refusal::refused(&bench, "scenario.toml", &[], place, words);
}

/// The good scenario with topology or traffic taken from a file of the reference's format.
fn with_file(section: &str, lines: &str) -> Bench {
    let bench = Bench::new(TOML);
    for (name, text) in REFERENCE {
        bench.write(name, text);
    }
    let text = bench.read("scenario.toml");
    let start = text.find(section).expect("section");
    let end = text[start + 1..].find("\n[").map_or(text.len(), |end| start + 1 + end);
    bench.write("scenario.toml", &format!("{}{section}\n{lines}\n{}", &text[..start], &text[end..]));
    bench
}

#[test]
fn a_misspelt_key_is_told_its_neighbour() {
    refused("eta =", "etta =", "scenario.toml:17:", &["etta", "did you mean eta?"]);
    refused("[congestion_control]", "[congestion_contol]", "scenario.toml:16:", &["did you mean congestion_control?"]);
    refused("goodput_interval", "goodput_intervall", "scenario.toml:34:", &["did you mean goodput_interval?"]);
}

#[test]
fn an_unknown_value_is_told_what_there_is() {
    refused("kind = \"links\"", "kind = \"torus\"", "scenario.toml:5:", &["torus", "leaf_spine"]);
    refused("eta = 0.95", "algorithm = \"hpc\"", "scenario.toml:17:", &["hpc", "hpcc"]);
}

#[test]
fn missing_files_are_named() {
    let bench = with_file("[topology]", "kind = \"file\"\npath = \"none.txt\"");
    refusal::refused(&bench, "scenario.toml", &[], "scenario.toml:6:", &["topology.path", "none.txt"]);
    refusal::refused(&Bench::new(TOML), "none.toml", &[], "none.toml:", &["no such file"]);
}

#[test]
fn nodes_must_exist() {
    refused("{ a = 1,", "{ a = 9,", "scenario.toml:12:", &["no node 9", "0 to 3"]);
    refused("src = 1", "src = 9", "scenario.toml:27: traffic.src:", &["node 9", "nodes 0 to 3", "expected a host"]);
    refused("src = 1", "src = 3", "scenario.toml:", &["node 3, a switch"]);
}

#[test]
fn hosts_that_talk_must_be_connected() {
    refused("    { a = 1, b = 3 },\n", "", "scenario.toml:27: traffic.dst:", &["no path connects host 1 with host 2"]);
}

#[test]
fn flows_must_make_sense() {
    refused("src = 1", "src = 2", "scenario.toml:27: traffic.src:", &["same host, 2"]);
    refused("size = \"200KB\"", "size = 0", "scenario.toml:29: traffic.size:", &["size is 0", "at least 1 byte"]);
}

#[test]
fn flow_files_must_be_sorted() {
    let bench = with_file("[[traffic]]\nkind = \"flow\"\nsrc = 0", "kind = \"file\"\npath = \"flow.txt\"");
    bench.edit("scenario.toml", "[[traffic]]\nkind = \"flow\"\nsrc = 0\n", "[[traffic]]\n");
    bench.edit("flow.txt", "2.000000", "2.000009");
    refusal::refused(&bench, "scenario.toml", &[], "flow.txt:3:", &["sorted by start time"]);
}

#[test]
fn link_speeds_must_be_covered() {
    let (from, place) = ("{ a = 1, b = 3 }", "scenario.toml:12:");
    let bench = Bench::new(TOML);
    bench.edit("scenario.toml", from, "{ a = 1, b = 3, rate = \"160Gbps\" }");
    let words = ["160Gbps", "telemetry.layout = \"paper\"", "expected layout = \"int_md\""];
    refusal::refused(&bench, "scenario.toml", &["telemetry.layout=paper"], place, &words);
    let bench = Bench::new(TOML);
    bench.edit("scenario.toml", from, "{ a = 1, b = 3, rate = \"50Gbps\" }");
    let thresholds =
        "[switch]\necn_thresholds = [{ rate = \"100Gbps\", kmin = \"400KB\", kmax = \"1600KB\", pmax = 0.2 }]\n";
    bench.edit("scenario.toml", "[monitor]", &format!("{thresholds}\n[monitor]"));
    refusal::refused(&bench, "scenario.toml", &[], "scenario.toml:33:", &["no ECN thresholds for 50Gbps"]);
}

#[test]
fn truncated_files_are_noticed() {
    for (last, place) in [
        ("    { a = 1, b = 3 }", "scenario.toml:1"),
        ("eta =", "scenario.toml:17:"),
        ("size = \"200KB", "scenario.toml:29:"),
    ] {
        let bench = Bench::new(TOML);
        bench.truncate("scenario.toml", last);
        refusal::refused(&bench, "scenario.toml", &[], place, &[]);
    }
    let bench = Bench::new(TOML);
    bench.truncate("scenario.toml", "src = 1\n");
    refusal::refused(&bench, "scenario.toml", &[], "scenario.toml:25:", &["dst"]);
}

#[test]
fn numbers_end_where_they_end() {
    refused("0.95", "0.95x", "scenario.toml:17:", &[]);
    refused("\"10ms\"", "\"10msec\"", "scenario.toml:2:", &["stop", "10msec"]);
    refused("\"100Gbps\"", "\"100Gbps!\"", "scenario.toml:8:", &["rate", "100Gbps!"]);
    refused("\"200KB\"", "\"200KBytes\"", "scenario.toml:29:", &["size", "200KBytes"]);
    refused("\"10ms\"", "\"10\"", "scenario.toml:2:", &["stop"]);
}
