// SPDX-License-Identifier: GPL-2.0-only
//! No signal is lost in silence: what switches say of congestion is what senders hear, or what was told with another one and
//! counted as such; what comes back of telemetry is what was collected; and nobody disbelieves an honest one.

use hpcc_tests::Run;
use serde_json::Value;

/// Four hosts send to one over a slower link, and a fifth to another host beside them. Nothing is lost.
const TOML: &str = r#"
[run]
stop = "20ms"
[topology]
kind = "dumbbell"
left = 5
right = 2
rate = "100Gbps"
delay = "1us"
bottleneck_rate = "50Gbps"
bottleneck_delay = "3us"
[wire]
profile = "rocev2_ipv6"
[switch]
buffer = "64MiB"
ecn = true
[[traffic]]
kind = "incast"
receiver = 5
senders = [0, 1, 2, 3]
size = "1500KB"
[[traffic]]
kind = "flow"
src = 4
dst = 6
size = "1MB"
start = "100us"
"#;
const PACKETS: u64 = 7_000;

/// A run with these settings, in which all five flows finish.
#[track_caller]
fn run(set: &[&str]) -> Run {
    let run = Run::of(TOML, set);
    assert_eq!((run.count("/flows_finished"), run.count("/drops")), (5, 0), "{set:?}");
    run
}

/// A count; 0 where the run has none of the kind.
fn count(run: &Run, pointer: &str) -> u64 {
    run.summary.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// The settings under which marks come back, for an algorithm that has to read them or not.
const WAYS: [&[&str]; 6] = [
    &["transport.ack_every=0B", "transport.queue_pairs=per_flow"],
    &["transport.ack_every=8KB", "transport.queue_pairs=per_pair"],
    &["transport.ack_every=8KB", "switch.classes=3:8000"],
    &["transport.ack_every=16KB"],
    &["transport.ack_every=8KB", "legacy={nodes=[0,1]}"],
    &["transport.ack_every=8KB", "legacy={nodes=[0,1,5]}"],
];

/// Runs an algorithm in all ways, and accounts for each mark.
fn account(set: &[&str]) -> Vec<Run> {
    let runs = WAYS.iter().map(|way| {
        let all = [set, way].concat();
        let summary = run(&all);
        let [marks, merged, heard] = ["/marks", "/marks_merged", "/marks_heard"].map(|key| count(&summary, key));
        let refused = summary.sum("/fast_cnp/refused");
        assert!(marks > 0 && heard > 0, "{all:?}: {marks} marks, {heard} heard");
        // A host refuses notifications of receivers or of switches.
        let lost = marks - merged - heard;
        assert!(lost <= refused, "{all:?}: {marks} marks, {merged} merged, {heard} heard, {refused} refused");
        assert!(summary.summary["cnps"].as_u64().is_none_or(|cnps| cnps == marks - merged), "{all:?}");
        assert_eq!(count(&summary, "/rejected_feedback"), 0, "{all:?}: honest feedback");
        summary
    });
    runs.collect()
}

/// DCQCN hears at most once in 50 us and as often as it may, however rare acknowledgements are: the queue that it leaves is
/// nearly the same.
#[test]
fn dcqcn_hears_of_marks_however_rare_acknowledgements_are() {
    for notification in ["ack", "cnp"] {
        let notification = format!("transport.congestion_notification={notification}");
        let runs = account(&["congestion_control.algorithm=dcqcn", &notification]);
        let heard: Vec<u64> = runs.iter().map(|summary| count(summary, "/marks_heard")).collect();
        assert!(heard.iter().all(|&heard| (60..=130).contains(&heard)), "{notification}: {heard:?}");
        let queues: Vec<u64> = runs.iter().map(|summary| count(summary, "/queue_max_bytes")).collect();
        assert!(queues.iter().all(|&queue| (3_000_000..4_500_000).contains(&queue)), "{notification}: {queues:?}");
    }
}

/// One under another algorithm hears in every acknowledgement.
#[test]
fn every_algorithm_hears_of_marks_however_rare_acknowledgements_are() {
    for algorithm in ["dctcp", "hpcc", "hpcc_plus", "timely", "swift"] {
        let runs = account(&[&format!("congestion_control.algorithm={algorithm}")]);
        assert!(
            runs[..1].iter().all(|summary| count(summary, "/marks_merged") == 0),
            "{algorithm}: each has an answer"
        );
    }
    account(&["congestion_control.algorithm=hpcc_plus", "transport.congestion_notification=cnp"]);
}

/// On links that lose frames each mark is heard of, told with others, or lost with its frame or the answer.
#[test]
fn marks_are_heard_of_or_lost() {
    for algorithm in ["dctcp", "dcqcn", "timely"] {
        let summary = run(&[&format!("congestion_control.algorithm={algorithm}"), "topology.loss=0.002"]);
        let keys = ["/marks", "/marks_merged", "/marks_heard", "/marks_lost"];
        let [marks, merged, heard, lost] = keys.map(|key| count(&summary, key));
        assert!(lost > 0, "{algorithm}: {marks} marks");
        assert_eq!(marks, merged + heard + lost, "{algorithm}: {merged} merged, {heard} heard, {lost} lost");
    }
}

/// What a switch of Bolt sends back at once reaches the sender with any headers, and keeps the queue short.
#[test]
fn what_switches_send_back_is_heard_with_any_headers() {
    let toml = "run = { stop = '10ms' }\n\
                topology = { kind = 'star', hosts = 3, rate = '100Gbps', delay = '5us' }\n\
                congestion_control = { algorithm = 'bolt' }\n\
                monitor = { queue_interval = '1us' }\n\
                traffic = [{ kind = 'incast', receiver = 0, sender_count = 2, size = '10MB' }]";
    for profile in ["reference", "rocev2_ipv4", "rocev2_ipv6"] {
        let run = Run::of(toml, &[&format!("wire.profile={profile}")]);
        // An acknowledgement each of 20,000 packets, and what switches say besides.
        assert!(run.count("/feedback_packets") > 20_100, "{profile}: {}", run.count("/feedback_packets"));
        assert!(run.count("/queue_p99_bytes") < 200_000, "{profile}: {}", run.count("/queue_p99_bytes"));
    }
}

/// Where receivers send Fast CNPs senders also hear of switches, and refuse what comes too soon after that.
#[test]
fn fast_cnps_of_receivers_are_heard_or_refused_for_a_reason() {
    let ways = ["transport.congestion_notification=fast_cnp", "fast_cnp.enabled=true", "fast_cnp.accept_from=all"];
    for (algorithm, records) in [
        ("dcqcn", "telemetry.sampling=none"),
        ("dcqcn", "telemetry.layout=ioam"),
        ("hpcc_plus", "telemetry.layout=ioam"),
    ] {
        let algorithm = format!("congestion_control.algorithm={algorithm}");
        for run in account(&[&[algorithm.as_str(), records][..], &ways].concat()) {
            let effects = run.sum("/fast_cnp/without_effect") + run.sum("/fast_cnp/refused");
            let sent = count(&run, "/fast_cnp/sent") + count(&run, "/cnps");
            assert_eq!(count(&run, "/fast_cnp/accepted") + effects, sent, "{algorithm} {records}");
        }
    }
}

/// Each packet's records come back, sealed and guarded, and all are believed.
#[test]
fn what_packets_collect_comes_back_and_is_believed() {
    for algorithm in ["hpcc", "hpcc_plus"] {
        let algorithm = format!("congestion_control.algorithm={algorithm}");
        for guards in [&[][..], &["telemetry.guard=true", "telemetry.seal=000102030405060708090a0b0c0d0e0f"]] {
            for by in ["ack", "notification"] {
                let by = format!("telemetry.return_path={by}");
                let summary = run(&[&[algorithm.as_str(), by.as_str()], guards].concat());
                let [feedback, rejected] = ["/feedback_packets", "/rejected_feedback"].map(|key| count(&summary, key));
                assert_eq!((feedback, rejected), (PACKETS, 0), "{algorithm} {by} {guards:?}");
            }
        }
    }
}
