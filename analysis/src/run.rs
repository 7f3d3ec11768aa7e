// SPDX-License-Identifier: GPL-2.0-only
//! `run`: starts the simulator on a scenario and reports what it found.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, anyhow};

use crate::outcome::Outcome;
use crate::report;

/// Names the ns-3 program that simulates scenarios.
const PROGRAM_VARIABLE: &str = "HPCC_SCENARIO_PROGRAM";

/// Simulates a scenario into `out` and reports.
///
/// # Errors
/// If the simulator cannot be started. What goes wrong later is told on standard error and by the outcome.
pub fn run(config: &Path, out: Option<PathBuf>, set: &[String]) -> Result<Outcome> {
    let program = program()?;
    let out = out.map_or_else(|| default_out(config), Ok)?;
    let status = command(&program, config, &out, set)
        .status()
        .with_context(|| format!("cannot start the simulator {}", program.display()))?;
    match status.code() {
        Some(0 | 3) => Ok(report_run(&out, status)),
        // The simulator has said on standard error what it does not like.
        Some(2) => Ok(Outcome::BadInput),
        _ => {
            eprintln!("hpcc: {}", describe_crash(status));
            Ok(Outcome::Failed)
        }
    }
}

/// The simulator.
///
/// # Errors
/// If the environment does not name it.
pub fn program() -> Result<OsString> {
    env::var_os(PROGRAM_VARIABLE)
        .ok_or_else(|| anyhow!("{PROGRAM_VARIABLE} is not set: run through ./hpcc, which builds the simulator"))
}

/// `hpcc-out/` and the name of the file that describes the experiment.
///
/// # Errors
/// If the path does not end in a name.
pub fn default_out(config: &Path) -> Result<PathBuf> {
    let stem = config.file_stem().with_context(|| format!("{}: not the name of a file", config.display()))?;
    Ok(Path::new("hpcc-out").join(stem))
}

/// The simulator's command line.
pub fn command(program: &OsString, config: &Path, out: &Path, set: &[String]) -> Command {
    let mut command = Command::new(program);
    command
        .arg(option("--config=", config.as_os_str()))
        .arg(option("--out=", out.as_os_str()))
        .args(set.iter().map(|pair| format!("--set={pair}")))
        .stdin(Stdio::null());
    command
}

/// Joins an option and its value, which need not be Unicode.
fn option(name: &str, value: &std::ffi::OsStr) -> OsString {
    let mut text = OsString::from(name);
    text.push(value);
    text
}

/// Reports on a run that ended well. The scenario was fine, so trouble from here on is not bad input.
fn report_run(out: &Path, status: ExitStatus) -> Outcome {
    match report::report(out) {
        Ok(_) if status.code() == Some(3) => Outcome::Unfinished,
        Ok(outcome) => outcome,
        Err(error) => {
            eprintln!("hpcc: the simulation ended, but its results cannot be shown: {error:#}");
            Outcome::Failed
        }
    }
}

/// How a simulator ended that did not end well.
pub fn describe_crash(status: ExitStatus) -> String {
    let end = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by {}", signal_name(signal)),
        (None, Some(code)) => format!("stopped with exit status {code}"),
        (None, None) => "stopped for an unknown reason".to_owned(),
    };
    format!("the simulator {end}; what it wrote is incomplete and stays in the folder OUT.partial")
}

fn signal_name(signal: i32) -> String {
    let meaning = match signal {
        2 => "interrupted",
        6 => "aborted",
        8 => "arithmetic error",
        9 => "killed, perhaps for lack of memory",
        11 => "segmentation fault",
        15 => "terminated",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({meaning})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_go_to_a_folder_named_after_the_scenario() {
        assert_eq!(default_out(Path::new("configs/quick.toml")).expect("stem"), Path::new("hpcc-out/quick"));
        assert!(default_out(Path::new("..")).is_err());
    }

    #[test]
    fn crashes_are_told_apart() {
        assert!(describe_crash(ExitStatus::from_raw(11)).contains("signal 11 (segmentation fault)"));
        assert!(describe_crash(ExitStatus::from_raw(134 << 8)).contains("exit status 134"));
    }
}
