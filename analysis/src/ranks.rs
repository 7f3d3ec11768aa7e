// SPDX-License-Identifier: GPL-2.0-only
//! Starts the processes that share a run, by MPI's `mpirun`.

use std::env;
use std::path::Path;
use std::process::Command;

/// Starts processes on this machine, on the machines of a host file, or on those of a batch job.
const LAUNCHER: &str = "mpirun";
/// Names a file with the machines to use, one a line, as `mpirun --hostfile` reads it.
const HOSTS_VARIABLE: &str = "HPCC_HOSTS";
/// Slurm sets it in its jobs, in which mpirun finds the machines itself.
const SLURM_VARIABLE: &str = "SLURM_JOB_ID";

/// The command line that starts a program so many times, as far as the program's arguments.
pub fn launcher(count: u32, program: &Path) -> Command {
    let mut command = Command::new(LAUNCHER);
    // mpirun's own words about a process that failed help nobody: the first process has said why.
    command.args(["--quiet", "-n", &count.to_string()]);
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
