// SPDX-License-Identifier: GPL-2.0-only
//! The simulator without ns-3, with the options of `hpcc-scenario`.

use clap::{ArgAction, Parser};
use hpcc_core::node::NodeSettings;
use hpcc_simulate::Outcome;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a scenario on the engine of hpcc-core, without ns-3.
#[derive(Parser)]
struct Arguments {
    /// Experiment: TOML, or the reference simulator's config.txt.
    #[arg(long)]
    config: PathBuf,
    /// Folder for the results.
    #[arg(long, default_value = "hpcc-out")]
    out: PathBuf,
    /// KEY=VALUE, replaces what the file says.
    #[arg(long)]
    set: Vec<String>,
    /// Threads that share the work; results are those of one.
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,
    /// Shows neither notes nor progress, only errors.
    #[arg(long, num_args = 0..=1, default_missing_value = "true", default_value = "false", action = ArgAction::Set)]
    quiet: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // The command hpcc, which waits for this, may be killed without a chance to end it.
    #[cfg(target_os = "linux")]
    if std::env::var("HPCC_PARENT").is_ok_and(|parent| parent == nix::unistd::getppid().to_string()) {
        let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    }
    let loaded = hpcc_formats::load_with(&arguments.config, &arguments.set, NodeSettings::default());
    let outcome = loaded
        .map_err(|error| Outcome::refused(&error))
        .and_then(|scenario| hpcc_simulate::run(scenario, &arguments.out, arguments.quiet, arguments.threads));
    match outcome {
        Ok(outcome) | Err(outcome) => outcome.into(),
    }
}
