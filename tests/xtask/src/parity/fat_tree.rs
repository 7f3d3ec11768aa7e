// SPDX-License-Identifier: GPL-2.0-only
//! The 2019 simulator's fat.txt, the topology of its large scenarios: generated rather than stored.

use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::generate::{Tier, Wire, tree};

const fn wire(gbps: u64) -> Wire {
    Wire { rate: BitRate::gbps(gbps), delay: Nanos(1000), loss: 0.0, count: 1 }
}

/// The file's text, to the empty line at its end.
pub fn text() -> String {
    let tier = |below, planes, above, wire| Tier { below, planes, above, wire };
    let tiers = [tier(16, 1, 1, wire(100)), tier(4, 1, 4, wire(400)), tier(5, 4, 4, wire(400))];
    let network = tree(320, &tiers).expect("376 nodes fit");
    let switches: Vec<String> = network.switches().map(|id| id.to_string()).collect();
    let mut text = format!("{} {} {}\n", network.nodes.len(), switches.len(), network.links.len());
    text += &(switches.join(" ") + "\n");
    for link in &network.links {
        text += &format!("{} {} {} {}ns {:.6}\n", link.a, link.b, link.rate, link.delay.0, link.loss);
    }
    text + "\n"
}
