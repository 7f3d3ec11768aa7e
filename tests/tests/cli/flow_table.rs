// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc sweep --table`: all flows of all runs in one file, row by row.

use hpcc_tests::Bench;

/// Many flows, and one that does not end.
const SCENARIO: &str = r#"
[run]
stop = "21ms"

[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"

[[traffic]]
kind = "random_incast"
name = "small"
fan_in = 2
size = "100B"
load = 0.001
duration = "20ms"

[[traffic]]
kind = "flow"
name = "endless"
src = 0
dst = 2
size = "10GB"
start = "1ms"
"#;

const SWEEP: &str = r#"
title = "Flows"
base = "scenario.toml"
seeds = [5]

[[axis]]
name = "load"
values = ["0.001", "0.0001"]
set = "traffic.0.load={}"

[[variant]]
name = "hpcc"
"#;

#[test]
fn a_table_has_every_flow() {
    let bench = Bench::new(&[("scenario.toml", SCENARIO), ("sweep.toml", SWEEP)]);
    let sweep = |rest: &[&str]| bench.hpcc(&[["sweep", "sweep.toml", "--out", "out"].as_slice(), rest].concat());
    let output = sweep(&["--jobs", "2", "--table", "flows.csv"]);
    assert_eq!(output.code, Some(3), "{}", output.err);

    let table = bench.read("flows.csv");
    let mut expected = Vec::new();
    let mut finished = 0;
    for (load, seed) in [("0.001", 5), ("0.0001", 5)] {
        let folder = format!("out/hpcc/load-{load}/seed-{seed}");
        for row in bench.read(&format!("{folder}/fct.csv")).lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let [begin @ .., size, start, fct, ideal, slowdown, "0"] = cells.as_slice() else { panic!("{row}") };
            let begin = begin.join(",");
            expected.push(format!("hpcc,{load},{seed},small,{begin},{size},{start},{size},{fct},{ideal},{slowdown}"));
            finished += 1;
        }
        for row in bench.read(&format!("{folder}/unfinished.csv")).lines().skip(1) {
            let (begin, _) = row.rsplit_once(',').expect("cells");
            expected.push(format!("hpcc,{load},{seed},endless,{begin},,,"));
        }
    }
    let header = "variant,load,seed,group,flow,src,dst,sport,dport,priority,size_bytes,start_ns,acked_bytes,fct_ns,ideal_ns,slowdown";
    let (found, rows) = table.split_once('\n').expect("lines");
    assert_eq!(found, header);
    assert!(rows.lines().eq(expected.iter()), "the table has other rows than the runs");
    assert!(expected.len() == finished + 2 && finished > 1_000, "{finished} flows finished");
    // `--collect` of the same runs.
    let output = sweep(&["--collect", "--table", "again.csv"]);
    assert!(output.code == Some(3) && bench.read("again.csv") == table, "{}", output.err);
}

#[test]
fn a_table_of_runs_that_are_yet_to_be_is_refused() {
    let bench = Bench::new(&[("scenario.toml", SCENARIO), ("sweep.toml", SWEEP)]);
    let output = bench.hpcc(&["sweep", "sweep.toml", "--out", "out", "--engine", "print", "--table", "flows.csv"]);
    assert!(output.code == Some(2) && output.err.contains("expected it with --collect"), "{output:?}");
}
