// SPDX-License-Identifier: GPL-2.0-only
//! `ideal_ns` of a flow that has the network to itself is its `fct_ns`, to the nanosecond, whatever acknowledges it and brings
//! its telemetry back.
//!
//! Scenarios are drawn at random, each with a few flows one after the other. Controllers are such that a lone flow runs at line
//! rate. `HPCC_RANDOM_SEED` and `HPCC_RANDOM_SCENARIOS` try others.

use hpcc_formats::results::{FctRecord, fct_csv};
use hpcc_tests::{Bench, Dice, seeds};
use rayon::prelude::*;
use std::fmt::Write;

/// Flows of a scenario.
const FLOWS: u64 = 12;

/// The section of the topology, and its numbers of hosts and nodes.
fn topology(dice: &mut Dice) -> (String, u64, u64) {
    const RATES: &[&str] = &["25Gbps", "50Gbps", "100Gbps", "400Gbps"];
    // Where a few packets take longer than T, the bursts of small packets are queues that a controller answers.
    let (rate, delay) = (dice.one_of(RATES), dice.one_of(&["200ns", "1us", "3us"]));
    // Not slower than hosts, or a queue without bounds would slow a flow down.
    let fastest = RATES.iter().position(|&other| other == rate).unwrap_or_default();
    let (fabric, fabric_delay) = (dice.one_of(&RATES[fastest..]), dice.one_of(&["10ns", "2us"]));
    let (kind, hosts, switches) = match dice.below(3) {
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
fn acknowledgements(dice: &mut Dice) -> (String, u64) {
    let bytes = 1 + dice.below(20_000);
    match dice.below(4) {
        0 => (format!("ack_every = {bytes}\n"), 1),
        1 => (format!("ack_interval = {bytes}\nchunk = {}\n", dice.one_of(&["1", "100", "4000"])), bytes),
        _ => (String::new(), 1),
    }
}

/// How telemetry is collected and comes back, if it does.
fn telemetry(dice: &mut Dice, is_read: bool, sparse_acks: bool) -> String {
    let packets = dice.one_of(&["all", "all", "nth", "rtt", "congestion", "probes"]);
    let packets = if is_read || dice.chance(50) { packets } else { "none" };
    let answer = if is_read { dice.one_of(&["records", "records", "busiest_link", "loads"]) } else { "none" };
    let feedback = dice.one_of(&["ack", "ack", "notification"]);
    let mut text = format!(
        "[telemetry]\nlayout = '{}'\npackets = '{packets}'\nanswer = '{answer}'\n",
        dice.one_of(&["reference", "paper", "draft", "int_md", "ifa"])
    );
    if packets == "nth" {
        writeln!(text, "every = {}", 1 + dice.below(9)).expect("text");
    }
    if packets != "none" {
        writeln!(text, "feedback = '{feedback}'").expect("text");
        if dice.chance(20) {
            text += "seal = '000102030405060708090a0b0c0d0e0f'\n";
        }
        if feedback == "ack" && answer == "records" && sparse_acks && dice.chance(50) {
            writeln!(text, "records_per_ack = {}", 2 + dice.below(3)).expect("text");
        }
        if feedback == "notification" && packets != "probes" && dice.chance(30) {
            text += "notification_acks = true\n";
        }
    }
    text
}

/// Flows of at least `least` bytes and up to some hundred packets, each alone.
fn flows(dice: &mut Dice, hosts: u64, mtu: u64, least: u64) -> String {
    let mut text = String::new();
    let (src, dst) = (dice.below(hosts), dice.below(hosts - 1));
    let dst = if dst < src { dst } else { dst + 1 };
    for number in 0..FLOWS {
        let packets = 1 << dice.below(9);
        let size = least.max(1 + dice.below(packets * mtu));
        let size = if dice.chance(20) { size.next_multiple_of(mtu) + dice.below(3) } else { size };
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
    let mut dice = Dice::new(seed, 2);
    let (topology, hosts, nodes) = topology(&mut dice);
    let mtu = [256, 1_000, 4_096][dice.below(3) as usize];
    let (acknowledgements, least) = acknowledgements(&mut dice);
    let is_read = dice.chance(80);
    let algorithm =
        if is_read { "algorithm = 'hpcc_plus'\neta = 2.0\nadditive_increase = 1000" } else { "algorithm = 'none'" };
    let mut text = format!(
        "[run]\nseed = {seed}\nstop = '200ms'\n{topology}[congestion_control]\n{algorithm}\n\
         [wire]\nprofile = '{}'\nexact_rates = {}\n\
         [transport]\nmtu = {mtu}\ntimeout = '0ns'\nwindow = false\nrate_bound = {is_read}\n{acknowledgements}",
        dice.one_of(&["reference", "rocev2_ipv4", "rocev2_ipv6"]),
        dice.chance(50),
    );
    text += &telemetry(&mut dice, is_read, acknowledgements.starts_with("ack_every"));
    if dice.chance(20) {
        writeln!(text, "[legacy]\nnodes = [{}]", hosts + dice.below(nodes - hosts)).expect("text");
    }
    text + &flows(&mut dice, hosts, mtu, least)
}

/// Runs a scenario and says what is wrong.
fn wrong(seed: u64) -> Option<String> {
    let text = scenario(seed);
    let bench = Bench::new(&[("scenario.toml", &text)]);
    let told = bench.simulate("scenario.toml", &[], "20");
    if !matches!(told.code, Some(0 | 3)) {
        return Some(format!("seed {seed}: {:?}: {}\n{text}", told.code, told.err));
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
