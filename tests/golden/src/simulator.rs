// SPDX-License-Identifier: GPL-2.0-only
//! The program under test.

use crate::case::{Case, Outputs};
use crate::error::GoldenError;
use crate::verdict::Verdict;
use hpcc_formats::results::Summary;
use hpcc_formats::results::packet_trace::TraceReader;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Names the ns-3 program that simulates scenarios.
pub const PROGRAM_VARIABLE: &str = "HPCC_SCENARIO_PROGRAM";

/// The program that simulates scenarios.
#[derive(Clone, Debug)]
pub struct Simulator {
    program: PathBuf,
}

/// A run, repeated by the program under test.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What differs.
    pub verdict: Verdict,
    /// What the program measured.
    pub summary: Summary,
}

impl Simulator {
    /// The program at this path.
    pub fn new(program: impl Into<PathBuf>) -> Simulator {
        Simulator { program: program.into() }
    }

    /// The program that [`PROGRAM_VARIABLE`] names.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn from_environment() -> Result<Simulator, GoldenError> {
        let program = env::var_os(PROGRAM_VARIABLE).filter(|program| !program.is_empty());
        program.map(Simulator::new).ok_or(GoldenError::NoProgram(PROGRAM_VARIABLE))
    }

    /// Runs a scenario from the working folder `from`.
    ///
    /// # Errors
    /// If the program cannot be started. How it ended is in the output.
    pub fn run(&self, from: &Path, config: &Path, out: &Path, set: &[&str]) -> Result<Output, GoldenError> {
        Command::new(&self.program)
            .arg(option("--config=", config))
            .arg(option("--out=", out))
            .args(set.iter().map(|pair| format!("--set={pair}")))
            .current_dir(from)
            .output()
            .map_err(GoldenError::io(&self.program))
    }

    /// Repeats a run of the reference and compares.
    ///
    /// # Errors
    /// If the program does not run to its end, or its results cannot be read.
    pub fn replay(&self, case: &Case) -> Result<Replay, GoldenError> {
        let folder = tempfile::tempdir().map_err(GoldenError::io(&env::temp_dir()))?;
        let config = case.unpack(folder.path())?;
        let out = folder.path().join("out");
        let output = self.run(folder.path(), &config, &out, &[])?;
        let unfinished = case.finished() < case.run.flows;
        if output.status.code() != Some(if unfinished { 3 } else { 0 }) {
            return Err(GoldenError::Program {
                run: case.run.to_string(),
                status: output.status,
                told: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        let summary_file = out.join("summary.json");
        let summary =
            Summary::read(&summary_file).map_err(|error| GoldenError::data(&summary_file, error.to_string()))?;
        let verdict = Verdict::of(&case.expected, &outputs(&out)?);
        Ok(Replay { verdict, summary })
    }
}

/// Reads what the program wrote.
fn outputs(out: &Path) -> Result<Outputs, GoldenError> {
    let read = |name: &str| {
        let path = out.join(name);
        fs::read_to_string(&path).map_err(GoldenError::io(&path))
    };
    Ok(Outputs {
        fct: read("fct.txt")?,
        pfc: read("pfc.txt")?,
        qlen: Some(read("qlen.txt")?),
        trace: trace(&out.join("packets.tr"))?,
    })
}

/// The packet trace as text, if there is one.
fn trace(path: &Path) -> Result<Option<String>, GoldenError> {
    if !path.exists() {
        return Ok(None);
    }
    let broken = |error: hpcc_formats::results::ResultError| GoldenError::data(path, error.to_string());
    let mut text = String::new();
    for record in TraceReader::open(path).map_err(broken)? {
        text += &format!("{}\n", record.map_err(broken)?);
    }
    Ok(Some(text))
}

fn option(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push(path);
    text
}
