// SPDX-License-Identifier: GPL-2.0-only
//! `run`: starts the simulator on a scenario and reports what it found.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::{Context, Result, anyhow, bail, ensure};
use hpcc_core::settings::quantity;
use hpcc_core::units::Nanos;
use hpcc_formats::kind::{FileKind, kind};
use hpcc_model::results::Summary;
use hpcc_model::share;
use serde_json::{Map, Value};

use crate::outcome::Outcome;
use crate::plot::Drawing;
use crate::report::{self, flat};
use crate::simulator::{self, Kind, Simulator, describe_crash, quiet_option};
use crate::{control, human, ranks, save};

/// Simulates a scenario into `out` and reports.
///
/// # Errors
/// If the file is none that can be run, or the simulator cannot be started. What goes wrong later is reported on standard error
/// and by the outcome.
pub fn run(
    config: &Path,
    out: Option<PathBuf>,
    seed: Option<u64>,
    set: &[String],
    How { sharing, watch, check, failure_cost, drawing, force }: How,
) -> Result<Outcome> {
    let set = overrides(config, seed, set)?;
    let is_fluid = simulator::chosen() == Some(Kind::Fluid);
    ensure!(is_fluid || check.is_none(), "--check compares a fluid run with packets: it needs --simulator fluid");
    let out = out.map_or_else(|| default_out(config, is_fluid), Ok)?;
    if !force {
        keep_others(config, &set, &out, is_fluid)?;
    }
    if let Sharing::Ranks(ranks) = sharing {
        can_share(config, &set, ranks)?;
        ranks::prepare()?;
        ranks::crowd(ranks).iter().for_each(human::note);
    }
    drawing.prepare()?;
    let simulator = simulator_of(config, &set, sharing)?;
    ensure!(
        !failure_cost || simulator.kind() != Kind::Ns3,
        "--failure-cost runs a scenario twice, which the simulator in ns-3 does not; expected --simulator core, or one that needs no ns-3"
    );
    let mut command = match sharing {
        Sharing::Ranks(ranks) => simulator.shared_command(ranks, config, &out, &set),
        Sharing::Threads(_) | Sharing::None => simulator.command(config, &out, &set),
    };
    if let Sharing::Threads(threads) = sharing {
        command.arg(format!("--threads={threads}"));
    }
    command.args(quiet_option());
    command.args(watch.then_some("--watch"));
    command.args(failure_cost.then_some("--failure-cost"));
    command.args(check.map(|until| format!("--check={}ns", until.0)));
    let program = command.get_program().display().to_string();
    let status = simulator.status(&mut command).with_context(|| format!("cannot start {program}"))?;
    match status.code() {
        Some(0 | 3 | STOPPED) => Ok(report_run(&out, status, drawing)),
        // The simulator has said on standard error what it does not like.
        Some(2) => Ok(Outcome::BadInput),
        _ => {
            human::warn(describe_crash(status, &out));
            if let Sharing::Ranks(ranks) = sharing
                && let Some(words) = ranks::why_none_starts(ranks)
            {
                human::warn(format!("mpirun cannot start {ranks} processes:\n{words}"));
            }
            Ok(Outcome::Failed)
        }
    }
}

/// How a scenario is run.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// By how many the run is shared.
    pub sharing: Sharing,
    /// Queues and slowdowns are shown beside the progress.
    pub watch: bool,
    /// Until when packets are simulated beside a fluid run.
    pub check: Option<Nanos>,
    /// The same without failures is simulated as well.
    pub failure_cost: bool,
    /// How its plots look.
    pub drawing: Drawing,
    /// Results of another configuration are replaced.
    pub force: bool,
}

/// By how many a run is shared.
#[derive(Clone, Copy, Debug)]
pub enum Sharing {
    /// One process with one thread.
    None,
    /// Processes of ns-3, by MPI.
    Ranks(u32),
    /// Threads of one process.
    Threads(u32),
}

impl Sharing {
    /// What the options ask for.
    ///
    /// # Errors
    /// If the simulator has no such thing.
    pub fn new(ranks: Option<NonZeroU32>, threads: Option<NonZeroU32>) -> Result<Sharing> {
        let several = |count: Option<NonZeroU32>| count.map(NonZeroU32::get).filter(|&count| count > 1);
        let (ranks, threads) = (several(ranks), several(threads));
        ensure!(
            ranks.is_none() || !matches!(simulator::chosen(), Some(Kind::Core | Kind::Fluid)),
            "--ranks needs ns-3; with --simulator core, --threads share a run"
        );
        ensure!(
            threads.is_none() || simulator::chosen() != Some(Kind::Fluid),
            "a fluid run has one thread; expected no --threads with --simulator fluid"
        );
        Ok(ranks.map(Sharing::Ranks).or(threads.map(Sharing::Threads)).unwrap_or(Sharing::None))
    }
}

/// The simulator of a run; why that is in ns-3, if nobody has chosen it, is said.
fn simulator_of(config: &Path, set: &[String], sharing: Sharing) -> Result<Simulator> {
    let (kind, why) = match (simulator::chosen(), sharing) {
        (None, Sharing::Ranks(_)) => (Kind::Ns3, Some("--ranks".into())),
        (Some(_) | None, _) => Kind::of_file(config, set),
    };
    why.iter().for_each(|why| human::note(format_args!("ns-3 simulates: {why}")));
    Simulator::find(kind)
}

/// Refuses a run that so many processes cannot share, before they are started.
fn can_share(config: &Path, set: &[String], ranks: u32) -> Result<()> {
    let scenario = hpcc_formats::load_with(config, set, control::defaults())?;
    share::divide(&scenario, ranks).map_err(|why| anyhow!("{}: --ranks {}: {why}", config.display(), ranks))?;
    Ok(())
}

/// The simulator's word for a run that a fault has ended, and whose results are of the time until then.
const STOPPED: i32 = 4;

/// The folder of a run that names none: a fluid run has its own.
fn default_out(config: &Path, is_fluid: bool) -> Result<PathBuf> {
    let mut out = save::default_out(config)?.into_os_string();
    out.push(if is_fluid { "-fluid" } else { "" });
    Ok(out.into())
}

/// Refuses to replace results of another configuration, or of another kind of run.
fn keep_others(config: &Path, set: &[String], out: &Path, is_fluid: bool) -> Result<()> {
    // What else is wrong with folder or file the simulator tells.
    let Ok(earlier) = Summary::read(&out.join("summary.json")) else { return Ok(()) };
    let Ok(scenario) = hpcc_formats::load_with(config, set, control::defaults()) else { return Ok(()) };
    let kind = |is_fluid| if is_fluid { "a fluid run" } else { "packets" };
    ensure!(
        earlier.is_fluid() == is_fluid,
        "{}: holds results of {}, not of {}; choose another --out, or replace them with --force",
        out.display(),
        kind(!is_fluid),
        kind(is_fluid)
    );
    let (there, here) = (flat(&earlier.scenario), flat(&scenario.effective()));
    let is_own = control::is_own(scenario.algorithm().name());
    let differs =
        |key: &&String| if is_own { own_differs(key, &there, &here) } else { there.get(*key) != here.get(*key) };
    // A run adds notes of what it has seen.
    let mut keys = here.keys().chain(there.keys()).filter(|key| *key != "notes");
    let Some(key) = keys.find(differs) else { return Ok(()) };
    let value = |keys: &Map<String, Value>| keys.get(key).and_then(Value::as_str).unwrap_or("not set").to_owned();
    bail!(
        "{}: holds results of another configuration, in which {key} is {}, not {}; choose another --out, or replace them with \
         --force",
        out.display(),
        value(&there),
        value(&here)
    )
}

/// Whether a key's value is another one, with a controller of the user's own: what that needs, and the kinds of its parameters, the
/// simulator alone knows.
fn own_differs(key: &str, there: &Map<String, Value>, here: &Map<String, Value>) -> bool {
    let text = |keys: &Map<String, Value>, key: &str| keys.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(own) = text(here, key).filter(|_| !OF_NEEDS.iter().any(|begin| key.starts_with(begin))) else {
        return false;
    };
    let units = ["", "_bps", "_ns", "_bytes"].map(|unit| text(there, &format!("{key}{unit}")));
    let before = units.into_iter().flatten().next();
    let amount = |text: &str| {
        let with_unit = || quantity::rate(text).map(|rate| rate.0).or(quantity::time(text).map(|time| time.0));
        text.parse().ok().or_else(|| with_unit().or(quantity::size(text)).ok().map(|amount| amount as f64))
    };
    before
        .is_none_or(|before| before != own && amount(&before).zip(amount(&own)).is_none_or(|(a, b): (f64, f64)| a != b))
}

/// Beginnings of keys whose `auto` follows from what an algorithm needs.
const OF_NEEDS: [&str; 4] = ["telemetry.", "transport.ack_priority", "transport.window", "switch.ecn_"];

/// The key that `--seed` sets.
const SEED_KEY: &str = "run.seed";

/// All overrides, for a file that can be run. The simulator reports what else is wrong with it.
fn overrides(config: &Path, seed: Option<u64>, set: &[String]) -> Result<Vec<String>> {
    let kind = kind(config)?;
    let mut all = set.to_vec();
    match (kind, seed) {
        (FileKind::Sweep, _) => {
            bail!("{}: this is a sweep: use ./hpcc sweep {}", config.display(), human::quoted(config))
        }
        (FileKind::Scenario | FileKind::Reference | FileKind::Job, Some(seed)) => {
            all.push(format!("{SEED_KEY}={seed}"))
        }
        (FileKind::Scenario | FileKind::Reference | FileKind::Job, None) => {}
    }
    if kind == FileKind::Job && !set.iter().any(|pair| pair.starts_with("topology")) {
        human::note("without --topology, all hosts are around one switch, at 400 Gb/s");
    }
    hpcc_formats::refuse_overlaps(&all)?;
    Ok(all)
}

/// The override for a network from a file: htsim's, or one in the 2019 simulator's format.
pub fn of_topology(file: &Path) -> String {
    let is_htsim = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("topo"));
    let (kind, path) = (if is_htsim { "htsim" } else { "file" }, Value::from(file.display().to_string()));
    format!("topology={{ kind = \"{kind}\", path = {path} }}")
}

/// Reports on a run that ended well. The scenario was fine, so trouble from here on is not bad input.
fn report_run(out: &Path, status: ExitStatus, drawing: Drawing) -> Outcome {
    match report::report_on(out, drawing) {
        Ok(_) if status.code() == Some(3) => Outcome::Unfinished,
        Ok(_) if status.code() == Some(STOPPED) => Outcome::Failed,
        Ok(outcome) => outcome,
        Err(error) => {
            human::warn(format_args!(
                "the simulation ended, but its results cannot be shown: {}",
                human::reason(&error)
            ));
            Outcome::Failed
        }
    }
}
