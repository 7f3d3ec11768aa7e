// SPDX-License-Identifier: GPL-2.0-only
//! `workload`: what flows and jobs there are, which it writes in formats of others; or what a distribution of sizes says.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap_complete::ArgValueCompleter;
use hpcc_core::engine::{ENDLESS, FlowOptions};
use hpcc_core::topology::Network;
use hpcc_core::topology::routes::Routes;
use hpcc_core::units::Nanos;
use hpcc_core::workload::Message;
use hpcc_formats::reference;
use hpcc_model::flow::Flow;
use hpcc_model::generate::Cdf;
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::jobs::{chakra_write, goal_write, ideal};
use hpcc_model::overbooked::{Overbooked, overbooked};
use hpcc_model::scenario::Scenario;

use super::distribution::{self, Sizes};
use super::{Content, lines};
use crate::control;
use crate::human;
use crate::run::of_topology;
use crate::save;
use crate::settings;
use crate::table::table;

/// Which flows, and what to do with them.
#[derive(clap::Args)]
pub struct Options {
    /// A scenario, a config.txt or a flow file of the 2019 simulator, a job of another simulator (GOAL, .cm, SimAI), or
    /// a distribution of flow sizes.
    file: PathBuf,
    /// The network: a .topo of htsim, or a topology in the 2019 simulator's format.
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Overrides a key of the scenario; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings::assignments))]
    set: Vec<String>,
    /// Writes the flows in the 2019 simulator's format, or as a connection matrix of htsim (FILE.cm), or the one job as
    /// GOAL (FILE.goal) or as Chakra traces (FILE.et, which becomes FILE.RANK.et).
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Describes flows, and writes them.
///
/// # Errors
/// If the file makes no sense, or the other one cannot be written.
pub fn workload(options: &Options) -> Result<()> {
    let content = Content::of(&options.file)?;
    if let (Content::Numbers(_), false) = (&content, options.set.is_empty() && options.topology.is_none()) {
        bail!("{}: --set and --topology belong to scenarios, and this is none", options.file.display());
    }
    let mut set = options.set.clone();
    set.extend(options.topology.as_deref().map(of_topology));
    let mut traffic = Traffic::default();
    let mut jobs = String::new();
    let mut flows: Vec<Flow> = Vec::new();
    // Only flows to be written are kept.
    let mut keep = |flow: &Flow| options.write.is_some().then(|| flows.push(*flow));
    match content {
        Content::Numbers(2) => {
            if options.write.is_some() {
                bail!("{}: --write writes flows, and a distribution of sizes has none", options.file.display());
            }
            return human::print(&distribution::describe(&Cdf::read(&options.file)?));
        }
        Content::Numbers(_) => {
            traffic.groups.push("all".to_owned());
            for flow in reference::flows(&options.file)? {
                keep(&flow);
                traffic.add(0, &flow);
            }
        }
        Content::Scenario => {
            let scenario = hpcc_formats::load_with(&options.file, &set, control::defaults())?;
            let scenario = hpcc_simulate::resolve_fastest(scenario, false, false).map_err(anyhow::Error::msg)?;
            jobs = describe_jobs(&scenario);
            if let Some(file) = options.write.as_ref().filter(|file| is_job(file)) {
                write_job(&scenario, file)?;
            }
            traffic.groups = scenario.flows.groups.clone();
            traffic.network = Some(scenario.network.clone());
            traffic.overbooked = overbooked(&scenario.network, &scenario.flows.offers);
            if let Some(file) = options.write.as_ref().filter(|file| !is_job(file) && !scenario.flows.jobs.is_empty()) {
                bail!(
                    "{}: there are jobs, which flows cannot say; expected FILE.goal or FILE.et (./hpcc import writes the scenario \
                     that runs a job's file)",
                    file.display()
                );
            }
            for flow in scenario.flows.walk_groups() {
                let (group, flow) = flow?;
                keep(&flow);
                traffic.add(group, &flow);
            }
        }
    }
    match &options.write {
        Some(file) if is_job(file) => {}
        Some(file) if is(file, "cm") => write_matrix(&flows, file)?,
        Some(file) => {
            ensure_plain(&flows, "flow files of the 2019 simulator")?;
            save::create(file, |out| {
                writeln!(out, "{}", flows.len())?;
                flows.iter().try_for_each(|flow| reference::write_flow(flow, out))
            })?;
        }
        None => {}
    }
    if jobs.is_empty() || !traffic.of_group.is_empty() {
        human::print(&traffic.describe())?;
    }
    human::print(&jobs)?;
    options.write.as_ref().map_or(Ok(()), |file| human::tell(&format!("\n wrote {}\n", file.display())))
}

fn is(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|own| own == extension)
}

/// Whether a job is written to this file.
fn is_job(file: &Path) -> bool {
    is(file, "goal") || is(file, "et")
}

/// Writes the one job of a scenario.
fn write_job(scenario: &Scenario, file: &Path) -> Result<()> {
    let [job] = scenario.flows.jobs.as_slice() else {
        bail!("{} holds one job, and there are {}; expected one", file.display(), scenario.flows.jobs.len());
    };
    if scenario.flows.totals.count > 0 {
        bail!("a job has no flows that begin at a time, and there are {}", scenario.flows.totals.count);
    }
    let name = &scenario.flows.groups[job.group as usize];
    let of_job = |why| anyhow!("job {name}: {why}");
    if is(file, "goal") {
        let graphs = goal_write::graphs(job).map_err(of_job)?;
        save::create(file, |mut out| goal_write::write(&graphs, &mut out))?;
        if has_collectives(job) {
            human::note(
                "collectives are written as their messages: what begins after any of several waits for the first of them",
            );
        }
        return Ok(());
    }
    let traces = chakra_write::traces(job).map_err(of_job)?;
    for (bytes, rank) in traces.files.iter().zip(0..) {
        save::create(&file.with_extension(format!("{rank}.et")), |out| out.write_all(bytes))?;
    }
    traces.lost.iter().for_each(|lost| human::note(format_args!("in traces {lost}")));
    Ok(())
}

fn has_collectives(job: &JobSpec) -> bool {
    match &job.work {
        JobWork::Collective(_) => true,
        JobWork::Graphs { collectives, .. } => !collectives.is_empty(),
        JobWork::Outside => false,
    }
}

/// Refuses flows that have something for themselves, for which these files have no words: they would be others when read again.
fn ensure_plain(flows: &[Flow], files: &str) -> Result<()> {
    let Some(flow) = flows.iter().find(|flow| flow.is_own()) else { return Ok(()) };
    let FlowOptions { nic, rate, stop, .. } = flow.options;
    let has = [
        (nic.is_some(), "a nic of its own"),
        (rate != FlowOptions::NONE.rate, "a rate"),
        (stop != FlowOptions::NONE.stop, "a time to stop"),
        (flow.size == ENDLESS, "no end"),
    ];
    let has: Vec<&str> = has.into_iter().filter_map(|(has, what)| has.then_some(what)).collect();
    bail!(
        "the flow from {} to {} at {} has {}, which {files} cannot say; expected flows without",
        flow.src,
        flow.dst,
        flow.start,
        has.join(" and ")
    );
}

/// Writes flows as connections of htsim, which have no priority and no port.
fn write_matrix(flows: &[Flow], file: &Path) -> Result<()> {
    ensure_plain(flows, "connection matrices")?;
    let nodes = flows.iter().map(|flow| flow.src.max(flow.dst) + 1).max().unwrap_or_default();
    save::create(file, |out| {
        writeln!(out, "Nodes {nodes}\nConnections {}", flows.len())?;
        flows.iter().zip(1..).try_for_each(|(flow, id)| {
            let Flow { src, dst, size, start, .. } = flow;
            writeln!(out, "{src}->{dst} id {id} start {} size {size}", u128::from(start.0) * 1_000)
        })
    })?;
    human::note("connection matrices have neither priorities nor ports: those of the flows are lost");
    let is_rounded = |flow: &&Flow| (flow.start.0 as f32) as u64 != flow.start.0;
    let rounded = flows.iter().filter(is_rounded).count();
    if rounded > 0 {
        human::note(format_args!("htsim reads times as short floats: the starts of {rounded} flows are rounded there"));
    }
    Ok(())
}

/// The jobs of a scenario: what they send, and how long they take if no message waits for another one.
fn describe_jobs(scenario: &Scenario) -> String {
    if scenario.flows.jobs.is_empty() {
        return String::new();
    }
    let payload = u32::try_from(scenario.settings.transport.mtu.0).unwrap_or(u32::MAX);
    let routes = Routes::new(&scenario.network, payload);
    let rows = scenario.flows.jobs.iter().map(|job| {
        let (messages, bytes) = job.traffic(scenario.servers);
        let mut paths: BTreeMap<(u32, u32), (u64, Nanos)> = BTreeMap::new();
        let known = RefCell::new(&mut paths);
        let alone = |message: &Message| {
            let mut known = known.borrow_mut();
            let &mut (rate, delay) = known.entry((message.src, message.dst)).or_insert_with(|| {
                let links = routes.links(message.src, message.dst).unwrap_or_default();
                let rate = links.iter().map(|(rate, _)| rate.0).min().unwrap_or(u64::MAX);
                (rate, Nanos(links.iter().map(|(_, delay)| delay.0).sum()))
            });
            let time = u128::from(message.size) * 8_000_000_000 / u128::from(rate);
            delay + Nanos(u64::try_from(time).unwrap_or(u64::MAX))
        };
        let path = ideal::run(job.job(), scenario.servers, alone, |time| time).time;
        vec![
            scenario.flows.groups[job.group as usize].clone(),
            human::count(job.hosts.len() as u64),
            human::count(messages),
            human::bytes(bytes),
            human::count(ideal::depth(job.job()).time.0),
            if path < Nanos(u64::MAX) { path.to_string() } else { "above 2^64 ns".into() },
        ]
    });
    table(&["job", "ranks", "messages", "bytes", "depth", "critical path"], rows)
}

/// Totals of all flows.
#[derive(Default)]
struct Traffic {
    network: Option<Network>,
    /// Names.
    groups: Vec<String>,
    /// By number of the group.
    of_group: BTreeMap<u32, Group>,
    pairs: BTreeMap<(u32, u32), u64>,
    overbooked: Vec<Overbooked>,
}

/// The flows of a group.
#[derive(Default)]
struct Group {
    sizes: Vec<u64>,
    /// Flows that send until they are stopped, which have no size.
    endless: u64,
    /// Starts of the first and the last.
    starts: Option<(Nanos, Nanos)>,
}

impl Group {
    fn add(&mut self, flow: &Flow) {
        if flow.size < ENDLESS {
            self.sizes.push(flow.size);
        } else {
            self.endless += 1;
        }
        let (first, last) = self.starts.unwrap_or((flow.start, flow.start));
        self.starts = Some((first.min(flow.start), last.max(flow.start)));
    }
}

impl Traffic {
    fn add(&mut self, group: u32, flow: &Flow) {
        self.of_group.entry(group).or_default().add(flow);
        let bytes = if flow.size < ENDLESS { flow.size } else { 0 };
        *self.pairs.entry((flow.src, flow.dst)).or_default() += bytes;
    }

    fn describe(mut self) -> String {
        if self.of_group.is_empty() {
            return " no flows\n".to_owned();
        }
        let mut whole = Group::default();
        for group in self.of_group.values() {
            whole.sizes.extend(&group.sizes);
            whole.endless += group.endless;
            let starts = group.starts.into_iter().chain(whole.starts);
            whole.starts = starts.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        }
        let header = ["group", "flows", "bytes", "mean", "p50", "p99", "largest", "first start", "last start", "load"];
        let mut rows = Vec::new();
        let groups = std::mem::take(&mut self.of_group);
        let several = groups.len() > 1;
        for (number, group) in groups {
            let name = self.groups.get(number as usize).cloned().unwrap_or_default();
            rows.push(self.row(name, group));
        }
        let (sizes, endless) = (Sizes::of(whole.sizes.clone()), whole.endless);
        if several {
            rows.push(self.row("all".to_owned(), whole));
        }
        let mut facts = self.pair_facts();
        if endless > 0 {
            let count = human::count(endless);
            facts.push((
                "endless",
                format!("{count} flows send until they are stopped; no sum or share has their bytes"),
            ));
        }
        format!("{}\n{}\n{}", table(&header, rows), distribution::classes(&sizes), lines(&facts))
    }

    fn row(&self, name: String, group: Group) -> Vec<String> {
        let (first, last) = group.starts.unwrap_or_default();
        let (sizes, endless) = (Sizes::of(group.sizes), group.endless);
        vec![
            name,
            human::count(sizes.count() as u64 + endless),
            human::bytes(sizes.sum()),
            human::bytes(sizes.mean() as u64),
            human::bytes(sizes.percentile(50)),
            human::bytes(sizes.percentile(99)),
            human::bytes(sizes.percentile(100)),
            first.to_string(),
            last.to_string(),
            self.load(sizes.sum(), last.saturating_sub(first)),
        ]
    }

    /// The share of the capacity of the hosts' first links that bytes take in a time: `load` of a scenario.
    fn load(&self, bytes: u64, time: Nanos) -> String {
        let Some(network) = self.network.as_ref().filter(|_| time.0 > 0) else { return "-".to_owned() };
        let ports = network.ports();
        let first = |host: u32| ports[host as usize].first().map(|port| network.links[port.link as usize].rate.0);
        let capacity: f64 = network.hosts().filter_map(first).map(|rate| rate as f64).sum();
        format!("{} %", human::three_digits(100.0 * bytes as f64 * 8e9 / (capacity * time.0 as f64)))
    }

    fn pair_facts(&self) -> Vec<(&'static str, String)> {
        let senders: BTreeSet<u32> = self.pairs.keys().map(|pair| pair.0).collect();
        let mut received: BTreeMap<u32, u64> = BTreeMap::new();
        self.pairs.iter().for_each(|(pair, bytes)| *received.entry(pair.1).or_default() += bytes);
        let all: u64 = received.values().sum();
        let share = |bytes: u64| format!("{} %", human::three_digits(100.0 * bytes as f64 / all.max(1) as f64));
        let (senders, receivers) = (human::count(senders.len() as u64), human::count(received.len() as u64));
        let mut facts = vec![("pairs", format!("{senders} senders, {receivers} receivers"))];
        if let Some((host, bytes)) = received.iter().max_by_key(|(host, bytes)| (**bytes, u32::MAX - **host)) {
            facts.push(("busiest", format!("host {host} receives {} of all bytes", share(*bytes))));
        }
        facts.extend(self.overbooked.iter().map(|part| ("overbooks", part.to_string())));
        if let Some(network) = &self.network {
            let ports = network.ports();
            let rack = |host: u32| ports.get(host as usize).and_then(|ports| ports.first()).map(|port| port.peer);
            let local =
                self.pairs.iter().filter(|((src, dst), _)| rack(*src) == rack(*dst)).map(|(_, bytes)| bytes).sum();
            facts.push(("in racks", format!("{} of all bytes stay in the rack of their sender", share(local))));
        }
        facts
    }
}
