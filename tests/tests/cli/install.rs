// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc install`: command and simulator that may be moved, and that need nothing of where they come from.

use hpcc_tests::{Bench, ProcessOutput, TOML, has_mpi, has_tcp, hpcc, skipped};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Two racks, so that two processes can share the run.
const RACKS: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 2
rate = "100Gbps"
fabric_rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "incast"
receiver = 0
senders = [1, 2, 3]
size = "100KB"
"#;

/// As a user who has nothing but the system's programs.
fn as_guest(bench: &Bench, program: &Path, arguments: &[&str]) -> ProcessOutput {
    let mut command = Command::new(program);
    if nix::unistd::geteuid().is_root() {
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    }
    command.args(arguments).current_dir(bench.path("guest")).env_clear().env("PATH", "/usr/bin:/bin");
    ProcessOutput::from(command.output().expect("it starts"))
}

fn open(path: &Path, mode: &str) {
    assert!(Command::new("chmod").args(["-R", mode]).arg(path).status().expect("chmod").success());
}

#[test]
fn what_is_installed_runs_from_anywhere_for_anybody() {
    if Command::new("patchelf").arg("--version").output().is_err() {
        return skipped("patchelf is not installed");
    }
    let bench = Bench::new(TOML);
    bench.write("racks.toml", RACKS);
    fs::create_dir(bench.path("guest")).expect("folder");
    open(&bench.path(""), "a+rwX");
    let installed = bench.hpcc(&["install", "--prefix", "made"]);
    assert_eq!(installed.code, Some(0), "{}", installed.err);
    let again = bench.hpcc(&["install", "--prefix", "made"]);
    assert_eq!(again.code, Some(0), "an earlier one is replaced: {}", again.err);
    fs::rename(bench.path("made"), bench.path("another place")).expect("moved");
    open(&bench.path("another place"), "a-w");

    let program = bench.path("another place/bin/hpcc");
    let version = as_guest(&bench, &program, &["--version"]);
    assert!(version.out.contains("\nns-3 ") && !version.out.contains("unknown"), "{version:?}");
    let list = as_guest(&bench, &program, &["reproduce", "list"]);
    assert!(list.out.contains("fig13"), "{list:?}");
    let mut runs = vec![("../scenario.toml", vec![]), ("../scenario.toml", vec!["--simulator", "core"])];
    if has_tcp() {
        runs.push((
            "../scenario.toml",
            vec!["--set", "transport.protocol=tcp", "--set", "congestion_control.algorithm=ns3::TcpDctcp"],
        ));
    }
    if has_mpi() {
        runs.push(("../racks.toml", vec!["--ranks", "2"]));
    }
    for (scenario, options) in &runs {
        let told = as_guest(&bench, &program, &[&["run", scenario, "--out=out", "--force"], &options[..]].concat());
        assert_eq!(told.code, Some(0), "{options:?}: {}", told.err);
        let options: Vec<&str> = options.iter().copied().filter(|option| !["--ranks", "2"].contains(option)).collect();
        let usual =
            bench.hpcc(&[&["run", scenario.trim_start_matches("../"), "--out=out", "--force"], &options[..]].concat());
        assert_eq!(usual.code, Some(0), "{}", usual.err);
        assert_eq!(bench.read("guest/out/fct.csv"), bench.read("out/fct.csv"), "{options:?}");
    }
    let mut alone = Command::new(&program);
    alone.args(["run", "racks.toml", "--ranks", "2"]).current_dir(bench.path("")).env_clear().env("PATH", "/none");
    let alone = ProcessOutput::from(alone.output().expect("it starts"));
    assert!(alone.code == Some(2) && alone.err.contains("there is no mpirun"), "{alone:?}");
    // Its libraries are its own, but for those of the system.
    let loaded = Command::new("ldd").arg(bench.path("another place/lib/hpcc/hpcc-scenario")).output().expect("ldd");
    let loaded = String::from_utf8(loaded.stdout).expect("text");
    let others: Vec<&str> =
        loaded.lines().filter(|line| line.contains("=>") && !line.contains("another place")).collect();
    assert!(others.iter().all(|line| line.contains("libc.so") || line.contains("libm.so")), "{others:?}");
    open(&bench.path("another place"), "u+w");
}

#[test]
fn nothing_else_is_overwritten() {
    let bench = Bench::new(&[]);
    fs::create_dir_all(bench.path("made/lib/hpcc")).expect("folder");
    bench.write("made/lib/hpcc/mine", "");
    let told =
        ProcessOutput::from(hpcc().args(["install", "--prefix"]).arg(bench.path("made")).output().expect("it starts"));
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("lib/hpcc: is none of an earlier installation"), "{}", told.err);
    assert!(bench.path("made/lib/hpcc/mine").exists() && !bench.path("made/bin/hpcc").exists());
}
