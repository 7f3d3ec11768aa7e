// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as a capture, dissected.
#![no_main]

use hpcc_fuzz::{Folder, hpcc};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|bytes: &[u8]| {
    let file = FOLDER.write("packets.pcap", bytes);
    // The last byte draws what packets carry that do not say it.
    let layout = ["paper", "draft", "timestamp", "pint"][usize::from(bytes.last().copied().unwrap_or_default()) % 4];
    hpcc(&["dissect", "--telemetry", layout], &file);
    hpcc(&["dissect", "--telemetry", layout, "--summary"], &file);
});
