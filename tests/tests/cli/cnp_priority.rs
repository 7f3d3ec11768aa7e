// SPDX-License-Identifier: GPL-2.0-only
//! CNPs of receivers in a priority of their own, from a file to the trace and the bytes of a capture.

use hpcc_model::results::packet_trace::{PacketKind, TraceEvent, TraceReader, TraceRecord};
use hpcc_tests::{Bench, Run, refused};
use serde_json::Value;

const RECEIVER: u16 = 2;
/// When the attacker's first pause leaves the switch, and its resume; links delay a microsecond.
const PAUSED: (u64, u64) = (8_000, 108_000);
const DELAY: u64 = 1_000;
/// Only what is made so soon after the pause is looked at.
const EARLY: u64 = 10_000;

/// Two senders to host 2; switch 3 pauses all hosts for 100 us while marked packets still wait for the receiver.
fn scenario(priority: u8) -> String {
    let (start, stop) = PAUSED;
    format!(
        "run.stop = '1ms'\n\
         topology = {{ kind = 'star', hosts = 3, rate = '100Gbps', delay = '1us' }}\n\
         congestion_control = {{ algorithm = 'dcqcn', notification_interval = '1us' }}\n\
         transport = {{ congestion_notification = 'cnp', ack_priority = 3 }}\n\
         switch.ecn_thresholds = [{{ rate = '100Gbps', kmin = '5KB', kmax = '50KB', pmax = 1.0 }}]\n\
         wire.profile = 'rocev2_ipv4'\n\
         traffic = [{{ kind = 'incast', receiver = {RECEIVER}, sender_count = 2, size = '400KB' }}]\n\
         monitor = {{ capture_nodes = [2], trace_nodes = [2] }}\n\
         attack = [{{ kind = 'forged_pfc', from = 3, start = '{start}ns', stop = '{stop}ns', priority = {priority} }}]\n"
    )
}

fn cnps(records: &[TraceRecord], event: TraceEvent) -> Vec<u64> {
    let of_receiver = records.iter().filter(|record| record.node == RECEIVER && record.kind == PacketKind::Cnp);
    of_receiver.filter(|record| record.event == event).map(|record| record.time_ns).collect()
}

/// How long CNPs that are made early under the pause of a priority wait at the receiver.
fn waits(paused: u8, set: &str) -> Vec<u64> {
    let run = Run::of(&scenario(paused), &[set, "switch.pfc_priorities=[3,5]"]);
    let trace = TraceReader::open(&run.bench.path("out/packets.tr")).expect("a trace");
    let records: Vec<TraceRecord> = trace.map(|record| record.expect("a record")).collect();
    let (made, left) = (cnps(&records, TraceEvent::Enqueue), cnps(&records, TraceEvent::Dequeue));
    assert_eq!(made.len(), left.len(), "none is lost, and they leave in turn");
    let begin = records.iter().find(|record| record.kind == PacketKind::Pfc).expect("a pause").time_ns;
    assert!((PAUSED.0 + DELAY..PAUSED.0 + 2 * DELAY).contains(&begin), "{begin}");
    let early = made.iter().zip(&left).filter(|&(made, _)| (begin..begin + EARLY).contains(made));
    early.map(|(made, left)| left - made).collect()
}

/// A CNP waits from when it is made to the resume, and then behind acknowledgements that are older. In a priority that is not
/// paused it waits for what is on the link at most: a full packet.
#[test]
fn only_a_pause_of_their_own_priority_holds_cnps_back() {
    for (paused, set, is_held) in [
        (3, "transport.cnp_priority=auto", true),
        (3, "transport.cnp_priority=3", true),
        (3, "transport.cnp_priority=5", false),
        (5, "transport.cnp_priority=auto", false),
        (5, "transport.cnp_priority=5", true),
    ] {
        let (lasts, seen) = (PAUSED.1 - PAUSED.0, waits(paused, set));
        let expected = if is_held { lasts - EARLY..=lasts + 5_000 } else { 0..=87 };
        assert!(seen.len() > 10 && seen.iter().all(|wait| expected.contains(wait)), "{paused}, {set}: {seen:?}");
    }
}

#[test]
fn captures_have_the_class_of_a_cnp() {
    for (priority, dscp) in [("auto", 48), ("5", 40), ("1", 8)] {
        let bench = Bench::new(&[("cnp.toml", &scenario(3))]);
        let set = format!("transport.cnp_priority={priority}");
        let told = bench.hpcc(&["run", "cnp.toml", "--out", "out", "--set", &set]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        let frames = bench.hpcc(&["dissect", "out/packets.pcap"]).out;
        let frames = frames.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let classes: Vec<Value> =
            frames.filter(|frame| frame["bth"]["opcode"] == 0x81).map(|frame| frame["ipv4"]["dscp"].clone()).collect();
        assert!(classes.len() > 10 && classes.iter().all(|class| *class == dscp), "{priority}: {classes:?}");
    }
}

/// A receiver of the other group answers by its own key.
#[test]
fn legacy_hosts_may_have_another_priority() {
    let priorities = |set: &[&str]| {
        let legacy = ["legacy.nodes=[2]", "legacy.algorithm=dcqcn", "transport.cnp_priority=5"];
        let run = Run::of(&scenario(3), &[&legacy, set].concat());
        let records = run.records();
        let mut seen: Vec<u8> =
            records.iter().filter(|record| record.kind == PacketKind::Cnp).map(|record| record.priority).collect();
        seen.dedup();
        seen
    };
    assert_eq!((priorities(&[]), priorities(&["legacy.cnp_priority=6"])), (vec![5], vec![6]));
}

#[test]
fn a_priority_that_cnps_cannot_have_is_refused() {
    let with = "transport.cnp_priority=5";
    refused(
        &scenario(3),
        &[
            (
                &["transport.cnp_priority=0"],
                "transport.cnp_priority: the value is 0; expected a whole number from 1 to 7",
            ),
            (
                &[with, "transport.congestion_notification=ack"],
                "cnp_priority belongs to congestion_notification = \"cnp\"",
            ),
            (
                &["legacy.nodes=[2]", "legacy.cnp_priority=5", "transport.congestion_notification=ack"],
                "legacy.cnp_priority: cnp_priority belongs to transport.congestion_notification = \"cnp\"",
            ),
            (
                &[with, "switch.pfc_priorities=3"],
                "its CNPs have priority 5, for which switches keep no memory; expected 5 beside 3 in switch.pfc_priorities",
            ),
        ],
    );
}
