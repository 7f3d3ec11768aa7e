// SPDX-License-Identifier: GPL-2.0-only
//! Programs of others that are asked for by name, and the packages that have them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use nix::unistd::{AccessFlags, access, geteuid};

use crate::human;
use crate::outcome::Failed;
use crate::script::script;

/// What the ns-3 module is built with: `COMMAND:PACKAGE` of Debian.
pub const BUILD_TOOLS: [&str; 5] = ["cc:gcc", "g++:g++", "cmake:cmake", "ninja:ninja-build", "python3:python3"];

/// The path of a program.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

/// Whether this is a file that may be executed.
pub fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, AccessFlags::X_OK).is_ok()
}

/// The packages of those commands that are missing: `COMMAND:PACKAGE` each, or `:PACKAGE`, which is taken for missing.
pub fn missing<'a>(tools: &[&'a str]) -> Vec<&'a str> {
    let parts = tools.iter().filter_map(|tool| tool.split_once(':'));
    parts.filter(|(command, _)| on_path(command).is_none()).map(|(_, package)| package).collect()
}

/// Has commands, and installs those that are missing if this is the command of a source tree.
///
/// # Errors
/// [`Failed`], with the packages; if there is no source tree.
pub fn need(tools: &[&str]) -> Result<()> {
    script()?;
    let missing = missing(tools);
    if missing.is_empty() || install(&missing) {
        return Ok(());
    }
    Err(Failed(format!("please install: {}", missing.join(" "))).into())
}

/// Installs packages. False if that cannot be, with the reason on standard error.
pub fn install(packages: &[&str]) -> bool {
    let (sudo, words) =
        if geteuid().is_root() { (None, "") } else { (Some("sudo"), ", which may ask for your password") };
    if ["apt-get"].into_iter().chain(sudo).any(|name| on_path(name).is_none()) {
        let packages = packages.join(" ");
        human::warn(format_args!(
            "missing packages: {packages}; there is no apt-get here, or you are neither root nor have sudo"
        ));
        return false;
    }
    let line: Vec<&str> = sudo.into_iter().chain(["apt-get", "install"]).chain(packages.iter().copied()).collect();
    human::warn(format_args!("missing packages: running '{}'{words}", line.join(" ")));
    let runs = |line: &str, packages: &[&str]| {
        let mut words = sudo.into_iter().chain(line.split(' ')).chain(packages.iter().copied());
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    runs("apt-get update -qq", &[]) && runs("env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq", packages)
}
