// SPDX-License-Identifier: GPL-2.0-only
//! `algorithm = "fastest"` against a run of each algorithm by hand.

use hpcc_formats::load;
use hpcc_model::results::collectives_csv::CollectiveRow;
use hpcc_model::results::{Rows, Summary};
use hpcc_model::scenario::Scenario;
use hpcc_simulate::fluid::{self, FluidHow};
use hpcc_simulate::{How, run};
use std::fs;
use std::path::Path;

const RULES: &str = "run.stop = \"10s\"\ntransport.mtu = 4096\ncongestion_control.algorithm = \"none\"\n";
const SERVERS: &str = "servers = { gpus = 4, rate = \"3600Gbps\", latency = \"1us\" }\n";
const ALGORITHMS: [&str; 5] = ["ring", "tree", "nvls", "nvls_tree", "halving_doubling"];

#[derive(Clone, Copy, PartialEq)]
enum By {
    Packets,
    Fluid,
}

/// The results of a scenario.
struct Ran(tempfile::TempDir);

impl Ran {
    fn of(text: &str, by: By) -> Option<Ran> {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("a.toml");
        fs::write(&file, text).expect("written");
        let ran = Ran(folder);
        let scenario: Scenario = load(&file, &[]).ok()?;
        let outcome = match by {
            By::Packets => run(scenario, &ran.out(), How { is_quiet: true, is_watched: false, threads: 1 }),
            By::Fluid => fluid::run(&scenario, &ran.out(), FluidHow { is_quiet: true, check: None }),
        };
        outcome.expect("a run");
        Some(ran)
    }

    fn out(&self) -> std::path::PathBuf {
        self.0.path().join("out")
    }

    /// The algorithm of the first collective, and its time.
    fn first(&self) -> (String, u64) {
        let rows = Rows::<CollectiveRow>::open(&self.out().join("collectives.csv")).expect("a file");
        let row = rows.map(|row| row.expect("a row")).next().expect("a collective");
        (row.algorithm, row.time_ns)
    }

    fn notes(&self) -> Vec<String> {
        let summary = Summary::read(&Path::new(&self.out()).join("summary.json")).expect("a summary");
        summary.notes.into_iter().map(|note| note.text).filter(|text| text.starts_with("fastest: ")).collect()
    }
}

/// Runs an all-reduce with each algorithm that can be done, and with `fastest`: that has the least time of them.
fn compare(network: &str, size: &str, by: By) -> String {
    let text = |algorithm: &str| {
        // Pieces of 512 KiB are so many that this takes minutes without optimisation.
        let chunk = if by == By::Fluid { ", chunk = \"256MiB\"" } else { "" };
        let traffic = format!("kind = \"collective\", operation = \"all_reduce\"{chunk}");
        format!("{RULES}{network}traffic = [{{ {traffic}, size = \"{size}\", algorithm = \"{algorithm}\" }}]\n")
    };
    let by_hand = ALGORITHMS.iter().filter_map(|name| Ran::of(&text(name), by)).map(|ran| ran.first());
    let (name, time) = by_hand.min_by_key(|(_, time)| *time).expect("an algorithm");
    let fastest = Ran::of(&text("fastest"), by).expect("a run");
    assert_eq!(fastest.first(), (name.clone(), time), "{network} {size}");
    let notes = fastest.notes();
    assert!(notes.len() == 1 && notes[0].contains(&format!("{name} {:.1} us", time as f64 / 1e3)), "{notes:?}");
    name
}

fn star(hosts: u32) -> String {
    format!("topology = {{ kind = \"star\", hosts = {hosts}, rate = \"400Gbps\", delay = \"500ns\" }}\n")
}

fn leaf_spine(leaves: u32) -> String {
    let hosts = "hosts_per_leaf = 4, rate = \"400Gbps\", delay = \"500ns\"";
    format!("topology = {{ kind = \"leaf_spine\", leaves = {leaves}, spines = 2, {hosts} }}\n")
}

fn rails(servers: u32) -> String {
    let rails = "rails = 4, spines = 4, rate = \"400Gbps\", delay = \"500ns\"";
    format!("topology = {{ kind = \"rails\", servers = {servers}, {rails} }}\n{SERVERS}")
}

#[test]
fn packets_find_the_minimum_of_runs_by_hand() {
    for size in ["1KiB", "64KiB", "1MiB"] {
        compare(&star(4), size, By::Packets);
        compare(&leaf_spine(2), size, By::Packets);
        compare(&rails(2), size, By::Packets);
    }
    compare(&rails(4), "1KiB", By::Packets);
}

#[test]
fn fluid_runs_find_the_minimum_of_runs_by_hand() {
    let mut found = Vec::new();
    for size in ["1KiB", "1MiB", "1GiB"] {
        for network in [star(8), leaf_spine(4), leaf_spine(2) + SERVERS, rails(2), rails(5), rails(16)] {
            found.push(compare(&network, size, By::Fluid));
        }
    }
    found.sort();
    found.dedup();
    assert!(found.len() > 1, "no algorithm is the fastest everywhere: {found:?}");
}

/// All equal collectives are tried once: those of tensor-parallel ranks in servers, and gradients between the ranks at each place.
#[test]
fn equal_collectives_are_tried_once() {
    let model = "layers = 8, hidden = 256, sequence = 128, tensor = 2, teraflops = 100";
    let network = "topology = { kind = \"rails\", servers = 2, rails = 2, spines = 1, rate = \"400Gbps\", delay = \"500ns\" }\n\
                   servers = { gpus = 2, rate = \"3600Gbps\", latency = \"1us\" }\n";
    let traffic = format!("traffic = [{{ kind = \"transformer\", {model}, all_reduce = \"fastest\" }}]\n");
    let ran = Ran::of(&format!("{RULES}{network}{traffic}"), By::Packets).expect("a run");
    assert_eq!(ran.notes().len(), 3, "{:?}", ran.notes());
}
