// SPDX-License-Identifier: GPL-2.0-only
//! The programs under test.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
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

/// The commands for those who work on hpcc, ready for arguments; the program is beside the `hpcc` command.
///
/// # Panics
/// As [`hpcc`].
pub fn xtask() -> Command {
    required(PROGRAM_VARIABLE);
    Command::new(Path::new(&required(ANALYSIS_VARIABLE)).with_file_name("hpcc-xtask"))
}

/// The simulator without ns-3, which is beside the `hpcc` command.
///
/// # Panics
/// As [`hpcc`].
pub fn engine() -> PathBuf {
    required(PROGRAM_VARIABLE);
    Path::new(&required(ANALYSIS_VARIABLE)).with_file_name("hpcc-engine")
}

/// The path of an example of the module, which was built with the simulator: in an ns-3 tree, or beside an installed ns-3.
///
/// # Panics
/// If there is none.
pub fn example(name: &str) -> PathBuf {
    let program = PathBuf::from(simulator());
    let in_tree = program.ancestors().nth(2).map(|build| build.join("contrib/hpcc/examples"));
    let beside = program.parent().map(Path::to_owned);
    let entries = in_tree.into_iter().chain(beside).flat_map(fs::read_dir).flatten().flatten();
    let is_it = |path: &PathBuf| path.file_name().is_some_and(|file| file.to_string_lossy().contains(name));
    entries.map(|entry| entry.path()).find(is_it).unwrap_or_else(|| panic!("no example {name}"))
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
