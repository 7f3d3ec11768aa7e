// SPDX-License-Identifier: GPL-2.0-only
//! Failures that nodes notice late, links that flap, and switches that reboot.

use hpcc_model::results::packet_trace::TraceReader;
use hpcc_tests::{Bench, refused};
use serde_json::Value;

/// Host 0 sends to host 1 by leaves 2 and 3, and one of the spines 4 and 5: 40 Gb/s of frames that are all alike.
const PACED: &str = r#"
run.stop = "2ms"
transport = { kind = "paced", paced_rate = "40Gbps" }
switch.mode = "lossy"
traffic = [{ kind = "flow", src = 0, dst = 1, size = "20MB" }]
monitor = { goodput_interval = "100ns", trace_nodes = [0] }
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 1
rate = "100Gbps"
delay = "1us"
"#;
/// Nanoseconds from the start of a frame's transmission to its arrival, without the time that the frame takes.
const DELAY: f64 = 1_000.0;

fn summary(bench: &Bench, out: &str) -> Value {
    serde_json::from_str(&bench.read(&format!("{out}/summary.json"))).expect("JSON")
}

/// Runs with both uplinks of leaf 2 failing in turn, of which the flow takes one: what is lost and dropped, and the nanoseconds between
/// two frames, and of a frame on a link of 100 Gb/s.
fn run(bench: &Bench, failure: &str, more: &[&str]) -> ([u64; 2], f64, f64) {
    let mut sum = [0; 2];
    let mut bytes = 0.0;
    for spine in [4, 5] {
        let links = format!("failures.links=[{{a=2,b={spine},{failure}}}]");
        let set: Vec<&str> = [links.as_str()].iter().chain(more).flat_map(|pair| ["--set", *pair]).collect();
        let out = spine.to_string();
        let run = ["run", "net.toml", "--simulator", "core", "--quiet", "--force", "--out", &out];
        let told = bench.hpcc(&[&run[..], &set].concat());
        assert!(matches!(told.code, Some(0 | 3)), "{}", told.err);
        let summary = summary(bench, &out);
        let of = |key: &str| summary["failed_links"][key].as_u64().expect("a count");
        let [lost, dropped] = [of("lost"), of("dropped")];
        assert_eq!((summary["losses"].as_u64(), summary["drops"].as_u64()), (Some(lost), Some(dropped)));
        sum = [sum[0] + lost, sum[1] + dropped];
        bytes = frame(bench, &out);
    }
    (sum, bytes * 8.0 / 40.0, bytes * 8.0 / 100.0)
}

/// Bytes of the first frame of a trace.
fn frame(bench: &Bench, out: &str) -> f64 {
    let mut frames = TraceReader::open(&bench.path(&format!("{out}/packets.tr"))).expect("a trace");
    frames.next().expect("a frame").expect("a record").size_bytes.into()
}

/// What is sent until the ends notice is lost, with what was on its way; what comes until routes change is dropped. Both to a frame.
#[test]
fn what_is_sent_until_a_failure_is_noticed_is_lost() {
    let bench = Bench::new(&[("net.toml", PACED)]);
    for (detection, convergence) in [(0.0, 0.0), (300_000.0, 0.0), (0.0, 200_000.0), (150_000.0, 70_000.0)] {
        let failure = format!("time='500us',detection='{detection}ns'");
        let ([lost, dropped], every, takes) =
            run(&bench, &failure, &[&format!("failures.convergence={convergence}ns")]);
        let expected = [(detection + DELAY + takes) / every, convergence / every];
        for (count, expected) in [lost, dropped].into_iter().zip(expected) {
            assert!(
                (count as f64 - expected).abs() <= 1.0,
                "{detection} {convergence}: {lost} {dropped}, not {expected}"
            );
        }
    }
}

/// Nothing arrives from the failure until routes have changed, and the other path is as long.
#[test]
fn a_flow_recovers_when_routes_have_changed() {
    let bench = Bench::new(&[("net.toml", PACED)]);
    let (_, every, takes) = run(&bench, "time='500us',detection='150us'", &["failures.convergence=70us"]);
    let gap = |out: &str| {
        let rows = bench.read(&format!("{out}/goodput.csv"));
        let arrived = rows.lines().skip(1).filter(|row| !row.ends_with(",0"));
        let times: Vec<f64> = arrived.filter_map(|row| row.split(',').next()?.parse().ok()).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
    };
    let longest = gap("4").max(gap("5"));
    // What was on its way is lost, too. Samples are 100 ns apart.
    assert!((longest - 220_000.0 - DELAY - takes).abs() < every + 100.0, "{longest} ns without a byte");
}

/// A link that is back before anybody notices loses what arrives meanwhile, each time.
#[test]
fn links_flap_as_often_as_is_said() {
    let bench = Bench::new(&[("net.toml", PACED)]);
    let (down, count) = (20_000.0, 7.0);
    let flaps = "time='300us',until='320us',detection='50us',period='100us',count=7";
    let ([lost, dropped], every, _) = run(&bench, flaps, &[]);
    assert!((lost as f64 - count * down / every).abs() <= count && dropped == 0, "{lost} {dropped}");
    // Where they are noticed, each costs what one does.
    let noticed = "time='300us',until='360us',detection='10us',period='100us',count=7";
    let (times, _, takes) = run(&bench, noticed, &["failures.convergence=5us"]);
    let each = [(10_000.0 + DELAY + takes) / every, 5_000.0 / every];
    let near = |times: u64, each: f64| (times as f64 - count * each).abs() <= count;
    assert!(near(times[0], each[0]) && near(times[1], each[1]), "{times:?}, {each:?} each");
}

const LOSSLESS: &str = r#"
run.stop = "20ms"
topology = { kind = "dumbbell", left = 4, right = 2, rate = "100Gbps", delay = "1us" }
switch.buffer = "300KB"
transport = { timeout = "500us", timeout_back_off = false, recovery = "selective_repeat" }
traffic = [{ kind = "incast", receiver = 4, senders = [0, 1, 2, 3], size = "2MB" }]
wire.profile = "rocev2_ipv4"
monitor = { pauses = true, capture_nodes = [4] }
"#;

/// What waited is gone, pauses too, and all goes on. Without pauses it is as if all links failed, but for what is told by telemetry,
/// which begins anew.
#[test]
fn a_switch_reboots() {
    let bench = Bench::new(&[("net.toml", LOSSLESS)]);
    let run = |out: &str, set: &[&str]| {
        let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", *pair]).collect();
        let run = ["run", "net.toml", "--simulator", "core", "--quiet", "--out", out];
        let told = bench.hpcc(&[&run[..], &set].concat());
        assert_eq!(told.code, Some(0), "{}", told.err);
        summary(&bench, out)
    };
    let none = "congestion_control.algorithm=none";
    let reboot = "failures.reboots=[{switch=6,time='200us',until='400us'}]";
    let paused = run("paused", &[none, reboot]);
    let waited = paused["failed_links"]["dropped"].as_u64().expect("a count");
    assert!(paused["pfc_pauses"].as_u64() > Some(0) && waited > 50, "{waited} frames waited");
    let late = reboot.replace("until='400us'", "until='400us',detection='100us'");
    let late = run("late", &[none, &late]);
    let lost = |summary: &Value| summary["failed_links"]["lost"].as_u64().expect("a count");
    assert!(lost(&late) > lost(&paused), "hosts go on until they notice");
    // All five links of the switch at once.
    let links: Vec<_> = [0, 1, 2, 3, 7].map(|end| format!("{{a={end},b=6,time='200us',until='400us'}}")).into();
    let links = format!("failures.links=[{}]", links.join(","));
    let lossy = ["congestion_control.algorithm=dcqcn", "switch.mode=lossy"];
    for (out, failure) in [("reboot", reboot), ("links", links.as_str())] {
        run(out, &[&lossy[..], &[failure]].concat());
    }
    assert_eq!(bench.read("reboot/fct.csv"), bench.read("links/fct.csv"));
    // Bytes sent, as telemetry tells them, begin at zero again.
    for (out, failure) in [("counters", reboot), ("kept", links.as_str())] {
        run(out, &["congestion_control.algorithm=hpcc", failure]);
    }
    let falls = |out: &str| {
        let told = bench.hpcc(&["dissect", &format!("{out}/packets.pcap")]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        let frames = told.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let sent: Vec<u64> = frames.filter_map(|frame| first_record(&frame)).collect();
        assert!(sent.len() > 1_000, "{out}");
        sent.windows(2).filter(|pair| pair[1] < pair[0]).count()
    };
    assert_eq!((falls("counters"), falls("kept")), (1, 0));
}

fn first_record(frame: &Value) -> Option<u64> {
    frame["telemetry"]["hpcc"]["hops"][0]["tx_bytes"].as_u64()
}

#[test]
fn failures_that_contradict_themselves_are_refused() {
    let links = |keys: &str| format!("failures.links=[{{a=2,b=4,time='100us',{keys}}}]");
    let cases = [
        (links("count=3"), "expected both of them, or none"),
        (links("count=3,period='1ms'"), "the link never comes up; expected until"),
        (
            links("until='200us',detection='50us',count=3,period='150us'"),
            "the period is 150000 ns; expected more than 150000 ns, after which",
        ),
        (links("until='200us',count=1001,period='1ms'"), "expected a whole number from 1 to 1000"),
        (
            "failures.links=[{a=2,b=4,time='100us',until='200us',detection='50us'},{a=2,b=4,time='240us'}]".into(),
            "100000 ns and 240000 ns are of the same link",
        ),
        (
            "failures={links=[{a=2,b=4,time='100us'}],reboots=[{switch=2,time='300us',until='400us'}]}".into(),
            "are of the same link",
        ),
        ("failures.reboots=[{switch=1,time='1us',until='9us'}]".into(), "node 1 is no switch"),
        ("failures.reboots=[{switch=2,time='9us',until='9us'}]".into(), "not after 9000 ns"),
    ];
    let roce = PACED.replace("transport = { kind = \"paced\", paced_rate = \"40Gbps\" }\n", "");
    for (set, words) in cases {
        refused(&roce, &[(&[&set], words)]);
    }
    let set = ["load_balancing.scheme=conweave", "failures.reboots=[{switch=2,time='1us',until='9us'}]"];
    refused(&roce, &[(&set, "switches keep packets for each other")]);
}

/// A leaf without uplinks has no route: what it drops for that is of failed links, too.
#[test]
fn what_has_no_route_left_is_of_failed_links() {
    let bench = Bench::new(&[("net.toml", PACED)]);
    let links = "failures.links=[{a=2,b=4,time='100us'},{a=2,b=5,time='100us'}]";
    let told = bench.hpcc(&["run", "net.toml", "--simulator", "core", "--set", links, "--out", "out"]);
    assert_eq!(told.code, Some(3), "{}", told.err);
    let summary = summary(&bench, "out");
    assert!(summary["drops"].as_u64() > Some(1_000), "{}", summary["drops"]);
    assert_eq!(summary["failed_links"]["dropped"], summary["drops"]);
}

/// A host pauses its switch from 50 us on, and its link fails at 80 us: it was paused for 30 us, not to the end.
#[test]
fn a_pause_ends_with_its_link() {
    let toml = "run.stop = \"1ms\"\ntopology = { kind = \"star\", hosts = 3, rate = \"100Gbps\", delay = \"1us\" }\n\
                traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"10MB\" }]\nmonitor.pauses = true\n\
                failures = { storms = [{ host = 1, time = \"50us\" }], links = [{ a = 1, b = 3, time = \"80us\" }] }\n";
    let bench = Bench::new(&[("net.toml", toml)]);
    let told = bench.hpcc(&["run", "net.toml", "--simulator", "core", "--out", "out"]);
    assert_eq!(told.code, Some(3), "{}", told.err);
    let ports = bench.read("out/ports.csv");
    let mut rows = ports.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let place = |name: &str| header.iter().position(|column| *column == name).expect(name);
    let [node, port, paused] = ["node", "port", "paused_ns"].map(place);
    let row = rows.find(|row| (row[node], row[port]) == ("3", "2")).expect("the switch's port to host 1");
    let paused: u64 = row[paused].parse().expect("a number");
    assert!((28_000..30_000).contains(&paused), "{paused} ns");
}
