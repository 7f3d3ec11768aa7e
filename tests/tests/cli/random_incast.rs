// SPDX-License-Identifier: GPL-2.0-only
//! `kind = "random_incast"`, simulated.

use std::collections::{BTreeMap, BTreeSet};

use hpcc_formats::results::fct_csv;
use hpcc_tests::Bench;

const SCENARIO: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "star"
hosts = 9
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "random_incast"
fan_in = 4
size = "50KB"
load = 0.1
duration = "2ms"
"#;

/// 0.1 of nine links are 22.5 MB in 2 ms: about 112 incasts, each of four hosts to a fifth at the same moment.
#[test]
fn every_incast_has_its_senders_and_a_receiver_of_its_own() {
    let bench = Bench::new(&[("run.toml", SCENARIO)]);
    let told = bench.run("run.toml", &[]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
    let mut incasts: BTreeMap<u64, BTreeSet<(u32, u32)>> = BTreeMap::new();
    for flow in &flows {
        incasts.entry(flow.start_ns).or_default().insert((flow.src, flow.dst));
    }
    assert!((80..150).contains(&incasts.len()), "{} incasts", incasts.len());
    for pairs in incasts.values() {
        let receivers: BTreeSet<u32> = pairs.iter().map(|pair| pair.1).collect();
        assert!(pairs.len() == 4 && receivers.len() == 1, "{pairs:?}");
    }
    let receivers: BTreeSet<u32> = flows.iter().map(|flow| flow.dst).collect();
    assert_eq!(receivers.len(), 9, "drawn each time");
    let other = bench.run_to("other", "run.toml", &["run.seed=2"]);
    assert_eq!(other.code, Some(0), "{}", other.err);
    assert_ne!(bench.read("out/fct.csv"), bench.read("other/fct.csv"));
}
