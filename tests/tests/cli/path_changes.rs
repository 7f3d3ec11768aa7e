// SPDX-License-Identifier: GPL-2.0-only
//! Flows that take another path in mid-run: records of the new one are not compared with those of the old one (REQ-22).

use hpcc_tests::Run;

/// Two leaves, 4 and 5, and two spines, 6 and 7; one flow that a failure or a choice may move from one to the other.
const TOML: &str = "[run]\nstop = \"5ms\"\n[topology]\nkind = \"links\"\nhosts = 4\nswitches = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
    links = [{a=0,b=4},{a=2,b=4},{a=1,b=5},{a=3,b=5},{a=4,b=6},{a=6,b=5},{a=4,b=7},{a=7,b=5}]\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"30MB\"\n\
    [monitor]\ncontrol_interval = \"1us\"\n";
/// Whichever spine the flow takes, it has to change.
const FAILURES: &str = "[failures]\nlinks = [{time=\"1ms\",a=4,b=6,until=\"1500us\"},{time=\"1800us\",a=4,b=7}]\n";
/// Three more flows, so that one spine has too many.
const OTHERS: &str = "[[traffic]]\nkind = \"flow\"\nsrc = 2\ndst = 3\nsize = \"30MB\"\nstart = \"500us\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 2\ndst = 1\nsize = \"20MB\"\nstart = \"1ms\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 3\nsize = \"20MB\"\nstart = \"1500us\"\n";
const ALGORITHMS: [&str; 3] = ["hpcc", "hpcc_plus", "power_tcp"];

/// Nanoseconds that the first flow takes, and the lowest rate of any in Gb/s after 0.9 ms.
fn run(more: &str, set: &[&str]) -> (f64, f64) {
    let run = Run::of(&format!("{TOML}{more}"), set);
    let points = run.column("control.csv", "time_ns").into_iter().zip(run.column("control.csv", "rate_bps"));
    let late = points.filter(|(time, _)| time.is_some_and(|time| time > 900_000.0));
    let lowest = late.filter_map(|(_, rate)| rate).fold(f64::MAX, f64::min) / 1e9;
    (run.durations()[0] as f64, lowest)
}

fn of(algorithm: &str) -> String {
    format!("congestion_control.algorithm={algorithm}")
}

/// A failure costs what was on the way, and no more.
#[test]
fn req_22_a_failure_takes_no_flow_to_its_lowest_rate() {
    for algorithm in ALGORITHMS {
        let chosen = of(algorithm);
        let (intact, _) = run("", &[&chosen]);
        let (failed, lowest) = run(FAILURES, &[&chosen]);
        assert!(lowest > 20.0, "{algorithm}: {lowest} Gb/s");
        assert!(failed < 1.1 * intact, "{algorithm}: {failed} ns, {intact} without a failure");
    }
    // The 2019 simulator's fault: records of two paths are compared.
    let (_, lowest) = run(FAILURES, &["compatibility.blind_to_paths=true"]);
    assert!(lowest < 1.0, "the test would notice: {lowest} Gb/s");
}

#[test]
fn req_22_flows_that_choose_another_path_keep_their_rates() {
    // Notifications bring records of IOAM only.
    let migrate = [
        "wire.profile=rocev2_ipv6",
        "telemetry.layout=ioam",
        "fast_cnp.enabled=true",
        "fast_cnp.migrate=true",
        "fast_cnp.migrate_after=1",
    ];
    for algorithm in ALGORITHMS {
        let chosen = of(algorithm);
        for set in [&["telemetry.paths=2"][..], &migrate] {
            if algorithm == "power_tcp" && set.len() > 1 {
                continue;
            }
            let (_, lowest) = run(OTHERS, &[&[chosen.as_str(), "run.stop=20ms"], set].concat());
            assert!(lowest > 5.0, "{algorithm}, {set:?}: {lowest} Gb/s");
        }
    }
}
