// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc sweep` with the real simulator.

use hpcc_tests::{Bench, TOML, hpcc};
use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SWEEP: &str = r#"
title = "Two windows"
base = "scenario.toml"
seeds = [1, 2]

[[variant]]
name = "tight"
set = ["congestion_control.eta=0.80"]

[[variant]]
name = "loose"
set = ["congestion_control.eta=0.95"]

[[axis]]
name = "size"
values = ["100KB", "300KB"]
set = "traffic.1.size={}"
"#;

/// The values of a metric in sweep.csv by variant, axis and seed.
fn values(data: &str, metric: &str) -> BTreeMap<(String, String, String), String> {
    let rows = data.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let of_metric = rows.filter(|row| row[3] == metric);
    of_metric.map(|row| ((row[0].clone(), row[1].clone(), row[2].clone()), row[4].clone())).collect()
}

#[test]
fn a_sweep_runs_every_variant_as_run_would() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    let output = bench.hpcc(&["sweep", "sweep.toml", "--out", "swept", "--jobs", "2"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.out.starts_with("Two windows\n"), "{}", output.out);

    let data = bench.read("swept/sweep.csv");
    let (flows, medians) = (values(&data, "flows"), values(&data, "slowdown_p50"));
    assert_eq!((flows.len(), medians.len()), (8, 8), "{data}");
    assert!(flows.values().all(|flows| flows == "2"), "{data}");

    for variant in [("tight", "0.80"), ("loose", "0.95")] {
        let eta = format!("congestion_control.eta={}", variant.1);
        let output = bench.run("scenario.toml", &[&eta, "traffic.1.size=300KB", "run.seed=2"]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        assert_eq!(bench.read("out/fct.csv"), bench.read(&format!("swept/{}/size-300KB/seed-2/fct.csv", variant.0)));
    }
    let median = |variant: &str| &medians[&(variant.into(), "300KB".into(), "1".into())];
    assert_ne!(median("tight"), median("loose"), "the variants do not differ: {data}");
}

#[test]
fn chosen_columns_are_data_too() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", &(SWEEP.to_owned() + "[report]\ncolumns = [\"flows\", \"slowdown_p99\"]\n"));
    assert_eq!(bench.hpcc(&["sweep", "sweep.toml", "--out", "swept", "--jobs", "2"]).code, Some(0));
    let wide = bench.read("swept/columns.csv");
    let rows: Vec<Vec<&str>> = wide.lines().map(|line| line.split(',').collect()).collect();
    let of_slowdown = ["slowdown_p99", "slowdown_p99_std", "slowdown_p99_seeds", "slowdown_p99_left_out"];
    assert_eq!(rows[0], [&["variant", "size", "flows", "flows_std", "flows_seeds"][..], &of_slowdown].concat());
    assert_eq!((&rows[1][..5], &rows[1][7..]), (&["tight", "100KB", "2", "0", "2"][..], &["2", "0"][..]));
    assert_eq!(rows.len(), 5, "{wide}");
    let data = bench.read("swept/sweep.csv");
    let slowdowns = values(&data, "slowdown_p99");
    let of =
        |seed: &str| -> f64 { slowdowns[&("loose".into(), "300KB".into(), seed.into())].parse().expect("a number") };
    let (mean, spread): (f64, f64) = (rows[4][5].parse().expect("a mean"), rows[4][6].parse().expect("a deviation"));
    assert!((mean - (of("1") + of("2")) / 2.0).abs() < 1e-9, "{wide}");
    assert!((spread - (of("1") - of("2")).abs() / f64::sqrt(2.0)).abs() < 1e-9, "{wide}");
}

/// As `run` tells them, each once: another algorithm than the file's has its own telemetry.
#[test]
fn a_sweep_tells_the_notes_of_its_runs() {
    let bench = Bench::new(TOML);
    let other = "[[variant]]\nname = \"other\"\nset = [\"congestion_control.algorithm=power_tcp\"]\n[[axis]]";
    bench.write("sweep.toml", &SWEEP.replace("[[axis]]", other));
    let output = bench.hpcc(&["sweep", "sweep.toml", "--out", "swept", "--jobs", "2"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let notes: Vec<&str> = output.err.lines().filter(|line| line.contains("note: ")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("hpcc: note: other: another algorithm than the file's"), "{notes:?}");

    let output = bench.hpcc(&["report", "swept", "--style", "paper"]);
    assert_eq!(output.code, Some(2), "{}", output.out);
    assert!(
        output.err.contains("swept is of a sweep") && output.err.contains("`./hpcc sweep FILE --out DIR`"),
        "{}",
        output.err
    );
}

#[test]
fn the_number_of_jobs_changes_no_byte() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    let data = ["1", "3"].map(|jobs| {
        let output = bench.hpcc(&["sweep", "sweep.toml", "--out", "swept", "--jobs", jobs]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        bench.read("swept/sweep.csv")
    });
    assert_eq!(data[0], data[1]);
}

/// A sweep that is killed has no time to end anything.
#[test]
fn a_killed_sweep_goes_on_with_what_was_finished() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    let arguments = ["sweep", "sweep.toml", "--out", "killed", "--jobs", "1"];
    let mut child = hpcc().args(arguments).current_dir(bench.path("")).spawn().expect("hpcc starts");
    let mark = bench.path("killed/tight/size-100KB/seed-1/inputs.blake3");
    let since = Instant::now();
    while !mark.exists() {
        assert!(since.elapsed() < Duration::from_secs(60), "no run is finished");
        sleep(Duration::from_millis(2));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    assert!(!bench.path("killed/sweep.csv").exists(), "killed too late");
    let finished = || fs::metadata(&mark).and_then(|file| file.modified()).expect("a time");
    let before = finished();

    let output = bench.hpcc(&arguments);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.err.contains(" of 8 runs are kept from before; --fresh repeats them"), "{}", output.err);
    assert!(output.err.contains(" left\n"), "no time left: {}", output.err);
    assert_eq!(finished(), before, "a finished run was repeated");
    assert_eq!(bench.hpcc(&["sweep", "sweep.toml", "--out", "whole"]).code, Some(0));
    for file in ["sweep.csv", "sweep.txt", "loose/size-300KB/seed-2/fct.csv"] {
        assert_eq!(bench.read(&format!("killed/{file}")), bench.read(&format!("whole/{file}")), "{file}");
    }
}
