// SPDX-License-Identifier: GPL-2.0-only
//! Legacy hosts, which have an algorithm with parameters of its own.

use hpcc_tests::Bench;
use serde_json::Value;

/// Hosts 0 and 1 send to host 2, which marks.
const TOML: &str = r#"
[run]
stop = "50ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "dcqcn"
[[traffic]]
kind = "incast"
receiver = 2
sender_count = 2
size = "5MB"
"#;

/// The settings of legacy nodes as a run understood them, and its flows.
fn run(lines: &str) -> (Value, String) {
    let bench = Bench::new(&[("run.toml", &format!("{TOML}{lines}"))]);
    let output = bench.run("run.toml", &[]);
    assert_eq!(output.code, Some(0), "{lines}: {}", output.err);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    (summary["scenario"]["legacy"].clone(), bench.read("out/fct.csv"))
}

/// Legacy senders with some parameters send, to the nanosecond, as senders to whom the file gives them; the others' are not
/// touched.
#[test]
fn legacy_hosts_have_parameters_of_their_own() {
    let bench = Bench::new(&[("run.toml", TOML)]);
    let sets = ["congestion_control.increase_interval=20us", "congestion_control.additive_increase=5Gbps"];
    assert_eq!(bench.run("run.toml", &sets).code, Some(0));
    let all = bench.read("out/fct.csv");
    let own = "increase_interval = \"20us\"\nadditive_increase = \"5Gbps\"\n";
    let (settings, flows) = run(&format!("[legacy]\nnodes = [0, 1]\n{own}"));
    assert_eq!(flows, all);
    assert_eq!(
        (&settings["algorithm"], &settings["additive_increase_bps"]),
        (&"dcqcn".into(), &5_000_000_000u64.into())
    );
    let (_, plain) = run("[legacy]\nnodes = [0, 1]\n");
    assert_ne!(flows, plain, "the parameters count");
    assert_eq!(run(&format!("[legacy]\nnodes = [2]\n{own}")).1, plain, "those of a receiver do not");
}

/// Each host's algorithm settles what the transport leaves to it: DCQCN has no window, beside HPCC++ as alone.
#[test]
fn the_window_is_as_the_legacy_algorithm_wants_it() {
    let mixed = TOML.replace("\"dcqcn\"", "\"hpcc_plus\"");
    let windows = |lines: &str| {
        let bench = Bench::new(&[("run.toml", &format!("{mixed}[legacy]\nnodes = [0]\n{lines}"))]);
        let output = bench.run("run.toml", &[]);
        assert_eq!(output.code, Some(0), "{lines}: {}", output.err);
        let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        let scenario = &summary["scenario"];
        (scenario["transport"]["window"].clone(), scenario["legacy"]["window"].clone(), bench.read("out/fct.csv"))
    };
    let (own, legacy, without) = windows("");
    assert_eq!((own, legacy), (true.into(), false.into()));
    let (_, legacy, with) = windows("[transport]\nwindow = true\n");
    assert_eq!(legacy, true);
    assert_ne!(with, without, "the window of a legacy host counts");
}
