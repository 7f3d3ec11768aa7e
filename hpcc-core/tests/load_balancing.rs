// SPDX-License-Identifier: MIT OR Apache-2.0
//! Load balancing in a network of two leaves and four spines.

use hpcc_core::engine::{Engine, FlowOptions, FlowRequest, Frame, Observer, Order, Place, Sight, Streams};
use hpcc_core::frame::PacketKind;
use hpcc_core::ids::FrameId;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

const PER_LEAF: u32 = 4;
const HOSTS: u32 = 2 * PER_LEAF;
const SPINES: u32 = 4;
const LEAF: u32 = HOSTS;

/// Links of hosts have 100 Gb/s, those of spines these rates to the second leaf, and 400 Gb/s from the first.
fn network(down: [u64; SPINES as usize]) -> Network {
    let nodes = (0..HOSTS + 2 + SPINES).map(|node| if node < HOSTS { NodeKind::Host } else { NodeKind::Switch });
    let link = |a, b, gbps| Link { a, b, rate: BitRate::gbps(gbps), delay: Nanos(500), loss: 0.0 };
    let hosts = (0..HOSTS).map(|host| link(host, LEAF + host / PER_LEAF, 100));
    let spine = |n| LEAF + 2 + n;
    let up = (0..SPINES).map(|n| link(LEAF, spine(n), 400));
    let down = (0..SPINES).zip(down).map(|(n, rate)| link(LEAF + 1, spine(n), rate));
    Network { nodes: nodes.collect(), links: hosts.chain(up).chain(down).collect() }
}

/// Settings for a network.
fn settled(network: &Network, sets: &[(&str, &str, &str)]) -> NodeSettings {
    let mut settings = NodeSettings::default();
    for &(section, key, text) in sets {
        let known = settings.section(section, None).into_iter().find(|setting| setting.key == key).expect("a key");
        settings.set(section, None, key, Input::parse(&known, text).expect("a value")).expect("in range");
    }
    settings.resolve(network);
    settings.check(network).expect("they go together");
    settings
}

/// Every host of the first leaf sends these bytes to its counterpart at the second.
fn run(network: &Network, sets: &[(&str, &str, &str)], size: u64) -> Engine {
    let settings = Rc::new(settled(network, sets));
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    engine.add_flows((0..PER_LEAF).map(|src| {
        let dst = src + PER_LEAF;
        FlowRequest { id: src, src, dst, dport: 200, priority: 3, size, start: Nanos(0), options: FlowOptions::NONE }
    }));
    engine.run_until(Nanos::SECOND);
    assert_eq!(engine.take_completed().len(), PER_LEAF as usize);
    engine
}

/// Bytes that the first leaf sent to each spine.
fn uplinks(engine: &Engine) -> [u64; SPINES as usize] {
    std::array::from_fn(|n| engine.sent(LEAF, PER_LEAF as u16 + n as u16))
}

const SELECTIVE: (&str, &str, &str) = ("transport", "recovery", "selective_repeat");
const NOTHING: (&str, &str, &str) = ("congestion_control", "algorithm", "none");
const PLAIN: (&str, &str, &str) = ("telemetry", "content", "none");

fn scheme(name: &'static str) -> (&'static str, &'static str, &'static str) {
    ("load_balancing", "scheme", name)
}

/// 1,001 packets of each flow.
#[test]
fn oblivious_spraying_gives_each_uplink_the_same_packets_but_for_one() {
    let network = network([400; 4]);
    let engine = run(&network, &[scheme("oblivious"), SELECTIVE, NOTHING, PLAIN], 1_000);
    assert_eq!(uplinks(&engine).map(|bytes| bytes > 0), [true; 4], "a packet each: {:?}", uplinks(&engine));
    let frame = uplinks(&engine)[0];
    let sent = uplinks(&run(&network, &[scheme("oblivious"), SELECTIVE, NOTHING, PLAIN], 1_001_000));
    assert!(sent.iter().all(|bytes| bytes % frame == 0), "{sent:?} in frames of {frame}");
    let (least, most) = (sent.iter().min().expect("four"), sent.iter().max().expect("four"));
    assert!(most - least <= frame && sent.iter().sum::<u64>() >= 4_004 * frame, "{sent:?}");
}

/// By queues of any length adaptive routing tells nothing here, so that pauses alone keep it away from the narrow way; without
/// knowing of them a quarter goes there.
#[test]
fn adaptive_routing_avoids_what_is_paused() {
    let network = network([10, 400, 400, 400]);
    let blind = ("load_balancing", "adaptive_quantum", "1GB");
    let long = ("transport", "base_rtt", "200us");
    let small = ("switch", "buffer", "1MB");
    let engine = run(&network, &[scheme("adaptive"), blind, SELECTIVE, long, NOTHING, PLAIN, small], 4_000_000);
    let sent = uplinks(&engine);
    assert!(engine.totals().drops == 0 && sent[0] < sent.iter().sum::<u64>() / 10, "{sent:?}");
    let random = uplinks(&run(&network, &[scheme("random"), SELECTIVE, NOTHING, PLAIN], 1_000_000));
    assert!(random[0] > random.iter().sum::<u64>() / 5, "{random:?}");
}

/// Packets of four flows of 1,000 that the hosts sent again.
fn again(sets: &[(&str, &str, &str)]) -> u64 {
    let engine = run(&network([100; 4]), &[&[scheme("random"), NOTHING, PLAIN], sets].concat(), 1_000_000);
    assert_eq!(engine.totals().drops, 0);
    engine.host_counters().map(|counters| counters.resent).sum()
}

/// Nothing is lost: packets overtake each other, of which going back makes as much again and more, and a window of reordering nothing.
#[test]
fn go_back_n_takes_each_late_packet_for_lost_and_a_window_of_reordering_none() {
    let tolerant = ("transport", "reorder_window", "100");
    let [back, selective, tolerated] = [&[][..], &[SELECTIVE], &[SELECTIVE, tolerant]].map(again);
    assert!(back > 4_000 && selective > 100 && 4 * selective < back, "{back}, {selective}");
    assert_eq!(tolerated, 0);
}

/// The way over the first spine is narrow, and marks. Of 64 ports of each flow a quarter leads there.
#[test]
fn senders_spread_packets_by_ports_and_avoid_those_that_were_marked() {
    let narrow = network([25, 400, 400, 400]);
    let tolerant = ("transport", "reorder_window", "1000");
    let ecn = [("switch", "ecn_kmin", "10KB"), ("switch", "ecn_kmax", "10KB"), ("switch", "ecn_pmax", "1")];
    let share = |entropy| {
        let sets = [&[("transport", "entropy", entropy), SELECTIVE, tolerant, NOTHING, PLAIN][..], &ecn].concat();
        let sent = uplinks(&run(&narrow, &sets, 2_000_000));
        assert!(sent.iter().all(|&bytes| bytes > 0), "{entropy}: {sent:?}");
        sent[0] as f64 / sent.iter().sum::<u64>() as f64
    };
    let oblivious = share("oblivious");
    assert!((0.15..0.35).contains(&oblivious), "{oblivious}");
    for entropy in ["bitmap", "reps", "mixed"] {
        assert!(share(entropy) < 0.75 * oblivious, "{entropy}: {} of {oblivious}", share(entropy));
    }
}

/// The way over the first spine is narrow behind it, which no queue of the leaf tells: the other leaf does. At most what that way
/// carries goes there, an eighth of the others' part, and without knowing of it a quarter.
#[test]
fn conga_avoids_what_is_narrow_at_the_other_end() {
    let narrow = network([25, 400, 400, 400]);
    let tolerant = ("transport", "reorder_window", "1000");
    let share = |sets: &[(&str, &str, &str)]| {
        let own = [SELECTIVE, tolerant, NOTHING, PLAIN];
        let sent = uplinks(&run(&narrow, &[&own[..], sets].concat(), 4_000_000));
        sent[0] as f64 / sent.iter().sum::<u64>() as f64
    };
    let blind = share(&[scheme("flowlet"), ("load_balancing", "flowlet_gap", "0ns")]);
    let [gap, interval] = [("load_balancing", "conga_gap", "0ns"), ("load_balancing", "conga_interval", "2us")];
    let conga = share(&[scheme("conga"), gap, interval]);
    assert!(blind > 0.2 && conga < blind / 2.0, "{conga} of {blind}");
}

/// Data packets that come after a later one of their flow: at leaves from spines, and at hosts.
#[derive(Clone, Default)]
struct Late {
    counts: Arc<Mutex<[u64; 2]>>,
    newest: BTreeMap<(u32, u32, u32), u64>,
}

impl Observer for Late {
    fn on_pause(&mut self, _: &Place, _: u8, _: bool) {}

    fn on_frame(&mut self, sight: Sight, place: &Place, _: FrameId, frame: &Frame, _: &[u8]) {
        if sight != Sight::Arrival || frame.kind != PacketKind::Data {
            return;
        }
        let newest = self.newest.entry((place.node, frame.src, frame.reply_queue_pair)).or_default();
        self.counts.lock().expect("no panic")[usize::from(!place.is_switch)] += u64::from(frame.seq < *newest);
        *newest = frame.seq.max(*newest);
    }
}

/// Four leaves of four hosts and four spines, of 100 Gb/s. Each host sends four flows to hosts of the next leaf, one after another: a
/// permutation each. Nothing is lost. Returns packets that were late at leaves, and at hosts.
fn late(sets: &[(&str, &str, &str)]) -> [u64; 2] {
    const LEAVES: u32 = 4;
    const ROUNDS: u32 = 4;
    let hosts = LEAVES * PER_LEAF;
    let nodes = (0..hosts + LEAVES + SPINES).map(|node| if node < hosts { NodeKind::Host } else { NodeKind::Switch });
    let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
    let down = (0..hosts).map(|host| link(host, hosts + host / PER_LEAF));
    let up = (0..LEAVES * SPINES).map(|n| link(hosts + n / SPINES, hosts + LEAVES + n % SPINES));
    let network = Network { nodes: nodes.collect(), links: down.chain(up).collect() };
    let settings = Rc::new(settled(&network, sets));
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    let observer = Late::default();
    let counts = Arc::clone(&observer.counts);
    engine.observe(Box::new(observer));
    (0..hosts + LEAVES).for_each(|node| engine.watch(node));
    engine.add_flows((0..ROUNDS * hosts).map(|id| {
        let (src, round) = (id % hosts, id / hosts);
        let dst = (src + PER_LEAF) / PER_LEAF * PER_LEAF % hosts + (src + round) % PER_LEAF;
        let start = Nanos(u64::from(round) * 40_000);
        FlowRequest { id, src, dst, dport: 200, priority: 3, size: 500_000, start, options: FlowOptions::NONE }
    }));
    engine.run_until(Nanos::SECOND);
    assert_eq!((engine.take_completed().len() as u32, engine.totals().drops), (ROUNDS * hosts, 0));
    *counts.lock().expect("no panic")
}

/// Flows that leave slow paths overtake themselves, of which their last switch lets hosts see nothing: unless it waits too short a time.
#[test]
fn conweave_keeps_order_at_hosts() {
    let dcqcn = ("congestion_control", "algorithm", "dcqcn");
    let run = |own: &[(&str, &str, &str)]| late(&[&[dcqcn, SELECTIVE, PLAIN], own].concat());
    let conweave = run(&[scheme("conweave")]);
    assert!(conweave[0] > 1_000 && conweave[1] == 0, "{conweave:?}");
    let hasty = run(&[scheme("conweave"), ("load_balancing", "conweave_flush_extra", "0ns")]);
    assert!(hasty[1] > 10, "{hasty:?}");
    let flowlet = run(&[scheme("flowlet"), ("load_balancing", "flowlet_gap", "0ns")]);
    assert!(flowlet[1] > 10_000, "{flowlet:?}");
}

/// What left by a narrow way holds others up at the second leaf, by as much as eight times its memory. Nothing is lost: that is paused.
#[test]
fn what_waits_for_others_takes_memory_until_it_goes_on() {
    let patient =
        [("load_balancing", "conweave_flush_extra", "1ms"), ("load_balancing", "conweave_default_wait", "1ms")];
    let small = [("switch", "buffer", "1MB"), ("transport", "base_rtt", "200us")];
    let sets = [&[scheme("conweave"), SELECTIVE, NOTHING, PLAIN][..], &patient, &small].concat();
    assert_eq!(run(&network([400, 400, 1, 400]), &sets, 4_000_000).totals().drops, 0);
}

/// Answers of leaves are lost, too, and tell of no mark.
#[test]
fn marks_are_heard_of_told_with_others_or_lost() {
    let mut network = network([100; 4]);
    network.links.iter_mut().for_each(|link| link.loss = 0.002);
    let ecn = [("switch", "ecn_kmin", "10KB"), ("switch", "ecn_kmax", "10KB"), ("switch", "ecn_pmax", "1")];
    let dcqcn = ("congestion_control", "algorithm", "dcqcn");
    let engine = run(&network, &[&[scheme("conweave"), SELECTIVE, dcqcn, PLAIN][..], &ecn].concat(), 10_000_000);
    let told = engine.host_counters().map(|own| own.marks_heard + own.marks_merged + own.marks_untold);
    let totals = engine.totals();
    assert!(totals.marks_lost > 0, "{totals:?}");
    assert_eq!(totals.marks, told.sum::<u64>() + totals.marks_lost, "{totals:?}");
}
