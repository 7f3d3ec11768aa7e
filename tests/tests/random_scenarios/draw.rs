// SPDX-License-Identifier: GPL-2.0-only
//! A valid scenario for every seed.

use hpcc_tests::ScenarioRng;
use std::fmt::Write;

/// Monitors of all kinds, as a section.
pub const MONITORS: &str = "[monitor]\nqueue_interval = '1us'\ngoodput_interval = '5us'\n\
                            trace_nodes = [0, 1]\nqueue_histogram_start = '0us'\nqueue_histogram_end = '1ms'\n";

const ALGORITHMS: &[&str] = &[
    "hpcc",
    "hpcc_plus",
    "rx_hpcc",
    "hpcc_pint",
    "dcqcn",
    "timely",
    "dctcp",
    "power_tcp",
    "theta_power_tcp",
    "swift",
    "none",
];

fn traffic(rng: &mut ScenarioRng, hosts: u64) -> String {
    let mut text = String::new();
    for _ in 0..1 + rng.below(6) {
        let (start, size) = (rng.below(50), 1 + (1 << rng.below(18)) + rng.below(1000));
        let dst = rng.below(hosts);
        let section = match rng.below(3) {
            0 => format!("kind = 'incast'\nreceiver = {dst}\nsender_count = {}\n", 1 + rng.below(hosts - 1)),
            1 => "kind = 'permutation'\n".into(),
            _ => format!("kind = 'flow'\nsrc = {}\ndst = {dst}\n", (dst + 1 + rng.below(hosts - 1)) % hosts),
        };
        writeln!(text, "[[traffic]]\n{section}size = {size}\nstart = '{start}us'").expect("text");
    }
    text
}

/// Four flows from one leaf to the next, over links that are no faster, which look for better paths among the spines.
const MOVING: &str = "[telemetry]\nlayout = 'paper'\npaths = 4\npath_interval = 1\n";

fn moving_flows() -> String {
    let flow = |src: u64| format!("[[traffic]]\nkind = 'flow'\nsrc = {src}\ndst = {}\nsize = '1MB'\n", src + 4);
    (0..4).map(flow).collect()
}

/// A scenario that several processes can share, with all that happens between them: frames and pauses, losses, failing links,
/// notifications of switches, monitors, traces and captures; in every third, flows that move to other paths, in every
/// third, more flows to one host than buffers hold.
pub fn shared(seed: u64) -> String {
    let mut rng = ScenarioRng::new(seed, 1);
    let moves = seed.is_multiple_of(3);
    let drawn = (2 + rng.below(3), 1 + rng.below(3), 1 + rng.below(4));
    let pauses = seed % 3 == 1;
    let (leaves, spines, per_leaf) = if moves || pauses { (3, 3, 4) } else { drawn };
    let hosts = leaves * per_leaf;
    let (delay, fabric_delay) = (rng.one_of(&["100ns", "1us"]), rng.one_of(&["300ns", "1us", "7us"]));
    let fabric = rng.one_of(if moves || pauses { &["100Gbps"] } else { &["100Gbps", "400Gbps"] });
    let loss = rng.one_of(&["0.0", "0.0", "0.001"]);
    let notifies = rng.chance(30) && !moves && !pauses;
    let drawn = rng.one_of(ALGORITHMS);
    let algorithm = if notifies || moves {
        "hpcc_plus"
    } else if pauses {
        "none"
    } else {
        drawn
    };
    let profile = if notifies { "rocev2_ipv6" } else { rng.one_of(&["reference", "rocev2_ipv4", "rocev2_ipv6"]) };
    let mode = rng.one_of(if pauses { &["lossless"] } else { &["lossless", "lossless", "lossy"] });
    let recovery = rng.one_of(&["go_back_n", "selective_repeat"]);
    let buffer = if pauses { 1_000_000 } else { 4_300_000 << rng.below(3) };
    let mut text = format!(
        "[run]\nseed = {seed}\nstop = '20ms'\n[topology]\nkind = 'leaf_spine'\nleaves = {leaves}\nspines = {spines}\n\
         hosts_per_leaf = {per_leaf}\nrate = '100Gbps'\ndelay = '{delay}'\nfabric_rate = '{fabric}'\n\
         fabric_delay = '{fabric_delay}'\nloss = {loss}\n[congestion_control]\nalgorithm = '{algorithm}'\n\
         [wire]\nprofile = '{profile}'\n[transport]\nmtu = 1000\nrecovery = '{recovery}'\n\
         [switch]\nmode = '{mode}'\nbuffer = {buffer}\n"
    );
    if notifies {
        text += "[fast_cnp]\nenabled = true\nkmin = '5KB'\nkmax = '20KB'\n";
    }
    if moves {
        text += MOVING;
    }
    if rng.chance(40) {
        let (leaf, spine) = (hosts + rng.below(leaves), hosts + leaves + rng.below(spines));
        // A flow that begins when the only way has gone for good is refused.
        let until = if rng.chance(50) || spines == 1 { ", until = '90us'" } else { "" };
        writeln!(text, "[failures]\nlinks = [{{ time = '20us', a = {leaf}, b = {spine}{until} }}]").expect("text");
    }
    text += &traffic(&mut rng, hosts);
    if moves {
        text += &moving_flows();
    }
    if pauses {
        text += "[receive]\nhosts = '0'\nrate = '40Gbps'\nbuffer = '100KB'\n";
        text += "[[traffic]]\nkind = 'incast'\nreceiver = 0\nsender_count = 10\nsize = '150KB'\n";
    }
    if !moves && !pauses && rng.chance(50) {
        text = share_queue_pairs(&text);
    }
    text += MONITORS;
    text += "control_interval = '10us'\n";
    if profile != "reference" {
        writeln!(text, "capture_nodes = [0, {hosts}]").expect("text");
    }
    text
}

/// The scenario with flows that share queue pairs.
fn share_queue_pairs(text: &str) -> String {
    text.replace("[transport]\n", "[transport]\nqueue_pairs = 'per_pair'\n")
}
