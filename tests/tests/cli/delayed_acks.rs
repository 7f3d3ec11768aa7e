// SPDX-License-Identifier: GPL-2.0-only
//! Acknowledgements that stand for several packets: what they bring of those packets' telemetry, and what notifications say in
//! the meantime (draft-miao-rtgwg-hpccplus-00, sections 3 and 6.2.2; REQ-16, REQ-61).

use hpcc_tests::{Run, refused};

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

/// Every packet's section crosses two links there; back comes the newest of eight, or each of them with its length.
#[test]
fn req_16_an_acknowledgement_brings_what_the_receiver_accumulated() {
    let there = PACKETS * SECTION.iter().sum::<u64>();
    let bytes =
        |per_ack: &str| Run::of(TOML, &[&format!("telemetry.records_per_ack={per_ack}")]).count("/telemetry_bytes");
    let newest = bytes("1") - there;
    let acknowledgements = newest / (2 * SECTION[1]);
    assert!(newest.is_multiple_of(2 * SECTION[1]) && (1_000..1_300).contains(&acknowledgements), "{newest}");
    assert_eq!(bytes("16"), there + PACKETS * 2 * (SECTION[1] + LENGTH));
}

/// A window's worth of bytes waits for acknowledgements that are delayed by half of it; notifications that say what has
/// arrived keep the flow going as if each packet was acknowledged.
#[test]
fn req_61_a_notification_acknowledges_what_delayed_acknowledgements_will() {
    let late = "transport.ack_every=64KB";
    let duration = |set: &[&str]| Run::of(TOML, set).slowest();
    let delayed = duration(&[late, "telemetry.return_path=notification"]);
    let told = duration(&[late, "telemetry.return_path=notification", "telemetry.notification_acks=true"]);
    let each = duration(&["transport.ack_every=0", "telemetry.return_path=notification"]);
    assert!(delayed > each + each / 5, "{delayed} ns, {each} ns with an acknowledgement for each packet");
    assert!(told.abs_diff(each) < each / 100, "{told} ns, {each} ns with an acknowledgement for each packet");
}

#[test]
fn what_has_no_meaning_is_refused() {
    let many = "telemetry.records_per_ack=4";
    let large = "records_per_ack is 16, but records of 15 hops leave room for 4 packets";
    let (by_notification, acks) = ("telemetry.return_path=notification", "telemetry.notification_acks=true");
    refused(
        TOML,
        &[
            (&[many, "transport.ack_every=0"], "records_per_ack above 1 needs transport.ack_every"),
            (&[many, "telemetry.guard=true"], "records_per_ack above 1 excludes guard"),
            (&[many, by_notification], "telemetry.records_per_ack: "),
            (&[many, "telemetry.content=loads"], "records_per_ack above 1 needs"),
            (&[many, "congestion_control={algorithm='hpcc'}"], "records_per_ack above 1 needs"),
            (&["telemetry.records_per_ack=16", "telemetry.layout=int_md"], large),
            (&[acks], "telemetry.notification_acks: "),
            (&["telemetry.sampling=probes", by_notification, acks], "notification_acks cannot be with sampling"),
        ],
    );
}
