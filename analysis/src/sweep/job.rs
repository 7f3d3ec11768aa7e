// SPDX-License-Identifier: GPL-2.0-only
//! One run of a sweep: where it goes, whether it is there already, and its simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::{Context, Result, bail, ensure};
use hpcc_measures::results::{self, Results};
use hpcc_model::memory;
use hpcc_model::results::{INPUTS, Summary, wait_for_writer};

use super::file::SweepFile;
use super::run::Run;
use super::{plan, program};
use crate::simulator::{Kind, Simulator, describe_crash};
use crate::{control, human};

/// The common parts of a sweep's runs.
pub struct Job<'a> {
    programs: BTreeMap<Kind, Program>,
    file: &'a SweepFile,
    out: &'a Path,
}

/// A simulator, and its hash as it was when the runs were planned.
#[derive(Debug)]
struct Program {
    simulator: Simulator,
    hash: String,
}

impl Program {
    fn find(kind: Kind) -> Result<Program> {
        let simulator = Simulator::find(kind)?;
        let hash = hash(&simulator, kind).with_context(|| simulator.path().display().to_string())?;
        Ok(Program { simulator, hash })
    }
}

fn hash(simulator: &Simulator, kind: Kind) -> io::Result<String> {
    let hash = program::hash(simulator.path(), if kind == Kind::Ns3 { control::libraries() } else { &[] })?;
    // The engine's program has both, whose results are not the same.
    Ok(if kind == Kind::Fluid { hash + "-fluid" } else { hash })
}

impl<'a> Job<'a> {
    /// These runs go into folders below `out`.
    ///
    /// # Errors
    /// If a simulator that they need cannot be had or read.
    pub fn new(file: &'a SweepFile, out: &'a Path, runs: &[Run]) -> Result<Job<'a>> {
        let kinds: BTreeSet<Kind> = runs.iter().map(|run| run.simulator).collect();
        let programs = kinds.into_iter().map(|kind| Program::find(kind).map(|program| (kind, program)));
        Ok(Job { programs: programs.collect::<Result<_>>()?, file, out })
    }

    /// Where ns-3's simulator is, if runs need it.
    pub fn in_ns3(&self) -> Option<&Path> {
        self.programs.get(&Kind::Ns3).map(|program| program.simulator.path())
    }

    fn program(&self, run: &Run) -> Result<&Program> {
        self.programs.get(&run.simulator).context("no simulator was looked for")
    }

    /// Where the simulator's words are.
    pub fn log(&self, run: &Run) -> PathBuf {
        self.beside(run, "log")
    }

    /// A file beside the folder of a run.
    fn beside(&self, run: &Run, ending: &str) -> PathBuf {
        let mut file = self.folder(run).into_os_string();
        file.push(format!(".{ending}"));
        file.into()
    }

    /// Earlier results of a run, if they are complete, undamaged, and of the same inputs and program.
    pub fn earlier(&self, run: &Run) -> Option<Summary> {
        let folder = self.folder(run);
        self.is_of_same_inputs(run).then(|| results::check(&folder).ok())?
    }

    /// As [`earlier`](Self::earlier), with its flows.
    pub fn earlier_results(&self, run: &Run) -> Option<Results> {
        self.is_of_same_inputs(run).then(|| self.load(run).ok())?
    }

    /// Takes care that a run is not found complete any more.
    ///
    /// # Errors
    /// Those of the system.
    pub fn forget(&self, run: &Run) -> Result<()> {
        let file = self.folder(run).join(INPUTS);
        if file.exists() {
            fs::remove_file(&file).with_context(|| file.display().to_string())?;
        }
        Ok(())
    }

    /// Simulates a run. It is found complete from then on.
    ///
    /// # Errors
    /// If the simulation fails, which the log says, too, or what it wrote cannot be read.
    pub fn simulate(&self, run: &Run) -> Result<Summary> {
        let simulated = self.try_simulate(run);
        if let Err(error) = &simulated {
            let log = OpenOptions::new().append(true).open(self.log(run));
            // Who sees the error needs no log.
            let _ = log.and_then(|mut log| writeln!(log, "hpcc: {}", human::reason(error)));
        }
        simulated
    }

    fn try_simulate(&self, run: &Run) -> Result<Summary> {
        let folder = self.folder(run);
        // Another sweep that was killed may have left its simulator behind, where the system does not end it.
        wait_for_writer(&folder)?;
        let status = self.start(run, &folder)?;
        match status.code() {
            Some(0 | 3) => {}
            Some(2) => bail!("the simulator refused its input"),
            _ => bail!("{}", describe_crash(status, &folder)),
        }
        let summary = results::check(&folder)?;
        self.check_unchanged(run)?;
        // Written last, and removed with its results: what it names is complete. It is made beside the folder and moved
        // into it, so that a sweep that is killed leaves no part of it there.
        let draft = self.beside(run, "inputs");
        fs::write(&draft, self.inputs(run)?).with_context(|| draft.display().to_string())?;
        fs::rename(&draft, folder.join(INPUTS)).with_context(|| draft.display().to_string())?;
        Ok(summary)
    }

    /// Refuses results of files, or of a program, that were changed after the run was planned: nobody knows which of the two
    /// made them.
    fn check_unchanged(&self, run: &Run) -> Result<()> {
        let is_as_planned = match plan::scenario(self.file, &run.overrides).and_then(|scenario| scenario.digest()) {
            Ok(now) => now == run.inputs,
            // Other runs may have the memory that there was for it.
            Err(error) => error.message.contains(memory::VARIABLE),
        };
        let base = self.file.base.display();
        ensure!(is_as_planned, "{base}, or a file that it names, was changed meanwhile: start the sweep again");
        let program = self.program(run)?;
        ensure!(
            hash(&program.simulator, run.simulator).is_ok_and(|now| now == program.hash),
            "the simulator {} was changed meanwhile: start the sweep again",
            program.simulator.path().display()
        );
        Ok(())
    }

    fn start(&self, run: &Run, folder: &Path) -> Result<ExitStatus> {
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        let log = self.log(run);
        let words = File::create(&log).with_context(|| log.display().to_string())?;
        let simulator = &self.program(run)?.simulator;
        let mut command = simulator.command(&self.file.base, folder, &run.overrides);
        command.stdout(words.try_clone()?).stderr(words);
        let named = || format!("cannot start the simulator {}", simulator.path().display());
        simulator.status(&mut command).with_context(named)
    }

    /// The results of a complete run, as far as the sweep file selects them.
    ///
    /// # Errors
    /// If they are damaged, or nothing is selected.
    pub fn selected(&self, run: &Run) -> Result<Results> {
        self.load(run).and_then(|results| self.select(results))
    }

    /// Reduces results to the selection of the sweep file.
    ///
    /// # Errors
    /// If that is nothing.
    pub fn select(&self, mut results: Results) -> Result<Results> {
        self.file.selection.apply(&mut results)?;
        Ok(results)
    }

    fn folder(&self, run: &Run) -> PathBuf {
        self.out.join(&run.folder)
    }

    /// The file of a run's inputs, in the run's folder.
    fn inputs(&self, run: &Run) -> Result<String> {
        Ok(format!("inputs {}\nprogram {}\n", run.inputs, self.program(run)?.hash))
    }

    fn is_of_same_inputs(&self, run: &Run) -> bool {
        let there = fs::read_to_string(self.folder(run).join(INPUTS));
        there.is_ok_and(|there| self.inputs(run).is_ok_and(|inputs| inputs == there))
    }

    /// The sweep has locked its whole folder, and a complete run is not replaced: the runs need no locks of their own.
    fn load(&self, run: &Run) -> Result<Results> {
        let mut results = Results::load(&self.folder(run))?;
        results.lock = None;
        Ok(results)
    }
}
