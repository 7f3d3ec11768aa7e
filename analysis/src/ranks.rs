// SPDX-License-Identifier: GPL-2.0-only
//! Starts the processes that share a run, by MPI's `mpirun`.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Result, bail};

use crate::{packages, script};

/// Starts processes on this machine, on the machines of a host file, or on those of a batch job.
const LAUNCHER: &str = "mpirun";
/// Starts a program that ends with the process that has started it.
const END_WITH_PARENT: &str = "/usr/bin/setpriv";
/// Names a file with the machines to use, one a line, as `mpirun --hostfile` reads it.
const HOSTS_VARIABLE: &str = "HPCC_HOSTS";
/// Slurm sets it in its jobs, in which mpirun finds the machines itself.
const SLURM_VARIABLE: &str = "SLURM_JOB_ID";

/// Has MPI, which is installed where it is missing.
///
/// # Errors
/// If it cannot be installed, or is not there for an installed command, which has no script.
pub fn prepare() -> Result<()> {
    if script::script().is_ok() {
        return packages::need(&["mpirun:openmpi-bin", "mpicc:libopenmpi-dev"]);
    }
    match Command::new(LAUNCHER).arg("--version").output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("--ranks: there is no {LAUNCHER} (Open MPI) on the PATH")
        }
        _ => Ok(()),
    }
}

/// The command line that starts a program so many times, as far as the program's arguments.
pub fn launcher(count: u32, program: &Path) -> Command {
    // mpirun's own words about a process that failed help nobody: the first process has said why.
    start(count, program, &["--quiet"])
}

/// A note where so many processes, which wait for each other again and again, have to share this machine's processors with others.
pub fn crowd(count: u32) -> Option<String> {
    let is_elsewhere = [HOSTS_VARIABLE, SLURM_VARIABLE].iter().any(|name| env::var_os(name).is_some());
    let load = fs::read_to_string("/proc/loadavg").ok().filter(|_| !is_elsewhere)?;
    let load = load.split(' ').next()?.parse().ok()?;
    crowd_on(count, load, thread::available_parallelism().ok()?.get())
}

/// The same for a machine with this load, as the kernel counts it, and so many processors.
fn crowd_on(count: u32, load: f64, processors: usize) -> Option<String> {
    (f64::from(count) + load >= processors as f64 + 1.0).then(|| {
        format!(
            "--ranks {count} on {processors} processors with a load of {load}: processes that wait for a processor keep all others \
             waiting, and the run may take a hundred times as long; --threads {count} shares a crowded machine well"
        )
    })
}

/// What mpirun says if it cannot start so many processes, be it that they do nothing.
pub fn why_none_starts(count: u32) -> Option<String> {
    let output = start(count, Path::new("true"), &[]).output().ok().filter(|output| !output.status.success())?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let says = |line: &&str| line.contains(char::is_alphanumeric);
    let lines: Vec<&str> = words.lines().map(str::trim).filter(says).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn start(count: u32, program: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(LAUNCHER);
    // Where this process may be killed without a chance to end it.
    if Path::new(END_WITH_PARENT).exists() {
        command = Command::new(END_WITH_PARENT);
        command.args(["--pdeathsig", "TERM", LAUNCHER]);
    }
    command.args(options).args(["-n", &count.to_string()]);
    match env::var_os(HOSTS_VARIABLE).filter(|hosts| !hosts.is_empty()) {
        Some(hosts) => {
            command.arg("--hostfile").arg(hosts);
        }
        None if env::var_os(SLURM_VARIABLE).is_some() => {}
        // Processes may be more than processors: slow, but good enough to try something out.
        None => {
            command.arg("--oversubscribe");
        }
    }
    if nix::unistd::geteuid().is_root() {
        command.arg("--allow-run-as-root");
    }
    command.arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::crowd_on;

    #[test]
    fn processes_that_must_share_processors_are_told_of_threads() {
        assert_eq!((crowd_on(2, 0.3, 2), crowd_on(4, 3.9, 8)), (None, None));
        for (count, load, processors) in [(2, 2.1, 2), (4, 0.0, 2)] {
            let note = crowd_on(count, load, processors).unwrap_or_default();
            assert!(note.contains(&format!("--threads {count}")), "{note}");
        }
    }
}
