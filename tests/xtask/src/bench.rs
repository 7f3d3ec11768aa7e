// SPDX-License-Identifier: GPL-2.0-only
//! `bench`: what whole runs cost, of one build or of several in turn: runs of the 2019 simulator's files, and fat trees
//! by which cost and memory grow with the network.

use std::fmt;
use std::fs::{self, File};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use hpcc_analysis::script;
use hpcc_analysis::simulator::{Kind, Simulator, existing, quiet_option};
use hpcc_analysis::table::table;
use hpcc_analysis::{Outcome, count, human, save};
use hpcc_measures::stats::median;
use hpcc_model::results::Summary;
use wait4::Wait4;

use crate::parity::{self, Data, Replay};

/// Runs of the 2019 simulator's files: a fat tree of 320 hosts, briefly and for longer.
const HELD: [(&str, &str); 2] = [("fat-fbhdp30-short", "hp"), ("fat-websearch30", "hp")];
/// Half the ports of a switch in three-tier fat trees, whose hosts are twice its cube: 16 to 8,192.
const HALVES: [u32; 6] = [2, 4, 6, 8, 10, 16];
/// Half the ports of a switch with `--large`: 65,536 hosts.
const LARGE: u32 = 32;
/// Repetitions of a measurement at most.
const MOST_RUNS: u64 = 9_999;

/// What to measure.
#[derive(Args)]
pub struct Options {
    /// Repetitions of each run; medians are shown.
    #[arg(long, default_value = "5", value_name = "N", allow_hyphen_values = true, value_parser = count::<NonZeroU32, MOST_RUNS>)]
    runs: NonZeroU32,
    #[command(flatten)]
    data: Data,
    /// The scenario program of another build, which is measured in turn with this one's.
    #[arg(long, value_name = "PROGRAM")]
    against: Option<PathBuf>,
    /// The 2019 simulator, which is called with a configuration file: measured in turn, on its own files.
    #[arg(long, value_name = "PROGRAM")]
    reference: Option<PathBuf>,
    /// Measures how cost and memory grow with the network: fat trees of 16 to 8,192 hosts, permutations and Poisson traffic.
    #[arg(long)]
    suite: bool,
    /// Of the suite: 65,536 hosts as well.
    #[arg(long, requires = "suite", conflicts_with = "hosts")]
    large: bool,
    /// Of the suite: only these numbers of hosts.
    #[arg(long, requires = "suite", value_name = "N,...", value_delimiter = ',', allow_hyphen_values = true, value_parser = count::<u32, { u64::MAX }>)]
    hosts: Vec<u32>,
    /// Measures what the core costs per packet instead.
    #[arg(long, conflicts_with_all = ["runs", "against", "reference", "suite"])]
    pub micro: bool,
    /// Measures the first command of README.md instead, in a new clone of the last commit.
    #[arg(long, conflicts_with_all = ["runs", "against", "reference", "suite", "micro"])]
    pub first: bool,
}

/// Traffic of a fat tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traffic {
    /// One flow alone: what the network costs.
    Alone,
    /// Each host sends 200 kB to another one.
    Permutation,
    /// Flows of the workload `fb_hadoop` at half of the links' rate.
    Poisson,
}

impl Traffic {
    fn name(self) -> &'static str {
        match self {
            Traffic::Alone => "one flow",
            Traffic::Permutation => "permutation",
            Traffic::Poisson => "Poisson",
        }
    }
}

/// A case to run.
enum Case {
    /// Files of the 2019 simulator.
    Held(Box<parity::Case>),
    /// A fat tree whose switches have twice so many ports.
    Tree(u32, Traffic),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Case::Held(case) => case.run.fmt(f),
            Case::Tree(half, traffic) => write!(f, "{} hosts, {}", hosts(*half), traffic.name()),
        }
    }
}

/// The program that runs it.
enum Program {
    Ours(Simulator),
    Reference(PathBuf),
}

/// The cost of a run's repetitions.
#[derive(Debug, Default)]
struct Cost {
    hops: u64,
    flows: u64,
    run_ns: Vec<f64>,
    /// Processor time of the whole job, in seconds.
    job_s: Vec<f64>,
    setup_s: Vec<f64>,
    peak: Vec<f64>,
}

impl Cost {
    fn add(&mut self, summary: &Summary) {
        self.hops = summary.packet_hops;
        self.flows = summary.flows_total;
        self.run_ns.push(summary.ns_per_packet_hop);
        self.job_s.push(summary.setup_cpu_s + summary.run_cpu_s);
        self.setup_s.push(summary.setup_cpu_s);
        self.peak.push(summary.peak_rss_bytes as f64);
    }
}

impl Options {
    /// Runs each case with each program, by turns, and prints a table.
    ///
    /// # Errors
    /// If there are no trees of such sizes, a program or files cannot be found, or a run fails.
    pub fn run(&self) -> Result<Outcome> {
        let reference = self.reference.as_deref().map(existing).transpose()?;
        let other = self.against.as_deref().map(existing).transpose()?;
        let cases = self.cases()?;
        let mut programs = vec![("this", Program::Ours(Simulator::find(Kind::Core)?))];
        programs.extend(other.map(|program| ("other", Program::Ours(Simulator::at(program)))));
        programs.extend(reference.map(|program| ("reference", Program::Reference(program))));
        let mut costs: Vec<Vec<Cost>> = Vec::new();
        for case in &cases {
            let mut of_case: Vec<Cost> = programs.iter().map(|_| Cost::default()).collect();
            for repetition in 1..=self.runs.get() {
                human::show_step(&format!("{case}, {repetition} of {}", self.runs));
                for ((_, program), cost) in programs.iter().zip(&mut of_case) {
                    measure(program, case, cost)?;
                }
            }
            costs.push(of_case);
        }
        human::clear_step();
        let names: Vec<&str> = programs.iter().map(|(name, _)| *name).collect();
        human::print(&text(&cases, &names, &costs, self.runs)).map(|()| Outcome::Good)
    }

    /// The 2019 simulator's files unless the suite alone is asked for, and its trees.
    fn cases(&self) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        if !self.suite || self.reference.is_some() {
            let is_held = |run: &parity::Run| HELD.contains(&(&run.scenario, &run.name));
            cases.extend(self.data.read(is_held)?.into_iter().map(|case| Case::Held(Box::new(case))));
        }
        for half in self.halves()? {
            cases.extend(
                [Traffic::Alone, Traffic::Permutation, Traffic::Poisson].map(|traffic| Case::Tree(half, traffic)),
            );
        }
        Ok(cases)
    }

    fn halves(&self) -> Result<Vec<u32>> {
        let known = HALVES.iter().copied().chain([LARGE]);
        if self.hosts.is_empty() {
            return Ok(known.filter(|&half| self.suite && (half != LARGE || self.large)).collect());
        }
        let of = |&wanted: &u32| {
            let Some(half) = known.clone().find(|&half| hosts(half) == wanted) else {
                let names: Vec<String> = known.clone().map(|half| hosts(half).to_string()).collect();
                bail!("there is no fat tree of {wanted} hosts; expected some of {}", names.join(", "));
            };
            Ok(half)
        };
        self.hosts.iter().map(of).collect()
    }
}

/// Hosts of the tree whose switches have twice so many ports.
fn hosts(half: u32) -> u32 {
    2 * half.pow(3)
}

/// The experiment, as a user would write it.
fn scenario(half: u32, traffic: Traffic, workload: &Path) -> String {
    let traffic = match traffic {
        Traffic::Alone => format!("kind = 'flow'\nsrc = 0\ndst = {}\nsize = '200kB'\n", hosts(half) - 1),
        Traffic::Permutation => "kind = 'permutation'\nsize = '200kB'\n".into(),
        Traffic::Poisson => {
            format!("kind = 'poisson'\nload = 0.5\nsizes = '{}'\nduration = '100us'\n", workload.display())
        }
    };
    format!(
        "[run]\nstop = '1s'\n[topology]\nkind = 'fat_tree'\npods = {}\ntors_per_pod = {half}\naggs_per_pod = {half}\n\
         cores_per_agg = {half}\nhosts_per_tor = {half}\nrate = '100Gbps'\ndelay = '1us'\n[[traffic]]\n{traffic}",
        2 * half
    )
}

fn measure(program: &Program, case: &Case, cost: &mut Cost) -> Result<()> {
    match (program, case) {
        (Program::Ours(simulator), Case::Held(case)) => cost.add(&Replay::of(case, simulator, &[])?.summary),
        (Program::Ours(simulator), Case::Tree(half, traffic)) => {
            let folder = save::temporary_folder()?;
            let (config, out) = (folder.path().join("suite.toml"), folder.path().join("out"));
            let workload = script::source_tree()?.join("configs/workloads/fb_hadoop.cdf");
            fs::write(&config, scenario(*half, *traffic, &workload)).with_context(|| config.display().to_string())?;
            let named = || simulator.path().display().to_string();
            let mut command = simulator.command(&config, &out, &[]);
            let status = simulator.status(command.args(quiet_option())).with_context(named)?;
            ensure!(status.success(), "{} ended with {status}", named());
            cost.add(&Summary::read(&out.join("summary.json"))?);
        }
        (Program::Reference(program), Case::Held(case)) => cost.job_s.push(of_reference(program, case)?),
        (Program::Reference(_), Case::Tree(..)) => {}
    }
    Ok(())
}

/// Processor time of a run of the 2019 simulator, in seconds.
fn of_reference(program: &Path, case: &parity::Case) -> Result<f64> {
    let folder = save::temporary_folder()?;
    let config = case.unpack(folder.path())?;
    let log = folder.path().join("stderr.log");
    let mut command = Command::new(program);
    command.arg(&config).current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command
        .stderr(File::create(&log).with_context(|| log.display().to_string())?)
        .spawn()
        .with_context(|| program.display().to_string())?;
    let used = child.wait4()?;
    let said = || fs::read_to_string(&log).unwrap_or_default();
    ensure!(used.status.success(), "{} ended with {}: {}", program.display(), used.status, said().trim());
    Ok((used.rusage.utime + used.rusage.stime).as_secs_f64())
}

const TITLES: [&str; 11] = [
    "run",
    "program",
    "packet-hops",
    "run, ns/hop",
    "whole job, ns/hop",
    "set-up (CPU s)",
    "peak (MB)",
    "kB a host",
    "kB a flow",
    "whole job (CPU s)",
    "times as fast",
];

/// The table, and what its columns mean.
fn text(cases: &[Case], names: &[&str], costs: &[Vec<Cost>], runs: NonZeroU32) -> String {
    let mut rows = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        for (program, (name, cost)) in names.iter().zip(&costs[index]).enumerate() {
            if cost.job_s.is_empty() {
                continue;
            }
            let ours = &costs[index][0];
            let per_hop: Vec<f64> = cost.job_s.iter().map(|s| s * 1e9 / ours.hops.max(1) as f64).collect();
            let faster: Vec<f64> = cost.job_s.iter().zip(&ours.job_s).map(|(theirs, ours)| theirs / ours).collect();
            let shown = |values: &[f64], digits| if values.is_empty() { String::new() } else { spread(values, digits) };
            let mut cells = vec![case.to_string(), (*name).into()];
            cells.push(if cost.hops == 0 { String::new() } else { cost.hops.to_string() });
            cells.extend([shown(&cost.run_ns, 0), shown(&per_hop, 0), shown(&cost.setup_s, 2)]);
            cells.push(if cost.peak.is_empty() { String::new() } else { format!("{:.0}", median(&cost.peak) / 1e6) });
            cells.extend(memory(case, cost, cases, costs, program));
            cells.push(shown(&cost.job_s, 2));
            cells.push(if program == 0 { String::new() } else { shown(&faster, 2) });
            rows.push(cells);
        }
    }
    format!(
        "{}\n\n Medians and ranges of {runs} runs each, in turn. kB a host: all memory of a run with one flow, by hosts. kB a \
         flow: what more a run with more flows took, frames included. Times as fast: this build, than the program of the row.\n",
        table(&TITLES, rows)
    )
}

/// Memory of a tree by its hosts, and by its flows.
fn memory(case: &Case, cost: &Cost, cases: &[Case], costs: &[Vec<Cost>], program: usize) -> [String; 2] {
    let Case::Tree(half, traffic) = case else { return [String::new(), String::new()] };
    let is_empty = |other: &Case| matches!(other, Case::Tree(of, Traffic::Alone) if of == half);
    let empty = cases.iter().position(is_empty).map_or(0.0, |alone| median(&costs[alone][program].peak));
    let per_flow = (median(&cost.peak) - empty).max(0.0) / (cost.flows.max(2) - 1) as f64;
    let of_flows = if *traffic == Traffic::Alone { String::new() } else { format!("{:.1}", per_flow / 1e3) };
    [format!("{:.1}", empty / 1e3 / f64::from(hosts(*half))), of_flows]
}

/// Median, least and most.
fn spread(values: &[f64], digits: usize) -> String {
    let (least, most) = values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
    format!("{:.digits$} ({least:.digits$} to {most:.digits$})", median(values))
}
