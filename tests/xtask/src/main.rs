// SPDX-License-Identifier: GPL-2.0-only
//! What people who work on hpcc run, by `./hpcc NAME` or `cargo xtask NAME`.

mod bench;
mod build;
mod chores;
mod first_run;
mod parity;
mod relations;
mod shown;
mod stages;
mod tables;
mod test;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hpcc_analysis::script::source_tree;
use hpcc_analysis::{MOST_AT_A_TIME, Outcome, count, simulator};

/// Tests, compares, measures and packs hpcc.
#[derive(Parser)]
#[command(name = "hpcc", bin_name = "./hpcc", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Silences progress and notes.
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Builds everything and runs all tests.
    Test(test::Options),
    /// Repeats the runs of the 2019 simulator that we hold and compares, to the nanosecond.
    ///
    /// Exit status: 0 all exact, 1 differences, 2 bad input.
    Parity {
        /// Only runs whose name (SCENARIO/RUN) contains this.
        #[arg(default_value = "", hide_default_value = true)]
        filter: String,
        #[command(flatten)]
        data: parity::Data,
        /// What simulates [default: core].
        #[arg(long, value_enum)]
        simulator: Option<simulator::Kind>,
        /// Overrides a key of the scenario that the run is as TOML, such as run.skip=exact; may be repeated.
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Simulations at a time; only with 1 do processor times mean something.
        #[arg(long, default_value = "1", value_name = "N", allow_hyphen_values = true, value_parser = count::<NonZeroUsize, MOST_AT_A_TIME>)]
        jobs: NonZeroUsize,
    },
    /// Measures what whole runs cost.
    Bench(bench::Options),
    /// Rewrites the scenario with every key, the claims of figures, and the JSON schemas.
    ///
    /// Exit status: 0, or 1 if --check finds something.
    Docs {
        #[command(flatten)]
        shown: shown::Options,
        /// Also makes pages of all documentation and all keys, by sphinx and doxygen, in target/pages; a warning is an error.
        #[arg(long)]
        html: bool,
    },
    /// Lists the requirements of the drafts, and the tests of each that is claimed.
    Reqs,
    /// Draws random scenarios over all features, and checks what has to hold between their runs, whatever the right numbers are: threads,
    /// observers and the order of a file change nothing, a shift of times shifts results, bytes and marks add up, and so on.
    ///
    /// Each scenario that breaks a relation is made small and written with the commands that show it. Exit status: 0 all hold, 1 some do
    /// not, 2 bad input.
    Relations(relations::Options),
    /// Feeds random bytes to parsers and controllers, random files to readers, random scenarios to the simulator (fuzzing).
    Fuzz {
        /// For each target.
        #[arg(default_value = "60", allow_negative_numbers = true, value_parser = count::<u32, MOST_SECONDS>)]
        seconds: u32,
        /// Only this one: a target of hpcc-core/fuzz or tests/fuzz, or scenarios.
        target: Option<String>,
    },
    /// Checks the crates that this is made from with cargo-deny: licences, sources, versions, known faults.
    Audit,
    /// Packs the last commit and all crates that it needs into hpcc-VERSION.tar.gz, for contrib/ of an ns-3 tree without a network.
    Dist {
        /// Folder for the archive.
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Also builds and tests what is in it, offline, in a copy of the ns-3 tree: some minutes.
        #[arg(long)]
        check: bool,
    },
}

/// Fuzzing takes a week at most.
const MOST_SECONDS: u64 = 604_800;

fn main() -> ExitCode {
    hpcc_analysis::end(execute())
}

fn execute() -> Result<Outcome> {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(told) => return hpcc_analysis::tell(&told),
    };
    hpcc_analysis::human::be_quiet(arguments.quiet);
    let done = |()| Outcome::Good;
    match arguments.command {
        Command::Test(options) => options.run(),
        Command::Parity { filter, data, simulator, set, jobs } => {
            simulator::choose(simulator);
            parity::parity(&filter, &data, &set, jobs)
        }
        Command::Bench(options) if options.micro => chores::measure_core().map(done),
        Command::Bench(options) if options.first => first_run::measure().map(done),
        Command::Bench(options) => options.run(),
        Command::Docs { shown, html } => {
            let tree = source_tree()?;
            let outcome = match shown.repeat(&tree)? {
                Some(outcome) => outcome,
                None => tables::rewrite(&tree).map(done)?,
            };
            if html { chores::make_pages() } else { Ok(()) }.map(|()| outcome)
        }
        Command::Reqs => chores::list_requirements().map(done),
        Command::Relations(options) => options.run(),
        Command::Fuzz { seconds, target } => chores::fuzz(seconds, target.as_deref()).map(done),
        Command::Audit => chores::audit().map(done),
        Command::Dist { out, check } => chores::pack(&out, check.then_some("all")).map(done),
    }
}
