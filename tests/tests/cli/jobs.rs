// SPDX-License-Identifier: GPL-2.0-only
//! Jobs, from a file to the table of nccl-tests.

use hpcc_formats::results::collectives_csv::{self, CollectiveRow};
use hpcc_formats::results::jobs_csv;
use hpcc_tests::Bench;
use std::fs;

/// Two racks of four hosts, without congestion control: times can be reckoned.
const TOML: &str = r#"
run.stop = "50ms"
congestion_control.algorithm = "none"
topology = { kind = "leaf_spine", leaves = 2, spines = 4, hosts_per_leaf = 4, rate = "100Gbps", delay = "1us" }
traffic = [{ kind = "collective", name = "job", operation = "all_reduce", size = "4MB" }]
"#;

fn run(bench: &Bench, set: &[&str]) -> Vec<CollectiveRow> {
    let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", pair]).collect();
    let told = bench.hpcc(&[&["run", "job.toml", "--out", "out", "--force", "--quiet"], &set[..]].concat());
    assert_eq!(told.code, Some(0), "{set:?}: {}", told.err);
    collectives_csv::read(&bench.path("out/collectives.csv")).expect("collectives")
}

/// With 2 ranks on one switch and data in one direction all is known: frames leave one behind the other.
#[test]
fn a_message_ends_at_its_receiver_when_its_last_byte_arrives() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let pair = ["traffic.0.ranks=[0, 1]", "traffic.0.operation=broadcast", "traffic.0.iterations=2"];
    let rows = run(&bench, &pair);
    let summary = fs::read_to_string(bench.path("out/fct.csv")).expect("flows");
    let ideal: u64 = summary.lines().nth(1).and_then(|line| line.split(',').nth(9)?.parse().ok()).expect("a time");
    // 4,000 packets of 1,048 bytes at 100 Gb/s, each for 83.84 ns, in whole ones 84; the last one takes two links of 1 us.
    let arrival = 4_001 * 84 + 2_000;
    let (first, second) = (&rows[0], &rows[1]);
    assert_eq!(first.time_ns, ideal, "the sender's end is the acknowledgement");
    // The acknowledgement has 60 bytes or so, and the same way.
    assert!((arrival + 2_000..arrival + 2_030).contains(&ideal), "{ideal}, {arrival}");
    assert_eq!(second.start_ns, arrival, "the receiver begins its second iteration before the sender does");
}

/// Each algorithm moves as many bytes as its name promises, and is as fast as links allow, but not faster.
#[test]
fn collectives_take_what_their_bytes_take() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let size = 4_000_000.0;
    for (operation, algorithm, bytes, slack) in [
        ("all_reduce", "ring", 14.0 / 8.0, 1.2),
        ("all_gather", "ring", 7.0 / 8.0, 1.2),
        ("reduce_scatter", "ring", 7.0 / 8.0, 1.2),
        ("all_to_all", "direct", 7.0 / 8.0, 1.5),
        ("all_reduce", "halving_doubling", 14.0 / 8.0, 3.0),
        ("send_receive", "ring", 1.0, 1.2),
    ] {
        let rows =
            run(&bench, &[&format!("traffic.0.operation={operation}"), &format!("traffic.0.algorithm={algorithm}")]);
        let least = size * bytes * 1_048.0 / 1_000.0 * 0.08;
        let time = rows[0].time_ns as f64;
        assert!(
            time > least && time < least * slack + 30_000.0,
            "{operation} {algorithm}: {time} ns, at least {least}"
        );
        assert!((rows[0].algbw - size / time).abs() < 1e-3, "{rows:?}");
        let jobs = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs");
        assert_eq!((jobs[0].bytes as f64, jobs[0].finished), (size * bytes * 8.0, 8), "{operation}");
    }
}

/// With new queue pairs for all messages, with losses, and by two threads.
#[test]
fn jobs_end_whatever_is_beside_them() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    for set in [
        ["transport.queue_pairs=per_flow", "traffic.0.iterations=4"],
        ["topology.loss=0.001", "transport.timeout=100us"],
        ["traffic.0.channels=3", "traffic.0.chunk=100kB"],
        ["traffic.0.send_latency=5us", "traffic.0.gap=10us"],
    ] {
        let rows = run(&bench, &[&set[..], &["congestion_control.algorithm=hpcc"]].concat());
        assert!(rows.iter().all(|row| row.busbw > 1.0), "{set:?}: {rows:?}");
    }
    let two = bench.hpcc(&["run", "job.toml", "--threads", "2", "--out", "two", "--quiet"]);
    assert_eq!(two.code, Some(0), "{}", two.err);
    run(&bench, &[]);
    for file in ["fct.csv", "collectives.csv", "jobs.csv"] {
        assert_eq!(fs::read(bench.path("two").join(file)).ok(), fs::read(bench.path("out").join(file)).ok(), "{file}");
    }
}

#[test]
fn a_job_that_does_not_end_says_who_waits_for_whom() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let told = bench.hpcc(&["run", "job.toml", "--set", "run.stop=100us", "--out", "short"]);
    assert_eq!(told.code, Some(3), "{}", told.err);
    assert!(told.err.contains("job job: 8 of 8 ranks are not over: rank 0 (host 0) waits for"), "{}", told.err);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    for (set, words) in [
        (&["traffic.0.algorithm=butterfly"][..], "expected one of ring, tree, halving_doubling"),
        (&["traffic.0.ranks=0-6", "traffic.0.algorithm=halving_doubling"], "it needs 2, 4, 8, 16 ... ranks"),
        (&["traffic.0.ranks=5"], "there are 1 ranks; expected at least 2"),
        (&["traffic.0.ranks=0-8"], "host"),
        (&["traffic.0.operation=barrier"], "a barrier has no size"),
        (&["traffic.0.chunk=1"], "are too many"),
    ] {
        let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", pair]).collect();
        let told = bench.hpcc(&[&["run", "job.toml", "--out", "none"], &set[..]].concat());
        assert!(told.code == Some(2) && told.err.contains(words), "{set:?}: {}", told.err);
        assert!(!bench.path("none").exists());
    }
    let told = bench.hpcc(&["run", "job.toml", "--simulator", "ns3", "--out", "none"]);
    assert!(told.code == Some(2) && told.err.contains("expected --simulator core"), "{}", told.err);
}
