// SPDX-License-Identifier: GPL-2.0-only
//! Any text as a sweep, of which the runs are listed.
#![no_main]

use hpcc_fuzz::{Folder, SCENARIO, hpcc};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[("base.toml", SCENARIO)]));

fuzz_target!(|bytes: &[u8]| {
    hpcc(&["sweep", "--list"], &FOLDER.write("sweep.toml", bytes));
});
