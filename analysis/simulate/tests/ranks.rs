// SPDX-License-Identifier: GPL-2.0-only
//! Ranks, here threads that exchange in memory: each file of results is that of one process.

use hpcc_core::cc::Algorithm;
use hpcc_core::node::{ControlSettings, NodeSettings};
use hpcc_model::results::Summary;
use hpcc_simulate::{How, Outcome, Program, Ranks, run_in};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

/// What each rank has put on the table: its value, and what is for each other.
type Table = Mutex<Vec<(u64, Vec<Vec<u8>>)>>;

struct Seat {
    rank: usize,
    table: Arc<(Table, Barrier)>,
}

impl Ranks for Seat {
    fn rank(&self) -> u32 {
        self.rank as u32
    }

    fn size(&self) -> u32 {
        self.table.0.lock().expect("nobody panics").len() as u32
    }

    fn exchange(&mut self, value: u64, out: &[Vec<u8>], into: &mut [Vec<u8>]) -> u64 {
        let (table, all_are_here) = &*self.table;
        table.lock().expect("nobody panics")[self.rank] = (value, out.into());
        all_are_here.wait();
        let least = {
            let posts = table.lock().expect("nobody panics");
            posts.iter().zip(into).for_each(|(post, into)| into.clone_from(&post.1[self.rank]));
            posts.iter().map(|post| post.0).min()
        };
        all_are_here.wait();
        least.expect("a rank")
    }
}

/// Runs a file by so many ranks, into a folder of their number; with a reason for which the program of one of them ends the run.
fn run(file: &Path, ranks: usize, faulty: Option<usize>) -> Vec<Result<Outcome, Outcome>> {
    let table = Arc::new((Mutex::new(vec![(0, Vec::new()); ranks]), Barrier::new(ranks)));
    let one = |rank| {
        let (seat, file) = (Seat { rank, table: Arc::clone(&table) }, file.to_owned());
        thread::spawn(move || {
            let none: Vec<Box<dyn Algorithm>> = Vec::new();
            let defaults = NodeSettings::new(ControlSettings::with(none, |_| Err(String::new())));
            let scenario = hpcc_formats::load_with(&file, &[], defaults).expect("a scenario");
            let fault = || faulty.filter(|&faulty| faulty == rank).map(|rank| format!("rank {rank} is out of order"));
            let program = Program { ns3: "none", build_profile: "", fault: &fault, clock: None };
            let how = How { is_quiet: true, is_watched: false, threads: 1 };
            run_in(scenario, &file.with_file_name(ranks.to_string()), how, &program, Some(Box::new(seat)))
        })
    };
    let all: Vec<_> = (0..ranks).map(one).collect();
    all.into_iter().map(|one| one.join().expect("no panic")).collect()
}

fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scenario.toml");
    fs::write(&file, text).expect("a file");
    (folder, file)
}

const NETWORK: &str = r#"
topology = { kind = "leaf_spine", leaves = 3, spines = 2, hosts_per_leaf = 4, rate = "100Gbps", delay = "300ns", fabric_delay = "1us", loss = 0.0005 }
wire.profile = "rocev2_ipv6"
monitor.queue_interval = "1us"
monitor.goodput_interval = "5us"
monitor.control_interval = "10us"
monitor.trace_nodes = [0, 12]
monitor.capture_nodes = [0, 13]
monitor.pauses = true
"#;

/// Pauses, losses, a link that fails and comes up, queue pairs of their own, a histogram, flows that do not end.
const FLOWS: &str = r#"
run.stop = "400us"
switch.buffer = "1MB"
congestion_control.algorithm = "none"
monitor.queue_histogram_start = "0us"
monitor.queue_histogram_end = "200us"
failures.links = [{ time = "20700ns", a = 12, b = 15, until = "90400ns" }]
traffic = [
    { kind = "incast", receiver = 0, sender_count = 11, size = "150KB" },
    { kind = "permutation", size = "200KB", start = "5us" },
    { kind = "flow", src = 1, dst = 9, size = "1GB" },
]
"#;

const JOBS: &str = r#"
run.stop = "50ms"
monitor.timeline = true
servers = { gpus = 2, rate = "900Gbps", latency = "1us" }
transport.queue_pairs = "per_pair"
traffic = [
    { kind = "collective", name = "sum", operation = "all_reduce", size = "300KB", iterations = 2 },
    { kind = "collective", name = "late", operation = "all_to_all", size = "200KB", start = "30us" },
]
"#;

#[test]
fn any_number_of_ranks_leaves_the_same_files() {
    for (name, head) in [("flows", FLOWS), ("jobs", JOBS)] {
        let (folder, file) = written(&format!("{head}{NETWORK}"));
        let alone = run(&file, 1, None);
        for ranks in [2, 3] {
            assert_eq!(run(&file, ranks, None), vec![alone[0]; ranks], "{name}");
            let of = |ranks: usize| folder.path().join(ranks.to_string());
            let mut compared = 0;
            for entry in fs::read_dir(of(1)).expect("results") {
                let file = entry.expect("a file").file_name();
                if file != "summary.json" {
                    let read = |ranks: usize| fs::read(of(ranks).join(&file)).ok();
                    assert!(read(1) == read(ranks), "{name}: {file:?} differs with {ranks} ranks");
                    compared += 1;
                }
            }
            assert!(compared > 11, "{name}: {compared} files");
            let summary = |ranks: usize| Summary::read(&of(ranks).join("summary.json")).expect("a summary");
            let (one, several) = (summary(1), summary(ranks));
            assert!(name == "jobs" || (one.pfc_pauses > 0 && one.losses > 0 && one.resent_packets > 0), "{one:?}");
            let (did, costs) = (several.ranks.clone(), one.clone());
            let sum = |of: fn(&hpcc_model::results::RankSummary) -> u64| did.iter().map(of).sum::<u64>();
            assert_eq!((sum(|rank| rank.nodes), sum(|rank| rank.packet_hops)), (17, one.packet_hops), "{did:?}");
            assert!(did.iter().all(|rank| rank.sent_frames > 100 && rank.windows == did[0].windows), "{did:?}");
            let several = Summary {
                setup_cpu_s: costs.setup_cpu_s,
                run_cpu_s: costs.run_cpu_s,
                wall_s: costs.wall_s,
                peak_rss_bytes: costs.peak_rss_bytes,
                ns_per_packet_hop: costs.ns_per_packet_hop,
                ranks: Vec::new(),
                ..several
            };
            assert_eq!(several, one, "{name}");
        }
    }
}

#[test]
fn a_fault_of_one_rank_ends_all_with_its_reason() {
    let (folder, file) = written(&format!("{FLOWS}{NETWORK}"));
    assert_eq!(run(&file, 3, Some(2)), vec![Ok(Outcome::Stopped); 3]);
    let summary = Summary::read(&folder.path().join("3/summary.json")).expect("a summary");
    assert_eq!(summary.stopped.as_deref(), Some("rank 2 is out of order"));
}

#[test]
fn what_rank_0_cannot_write_nobody_runs() {
    let (folder, file) = written(&format!("{FLOWS}{NETWORK}"));
    fs::write(folder.path().join("2"), "a file").expect("a file");
    assert_eq!(run(&file, 2, None), vec![Err(Outcome::BadInput); 2]);
}
