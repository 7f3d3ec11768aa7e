// SPDX-License-Identifier: GPL-2.0-only
//! Runs of a sweep as job arrays of Slurm, by its commands sbatch and squeue.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::human;
use crate::outcome::Outcome;

/// The file in the sweep's folder that has the numbers of the jobs that were submitted last, a line each.
const JOBS: &str = "slurm.jobs";
/// Numbers of tasks in an array are below this: below Slurm's `MaxArraySize`, as it is unless a site sets another one.
const ARRAY: usize = 1000;
/// The options for a task's memory.
const MEMORY: [&str; 3] = ["mem", "mem-per-cpu", "mem-per-gpu"];

/// Options of sbatch from one line: `partition=batch,time=02:00:00`, or with spaces where values have commas.
///
/// # Errors
/// If one is none.
pub fn options(line: &str) -> Result<Vec<String>> {
    let separator = if line.contains(' ') { ' ' } else { ',' };
    let parts = line.split(separator).filter(|part| !part.is_empty());
    parts.map(option).collect()
}

fn option(text: &str) -> Result<String> {
    let name = name(text);
    if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        bail!("--slurm: \"{text}\" is no option of sbatch; expected such as partition=batch,time=02:00:00");
    }
    Ok(format!("--{text}"))
}

/// An option's name, of one with or without a value.
fn name(text: &str) -> &str {
    text.split('=').next().unwrap_or_default()
}

/// Jobs of the sweep in this folder that wait or run, in words; `None` if Slurm knows of none.
pub fn at_work(out: &Path) -> Option<String> {
    let list = fs::read_to_string(out.join(JOBS)).ok()?;
    let jobs: Vec<&str> = list.lines().collect();
    // Of a job that ended long ago Slurm knows nothing, and says so in place of an answer.
    let tasks: usize = jobs.iter().map(|job| tasks_at_work(job)).sum();
    let jobs = jobs.join(", ");
    (tasks > 0).then(|| format!("{} of job {jobs}", human::counted(tasks as u64, "task")))
}

fn tasks_at_work(job: &str) -> usize {
    let states = "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING";
    let command = Command::new("squeue").args(["--noheader", "--array", "--format=%i", states, "--jobs", job]).output();
    command.map_or(0, |output| String::from_utf8_lossy(&output.stdout).lines().count())
}

/// The commands of Slurm.
pub struct Scheduler(());

/// Runs to submit.
pub struct Array<'a> {
    /// The sweep's folder.
    pub out: &'a Path,
    /// Numbers of the runs, ascending, from 1.
    pub runs: &'a [usize],
    /// How many may run at a time; `None`: as many as Slurm likes.
    pub at_a_time: Option<NonZeroUsize>,
    /// Memory of each task in bytes, unless the options say it.
    pub memory: u64,
    /// The command line of a run, without the run's number.
    pub command: &'a str,
    /// Options of the user, as sbatch has them.
    pub options: &'a [String],
}

impl Scheduler {
    /// The scheduler of this machine.
    ///
    /// # Errors
    /// If there is none.
    pub fn find() -> Result<Scheduler> {
        match Command::new("sbatch").arg("--version").output() {
            Ok(_) => Ok(Scheduler(())),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                bail!(
                    "there is no sbatch on the PATH: is this a machine of a Slurm cluster? --engine print is for others"
                )
            }
            Err(cause) => Err(cause).context("sbatch cannot be started"),
        }
    }

    /// Submits an array, or several if numbers are too high for one, and says so.
    ///
    /// # Errors
    /// Those of the system. If Slurm refuses, its words are shown.
    pub fn submit(&self, array: &Array<'_>) -> Result<Outcome> {
        let mut jobs = String::new();
        for part in array.runs.chunk_by(|a, b| a / ARRAY == b / ARRAY) {
            let Some(job) = self.submit_part(array, part)? else { return Ok(Outcome::Failed) };
            jobs += &format!("{job}\n");
            // After each, so that none is forgotten if a later one is refused.
            let file = array.out.join(JOBS);
            fs::write(&file, &jobs).with_context(|| file.display().to_string())?;
            let runs = human::counted(part.len() as u64, "run");
            let memory = array.asks_for_memory().then(|| format!(" with {} each", human::bytes(array.memory)));
            human::print(&format!("{runs} submitted as job {job}{}\n", memory.unwrap_or_default()))?;
        }
        human::tell("squeue shows what they do, ./hpcc sweep with --collect what is complete\n")?;
        Ok(Outcome::Good)
    }

    /// The number of the job, or nothing if it is refused.
    fn submit_part(&self, array: &Array<'_>, runs: &[usize]) -> Result<Option<String>> {
        let mut sbatch = Command::new("sbatch");
        sbatch.args(array.arguments(runs)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = sbatch.spawn().context("sbatch cannot be started")?;
        if let Some(mut input) = child.stdin.take() {
            // If sbatch refuses the options it does not read the script.
            let _ = input.write_all(array.script(runs).as_bytes());
        }
        let output = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        // A federation's name may follow.
        let job = said.trim().split(';').next().unwrap_or_default();
        let is_number = !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit());
        if !output.status.success() || !is_number {
            let said = if is_number || job.is_empty() { String::new() } else { format!(": {}", said.trim()) };
            human::warn(format_args!("sbatch refused to take {}{said}", human::counted(runs.len() as u64, "run")));
            return Ok(None);
        }
        Ok(Some(job.to_owned()))
    }
}

impl Array<'_> {
    fn asks_for_memory(&self) -> bool {
        !self.options.iter().any(|option| MEMORY.contains(&name(option.trim_start_matches('-'))))
    }

    /// The user's come first: later options overrule them.
    fn arguments(&self, runs: &[usize]) -> Vec<String> {
        let mut all = vec!["--job-name=hpcc".to_owned(), "--cpus-per-task=1".to_owned()];
        if self.asks_for_memory() {
            all.push(format!("--mem={}M", self.memory.div_ceil(1 << 20)));
        }
        all.extend_from_slice(self.options);
        let at_a_time = self.at_a_time.map_or_else(String::new, |number| format!("%{number}"));
        all.push(format!("--array={}{at_a_time}", ranges(runs)));
        all.push(format!("--output={}", self.log().display()));
        all.push("--parsable".to_owned());
        all
    }

    /// The log of tasks; most messages are in the logs of runs. sbatch puts the numbers of job and task in place of
    /// `%A` and `%a`.
    fn log(&self) -> PathBuf {
        let out = self.out.to_string_lossy().replace('%', "%%");
        Path::new(&out).join("slurm-%A_%a.log")
    }

    fn script(&self, runs: &[usize]) -> String {
        let offset = runs.first().map_or(0, |run| run / ARRAY * ARRAY);
        format!("#!/bin/sh\nexec {} --run $(({offset} + SLURM_ARRAY_TASK_ID))\n", self.command)
    }
}

/// The tasks of runs, in short: `1-3,5`.
fn ranges(runs: &[usize]) -> String {
    let task = |run: &usize| run % ARRAY;
    let range = |range: &[usize]| match range {
        [] => String::new(),
        [one] => task(one).to_string(),
        [first, .., last] => format!("{}-{}", task(first), task(last)),
    };
    runs.chunk_by(|a, b| a + 1 == *b).map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array<'a>(options: &'a [String], runs: &'a [usize]) -> Array<'a> {
        Array {
            out: Path::new("/o%"),
            runs,
            at_a_time: NonZeroUsize::new(4),
            memory: 3 << 20,
            command: "hpcc",
            options,
        }
    }

    #[test]
    fn options_are_those_of_sbatch() {
        let usual = options("partition=batch,time=02:00:00").expect("options");
        assert_eq!(usual, ["--partition=batch", "--time=02:00:00"]);
        assert_eq!(options("exclude=a,b exclusive ").expect("options"), ["--exclude=a,b", "--exclusive"]);
        assert!(options("").expect("none").is_empty());
        for wrong in ["--partition=batch", "=3"] {
            assert!(options(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_array_has_few_words() {
        assert_eq!(ranges(&[1, 2, 3, 5, 8, 9]), "1-3,5,8-9");
        let told = array(&[], &[]).arguments(&[2001, 2002]);
        assert_eq!(told[2..], ["--mem=3M", "--array=1-2%4", "--output=/o%%/slurm-%A_%a.log", "--parsable"]);
        let options = ["--mem=1G".to_owned()];
        assert!(!array(&options, &[]).arguments(&[1]).contains(&"--mem=3M".to_owned()));
        // Numbers beyond an array are counted from its first.
        let script = array(&[], &[]).script(&[2001, 2002]);
        assert_eq!(script, "#!/bin/sh\nexec hpcc --run $((2000 + SLURM_ARRAY_TASK_ID))\n");
    }
}
