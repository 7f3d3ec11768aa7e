// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc sweep --engine`: runs that other machines simulate.

use crate::cluster::Cluster;
use hpcc_tests::{Bench, ProcessOutput, TOML, hpcc, skipped};
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

fn output_of(bench: &Bench, command: &mut Command) -> ProcessOutput {
    ProcessOutput::from(command.current_dir(bench.path("")).output().expect("it starts"))
}

/// A sweep by the local engine.
fn local(bench: &Bench, set: &[&str]) {
    let arguments = [["sweep", "sweep.toml", "--out", "local"].as_slice(), set].concat();
    let output = bench.hpcc(&arguments);
    assert_eq!(output.code, Some(0), "{}", output.err);
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
        let output = output_of(&bench, Command::new("sh").args(["-c", command]).env_remove("HPCC_SCENARIO_PROGRAM"));
        assert_eq!((output.code, output.out.contains(": 2 of 2 flows finished")), (Some(0), true), "{output:?}");
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
        let output =
            output_of(&bench, command.args(["sweep", "sweep.toml", "--out=out"]).args(arguments).env("PATH", "/none"));
        assert!(output.code == Some(2) && output.err.contains(words), "{arguments:?}: {output:?}");
        assert!(!bench.path("out").exists());
    }
}

/// A program that stands in for one of Slurm.
fn stand_in(bench: &Bench, name: &str, text: &str) {
    fs::create_dir_all(bench.path("bin")).expect("folder");
    bench.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(bench.path(&format!("bin/{name}")), Permissions::from_mode(0o755)).expect("a program");
}

/// Submits the sweep to stand-ins.
fn submit(bench: &Bench) -> ProcessOutput {
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").expect("a path"));
    let mut command = hpcc();
    output_of(bench, command.args(["sweep", "sweep.toml", "--out=out", "--engine=slurm", "--jobs=2"]).env("PATH", path))
}

#[test]
fn a_queue_that_does_not_answer_is_not_an_empty_one() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    // 1,500 runs are two arrays.
    bench.edit("sweep.toml", "seeds = [1, 2]", &format!("seeds = {:?}", (1..=750).collect::<Vec<u32>>()));
    stand_in(
        &bench,
        "sbatch",
        "case \"$*\" in *--version*|*--test-only*) ;; *) echo \"$*\" >>calls; grep -c . calls; esac",
    );
    stand_in(&bench, "squeue", "exit 0");
    let first = submit(&bench);
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert_eq!(bench.read("out/slurm.jobs"), "1 0 256\n2 1000 256\n");
    let calls = bench.read("calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert!(!calls[0].contains("dependency") && calls[1].contains("--dependency=afterany:1"), "{calls:?}");
    for (squeue, words) in [
        ("case \"$*\" in *COMPLETING*) echo 1; echo 1; echo 9;; esac", "Slurm has yet to end 2 tasks of job 1, 2"),
        (
            "echo no route to host >&2; exit 1",
            "squeue does not say whether tasks of job 1, 2 wait or run: no route to host",
        ),
    ] {
        stand_in(&bench, "squeue", squeue);
        let again = submit(&bench);
        assert!(again.code == Some(2) && again.err.contains(words), "{}", again.err);
    }
    assert_eq!(bench.read("calls").lines().count(), 2, "nothing more was submitted");
}

#[test]
fn what_sbatch_says_is_a_job_only_if_it_is_a_number() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    stand_in(&bench, "sbatch", "[ $1 = --version ] || echo Welcome to the cluster");
    let told = submit(&bench);
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
        output_of(&bench, &mut command)
    };
    let refused = sweep(&["--engine", "slurm", "--slurm", "partition=nowhere"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("invalid partition") && !bench.path("far").exists(), "{}", refused.err);

    let submitted = sweep(&["--engine", "slurm", "--slurm", "partition=batch,time=5"]);
    assert_eq!(submitted.code, Some(0), "{}", submitted.err);
    assert!(submitted.out.starts_with("4 runs submitted as job "), "{}", submitted.out);
    let memory = cluster.answer("squeue", &["--noheader", "--format=%m"]);
    assert_eq!(memory.lines().next().map(str::trim), Some("256M"), "{memory}");
    let twice = sweep(&["--engine", "slurm"]);
    assert!(twice.code == Some(2) && twice.err.contains("Slurm has yet to end"), "{}", twice.err);
    cluster.wait_for("simulation to end", |_| bench.path("far/long/seed-2.partial").exists());
    let job = bench.read("far/slurm.jobs");
    cluster.answer("scancel", &[&job.replacen(" 0 256\n", "_4", 1)]);
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

#[test]
fn what_slurm_ends_for_lack_of_memory_is_named_and_asks_for_more() {
    let Some(cluster) = Cluster::start() else {
        return skipped("Slurm is not installed: packages slurmctld, slurmd, slurm-client, munge");
    };
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", SWEEP);
    bench.edit("sweep.toml", "[1, 2]", "[1]");
    bench.edit("sweep.toml", "1GB", "300KB");
    // A simulator that takes more than is asked for it: the long run, the first time.
    let simulator = std::env::var("HPCC_SCENARIO_PROGRAM").expect("a simulator");
    let greedy = format!(
        "case \"$*\" in *300KB*) [ $SLURM_MEM_PER_NODE -ge 512 ] || head -c 400M /dev/zero | tail -c 400M | sleep 30;; esac\nexec {simulator} \"$@\""
    );
    stand_in(&bench, "greedy", &greedy);
    let sweep = |arguments: &[&str]| {
        let mut command = hpcc();
        command
            .args(["sweep", "sweep.toml", "--out", "far", "--simulator", "ns3"])
            .args(arguments)
            .env("HPCC_SCENARIO_PROGRAM", bench.path("bin/greedy"));
        cluster.admit(&mut command);
        output_of(&bench, &mut command)
    };
    assert_eq!(sweep(&["--engine", "slurm"]).code, Some(0));
    cluster.wait();
    let collected = sweep(&["--collect"]);
    assert_eq!(collected.code, Some(1), "{}", collected.err);
    let words =
        "long/seed-1 is missing: Slurm ended it for lack of memory, 268 MB; --engine slurm asks for twice as much";
    assert!(collected.err.contains(words) && !collected.err.contains("short/seed-1"), "{}", collected.err);
    let again = sweep(&["--engine", "slurm"]);
    assert!(again.out.starts_with("1 run submitted as job ") && again.out.contains(" with 537 MB each"), "{again:?}");
    cluster.wait();
    assert_eq!(sweep(&["--collect"]).code, Some(0));
}
