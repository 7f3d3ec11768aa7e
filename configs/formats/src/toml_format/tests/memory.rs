// SPDX-License-Identifier: GPL-2.0-only
//! How much memory runs are said to take.

use crate::load;
use hpcc_model::check::memory::{PER_FLOW, PER_LINK, PER_PACKET, PROGRAM, estimate};

/// Memory of a star of eight hosts with so many flows at once.
fn of_flows(flows: usize) -> u64 {
    let dir = tempfile::tempdir().expect("folder");
    let topology = "[topology]\nkind = \"star\"\nhosts = 8\nrate = \"100Gbps\"\ndelay = \"1us\"\n";
    let flow = "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
    let file = dir.path().join("a.toml");
    std::fs::write(&file, format!("[run]\nstop = \"1ms\"\n{topology}{}", flow.repeat(flows))).expect("written");
    let scenario = load(&file, &[]).expect("a scenario");
    estimate(&scenario).expect("an estimate")
}

#[test]
fn packets_on_their_way_take_memory() {
    let dir = tempfile::tempdir().expect("folder");
    let file = dir.path().join("a.toml");
    let text = |delay: &str| {
        format!(
            "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Gbps\"\ndelay = \"{delay}\"\n\
             [switch]\nbuffer = \"1GB\"\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"100MB\"\n"
        )
    };
    let told = |delay: &str, set: &[&str]| {
        std::fs::write(&file, text(delay)).expect("written");
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        estimate(&load(&file, &set).expect("a scenario")).expect("an estimate")
    };
    // Over two links there and back, 4 ms at 12.5 GB/s, are 50 MB; there are no more than the flow has.
    let near = told("1us", &[]);
    assert_eq!(told("1ms", &[]) - near, (50_000 - 50) * PER_PACKET);
    assert_eq!(told("3ms", &[]) - near, (100_000 - 50) * PER_PACKET);
    assert_eq!(told("3ms", &["transport.mtu=4000"]) - told("1us", &["transport.mtu=4000"]), (25_000 - 12) * PER_PACKET);
}

#[test]
fn flows_in_progress_take_memory() {
    let (few, many) = (of_flows(1), of_flows(1_000));
    assert!((PROGRAM + 8 * PER_LINK..PROGRAM + 200_000).contains(&few), "{few}");
    assert!((980 * PER_FLOW..=1_020 * PER_FLOW).contains(&(many - few)), "{many}");
}
