// SPDX-License-Identifier: GPL-2.0-only
//! What a user sees if the core panics: that it is a bug, and what to report.

use std::panic;
use std::sync::Once;

/// From now on a panic prints what to report. The release profile then aborts.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            eprintln!("hpcc: internal error, please report it with the configuration that led here:\n{info}");
            eprintln!("hpcc: version {}, aborting", env!("CARGO_PKG_VERSION"));
        }));
    });
}
