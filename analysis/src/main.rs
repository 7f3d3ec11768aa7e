// SPDX-License-Identifier: GPL-2.0-only
//! The program `hpcc`; the script of the same name builds it and hands it every command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    hpcc_analysis::main()
}
