// SPDX-License-Identifier: GPL-2.0-only
//! Sweeps whose runs are simulated on other machines. Each run is a command of its own, which writes into the sweep's
//! folder; that has to be on a file system that all of the machines share.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Args, ValueEnum};

use super::file::SweepFile;
use super::flow_table::{FlowTable, flow_table};
use super::folder::{self, SweepFolder};
use super::job::Job;
use super::keys::Form;
use super::plan::{self, plan, plan_one};
use super::run::Run;
use super::{How, Only, conclude, execute, slurm, sweep};
use crate::outcome::Outcome;
use crate::simulator;
use crate::{control, human, save};

/// What simulates the runs of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// This machine, now.
    #[default]
    Local,
    /// No machine: prints a command for each missing run, for any scheduler.
    Print,
    /// Slurm: submits the missing runs as a job array.
    Slurm,
}

/// Which machines simulate, and when.
#[derive(Args)]
pub struct Elsewhere {
    /// Only the runs of these variants, values of an axis (load=0.5) and seeds (seed=1), separated by commas. Table, plots, page and claims
    /// show these runs; other runs stay in the folder, and count again without --only.
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with_all = ["engine", "slurm", "collect", "run"])]
    only: Vec<String>,
    /// Where the runs are simulated.
    #[arg(long, value_enum, default_value_t, conflicts_with = "list")]
    engine: Engine,
    /// Options of sbatch with commas between them, such as partition=batch,time=02:00:00; if values have commas, with spaces.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    slurm: Option<String>,
    /// Simulates nothing: makes tables, plots and page from complete runs, and lists missing ones.
    #[arg(long, conflicts_with_all = ["engine", "slurm", "jobs", "fresh", "list"])]
    collect: bool,
    /// Simulates only the run in this line of --list, from 1, for a sweep that --engine print or slurm began.
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::count::<usize, { u64::MAX }>, conflicts_with_all = ["engine", "slurm", "collect", "jobs", "list", "style", "pdf", "png", "data"])]
    run: Option<usize>,
    /// Also puts all flows of all runs into one table, a row each: CSV.
    #[arg(long, value_name = "FILE", value_parser = flow_table, conflicts_with_all = ["list", "run"])]
    table: Option<FlowTable>,
}

impl Elsewhere {
    /// Runs a sweep, or what there is to do of it here.
    ///
    /// # Errors
    /// As [`sweep`]; or if Slurm is not there.
    pub fn sweep(&self, file: &Path, out: Option<PathBuf>, set: &[String], how: &How) -> Result<Outcome> {
        ensure!(
            self.slurm.is_none() || self.engine == Engine::Slurm,
            "--slurm: the options of sbatch are for --engine slurm"
        );
        if self.engine == Engine::Local && !self.collect && self.run.is_none() {
            return sweep(file, out, set, how, &Only::new(&self.only), self.table.as_ref());
        }
        ensure!(
            self.table.is_none() || self.collect,
            "--table: runs are yet to be simulated; expected it with --collect"
        );
        let out = out.map_or_else(|| save::default_out(file), Ok)?;
        let sweep = Sweep { file: SweepFile::read(file, how.form())?, path: file, out, set, how };
        match (self.run, self.collect, self.engine) {
            (Some(number), ..) => sweep.simulate_one(number),
            (None, true, _) => sweep.collect(self.table.as_ref()),
            (None, false, Engine::Slurm) => sweep.submit(&slurm::options(self.slurm.as_deref().unwrap_or_default())?),
            (None, false, Engine::Print | Engine::Local) => sweep.print(),
        }
    }
}

/// A sweep and what the command line says of it.
struct Sweep<'a> {
    file: SweepFile,
    path: &'a Path,
    out: PathBuf,
    set: &'a [String],
    how: &'a How,
}

/// A run that is missing, and its number from 1.
type Missing<'a> = (usize, &'a Run);

impl Sweep<'_> {
    /// Simulates the run of this number, unless it is complete.
    fn simulate_one(&self, number: usize) -> Result<Outcome> {
        let run = plan_one(&self.file, self.set, number)?;
        folder::expect_sweep(&self.out)?;
        let job = Job::new(&self.file, &self.out, std::slice::from_ref(&run))?;
        let earlier = if self.how.fresh { None } else { job.earlier(&run) };
        let name = run.folder.display();
        let summary = match earlier.map_or_else(|| job.simulate(&run), Ok) {
            Ok(summary) => summary,
            Err(error) => {
                human::warn(format_args!(
                    "{name} failed: {}{}",
                    human::reason(&error),
                    execute::end_of(&job.log(&run))
                ));
                return Ok(Outcome::Failed);
            }
        };
        human::tell(&format!("{name}: {} of {} flows finished\n", summary.flows_finished, summary.flows_total))?;
        Ok(if summary.flows_finished < summary.flows_total { Outcome::Unfinished } else { Outcome::Good })
    }

    fn collect(&self, table: Option<&FlowTable>) -> Result<Outcome> {
        let runs = plan(&self.file, self.set)?;
        table.map_or(Ok(()), |table| table.check())?;
        folder::expect_sweep(&self.out)?;
        self.how.drawing.prepare()?;
        let job = Job::new(&self.file, &self.out, &runs)?;
        let folder = SweepFolder::create(&self.out, &self.file.axes)?;
        let mut ended = execute::collect(&job, &runs);
        for (number, run) in (1..).zip(&mut ended).filter(|(_, run)| run.results.is_err()) {
            if let Some(asked) = slurm::ran_out_of_memory(&self.out, number) {
                run.results = Err(anyhow!("is missing: {}", out_of_memory(asked)));
            }
        }
        let missing = || ended.iter().filter(|ended| ended.results.is_err());
        let begun = missing().filter(|ended| ended.log.exists()).count();
        let not_begun = missing().count() - begun;
        let outcome = conclude(&self.file, self.how.drawing, &folder, &runs, ended, table);
        if begun + not_begun > 0 {
            let at_work = match slurm::at_work(&self.out) {
                Ok(jobs) => jobs.map_or_else(String::new, |jobs| format!("; Slurm has yet to end {jobs}")),
                Err(why) => format!("; {}", human::reason(&why)),
            };
            let kinds = [(not_begun, "have not begun"), (begun, "failed, were ended, or go on")];
            let kinds = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
            let of_all = format!("of {} runs, {}", runs.len(), kinds.collect::<Vec<_>>().join(", and "));
            human::warn(format_args!("{of_all}{at_work}; sweep with an --engine does these"));
        }
        Ok(outcome)
    }

    fn print(&self) -> Result<Outcome> {
        ensure!(self.how.jobs.is_none(), "--jobs: who executes the commands decides how many at a time");
        let runs = plan(&self.file, self.set)?;
        let job = Job::new(&self.file, &self.out, &runs)?;
        let Some(missing) = self.missing(&runs, &job)? else { return Ok(Outcome::Good) };
        let _folder = self.begin(&missing, &job)?;
        let command = self.command(&job)?;
        let place = words(&[OsStr::new("cd"), env::current_dir().context("the working folder")?.as_os_str()]);
        let lines = missing.iter().map(|(number, _)| format!("{place} && {command} --run {number}\n"));
        human::print(&lines.collect::<String>())?;
        Ok(Outcome::Good)
    }

    fn submit(&self, options: &[String]) -> Result<Outcome> {
        let scheduler = slurm::Scheduler::find()?;
        let runs = plan(&self.file, self.set)?;
        let job = Job::new(&self.file, &self.out, &runs)?;
        if let Some(jobs) = slurm::at_work(&self.out).with_context(|| self.out.display().to_string())? {
            bail!("{}: Slurm has yet to end {jobs}; wait for them, or scancel them first", self.out.display());
        }
        let Some(missing) = self.missing(&runs, &job)? else { return Ok(Outcome::Good) };
        let array = slurm::Array {
            out: &absolute(&self.out)?,
            runs: &missing.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
            at_a_time: self.how.jobs,
            memory: self.memory(&missing)?,
            command: &self.command(&job)?,
            options,
        };
        scheduler.check(&array)?;
        let _folder = self.begin(&missing, &job)?;
        scheduler.submit(&array)
    }

    /// The runs that are not complete; `None` if there are none, which is said.
    fn missing<'a>(&self, runs: &'a [Run], job: &Job<'_>) -> Result<Option<Vec<Missing<'a>>>> {
        let is_missing = |(_, run): &Missing<'_>| self.how.fresh || job.earlier(run).is_none();
        let missing: Vec<Missing<'a>> = (1..).zip(runs).filter(is_missing).collect();
        if missing.is_empty() {
            human::note(format_args!(
                "all {} are complete; --collect compares them",
                human::counted(runs.len() as u64, "run")
            ));
            return Ok(None);
        }
        Ok(Some(missing))
    }

    /// The folder, ready for these runs.
    fn begin(&self, missing: &[Missing<'_>], job: &Job<'_>) -> Result<SweepFolder> {
        let folder = SweepFolder::create(&self.out, &self.file.axes)?;
        missing.iter().try_for_each(|(_, run)| job.forget(run))?;
        Ok(folder)
    }

    /// What a run is to ask for, in bytes: twice as much as last time where that was too little.
    fn memory(&self, missing: &[Missing<'_>]) -> Result<u64> {
        let mut most = 0;
        for (number, run) in missing {
            let estimate = hpcc_model::check::memory::estimate(&plan::scenario(&self.file, &run.overrides)?)?;
            let before = slurm::ran_out_of_memory(&self.out, *number).unwrap_or(0);
            most = most.max(slurm::memory(estimate)).max((2 * before) << 20);
        }
        Ok(most)
    }

    /// The command line that simulates a run, without the run's number, to be executed in this folder.
    fn command(&self, job: &Job<'_>) -> Result<String> {
        let program = env::current_exe().context("the program hpcc has no path")?;
        let mut assignment = OsString::from(simulator::PROGRAM_VARIABLE);
        let mut command: Vec<&OsStr> = Vec::new();
        if let Some(in_ns3) = job.in_ns3() {
            assignment.push("=");
            assignment.push(absolute(in_ns3)?);
            command.extend([OsStr::new("env"), &assignment]);
        }
        command.extend([program.as_os_str(), OsStr::new("sweep")]);
        command.extend([self.path.as_os_str(), OsStr::new("--out"), self.out.as_os_str()]);
        command.extend(simulator::chosen().iter().flat_map(|kind| ["--simulator", kind.word()].map(OsStr::new)));
        command.extend(self.set.iter().flat_map(|pair| [OsStr::new("--set"), OsStr::new(pair)]));
        command.extend(control::files().flat_map(|file| [OsStr::new("--control"), file.as_os_str()]));
        if self.how.form() == Form::Quick {
            command.push(OsStr::new("--quick"));
        }
        let text = words(&command);
        ensure!(!text.contains('\n'), "a file, a folder or --set has the end of a line in it: no command can have");
        Ok(text)
    }
}

/// What happened to a run whose task has asked for so many MiB.
fn out_of_memory(asked: u64) -> String {
    match asked {
        0 => "Slurm ended it for lack of memory; expected more than --slurm has asked for".into(),
        asked => {
            let asked = human::bytes(asked << 20);
            format!("Slurm ended it for lack of memory, {asked}; --engine slurm asks for twice as much")
        }
    }
}

/// Words of a shell.
fn words(words: &[&OsStr]) -> String {
    words.iter().map(|word| human::word(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_words_as_they_are() {
        let text = words(&["a/b-c.toml", "", "it's $HOME", "x=[1, 2]"].map(OsStr::new));
        assert_eq!(text, r"a/b-c.toml '' 'it'\''s $HOME' 'x=[1, 2]'");
        let shell = std::process::Command::new("sh").args(["-c", &format!("printf '%s|' {text}")]).output();
        assert_eq!(shell.expect("a shell").stdout, b"a/b-c.toml||it's $HOME|x=[1, 2]|");
    }
}
