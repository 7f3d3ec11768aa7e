// SPDX-License-Identifier: GPL-2.0-only
//! Notifications by switches, set up by a TOML file.

use hpcc_tests::{Run, refused};

/// Three hosts send to host 3 through switch 4, which notifies them.
const STAR: &str = r#"
[run]
stop = "5ms"
[topology]
kind = "star"
hosts = 4
rate = "100Gbps"
delay = "500ns"
[wire]
profile = "rocev2_ipv6"
[congestion_control]
algorithm = "dcqcn"
[switch]
ecn_thresholds = [{ rate = "100Gbps", kmin = "5KB", kmax = "50KB", pmax = 0.5 }]
[[traffic]]
kind = "incast"
receiver = 3
sender_count = 3
size = "200KB"
[fast_cnp]
enabled = true
"#;

/// Four hosts send to one, over half a millisecond of cable behind the first switch: all that they have leaves before the
/// first acknowledgement.
const CABLE: &str = r#"
[run]
stop = "30ms"
[topology]
kind = "dumbbell"
left = 4
right = 1
rate = "100Gbps"
delay = "1us"
bottleneck_delay = "500us"
[wire]
profile = "rocev2_ipv6"
[congestion_control]
algorithm = "hpcc_plus"
[telemetry]
layout = "ioam"
[switch]
buffer = "1GB"
[[traffic]]
kind = "incast"
receiver = 4
sender_count = 4
size = "5MB"
[monitor]
queue_interval = "5us"
[fast_cnp]
enabled = true
"#;

fn run(toml: &str, sets: &[&str]) -> Run {
    Run::of(toml, sets)
}

/// The longest queue in bytes, of any port at any sample.
fn queue(run: &Run) -> f64 {
    run.column("queue.csv", "qlen_bytes").into_iter().flatten().fold(0.0, f64::max)
}

fn count(run: &Run, key: &str) -> u64 {
    run.count(&format!("/fast_cnp/{key}"))
}

#[test]
fn a_border_keeps_notifications_from_a_neighbour() {
    let (open, closed) = (run(STAR, &[]), run(STAR, &["fast_cnp.borders=[[4, 0]]"]));
    assert!(count(&open, "accepted") > 0, "{}", open.summary);
    assert_eq!(
        (count(&open, "accepted") + open.sum("/fast_cnp/without_effect"), count(&open, "dropped_outbound")),
        (count(&open, "sent"), 0)
    );
    assert!(count(&closed, "dropped_outbound") > 0, "{}", closed.summary);
    assert!(count(&closed, "accepted") > 0, "the other two still hear of it: {}", closed.summary);
    assert_eq!(count(&closed, "accepted") + count(&closed, "dropped_outbound"), count(&closed, "sent"));
    assert_eq!(closed.count("/drops"), 0, "what the border drops lacks neither buffer nor route");
}

/// A domain without senders is as good as no Fast CNP: each packet that meets congestion is marked.
#[test]
fn req_47_who_is_outside_the_domain_is_marked() {
    let (outside, off) = (run(STAR, &["fast_cnp.domain=none"]), run(STAR, &["fast_cnp.enabled=false"]));
    assert!(outside.count("/fast_cnp/withheld/outside_domain") > 0, "{}", outside.summary);
    assert_eq!((count(&outside, "sent"), count(&outside, "unmarked")), (0, 0));
    assert_eq!(outside.flows(), off.flows(), "the marks slow the flows down, to the nanosecond as without Fast CNP");
}

/// A port that may send nothing but its first notification marks the rest.
#[test]
fn req_48_what_a_limit_withholds_is_marked() {
    let limited = run(STAR, &["fast_cnp.port_interval=1s", "fast_cnp.port_burst=1"]);
    assert!(limited.count("/fast_cnp/withheld/port_limit") > 0, "{}", limited.summary);
    assert_eq!((count(&limited, "sent"), count(&limited, "unmarked")), (1, 1), "one mark is replaced by what was sent");
}

/// DCTCP counts marks and ignores notifications: it must not be sent any in their place.
#[test]
fn controllers_that_ignore_notifications_are_marked() {
    let dctcp = "congestion_control={algorithm='dctcp'}";
    let marked = run(STAR, &[dctcp, "fast_cnp.incapable=hosts", "monitor.queue_interval=1us"]);
    let off = run(STAR, &[dctcp, "fast_cnp.enabled=false", "monitor.queue_interval=1us"]);
    let open =
        run(STAR, &["congestion_control={algorithm='none'}", "fast_cnp.enabled=false", "monitor.queue_interval=1us"]);
    assert!(
        queue(&marked) <= queue(&off) && queue(&off) < queue(&open),
        "{}, {}, {}",
        queue(&marked),
        queue(&off),
        queue(&open)
    );
    assert_eq!((count(&marked, "accepted"), count(&marked, "unmarked")), (0, 0), "{}", marked.summary);
}

/// Of 20 MB, 15 MB stand in the queue before the first acknowledgement; two notifications, 50 us apart, stop that.
#[test]
fn req_43_hpcc_plus_compares_notifications_before_there_is_an_acknowledgement() {
    let (deaf, heard) = (run(CABLE, &["fast_cnp.enabled=false"]), run(CABLE, &[]));
    assert!(queue(&deaf) > 12e6, "{}", queue(&deaf));
    assert!(queue(&heard) < 2e6, "{}", queue(&heard));
    assert!(count(&heard, "accepted") >= 8, "each flow slows down twice: {}", heard.summary);
    assert_eq!(
        count(&heard, "accepted") + heard.sum("/fast_cnp/without_effect") + heard.sum("/fast_cnp/refused"),
        count(&heard, "sent")
    );
    let driven = run(CABLE, &["congestion_control={algorithm='rx_hpcc'}", "telemetry={layout='ioam'}"]);
    assert!(queue(&driven) < 2e6, "by the sender of Rx-HPCC as well: {}", queue(&driven));
}

/// Where notifications bring no records, each flow halves its window once in a round trip of a millisecond.
#[test]
fn notifications_without_records_halve_the_window() {
    for telemetry in ["telemetry={layout='ioam', sampling='probes'}", "telemetry={layout='int_md'}"] {
        let (deaf, heard) = (run(CABLE, &[telemetry, "fast_cnp.enabled=false"]), run(CABLE, &[telemetry]));
        assert!(queue(&heard) < 0.75 * queue(&deaf), "{telemetry}: {} and {}", queue(&heard), queue(&deaf));
        assert!(heard.count("/fast_cnp/without_effect/same_round") > 0, "{telemetry}: {}", heard.summary);
    }
}

/// Receivers notify by Fast CNPs, and no switch does. They answer each marked packet once in 50 us, as by plain CNPs.
#[test]
fn req_45_receivers_send_fast_cnps_if_they_are_told_to() {
    let by_receiver =
        ["transport.congestion_notification=fast_cnp", "fast_cnp.accept_from=all", "fast_cnp.domain=none"];
    let fast = run(STAR, &by_receiver);
    let plain = run(STAR, &["transport.congestion_notification=cnp", "fast_cnp.enabled=false"]);
    assert_eq!(count(&fast, "sent"), 0, "switches are silent: {}", fast.summary);
    assert!(count(&fast, "accepted") >= 3, "each flow hears of it: {}", fast.summary);
    assert_eq!(fast.flows().len(), plain.flows().len());
    let (fast, plain) = (fast.slowest(), plain.slowest());
    assert!(fast.abs_diff(plain) < plain / 5, "{fast} and {plain}");
    let [sends, accepts, _] = by_receiver;
    for missing in [
        &["fast_cnp.accept_from=switches"][..],
        &[accepts, "fast_cnp.incapable=[0]"],
        &[accepts, "fast_cnp.enabled=false"],
    ] {
        refused(STAR, &[(&[&[sends], missing].concat(), "receivers send Fast CNPs that some senders do not accept")]);
    }
}

/// Host 0 says by ICMPv6 that it does not understand notifications: across a border that is closed on the way in, the switch
/// does not hear of it.
#[test]
fn req_50_a_border_keeps_answers_out_as_well() {
    let open = run(STAR, &["fast_cnp.incapable=[0]", "fast_cnp.capable=hosts"]);
    assert_eq!(count(&open, "icmpv6_learnt"), 1, "{}", open.summary);
    let closed = [
        "fast_cnp.incapable=[0]",
        "fast_cnp.capable=hosts",
        "fast_cnp.borders=[[4, 0]]",
        "fast_cnp.border_side=inbound",
    ];
    let closed = run(STAR, &closed);
    assert_eq!((count(&closed, "icmpv6_learnt"), count(&closed, "dropped_outbound")), (0, 0), "{}", closed.summary);
    assert!(count(&closed, "icmpv6_sent") > 0, "{}", closed.summary);
    assert_eq!(count(&closed, "dropped_inbound"), count(&closed, "icmpv6_sent"), "{}", closed.summary);
}

/// U over the round trip of the cable, a millisecond, passes 1 when most of the bytes are already on their way. The senders are
/// two microseconds from the switch, and that counts unless something else is set.
#[test]
fn a_load_is_averaged_over_the_way_to_the_senders() {
    let by_load = |more: &str| run(CABLE, &[&format!("fast_cnp={{enabled=true, trigger='utilisation'{more}}}")]);
    let (slow, quick) = (by_load(", load_interval='1ms'"), by_load(""));
    assert!(queue(&slow) > 5.0 * queue(&quick), "{} and {} bytes", queue(&slow), queue(&quick));
    refused(CABLE, &[(&["fast_cnp.load_interval='20us'"], "load_interval belongs to trigger")]);
}
