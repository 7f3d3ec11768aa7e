// SPDX-License-Identifier: GPL-2.0-only
//! A run with its files.

use super::archive::Files;
use super::run::Run;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// A run with its files.
#[derive(Clone, Debug)]
pub struct Case {
    /// Which one.
    pub run: Run,
    /// Text of config.txt, which names the inputs by the names that [`unpack`](Self::unpack) gives them.
    pub config: String,
    /// Text of the topology file.
    pub topology: String,
    /// Text of the flow file.
    pub flow: String,
    /// Text of the trace list.
    pub trace_list: String,
    /// The 2019 simulator's outputs.
    pub expected: Outputs,
}

/// Outputs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// fct.txt.
    pub fct: String,
    /// pfc.txt; empty if no device was paused.
    pub pfc: String,
    /// qlen.txt; `None` where it was not kept, or the queues were not watched.
    pub qlen: Option<String>,
    /// The packet trace as text; only of the tiny scenarios.
    pub trace: Option<String>,
}

impl Case {
    /// Picks a run's files; the error is the name of the file that is not there.
    pub fn new(run: &Run, files: &Files) -> Result<Case, String> {
        let optional = |name: &str| files.get(name).cloned();
        let required = |name: &str| optional(name).ok_or_else(|| name.to_owned());
        let output = |kind: &str| format!("{}.{kind}.txt", run.name);
        Ok(Case {
            run: run.clone(),
            config: required(&config_name(run))?,
            topology: required("topology.txt")?,
            flow: required("flow.txt")?,
            trace_list: required("trace.txt")?,
            expected: Outputs {
                fct: required(&output("fct"))?,
                pfc: optional(&output("pfc")).unwrap_or_default(),
                qlen: optional(&output("qlen")),
                trace: optional(&output("tr")),
            },
        })
    }

    /// Writes the inputs into a folder, from which the run can be started unchanged; returns the config's path.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn unpack(&self, folder: &Path) -> Result<PathBuf> {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| path.display().to_string()).map(|()| path)
        };
        write("topology.txt", &self.topology)?;
        write("flow.txt", &self.flow)?;
        write("trace.txt", &self.trace_list)?;
        write(&config_name(&self.run), &self.config)
    }

    /// Flows that complete before the end. The 2019 simulator leaves some unfinished, by rules of its own.
    pub fn finished(&self) -> u64 {
        self.expected.fct.lines().count() as u64
    }
}

fn config_name(run: &Run) -> String {
    format!("config_{}.txt", run.name)
}
