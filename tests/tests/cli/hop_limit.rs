// SPDX-License-Identifier: GPL-2.0-only
//! A frame goes through 63 switches, for it leaves its sender with a hop limit of 64; the 2019 simulator's have none.

use hpcc_tests::Bench;
use std::fmt::Write;

/// One flow between hosts 0 and 1, which have so many switches between them.
fn line(profile: &str, switches: u32) -> String {
    let (first, last) = (2, switches + 1);
    let mut links = format!("{{ a = 0, b = {first} }}, {{ a = 1, b = {last} }}");
    for a in first..last {
        write!(links, ", {{ a = {a}, b = {} }}", a + 1).expect("memory");
    }
    format!(
        "[run]\nstop = \"2ms\"\n[wire]\nprofile = \"{profile}\"\n[congestion_control]\nalgorithm = \"dctcp\"\n\
         [topology]\nkind = \"links\"\nhosts = 2\nswitches = {switches}\nrate = \"100Gbps\"\ndelay = \"10ns\"\nlinks = [{links}]\n\
         [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = 10000\n"
    )
}

/// Frames that were dropped, and flows that ended.
fn run(profile: &str, switches: u32) -> (u64, u64) {
    let bench = Bench::new(&[("line.toml", &line(profile, switches))]);
    let output = bench.run("line.toml", &[]);
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let number = |key: &str| summary[key].as_u64().unwrap_or_else(|| panic!("{key} of {summary}"));
    (number("drops"), number("flows_finished"))
}

#[test]
fn a_frame_passes_63_switches_and_no_more() {
    for profile in ["rocev2_ipv4", "rocev2_ipv6"] {
        assert_eq!(run(profile, 63), (0, 1), "{profile}");
        let (drops, finished) = run(profile, 64);
        // The packets of the flow at least; they are sent again after each timeout.
        assert!(drops >= 10 && finished == 0, "{profile}: {drops} drops, {finished} finished");
    }
    assert_eq!(run("reference", 64), (0, 1));
}
