// SPDX-License-Identifier: MIT OR Apache-2.0
//! What attackers make, before those who must tell it from the genuine.

use super::*;
use crate::address::{AddressSet, host_address, ipv6};
use crate::cc::{DcqcnConfig, HpccPlusConfig};
use crate::fast_cnp::capability::{Capabilities, CapabilityConfig};
use crate::fast_cnp::{Acceptor, AcceptorConfig, Received, Refusal};
use crate::roce::Bth;
use crate::settings::Settings;
use crate::simulated_frame::wire_queue_pair;
use crate::testing::star;
use alloc::boxed::Box;

fn attack(kind: AttackKind, from: u32, change: impl FnOnce(&mut AttackSettings)) -> Attack {
    let network = star();
    let mut nodes = NodeSettings::default();
    nodes.fast_cnp.enabled = true;
    if kind == AttackKind::BleachedEcn {
        nodes.control.choose(Box::new(DcqcnConfig::default()));
    } else {
        nodes.control.choose(Box::new(HpccPlusConfig::default()));
    }
    nodes.resolve(&network);
    let mut settings = AttackSettings { kind, from, victims: "0".into(), ..AttackSettings::default() };
    change(&mut settings);
    Attack::new(&settings, &network, &nodes, None).expect("possible")
}

/// An acknowledgement for host 0 with 8 bytes of telemetry.
const ACK: Passing = Passing {
    kind: PacketKind::Ack,
    src: 1,
    dst: 0,
    sport: 10_000,
    queue_pair: 4,
    traffic: None,
    is_answer: true,
    is_marked: false,
    len: 8,
};
/// A packet of host 0 with as many.
const DATA: Passing = Passing { kind: PacketKind::Data, src: 0, dst: 1, is_answer: false, ..ACK };

/// What becomes of a frame and of its telemetry.
fn pass(attack: &mut Attack, now: u64, frame: Passing) -> (Fate, Passing) {
    let mut passing = frame;
    (attack.on_frame(Nanos(now), &mut passing, &mut [0; 8]), passing)
}

const FLOW: KnownFlow =
    KnownFlow { src: 0, dst: 1, sport: 10_000, queue_pair: 4, sender: 6, end: 90_000, sent: 20_000 };

/// The acceptor of host 0, which believes switch 3.
fn judge(forged: &Forged) -> Result<u32, Refusal> {
    let sources = AddressSet::from_iter([ipv6(host_address(3))]);
    let mut acceptor = Acceptor::new(AcceptorConfig { enabled: true, sources, ..AcceptorConfig::default() });
    acceptor.connect(ipv6(host_address(FLOW.dst)), wire_queue_pair(FLOW.queue_pair), 9);
    let received = Received {
        now: Nanos(0),
        source: ipv6(host_address(forged.src)),
        destination_options: &forged.section,
        bth: Bth::cnp(wire_queue_pair(forged.queue_pair)),
        icrc_is_right: true,
    };
    acceptor.on_notification(&received).map(|accepted| accepted.queue_pair)
}

#[test]
fn a_forged_notification_is_believed_in_a_switchs_name_only() {
    let mut named = attack(AttackKind::ForgedFastCnp, 2, |settings| settings.spoofed_source = Some(3));
    let forged = named.forge(&[FLOW]).expect("a flow");
    assert_eq!((forged.dst, judge(&forged)), (0, Ok(9)));
    let own = attack(AttackKind::ForgedFastCnp, 2, |_| {}).forge(&[FLOW]).expect("a flow");
    assert_eq!(judge(&own), Err(Refusal::Source));
    assert_eq!((named.forge(&[]), named.sent()), (None, 1), "nothing to attack");
}

#[test]
fn a_flood_is_about_no_flow() {
    let mut flood = attack(AttackKind::FloodedFastCnp, 2, |settings| settings.spoofed_source = Some(3));
    for _ in 0..20 {
        assert_eq!(judge(&flood.forge(&[]).expect("always")), Err(Refusal::UnknownFlow));
    }
}

#[test]
fn a_replay_is_what_was_seen_last() {
    let mut replay = attack(AttackKind::ReplayedFastCnp, 3, |_| {});
    assert!(replay.watches());
    assert_eq!(replay.forge(&[FLOW]), None, "nothing was seen");
    let mut genuine = attack(AttackKind::ForgedFastCnp, 3, |_| {}).forge(&[FLOW]).expect("a flow");
    let len = genuine.section.len();
    let mut frame = Passing { kind: genuine.kind, src: 3, is_answer: false, len, ..ACK };
    let mut other = Passing { dst: 1, len: 8, ..frame };
    replay.on_frame(Nanos(0), &mut frame, &mut genuine.section);
    replay.on_frame(Nanos(1), &mut other, &mut [1; 8]);
    assert_eq!(replay.forge(&[]), Some(genuine), "host 1 is no victim");
}

#[test]
fn req_54_a_spoofed_complaint_is_refused_unless_the_flow_was_notified() {
    let mut spoof = attack(AttackKind::SpoofedIcmpv6, 2, |_| {});
    let forged = spoof.forge(&[FLOW]).expect("a flow");
    assert_eq!((forged.kind, forged.src, forged.dst), (PacketKind::Icmpv6, 0, 3));
    for was_notified in [false, true] {
        let mut switch = Capabilities::new(CapabilityConfig::default());
        let learnt = switch.learn(Nanos(0), &ipv6(host_address(3)), &forged.section, |flow| {
            assert_eq!((flow.source, flow.dest_qp), (ipv6(host_address(0)), wire_queue_pair(FLOW.queue_pair)));
            was_notified
        });
        assert_eq!(learnt.is_some(), was_notified);
    }
}

#[test]
fn forged_answers_are_those_of_the_receiver_to_the_senders_queue_pair() {
    let forged = |kind, acknowledged| {
        let mut attack = attack(kind, 2, |settings| settings.acknowledged = acknowledged);
        let Forged { kind, src, dst, queue_pair, seq, priority, .. } = attack.forge(&[FLOW]).expect("a flow");
        assert_eq!((src, dst, queue_pair), (FLOW.dst, FLOW.src, FLOW.sender));
        (kind, seq, priority)
    };
    assert_eq!(forged(AttackKind::ForgedAck, Acknowledged::All), (PacketKind::Ack, FLOW.end, 3));
    assert_eq!(forged(AttackKind::ForgedAck, Acknowledged::Sent), (PacketKind::Ack, FLOW.sent, 3));
    assert_eq!(forged(AttackKind::ForgedNack, Acknowledged::All), (PacketKind::Nack, 0, 3));
    assert_eq!(forged(AttackKind::ForgedCnp, Acknowledged::All), (PacketKind::Cnp, 0, 0));
}

/// Switch 3 has three links, each of which gets its pause.
#[test]
fn a_pause_goes_out_on_every_link_until_the_attack_ends() {
    let mut storm = attack(AttackKind::ForgedPfc, 3, |_| {});
    let pause = storm.forge(&[]).expect("always");
    assert_eq!((pause.kind, pause.priority, storm.sent(), storm.resume()), (PacketKind::Pfc, 3, 3, Some(3)));
    assert_eq!(attack(AttackKind::ForgedAck, 2, |_| {}).resume(), None);
}

#[test]
fn feedback_is_changed_while_the_attack_lasts_and_for_victims_only() {
    let (start, stop) = (Nanos(10), Some(Nanos(20)));
    let mut strip = attack(AttackKind::StrippedFeedback, 3, |settings| (settings.start, settings.stop) = (start, stop));
    for (now, frame, left) in
        [(9, ACK, 8), (10, ACK, 0), (19, ACK, 0), (20, ACK, 8), (15, Passing { dst: 2, ..ACK }, 8), (15, DATA, 8)]
    {
        assert_eq!(pass(&mut strip, now, frame).1.len, left, "{now} ns, {frame:?}");
    }
    assert_eq!(strip.altered(), 2);
    let mut by_receiver = attack(AttackKind::StrippedFeedback, 1, |_| {});
    assert_eq!(pass(&mut by_receiver, 0, DATA).1.len, 0);
    assert_eq!(pass(&mut by_receiver, 0, ACK).1.len, 8);
}

#[test]
fn answers_are_dropped_at_equal_distances_or_wait() {
    let mut drop = attack(AttackKind::DroppedFeedback, 3, |settings| settings.share = 0.25);
    let cnp = Passing { kind: PacketKind::Cnp, len: 0, ..ACK };
    let dropped: Vec<usize> = (0..12).filter(|_| pass(&mut drop, 0, cnp).0 == Fate::Ends).collect();
    assert_eq!((dropped, drop.altered()), (alloc::vec![3, 7, 11], 3));
    for other in [DATA, Passing { dst: 1, ..ACK }, Passing { is_answer: false, ..cnp }] {
        assert_eq!(pass(&mut drop, 0, other).0, Fate::GoesOn, "{other:?}");
    }
    let mut delay = attack(AttackKind::DelayedFeedback, 3, |settings| {
        (settings.delay, settings.stop) = (Nanos(70), Some(Nanos(20)));
    });
    assert_eq!([ACK, DATA].map(|frame| pass(&mut delay, 19, frame).0), [Fate::Waits(Nanos(70)), Fate::GoesOn]);
    assert_eq!((pass(&mut delay, 20, ACK).0, delay.altered()), (Fate::GoesOn, 1));
}

#[test]
fn marks_of_the_victims_are_cleared() {
    let mut network = attack(AttackKind::BleachedEcn, 3, |settings| settings.start = Nanos(10));
    let marked = Passing { is_marked: true, ..DATA };
    let left = |attack: &mut Attack, now, frame| pass(attack, now, frame).1.is_marked;
    assert!(left(&mut network, 9, marked) && !left(&mut network, 10, marked));
    assert!(left(&mut network, 10, Passing { src: 2, ..marked }), "of another host");
    assert_eq!((left(&mut network, 10, DATA), network.altered()), (false, 1));
}

#[test]
fn what_nobody_would_notice_is_refused() {
    let check = |kind, from, change: &dyn Fn(&mut NodeSettings)| {
        let mut nodes = NodeSettings::default();
        change(&mut nodes);
        nodes.resolve(&star());
        AttackSettings { kind, from, ..AttackSettings::default() }.check(&star(), &nodes).map_err(|wrong| wrong.key)
    };
    let uec = |nodes: &mut NodeSettings| {
        nodes.host_transport.set("kind", crate::settings::Input::Text("uec")).expect("a transport");
    };
    for kind in [AttackKind::ForgedAck, AttackKind::ForgedNack, AttackKind::ForgedCnp] {
        assert_eq!(check(kind, 2, &uec), Err("kind"), "{kind:?}");
    }
    let hpcc = |_: &mut NodeSettings| {};
    for (kind, from, change, expected) in [
        (AttackKind::DroppedFeedback, 3, &uec as &dyn Fn(&mut NodeSettings), Ok(())),
        (AttackKind::DroppedFeedback, 2, &hpcc, Err("from")),
        (AttackKind::DelayedFeedback, 2, &hpcc, Err("from")),
        (AttackKind::BleachedEcn, 3, &hpcc, Err("kind")),
        (AttackKind::BleachedEcn, 3, &uec, Ok(())),
    ] {
        assert_eq!(check(kind, from, change), expected, "{kind:?} by {from}");
    }
}

#[test]
fn of_some_traffic_the_rest_is_left_alone() {
    let mut strip = attack(AttackKind::StrippedFeedback, 3, |settings| settings.traffic = Some("long, short".into()));
    assert_eq!(strip.settings().traffic().expect("names").collect::<Vec<_>>(), ["long", "short"]);
    strip.traffic = Some(alloc::vec![2, 5]);
    for (traffic, left) in [(Some(2), 0), (Some(5), 0), (Some(3), 8), (None, 8)] {
        assert_eq!(pass(&mut strip, 0, Passing { traffic, ..ACK }).1.len, left, "{traffic:?}");
    }
    assert_eq!([(0, 2), (0, 3), (1, 2)].map(|(host, traffic)| strip.is_victim(host, traffic)), [true, false, false]);
}

#[test]
fn a_host_cannot_attack_itself() {
    let mut nodes = NodeSettings::default();
    nodes.fast_cnp.enabled = true;
    nodes.resolve(&star());
    let check = |kind, victims: &str| {
        let settings = AttackSettings { kind, from: 0, victims: victims.into(), ..AttackSettings::default() };
        settings.check(&star(), &nodes).map_err(|conflict| conflict.key)
    };
    for kind in [AttackKind::ForgedFastCnp, AttackKind::FloodedFastCnp, AttackKind::LyingFeedback] {
        assert_eq!((check(kind, "0"), check(kind, "0,1")), (Err("victims"), Ok(())), "{kind:?}");
    }
    assert_eq!(check(AttackKind::SpoofedIcmpv6, "0"), Ok(()), "it complains in its own name");
}

#[test]
fn an_attack_aims_at_flows_of_its_victims() {
    let aim = Aim { traffic: "long", src: 0, dst: 1, start: Nanos(5) };
    let aims = |kind, from, change: &dyn Fn(&mut AttackSettings)| {
        let mut settings = AttackSettings { kind, from, victims: "0".into(), ..AttackSettings::default() };
        change(&mut settings);
        settings.aims_at(&settings.victims(&star()).expect("hosts"), &aim, &star())
    };
    let (forged, lying) = (AttackKind::ForgedFastCnp, AttackKind::LyingFeedback);
    assert!(aims(forged, 2, &|_| {}) && !aims(forged, 0, &|_| {}) && aims(AttackKind::SpoofedIcmpv6, 0, &|_| {}));
    assert!(!aims(forged, 2, &|settings| settings.victims = "1".into()), "host 1 sends nothing");
    assert!(aims(lying, 1, &|_| {}) && !aims(lying, 2, &|_| {}), "the receiver lies");
    assert!(aims(AttackKind::StrippedFeedback, 3, &|_| {}), "a switch");
    for (traffic, hit) in [("long", true), ("short, long", true), ("short", false)] {
        assert_eq!(aims(forged, 2, &|settings| settings.traffic = Some(traffic.into())), hit, "{traffic}");
    }
    for (stop, hit) in [(5, false), (6, true)] {
        assert_eq!(aims(forged, 2, &|settings| settings.stop = Some(Nanos(stop))), hit, "{stop}");
    }
}
