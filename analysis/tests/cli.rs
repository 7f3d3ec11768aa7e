// SPDX-License-Identifier: GPL-2.0-only
//! The command line, with a script in the simulator's place.

use hpcc_model::results::summary;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{FAKE_SCENARIO, canned, err, folder, hpcc, out};

/// Runs a scenario that nobody reads into `folder`/out, with the fake simulator.
fn run(folder: &Path, results: Option<&Path>, end: &str) -> Output {
    run_with(folder, results, end, &["--set", "seed=7", "--set", "cc.algorithm=dcqcn"])
}

/// Runs such a scenario with other options.
fn run_with(folder: &Path, results: Option<&Path>, end: &str, options: &[&str]) -> Output {
    fs::write(folder.join("any.toml"), "").expect("any.toml");
    let mut command = hpcc(&["run", "any.toml", "--out", "out", "--simulator", "ns3"]);
    command.args(options).current_dir(folder).env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO).env("FAKE_END", end);
    if let Some(results) = results {
        command.env("FAKE_RESULTS", results);
    }
    command.output().expect("hpcc starts")
}

#[test]
fn a_good_run_prints_a_table_and_draws_plots() {
    let folder = folder();
    let output = run(folder.path(), Some(&canned(folder.path(), true)), "0");
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("2 of 2 finished"), "{}", out(&output));
    assert!(out(&output).contains("results in out"));
    for plot in ["queue.svg", "goodput.svg", "slowdown.svg"] {
        let svg = fs::read_to_string(folder.path().join("out").join(plot)).expect(plot);
        assert!(svg.starts_with("<svg") && svg.contains("sans-serif"), "{plot}");
    }
}

#[test]
fn the_simulator_gets_what_it_needs_and_says_itself_what_is_wrong() {
    let folder = folder();
    let output = run(folder.path(), None, "2");
    let printed = err(&output);
    assert!(printed.contains("argument --config=any.toml\nargument --out=out"), "{printed}");
    assert!(printed.contains("argument --set=seed=7\nargument --set=cc.algorithm=dcqcn"), "{printed}");
    assert!(output.status.code() == Some(2) && !printed.contains("hpcc:") && out(&output).is_empty(), "{printed}");
    assert!(!folder.path().join("out").exists());
    let seeded = err(&run_with(folder.path(), None, "2", &["--seed", "9"]));
    assert!(seeded.contains("argument --set=run.seed=9"), "{seeded}");
}

#[test]
fn unfinished_flows_are_listed_and_give_3() {
    let folder = folder();
    let output = run(folder.path(), Some(&canned(folder.path(), false)), "3");
    assert_eq!(output.status.code(), Some(3));
    assert!(out(&output).contains("1 of 2 finished") && out(&output).contains("99,000"), "{}", out(&output));
}

#[test]
fn crashes_are_named_and_give_1() {
    let ends =
        [("SEGV", "segmentation fault"), ("KILL", "lack of memory"), ("7", "exit status 7"), ("0", "no such folder")];
    for (end, words) in ends {
        let folder = folder();
        let output = run(folder.path(), None, end);
        assert_eq!(output.status.code(), Some(1), "{end}");
        assert!(err(&output).contains(words), "{end}: {}", err(&output));
    }
}

#[test]
fn without_the_script_it_is_pointed_out() {
    let any = FAKE_SCENARIO;
    for arguments in [&["run", any, "--simulator", "ns3"][..], &["build"], &["completions", "bash"]] {
        let output = hpcc(arguments).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains("use ./hpcc of a source tree"), "{}", err(&output));
    }
    for (script, words) in
        [("/nowhere/hpcc", "/nowhere: no such file"), ("/bin/false", "expected the script of a source tree")]
    {
        let output = hpcc(&["build"]).env("HPCC_SCRIPT", script).output().expect("hpcc starts");
        assert!(err(&output).contains(words), "{}", err(&output));
    }
}

#[test]
fn a_simulator_that_cannot_be_built_gives_1() {
    let output = hpcc(&["run", FAKE_SCENARIO, "--simulator", "ns3"])
        .env("HPCC_SCRIPT", concat!(env!("CARGO_MANIFEST_DIR"), "/../hpcc"))
        .env("HPCC_CACHE", "/proc/nowhere")
        .env_remove("NS3_DIR")
        .output()
        .expect("hpcc starts");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(err(&output).contains("/proc/nowhere"), "{}", err(&output));
}

#[test]
fn a_file_that_was_cut_is_found() {
    let folder = folder();
    let dir = canned(folder.path(), true);
    for (name, command) in [("fct.csv", &["report"][..]), ("fct.txt", &["compare", "canned"])] {
        let file = dir.join(name);
        let text = fs::read_to_string(&file).expect(name);
        let end = text.trim_end().rfind('\n').expect("two lines") + 1;
        fs::write(&file, &text[..end]).expect(name);
        let output = hpcc(command).arg("canned").current_dir(folder.path()).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(2), "{}", out(&output));
        assert!(err(&output).contains(&format!("{name}: has 1 rows, but summary.json counts 2")), "{}", err(&output));
        fs::write(&file, text).expect(name);
    }
}

#[test]
fn results_of_another_version_are_said_to_be_that() {
    let folder = folder();
    let dir = canned(folder.path(), true);
    let file = dir.join("summary.json");
    let text = fs::read_to_string(&file).expect("summary.json");
    fs::write(&file, text.replace(&format!("\"format\": {}", summary::FORMAT), "\"format\": 9")).expect("summary.json");
    for command in [&["report"][..], &["compare", "canned"]] {
        let output = hpcc(command).arg("canned").current_dir(folder.path()).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(2), "{}", out(&output));
        assert!(err(&output).contains("results of hpcc 0.1.0 in format 9"), "{}", err(&output));
    }
}

#[test]
fn report_selects_groups_flows_and_times() {
    let folder = folder();
    canned(folder.path(), true);
    let report = |arguments: &[&str]| {
        hpcc(&[&["report", "canned"], arguments].concat()).current_dir(folder.path()).output().expect("hpcc starts")
    };
    let one = report(&["--flow", "1"]);
    assert_eq!(one.status.code(), Some(0), "{}", err(&one));
    assert!(out(&one).lines().any(|line| line.split_whitespace().take(2).eq(["all", "1"])), "{}", out(&one));
    assert!(out(&one).contains(" selected   1 of 2 flows; 1 of them finished"), "{}", out(&one));
    assert!(out(&one).contains(" The whole run, whatever is selected:\n flows      2 of 2 finished"), "{}", out(&one));
    let slowdown = folder.path().join("canned/slowdown.svg");
    assert!(slowdown.is_file());
    let late = report(&["--warm-up", "1us"]);
    assert!(out(&late).contains("no slowdown.svg: no flow that is selected started in this part"), "{}", out(&late));
    assert!(!slowdown.exists(), "it showed something else");
}

#[test]
fn several_folders_make_one_page() {
    let folder = folder();
    canned(folder.path(), true);
    fs::create_dir(folder.path().join("b")).expect("folder");
    fs::rename(canned(&folder.path().join("b"), false), folder.path().join("other")).expect("second run");
    let arguments = ["report", "canned", "other", "--out", "pages/both.html"];
    let output = hpcc(&arguments).current_dir(folder.path()).output().expect("hpcc starts");
    assert_eq!(output.status.code(), Some(3), "flows of the second are unfinished: {}", err(&output));
    assert!(out(&output).ends_with(" look at it with: xdg-open pages/both.html\n"), "{}", out(&output));
    let page = fs::read_to_string(folder.path().join("pages/both.html")).expect("page");
    assert!(page.contains("\"name\":\"canned\"") && page.contains("\"name\":\"other\""));
}

#[test]
fn a_key_is_explained_without_a_simulator() {
    let output = hpcc(&["explain", "congestion_control.eta"]).output().expect("hpcc starts");
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let line = "  only with algorithm = \"hpcc\" or \"hpcc_plus\" or \"rx_hpcc\" or \"hpcc_pint\"\n";
    for line in [line, "  default   0.95\n", "  attribute ns3::RdmaHost::HpccEta, ns3::RdmaHost::HpccPlusEta, "] {
        assert_eq!(out(&output).matches(line).count(), 1, "{}", out(&output));
    }
    // Of which there is another one, with another default.
    let increase = out(&hpcc(&["explain", "congestion_control.additive_increase"]).output().expect("hpcc starts"));
    assert!(increase.matches("congestion_control.additive_increase: ").count() > 1, "{increase}");
    for (key, attribute) in [("fast_cnp.enabled", "FastCnpEnabled"), ("transport.mtu", "Mtu")] {
        let of_network = out(&hpcc(&["explain", key]).output().expect("hpcc starts"));
        assert!(of_network.contains(&format!("attribute ns3::EngineNetwork::{attribute}\n")), "{of_network}");
    }
    let attribute = hpcc(&["explain", "TelemetryHops"]).output().expect("hpcc starts");
    assert!(out(&attribute).starts_with("telemetry.hops: ") && out(&attribute).contains("from 1 to 15, or \"auto\""));
}

#[test]
fn all_keys_are_listed() {
    let all = out(&hpcc(&["explain"]).output().expect("hpcc starts"));
    let defaults = all.lines().map(|line| line.split("  ").next().unwrap_or_default());
    assert!(defaults.clone().any(|key| key == "transport.mtu"), "{all}");
    assert_eq!(defaults.filter(|key| *key == "congestion_control.eta (hpcc)").count(), 1);
    let fault = out(&hpcc(&["explain", "missed_wakeups"]).output().expect("hpcc starts"));
    assert!(fault.contains("attribute ns3::EngineNetwork::ReferenceFaults\n"), "{fault}");
    for (key, words) in [
        ("run.seed", "run.seed: Seed of every random choice of the run."),
        ("traffic.kind", "  expected  \"flow\" or \"on_off\" or \"incast\" or "),
        ("claim.measure", "claim.measure (sweep files): Measured quantity"),
        ("traffic.0.dst", "  only with kind = \"flow\" or \"on_off\"\n  expected  a whole number from 0\n"),
        ("traffic.0.load", "  expected  a number from 0.0 to 1.0"),
        ("run.stop", "  expected  a time such as \"1us\""),
        ("topology.links", "  expected  { a, b, rate, delay, loss }, any number of them\n"),
    ] {
        let printed = out(&hpcc(&["explain", key]).output().expect("hpcc starts"));
        assert!(printed.contains(words), "{key}: {printed}");
        assert!(all.lines().any(|line| line.starts_with(&key.replace(".0.", "."))), "{key}");
    }
}

/// Both streams lead into a closed pipe.
#[test]
fn closed_streams_are_no_reason_to_crash() {
    for arguments in [&["explain"][..], &["--help"], &["explain", "nothing"], &["runn"]] {
        let normal = hpcc(arguments).output().expect("hpcc starts").status.code();
        let (reader, writer) = std::io::pipe().expect("pipe");
        drop(reader);
        let mut command = hpcc(arguments);
        let status = command.stdout(writer.try_clone().expect("pipe")).stderr(writer).status().expect("hpcc starts");
        assert_eq!(status.code(), normal, "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_written_to_standard_output_is_told() {
    for arguments in [&["explain"][..], &["--help"], &["--version"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = hpcc(arguments).stdout(full).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err(&output).starts_with("hpcc: standard output: no space left"), "{arguments:?}: {}", err(&output));
    }
}

/// A limit of 512 bytes takes the place of a full disk.
#[test]
fn a_full_disk_leaves_no_part_of_a_file() {
    let folder = folder();
    let quickstart = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/quickstart.toml");
    let described = |what| {
        [what, quickstart, "--write", "file", "--set", "topology.hosts=99", "--set", "traffic.3.sender_count=98"]
    };
    for arguments in [described("topology"), described("workload")] {
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_hpcc")])
            .args(arguments);
        limited.env("HPCC_SCRIPT", "/nowhere/hpcc").current_dir(folder.path()).stdin(Stdio::null());
        let output = limited.output().expect("sh starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", err(&output));
        assert!(err(&output).starts_with("hpcc: cannot write file: file too large"), "{}", err(&output));
        assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 0, "{arguments:?} leaves something");
    }
}

/// A simulator that would go on for a minute, and where it notes its process id.
const LONG: &str = "#!/bin/sh\necho $$ >> \"$FAKE_PIDS\"\nexec sleep 60\n";

#[test]
fn a_signal_ends_the_simulators_too() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("simulator"), LONG).expect("simulator");
    fs::set_permissions(path("simulator"), fs::Permissions::from_mode(0o755)).expect("simulator");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/quickstart.toml");
    let sweep = "title = \"T\"\nbase = \"base.toml\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
    fs::copy(scenario, path("base.toml")).expect("base.toml");
    fs::write(path("sweep.toml"), sweep).expect("sweep.toml");
    for (arguments, simulators) in [(&["run", "base.toml"][..], 1), (&["sweep", "sweep.toml", "--jobs", "2"], 2)] {
        for signal in ["TERM", "INT", "HUP"] {
            let _ = fs::remove_file(path("pids"));
            // Whoever runs this in the background may ignore some of them, which children inherit.
            let mut command = Command::new("env");
            command
                .arg("--default-signal=TERM,INT,HUP")
                .arg(hpcc(&[]).get_program())
                .args(["--simulator", "ns3"])
                .args(arguments);
            command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
            command.env("HPCC_SCENARIO_PROGRAM", path("simulator")).env("FAKE_PIDS", path("pids"));
            let mut child = command.spawn().expect("hpcc starts");
            let pids = || -> Vec<String> {
                fs::read_to_string(path("pids")).unwrap_or_default().lines().map(str::to_owned).collect()
            };
            wait_until("the simulators have started", || pids().len() == simulators);
            let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
            assert!(sent.expect("sh").success());
            let status = child.wait().expect("hpcc ends");
            assert!(status.signal().is_some(), "{arguments:?}: {status}");
            let runs =
                |pid: &String| fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
            wait_until("the simulators have ended", || !pids().iter().any(runs));
        }
    }
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: not yet");
        std::thread::sleep(Duration::from_millis(10));
    }
}
