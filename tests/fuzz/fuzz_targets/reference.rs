// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as the 2019 simulator's input files, one behind the other with a byte of 0 between them: configuration,
//! topology, flows, traced nodes.
#![no_main]

use hpcc_fuzz::Folder;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const FILES: [&str; 4] = ["config.txt", "topology.txt", "flow.txt", "trace.txt"];

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(FILES.len(), |byte| *byte == 0);
    for name in FILES {
        FOLDER.write(name, parts.next().unwrap_or_default());
    }
    if let Ok(scenario) = hpcc_formats::load(&FOLDER.path().join(FILES[0]), &[]) {
        assert!(scenario.effective().is_object());
        assert_eq!(scenario.flows.walk().map_while(Result::ok).count() as u64, scenario.flows.totals.count);
    }
});
