// SPDX-License-Identifier: GPL-2.0-only
//! `bench --suite`: how cost and memory grow with the network, of one build or of two in turn.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use hpcc_formats::results::Summary;
use hpcc_measures::stats::median;

use crate::beside::spread;
use hpcc_analysis::Outcome;
use hpcc_analysis::human;
use hpcc_analysis::save;
use hpcc_analysis::script;
use hpcc_analysis::script::Parts;
use hpcc_analysis::simulator::{Simulator, existing, quiet_option};
use hpcc_analysis::table::table;

/// Half the ports of a switch in three-tier fat trees, whose hosts are twice its cube: 16 to 8,192.
const HALVES: [u32; 6] = [2, 4, 6, 8, 10, 16];
/// The same with `--large`: 65,536.
const LARGE: u32 = 32;

/// What to measure.
#[derive(Debug, Args)]
pub struct Options {
    /// Measures how cost and memory grow with the network: fat trees of 16 to 8,192 hosts, permutations and Poisson traffic.
    #[arg(long, conflicts_with = "out")]
    suite: bool,
    /// Of the suite: 65,536 hosts as well.
    #[arg(long, requires = "suite", conflicts_with = "hosts")]
    large: bool,
    /// Of the suite: only these numbers of hosts.
    #[arg(long, requires = "suite", value_name = "N,...", value_delimiter = ',', allow_hyphen_values = true, value_parser = hpcc_analysis::count::<u32, { u64::MAX }>)]
    hosts: Vec<u32>,
    /// Of the suite: the scenario program of another build, which is measured in turn with this one's.
    #[arg(long, requires = "suite", value_name = "PROGRAM")]
    against: Option<PathBuf>,
}

/// Traffic that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Traffic {
    /// One flow alone: what the network costs.
    Alone,
    /// Each host sends 200 kB to another one.
    Permutation,
    /// Flows of the workload `fb_hadoop` at half of the links' rate.
    Poisson,
}

impl Traffic {
    const ALL: [Traffic; 3] = [Traffic::Alone, Traffic::Permutation, Traffic::Poisson];

    fn name(self) -> &'static str {
        match self {
            Traffic::Alone => "one flow",
            Traffic::Permutation => "permutation",
            Traffic::Poisson => "Poisson",
        }
    }

    fn section(self, hosts: u32, workload: &str) -> String {
        match self {
            Traffic::Alone => format!("kind = 'flow'\nsrc = 0\ndst = {}\nsize = '200kB'\n", hosts - 1),
            Traffic::Permutation => "kind = 'permutation'\nsize = '200kB'\n".into(),
            Traffic::Poisson => format!("kind = 'poisson'\nload = 0.5\nsizes = '{workload}'\nduration = '100us'\n"),
        }
    }
}

/// What the repetitions of a run took.
#[derive(Debug, Default)]
struct Cost {
    hops: u64,
    flows: u64,
    run_ns: Vec<f64>,
    job_ns: Vec<f64>,
    setup_s: Vec<f64>,
    peak: Vec<f64>,
}

impl Cost {
    fn add(&mut self, summary: &Summary) {
        self.hops = summary.packet_hops;
        self.flows = summary.flows_total;
        self.run_ns.push(summary.ns_per_packet_hop);
        let job = summary.setup_cpu_s + summary.run_cpu_s;
        self.job_ns.push(job * 1e9 / summary.packet_hops.max(1) as f64);
        self.setup_s.push(summary.setup_cpu_s);
        self.peak.push(summary.peak_rss_bytes as f64);
    }
}

/// Number of the build, hosts, traffic.
type Key = (u32, Traffic, usize);

impl Options {
    /// Whether the suite is asked for.
    pub fn is_asked_for(&self) -> bool {
        self.suite
    }

    /// Runs each case `runs` times with each build, by turns, and prints a table.
    ///
    /// # Errors
    /// If there are no trees of such sizes, a program or the workload cannot be found, or a run fails.
    pub fn run(&self, runs: NonZeroU32) -> Result<Outcome> {
        let halves = self.halves()?;
        let mut builds = vec![Simulator::find(Parts::default())?];
        if let Some(program) = &self.against {
            builds.push(Simulator::at(existing(program)?));
        }
        let mut costs: BTreeMap<Key, Cost> = BTreeMap::new();
        for half in halves {
            for traffic in Traffic::ALL {
                for repetition in 1..=runs.get() {
                    human::show_step(&format!("{} hosts, {}, {repetition} of {runs}", hosts(half), traffic.name()));
                    for (build, simulator) in builds.iter().enumerate() {
                        let summary = measure(simulator, half, traffic)?;
                        costs.entry((hosts(half), traffic, build)).or_default().add(&summary);
                    }
                }
            }
        }
        human::clear_step();
        human::print(&text(&costs, runs))?;
        Ok(Outcome::Good)
    }

    fn halves(&self) -> Result<Vec<u32>> {
        let known = HALVES.iter().copied().chain([LARGE]);
        if self.hosts.is_empty() {
            return Ok(known.filter(|&half| half != LARGE || self.large).collect());
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
fn scenario(half: u32, traffic: Traffic, workload: &str) -> String {
    let traffic = traffic.section(hosts(half), workload);
    format!(
        "[run]\nstop = '1s'\n[topology]\nkind = 'fat_tree'\npods = {}\ntors_per_pod = {half}\naggs_per_pod = {half}\n\
         cores_per_agg = {half}\nhosts_per_tor = {half}\nrate = '100Gbps'\ndelay = '1us'\n[[traffic]]\n{traffic}",
        2 * half
    )
}

fn measure(simulator: &Simulator, half: u32, traffic: Traffic) -> Result<Summary> {
    let folder = save::temporary_folder()?;
    let (config, out) = (folder.path().join("suite.toml"), folder.path().join("out"));
    let workload = script::source_tree()?.join("configs/workloads/fb_hadoop.cdf");
    fs::write(&config, scenario(half, traffic, &workload.display().to_string()))
        .with_context(|| config.display().to_string())?;
    let status = simulator
        .status(simulator.command(&config, &out, &[]).args(quiet_option()))
        .with_context(|| simulator.path().display().to_string())?;
    ensure!(status.success(), "{} ended with {status}", simulator.path().display());
    Summary::read(&out.join("summary.json")).map_err(Into::into)
}

/// The table, and what its columns mean.
fn text(costs: &BTreeMap<Key, Cost>, runs: NonZeroU32) -> String {
    let rows = costs.iter().map(|(&(hosts, traffic, build), cost)| {
        let empty = costs.get(&(hosts, Traffic::Alone, build)).map_or(0.0, |alone| median(&alone.peak));
        let peak = median(&cost.peak);
        let per_flow = (peak - empty) / (cost.flows.max(2) - 1) as f64;
        let ratio = costs.get(&(hosts, traffic, 1)).filter(|_| build == 0).map(|other| ratio(cost, other));
        vec![
            hosts.to_string(),
            traffic.name().into(),
            ["this", "other"][build].into(),
            cost.hops.to_string(),
            whole_spread(&cost.run_ns),
            whole_spread(&cost.job_ns),
            spread(&cost.setup_s),
            format!("{:.0}", peak / 1e6),
            format!("{:.1}", empty / 1e3 / f64::from(hosts)),
            if traffic == Traffic::Alone { String::new() } else { format!("{:.1}", per_flow.max(0.0) / 1e3) },
            ratio.unwrap_or_default(),
        ]
    });
    let titles = [
        "hosts",
        "traffic",
        "build",
        "packet-hops",
        "run, ns/hop",
        "whole job, ns/hop",
        "set-up (CPU s)",
        "peak (MB)",
        "kB a host",
        "kB a flow",
        "this/other",
    ];
    format!(
        "{}\n\n Medians and ranges of {runs} runs each, in turn. kB a host: all memory of a run with one flow, by hosts. kB a \
         flow: what more a run with more flows took, frames included.\n",
        table(&titles, rows)
    )
}

/// Cost of a packet-hop of one build by that of the other, run by run.
fn ratio(this: &Cost, other: &Cost) -> String {
    let ratios: Vec<f64> = this.run_ns.iter().zip(&other.run_ns).map(|(this, other)| this / other).collect();
    spread(&ratios)
}

/// As [`spread`], in whole numbers.
fn whole_spread(values: &[f64]) -> String {
    let (least, most) = values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
    format!("{:.0} ({least:.0} to {most:.0})", median(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(hosts: &[u32], large: bool) -> Options {
        Options { suite: true, large, hosts: hosts.into(), against: None }
    }

    #[test]
    fn sizes_are_those_of_fat_trees() {
        assert_eq!(options(&[], false).halves().expect("all"), HALVES);
        assert_eq!(options(&[], true).halves().expect("all").last(), Some(&LARGE));
        assert_eq!(options(&[128, 16], false).halves().expect("these"), [4, 2]);
        let told = options(&[100], false).halves().expect_err("no such tree").to_string();
        assert!(told.contains("100") && told.contains("16, 128, 432, 1024, 2000, 8192, 65536"), "{told}");
    }
}
