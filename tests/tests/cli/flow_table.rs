// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc sweep --table`: all flows of all runs in one file, as another program reads it.

use hpcc_tests::{Bench, skipped};
use std::env;
use std::process::Command;

const SCRIPT: &str = include_str!("flow_table.py");

/// More flows than are written at a time, and one that does not end.
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
load = 0.018
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
values = ["0.018", "0.0001"]
set = "traffic.0.load={}"

[[variant]]
name = "hpcc"
"#;

#[test]
fn a_table_has_every_flow_in_either_format() {
    let bench = Bench::new(&[("scenario.toml", SCENARIO), ("sweep.toml", SWEEP)]);
    let sweep = |rest: &[&str]| bench.hpcc(&[["sweep", "sweep.toml", "--out", "out"].as_slice(), rest].concat());
    let told = sweep(&["--jobs", "2", "--table", "flows.csv"]);
    assert_eq!(told.code, Some(3), "{}", told.err);

    let table = bench.read("flows.csv");
    let mut expected = Vec::new();
    let mut finished = 0;
    for (load, seed) in [("0.018", 5), ("0.0001", 5)] {
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
    assert!(expected.len() == finished + 2 && finished > 1 << 17, "{finished} flows finished");

    let told = sweep(&["--collect", "--table", "flows.parquet"]);
    assert_eq!(told.code, Some(3), "{}", told.err);
    let Some(python) = duckdb() else { return skipped("HPCC_TEST_PYTHON names no Python with duckdb") };
    let arguments = ["-c", SCRIPT, "flows.parquet", "flows.csv"];
    let output = Command::new(python).args(arguments).current_dir(bench.path("")).output().expect("Python starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let kinds = "variant VARCHAR,load VARCHAR,seed UBIGINT,group VARCHAR,flow UINTEGER,src UINTEGER,dst UINTEGER,\
        sport USMALLINT,dport USMALLINT,priority UTINYINT,size_bytes UBIGINT,start_ns UBIGINT,acked_bytes UBIGINT,\
        fct_ns UBIGINT,ideal_ns UBIGINT,slowdown DOUBLE";
    let bytes = 100 * finished as u64 + 2 * 10_000_000_000;
    let counts = format!("({}, {finished}, {bytes})", expected.len());
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines, [kinds, "0", "0", &counts], "{}", String::from_utf8_lossy(&output.stderr));
}

/// A Python with DuckDB, if there is one.
fn duckdb() -> Option<String> {
    let python = env::var("HPCC_TEST_PYTHON").ok()?;
    let output = Command::new(&python).args(["-c", "import duckdb"]).output().ok()?;
    output.status.success().then_some(python)
}

#[test]
fn a_table_that_cannot_be_is_refused_before_anything_runs() {
    let bench = Bench::new(&[("scenario.toml", SCENARIO), ("sweep.toml", SWEEP)]);
    bench.write("seed.toml", &SWEEP.replace("\"load\"", "\"Src\""));
    for (file, table, words) in [
        ("sweep.toml", "flows.xlsx", "expected a name that ends in .csv or .parquet"),
        (
            "sweep.toml",
            "sweep.toml/flows.csv",
            "--table: cannot write sweep.toml/flows.csv: sweep.toml is not a directory",
        ),
        ("seed.toml", "flows.csv", "axis \"Src\" would be a second column of this name"),
    ] {
        let told = bench.hpcc(&["sweep", file, "--out", "out", "--table", table]);
        assert!(told.code == Some(2) && told.err.contains(words), "{told:?}");
        assert!(!bench.path("out").exists());
    }
    let told = bench.hpcc(&["sweep", "sweep.toml", "--out", "out", "--engine", "print", "--table", "flows.csv"]);
    assert!(told.code == Some(2) && told.err.contains("expected it with --collect"), "{told:?}");
}
