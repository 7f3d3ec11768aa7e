// SPDX-License-Identifier: GPL-2.0-only
//! Runs of the simulator, several at a time, each with its words in a file.

use std::fs;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use hpcc_measures::results::Results;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::job::Job;
use super::run::Run;
use crate::human;

/// Lines of a log that are worth showing when a run failed.
const LOG_LINES: usize = 12;
/// Width of the line that shows the progress, on the narrowest of terminals.
const LINE_WIDTH: usize = 74;

/// How one run ended.
pub struct Ended {
    /// Where the simulator's words are.
    pub log: PathBuf,
    /// The results, or why there are none: what follows the run's name in a sentence.
    pub results: Result<Results>,
}

/// Simulates every run, at most `jobs` at a time (all processors by default). One that is complete already, from the same
/// inputs, is kept unless all shall be `fresh`. The answers come in the order of the runs.
///
/// # Errors
/// If no threads can be had. What goes wrong with a run is in its answer.
pub fn execute(job: &Job<'_>, runs: &[Run], jobs: Option<NonZeroUsize>, fresh: bool) -> Result<Vec<Ended>> {
    let threads = jobs.map_or(0, |jobs| jobs.get().min(runs.len().max(1)));
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    let kept: Vec<Option<Results>> =
        runs.iter().map(|run| if fresh { None } else { job.earlier_results(run) }).collect();
    let count = kept.iter().flatten().count();
    if count > 0 {
        human::note(format_args!("{count} of {} runs are kept from before; --fresh repeats them", runs.len()));
    }
    let progress = Progress::new(runs.len(), count);
    let one = |(run, kept): (&Run, Option<Results>)| {
        if let Some(results) = kept {
            return Ended { log: job.log(run), results: job.select(results) };
        }
        let name = run.folder.display().to_string();
        progress.begin(&name);
        let results = job.simulate(run).and_then(|_| job.selected(run)).context("failed");
        progress.end(&name, results.is_ok());
        Ended { log: job.log(run), results }
    };
    let work: Vec<(&Run, Option<Results>)> = runs.iter().zip(kept).collect();
    // One at a time, so that no thread holds runs back that another one could start.
    let ended = pool.install(|| work.into_par_iter().with_max_len(1).map(one).collect());
    human::clear_step();
    Ok(ended)
}

/// What there is of runs that others simulated, in the order of the runs.
pub fn collect(job: &Job<'_>, runs: &[Run]) -> Vec<Ended> {
    let one = |run: &Run| {
        let log = job.log(run);
        let results = match job.earlier_results(run) {
            Some(results) => job.select(results).context("failed"),
            None if log.exists() => Err(anyhow!("is missing: it failed, was ended, goes on, or had other inputs")),
            None => Err(anyhow!("is missing: it has not begun")),
        };
        Ended { log, results }
    };
    runs.iter().map(one).collect()
}

/// The end of a log, indented, as the end of a sentence; nothing if it says nothing.
pub fn end_of(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| format!("\n    {line}"));
    format!("; {} ends with{}", log.display(), last.collect::<String>())
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
        if !io::stderr().is_terminal() {
            let end = if good { "done" } else { "FAILED" };
            let left = self.time_left(&state);
            human::note(format_args!("{name} {end}, {} of {} runs{left}", self.kept + state.done, self.total));
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
