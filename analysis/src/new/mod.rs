// SPDX-License-Identifier: GPL-2.0-only
//! `new`: a commented scenario to start from.

mod ask;
mod write;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, ensure};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use hpcc_core::address::MAX_NODES;
use hpcc_core::node::ControlSettings;
use hpcc_core::settings::quantity;

use crate::save::{Draft, ensure_new, temporary_folder};
use crate::{human, script};

/// Hosts without another answer.
const HOSTS: u32 = 16;
/// Rate without another answer.
const RATE: &str = "100Gbps";
/// Size of a flow without another answer.
const SIZE: &str = "500KB";
/// Load without another answer.
const LOAD: f64 = 0.5;

/// What the scenario shall be. On a terminal, what is left out is asked for.
#[derive(clap::Args)]
pub struct Options {
    /// The file to write; it must not be there yet.
    file: PathBuf,
    /// The network.
    #[arg(long, value_enum, value_name = "KIND")]
    topology: Option<Topology>,
    /// Number of hosts.
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = hosts)]
    hosts: Option<u32>,
    /// Rate of hosts' links, and of others without --fabric-rate, such as 100Gbps.
    #[arg(long, allow_hyphen_values = true, value_parser = rate)]
    rate: Option<String>,
    /// Leaves of leaf_spine [default: 4].
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::count::<u32, { MAX_NODES as u64 }>)]
    leaves: Option<u32>,
    /// Spines of leaf_spine [default: as many as carry all that hosts send].
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::count::<u32, { MAX_NODES as u64 }>)]
    spines: Option<u32>,
    /// Rate of links between switches, other than in a star [default: that of hosts' links].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = rate)]
    fabric_rate: Option<String>,
    /// Delay of every link, such as 1us.
    #[arg(long, default_value = "1us", allow_hyphen_values = true, value_parser = time)]
    delay: String,
    /// Congestion control.
    #[arg(long, value_name = "NAME", value_parser = algorithms())]
    algorithm: Option<String>,
    /// The flows.
    #[arg(long, value_enum, value_name = "KIND")]
    traffic: Option<Traffic>,
    /// Size of each flow, such as 500KB; not for poisson.
    #[arg(long, allow_hyphen_values = true, value_parser = size)]
    size: Option<String>,
    /// Load of each host's link, up to 1; for poisson.
    #[arg(long, allow_hyphen_values = true, value_parser = load_of)]
    load: Option<f64>,
    /// Seed of every random choice.
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true, value_parser = crate::seed)]
    seed: u64,
}

/// The network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Topology {
    /// Hosts around one switch.
    Star,
    /// Two switches with one link between them, and half of the hosts on each.
    Dumbbell,
    /// Leaves, each linked to every spine.
    LeafSpine,
    /// Four pods of two racks under cores.
    FatTree,
}

/// The flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Traffic {
    /// All hosts send to host 0 at the same moment.
    Incast,
    /// Host 1 sends to host 0.
    Flow,
    /// Each host sends to one and receives from one.
    Permutation,
    /// Each host starts flows at random, with the sizes of a web search.
    Poisson,
}

/// All that is to be known.
#[derive(Clone)]
struct Plan {
    topology: Topology,
    hosts: u32,
    rate: String,
    delay: String,
    algorithm: String,
    traffic: Traffic,
    size: String,
    load: f64,
    seed: u64,
    leaves: Option<u32>,
    spines: Option<u32>,
    fabric_rate: Option<String>,
    /// For editors.
    schema: Option<PathBuf>,
}

impl Plan {
    /// The options, and usual values where there are none.
    fn of(options: &Options) -> Plan {
        let tree = script::source_tree().ok();
        Plan {
            topology: options.topology.unwrap_or(Topology::Star),
            hosts: options.hosts.unwrap_or(HOSTS),
            rate: options.rate.clone().unwrap_or_else(|| RATE.into()),
            delay: options.delay.clone(),
            algorithm: options
                .algorithm
                .clone()
                .or(ControlSettings::default().names().into_iter().next())
                .unwrap_or_default(),
            traffic: options.traffic.unwrap_or(Traffic::Incast),
            size: options.size.clone().unwrap_or_else(|| SIZE.into()),
            load: options.load.unwrap_or(LOAD),
            seed: options.seed,
            leaves: options.leaves,
            spines: options.spines,
            fabric_rate: options.fabric_rate.clone(),
            schema: tree.map(|tree| tree.join("configs/schema/scenario.json")).filter(|schema| schema.exists()),
        }
    }

    /// Whether this makes a scenario that the simulator is going to accept.
    fn check(&self) -> Result<()> {
        let folder = temporary_folder()?;
        let file = folder.path().join("new.toml");
        let text = write::scenario(self, Path::new("new.toml"))?;
        fs::write(&file, text).with_context(|| file.display().to_string())?;
        load(&file)
    }

    /// Whether a change leaves a scenario what it was: one.
    fn accept(&self, change: impl FnOnce(&mut Plan)) -> Result<(), String> {
        // What is wrong without the answer is told in the end.
        if self.check().is_err() {
            return Ok(());
        }
        let mut changed = self.clone();
        change(&mut changed);
        changed.check().map_err(|wrong| human::reason(&wrong))
    }
}

/// Writes the scenario.
///
/// # Errors
/// If the file is there, the options contradict each other, or it cannot be written.
pub fn new(options: &Options) -> Result<()> {
    let path = &options.file;
    ensure_new(path)?;
    // It stands in the file, and in a line to be typed.
    ensure!(
        !path.display().to_string().contains(char::is_control),
        "{path:?}: expected a name without control characters"
    );
    ensure!(path.to_str().is_some(), "{path:?}: expected a name in Unicode");
    let on_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let plan = if on_terminal {
        plan(options, &mut ask::Terminal::new(io::stdin().lock(), io::stderr()))?
    } else {
        plan(options, &mut ask::Nobody)?
    };
    save(path, &write::scenario(&plan, path)?)?;
    human::tell(&format!("wrote {}; run it: ./hpcc run {}\n", path.display(), human::quoted(path)))
}

/// The options, and answers where there are none. An answer that makes no scenario with what is known is asked for again.
fn plan(options: &Options, user: &mut impl ask::Ask) -> Result<Plan> {
    let mut plan = Plan::of(options);
    if let Some(traffic) = options.traffic {
        contradiction(options, traffic).map_err(Error::msg)?;
    }
    if options.topology.is_none() {
        let accept = |topology| plan.accept(|plan| plan.topology = topology);
        plan.topology = user.choice("topology", Topology::Star, accept)?;
    }
    for (name, given, has_it) in [
        ("--leaves", options.leaves.is_some(), plan.topology == Topology::LeafSpine),
        ("--spines", options.spines.is_some(), plan.topology == Topology::LeafSpine),
        ("--fabric-rate", options.fabric_rate.is_some(), plan.topology != Topology::Star),
    ] {
        ensure!(has_it || !given, "{name} has no use with this topology");
    }
    if options.hosts.is_none() {
        let accept = |hosts| plan.accept(|plan| plan.hosts = hosts).map(|()| hosts);
        plan.hosts = user.value("number of hosts", HOSTS, |text| hosts(text).and_then(accept))?;
    }
    if options.rate.is_none() {
        let accept = |rate: String| plan.accept(|plan| plan.rate.clone_from(&rate)).map(|()| rate);
        plan.rate = user.value("rate of every link", RATE.into(), |text| rate(text).and_then(accept))?;
    }
    if options.algorithm.is_none() {
        let accept = |name: &str| plan.accept(|plan| plan.algorithm = name.into());
        plan.algorithm = user.word("congestion control", &ControlSettings::default().names(), accept)?;
    }
    ask_for_flows(options, &mut plan, user)?;
    Ok(plan)
}

/// What of the flows is not among the options.
fn ask_for_flows(options: &Options, plan: &mut Plan, user: &mut impl ask::Ask) -> Result<()> {
    if options.traffic.is_none() {
        let accept = |traffic| {
            contradiction(options, traffic)?;
            plan.accept(|plan| plan.traffic = traffic)
        };
        plan.traffic = user.choice("traffic", Traffic::Incast, accept)?;
        // Nobody may have answered.
        contradiction(options, plan.traffic).map_err(Error::msg)?;
    }
    if plan.traffic == Traffic::Poisson {
        if options.load.is_none() {
            let accept = |load| plan.accept(|plan| plan.load = load).map(|()| load);
            plan.load = user.value("load of each host's link", LOAD, |text| load_of(text).and_then(accept))?;
        }
    } else if options.size.is_none() {
        let accept = |size: String| plan.accept(|plan| plan.size.clone_from(&size)).map(|()| size);
        plan.size = user.value("size of each flow", SIZE.into(), |text| size(text).and_then(accept))?;
    }
    Ok(())
}

/// Says which option has no use with this traffic.
fn contradiction(options: &Options, traffic: Traffic) -> Result<(), String> {
    match traffic == Traffic::Poisson {
        true if options.size.is_some() => {
            Err("--size has no use with --traffic poisson; its sizes are those of a workload".into())
        }
        false if options.load.is_some() => Err("--load belongs to --traffic poisson".into()),
        _ => Ok(()),
    }
}

/// Writes a scenario that has been checked as the simulator is going to check it, or nothing.
fn save(path: &Path, text: &str) -> Result<()> {
    let mut draft = Draft::of(path)?;
    draft.fill(|file| file.write_all(text.as_bytes()))?;
    load(draft.path()).context("this makes no scenario")?;
    draft.keep()
}

/// Checks a file as the simulator is going to.
fn load(path: &Path) -> Result<()> {
    hpcc_formats::load(path, &[]).map_err(|error| anyhow!("{}", error.without_place()))?;
    Ok(())
}

fn algorithms() -> PossibleValuesParser {
    ControlSettings::default().names().into()
}

fn hosts(text: &str) -> Result<u32, String> {
    let counted = text.parse().ok().filter(|hosts| (2..MAX_NODES).contains(hosts));
    counted.ok_or_else(|| format!("expected a whole number from 2 to {}", MAX_NODES - 1))
}

fn load_of(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&load| load > 0.0 && load <= 1.0)
        .ok_or_else(|| "expected more than 0 and at most 1".into())
}

fn rate(text: &str) -> Result<String, String> {
    match quantity::rate(text)?.0 {
        0 => Err("expected more than 0".into()),
        _ => Ok(text.into()),
    }
}

fn time(text: &str) -> Result<String, String> {
    quantity::time(text).map(|_| text.into())
}

fn size(text: &str) -> Result<String, String> {
    match quantity::size(text)? {
        0 => Err("expected more than 0".into()),
        _ => Ok(text.into()),
    }
}
