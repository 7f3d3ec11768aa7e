// SPDX-License-Identifier: GPL-2.0-only
//! How runs end, and what they leave.

use hpcc_tests::{Bench, ProcessOutput, REFERENCE, TOML, has_mpi, hpcc, simulator, skipped};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn unfinished_flows_are_listed_and_end_with_3() {
    for (files, config, stop) in
        [(TOML, "scenario.toml", "run.stop=20us"), (REFERENCE, "config.txt", "SIMULATOR_STOP_TIME=2.00002")]
    {
        let bench = Bench::new(files);
        let output = bench.run(config, &[stop]);
        assert_eq!(output.code, Some(3), "{}", output.err);
        assert!(output.err.contains("1 of 2 flows unfinished"), "{}", output.err);
        assert!(output.out.contains("1 of 2 finished"), "{}", output.out);
        assert_eq!(bench.read("out/fct.csv").lines().count(), 2);
        let list = bench.read("out/unfinished.csv");
        let line = list.lines().nth(1).unwrap_or_else(|| panic!("{list}"));
        let words: Vec<&str> = line.split(',').collect();
        assert_eq!(words[..3], ["1", "1", "2"], "{line}");
        let acked: u64 = words[8].parse().expect("bytes");
        assert!(acked > 0 && acked < 200_000, "{line}");
        let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        assert_eq!((&summary["flows_total"], &summary["flows_finished"]), (&2.into(), &1.into()));
    }
}

#[test]
fn a_flow_that_never_started_is_unfinished() {
    let bench = Bench::new(TOML);
    let output = bench.run("scenario.toml", &["traffic.1.start=1ms", "run.stop=1ms"]);
    assert_eq!(output.code, Some(3), "{}", output.err);
    assert!(output.err.contains("start at or after the stop time"), "{}", output.err);
    let list = bench.read("out/unfinished.csv");
    let row = list.lines().nth(1).unwrap_or_else(|| panic!("of a flow at the very end: {list}"));
    assert!(row.starts_with("1,") && row.ends_with(",1000000,0,0"), "{row}");
}

#[test]
fn a_refused_run_leaves_earlier_results_alone() {
    let bench = Bench::new(TOML);
    assert_eq!(bench.run("scenario.toml", &[]).code, Some(0));
    let before = bench.read("out/fct.csv");
    assert_eq!(bench.run("scenario.toml", &["congestion_control.eta=9"]).code, Some(2));
    assert_eq!(bench.read("out/fct.csv"), before);
}

/// Results of the same configuration are replaced; others only on demand.
#[test]
fn results_of_another_configuration_are_kept() {
    let bench = Bench::new(TOML);
    let run = |more: &[&str]| bench.hpcc(&[&["run", "scenario.toml", "--out", "out"], more].concat());
    let eta = || bench.read("out/summary.json").contains("\"eta\": 0.9,");
    for more in [&[][..], &[]] {
        assert_eq!(run(more).code, Some(0));
    }
    let other = ["--set", "congestion_control.eta=0.9"];
    let output = run(&other);
    let words = "hpcc: out: holds results of another configuration, in which congestion_control.eta is 0.95, not 0.9; choose \
                 another --out, or replace them with --force\n";
    assert_eq!((output.code, output.err.as_str(), eta()), (Some(2), words, false));
    assert!(run(&["--seed", "7"]).err.contains("in which seed is 1, not 7"));
    let output = run(&[&other[..], &["--force"]].concat());
    assert_eq!((output.code, eta()), (Some(0), true), "{}", output.err);
}

/// What a run has seen is no part of its configuration.
#[test]
fn a_run_that_notes_something_at_its_end_can_be_repeated() {
    let bench = Bench::new(TOML);
    let file = format!("{}/../configs/leaf-spine-rocev2.toml", env!("CARGO_MANIFEST_DIR"));
    for _ in 0..2 {
        let output = bench.hpcc(&["run", &file, "--out", "out"]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        assert!(bench.read("out/summary.json").contains("never changed rate or window"));
    }
}

/// The simulator, or `hpcc`, with limits of the system.
fn limited(bench: &Bench, limit: &str, program: Command) -> ProcessOutput {
    let mut command = Command::new("prlimit");
    command.args([limit, "--core=0"]).arg(program.get_program()).args(program.get_args());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    ProcessOutput::from(command.current_dir(bench.path("")).output().expect("prlimit starts"))
}

#[test]
fn limits_of_the_system_are_told_and_leave_nothing_half_made() {
    let bench = Bench::new(TOML);
    let run = || {
        let mut run = hpcc();
        run.args(["run", "scenario.toml", "--out", "few"]);
        run
    };
    // A run needs twelve or thirteen: eight are too few whichever files the test itself inherits.
    let output = limited(&bench, "--nofile=8", run());
    assert_eq!(output.code, Some(2), "{}", output.err);
    assert!(output.err.contains("too many open files") && !bench.path("few.partial").exists(), "{}", output.err);

    let output = limited(&bench, "--fsize=3000", run());
    assert_eq!(output.code, Some(1), "{}", output.err);
    assert!(output.err.contains(": file too large"), "{}", output.err);

    assert_eq!(bench.run("scenario.toml", &[]).code, Some(0));
    let before = bench.read("out/queue.svg");
    let mut report = hpcc();
    report.args(["report", "out", "--flow", "0"]);
    let output = limited(&bench, "--fsize=3000", report);
    assert_eq!(output.code, Some(2), "{}", output.err);
    assert!(output.err.contains("cannot write out/queue.svg: file too large"), "{}", output.err);
    assert_eq!(bench.read("out/queue.svg"), before);
}

#[test]
fn a_finished_run_ends_with_0_and_says_so() {
    for (files, config) in [(TOML, "scenario.toml"), (REFERENCE, "config.txt")] {
        let bench = Bench::new(files);
        let output = bench.run(config, &[]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        assert!(output.out.contains("2 of 2 finished"), "{}", output.out);
        assert!(output.err.is_empty(), "{}", output.err);
        assert_eq!(bench.hpcc(&["report", "out"]).out, output.out, "report reads what run wrote");
    }
}

#[test]
fn flows_that_a_failed_link_cuts_off_are_listed() {
    let bench = Bench::new(TOML);
    let cut = "failures.links=[{time='6us',a=2,b=3}]";
    let output = bench.run("scenario.toml", &[cut, "run.stop=5ms"]);
    assert_eq!(output.code, Some(3), "{}", output.err);
    assert_eq!(bench.read("out/unfinished.csv").lines().count(), 3, "a header and two flows");
}

/// Hosts 0 and 1 behind switches 2 and 3, which two links of 25 Gb/s connect.
const PARALLEL: &str = r#"
[run]
stop = "20ms"
[transport]
timeout = "200us"
timeout_back_off = false
[topology]
kind = "links"
hosts = 2
switches = 2
rate = "25Gbps"
delay = "1us"
links = [{ a = 0, b = 2, rate = "100Gbps" }, { a = 1, b = 3, rate = "100Gbps" }, { a = 2, b = 3 }, { a = 2, b = 3 }]
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1250KB"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1250KB"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1250KB"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1250KB"
"#;

/// 5 MB and headers take 1.7 ms over one of the links, 0.85 ms over both if two flows take each; without any nothing moves.
#[test]
fn failures_that_cannot_be_are_refused() {
    let cases = [
        ("{time='1us',a=2,b=3,link=2}", "nodes 2 and 3 have no link 2; expected 0 to 1"),
        ("{time='1us',a=0,b=1}", "nodes 0 and 1 are not linked"),
        ("{time='1us',a=2,b=3,until='2us'}", "expected 4200 ns or more in between"),
        ("{time='1us',a=2,b=3},{time='5us',a=2,b=3,link=1}", "1000 ns and 5000 ns are of the same link"),
    ];
    for (failures, words) in cases {
        hpcc_tests::refused(PARALLEL, &[(&[&format!("failures.links=[{failures}]")], words)]);
    }
}

#[test]
fn one_of_several_links_fails_and_links_come_up_again() {
    let last_us = |failures: &str| {
        let bench = Bench::new(&[("scenario.toml", PARALLEL)]);
        let output = bench.run("scenario.toml", &[&format!("failures.links=[{failures}]")]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        let ends = bench.read("out/fct.txt");
        let fct =
            |line: &str| line.split(' ').nth(6).and_then(|field| field.parse::<u64>().ok()).expect("a time in ns");
        ends.lines().map(fct).max().expect("flows") / 1_000
    };
    let whole = last_us("");
    let one = last_us("{time='1ns',a=2,b=3,link=1}");
    let back = last_us("{time='1ns',a=2,b=3,link=1,until='100us'}");
    let cut = last_us("{time='100us',a=2,b=3,until='5ms'}");
    assert!(whole < 1_500 && one > 1_650, "{whole} us with both links, {one} us with one");
    assert!(back < one - 200, "{back} us with the second link from 100 us on");
    assert!(cut > 5_000 && cut < 5_000 + one, "{cut} us with 5 ms without a link");
}

/// 900 ms without a packet are 900,000 samples of the queues. They are no events, but count as samples.
#[test]
fn idle_time_costs_no_events() {
    let later = "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"1KB\"\nstart = \"900ms\"\n";
    let figures = |more: &str| {
        let bench = Bench::new(TOML);
        bench.edit("scenario.toml", "queue_interval = \"1us\"\ngoodput_interval = \"2us\"\n", more);
        let output = bench.run("scenario.toml", &["run.stop=1s"]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        ["events", "queue_max_bytes", "queue_p99_bytes"].map(|key| summary[key].as_u64().expect(key))
    };
    let ([near, near_max, near_p99], [far, far_max, far_p99]) = (figures(""), figures(later));
    assert!(far < near + near / 10, "{far} events, {near} without the idle time");
    assert!(near_max > 0 && near_max == far_max && near_p99 > 0, "{near_max} {far_max} {near_p99}");
    assert_eq!(far_p99, 0, "99 of 100 samples found the queue empty");
}

#[test]
fn a_run_of_somebody_else_is_shown_elsewhere() {
    let bench = Bench::new(TOML);
    assert_eq!(bench.run("scenario.toml", &[]).code, Some(0));
    let files = || fs::read_dir(bench.path("out")).expect("folder").count();
    let before = files();
    // Where not even root can write.
    if !Command::new("unshare").args(["--map-root-user", "--mount", "true"]).status().is_ok_and(|it| it.success()) {
        skipped("there is no unshare here that mounts a folder so that nobody can write to it");
        return;
    }
    bench.write(
        "report.sh",
        "mount --bind out out && mount -o remount,ro,bind out && exec \"$HPCC_ANALYSIS_PROGRAM\" report out \"$@\"",
    );
    let report = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "report.sh"]).args(arguments).current_dir(bench.path("."));
        ProcessOutput::from(command.output().expect("unshare"))
    };
    let output = report(&["--out", "page.html"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(
        output.out.contains("results in out, which cannot be written to: no plots, only the page"),
        "{}",
        output.out
    );
    assert!(bench.read("page.html").contains("</html>"));
    for arguments in [&[][..], &["--out", "page.html", "--style", "paper"]] {
        let output = report(arguments);
        assert_eq!(output.code, Some(2), "{}", output.out);
        assert!(output.err.contains("cannot write out/"), "{}", output.err);
    }
    assert_eq!(files(), before);
}

/// Neither earlier nor later results can be taken for the results of the run that was ended.
#[test]
fn an_interrupted_run_leaves_nothing_that_looks_complete() {
    let bench = Bench::new(TOML);
    assert_eq!(bench.run("scenario.toml", &[]).code, Some(0));
    let before = bench.read("out/fct.txt");
    // Whoever runs this in the background may ignore the signal, which children inherit.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(hpcc().get_program()).args([
        "run",
        "scenario.toml",
        "--out",
        "out",
        "--force",
    ]);
    command.args(["--set", "traffic.1.size=100GB", "--set", "run.stop=100s"]).current_dir(bench.path(""));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("hpcc starts");
    let start = Instant::now();
    while !bench.path("out.partial/fct.txt").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the run does not begin");
        thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    assert_eq!(child.wait().expect("hpcc ends").signal(), Some(2));
    assert_eq!(bench.read("out/fct.txt"), before);
    for arguments in [&["report", "out.partial"][..], &["compare", "out", "out.partial"]] {
        let output = bench.hpcc(arguments);
        assert_eq!(output.code, Some(2), "{}", output.out);
        assert!(output.err.contains("out.partial: what a run left that was ended or goes on"), "{}", output.err);
    }
    assert_eq!(bench.run("scenario.toml", &[]).code, Some(0), "it can be repeated");
}

/// Processes whose command line has these words.
fn processes(words: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let has_words = |line: Vec<u8>| String::from_utf8_lossy(&line).contains(words);
    entries.filter(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(has_words)).count()
}

/// The command has no time to end it.
#[test]
fn a_killed_run_takes_its_simulator_along() {
    let mut ways = vec![vec![], vec!["--simulator", "core"]];
    if has_mpi() {
        ways.push(vec!["--ranks", "2"]);
    }
    for way in ways {
        let bench = Bench::new(TOML);
        // Two switches, so that two processes can share the run.
        bench.edit("scenario.toml", "switches = 1", "switches = 2");
        bench.edit("scenario.toml", "{ a = 2, b = 3 }", "{ a = 2, b = 4 }, { a = 3, b = 4 }");
        let file = bench.path("scenario.toml");
        let mut command = hpcc();
        command.arg("run").arg(&file).args(&way).args(["--set", "traffic.1.size=100GB", "--set", "run.stop=100s"]);
        let mut child = command.current_dir(bench.path("")).stderr(Stdio::null()).spawn().expect("hpcc starts");
        let words = format!("--config={}", file.display());
        let wait = |what: &str, is_so: &dyn Fn() -> bool| {
            let start = Instant::now();
            while !is_so() {
                assert!(start.elapsed() < Duration::from_secs(60), "{way:?}: {what}");
                thread::sleep(Duration::from_millis(10));
            }
        };
        wait("the run does not begin", &|| bench.path("hpcc-out/scenario.partial/fct.txt").exists());
        assert!(processes(&words) > 0, "{way:?}");
        child.kill().expect("it runs");
        child.wait().expect("it ended");
        wait("the simulator lives on", &|| processes(&words) == 0);
    }
}

/// A thousand simulated seconds in which nothing happens take no time, however often the run is watched.
#[test]
fn idle_time_costs_nothing() {
    let bench = Bench::new(TOML);
    for order in ["canonical", "insertion"] {
        let set = ["traffic.1.start=1000s", "run.stop=1001s", &format!("run.order={order}")].map(str::to_owned);
        let output = bench.simulate("scenario.toml", &set, "2");
        assert_eq!(output.code, Some(0), "{order}: {}", output.err);
    }
}

#[test]
fn numbers_of_the_command_line_are_counts() {
    let bench = Bench::new(TOML);
    for (arguments, range) in [
        ("run scenario.toml --ranks", "from 1 to 1024\n"),
        ("sweep scenario.toml --jobs", "from 1 to 1024\n"),
        ("reproduce fig13 --jobs", "from 1 to 1024\n"),
        ("sweep scenario.toml --run", "from 1\n"),
        ("dissect any.pcap --limit", "from 1\n"),
    ] {
        for wrong in ["0", "-1", "1.5", "two", "99999999999999999999"] {
            let output = bench.hpcc(&arguments.split(' ').chain([wrong]).collect::<Vec<_>>());
            assert_eq!(output.code, Some(2), "{arguments} {wrong}: {}", output.err);
            let words = format!("expected a whole number {range}");
            assert!(output.err.contains(wrong) && output.err.contains(&words), "{arguments} {wrong}: {}", output.err);
        }
    }
    let most = bench.hpcc(&["run", "scenario.toml", "--ranks", "1025"]);
    assert!(most.code == Some(2) && most.err.contains("from 1 to 1024"), "{}", most.err);
}

/// mpirun's own words about processes that it cannot start.
#[test]
fn what_mpirun_says_is_told() {
    if !has_mpi() {
        return;
    }
    let bench = Bench::new(TOML);
    bench.edit("scenario.toml", "switches = 1", "switches = 2");
    bench.edit("scenario.toml", "{ a = 2, b = 3 }", "{ a = 2, b = 4 }, { a = 3, b = 4 }");
    let mut command = hpcc();
    command.env("HPCC_HOSTS", "no-such-hosts").args(["run", "scenario.toml", "--ranks", "2"]);
    let output = command.current_dir(bench.path("")).output();
    let told = ProcessOutput::from(output.expect("hpcc starts"));
    let words = told.err.split_once("mpirun cannot start 2 processes:\n").map_or("", |(_, words)| words);
    assert!(told.code == Some(1) && words.contains("no-such-hosts"), "{}", told.err);
}

/// As on a machine of a cluster that lacks the file: nobody waits, and the process says what it misses.
#[test]
fn a_file_that_one_process_cannot_read_ends_all() {
    if !has_mpi() {
        return;
    }
    let bench = Bench::new(TOML);
    let mut command = Command::new("timeout");
    command.args(["60", "mpirun", "--quiet", "--oversubscribe", "--allow-run-as-root"]);
    for (config, next) in [("scenario.toml", Some(":")), ("none.toml", None)] {
        command.args(["-n", "1"]).arg(simulator()).args(["--shared", "--out=out"]);
        command.arg(format!("--config={config}")).args(next);
    }
    let told = ProcessOutput::from(command.current_dir(bench.path("")).output().expect("timeout starts"));
    let words = "hpcc: process 1 of 2: none.toml: no such file";
    assert!(told.code == Some(2) && told.err.contains(words), "{:?}: {}", told.code, told.err);
    assert!(!bench.path("out").exists());
}

/// Neither is a simulator with MPI built for it, nor are processes started.
#[test]
fn processes_that_cannot_share_a_run_are_not_started() {
    let bench = Bench::new(&[TOML, REFERENCE].concat());
    for (config, ranks, words) in [
        ("scenario.toml", "1000", "scenario.toml: --ranks 1000: this network has no 1000 parts: "),
        ("config.txt", "2", "config.txt: --ranks 2: this run cannot be shared: it has run.order"),
        ("none.toml", "2", "none.toml: no such file"),
    ] {
        let mut command = hpcc();
        command.env_remove("HPCC_SCENARIO_PROGRAM").env("HPCC_SCRIPT", "/bin/false");
        let output = command.args(["run", config, "--ranks", ranks]).current_dir(bench.path("")).output();
        let output = ProcessOutput::from(output.expect("hpcc starts"));
        assert_eq!(output.code, Some(2), "{}", output.err);
        assert!(output.err.starts_with("hpcc: ") && output.err.contains(words), "{}", output.err);
    }
}
