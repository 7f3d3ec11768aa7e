// SPDX-License-Identifier: GPL-2.0-only
//! The steps that the script `hpcc` of a source tree takes for this command: building, testing.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow};

use crate::human;

/// Names the script.
const SCRIPT_VARIABLE: &str = "HPCC_SCRIPT";
/// Tells the script to show neither progress nor notes.
const QUIET_VARIABLE: &str = "HPCC_QUIET";

/// A step has failed, and has said why on standard error.
#[derive(Debug)]
pub struct StepFailed(&'static str);

impl fmt::Display for StepFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed", self.0)
    }
}

impl std::error::Error for StepFailed {}

/// Builds the simulator and returns its path.
///
/// # Errors
/// If there is no script, or [`StepFailed`].
pub fn build_simulator() -> Result<PathBuf> {
    let output = step("@simulator")?.stderr(Stdio::inherit()).output().with_context(cannot_start)?;
    if !output.status.success() {
        return Err(StepFailed("building the simulator").into());
    }
    Ok(OsString::from_vec(output.stdout.trim_ascii_end().to_vec()).into())
}

/// Installs the packages of commands that are missing, `COMMAND:PACKAGE` each.
///
/// # Errors
/// As [`build_simulator`].
pub fn install(tools: &[&str]) -> Result<()> {
    let status = step("@need")?.args(tools).status().with_context(cannot_start)?;
    if status.success() { Ok(()) } else { Err(StepFailed("installing it").into()) }
}

/// Which ns-3 simulators are built with: its version, and where it is.
///
/// # Errors
/// As [`build_simulator`].
pub fn which_ns3() -> Result<String> {
    let output = step("@ns3")?.output().with_context(cannot_start)?;
    Ok(String::from_utf8(output.stdout)?.trim_end().into())
}

/// Lets the script take over this process. Returns only an error.
pub fn exec(name: &str, arguments: &[OsString]) -> anyhow::Error {
    match step(name) {
        Ok(mut command) => anyhow::Error::from(command.args(arguments).exec()).context(cannot_start()),
        Err(error) => error,
    }
}

/// A file beside this program, where `./hpcc install` puts what it needs.
pub fn beside(name: &str) -> Option<PathBuf> {
    env::current_exe().ok().map(|program| program.with_file_name(name)).filter(|file| file.exists())
}

/// The folder with the experiments: that of an installed program, or of the script.
///
/// # Errors
/// If there is neither.
pub fn source_tree() -> Result<PathBuf> {
    if let Some(configs) = beside("configs") {
        return Ok(configs.with_file_name(""));
    }
    Ok(script()?.parent().map(Path::to_path_buf).unwrap_or_default())
}

/// The script.
///
/// # Errors
/// If this command was not started by it.
pub fn script() -> Result<PathBuf> {
    let script = env::var_os(SCRIPT_VARIABLE).filter(|script| !script.is_empty());
    script.map(PathBuf::from).ok_or_else(|| {
        anyhow!("{SCRIPT_VARIABLE} is not set: use ./hpcc of a source tree, or what ./hpcc install makes")
    })
}

fn cannot_start() -> String {
    format!("cannot start the script {}, which {SCRIPT_VARIABLE} names", script().unwrap_or_default().display())
}

fn step(name: &str) -> Result<Command> {
    let mut command = Command::new(script()?);
    command.arg(name);
    if human::is_quiet() {
        command.env(QUIET_VARIABLE, "1");
    }
    Ok(command)
}
