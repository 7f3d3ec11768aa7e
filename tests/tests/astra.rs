// SPDX-License-Identifier: GPL-2.0-only
//! The network backend for ASTRA-sim: compiled against a header with its interface, and played by a program in its place.

use hpcc_model::results::{fct_csv, jobs_csv};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const TOPOLOGY: &str =
    "5 1 4\n4\n4 0 100Gbps 0.001ms 0\n4 1 100Gbps 0.001ms 0\n4 2 100Gbps 0.001ms 0\n4 3 100Gbps 0.001ms 0\n";
/// Keys that ASTRA-sim's configurations have, too; it reads no flows.
const CONFIG: &str = "PACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE topology.txt\nFLOW_FILE none.txt\nTRACE_FILE trace.txt\n\
    SIMULATOR_STOP_TIME 40000000000000.00\nCC_MODE 12\nHAS_WIN 1\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nBUFFER_SIZE 32\n\
    ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\nKMAX_MAP 1 100000000000 1600\nKMIN_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\n";

fn done(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The driver, compiled once.
fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--quiet", "--locked", "--release", "--package", "hpcc-astra"];
        done(Command::new(cargo).args(build).arg("--target-dir").arg(profile).current_dir(root));
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("astra-driver");
        let cpp = env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let include = |folder: PathBuf| format!("-I{}", folder.display());
        let mut command = Command::new(cpp);
        command.args(["-std=c++17", "-Wall", "-Werror", "-O1"]).arg(root.join("tests/astra/driver.cc"));
        command.arg(include(root.join("tests/astra"))).arg(include(root.join("ns3-module/astra")));
        command.arg(include(profile.join("cxxbridge"))).arg(profile.join("release/libhpcc_astra.a"));
        done(command.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
        program
    })
}

fn play(folder: &Path, arguments: &[&str]) -> Output {
    fs::write(folder.join("config.txt"), CONFIG).expect("written");
    fs::write(folder.join("topology.txt"), TOPOLOGY).expect("written");
    fs::write(folder.join("trace.txt"), "0\n").expect("written");
    Command::new(driver()).args(["config.txt", "out"]).args(arguments).current_dir(folder).output().expect("it starts")
}

#[test]
fn handlers_are_called_when_their_messages_are_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let played = play(folder.path(), &[]);
    let (out, err) = (String::from_utf8_lossy(&played.stdout), String::from_utf8_lossy(&played.stderr));
    assert_eq!(played.status.code(), Some(0), "{out}{err}");
    let at = |what: &str| -> Vec<u64> {
        let lines = out.lines().filter_map(|line| line.split_once(' ').filter(|(_, rest)| *rest == what));
        lines.map(|(time, _)| time.parse().expect("a time")).collect()
    };
    assert_eq!(at("0 waited"), [400]);
    // A megabyte at 100 Gb/s by two links of 1 us takes 84 ns a packet; its acknowledgement comes 2 us later.
    let (arrived, sent) = (at("1 received -7")[0], at("0 sent -7")[0]);
    assert!((400 + 1_001 * 83 + 2_000..400 + 1_001 * 85 + 2_200).contains(&arrived), "{out}");
    assert!((1_990..2_200).contains(&(sent - arrived)), "{out}");
    // Each receive of a key has its own end, in order; one that comes late is over at once.
    let (both, late) = (at("2 received 5"), at("2 received 9"));
    assert!(both.len() == 2 && arrived < both[0] && both[0] < both[1], "{out}");
    assert_eq!(late, [both[1] + 10_000]);
    let own = at("0 received 1");
    assert_eq!((own.len(), &own), (1, &at("0 sent 1")));
    let large = at("3 sent 2");
    assert!(large[0] > 1_000_000 + 5_000_000 * 83, "{out}");
    // Queue pairs last, and there are results as of any run.
    let flows = fct_csv::read(&folder.path().join("out/fct.csv")).expect("flows");
    let ports: Vec<u16> = flows.iter().filter(|flow| (flow.src, flow.dst) == (1, 2)).map(|flow| flow.sport).collect();
    assert!(ports.len() == 2 && ports[0] == ports[1], "{flows:?}");
    let job = jobs_csv::read(&folder.path().join("out/jobs.csv")).expect("jobs")[0];
    assert_eq!((job.finished, job.messages, job.time_ns), (4, 5, Some(large[0])), "{err}");
}

#[test]
fn a_run_that_stands_still_says_who_waits_for_whom() {
    let folder = tempfile::tempdir().expect("a folder");
    let played = play(folder.path(), &["stall"]);
    let err = String::from_utf8_lossy(&played.stderr);
    assert_eq!(played.status.code(), Some(3), "{err}");
    assert!(err.contains("rank 3 (host 3) waits for a message from rank 1 with tag 2"), "{err}");
    fs::remove_file(folder.path().join("trace.txt")).expect("removed");
    let wrong =
        Command::new(driver()).args(["absent.txt", "out"]).current_dir(folder.path()).output().expect("it starts");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("absent.txt"), "{wrong:?}");
}
