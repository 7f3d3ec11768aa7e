// SPDX-License-Identifier: GPL-2.0-only
//! The programs under test.

use std::env;
use std::ffi::OsString;
use std::process::Command;

/// Names the ns-3 program that simulates scenarios.
pub const PROGRAM_VARIABLE: &str = "HPCC_SCENARIO_PROGRAM";

/// Names the `hpcc` command.
pub const ANALYSIS_VARIABLE: &str = "HPCC_ANALYSIS_PROGRAM";

/// The script `hpcc`, ready for arguments.
pub fn script() -> Command {
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../hpcc"))
}

/// The `hpcc` command, ready for arguments.
///
/// # Panics
/// If no variable says where the programs are: a test that cannot run must not pass.
pub fn hpcc() -> Command {
    required(PROGRAM_VARIABLE);
    Command::new(required(ANALYSIS_VARIABLE))
}

/// The path of the simulator.
///
/// # Panics
/// As [`hpcc`].
pub fn simulator() -> OsString {
    required(PROGRAM_VARIABLE)
}

fn required(variable: &str) -> OsString {
    env::var_os(variable).filter(|value| !value.is_empty()).unwrap_or_else(|| {
        panic!("{variable} is not set: run the tests through ./hpcc test, which builds the programs and names them")
    })
}
