// SPDX-License-Identifier: GPL-2.0-only
//! Acknowledgements that stand for several packets: what they bring of those packets' telemetry, and what notifications say in
//! the meantime (draft-miao-rtgwg-hpccplus-00, sections 3 and 6.2.2; REQ-16, REQ-61).

use hpcc_formats::results::fct_csv;
use hpcc_tests::Bench;
use serde_json::Value;

/// One flow of 8000 packets past one switch, acknowledged 8 packets at a time.
const TOML: &str = r#"
[run]
stop = "10ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[wire]
profile = "rocev2_ipv4"
[congestion_control]
algorithm = "hpcc_plus"
[telemetry]
layout = "paper"
[transport]
ack_every = "8KB"
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = "8MB"
"#;
const PACKETS: u64 = 8_000;
/// Bytes of the paper's section, without a hop and with one, and of a length before it.
const SECTION: [u64; 2] = [2, 10];
const LENGTH: u64 = 2;

fn summary(bench: &Bench, set: &[&str]) -> Value {
    let told = bench.run("run.toml", set);
    assert_eq!(told.code, Some(0), "{set:?}: {}", told.err);
    serde_json::from_str(&bench.read("out/summary.json")).expect("JSON")
}

/// How long the flow took, in ns.
fn duration(set: &[&str]) -> u64 {
    let bench = Bench::new(&[("run.toml", TOML)]);
    summary(&bench, set);
    let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
    flows.iter().map(|flow| flow.fct_ns).max().expect("a flow")
}

/// Every packet's section crosses two links there; back comes the newest of eight, or each of them with its length.
#[test]
fn req_16_an_acknowledgement_brings_what_the_receiver_accumulated() {
    let there = PACKETS * SECTION.iter().sum::<u64>();
    let bytes = |per_ack: &str| {
        let bench = Bench::new(&[("run.toml", TOML)]);
        let summary = summary(&bench, &[&format!("telemetry.records_per_ack={per_ack}")]);
        summary["telemetry_bytes"].as_u64().expect("bytes")
    };
    let newest = bytes("1") - there;
    let acknowledgements = newest / (2 * SECTION[1]);
    assert!(newest.is_multiple_of(2 * SECTION[1]) && (1_000..1_100).contains(&acknowledgements), "{newest}");
    assert_eq!(bytes("16"), there + PACKETS * 2 * (SECTION[1] + LENGTH));
}

/// A window's worth of bytes waits for acknowledgements that are delayed by half of it; notifications that say what has
/// arrived keep the flow going as if each packet was acknowledged.
#[test]
fn req_61_a_notification_acknowledges_what_delayed_acknowledgements_will() {
    let late = "transport.ack_every=64KB";
    let delayed = duration(&[late, "telemetry.feedback=notification"]);
    let told = duration(&[late, "telemetry.feedback=notification", "telemetry.notification_acks=true"]);
    let each = duration(&["transport.ack_every=0", "telemetry.feedback=notification"]);
    assert!(delayed > each + each / 5, "{delayed} ns, {each} ns with an acknowledgement for each packet");
    assert!(told.abs_diff(each) < each / 100, "{told} ns, {each} ns with an acknowledgement for each packet");
}

#[test]
fn what_has_no_meaning_is_refused() {
    let refused = |set: &[&str], expected: &str| {
        let bench = Bench::new(&[("run.toml", TOML)]);
        let told = bench.run("run.toml", set);
        assert_eq!(told.code, Some(2), "{set:?}: {}", told.err);
        assert!(told.err.contains(expected), "{set:?}: {}", told.err);
        assert!(!bench.path("out").exists());
    };
    let many = "telemetry.records_per_ack=4";
    refused(
        &[many, "transport.ack_every=0"],
        "telemetry.records_per_ack: records_per_ack above 1 needs transport.ack_every",
    );
    refused(&[many, "telemetry.guard=true"], "telemetry.records_per_ack: records_per_ack above 1 excludes guard");
    refused(&[many, "telemetry.feedback=notification"], "telemetry.records_per_ack: ");
    refused(&[many, "telemetry.answer=loads"], "telemetry.records_per_ack: records_per_ack above 1 needs");
    refused(
        &[many, "congestion_control={algorithm='hpcc'}"],
        "telemetry.records_per_ack: records_per_ack above 1 needs",
    );
    let large = ["telemetry.records_per_ack=16", "telemetry.layout=int_md"];
    refused(
        &large,
        "telemetry.records_per_ack: records_per_ack is 16, but records of 15 hops leave room for 4 packets",
    );
    refused(&["telemetry.notification_acks=true"], "telemetry.notification_acks: ");
    let probes = ["telemetry.packets=probes", "telemetry.feedback=notification", "telemetry.notification_acks=true"];
    refused(&probes, "telemetry.notification_acks: notification_acks cannot be with packets");
}
