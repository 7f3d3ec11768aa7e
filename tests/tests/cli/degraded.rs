// SPDX-License-Identifier: GPL-2.0-only
//! Links that become worse for a time: by their rate, and by wrong bits.

use hpcc_model::results::{CsvRow, fct_csv, ports_csv};
use hpcc_tests::Bench;

/// Host 0 sends to host 2 by switches 4 and 5.
const TOML: &str = r#"
run.stop = "20ms"
topology = { kind = "dumbbell", left = 2, right = 2, rate = "100Gbps", delay = "1us" }
transport = { base_rtt = "10us", recovery = "selective_repeat" }
traffic = [{ kind = "flow", src = 0, dst = 2, size = "20MB" }]
monitor = { queue_interval = "1us" }
"#;

/// The flow's time, and what came to each port with errors.
fn run(bench: &Bench, out: &str, set: &[&str]) -> (u64, Vec<u64>) {
    let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", *pair]).collect();
    let told = bench.hpcc(&[&["run", "net.toml", "--simulator", "core", "--quiet", "--out", out], &set[..]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let flows = fct_csv::read(&bench.path(out).join("fct.csv")).expect("flows");
    let ports = ports_csv::read(&bench.path(out).join("ports.csv")).expect("ports");
    assert!(ports_csv::PortRow::COLUMNS.ends_with(&["fcs_errors"]));
    (flows[0].fct_ns, ports.iter().map(|port| port.fcs_errors.expect("counted")).collect())
}

/// 800 us at a quarter of the rate are 600 us lost; what is in flight and waits makes no more than 2 us of difference. A rate from
/// the start on is the same as one of the topology, with all that congestion control makes of it.
#[test]
fn a_rate_drops_and_comes_back() {
    let bench = Bench::new(&[("net.toml", TOML)]);
    let none = "congestion_control.algorithm=none";
    let worse = "failures.degraded=[{time='200us',until='1ms',a=4,b=5,rate='25Gbps'}]";
    let (whole, degraded) = (run(&bench, "whole", &[none]).0, run(&bench, "worse", &[none, worse]).0);
    assert!((degraded - whole).abs_diff(600_000) < 2_000, "{whole} {degraded}");
    for algorithm in ["hpcc", "hpcc_plus", "power_tcp"] {
        let algorithm = format!("congestion_control.algorithm={algorithm}");
        let topology = run(&bench, &format!("{algorithm}-narrow"), &[&algorithm, "topology.bottleneck_rate=25Gbps"]);
        let always = "failures.degraded=[{time='0us',a=4,b=5,rate='25Gbps'}]";
        assert_eq!(run(&bench, &format!("{algorithm}-always"), &[&algorithm, always]), topology, "{algorithm}");
        let queues = |out: &str| bench.read(&format!("{algorithm}-{out}/queue.csv"));
        assert!(queues("narrow") == queues("always"), "{algorithm}");
    }
}

/// Of 20,000 frames of 1,048 bytes one of 119 has a wrong bit, of as many acknowledgements one of 1,800 or fewer; only those of the one
/// link.
#[test]
fn frames_with_wrong_bits_are_lost_and_counted_where_they_arrive() {
    let bench = Bench::new(&[("net.toml", TOML)]);
    let set = ["congestion_control.algorithm=none", "failures.degraded=[{time='0us',a=4,b=5,bit_errors=1e-6}]"];
    let (_, errors) = run(&bench, "bad", &set);
    // Ports of hosts 0 to 3, then three of switch 4 and three of switch 5: the last one of each leads to the other.
    let [answers, data] = [errors[6], errors[9]];
    assert!((130..210).contains(&data) && (1..40).contains(&answers), "{errors:?}");
    let summary: serde_json::Value = serde_json::from_str(&bench.read("bad/summary.json")).expect("JSON");
    assert_eq!((summary["losses"].as_u64(), errors.iter().sum::<u64>()), (Some(data + answers), data + answers));
    let (_, healed) = run(&bench, "healed", &[set[0], &set[1].replace("time='0us'", "time='0us',until='100us'")]);
    assert!((1..60).contains(&healed[9]), "{healed:?}");
}

#[test]
fn several_threads_lose_the_same_frames() {
    let topology = r#"{ kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 2, rate = "100Gbps", delay = "1us", bundle = 2 }"#;
    let lines = TOML.lines().map(|line| match line.split_once(" = ") {
        Some(("topology", _)) => format!("topology = {topology}"),
        _ => line.to_owned(),
    });
    let bench = Bench::new(&[("net.toml", &lines.collect::<Vec<_>>().join("\n"))]);
    let set = "failures.degraded=[{time='1us',a=4,b=6,link=1,bit_errors=1e-6,rate='50Gbps'},\
               {time='1us',a=4,b=7,bit_errors=1e-6},{time='1us',a=4,b=6,link=0,bit_errors=1e-6}]";
    for threads in ["1", "2"] {
        let run = ["run", "net.toml", "--simulator", "core", "--threads", threads, "--out", threads, "--quiet"];
        let told = bench.hpcc(&[&run[..], &["--set", set]].concat());
        assert_eq!(told.code, Some(0), "{}", told.err);
    }
    for file in ["fct.csv", "ports.csv"] {
        assert_eq!(bench.read(&format!("1/{file}")), bench.read(&format!("2/{file}")), "{file}");
    }
    let errors = ports_csv::read(&bench.path("1/ports.csv")).expect("ports");
    assert!(errors.iter().filter_map(|port| port.fcs_errors).sum::<u64>() > 40);
}

#[test]
fn what_makes_no_link_worse_is_refused() {
    let bench = Bench::new(&[("net.toml", TOML)]);
    for (degraded, words) in [
        ("{time='1us',a=0,b=5,rate='25Gbps'}", "nodes 0 and 5 are not linked"),
        ("{time='1us',a=4,b=5}", "the link is as before; expected rate or bit_errors"),
        ("{time='1us',a=4,b=5,rate='200Gbps'}", "the rate is 200Gbps; expected more than 0, and at most 100Gbps"),
        ("{time='1us',a=4,b=5,rate='0Gbps'}", "the rate is 0bps; expected more than 0"),
        ("{time='1us',a=4,b=5,bit_errors=2}", "expected a number from 0 to 1"),
        ("{time='9us',until='9us',a=4,b=5,rate='25Gbps'}", "until is 9000 ns, not after 9000 ns"),
        (
            "{time='1us',a=4,b=5,rate='25Gbps'},{time='9us',a=5,b=4,bit_errors=1e-6}",
            "the changes at 1000 ns and 9000 ns are of the same link",
        ),
    ] {
        let set = format!("failures.degraded=[{degraded}]");
        let run = ["run", "net.toml", "--simulator", "core", "--out", "out", "--set", &set];
        let told = bench.hpcc(&run);
        assert!(told.code == Some(2) && told.err.contains(words), "{degraded}: {}", told.err);
        assert!(!bench.path("out").exists());
    }
}
