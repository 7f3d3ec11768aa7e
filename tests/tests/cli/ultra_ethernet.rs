// SPDX-License-Identifier: GPL-2.0-only
//! Ultra Ethernet, from a file to the summary, and on networks and connection matrices of htsim.

use hpcc_tests::Bench;

const TOML: &str = r#"
run.stop = "10ms"
topology = { kind = "star", hosts = 9, rate = "100Gbps", delay = "1us" }
switch = { mode = "lossy", overflow = "trim" }
transport = { kind = "uec", mtu = 4086, entropy = "mixed" }
traffic = [{ kind = "incast", receiver = 8, sender_count = 8, size = "200KB" }]
"#;

#[test]
fn an_incast_hears_of_each_packet_that_is_cut() {
    let bench = Bench::new(&[("uec.toml", TOML)]);
    let told = bench.hpcc(&["run", "uec.toml", "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let count = |value: &serde_json::Value| value.as_u64().expect("a count");
    assert_eq!((count(&summary["flows_finished"]), count(&summary["timeouts"])), (8, 0));
    let trims = count(&summary["trims"]["cut"]);
    assert!(trims > 0 && trims == count(&summary["trims"]["heard"]) && trims == count(&summary["resent_packets"]));
}

/// The default tree of 16 hosts, where uet-htsim takes 176.2 us for 2 MB.
const TREE: &str = "Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\n\
    Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\n\
    Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n";

#[test]
fn a_connection_alone_takes_the_time_of_uet_htsim() {
    let matrix = "Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n";
    let bench = Bench::new(&[("one.cm", matrix), ("tree.topo", TREE)]);
    let sets = ["transport.kind=uec", "transport.mtu=4086", "transport.entropy=mixed", "switch.mode=lossy"];
    let mut line = vec!["run", "one.cm", "--topology", "tree.topo", "--out", "out"];
    sets.iter().for_each(|set| line.extend(["--set", set]));
    let told = bench.hpcc(&line);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let fct = bench.read("out/fct.csv");
    let time: u64 = fct.lines().nth(1).and_then(|row| row.split(',').nth(8)).expect("a flow").parse().expect("ns");
    assert!(time.abs_diff(176_200) < 100, "{fct}");
}
