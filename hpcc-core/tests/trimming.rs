// SPDX-License-Identifier: MIT OR Apache-2.0
//! Switches that cut packets to their headers: each cut is heard or counted as lost, and repaired by one packet.

use hpcc_core::engine::{Engine, FlowOptions, FlowRequest, Order, Streams, Totals};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Input, Settings};
use hpcc_core::telemetry::encapsulation::Encapsulation;
use hpcc_core::telemetry::{Codec, HopStack, LayoutSettings, Meter, Reads, Snapshot, Telemetry, Unusable};
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// So many hosts at a leaf, and one at another behind a slower link between the leaves.
fn network(senders: u32, between: u64, loss: f64) -> Network {
    let (receiver, near, far) = (senders, senders + 1, senders + 2);
    let nodes = (0..senders + 3).map(|node| if node <= receiver { NodeKind::Host } else { NodeKind::Switch });
    let link = |a, b, gbps| Link { a, b, rate: BitRate::gbps(gbps), delay: Nanos(1_000), loss };
    let hosts = (0..senders).map(|host| link(host, near, 100));
    let links = hosts.chain([link(receiver, far, 100), link(near, far, between)]);
    Network { nodes: nodes.collect(), links: links.collect() }
}

const TRIMMING: [(&str, &str, &str); 9] = [
    ("switch", "mode", "lossy"),
    ("switch", "overflow", "trim"),
    ("transport", "recovery", "selective_repeat"),
    ("transport", "reorder_window", "1000"),
    ("transport", "ack_priority", "0"),
    ("transport", "mtu", "4000"),
    ("congestion_control", "algorithm", "none"),
    ("telemetry", "content", "none"),
    ("wire", "exact_rates", "true"),
];

struct Outcome {
    totals: Totals,
    heard: u64,
    resent: u64,
    timeouts: u64,
    /// When the last flow ended.
    end: Nanos,
}

/// Every sender sends these bytes.
fn incast(network: &Network, senders: u32, size: u64, sets: &[(&str, &str, &str)]) -> Outcome {
    incast_of(NodeSettings::default(), network, senders, size, sets)
}

fn incast_of(
    mut settings: NodeSettings,
    network: &Network,
    senders: u32,
    size: u64,
    sets: &[(&str, &str, &str)],
) -> Outcome {
    for &(section, key, text) in TRIMMING.iter().chain(sets) {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.resolve(network);
    settings.check(network).expect("they go together");
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    engine.add_flows((0..senders).map(|src| FlowRequest {
        id: src,
        src,
        dst: senders,
        dport: 200,
        priority: 3,
        size,
        start: Nanos(0),
        options: FlowOptions::NONE,
    }));
    engine.run_until(Nanos::SECOND);
    let completed = engine.take_completed();
    assert_eq!(completed.len(), senders as usize);
    let hosts = || engine.host_counters();
    Outcome {
        totals: engine.totals(),
        heard: hosts().map(|host| host.trims_heard).sum(),
        resent: hosts().map(|host| host.resent).sum(),
        timeouts: hosts().map(|host| host.timeouts).sum(),
        end: completed.iter().map(|flow| flow.duration).max().unwrap_or_default(),
    }
}

/// Every packet that is cut is sent again, once for each cut, and nothing else is.
#[test]
fn each_cut_is_repaired_by_one_packet() {
    for last in ["0", "0.5", "1"] {
        let run = incast(&network(15, 2_000, 0.0), 15, 2_000_000, &[("switch", "trim_last", last)]);
        let Totals { trims, trims_at_last_hop, headers_lost, drops, .. } = run.totals;
        assert!(trims > 500 && trims_at_last_hop == trims, "{trims}, {trims_at_last_hop}");
        assert_eq!((run.heard, headers_lost, drops), (trims, 0, 0), "trim_last = {last}");
        assert_eq!((run.resent, run.timeouts), (trims, 0), "trim_last = {last}");
        let bytes = 15 * 500 * 4_048 + trims * 64;
        let ideal = Nanos(bytes * 8 / 100);
        assert!(run.end > ideal && run.end < Nanos(ideal.0 * 21 / 20), "{} of {ideal}", run.end);
    }
}

/// A queue of headers for three of them, and links that lose one frame in a thousand.
#[test]
fn a_cut_is_heard_or_counted_as_lost() {
    for (loss, headers) in [(0.0, "192"), (0.001, "192"), (0.001, "auto")] {
        let run = incast(&network(15, 2_000, loss), 15, 1_000_000, &[("switch", "trim_headers", headers)]);
        let Totals { trims, headers_lost, .. } = run.totals;
        assert!(trims > 100 && headers_lost > 0, "{trims}, {headers_lost}");
        assert_eq!(run.heard + headers_lost, trims, "a loss of {loss}, {headers} of headers");
    }
}

/// A strict queue of their own is as good as queue 0; behind data, headers are heard later, and none is lost for the accounts.
#[test]
fn headers_may_have_a_queue_of_their_own() {
    let with = |sets: &[_]| incast(&network(15, 2_000, 0.0), 15, 1_000_000, sets);
    let first = with(&[]);
    let strict = with(&[("switch", "trim_queue", "6"), ("switch", "classes", "6:strict, 3:1500")]);
    assert!(first.totals.trims > 500);
    assert_eq!((strict.end, strict.totals.trims, strict.heard), (first.end, first.totals.trims, first.heard));
    let behind = with(&[("switch", "trim_queue", "3")]);
    assert_eq!((behind.heard, behind.totals.headers_lost, behind.timeouts), (behind.totals.trims, 0, 0));
    assert_ne!(behind.totals.trims, first.totals.trims, "senders are told later");
}

/// A tenth of the link is left to headers: they pile up until their queue is full.
#[test]
fn a_queue_of_headers_that_is_served_too_little_loses_them() {
    let sets =
        [("switch", "trim_queue", "6"), ("switch", "classes", "6:100, 3:100000"), ("switch", "trim_headers", "1KB")];
    let run = incast(&network(15, 2_000, 0.0), 15, 1_000_000, &sets);
    assert!(run.totals.headers_lost > 0);
    assert_eq!(run.heard + run.totals.headers_lost, run.totals.trims);
}

/// Where the narrow link is not the last one.
#[test]
fn a_cut_before_the_last_hop_is_none_there() {
    let run = incast(&network(4, 25, 0.0), 4, 500_000, &[]);
    assert!(run.totals.trims > 50 && run.totals.trims_at_last_hop == 0, "{:?}", run.totals);
    assert_eq!((run.heard, run.resent), (run.totals.trims, run.totals.trims));
}

/// The queue is as long as it may be, and the same incast without trimming waits for timeouts.
#[test]
fn trimming_saves_the_wait_for_a_timeout() {
    let small = [("switch", "buffer", "300KB"), ("transport", "timeout", "1ms"), ("transport", "timeout_low", "1ms")];
    let drops = [("switch", "overflow", "drop"), small[0], small[1], small[2]];
    let [trimmed, dropped] = [&small[..], &drops].map(|sets| incast(&network(15, 2_000, 0.0), 15, 200_000, sets));
    assert_eq!((trimmed.timeouts, dropped.totals.trims), (0, 0));
    assert!(
        dropped.totals.drops > 100 && dropped.end > Nanos(2 * trimmed.end.0),
        "{} and {}",
        dropped.end,
        trimmed.end
    );
}

/// Records of packets that are cut come back, or do not.
#[test]
fn telemetry_stays_in_a_cut_packet_or_goes() {
    let with = |keeps| {
        let sets = [
            ("congestion_control", "algorithm", "hpcc"),
            ("telemetry", "content", "records"),
            ("telemetry", "layout", "reference"),
            ("switch", "trim_threshold", "20KB"),
            ("switch", "trim_telemetry", keeps),
        ];
        incast(&network(15, 2_000, 0.0), 15, 500_000, &sets)
    };
    let (kept, stripped) = (with("true"), with("false"));
    for run in [&kept, &stripped] {
        assert!(run.totals.trims > 100 && run.heard == run.totals.trims && run.timeouts == 0, "{:?}", run.totals);
    }
    assert!(kept.totals.telemetry_bytes > stripped.totals.telemetry_bytes);
}

/// A format of 4 bytes whose switches note the queues at which they cut.
#[derive(Clone, Debug, Default)]
struct Cuts(Arc<Mutex<Vec<u64>>>);

impl Settings for Cuts {}

impl Codec for Cuts {
    fn name(&self) -> &'static str {
        "cuts"
    }

    fn tells(&self) -> Reads {
        Reads::Nothing
    }

    fn encapsulation(&self) -> Option<Encapsulation> {
        None
    }

    fn len_after(&self, _: usize) -> usize {
        4
    }

    fn read<'a>(&self, _: &[u8], _: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        Err(Unusable)
    }

    fn meter(&self, _: &[BitRate], _: Nanos) -> Option<Box<dyn Meter>> {
        Some(Box::new(self.clone()))
    }
}

impl Meter for Cuts {
    fn cut(&mut self, section: &mut [u8], _: &Snapshot, queue: u64) {
        assert_eq!(section.len(), 4);
        self.0.lock().expect("one thread").push(queue);
    }
}

/// Each packet that is cut tells so of its port, whose queue is as long as it may be, but for two packets.
#[test]
fn telemetry_hears_of_each_cut_and_its_queue() {
    let cuts = Cuts::default();
    let settings =
        NodeSettings { layout: LayoutSettings::with(vec![Box::new(cuts.clone())]), ..NodeSettings::default() };
    let run = incast_of(settings, &network(15, 2_000, 0.0), 15, 500_000, &[("telemetry", "layout", "cuts")]);
    let queues = cuts.0.lock().expect("one thread");
    assert!(run.totals.trims > 100 && queues.len() as u64 == run.totals.trims, "{:?}", run.totals);
    assert!(queues.iter().all(|&queue| queue + 2 * 4_052 > 150_000), "{queues:?}");
}
