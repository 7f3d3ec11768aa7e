// SPDX-License-Identifier: GPL-2.0-only
//! `ideal_ns` of a flow that has the network to itself is its `fct_ns`, to the nanosecond, whatever acknowledges it and brings
//! its telemetry back.
//!
//! Scenarios are drawn at random, each with a few flows one after the other. Controllers are such that a lone flow runs at line
//! rate. `HPCC_RANDOM_SEED` and `HPCC_RANDOM_SCENARIOS` try others.

use hpcc_model::results::{FctRecord, fct_csv};
use hpcc_tests::{Bench, ScenarioRng, seeds};
use rayon::prelude::*;
use std::fmt::Write;

/// Flows of a scenario.
const FLOWS: u64 = 12;

/// The section of the topology, and its numbers of hosts and nodes.
fn topology(rng: &mut ScenarioRng) -> (String, u64, u64) {
    const RATES: &[&str] = &["25Gbps", "50Gbps", "100Gbps", "400Gbps"];
    // Where a few packets take longer than T, the bursts of small packets are queues that a controller answers.
    let (rate, delay) = (rng.one_of(RATES), rng.one_of(&["200ns", "1us", "3us"]));
    // Not slower than hosts, or a queue without bounds would slow a flow down.
    let fastest = RATES.iter().position(|&other| other == rate).unwrap_or_default();
    let (fabric, fabric_delay) = (rng.one_of(&RATES[fastest..]), rng.one_of(&["10ns", "2us"]));
    let (kind, hosts, switches) = match rng.below(3) {
        0 => ("kind = 'star'\nhosts = 2".into(), 2, 1),
        1 => {
            let keys = format!("bottleneck_rate = '{fabric}'\nbottleneck_delay = '{fabric_delay}'");
            (format!("kind = 'dumbbell'\nleft = 2\nright = 1\n{keys}"), 3, 2)
        }
        _ => {
            let keys = format!("fabric_rate = '{fabric}'\nfabric_delay = '{fabric_delay}'");
            (format!("kind = 'leaf_spine'\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n{keys}"), 4, 4)
        }
    };
    (format!("[topology]\n{kind}\nrate = '{rate}'\ndelay = '{delay}'\n"), hosts, hosts + switches)
}

/// Settings of acknowledgements, and the size of a flow whose last packet is acknowledged.
fn acknowledgements(rng: &mut ScenarioRng) -> (String, u64) {
    let bytes = 1 + rng.below(20_000);
    match rng.below(4) {
        0 => (format!("ack_every = {bytes}\n"), 1),
        1 => (format!("ack_offset = {bytes}\nchunk = {}\n", rng.one_of(&["1", "100", "4000"])), bytes),
        _ => (String::new(), 1),
    }
}

/// How telemetry is collected and comes back, if it does.
fn telemetry(rng: &mut ScenarioRng, is_read: bool, sparse_acks: bool) -> String {
    let packets = rng.one_of(&["all", "all", "nth", "rtt", "congestion", "probes"]);
    let packets = if is_read || rng.chance(50) { packets } else { "none" };
    let answer = if is_read { rng.one_of(&["records", "records", "busiest_link", "loads"]) } else { "none" };
    let feedback = rng.one_of(&["ack", "ack", "notification"]);
    let mut text = format!(
        "[telemetry]\nlayout = '{}'\nsampling = '{packets}'\ncontent = '{answer}'\n",
        rng.one_of(&["reference", "paper", "draft", "int_md", "ifa"])
    );
    if packets == "nth" {
        writeln!(text, "every = {}", 1 + rng.below(9)).expect("text");
    }
    if packets != "none" {
        writeln!(text, "return_path = '{feedback}'").expect("text");
        if rng.chance(20) {
            text += "seal = '000102030405060708090a0b0c0d0e0f'\n";
        }
        if feedback == "ack" && answer == "records" && sparse_acks && rng.chance(50) {
            writeln!(text, "records_per_ack = {}", 2 + rng.below(3)).expect("text");
        }
        if feedback == "notification" && packets != "probes" && rng.chance(30) {
            text += "notification_acks = true\n";
        }
    }
    text
}

/// Flows of at least `least` bytes and up to some hundred packets, each alone.
fn flows(rng: &mut ScenarioRng, hosts: u64, mtu: u64, least: u64) -> String {
    let mut text = String::new();
    let (src, dst) = (rng.below(hosts), rng.below(hosts - 1));
    let dst = if dst < src { dst } else { dst + 1 };
    for number in 0..FLOWS {
        let packets = 1 << rng.below(9);
        let size = least.max(1 + rng.below(packets * mtu));
        let size = if rng.chance(20) { size.next_multiple_of(mtu) + rng.below(3) } else { size };
        writeln!(
            text,
            "[[traffic]]\nkind = 'flow'\nsrc = {src}\ndst = {dst}\nsize = {size}\nstart = '{}us'",
            number * 4_000
        )
        .expect("text");
    }
    text
}

/// The scenario of a seed.
fn scenario(seed: u64) -> String {
    let mut rng = ScenarioRng::new(seed, 2);
    let (topology, hosts, nodes) = topology(&mut rng);
    let mtu = [256, 1_000, 4_096][rng.below(3) as usize];
    let (acknowledgements, least) = acknowledgements(&mut rng);
    let is_read = rng.chance(80);
    let algorithm =
        if is_read { "algorithm = 'hpcc_plus'\neta = 2.0\nadditive_increase = 1000" } else { "algorithm = 'none'" };
    let mut text = format!(
        "[run]\nseed = {seed}\nstop = '200ms'\n{topology}[congestion_control]\n{algorithm}\n\
         [wire]\nprofile = '{}'\nexact_rates = {}\n\
         [transport]\nmtu = {mtu}\ntimeout = '0ns'\nwindow = false\nrate_bound = {is_read}\n{acknowledgements}",
        rng.one_of(&["reference", "rocev2_ipv4", "rocev2_ipv6"]),
        rng.chance(50),
    );
    text += &telemetry(&mut rng, is_read, acknowledgements.starts_with("ack_every"));
    if rng.chance(20) {
        writeln!(text, "[legacy]\nnodes = [{}]", hosts + rng.below(nodes - hosts)).expect("text");
    }
    text + &flows(&mut rng, hosts, mtu, least)
}

/// Runs a scenario and says what is wrong.
fn wrong(seed: u64) -> Option<String> {
    let text = scenario(seed);
    let bench = Bench::new(&[("scenario.toml", &text)]);
    let output = bench.simulate("scenario.toml", &[], "20");
    if !matches!(output.code, Some(0 | 3)) {
        return Some(format!("seed {seed}: {:?}: {}\n{text}", output.code, output.err));
    }
    let rows = fct_csv::read(&bench.path("out/fct.csv")).unwrap_or_else(|error| panic!("{error}"));
    let off = rows.iter().filter(|row| row.fct_ns != row.ideal_ns);
    let off: Vec<String> =
        off.map(|&FctRecord { size, fct_ns, ideal_ns, .. }| format!("{size}: {fct_ns} {ideal_ns}")).collect();
    (!off.is_empty()).then(|| format!("seed {seed}: {} of {}: {}\n{text}", off.len(), rows.len(), off.join(", ")))
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    let seeds = seeds(100);
    let count = seeds.end - seeds.start;
    let wrong: Vec<String> = seeds.into_par_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {count} scenarios:\n{}", wrong.len(), wrong.join("\n"));
}
