// SPDX-License-Identifier: GPL-2.0-only
//! Runs of the simulator, several at a time, each with its words in a file.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::plan::Run;
use crate::human;
use crate::results::Results;
use crate::simulator::{Simulator, describe_crash};

/// Lines of a log that are worth showing when a run failed.
const LOG_LINES: usize = 12;
/// Width of the line that shows the progress, on the narrowest of terminals.
const LINE_WIDTH: usize = 74;

/// How one run ended.
pub struct Ended {
    /// Where the simulator's words are.
    pub log: PathBuf,
    /// The results, or why there are none.
    pub results: Result<Results>,
}

/// Simulates every run into its folder below `out`, at most `jobs` at a time (all processors by default). The
/// answers come in the order of the runs.
///
/// # Errors
/// If no threads can be had. What goes wrong with a run is in its answer.
pub fn execute(
    simulator: &Simulator,
    base: &Path,
    out: &Path,
    runs: &[Run],
    jobs: Option<NonZeroUsize>,
) -> Result<Vec<Ended>> {
    let pool = ThreadPoolBuilder::new().num_threads(jobs.map_or(0, NonZeroUsize::get)).build()?;
    let progress = Progress::new(runs.len());
    let one = |run: &Run| {
        let name = run.folder.display().to_string();
        progress.begin(&name);
        let ended = simulate(simulator, base, out, run);
        progress.end(&name, ended.results.is_ok());
        ended
    };
    // One at a time, so that no thread holds runs back that another one could start.
    let ended = pool.install(|| runs.par_iter().with_max_len(1).map(one).collect());
    human::clear_step();
    Ok(ended)
}

fn simulate(simulator: &Simulator, base: &Path, out: &Path, run: &Run) -> Ended {
    let folder = out.join(&run.folder);
    let mut log = folder.clone().into_os_string();
    log.push(".log");
    let log = PathBuf::from(log);
    let results = start(simulator, base, &folder, &log, &run.overrides).and_then(|status| match status.code() {
        Some(0 | 3) => Results::load(&folder),
        Some(2) => Err(anyhow!("the simulator refused its input")),
        _ => Err(anyhow!("{}", describe_crash(status))),
    });
    Ended { log, results }
}

fn start(simulator: &Simulator, base: &Path, folder: &Path, log: &Path, overrides: &[String]) -> Result<ExitStatus> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    let words = File::create(log).with_context(|| log.display().to_string())?;
    let mut command = simulator.command(base, folder, overrides);
    command.stdout(words.try_clone()?).stderr(words);
    simulator.status(&mut command).with_context(|| format!("cannot start the simulator {}", simulator.path().display()))
}

/// The end of a log, indented.
pub fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..]
        .iter()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What all threads have got done: in place on a terminal, else a line for each run.
struct Progress {
    total: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: usize,
    running: Vec<String>,
}

impl Progress {
    fn new(total: usize) -> Progress {
        Progress { total, state: Mutex::default() }
    }

    fn begin(&self, name: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running.push(name.to_owned());
        self.show(&state);
    }

    fn end(&self, name: &str, good: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.running.retain(|running| running != name);
        if !io::stderr().is_terminal() && !human::is_quiet() {
            let end = if good { "done" } else { "FAILED" };
            human::warn(format_args!("{name} {end}, {} of {} runs", state.done, self.total));
        }
        self.show(&state);
    }

    fn show(&self, state: &State) {
        let line = format!("{} of {} runs done; running: {}", state.done, self.total, state.running.join(", "));
        human::show_step(&line.chars().take(LINE_WIDTH).collect::<String>());
    }
}
