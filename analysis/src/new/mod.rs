// SPDX-License-Identifier: GPL-2.0-only
//! `new`: a commented scenario to start from.

mod ask;
mod controller;
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

use crate::human;
use crate::save::{Draft, ensure_new, temporary_folder};

/// Hosts without another answer.
const HOSTS: u32 = 16;
/// Rate without another answer.
const RATE: &str = "100Gbps";
/// Size of a flow without another answer.
const SIZE: &str = "500KB";
/// Load without another answer.
const LOAD: f64 = 0.5;

/// What the scenario shall be. On a terminal, what is left out is asked for.
#[derive(clap::Args, Clone)]
pub struct Options {
    /// The file to write; it must not be there yet.
    file: PathBuf,
    /// Writes a congestion control instead, for --control of other commands: in C++ if FILE is *.cc, in Rust if it is *.rs.
    #[arg(long, conflicts_with_all = ["topology", "hosts", "rate", "leaves", "spines", "fabric_rate", "algorithm", "traffic", "size", "load"])]
    controller: bool,
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
    /// Rate of links between switches, other than in a star [default: the rate of hosts' links].
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

impl Options {
    fn topology(&self) -> Topology {
        self.topology.unwrap_or(Topology::Star)
    }

    fn hosts(&self) -> u32 {
        self.hosts.unwrap_or(HOSTS)
    }

    fn rate(&self) -> &str {
        self.rate.as_deref().unwrap_or(RATE)
    }

    fn algorithm(&self) -> String {
        let usual = || ControlSettings::default().names().into_iter().next().unwrap_or_default();
        self.algorithm.clone().unwrap_or_else(usual)
    }

    fn traffic(&self) -> Traffic {
        self.traffic.unwrap_or(Traffic::Incast)
    }

    fn size(&self) -> &str {
        self.size.as_deref().unwrap_or(SIZE)
    }

    fn load(&self) -> f64 {
        self.load.unwrap_or(LOAD)
    }

    /// Whether this makes a scenario that the simulator is going to accept.
    fn check(&self) -> Result<()> {
        let folder = temporary_folder()?;
        let file = folder.path().join("new.toml");
        let text = write::scenario(self, Path::new("new.toml"))?;
        fs::write(&file, text).with_context(|| file.display().to_string())?;
        load(&file)
    }

    /// Accepts an answer if the scenario stays valid.
    fn accept(&self, change: impl FnOnce(&mut Options)) -> Result<(), String> {
        let mut changed = self.clone();
        change(&mut changed);
        changed.contradiction()?;
        // Faults without the answer are reported in the end.
        if self.check().is_err() { Ok(()) } else { changed.check().map_err(|wrong| human::reason(&wrong)) }
    }

    /// Says which option has no use beside others.
    fn contradiction(&self) -> Result<(), String> {
        let unless = |wrong: bool, words: &str| if wrong { Err(words.to_owned()) } else { Ok(()) };
        if let Some(traffic) = self.traffic {
            let is_poisson = traffic == Traffic::Poisson;
            let words = "--size has no use with --traffic poisson; its sizes are those of a workload";
            unless(is_poisson && self.size.is_some(), words)?;
            unless(!is_poisson && self.load.is_some(), "--load belongs to --traffic poisson")?;
        }
        let Some(topology) = self.topology else { return Ok(()) };
        let (leafless, star) = (topology != Topology::LeafSpine, topology == Topology::Star);
        unless(leafless && self.leaves.is_some(), "--leaves has no use with this topology")?;
        unless(leafless && self.spines.is_some(), "--spines has no use with this topology")?;
        unless(star && self.fabric_rate.is_some(), "--fabric-rate has no use with this topology")
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
    if options.controller {
        return write_controller(path);
    }
    let on_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let options = if on_terminal {
        answered(options, &mut ask::Terminal::new(io::stdin().lock(), io::stderr()))?
    } else {
        answered(options, &mut ask::Nobody)?
    };
    save(path, &write::scenario(&options, path)?)?;
    human::tell(&format!("wrote {}; run it: ./hpcc run {}\n", path.display(), human::quoted(path)))
}

fn write_controller(path: &Path) -> Result<()> {
    let (text, class) = controller::text(path)?;
    let mut draft = Draft::of(path)?;
    draft.fill(|file| file.write_all(text.as_bytes()))?;
    draft.keep()?;
    let file = human::quoted(path);
    human::tell(&format!(
        "wrote {}; run it: ./hpcc run configs/quickstart.toml --control {file} --set congestion_control.algorithm={class}\n",
        path.display()
    ))
}

/// The options, and answers where there are none. An answer that makes no scenario with what is known is asked for again.
fn answered(options: &Options, user: &mut impl ask::Ask) -> Result<Options> {
    options.contradiction().map_err(Error::msg)?;
    let mut known = options.clone();
    if known.topology.is_none() {
        let accept = |topology| known.accept(|known| known.topology = Some(topology));
        known.topology = Some(user.choice("topology", Topology::Star, accept)?);
    }
    if known.hosts.is_none() {
        let accept = |hosts| known.accept(|known| known.hosts = Some(hosts)).map(|()| hosts);
        known.hosts = Some(user.value("number of hosts", HOSTS, |text| hosts(text).and_then(accept))?);
    }
    if known.rate.is_none() {
        let accept = |rate: String| known.accept(|known| known.rate = Some(rate.clone())).map(|()| rate);
        known.rate = Some(user.value("rate of every link", RATE.into(), |text| rate(text).and_then(accept))?);
    }
    if known.algorithm.is_none() {
        let accept = |name: &str| known.accept(|known| known.algorithm = Some(name.into()));
        known.algorithm = Some(user.word("congestion control", &ControlSettings::default().names(), accept)?);
    }
    if known.traffic.is_none() {
        let accept = |traffic| known.accept(|known| known.traffic = Some(traffic));
        known.traffic = Some(user.choice("traffic", Traffic::Incast, accept)?);
    }
    // Nobody may have answered.
    known.contradiction().map_err(Error::msg)?;
    let is_poisson = known.traffic() == Traffic::Poisson;
    if is_poisson && known.load.is_none() {
        let accept = |load| known.accept(|known| known.load = Some(load)).map(|()| load);
        known.load = Some(user.value("load of each host's link", LOAD, |text| load_of(text).and_then(accept))?);
    } else if !is_poisson && known.size.is_none() {
        let accept = |size: String| known.accept(|known| known.size = Some(size.clone())).map(|()| size);
        known.size = Some(user.value("size of each flow", SIZE.into(), |text| size(text).and_then(accept))?);
    }
    Ok(known)
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
