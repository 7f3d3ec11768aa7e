// SPDX-License-Identifier: GPL-2.0-only
//! What a clock shows, and who looks when, changes no result: a run whose times all are later has all results later, and monitors
//! only watch.

use hpcc_core::node::NodeSettings;
use hpcc_simulate::{How, run};
use std::fs;
use std::path::Path;

/// Two incasts and a permutation across two leaves, all times by so many ns later.
fn scenario(later: u64, extras: &str) -> String {
    let at = |time: u64| format!("\"{}ns\"", time + later);
    let failure = format!("failures.links = [{{ time = {}, a = 6, b = 8, until = {} }}]\n", at(21_300), at(77_700));
    format!(
        r#"
run.stop = {stop}
topology = {{ kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 3, rate = "100Gbps", delay = "1us" }}
traffic = [
    {{ kind = "incast", receiver = 5, sender_count = 5, size = "20KB", start = {first} }},
    {{ kind = "incast", receiver = 5, sender_count = 2, size = "200KB", start = {first} }},
    {{ kind = "permutation", size = "100KB", start = {second} }},
]
{extras}
"#,
        stop = at(3_000_000),
        first = at(0),
        second = at(7_000),
    )
    .replace("FAILURE\n", &failure)
}

/// Source, destination, ports, size, start since `later`, time and ideal time of each flow, in the order in which they end.
fn flows(folder: &Path, text: &str, later: u64, threads: u32) -> Vec<Vec<u64>> {
    let (file, out) = (folder.join("scenario.toml"), folder.join("out"));
    fs::write(&file, text).expect("a file");
    let scenario =
        hpcc_formats::load_with(&file, &[], NodeSettings::default()).unwrap_or_else(|wrong| panic!("{wrong}: {text}"));
    run(scenario, &out, How { is_quiet: true, is_watched: false, threads })
        .unwrap_or_else(|_| panic!("no run: {text}"));
    let lines = fs::read_to_string(out.join("fct.txt")).expect("flows");
    let row = |line: &str| {
        let words =
            line.split_whitespace().map(|word| u64::from_str_radix(word, if word.len() == 8 { 16 } else { 10 }));
        let mut row: Vec<u64> = words.map(|word| word.expect("a number")).collect();
        row[5] -= later;
        row
    };
    lines.lines().map(row).collect()
}

const ALGORITHMS: [&str; 10] =
    ["hpcc", "hpcc_plus", "rx_hpcc", "power_tcp", "dcqcn", "timely", "dctcp", "swift", "strack", "theta_power_tcp"];

/// Algorithms, balancers and layouts, each with what it asks for.
fn cases() -> Vec<String> {
    let algorithm = |name: &str| format!("congestion_control.algorithm = \"{name}\"\n");
    let mut cases: Vec<String> = ALGORITHMS.iter().map(|name| algorithm(name)).collect();
    cases.push(algorithm("bolt") + "wire.profile = \"rocev2_ipv6\"\n");
    cases.push(
        algorithm("swift")
            + "wire.profile = \"rocev2_ipv6\"\ntelemetry.layout = \"csig\"\ntelemetry.csig_signal = \"delay\"\n",
    );
    for scheme in ["conga", "flowlet", "drill", "random", "adaptive"] {
        let lossy = "switch.mode = \"lossy\"\ntransport.recovery = \"sack\"\n";
        cases.push(format!("{}load_balancing.scheme = \"{scheme}\"\n{lossy}", algorithm("dcqcn")));
    }
    cases.push(algorithm("hpcc_plus") + "load_balancing.scheme = \"conweave\"\n");
    cases.push(algorithm("hpcc_plus") + "receive = { hosts = \"5\", rate = \"40Gbps\", buffer = \"300KB\" }\n");
    cases.push(
        algorithm("dcqcn") + "switch.ecn_kmin = \"20KB\"\nswitch.ecn_kmax = \"80KB\"\nswitch.buffer = \"300KB\"\n",
    );
    for control in ["nscc", "rccc"] {
        let trim = "switch.mode = \"lossy\"\nswitch.overflow = \"trim\"\n";
        cases.push(format!(
            "{trim}transport = {{ kind = \"uec\", uec_control = \"{control}\", entropy = \"mixed\" }}\n"
        ));
    }
    cases
}

#[test]
fn a_shift_of_time_shifts_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for case in cases() {
        for failure in ["", "FAILURE\n"] {
            let extras = format!("{failure}{case}");
            let expected = flows(folder.path(), &scenario(0, &extras), 0, 1);
            assert!(expected.len() > 7, "{extras}: {} flows", expected.len());
            for later in [1_000, 1_000_000, 1 << 33] {
                if flows(folder.path(), &scenario(later, &extras), later, 1) != expected {
                    wrong.push(format!("{later} ns later: {extras}"));
                }
            }
            if flows(folder.path(), &scenario(0, &extras), 0, 2) != expected {
                wrong.push(format!("two threads: {extras}"));
            }
            for interval in ["100ns", "50us"] {
                let watched = format!(
                    "{extras}monitor.goodput_interval = \"{interval}\"\nmonitor.queue_interval = \"{interval}\"\n"
                );
                if flows(folder.path(), &scenario(0, &watched), 0, 1) != expected {
                    wrong.push(format!("watched each {interval}: {extras}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A flow each 4 us over the shorter of two ways, which fails in between: what has finished before had that way for its ideal.
#[test]
fn a_failure_changes_no_ideal_of_the_past() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("topology.txt"),
        "5 3 5\n2 3 4\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n2 4 10Gbps 1us 0\n4 3 10Gbps 1us 0\n",
    )
    .expect("a file");
    let ideals = |time: u64, interval: &str| {
        let flow = |n: u64| {
            format!("{{ kind = \"flow\", src = 0, dst = 1, size = \"10KB\", start = \"{}ns\" }}", 10_000 + n * 4_000)
        };
        let list: Vec<String> = (0..20).map(flow).collect();
        let text = format!(
            "run.stop = \"10ms\"\ntopology = {{ kind = \"file\", path = \"topology.txt\" }}\ntraffic = [{}]\n\
             failures.links = [{{ time = \"{time}ns\", a = 2, b = 3 }}]\n{interval}",
            list.join(", ")
        );
        flows(folder.path(), &text, 0, 1)
    };
    for time in [60_000, 90_000] {
        let expected = ideals(time, "");
        let (before, after): (Vec<_>, Vec<_>) = expected.iter().partition(|flow| flow[5] + flow[6] < time);
        assert!(before.len() > 5 && before.iter().all(|flow| flow[7] == before[0][7]), "{before:?}");
        // One that the failure met was sooner by the way before it.
        let (late, met): (Vec<_>, Vec<_>) = after.into_iter().partition(|flow| flow[5] >= time);
        assert!(late.iter().all(|flow| flow[7] > 2 * before[0][7]), "{late:?}");
        assert!(met.iter().all(|flow| flow[7] == before[0][7]), "{met:?}");
        for interval in ["100ns", "1us", "10us", "50us"] {
            let watched = ideals(time, &format!("monitor.goodput_interval = \"{interval}\"\n"));
            assert_eq!(watched, expected, "{time} ns, each {interval}");
        }
    }
}
