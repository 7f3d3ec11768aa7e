// SPDX-License-Identifier: GPL-2.0-only
//! The simulator without ns-3, as a program with the options of `hpcc-scenario`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgAction, Parser};
use hpcc_core::cc::Algorithm;
use hpcc_core::node::{ControlSettings, NodeSettings};
use hpcc_core::settings::quantity;
use hpcc_core::units::Nanos;
use hpcc_model::scenario::Scenario;
use hpcc_simulate::fluid::{self, Check, FluidHow};
use hpcc_simulate::{How, Outcome};
use signal_hook::consts::SIGXFSZ;

use crate::control::Class;

/// Runs a scenario on the engine of hpcc-core, without ns-3.
#[derive(Parser)]
struct Arguments {
    /// Experiment: TOML, or the 2019 simulator's config.txt.
    #[arg(long, required_unless_present = "algorithms")]
    config: Option<PathBuf>,
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
    /// Shows the longest queues and slowdowns beside the progress, on a terminal.
    #[arg(long)]
    watch: bool,
    /// Simulates no packets: flows go at max-min fair rates.
    #[arg(long)]
    fluid: bool,
    /// Simulates packets as well, up to this simulated time, and says how far off the fluid run is.
    #[arg(long, value_name = "TIME", requires = "fluid", value_parser = quantity::time)]
    check: Option<Nanos>,
    /// Simulates the same without failures as well, and says what these cost.
    #[arg(long, conflicts_with = "check")]
    failure_cost: bool,
    /// Prints the algorithms that are not hpcc-core's, with their parameters, as JSON.
    #[arg(long)]
    algorithms: bool,
}

/// The whole program, with algorithms besides those of hpcc-core.
pub fn main(algorithms: Vec<Box<dyn Algorithm>>) -> ExitCode {
    let arguments = Arguments::parse();
    let Some(config) = arguments.config else {
        let classes: Vec<Class> = algorithms.iter().map(|algorithm| Class::of(algorithm.as_ref())).collect();
        println!("{}", serde_json::json!(classes));
        return ExitCode::SUCCESS;
    };
    // The command hpcc, which waits for this, may be killed without a chance to end it.
    #[cfg(target_os = "linux")]
    if std::env::var("HPCC_PARENT").is_ok_and(|parent| parent == nix::unistd::getppid().to_string()) {
        let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    }
    // A file that may not grow (ulimit -f) is reported like a disk that is full.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let defaults = NodeSettings::new(ControlSettings::with(algorithms, |_| Err(String::new())));
    let how = How { is_quiet: arguments.quiet, is_watched: arguments.watch, threads: arguments.threads };
    let loaded = hpcc_formats::load_with(&config, &arguments.set, defaults);
    let check = arguments.check.map(|until| Check { until });
    let fluid = FluidHow { is_quiet: arguments.quiet, check };
    let run = |scenario: Scenario, out: &Path| match arguments.fluid {
        true => fluid::run(&scenario, out, fluid),
        false => hpcc_simulate::run(scenario, out, how),
    };
    let outcome = loaded.map_err(|error| Outcome::refused(&error)).and_then(|scenario| match arguments.failure_cost {
        true => hpcc_simulate::run_both(scenario, &arguments.out, run),
        false => run(scenario, &arguments.out),
    });
    match outcome {
        Ok(outcome) | Err(outcome) => outcome.into(),
    }
}
