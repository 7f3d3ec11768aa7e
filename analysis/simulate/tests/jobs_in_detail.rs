// SPDX-License-Identifier: GPL-2.0-only
//! What ports send over time, at which tier jobs' bytes turn, and what stragglers and jitter cost: against sums and closed forms.

use hpcc_formats::load;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_model::results::ports_csv::PortRow;
use hpcc_model::results::sent_csv::SentRow;
use hpcc_model::results::{CsvRow, Rows};
use hpcc_simulate::{How, run};
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

const RULES: &str = "run.stop = \"1s\"\ntransport.mtu = 1000\n";

/// A run, and its folder; `files` lie beside the scenario.
fn ran(text: &str, files: &[(&str, &str)], threads: u32) -> TempDir {
    let folder = tempfile::tempdir().expect("folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let file = folder.path().join("a.toml");
    fs::write(&file, format!("{RULES}{text}")).expect("written");
    let scenario = load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    run(scenario, &folder.path().join("out"), How { is_quiet: true, is_watched: false, threads }).expect("a run");
    folder
}

fn rows<T: CsvRow>(folder: &TempDir) -> Vec<T> {
    let file = folder.path().join("out").join(T::FILE);
    Rows::open(&file).and_then(Iterator::collect).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// An incast of two onto a third, over two leaves.
const INCAST: &str = "topology = { kind = \"leaf_spine\", leaves = 2, spines = 1, hosts_per_leaf = 2, rate = \"100Gbps\", delay = \"1us\" }\n\
                      traffic = [{ kind = \"incast\", receiver = 3, senders = [0, 1], size = \"1MB\" }]\n";

#[test]
fn what_ports_send_adds_up_and_fits_their_links() {
    let text = format!("{INCAST}monitor.sent_interval = \"7us\"\n");
    let folder = ran(&text, &[], 1);
    let mut sums = BTreeMap::new();
    for row in rows::<SentRow>(&folder) {
        *sums.entry((row.node, row.port)).or_insert(0) += row.sent_bytes;
        assert!(row.sent_bytes > 0 && row.sent_bytes <= 7 * 12_500 + 1_100, "{row:?}");
    }
    let ports = rows::<PortRow>(&folder);
    for port in &ports {
        assert_eq!(port.sent_bytes, Some(sums.get(&(port.node, port.port)).copied().unwrap_or(0)), "{port:?}");
    }
    let of_host = ports.iter().find(|port| port.node == 0).expect("a host");
    assert!(of_host.sent_bytes > Some(1_000_000), "{of_host:?}");
    // From the second sample on, the link to the receiver is full while both send.
    let last_hop = ports.iter().find(|port| port.peer == 3).expect("a last hop");
    let busy: Vec<u64> = rows::<SentRow>(&folder)
        .iter()
        .filter(|row| row.node == last_hop.node && row.port == last_hop.port)
        .map(|row| row.sent_bytes)
        .collect();
    assert!(busy[2] > 7 * 12_500 * 9 / 10, "{busy:?}");
    let file = |folder: &TempDir| fs::read(folder.path().join("out/sent.csv")).expect("a file");
    assert_eq!(file(&ran(&text, &[], 2)), file(&folder), "by two threads");
    assert!(
        rows::<SentRow>(&folder).iter().all(|row| row.time_ns % 7_000 == 0),
        "the last acknowledgements are on the grid"
    );
    let without = ran(INCAST, &[], 1);
    assert!(!without.path().join("out/sent.csv").exists());
    let flows = |folder: &TempDir| fs::read(folder.path().join("out/fct.csv")).expect("a file");
    assert_eq!(flows(&without), flows(&folder), "samples change nothing");
}

#[test]
fn bytes_are_of_the_tier_where_they_turn() {
    let of = |topology: &str| {
        let traffic = "traffic = [{ kind = \"collective\", operation = \"all_to_all\", size = \"160KB\" }]\n";
        let row = rows::<JobRow>(&ran(&format!("topology = {{ {topology} }}\n{traffic}"), &[], 1))[0];
        assert_eq!(row.bytes, row.leaf_bytes + row.spine_bytes + row.core_bytes);
        [row.leaf_bytes, row.spine_bytes, row.core_bytes]
    };
    // Each rank sends a share of its 160 KB to each other one.
    assert_eq!(of("kind = \"star\", hosts = 8, rate = \"100Gbps\", delay = \"1us\""), [8 * 7 * 20_000, 0, 0]);
    let leaf_spine =
        "kind = \"leaf_spine\", leaves = 2, spines = 2, hosts_per_leaf = 4, rate = \"100Gbps\", delay = \"1us\"";
    assert_eq!(of(leaf_spine), [8 * 3 * 20_000, 8 * 4 * 20_000, 0]);
    // 16 hosts: 2 a leaf, 4 a pod.
    assert_eq!(
        of(
            "kind = \"fat_tree\", pods = 4, tors_per_pod = 2, hosts_per_tor = 2, aggs_per_pod = 2, cores_per_agg = 2, rate = \"100Gbps\", delay = \"1us\""
        ),
        [16 * 10_000, 16 * 2 * 10_000, 16 * 12 * 10_000]
    );
}

/// Each rank of a GOAL file computes so many times for 10 us.
fn computing(ranks: u32, times: u32) -> String {
    let calc = |number| format!("l{number}: calc 10000 cpu {number}\n");
    let rank = |rank| format!("rank {rank} {{\n{}}}\n", (0..times).map(calc).collect::<String>());
    format!("num_ranks {ranks}\n{}", (0..ranks).map(rank).collect::<String>())
}

fn uneven(ranks: u32, times: u32, keys: &str) -> JobRow {
    let text = format!(
        "topology = {{ kind = \"star\", hosts = {ranks}, rate = \"100Gbps\", delay = \"1us\" }}\ntraffic = [{{ kind = \"goal\", path = \"a.goal\", {keys} }}]\n"
    );
    rows(&ran(&text, &[("a.goal", &computing(ranks, times))], 1))[0]
}

#[test]
fn a_straggler_decides_when_all_are_over() {
    let usual = uneven(4, 1, "name = \"a\"");
    assert_eq!((usual.time_ns, usual.spread_ns), (Some(10_000), 0));
    let slow = uneven(4, 1, "slow_ranks = \"2\", slow_by = 1.5");
    assert_eq!((slow.time_ns, slow.slowest, slow.spread_ns), (Some(15_000), 2, 5_000));
    assert_eq!(slow.compute_ns, (3 * 10_000 + 15_000) / 4);
}

/// The greatest of n exponentially distributed times is on average their mean times 1 + 1/2 + ... + 1/n.
#[test]
fn jitter_costs_what_the_slowest_of_many_does() {
    let even = uneven(4, 1, "name = \"a\", jitter = 0.0");
    assert_eq!(even.time_ns, Some(10_000));
    let (ranks, runs) = (64, 25);
    let times = (0..runs).map(|run| uneven(ranks, 1, &format!("name = \"{run}\", jitter = 0.1")));
    let (mut longest, mut mean) = (0.0, 0.0);
    for row in times {
        longest += row.time_ns.expect("an end") as f64 / f64::from(runs);
        mean += row.compute_ns as f64 / f64::from(runs);
    }
    let harmonic: f64 = (1..=ranks).map(|n| 1.0 / f64::from(n)).sum();
    // Four standard errors: 1.28 of the maximum by 5 runs' root, 1 of the mean by 40.
    let (of_longest, of_mean) = (longest / 10_000.0 - 1.0, mean / 10_000.0 - 1.0);
    assert!((of_longest - 0.1 * harmonic).abs() < 0.1 * 4.0 * 1.28 / 5.0, "{of_longest} {}", 0.1 * harmonic);
    assert!((of_mean - 0.1).abs() < 0.1 * 4.0 / 40.0, "{of_mean}");
}

#[test]
fn slow_ranks_without_a_factor_are_refused() {
    for (keys, why) in [
        ("slow_ranks = \"1\"", "slow_by as well"),
        ("slow_by = 2.0", "slow_ranks as well"),
        ("slow_ranks = \"4\", slow_by = 2.0", "there is no rank 4; expected 0 to 3"),
        ("slow_ranks = \"x\", slow_by = 2.0", "no list of ranks"),
    ] {
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join("a.goal"), computing(4, 1)).expect("written");
        let file = folder.path().join("a.toml");
        let text = format!(
            "{RULES}topology = {{ kind = \"star\", hosts = 4, rate = \"100Gbps\", delay = \"1us\" }}\ntraffic = [{{ kind = \"goal\", path = \"a.goal\", {keys} }}]\n"
        );
        fs::write(&file, text).expect("written");
        let wrong = load(&file, &[]).expect_err(keys).to_string();
        assert!(wrong.contains("a.toml:4") && wrong.contains(why), "{wrong}");
    }
}

/// The first message of each pair waits for its queue pair, those that come meanwhile do so for the rest, later ones not at all; a
/// pair within a server has nothing to set up.
#[test]
fn a_queue_pair_is_set_up_once() {
    let file = "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 0\nb: recv 1000b from 1 tag 0\nc: send 1000b to 1 tag 1\nb requires a\nc requires b\n}\n\
        rank 1 {\na: recv 1000b from 0 tag 0\nb: send 1000b to 0 tag 0\nc: recv 1000b from 0 tag 1\nb requires a\n}\n";
    let time = |topology: &str, setup: u32| {
        let text = format!(
            "{topology}traffic = [{{ kind = \"goal\", path = \"a.goal\", connection_setup = \"{setup}us\" }}]\n"
        );
        rows::<JobRow>(&ran(&text, &[("a.goal", file)], 1))[0].time_ns.expect("an end")
    };
    let star = "topology = { kind = \"star\", hosts = 2, rate = \"100Gbps\", delay = \"1us\" }\n";
    // There and back: two queue pairs, each once; without them the answer leaves behind an acknowledgement of 60 bytes or so.
    assert!((99_990..=100_000).contains(&(time(star, 50) - time(star, 0))));
    let servers = format!("{star}servers = {{ gpus = 2, rate = \"900Gbps\", latency = \"1us\" }}\n");
    assert_eq!(time(&servers, 50), time(&servers, 0));
    let both = "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 0\nw: calc 30000\nb: send 1000b to 1 tag 1\nb requires w\n}\n\
        rank 1 {\na: recv 1000b from 0 tag 0\nb: recv 1000b from 0 tag 1\n}\n";
    let text = format!("{star}traffic = [{{ kind = \"goal\", path = \"a.goal\", connection_setup = \"50us\" }}]\n");
    let end = rows::<JobRow>(&ran(&text, &[("a.goal", both)], 1))[0].time_ns.expect("an end");
    // Both leave at 50 us; two packets of 1,048 bytes, two links, and the acknowledgement's way.
    assert!((54_000..54_600).contains(&end), "{end}");
}
