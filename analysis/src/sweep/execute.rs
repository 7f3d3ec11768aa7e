// SPDX-License-Identifier: GPL-2.0-only
//! Runs of the simulator, several at a time, each with its words in a file.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use hpcc_formats::results::{INPUTS, wait_for_writer};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::file::SweepFile;
use super::inputs;
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

/// Simulates every run into its folder below `out`, at most `jobs` at a time (all processors by default). A run that is
/// there already, complete and from the same inputs, is kept unless all shall be `fresh`. The answers come in the order
/// of the runs.
///
/// # Errors
/// If no threads can be had, or the simulator cannot be read. What goes wrong with a run is in its answer.
pub fn execute(
    simulator: &Simulator,
    file: &SweepFile,
    out: &Path,
    runs: &[Run],
    jobs: Option<NonZeroUsize>,
    fresh: bool,
) -> Result<Vec<Ended>> {
    let pool = ThreadPoolBuilder::new().num_threads(jobs.map_or(0, NonZeroUsize::get)).build()?;
    let program = simulator.path();
    let program_hash = inputs::of_program(program).with_context(|| program.display().to_string())?;
    let job = Job { simulator, program_hash, file, out };
    let kept: Vec<Option<Results>> =
        runs.iter().map(|run| if fresh { None } else { job.earlier_results(run) }).collect();
    let count = kept.iter().flatten().count();
    if count > 0 {
        human::warn(format_args!("{count} of {} runs are kept from before; --fresh repeats them", runs.len()));
    }
    let progress = Progress::new(runs.len(), count);
    let one = |(run, kept): (&Run, Option<Results>)| {
        if let Some(results) = kept {
            return Ended { log: job.log(run), results: job.select(results) };
        }
        let name = run.folder.display().to_string();
        progress.begin(&name);
        let ended = Ended { log: job.log(run), results: job.simulate(run).and_then(|results| job.select(results)) };
        progress.end(&name, ended.results.is_ok());
        ended
    };
    let work: Vec<(&Run, Option<Results>)> = runs.iter().zip(kept).collect();
    // One at a time, so that no thread holds runs back that another one could start.
    let ended = pool.install(|| work.into_par_iter().with_max_len(1).map(one).collect());
    human::clear_step();
    Ok(ended)
}

/// What all runs have in common.
struct Job<'a> {
    simulator: &'a Simulator,
    program_hash: String,
    file: &'a SweepFile,
    out: &'a Path,
}

impl Job<'_> {
    fn folder(&self, run: &Run) -> PathBuf {
        self.out.join(&run.folder)
    }

    fn log(&self, run: &Run) -> PathBuf {
        let mut log = self.folder(run).into_os_string();
        log.push(".log");
        log.into()
    }

    /// What a run is made from: its file in the run's folder.
    fn inputs(&self, run: &Run) -> String {
        format!("inputs {}\nprogram {}\n", run.inputs, self.program_hash)
    }

    /// The results of an earlier sweep, if they are complete, undamaged, and what the run would give now.
    fn earlier_results(&self, run: &Run) -> Option<Results> {
        let folder = self.folder(run);
        let inputs = fs::read_to_string(folder.join(INPUTS)).ok()?;
        if inputs != self.inputs(run) {
            return None;
        }
        self.load(&folder).ok()
    }

    /// The sweep has locked its whole folder: the runs need no locks of their own.
    fn load(&self, folder: &Path) -> Result<Results> {
        Ok(Results { lock: None, ..Results::load(folder)? })
    }

    fn select(&self, mut results: Results) -> Result<Results> {
        self.file.selection.apply(&mut results)?;
        Ok(results)
    }

    fn simulate(&self, run: &Run) -> Result<Results> {
        let folder = self.folder(run);
        // A sweep that is killed leaves its simulators behind.
        wait_for_writer(&folder)?;
        let status = start(self.simulator, &self.file.base, &folder, &self.log(run), &run.overrides)?;
        let results = match status.code() {
            Some(0 | 3) => self.load(&folder)?,
            Some(2) => return Err(anyhow!("the simulator refused its input")),
            _ => return Err(anyhow!("{}", describe_crash(status))),
        };
        // Written last, and removed with the results that it belongs to: what it names is complete.
        let file = folder.join(INPUTS);
        fs::write(&file, self.inputs(run)).with_context(|| file.display().to_string())?;
        Ok(results)
    }
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
    /// Runs that need not be simulated.
    kept: usize,
    since: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Runs that were simulated.
    done: usize,
    running: Vec<String>,
}

impl Progress {
    fn new(total: usize, kept: usize) -> Progress {
        Progress { total, kept, since: Instant::now(), state: Mutex::default() }
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
            let left = self.time_left(&state);
            human::warn(format_args!("{name} {end}, {} of {} runs{left}", self.kept + state.done, self.total));
        }
        self.show(&state);
    }

    /// The runs that are left take as long as those that were simulated, on average.
    fn time_left(&self, state: &State) -> String {
        let left = self.total - self.kept - state.done;
        if state.done == 0 || left == 0 {
            return String::new();
        }
        let seconds = self.since.elapsed().as_secs_f64() * left as f64 / state.done as f64;
        format!(", {} left", rough_time(seconds))
    }

    fn show(&self, state: &State) {
        let done = self.kept + state.done;
        let line = format!(
            "{done} of {} runs done{}; running: {}",
            self.total,
            self.time_left(state),
            state.running.join(", ")
        );
        human::show_step(&line.chars().take(LINE_WIDTH).collect::<String>());
    }
}

/// A time as one says it.
fn rough_time(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5_999 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_rough() {
        let texts = [0.2, 99.0, 100.0, 5_999.0, 7_260.0].map(rough_time);
        assert_eq!(texts, ["1 s", "99 s", "2 min", "100 min", "2 h 1 min"]);
    }
}
