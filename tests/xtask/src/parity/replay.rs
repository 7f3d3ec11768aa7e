// SPDX-License-Identifier: GPL-2.0-only
//! A run of the 2019 simulator, repeated by our simulator.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use hpcc_model::results::Summary;
use hpcc_model::results::packet_trace::TraceReader;

use super::case::{Case, Outputs};
use super::verdict::Verdict;
use hpcc_analysis::save;
use hpcc_analysis::simulator::Simulator;

/// The outcome of a repeated run.
#[derive(Clone, Debug)]
pub struct Replay {
    /// How the outputs compare.
    pub verdict: Verdict,
    /// The simulator's summary.
    pub summary: Summary,
}

impl Replay {
    /// Repeats a run of the 2019 simulator in a temporary folder and compares; with keys of a scenario that are set, the run as
    /// a scenario.
    ///
    /// # Errors
    /// If the simulator does not run to its end, or its results cannot be read.
    pub fn of(case: &Case, simulator: &Simulator, set: &[String]) -> Result<Replay> {
        let folder = save::temporary_folder()?;
        let mut config = case.unpack(folder.path())?;
        if !set.is_empty() {
            let (scenario, _) = hpcc_formats::reference::import(&config, &[], Path::to_owned)?;
            config = folder.path().join("scenario.toml");
            fs::write(&config, scenario).with_context(|| config.display().to_string())?;
        }
        let out = folder.path().join("out");
        let log = folder.path().join("stderr.log");
        let mut command = simulator.command(&config, &out, set);
        command
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(File::create(&log).with_context(|| log.display().to_string())?);
        let status = simulator.status(&mut command).with_context(|| simulator.path().display().to_string())?;
        let unfinished = case.finished() < case.run.flows;
        if status.code() != Some(if unfinished { 3 } else { 0 }) {
            let said = fs::read_to_string(&log).unwrap_or_default();
            bail!("{}: the simulator ended with {status}: {}", case.run, said.trim());
        }
        let summary = Summary::read(&out.join("summary.json"))?;
        let mut verdict = Verdict::of(&case.expected, &outputs(&out)?)?;
        if let Some(expected) = case.run.packet_hops {
            verdict.compare_hops(expected, summary.packet_hops);
        }
        Ok(Replay { verdict, summary })
    }
}

/// Reads what the simulator wrote.
fn outputs(out: &Path) -> Result<Outputs> {
    let read = |name: &str| {
        let path = out.join(name);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    Ok(Outputs {
        fct: read("fct.txt")?,
        pfc: read("pfc.txt")?,
        qlen: Some(read("qlen.txt")?),
        trace: trace(&out.join("packets.tr"))?,
    })
}

/// The packet trace as text, if there is one.
fn trace(path: &Path) -> Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let mut text = String::new();
    for record in TraceReader::open(path)? {
        text += &format!("{}\n", record?);
    }
    Ok(Some(text))
}
