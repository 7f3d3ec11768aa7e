// SPDX-License-Identifier: GPL-2.0-only
//! Losses, what recovers them, and what many flows leave in memory.

use hpcc_tests::{Run, TOML};

/// Runs the small experiment with these settings, and expects all flows to finish.
#[track_caller]
fn finished(settings: &[&str]) -> Run {
    Run::of(TOML[0].1, settings)
}

/// At a round-trip time of 4 us going back costs forty packets a loss, and little time: which of the two finishes
/// first depends on how many packets are lost twice, for these wait for a timeout.
#[test]
fn selective_repeat_sends_far_less_again_than_go_back_n() {
    let run = |recovery: &str| {
        let recovery = format!("transport.recovery={recovery}");
        let long = ["traffic.0.size=5MB", "traffic.1.size=5MB", "run.stop=1s", "topology.links.2.loss=0.01"];
        let run = finished(&[&long[..], &[recovery.as_str(), "transport.timeout=200us"]].concat());
        assert!(run.count("/losses") > 50);
        (run.count("/losses"), run.count("/resent_packets"))
    };
    let ((losses, selective), (_, go_back)) = (run("selective_repeat"), run("go_back_n"));
    assert!(selective <= 2 * losses, "{selective} packets sent again for {losses} frames lost");
    assert!(go_back > 10 * selective, "{go_back} {selective}");
}

/// Links that lose one frame in 100,000.
const RARE_LOSSES: &str = "[run]\nstop = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Gbps\"\n\
                           delay = \"1us\"\nloss = 1e-5\n[transport]\nrecovery = \"selective_repeat\"\n";

/// A million packets, in one flow or in fifty messages of a queue pair: a loss costs one packet sent again, and no timeout, at
/// the end as at the start.
#[test]
fn selective_repeat_goes_on_working_in_a_long_flow() {
    for (queue_pairs, flows) in [("per_flow", 1), ("per_pair", 1), ("per_pair", 50)] {
        let mut toml = format!("{RARE_LOSSES}queue_pairs = \"{queue_pairs}\"\n");
        for flow in 0..flows {
            let (size, start) = (1_000 / flows, flow * 2);
            toml += &format!(
                "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"{size}MB\"\nstart = \"{start}ms\"\n"
            );
        }
        let run = Run::of(&toml, &[]);
        let [losses, resent, timeouts] = ["/losses", "/resent_packets", "/timeouts"].map(|key| run.count(key));
        assert!(
            losses > 30 && (10..=losses).contains(&resent),
            "{queue_pairs}: {losses} frames lost, {resent} sent again"
        );
        assert_eq!(timeouts, 0, "{queue_pairs}");
        assert!(run.slowdowns().iter().all(|&slowdown| slowdown < 1.07), "{queue_pairs}: {:?}", run.slowdowns());
    }
}

/// Half of all frames are lost, among them the last packets and the last acknowledgements.
#[test]
fn lost_tails_recover_with_a_timeout_and_stay_lost_without() {
    let small = ["traffic.0.size=1KB", "traffic.1.size=1KB", "topology.links.2.loss=0.5", "run.stop=5s"];
    for recovery in ["transport.recovery=go_back_n", "transport.recovery=selective_repeat"] {
        let run = finished(&[&small[..], &[recovery]].concat());
        assert!(run.count("/timeouts") > 0);
    }
    // Without a timeout the run ends, and lists what did not.
    assert!(!Run::ending(TOML[0].1, &[&small[..], &["transport.timeout=0s"]].concat(), 3).acked().is_empty());
}

/// Without a loss the timeout changes nothing, and neither does selective repeat.
#[test]
fn recovery_does_not_touch_a_lossless_run() {
    let plain = finished(&["transport.timeout=0s"]).durations();
    assert_eq!(finished(&[]).durations(), plain);
    let run = finished(&["transport.recovery=selective_repeat"]);
    assert_eq!(run.durations(), plain);
    assert_eq!((run.count("/resent_packets"), run.count("/timeouts")), (0, 0));
}

/// HPCC's window, smaller than the interval, must not wait for an acknowledgement that never comes.
#[test]
fn fewer_acknowledgements_do_not_stall_hpcc() {
    let every_packet = finished(&[]);
    for every in ["transport.ack_every=4KB", "transport.ack_every=10MB"] {
        let run = finished(&[every, "transport.timeout=0s"]);
        assert!(run.count("/packet_hops") < every_packet.count("/packet_hops") * 3 / 4, "{every}");
        assert!(run.slowest() < every_packet.slowest() * 3 / 2, "{every}: {}", run.slowest());
    }
}

/// Beyond the list of flows, 40 bytes for each, memory depends on the flows that are in progress.
#[test]
fn memory_does_not_grow_with_finished_flows() {
    let memory = |duration: &str| {
        let network = TOML[0].1.split("[[traffic]]").next().expect("network");
        let traffic = "[[traffic]]\nkind = \"periodic_incast\"\nreceiver = 2\nsender_count = 2\nsize = 1000\n\
                       interval = \"1us\"\n";
        let run = Run::of(&format!("{network}{traffic}duration = \"{duration}\"\n"), &["run.stop=1s"]);
        (run.count("/flows_finished"), run.count("/peak_rss_bytes"))
    };
    let (few, many) = (memory("10ms"), memory("100ms"));
    assert!(many.0 >= 200_000 && many.0 - few.0 > 170_000, "{few:?} {many:?}");
    let each = many.1.saturating_sub(few.1) / (many.0 - few.0);
    assert!(each < 150, "{each} bytes for each finished flow: {few:?} {many:?}");
}
