// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc sweep --engine`: runs that other machines simulate.

use crate::cluster::Cluster;
use hpcc_tests::{Bench, TOML, Told, hpcc, skipped};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// The last run takes a second or two, for something has to happen while it goes on.
const SWEEP: &str = r#"
title = "Near and far"
base = "scenario.toml"
seeds = [1, 2]

[[variant]]
name = "short"
set = ["traffic.0.size=200KB"]

[[variant]]
name = "long"
set = ["traffic.0.size=1GB", "run.stop=1s"]
"#;

fn told(bench: &Bench, command: &mut Command) -> Told {
    Told::from(command.current_dir(bench.path("")).output().expect("it starts"))
}

/// A sweep by the local engine.
fn local(bench: &Bench, set: &[&str]) {
    let arguments = [["sweep", "sweep.toml", "--out", "local"].as_slice(), set].concat();
    let told = bench.hpcc(&arguments);
    assert_eq!(told.code, Some(0), "{}", told.err);
}

fn same_tables(bench: &Bench, out: &str) {
    for file in ["sweep.csv", "sweep.txt"] {
        assert_eq!(bench.read(&format!("{out}/{file}")), bench.read(&format!("local/{file}")), "{file}");
    }
}

#[test]
fn printed_commands_give_the_same_tables_in_any_order() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    let set = ["--set", "monitor.queue_interval=2us"];
    bench.edit("sweep.toml", "1GB", "300KB");
    local(&bench, &set);

    // A shell must not make something of it.
    let out = "print's out";
    let sweep = |rest: &[&str]| bench.hpcc(&[["sweep", "sweep.toml", "--out", out].as_slice(), &set, rest].concat());
    assert_eq!(sweep(&["--run", "1"]).code, Some(2), "no sweep was begun there");
    let printed = sweep(&["--engine", "print"]);
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    let commands: Vec<&str> = printed.out.lines().collect();
    assert_eq!(commands.len(), 4, "{}", printed.out);
    for command in commands[1..].iter().rev() {
        let told = told(&bench, Command::new("sh").args(["-c", command]).env_remove("HPCC_SCENARIO_PROGRAM"));
        assert_eq!((told.code, told.out.contains(": 2 of 2 flows finished")), (Some(0), true), "{told:?}");
    }
    let collected = sweep(&["--collect"]);
    assert_eq!(collected.code, Some(1), "{}", collected.err);
    assert!(collected.err.contains("short/seed-1 is missing: it has not begun"), "{}", collected.err);
    assert!(collected.err.contains("of 4 runs, 1 have not begun"), "{}", collected.err);
    // Nothing failed.
    assert!(!collected.err.contains("failed") && !collected.out.contains("failed"), "{collected:?}");
    assert!(!bench.path(out).join("sweep.csv").exists());

    assert_eq!(sweep(&["--engine", "print"]).out, format!("{}\n", commands[0]));
    assert_eq!(sweep(&["--run", "1"]).code, Some(0));
    let nothing_left = sweep(&["--engine", "print"]);
    assert_eq!((nothing_left.code, nothing_left.out.as_str()), (Some(0), ""));
    assert_eq!(sweep(&["--collect"]).code, Some(0));
    same_tables(&bench, out);
    assert_eq!(sweep(&["--run", "5"]).code, Some(2), "there are four");
}

#[test]
fn what_cannot_be_submitted_is_refused() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    for (arguments, words) in [
        (["--engine=local", "--slurm=partition=a"].as_slice(), "--slurm: the options of sbatch are for --engine slurm"),
        (&["--engine=slurm"], "there is no sbatch on the PATH"),
        (&["--collect", "--jobs=2"], "cannot be used with"),
        (&["--collect"], "no sweep was begun in this folder"),
    ] {
        let mut command = hpcc();
        let told =
            told(&bench, command.args(["sweep", "sweep.toml", "--out=out"]).args(arguments).env("PATH", "/none"));
        assert!(told.code == Some(2) && told.err.contains(words), "{arguments:?}: {told:?}");
        assert!(!bench.path("out").exists());
    }
}

#[test]
fn what_sbatch_says_is_a_job_only_if_it_is_a_number() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    fs::create_dir(bench.path("bin")).expect("folder");
    bench.write("bin/sbatch", "#!/bin/sh\n[ $1 = --version ] || echo Welcome to the cluster\n");
    fs::set_permissions(bench.path("bin/sbatch"), Permissions::from_mode(0o755)).expect("a program");
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").expect("a path"));
    let mut command = hpcc();
    let told = told(&bench, command.args(["sweep", "sweep.toml", "--out=out", "--engine=slurm"]).env("PATH", path));
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.err.contains("sbatch refused to take 4 runs: Welcome to the cluster"), "{}", told.err);
    assert!(!bench.path("out/slurm.jobs").exists() && told.out.is_empty(), "{}", told.out);
}

#[test]
fn slurm_runs_a_sweep_and_goes_on_after_a_task_was_killed() {
    let Some(cluster) = Cluster::start() else {
        return skipped("Slurm is not installed: packages slurmctld, slurmd, slurm-client, munge");
    };
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    let sweep = |arguments: &[&str]| {
        let mut command = hpcc();
        command.args(["sweep", "sweep.toml", "--out", "far"]).args(arguments);
        cluster.admit(&mut command);
        told(&bench, &mut command)
    };
    let refused = sweep(&["--engine", "slurm", "--slurm", "partition=nowhere"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("invalid partition"), "{}", refused.err);

    let submitted = sweep(&["--engine", "slurm", "--slurm", "partition=batch,time=5"]);
    assert_eq!(submitted.code, Some(0), "{}", submitted.err);
    assert!(submitted.out.starts_with("4 runs submitted as job "), "{}", submitted.out);
    let memory = cluster.answer("squeue", &["--noheader", "--format=%m"]);
    let megabytes: f64 =
        memory.lines().next().and_then(|line| line.trim().strip_suffix('M')?.parse().ok()).expect("jobs");
    assert!((20.0..100.0).contains(&megabytes), "{memory}");
    let twice = sweep(&["--engine", "slurm"]);
    assert!(twice.code == Some(2) && twice.err.contains("Slurm has yet to end"), "{}", twice.err);
    cluster.wait_for("simulation to end", |_| bench.path("far/long/seed-2.partial").exists());
    let job = bench.read("far/slurm.jobs");
    cluster.answer("scancel", &[&format!("{}_4", job.trim())]);
    cluster.wait();
    let collected = sweep(&["--collect"]);
    assert_eq!(collected.code, Some(1), "{}", collected.err);
    assert!(collected.err.contains("long/seed-2 is missing: it failed, was ended"), "{}", collected.err);
    assert!(collected.err.contains("of 4 runs, 1 failed, were ended, or go on"), "{}", collected.err);

    let again = sweep(&["--engine", "slurm", "--slurm", "partition=batch,time=5"]);
    assert!(again.out.starts_with("1 run submitted as job "), "{again:?}");
    cluster.wait();
    let collected = sweep(&["--collect"]);
    assert_eq!(collected.code, Some(0), "{}", collected.err);
    local(&bench, &["--jobs", "2"]);
    same_tables(&bench, "far");
}
