// SPDX-License-Identifier: GPL-2.0-only
//! Runs of a sweep as job arrays of Slurm, by its commands sbatch and squeue.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use hpcc_model::visible;

use crate::human;
use crate::outcome::Outcome;

/// The file in the sweep's folder that says what was submitted last: for each array the number of its job, the number of the run that
/// its task 0 would be, and the memory that a task has asked for, in MiB, or 0 if the user has.
const JOBS: &str = "slurm.jobs";
/// No job asks for less, in bytes: beside the simulator there are the command, the shell, and Slurm's own process.
const LEAST_MEMORY: u64 = 256 << 20;
/// How Slurm, or the kernel, says in the log of a task that it took more than it had asked for.
const OUT_OF_MEMORY: [&str; 4] = ["oom_kill", "oom-kill", "out of memory", "memory limit"];
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

/// An array of [`JOBS`].
struct Submitted {
    job: String,
    offset: usize,
    memory: u64,
}

/// The arrays that were submitted last.
fn submitted(out: &Path) -> Vec<Submitted> {
    let list = fs::read_to_string(out.join(JOBS)).unwrap_or_default();
    let array = |line: &str| {
        let mut words = line.split(' ');
        let job = words.next()?.to_owned();
        Some(Submitted { job, offset: words.next()?.parse().ok()?, memory: words.next()?.parse().ok()? })
    };
    list.lines().filter_map(array).collect()
}

/// Tasks of the sweep in this folder that wait, run, or are about to end, in words; `None` if there are none.
///
/// # Errors
/// If Slurm does not say.
pub fn at_work(out: &Path) -> Result<Option<String>> {
    let jobs: Vec<String> = submitted(out).into_iter().map(|array| array.job).collect();
    if jobs.is_empty() {
        return Ok(None);
    }
    // All of a user's, for of a job that ended long ago squeue says that there is no such number, and fails.
    let states = "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING";
    let answer = Command::new("squeue").args(["--me", "--noheader", "--array", "--format=%F", states]).output();
    let unknown = || format!("squeue does not say whether tasks of job {} wait or run", jobs.join(", "));
    let answer = answer.with_context(unknown)?;
    ensure!(answer.status.success(), "{}: {}", unknown(), String::from_utf8_lossy(&answer.stderr).trim());
    let own = |line: &&str| jobs.iter().any(|job| job == line.trim());
    let tasks = String::from_utf8_lossy(&answer.stdout).lines().filter(own).count();
    Ok((tasks > 0).then(|| format!("{} of job {}", human::counted(tasks as u64, "task"), jobs.join(", "))))
}

/// The memory, in MiB, that the last task of a run of the sweep in this folder has asked for, if that was too little. A task that had
/// to do with the user's own option has asked for 0.
pub fn ran_out_of_memory(out: &Path, run: usize) -> Option<u64> {
    let array = submitted(out).into_iter().rfind(|array| array.offset == run / ARRAY * ARRAY)?;
    let log = fs::read(out.join(format!("slurm-{}_{}.log", array.job, run % ARRAY))).ok()?;
    let log = String::from_utf8_lossy(&log).to_lowercase();
    OUT_OF_MEMORY.iter().any(|words| log.contains(words)).then_some(array.memory)
}

/// The memory, in bytes, to ask for where a simulation takes about so much: estimates are from below, and measure the simulator alone.
pub fn memory(estimate: u64) -> u64 {
    estimate.saturating_mul(2).saturating_add(32 << 20).max(LEAST_MEMORY)
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

    /// Asks whether an array would be taken.
    ///
    /// # Errors
    /// With the words of Slurm.
    pub fn check(&self, array: &Array<'_>) -> Result<()> {
        let Some(part) = array.parts().next() else { return Ok(()) };
        let answer = sbatch(&[vec!["--test-only".to_owned()], array.arguments(part, None)].concat(), "#!/bin/sh\n")?;
        let said = String::from_utf8_lossy(&answer.stderr);
        ensure!(answer.status.success(), "--engine slurm: {}", said.trim());
        Ok(())
    }

    /// Submits an array, or several if numbers are too high for one, and says so.
    ///
    /// # Errors
    /// Those of the system. If Slurm refuses, its words are shown.
    pub fn submit(&self, array: &Array<'_>) -> Result<Outcome> {
        let (mut jobs, mut before) = (String::new(), None);
        for part in array.parts() {
            let Some(job) = self.submit_part(array, part, before.as_deref())? else { return Ok(Outcome::Failed) };
            let memory = if array.asks_for_memory() { array.megabytes() } else { 0 };
            jobs += &format!("{job} {} {memory}\n", array.offset(part));
            before = Some(job.clone());
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

    /// The number of the job, or nothing if it is refused. It begins after another one, if it has to.
    fn submit_part(&self, array: &Array<'_>, runs: &[usize], before: Option<&str>) -> Result<Option<String>> {
        let output = sbatch(&array.arguments(runs, before), &array.script(runs))?;
        eprint!("{}", visible::lines(&String::from_utf8_lossy(&output.stderr)));
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

/// What sbatch says of a script.
fn sbatch(arguments: &[String], script: &str) -> Result<Output> {
    let mut sbatch = Command::new("sbatch");
    sbatch.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = sbatch.spawn().context("sbatch cannot be started")?;
    if let Some(mut input) = child.stdin.take() {
        // What refuses the options does not read the script.
        let _ = input.write_all(script.as_bytes());
    }
    Ok(child.wait_with_output()?)
}

impl Array<'_> {
    /// The runs of each array of Slurm.
    fn parts(&self) -> impl Iterator<Item = &[usize]> {
        self.runs.chunk_by(|a, b| a / ARRAY == b / ARRAY)
    }

    /// The number of the run that task 0 would be.
    fn offset(&self, runs: &[usize]) -> usize {
        runs.first().map_or(0, |run| run / ARRAY * ARRAY)
    }

    fn megabytes(&self) -> u64 {
        self.memory.div_ceil(1 << 20)
    }

    fn asks_for_memory(&self) -> bool {
        !self.options.iter().any(|option| MEMORY.contains(&name(option.trim_start_matches('-'))))
    }

    /// The user's come first: later options overrule them.
    fn arguments(&self, runs: &[usize], before: Option<&str>) -> Vec<String> {
        let mut all = vec!["--job-name=hpcc".to_owned(), "--cpus-per-task=1".to_owned()];
        if self.asks_for_memory() {
            all.push(format!("--mem={}M", self.megabytes()));
        }
        all.extend_from_slice(self.options);
        // So many at a time are those of all arrays together.
        if let (Some(before), Some(_)) = (before, self.at_a_time) {
            let own = self.options.iter().rev().find_map(|option| option.strip_prefix("--dependency="));
            all.push(format!(
                "--dependency={}afterany:{before}",
                own.map_or_else(String::new, |own| format!("{own},"))
            ));
        }
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
        format!("#!/bin/sh\nexec {} --run $(({} + SLURM_ARRAY_TASK_ID))\n", self.command, self.offset(runs))
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
        let told = array(&[], &[]).arguments(&[2001, 2002], None);
        assert_eq!(told[2..], ["--mem=3M", "--array=1-2%4", "--output=/o%%/slurm-%A_%a.log", "--parsable"]);
        let options = ["--mem=1G".to_owned()];
        assert!(!array(&options, &[]).arguments(&[1], None).contains(&"--mem=3M".to_owned()));
        // So many at a time are those of all arrays together.
        let dependency = |options: &[String]| {
            array(options, &[]).arguments(&[1], Some("7")).into_iter().rfind(|word| word.starts_with("--dep"))
        };
        assert_eq!(dependency(&[]).as_deref(), Some("--dependency=afterany:7"));
        assert_eq!(
            dependency(&["--dependency=afterok:3".into()]).as_deref(),
            Some("--dependency=afterok:3,afterany:7")
        );
        // Numbers beyond an array are counted from its first.
        let script = array(&[], &[]).script(&[2001, 2002]);
        assert_eq!(script, "#!/bin/sh\nexec hpcc --run $((2000 + SLURM_ARRAY_TASK_ID))\n");
    }
}
