// SPDX-License-Identifier: GPL-2.0-only
//! Any text as a scenario in TOML. One that is accepted holds together.
#![no_main]

use hpcc_core::topology::NodeKind;
use hpcc_fuzz::Folder;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const FLOWS: &str = "2\n0 2 3 100 100000 0.000000\n1 2 3 100 200000 0.000005\n";
const TOPOLOGY: &str = "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 100Gbps 1000ns 0\n";

static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    Folder::new(&[("flow.txt", FLOWS), ("topology.txt", TOPOLOGY), ("sizes.cdf", "1000 50\n9000 100\n")])
});

fuzz_target!(|bytes: &[u8]| {
    let file = FOLDER.write("scenario.toml", bytes);
    let Ok(scenario) = hpcc_formats::load(&file, &[]) else { return };
    assert!(scenario.effective().is_object());
    let nodes = &scenario.network.nodes;
    let is_host = |node: u32| nodes.get(node as usize) == Some(&NodeKind::Host);
    let mut last = None;
    for flow in scenario.flows.walk() {
        let flow = flow.expect("flows that were checked");
        assert!(is_host(flow.src) && is_host(flow.dst) && flow.size > 0);
        assert!(last <= Some(flow.start));
        last = Some(flow.start);
    }
    assert_eq!(last, scenario.flows.totals.last_start);
});
