// SPDX-License-Identifier: GPL-2.0-only
//! The stages of a test: each runs, whatever came of those before; what failed and what was skipped is told at the end.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::{env, fmt};

use anyhow::{Result, ensure};
use duct::Expression;
use hpcc_analysis::{Outcome, human};
use tempfile::NamedTempFile;

/// Names the file that collects what was skipped, one line each. Tests add to it.
const SKIPPED: &str = "HPCC_SKIPPED";

/// Failures so far, and skipped tests.
pub struct Stages {
    /// The part of a name by which stages are chosen.
    only: String,
    failed: Vec<String>,
    skipped: NamedTempFile,
}

impl Stages {
    /// Of all stages, those are taken whose names have this.
    pub fn new(only: &str) -> Result<Stages> {
        Ok(Stages { only: only.into(), failed: Vec::new(), skipped: NamedTempFile::new()? })
    }

    /// Takes a stage.
    pub fn take(&mut self, name: impl fmt::Display, stage: impl FnOnce(&Stages) -> Result<()>) {
        let name = name.to_string();
        if !name.contains(&self.only) {
            return;
        }
        human::note(format_args!("test: {name}"));
        if let Err(error) = stage(self) {
            human::warn(format_args!("{name}: {}", human::reason(&error)));
            self.failed.push(name);
        }
    }

    /// Notes what is not tested, and why.
    pub fn skip(&self, why: &str) -> Result<()> {
        human::note(format_args!("skipped: {why}"));
        Ok(writeln!(OpenOptions::new().append(true).open(self.skipped.path())?, "{why}")?)
    }

    /// Runs a command whose tests may say themselves that they are skipped.
    pub fn run(&self, command: Expression) -> Result<()> {
        self.watch(command, |_| false)
    }

    /// Runs a command that says by such lines of its output that tests are skipped.
    pub fn watch(&self, command: Expression, is_skipped: fn(&str) -> bool) -> Result<()> {
        let command = command.env(SKIPPED, self.skipped.path()).unchecked();
        let reader = command.stderr_to_stdout().reader()?;
        for line in BufReader::new(&reader).lines() {
            let line = line?;
            println!("{line}");
            if is_skipped(&line) {
                self.skip(line.trim())?;
            }
        }
        let status = reader.try_wait()?.map(|output| output.status);
        ensure!(status.is_some_and(|status| status.success()), "it fails");
        Ok(())
    }

    /// Says again what was skipped, and why, and what failed.
    pub fn end(mut self) -> Result<Outcome> {
        let skipped = fs::read_to_string(self.skipped.path())?;
        if !skipped.is_empty() {
            human::note("skipped:");
            skipped.lines().for_each(|line| human::note(format_args!("  {line}")));
            if is_strict() {
                self.failed.push("nothing may be skipped (HPCC_STRICT)".into());
            }
        }
        if self.failed.is_empty() {
            human::note("all tests passed");
            return Ok(Outcome::Good);
        }
        human::warn(format_args!("failed: {}", self.failed.join("; ")));
        Ok(Outcome::Failed)
    }
}

/// Whether a test that is skipped fails.
pub fn is_strict() -> bool {
    env::var("HPCC_STRICT").is_ok_and(|strict| !["", "0"].contains(&strict.as_str()))
}

/// A command line, words without spaces, that is executed in this folder. A program that is named by its path is found there, and is
/// called by that path, even if it is a link.
pub fn command(folder: &Path, line: &str) -> Expression {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    // A path of one name would mean a file of this folder, not a program of the PATH.
    let path = if program.contains('/') { folder.join(program).into_os_string() } else { program.into() };
    duct::cmd(path, words).dir(folder)
}
