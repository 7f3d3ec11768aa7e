// SPDX-License-Identifier: GPL-2.0-only
//! `relations`: random scenarios, and what has to hold between their runs. Scenarios run in workers, processes of this program: one
//! that breaks down, or does not end, is noticed and takes no others with it.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write, stdin};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use hpcc_analysis::script::source_tree;
use hpcc_analysis::{Outcome, human};
use hpcc_relations::run::Bench;
use hpcc_relations::{Broken, Context, Document, RELATIONS, Relation, Second, Verdict, minimise};

/// How many scenarios, and which.
#[derive(clap::Args)]
pub struct Options {
    /// Only this relation; without it all.
    relation: Option<String>,
    /// For so long.
    #[arg(long, value_name = "N", conflicts_with = "scenarios")]
    minutes: Option<f64>,
    /// So many scenarios.
    #[arg(long, value_name = "N", default_value = "2000")]
    scenarios: u64,
    /// The first scenario's; the next one has the next.
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Checks this scenario instead.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Folder for what breaks a relation.
    #[arg(long, value_name = "DIR", default_value = "target/relations")]
    out: PathBuf,
    /// Scenarios at a time.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Only relations that ./hpcc test checks.
    #[arg(long)]
    tested: bool,
    /// Takes seeds from the standard input.
    #[arg(long, hide = true)]
    worker: bool,
}

/// A check may take so long on a busy machine.
const CHECK: Duration = Duration::from_secs(120);
/// Processor time to make smaller what breaks a relation.
const MINIMISE: Duration = Duration::from_secs(20);
/// Of one relation so many scenarios are made smaller; others are counted.
const MOST: u64 = 25;

impl Options {
    /// Looks for scenarios that break relations.
    ///
    /// # Errors
    /// If there is no such relation, or a file cannot be read or written.
    pub fn run(&self) -> Result<Outcome> {
        if let Some(name) = &self.relation {
            let known: Vec<&str> = RELATIONS.iter().map(|relation| relation.name).collect();
            ensure!(
                Relation::named(name).is_some(),
                "there is no relation {name}; expected one of {}",
                known.join(", ")
            );
        }
        if self.worker {
            return self.work().map(|()| Outcome::Good);
        }
        fs::create_dir_all(&self.out).with_context(|| self.out.display().to_string())?;
        if let Some(file) = &self.file {
            return self.one(file);
        }
        let end = self.minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(60.0 * minutes));
        let mut which: Vec<&str> = self.relation.as_deref().into_iter().collect();
        which.extend(self.tested.then_some("--tested"));
        campaign(&which, (self.seed, self.scenarios), end, (&self.out, self.jobs))
    }

    /// Checks a scenario in this process.
    fn one(&self, file: &Path) -> Result<Outcome> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let document = Document::parse(&text).map_err(anyhow::Error::msg)?;
        let (bench, hpcc) = (Bench::new(), hpcc());
        let mut is_good = true;
        for relation in self.relations() {
            for seed in self.seed..self.seed + 8 {
                let context = Context { bench: &bench, seed, hpcc: hpcc.as_deref() };
                let name = file.file_stem().unwrap_or_default().to_string_lossy();
                if let Some((document, broken)) = minimise(relation, &document, &context, MINIMISE) {
                    let told = tell(relation, &format!("{name}-{}", relation.name), &document, &broken, &self.out)?;
                    human::print(&told)?;
                    is_good = false;
                    break;
                }
            }
        }
        Ok(if is_good { Outcome::Good } else { Outcome::Failed })
    }

    fn relations(&self) -> impl Iterator<Item = &'static Relation> {
        RELATIONS.iter().filter(|relation| self.relation.as_deref().is_none_or(|name| name == relation.name))
    }

    /// Takes seeds, one a line, and says what comes of each.
    fn work(&self) -> Result<()> {
        let (bench, hpcc) = (Bench::new(), hpcc());
        let mut broken: BTreeMap<&str, u64> = BTreeMap::new();
        for line in stdin().lines() {
            let seed: u64 = line?.trim().parse()?;
            let relation = self.relation.as_deref().and_then(Relation::named).unwrap_or_else(|| Relation::of(seed));
            say(&format!("begin {seed} {}", relation.name));
            let is_wanted = relation.is_tested() || !self.tested;
            let Some(document) = is_wanted.then(|| relation.scenario(seed)).flatten() else {
                say("end idle");
                continue;
            };
            let now = self.out.join(format!("now-{}.toml", std::process::id()));
            fs::write(&now, document.text())?;
            let context = Context { bench: &bench, seed, hpcc: hpcc.as_deref() };
            match relation.check(&document, &context) {
                Verdict::Holds => say("end held"),
                Verdict::Idle => say("end idle"),
                Verdict::Broken(first) => {
                    say("smaller");
                    let count = broken.entry(relation.name).or_default();
                    *count += 1;
                    let small = if *count <= MOST { minimise(relation, &document, &context, MINIMISE) } else { None };
                    let (document, last) = small.unwrap_or((document, first));
                    let told = tell(relation, &format!("{}-{seed}", relation.name), &document, &last, &self.out)?;
                    say(&format!("end broken {}", told.replace('\n', "\u{1}")));
                }
            }
            fs::remove_file(&now)?;
        }
        Ok(())
    }
}

fn say(line: &str) {
    println!("{line}");
}

/// The `hpcc` command, if it is beside this program.
fn hpcc() -> Option<PathBuf> {
    env::current_exe().ok().map(|program| program.with_file_name("hpcc")).filter(|program| program.exists())
}

/// Writes the files that show how a relation is broken, and says by which commands.
fn tell(relation: &Relation, name: &str, document: &Document, broken: &Broken, out: &Path) -> Result<String> {
    let file = format!("{name}.toml");
    fs::write(out.join(&file), document.text())?;
    let run = |file: &str, out: &str| format!("hpcc run {file} --simulator core --out {out}");
    let list = |file: &str, out: &str| format!("hpcc workload {file} --write {out}.txt");
    let other = format!("{name}-other.toml");
    if let Second::File(text) | Second::Listed(text) = &broken.second {
        fs::write(out.join(&other), text)?;
    }
    let commands = match &broken.second {
        Second::None => run(&file, "a"),
        Second::Options(options) => format!("{}\n{} {options}", run(&file, "a"), run(&file, "b")),
        Second::Commands(commands) => format!("{}\n{}", run(&file, "a"), commands.replace("FILE", &file)),
        Second::File(_) => format!("{}\n{}", run(&file, "a"), run(&other, "b")),
        Second::Listed(_) => format!("{}\n{}", list(&file, "a"), list(&other, "b")),
    };
    Ok(format!("{}: {}: {}\n{commands}\n{}", relation.name, relation.help, broken.why, document.text()))
}

/// What came of all scenarios.
#[derive(Default)]
struct Found {
    held: BTreeMap<String, u64>,
    idle: BTreeMap<String, u64>,
    broken: BTreeMap<String, u64>,
    /// Those that did not end.
    slow: Vec<u64>,
    /// The relations and keys of those that were shown.
    shown: BTreeSet<String>,
}

/// What of a scenario that was told makes it like another one: its relation and its keys.
fn likeness(told: &str) -> String {
    let relation = told.split(':').next().unwrap_or_default();
    let mut keys: Vec<&str> = told.lines().skip(1).filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    keys.sort_unstable();
    keys.dedup();
    format!("{relation} {}", keys.join(" "))
}

/// Scenarios of a test of everything: so many that are always the same, and as many that the last commit chooses.
const OF_TEST: u64 = 3_000;

/// Two minutes of relations, always the same: what others find is for `./hpcc relations --seed N`.
///
/// # Errors
/// If one does not hold.
pub fn test() -> Result<()> {
    let out = source_tree()?.join("target/relations");
    let outcome = campaign(&["--tested"], (1, OF_TEST), None, (&out, None))?;
    ensure!(outcome == Outcome::Good, "relations do not hold; {} has the scenarios", out.display());
    Ok(())
}

/// Runs seeds by workers.
fn campaign(
    which: &[&str],
    (first, count): (u64, u64),
    end: Option<Instant>,
    (out, jobs): (&Path, Option<NonZeroUsize>),
) -> Result<Outcome> {
    fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    let next = AtomicU64::new(first);
    let found = Mutex::new(Found::default());
    let workers = jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let draw = || {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        let goes_on = end.map_or(seed < first + count, |end| Instant::now() < end);
        goes_on.then_some(seed)
    };
    let results: Vec<Result<()>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(|| watch(which, out, &draw, &found))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| bail!("a thread broke down"))).collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut told = String::from(" relation     held   idle broken\n");
    for relation in RELATIONS {
        let [held, idle, broken] =
            [&found.held, &found.idle, &found.broken].map(|counts| counts.get(relation.name).copied().unwrap_or(0));
        if held + idle + broken > 0 {
            told += &format!(" {:10} {held:6} {idle:6} {broken:6}\n", relation.name);
        }
    }
    if !found.slow.is_empty() {
        told += &format!(" did not end within {} s: seeds {:?}\n", CHECK.as_secs(), found.slow);
    }
    human::print(&told)?;
    Ok(if found.broken.is_empty() { Outcome::Good } else { Outcome::Failed })
}

/// A worker, and the lines that it says.
struct Worker {
    child: Child,
    lines: Receiver<String>,
}

impl Worker {
    fn new(which: &[&str], out: &Path) -> Result<Worker> {
        let mut command = Command::new(env::current_exe()?);
        command.arg("relations").args(which).arg("--worker").arg("--out").arg(out).env("HPCC_MEMORY", "2GB");
        let errors = fs::File::create(out.join("errors.txt"))?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn()?;
        let output = child.stdout.take().context("no output")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Worker { child, lines })
    }

    /// What comes of a seed: the relation's name, and the worker's last line; `Err` if it broke down (false) or did not end (true).
    fn take(&mut self, seed: u64) -> (String, Result<String, bool>) {
        let mut name = String::new();
        let asked = self.child.stdin.as_mut().map(|input| writeln!(input, "{seed}").and_then(|()| input.flush()));
        if !matches!(asked, Some(Ok(()))) {
            return (name, Err(false));
        }
        let mut limit = CHECK;
        loop {
            match self.lines.recv_timeout(limit) {
                Ok(line) => match line.split_once(' ') {
                    Some(("begin", rest)) => name = rest.split(' ').nth(1).unwrap_or_default().into(),
                    Some(("end", rest)) => return (name, Ok(rest.into())),
                    _ => limit = 20 * CHECK,
                },
                Err(RecvTimeoutError::Timeout) => return (name, Err(true)),
                Err(RecvTimeoutError::Disconnected) => return (name, Err(false)),
            }
        }
    }

    fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Gives seeds to a worker, and to another one where it breaks down.
fn watch(which: &[&str], out: &Path, draw: &(impl Fn() -> Option<u64> + Sync), found: &Mutex<Found>) -> Result<()> {
    let mut worker = Worker::new(which, out)?;
    while let Some(seed) = draw() {
        let (name, said) = worker.take(seed);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        match said {
            Ok(line) if line == "held" => *found.held.entry(name).or_default() += 1,
            Ok(line) if line == "idle" => *found.idle.entry(name).or_default() += 1,
            Ok(line) => {
                *found.broken.entry(name).or_default() += 1;
                let told = line.strip_prefix("broken ").unwrap_or(&line).replace('\u{1}', "\n");
                if found.shown.insert(likeness(&told)) {
                    human::print(&format!("{told}\n"))?;
                }
            }
            Err(is_slow) => {
                let kept = out.join(format!("now-{}.toml", worker.child.id()));
                let file = out.join(format!("{}-{name}-{seed}.toml", if is_slow { "slow" } else { "broke-down" }));
                let _ = fs::rename(&kept, &file);
                if is_slow {
                    found.slow.push(seed);
                } else {
                    let errors = fs::read_to_string(out.join("errors.txt")).unwrap_or_default();
                    let last: Vec<&str> = errors.lines().filter(|line| line.contains("panicked")).collect();
                    human::print(&format!(
                        "{name}: seed {seed} broke down: {}\n{}\n",
                        last.join("; "),
                        file.display()
                    ))?;
                    *found.broken.entry(name).or_default() += 1;
                }
                worker.end();
                worker = Worker::new(which, out)?;
            }
        }
    }
    worker.end();
    Ok(())
}
