// SPDX-License-Identifier: GPL-2.0-only
//! A folder with an experiment in it, and the `hpcc` command to try on it.

use crate::programs::{engine, hpcc, simulator, xtask};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A temporary folder with the files of one experiment.
///
/// Methods panic, with the name of the file, where a test could not go on.
#[derive(Debug)]
pub struct Bench {
    folder: TempDir,
}

/// How a command ended and what it said.
#[derive(Clone, Debug)]
pub struct ProcessOutput {
    /// Exit status; `None` if a signal ended the command.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Bench {
    /// A folder with these files.
    pub fn new(files: &[(&str, &str)]) -> Bench {
        let bench = Bench { folder: tempfile::tempdir().expect("temporary folder") };
        for (name, text) in files {
            bench.write(name, text);
        }
        bench
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// A file's text.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Replaces the one occurrence of `from` in a file.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(from).count(), 1, "\"{from}\" in {name}");
        self.write(name, &text.replace(from, to));
    }

    /// Cuts a file off behind the one occurrence of `last`.
    pub fn truncate(&self, name: &str, last: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(last).count(), 1, "\"{last}\" in {name}");
        let end = text.find(last).expect("counted") + last.len();
        self.write(name, &text[..end]);
    }

    /// `hpcc run CONFIG --out out` in this folder, with a `--set` for each pair.
    pub fn run(&self, config: &str, set: &[&str]) -> ProcessOutput {
        self.run_to("out", config, set)
    }

    /// `hpcc run CONFIG --out OUT` in this folder; results that are there are replaced.
    pub fn run_to(&self, out: &str, config: &str, set: &[&str]) -> ProcessOutput {
        let mut command = hpcc();
        command.args(["run", config, "--out", out, "--force"]);
        for pair in set {
            command.args(["--set", pair]);
        }
        self.output_of(&mut command)
    }

    /// The simulator itself in this folder, which may take 2 GB, and is ended after so many seconds of processor time.
    pub fn simulate(&self, config: &str, set: &[String], seconds: &str) -> ProcessOutput {
        self.simulate_to("out", config, set, seconds)
    }

    /// Runs a scenario without ns-3.
    pub fn simulate_core(&self, config: &str, set: &[String], seconds: &str) -> ProcessOutput {
        self.simulate_by(engine().as_os_str(), "out", config, set, seconds)
    }

    /// Runs the simulator with another folder for the results.
    pub fn simulate_to(&self, out: &str, config: &str, set: &[String], seconds: &str) -> ProcessOutput {
        self.simulate_by(&simulator(), out, config, set, seconds)
    }

    /// Runs a scenario without ns-3, with the results in the folder `core`, and compares all of them with those in `out`, byte by
    /// byte. Says what differs.
    ///
    /// # Errors
    /// That.
    pub fn core_agrees(&self, config: &str, set: &[String], seconds: &str) -> Result<(), String> {
        for threads in ["--threads=1", "--threads=2"] {
            let output = self.simulate_by(engine().as_os_str(), threads, config, set, seconds);
            if threads != "--threads=1"
                && output.code == Some(2)
                && ["shared", "parts", "threads"].iter().any(|word| output.err.contains(word))
            {
                // Its order of events, or its links, do not let it be divided.
                return Ok(());
            }
            if !matches!(output.code, Some(0 | 3)) {
                return Err(format!("without ns-3, {threads}, it ends with {:?}: {}", output.code, output.err));
            }
            let names =
                fs::read_dir(self.path("out")).expect("results").map(|entry| entry.expect("a file").file_name());
            for name in names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name != "summary.json") {
                let read = |folder: &str| fs::read(self.path(folder).join(&name)).ok();
                if read("out") != read(threads) {
                    return Err(format!("{name} differs without ns-3, {threads}"));
                }
            }
        }
        Ok(())
    }

    fn simulate_by(&self, program: &OsStr, out: &str, config: &str, set: &[String], seconds: &str) -> ProcessOutput {
        let mut command = Command::new("prlimit");
        command.arg(format!("--cpu={seconds}")).arg("--core=0").arg(program);
        command.args([format!("--config={config}"), format!("--out={out}")]);
        command.args(Some(out).filter(|out| out.starts_with("--threads")));
        command.args(set.iter().map(|pair| format!("--set={pair}"))).env("HPCC_MEMORY", "2GB");
        self.output_of(&mut command)
    }

    /// Any `hpcc` command in this folder.
    pub fn hpcc(&self, arguments: &[&str]) -> ProcessOutput {
        self.output_of(hpcc().args(arguments))
    }

    /// A command for those who work on hpcc, in this folder.
    pub fn xtask(&self, arguments: &[&str]) -> ProcessOutput {
        self.output_of(xtask().args(arguments))
    }

    fn output_of(&self, command: &mut Command) -> ProcessOutput {
        let output = command.current_dir(self.folder.path()).output().expect("the hpcc command starts");
        ProcessOutput::from(output)
    }
}

impl From<Output> for ProcessOutput {
    fn from(output: Output) -> ProcessOutput {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        ProcessOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Whether a folder could be taken for the results of a run.
pub fn is_complete(out: &Path) -> bool {
    out.join("summary.json").exists() || out.join("fct.txt").exists()
}
