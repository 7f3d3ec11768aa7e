// SPDX-License-Identifier: GPL-2.0-only
//! The reference's fat.txt, the topology of its large scenarios: generated rather than stored.

use hpcc_core::units::{BitRate, Nanos};
use hpcc_formats::generate::{FatTree, Wire};

const fn wire(gbps: u64) -> Wire {
    Wire { rate: BitRate::gbps(gbps), delay: Nanos(1000), loss: 0.0 }
}

/// The file's text, to the empty line at its end.
pub fn text() -> String {
    let tree = FatTree {
        pods: 5,
        tors_per_pod: 4,
        aggs_per_pod: 4,
        cores_per_agg: 4,
        hosts_per_tor: 16,
        edge: wire(100),
        fabric: wire(400),
    };
    let network = tree.network().expect("376 nodes fit");
    let switches: Vec<String> = network.switches().map(|id| id.to_string()).collect();
    let mut text = format!("{} {} {}\n", network.nodes.len(), switches.len(), network.links.len());
    text += &(switches.join(" ") + "\n");
    for link in &network.links {
        text += &format!("{} {} {} {}ns {:.6}\n", link.a, link.b, link.rate, link.delay.0, link.loss);
    }
    text + "\n"
}
