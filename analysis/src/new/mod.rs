// SPDX-License-Identifier: GPL-2.0-only
//! `new`: a commented scenario to start from.

mod ask;
mod write;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use hpcc_core::node::ControlSettings;
use hpcc_core::settings::quantity;

use crate::save::{Draft, ensure_new};
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
    /// Rate of every link, such as 100Gbps.
    #[arg(long, value_parser = rate)]
    rate: Option<String>,
    /// Delay of every link, such as 1us.
    #[arg(long, default_value = "1us", value_parser = time)]
    delay: String,
    /// Congestion control.
    #[arg(long, value_name = "NAME", value_parser = algorithms())]
    algorithm: Option<String>,
    /// The flows.
    #[arg(long, value_enum, value_name = "KIND")]
    traffic: Option<Traffic>,
    /// Size of each flow, such as 500KB; not for poisson.
    #[arg(long, value_parser = size)]
    size: Option<String>,
    /// Load of each host's link, up to 1; for poisson.
    #[arg(long, allow_hyphen_values = true, value_parser = load)]
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
    /// Four leaves, each linked to two spines.
    LeafSpine,
    /// Four pods of two racks and two aggregation switches, under four cores.
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
    /// Sizes of poisson flows.
    workload: PathBuf,
    /// For editors.
    schema: Option<PathBuf>,
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
    let on_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let plan = if on_terminal {
        plan(options, &mut ask::Terminal::new(io::stdin().lock(), io::stderr()))?
    } else {
        plan(options, &mut ask::Nobody)?
    };
    save(path, &write::scenario(&plan, path)?)?;
    human::tell(&format!("wrote {}; run it: ./hpcc run {}\n", path.display(), human::quoted(path)))
}

/// The options, and answers where there are none.
fn plan(options: &Options, user: &mut impl ask::Ask) -> Result<Plan> {
    let topology = match options.topology {
        Some(topology) => topology,
        None => user.choice("topology", Topology::Star)?,
    };
    let hosts = match options.hosts {
        Some(hosts) => hosts,
        None => user.value("number of hosts", HOSTS, self::hosts)?,
    };
    let rate = match &options.rate {
        Some(rate) => rate.clone(),
        None => user.value("rate of every link", RATE.into(), self::rate)?,
    };
    let algorithm = match &options.algorithm {
        Some(algorithm) => algorithm.clone(),
        None => user.word("congestion control", &ControlSettings::default().names())?,
    };
    let traffic = match options.traffic {
        Some(traffic) => traffic,
        None => user.choice("traffic", Traffic::Incast)?,
    };
    let poisson = traffic == Traffic::Poisson;
    ensure!(
        !poisson || options.size.is_none(),
        "--size has no use with --traffic poisson; its sizes are those of a workload"
    );
    ensure!(poisson || options.load.is_none(), "--load belongs to --traffic poisson");
    let size = match &options.size {
        Some(size) => size.clone(),
        None if poisson => SIZE.into(),
        None => user.value("size of each flow", SIZE.into(), self::size)?,
    };
    let load = match options.load {
        Some(load) => load,
        None if poisson => user.value("load of each host's link", LOAD, self::load)?,
        None => LOAD,
    };
    let tree = script::source_tree();
    let workload = match (poisson, &tree) {
        (true, Ok(tree)) => tree.join("configs/workloads/websearch.cdf"),
        (true, Err(_)) => bail!("--traffic poisson needs the workloads of a source tree: use ./hpcc there"),
        (false, _) => PathBuf::new(),
    };
    let schema = tree.ok().map(|tree| tree.join("configs/schema/scenario.json")).filter(|schema| schema.exists());
    let (delay, seed) = (options.delay.clone(), options.seed);
    Ok(Plan { topology, hosts, rate, delay, algorithm, traffic, size, load, seed, workload, schema })
}

/// Writes a scenario that has been checked as the simulator is going to check it, or nothing.
fn save(path: &Path, text: &str) -> Result<()> {
    let mut draft = Draft::of(path)?;
    draft.fill(|file| file.write_all(text.as_bytes()))?;
    hpcc_formats::load(draft.path(), &[])
        .map_err(|error| anyhow::anyhow!("this makes no scenario: {}", error.without_place()))?;
    draft.keep()
}

fn algorithms() -> PossibleValuesParser {
    ControlSettings::default().names().into()
}

fn hosts(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|&hosts| hosts >= 2).ok_or_else(|| "expected a whole number from 2".into())
}

fn load(text: &str) -> Result<f64, String> {
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
    quantity::size(text).map(|_| text.into())
}
