// SPDX-License-Identifier: GPL-2.0-only
//! The `hpcc` command: runs scenarios, reports, compares. A library so that fuzzing can call it, too.

mod busiest;
mod chart;
mod check;
mod children;
mod compare;
mod completions;
mod control;
mod describe;
mod dissect;
pub mod engine;
mod export;
mod generate;
pub mod human;
mod import;
mod install;
mod jobs;
mod manifest;
pub mod ns3;
mod outcome;
pub mod packages;
mod pauses;
mod plot;
mod ranks;
mod report;
mod reproduce;
mod run;
pub mod save;
pub mod script;
pub mod settings;
pub mod simulator;
mod sweep;
pub mod table;
mod timeline;
mod trace;
mod version;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::ArgValueCompleter;
use hpcc_core::settings::quantity;
use hpcc_core::units::Nanos;
use signal_hook::consts::SIGXFSZ;

pub use outcome::{Failed, Outcome};
pub use reproduce::{rewrite as rewrite_figures, write as write_figure_pages};
pub use sweep::TABLE as SWEEP_TABLE;

const ENVIRONMENT: &str = "\
For work on hpcc a checkout also has the commands test, docs, reqs, parity, relations, bench, fuzz, audit, dist

Environment:
  NS3_DIR      your own ns-3 tree, 3.37 or newer, or a folder where ns-3 is installed [default: a tree that was fetched,
               the distribution's ns-3, or pip's]
  HPCC_CACHE   where ns-3 and simulators are kept, in a folder for each checkout (~/.cache/hpcc)
  HPCC_JOBS    parallel jobs of a build (all processors)
  HPCC_MEMORY  memory that a network and flows may take, such as 16GB (what the machine has available)
  HPCC_HOSTS   file with the machines that run --ranks may use, as mpirun --hostfile reads it
  HPCC_STRICT  1: a test that is skipped fails ./hpcc test";

/// Simulates congestion control in RDMA networks.
#[derive(Parser)]
#[command(name = "hpcc", bin_name = "./hpcc", version, arg_required_else_help = true, after_help = ENVIRONMENT)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Silences progress, notes, and summaries of files, but not errors, warnings and the output of a command.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// The simulator [default: core; ns3 where a scenario needs it: TCP, UDP, a controller in C++, --ranks].
    #[arg(long, global = true, value_enum)]
    simulator: Option<simulator::Kind>,
    /// A congestion control of your own, for run, sweep and reproduce: a file in C++ or Rust; may be repeated.
    #[arg(long, global = true, value_name = "FILE")]
    control: Vec<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Simulates a scenario, prints a summary and draws plots.
    ///
    /// With --simulator fluid there are no packets: flows and messages of jobs share links fairly, over the paths that packets would
    /// take, in a small fraction of the time. Results are in the same files; queues, pauses, drops, telemetry and congestion control
    /// are not simulated, and notes name the keys that are ignored (ns3-module/doc/fluid.md). --check TIME measures the error.
    ///
    /// Exit status: 0 all flows finished, 1 the simulator crashed, 2 bad input, 3 flows left unfinished.
    Run {
        /// The scenario, a config.txt of the 2019 simulator, or a job of another simulator (GOAL, .cm, SimAI).
        config: PathBuf,
        /// The network: a .topo of htsim, or a topology in the 2019 simulator's format.
        #[arg(long, value_name = "FILE")]
        topology: Option<PathBuf>,
        /// Folder for the results [default: hpcc-out/ and the scenario's name].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Overrides a key of the scenario; may be repeated.
        #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings::assignments))]
        set: Vec<String>,
        /// Seed of every random choice: the same as --set run.seed=N.
        #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = seed)]
        seed: Option<u64>,
        /// Processes that share the run, by MPI; results are the same for any number, 1 included.
        #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count::<NonZeroU32, MOST_AT_A_TIME>)]
        ranks: Option<NonZeroU32>,
        /// Threads that share the run; results are the same for any number.
        #[arg(long, value_name = "N", conflicts_with = "ranks", allow_hyphen_values = true, value_parser = count::<NonZeroU32, MOST_AT_A_TIME>)]
        threads: Option<NonZeroU32>,
        /// Replaces results of another configuration, too; results of the same configuration are always replaced.
        #[arg(long)]
        force: bool,
        /// On a terminal, shows the longest queues and the flows' slowdowns beside the progress.
        #[arg(long)]
        watch: bool,
        /// With --simulator fluid: simulates packets as well, up to this simulated time (such as 2ms; 1000s for all), into a folder
        /// beside the results, and prints the errors of completion times by size.
        #[arg(long, value_name = "TIME", value_parser = quantity::time)]
        check: Option<Nanos>,
        /// Also simulates the scenario without `[failures]`, into a folder beside the results, and prints what the failures cost each job and
        /// the flows.
        #[arg(long, conflicts_with_all = ["check", "ranks"])]
        failure_cost: bool,
        #[command(flatten)]
        drawing: plot::Drawing,
    },
    /// Simulates the variants of a scenario that a sweep file lists, several at a time, and compares them.
    ///
    /// Exit status: 0 all flows finished, 1 a run failed, 2 bad input, 3 flows left unfinished.
    Sweep {
        /// The sweep file; configs/sweeps.md describes it.
        file: PathBuf,
        /// Folder for the results [default: hpcc-out/ and the sweep file's name].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Overrides a key of the scenario in every run; may be repeated.
        #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings::assignments))]
        set: Vec<String>,
        #[command(flatten)]
        how: sweep::How,
        #[command(flatten)]
        elsewhere: sweep::Elsewhere,
    },
    /// Repeats figures of the papers and says which of their claims hold (configs/paper).
    ///
    /// Exit status: 0 all flows finished, 1 a run failed, 2 bad input, 3 flows left unfinished.
    Reproduce(reproduce::Options),
    /// Prints the summaries of runs again, redraws their plots, and makes one page of all of them, and of sweeps.
    Report(report::Options),
    /// Lists errors and doubtful settings of scenarios, without a simulation.
    ///
    /// Exit status: 0 nothing wrong, 1 something that --deny names, 2 bad input.
    Check(check::Options),
    /// Compares the completion times of two runs, flow by flow.
    ///
    /// Exit status: 0 all flows equal, 1 differences, 2 bad input.
    Compare {
        /// An fct.txt, plain or .gz, or a folder that holds one.
        a: PathBuf,
        /// The folder to compare it with.
        b: PathBuf,
    },
    /// Decodes the frames of a capture, one JSON object a line: headers, telemetry hop by hop, ICRC, faults.
    Dissect(dissect::Options),
    /// Prints a packet trace (packets.tr, or a .tr of the 2019 simulator) as text.
    Trace {
        /// The trace.
        file: PathBuf,
        /// CSV with a header row, instead of the 2019 simulator's words.
        #[arg(long)]
        csv: bool,
    },
    /// Explains a key of a scenario: kind, range, default, and the same setting as an ns-3 attribute.
    Explain {
        /// The key with its section, such as congestion_control.eta, or an attribute; without it, all are listed.
        #[arg(add = ArgValueCompleter::new(settings::keys))]
        key: Option<String>,
        /// With the key profile: the name of a profile, to list its figures and their sources.
        #[arg(conflicts_with = "assumed")]
        name: Option<String>,
        /// Lists instead the defaults that decide this scenario's results, with their values.
        #[arg(long, value_name = "FILE", conflicts_with = "key")]
        assumed: Option<PathBuf>,
        /// Overrides a key of FILE; may be repeated.
        #[arg(long, value_name = "KEY=VALUE", requires = "assumed", add = ArgValueCompleter::new(settings::assignments))]
        set: Vec<String>,
    },
    /// Describes a network (hosts, switches, links, paths, bisection), and writes it in the 2019 simulator's format.
    Topology(describe::topology::Options),
    /// Describes flows (sizes, load, groups, pairs), and writes them in the 2019 simulator's format.
    Workload(describe::workload::Options),
    /// Writes the scenario of a training job, from the published dimensions of its model.
    #[command(subcommand)]
    Generate(generate::Options),
    /// Writes a scenario in TOML for a config.txt of the 2019 simulator or of a descendant, and lists the keys that it
    /// took, guessed and dropped.
    Import(import::Options),
    /// Writes a scenario's configuration in other formats.
    #[command(subcommand)]
    Export(export::Options),
    /// Prints the JSON schema of scenario or sweep files, for editors.
    Schema {
        /// The kind of file.
        #[arg(default_value = "scenario")]
        file: settings::Schema,
    },
    /// Prints a shell's script that completes command lines, keys of --set included.
    Completions {
        /// The shell.
        shell: completions::Shell,
    },
    /// Fetches ns-3's source and builds everything in it; or builds one program and prints its path.
    Build {
        /// The program: a file, or its name without .cc, in this folder, in scratch/, or in that of the ns-3 tree.
        program: Option<PathBuf>,
    },
    /// Copies command, simulator and experiments into a folder, to run from anywhere, without this source tree.
    Install {
        /// The folder, which gets bin/hpcc and lib/hpcc. It may be moved as a whole.
        #[arg(long, value_name = "DIR")]
        prefix: PathBuf,
    },
    /// Lists what is installed and what is missing.
    ///
    /// Exit status: 0 if ./hpcc run has what it needs or can get it, 1 if not.
    Doctor,
}

/// The command with the process's own command line.
pub fn main() -> ExitCode {
    completions::answer::<Arguments>();
    // A file that may not grow (ulimit -f) is reported like a disk that is full.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    end(run(env::args_os()))
}

/// The exit status of a command; errors are printed.
pub fn end(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            human::warn(human::reason(&error));
            if error.is::<Failed>() { Outcome::Failed.into() } else { Outcome::BadInput.into() }
        }
    }
}

/// Executes a command line, whose first word is the program.
///
/// # Errors
/// With what was wrong; a command line that makes no sense has been answered on standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<Outcome> {
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => {
            human::be_quiet(arguments.quiet);
            simulator::choose(arguments.simulator);
            let simulates =
                matches!(arguments.command, Command::Run { .. } | Command::Sweep { .. } | Command::Reproduce(_));
            ensure!(simulates || arguments.control.is_empty(), "--control belongs to run, sweep and reproduce");
            control::choose(&arguments.control)?;
            execute(arguments.command)
        }
        Err(told) => tell(&told),
    }
}

/// A seed of the command line.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// Simulations at a time, and processes that share one, at most: more threads and processes than any machine has processors
/// only keep it from working.
pub const MOST_AT_A_TIME: u64 = 1_024;

/// A number of things of the command line: from 1 to `MOST`.
pub fn count<T: FromStr, const MOST: u64>(text: &str) -> Result<T, String> {
    let end = if MOST == u64::MAX { String::new() } else { format!(" to {MOST}") };
    let is_in_range = text.parse().is_ok_and(|count: u64| (1..=MOST).contains(&count));
    let counted = if is_in_range { text.parse().ok() } else { None };
    counted.ok_or_else(|| format!("expected a whole number from 1{end}"))
}

/// The command line that users may give.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Prints help, version, or the fault of the command line.
///
/// # Errors
/// If standard output cannot be written to.
pub fn tell(told: &clap::Error) -> anyhow::Result<Outcome> {
    if told.kind() == ErrorKind::DisplayVersion {
        return human::print(&version::text()).map(|()| Outcome::Good);
    }
    // What is wrong begins as all messages do.
    let text = told.render().to_string();
    if let Some(message) = text.strip_prefix("error: ") {
        human::warn(message.trim_end());
        return Ok(Outcome::BadInput);
    }
    match told.print().and_then(|()| io::stdout().flush()) {
        _ if told.use_stderr() => Ok(Outcome::BadInput),
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context(human::STANDARD_OUTPUT),
        _ => Ok(Outcome::Good),
    }
}

fn execute(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Run {
            config,
            topology,
            out,
            mut set,
            seed,
            ranks,
            threads,
            force,
            watch,
            check,
            failure_cost,
            drawing,
        } => {
            set.extend(topology.as_deref().map(run::of_topology));
            let sharing = run::Sharing::new(ranks, threads)?;
            let how = run::How { sharing, watch, check, failure_cost, drawing, force };
            run::run(&config, out, seed, &set, how)
        }
        Command::Sweep { file, out, set, how, elsewhere } => elsewhere.sweep(&file, out, &set, &how),
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Report(options) => report::report(&options),
        Command::Check(options) => check::check(&options),
        Command::Compare { a, b } => compare::compare(&a, &b),
        Command::Dissect(options) => dissect::dissect(&options).map(|()| Outcome::Good),
        Command::Trace { file, csv } => trace::trace(&file, csv).map(|()| Outcome::Good),
        Command::Explain { assumed: Some(file), set, .. } => {
            human::print(&settings::assumed(&file, &set)?).map(|()| Outcome::Good)
        }
        Command::Explain { key: Some(key), name: Some(name), .. } => {
            human::print(&settings::explain_named(&key, &name)?).map(|()| Outcome::Good)
        }
        Command::Explain { key, .. } => human::print(&settings::explain(key.as_deref())?).map(|()| Outcome::Good),
        Command::Topology(options) => describe::topology::topology(&options).map(|()| Outcome::Good),
        Command::Workload(options) => describe::workload::workload(&options).map(|()| Outcome::Good),
        Command::Generate(options) => generate::generate(&options).map(|()| Outcome::Good),
        Command::Import(options) => import::import(&options).map(|()| Outcome::Good),
        Command::Export(options) => export::export(&options).map(|()| Outcome::Good),
        Command::Schema { file } => human::print(&file.text()).map(|()| Outcome::Good),
        Command::Completions { shell } => completions::print(shell).map(|()| Outcome::Good),
        Command::Build { program } => {
            let place = ns3::Place::new()?;
            let built = program.map_or_else(|| place.everything(), |program| place.program(&program))?;
            human::print(&format!("{}\n", built.display())).map(|()| Outcome::Good)
        }
        Command::Install { prefix } => install::install(&prefix),
        Command::Doctor => ns3::doctor(),
    }
}
