// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who pauses whom by PFC: trees, circles, storms, and watchdogs.

use hpcc_core::engine::{
    Engine, FlowOptions, FlowRequest, Frame, Hold, Observer, Order, Place, Queue, Sight, Stop, Streams, circle,
};
use hpcc_core::ids::FrameId;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Keeps what nodes say of their pauses, and those that others hear.
#[derive(Clone, Default)]
struct Holds(Arc<Mutex<Vec<Hold>>>, Arc<Mutex<Vec<(u64, bool)>>>);

impl Observer for Holds {
    fn on_pause(&mut self, place: &Place, _: u8, pause: bool) {
        self.1.lock().expect("one thread").push((place.now.0, pause));
    }
    fn on_frame(&mut self, _: Sight, _: &Place, _: FrameId, _: &Frame, _: &[u8]) {}
    fn on_hold(&mut self, hold: &Hold) {
        self.0.lock().expect("one thread").push(*hold);
    }
}

impl Holds {
    fn all(&self) -> Vec<Hold> {
        self.0.lock().expect("one thread").clone()
    }

    fn heard(&self) -> Vec<(u64, bool)> {
        self.1.lock().expect("one thread").clone()
    }
}

/// Hosts without congestion control, as many as switches, a host at each; and links between switches.
fn engine(switches: u32, between: impl Iterator<Item = (u32, u32)>, set: &[(&str, &str)]) -> (Engine, Holds) {
    let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(500), loss: 0.0 };
    let kind = |node| if node < switches { NodeKind::Host } else { NodeKind::Switch };
    let of_hosts = (0..switches).map(|host| link(host, switches + host));
    let network = Network {
        nodes: (0..2 * switches).map(kind).collect(),
        links: of_hosts.chain(between.map(|(a, b)| link(switches + a, switches + b))).collect(),
    };
    let mut settings = NodeSettings::default();
    settings.transport.window = Some(false);
    // Whole nanoseconds: in a ring that is alike everywhere the same circle closes again and again if times are exact.
    let common = [
        ("congestion_control", "algorithm", Input::Text("none")),
        ("switch", "buffer", Input::Text("2MB")),
        ("wire", "exact_rates", Input::Switch(false)),
    ];
    let own = set.iter().map(|&(key, value)| ("switch", key, value.parse().map_or(Input::Text(value), Input::Whole)));
    for (section, key, value) in common.into_iter().chain(own) {
        settings.set(section, None, key, value).unwrap_or_else(|wrong| panic!("{key}: {wrong:?}"));
    }
    settings.resolve(&network);
    settings.check(&network).expect("settings that go together");
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("settings");
    let holds = Holds::default();
    engine.observe(Box::new(holds.clone()));
    engine.watch_holds();
    (engine, holds)
}

fn flow(id: u32, src: u32, dst: u32, size: u64) -> FlowRequest {
    FlowRequest { id, src, dst, dport: 100, priority: 3, size, start: Nanos(0), options: FlowOptions::NONE }
}

/// A line of four switches, whose last host does not take what it gets.
fn line(set: &[(&str, &str)], until: Option<Nanos>) -> (Engine, Holds) {
    let (mut engine, holds) = engine(4, (0..3).map(|n| (n, n + 1)), set);
    engine.add_flows([flow(0, 0, 3, 10_000_000), flow(1, 0, 1, 1_000_000)]);
    engine.storm(3, 3, Nanos(20_000), until);
    (engine, holds)
}

#[test]
fn pauses_spread_from_a_nic_that_storms() {
    let (mut engine, holds) = line(&[], Some(Nanos(3_000_000)));
    engine.run_until(Nanos(2_900_000));
    let holds = holds.all();
    let storm = Queue { node: 3, port: 0, priority: 3 };
    assert_eq!((holds[0].queue, holds[0].because, holds[0].now), (storm, None, Nanos(20_000)));
    // Each switch on the way pauses the one before it, because of the next one.
    let first_of = |node: u32| holds.iter().find(|hold| hold.queue.node == node).expect("a pause");
    assert_eq!(first_of(7).because, Some(storm));
    for node in [4, 5, 6] {
        assert_eq!(first_of(node).because, Some(first_of(node + 1).queue), "{node}");
        assert!(first_of(node).now > first_of(node + 1).now, "{node}");
    }
    assert_eq!(circle(&engine.waits()), [], "a tree is no circle");
    engine.run_until(Nanos(20_000_000));
    assert_eq!(engine.take_completed().len(), 2, "the storm is over");
}

#[test]
fn a_watchdog_ends_what_a_storm_does_to_others() {
    let finished = |action, at| {
        let (mut engine, _) = line(&[("pfc_watchdog", action), ("pfc_watchdog_after", "100us")], None);
        engine.run_until(Nanos(at));
        let flows: Vec<u32> = engine.take_completed().iter().map(|flow| flow.request.id).collect();
        (flows, engine.storms().to_vec(), engine.totals().drops)
    };
    let (flows, storms, drops) = finished("drop", 3_000_000);
    assert_eq!((flows, storms.len()), (vec![1], 1), "what goes elsewhere arrives");
    assert_eq!(storms[0].queue, Queue { node: 7, port: 0, priority: 3 });
    assert!(storms[0].packets > 0 && storms[0].packets == drops && storms[0].end.is_none(), "{storms:?}");
    let (mut flows, storms, drops) = finished("forward", 3_000_000);
    flows.sort_unstable();
    assert_eq!((flows, storms.len(), drops), (vec![0, 1], 1, 0), "sent all the same");
    let (mut engine, _) = line(&[], None);
    engine.run_until(Nanos(3_000_000));
    assert_eq!((engine.take_completed().len(), engine.storms().len()), (0, 0), "without it both flows stand");
}

#[test]
fn a_watchdog_begins_and_ends_at_its_times() {
    let set = [("pfc_watchdog", "drop"), ("pfc_watchdog_after", "100us"), ("pfc_watchdog_restore", "50us")];
    let (mut engine, _) = line(&set, Some(Nanos(1_000_000)));
    engine.run_until(Nanos(20_000_000));
    let &[storm] = engine.storms() else { panic!("{:?}", engine.storms()) };
    // A pause takes its way of 500 ns and the time of its bytes, and so does the resume.
    let (begin, end) = (storm.begin.0 - 120_000, storm.end.expect("an end").0 - 1_050_000);
    assert!(begin == end && (500..600).contains(&begin), "{storm:?}");
    assert_eq!(engine.take_completed().len(), 2, "what was dropped is sent again");
}

/// A ring of five, where each host sends two switches on.
/// A storm of 20 to 1,020 us at a queue that stays empty until a flow begins.
#[test]
fn a_queue_without_packets_is_in_a_storm_too() {
    let late = |set: &[(&str, &str)], start, (src, dst)| {
        let set = [&[("pfc_watchdog", "drop"), ("pfc_watchdog_after", "100us")], set].concat();
        let (mut engine, _) = engine(3, (0..2).map(|n| (n, n + 1)), &set);
        engine.storm(1, 3, Nanos(20_000), Some(Nanos(1_020_000)));
        engine.add_flows([FlowRequest { start: Nanos(start), ..flow(0, src, dst, 100_000) }]);
        engine.run_until(Nanos(900_000));
        let &[storm] = engine.storms() else { panic!("{:?}", engine.storms()) };
        (engine.take_completed().len(), storm.begin.0, storm.packets > 0)
    };
    for start in [130_000, 195_000, 300_000] {
        let (finished, begin, has_dropped) = late(&[], start, (0, 1));
        assert!(finished == 0 && begin.abs_diff(120_530) < 30 && has_dropped, "{start}: {begin}");
    }
    assert!(late(&[], 300_000, (1, 2)).2, "what comes from the NIC that storms is dropped, too");
    assert_eq!(late(&[("pfc_watchdog", "forward")], 300_000, (1, 2)).0, 1);
    // Looks at multiples of 70 us: 120.5 us is seen at 140.
    assert_eq!(late(&[("pfc_watchdog_poll", "70us")], 300_000, (0, 1)).1, 140_000);
    let (finished, begin, has_dropped) = late(&[("pfc_watchdog", "alert")], 300_000, (0, 1));
    assert!(finished == 0 && begin < 130_000 && !has_dropped, "the pause stays");
}

/// A NIC pauses as long as there is a reason: storms that overlap, a link that comes up in one.
#[test]
fn storms_of_a_nic_last_together() {
    let paused = |storms: &[(u64, u64)], flap: bool| {
        let (mut engine, holds) = engine(3, (0..2).map(|n| (n, n + 1)), &[]);
        for &(from, until) in storms {
            engine.storm(1, 3, Nanos(from * 1_000), Some(Nanos(until * 1_000)));
        }
        if flap {
            engine.change_links(Nanos(500_000), &[1], false);
            engine.change_links(Nanos(600_000), &[1], true);
        }
        engine.run_until(Nanos(3_000_000));
        let all = holds.all();
        all.iter().map(|hold| (hold.pause, hold.now.0 / 1_000)).collect::<Vec<_>>()
    };
    let once = [(true, 50), (false, 2_000)];
    assert_eq!(paused(&[(50, 1_000), (500, 2_000)], false), once);
    assert_eq!(paused(&[(50, 2_000), (500, 1_000)], false), once);
    assert_eq!(paused(&[(50, 1_000), (50, 2_000)], false), once);
    let with_flap = [(true, 50), (false, 500), (true, 600), (false, 2_000)];
    assert_eq!(paused(&[(50, 2_000)], true), with_flap);
    assert_eq!(paused(&[(550, 2_000)], true), [(true, 600), (false, 2_000)]);
}

#[test]
fn a_circle_of_pauses_is_named() {
    let ring = |set: &[(&str, &str)]| {
        let (mut engine, holds) = engine(5, (0..5).map(|n| (n, (n + 1) % 5)), set);
        engine.add_flows((0..5).map(|n| flow(n, n, (n + 2) % 5, 20_000_000)));
        engine.run_until(Nanos(20_000_000));
        (engine, holds)
    };
    let (mut stuck, _) = ring(&[]);
    let names = circle(&stuck.waits());
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(stuck.take_completed().len(), 0);
    let (mut saved, _) = ring(&[("pfc_watchdog", "drop"), ("pfc_watchdog_after", "200us")]);
    assert_eq!((saved.take_completed().len(), circle(&saved.waits())), (5, vec![]), "a watchdog breaks it");
    assert!(!saved.storms().is_empty());
}

/// 65,535 quanta of 512 bits are 335,539 ns at 100 Gb/s: a storm of 9 ms is a pause and one more each half of that, at both ends.
#[test]
fn pauses_are_repeated_before_they_end() {
    let storm = |quanta: &str| {
        let (mut engine, holds) = engine(3, (0..2).map(|n| (n, n + 1)), &[("pfc_quanta", quanta)]);
        engine.storm(1, 3, Nanos(20_000), Some(Nanos(9_020_000)));
        engine.run_until(Nanos(12_000_000));
        let heard = holds.heard();
        let pauses = heard.iter().filter(|(_, pause)| *pause).count() as u64;
        let (resumes, rows) = (heard.len() as u64 - pauses, holds.all().len());
        (engine.totals().pauses_sent, pauses, resumes, rows)
    };
    assert_eq!(storm("auto"), (1, 1, 1, 2));
    for quanta in [65_535, 6_000] {
        let frames = 1 + 9_000_000 / (quanta * 512 / 100 / 2);
        assert_eq!(storm(&quanta.to_string()), (frames, frames, 1, 2), "{quanta}");
    }
}

/// A pause that nobody repeats delays what waits until it is over: from the frame that brings it, 5,120 ns.
#[test]
fn a_pause_that_is_not_repeated_ends() {
    let finished = |quanta: &str, pauses: bool| {
        let (mut engine, holds) = engine(3, (0..2).map(|n| (n, n + 1)), &[("pfc_quanta", quanta)]);
        engine.serve_program();
        engine.add_flows([flow(0, 0, 1, 100_000)]);
        if pauses {
            engine.pause(1, 0, 3, true);
        }
        while engine.run_until(Nanos(1_000_000)) != Stop::Time {}
        (engine.take_completed().first().map(|flow| flow.duration.0), holds.heard())
    };
    let alone = finished("1000", false).0.expect("an end");
    let (paused, heard) = finished("1000", true);
    let &[(begin, true), (end, false)] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!(end - begin, 5_120);
    // The first frame would have left for its host after two links of 84 + 500 ns.
    assert_eq!(paused.expect("an end") - alone, end - 2 * 584);
    assert_eq!(finished("auto", true).0, None, "it lasts until a resume");
}

/// Nothing is lost where pauses end by themselves, for they are repeated in time, and a watchdog hears one storm.
#[test]
fn repeated_pauses_lose_nothing() {
    let (mut engine, _) = line(&[("pfc_quanta", "2000")], Some(Nanos(3_000_000)));
    engine.run_until(Nanos(20_000_000));
    assert_eq!((engine.take_completed().len(), engine.totals().drops), (2, 0));
    let set = [("pfc_quanta", "2000"), ("pfc_watchdog", "drop"), ("pfc_watchdog_after", "100us")];
    let (mut engine, _) = line(&set, Some(Nanos(3_000_000)));
    engine.run_until(Nanos(20_000_000));
    let &[storm] = engine.storms() else { panic!("{:?}", engine.storms()) };
    assert!(
        storm.begin.0.abs_diff(120_530) < 30 && storm.end.is_some_and(|end| end.0.abs_diff(4_000_530) < 30),
        "{storm:?}"
    );
}
