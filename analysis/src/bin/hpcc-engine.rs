// SPDX-License-Identifier: GPL-2.0-only
//! The simulator without ns-3.

use std::process::ExitCode;

fn main() -> ExitCode {
    hpcc_analysis::engine::main(Vec::new())
}
