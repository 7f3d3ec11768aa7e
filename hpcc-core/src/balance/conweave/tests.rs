// SPDX-License-Identifier: MIT OR Apache-2.0
//! What leaves make of packets by hand-made traces.

use super::receiver::Waiting;
use super::shortest_paths::{ShortestPaths, ways};
use super::*;
use crate::balance::FlowKey;
use crate::balance::testing::passing;
use crate::ids::FrameId;
use crate::topology::{Link, NodeKind};
use crate::units::BitRate;
use alloc::collections::BTreeMap;
use alloc::vec;

const MICRO: u64 = 1_000;
/// Links of 1 us, two there and two back, and the extra time.
const ROUND: u64 = 8 * MICRO;

/// Host 0 at leaf 2, host 1 at leaf 3; spines 4 and 5. Port 0 of leaves is the host's, 1 and 2 lead to the spines.
fn network() -> Network {
    let nodes = (0..6).map(|node| if node < 2 { NodeKind::Host } else { NodeKind::Switch }).collect();
    let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
    Network { nodes, links: [link(0, 2), link(1, 3), link(2, 4), link(2, 5), link(3, 4), link(3, 5)].into() }
}

/// A leaf of that network.
struct Bench {
    leaf: Leaf,
    rand: Integers,
}

/// What a leaf made of a frame: released, and answered with.
type Made = (Fate, Vec<u32>, Vec<Role>);

impl Bench {
    fn new(switch: u32) -> Bench {
        Bench::with(switch, &Conweave::default())
    }

    fn with(switch: u32, config: &Conweave) -> Bench {
        Bench { leaf: Leaf::new(config, &network(), switch), rand: Integers::new(1) }
    }

    /// Host 0 sends a packet of its flow to host 1.
    fn sends(&mut self, now: u64) -> Header {
        let mut tag = Tag::Nothing;
        let mut packet = passing(now, (0, 1), 0, &mut tag, &mut self.rand);
        assert_eq!(self.leaf.on_arrival(&mut packet, &mut Errands::default()), Fate::GoesOn);
        let Tag::Conweave(header) = tag else { panic!("it carries an epoch") };
        assert_eq!((self.leaf.next, header.rest), (Some(1 + header.path as u16), 0));
        header
    }

    /// An answer of host 1's leaf comes.
    fn hears(&mut self, now: u64, role: Role, to: &Header) {
        let mut tag = Tag::Conweave(Header { role, ..*to });
        let answer = passing(now, (1, 0), 1, &mut tag, &mut self.rand);
        let key = FlowKey { sport: 20, dport: 10, ..answer.key };
        let mut answer = Passing { is_balanced: false, key, ..answer };
        assert_eq!(self.leaf.on_arrival(&mut answer, &mut Errands::default()), Fate::Ends);
    }

    /// Packet `frame` comes from the leaf of host 0.
    fn gets(&mut self, now: u64, frame: u32, header: Header) -> (Made, Option<u64>) {
        self.gets_marked(now, frame, header, false)
    }

    fn gets_marked(&mut self, now: u64, frame: u32, header: Header, is_marked: bool) -> (Made, Option<u64>) {
        let (mut tag, mut errands) = (Tag::Conweave(header), Errands::default());
        let packet = passing(now, (0, 1), 1, &mut tag, &mut self.rand);
        let fate = self.leaf.on_arrival(&mut Passing { frame: FrameId(frame), is_marked, ..packet }, &mut errands);
        let role = |tag: &Tag| if let Tag::Conweave(header) = tag { header.role } else { panic!("an answer") };
        let made = (fate, numbers(errands.released), errands.answers.iter().map(role).collect());
        (made, errands.wake.map(|at| at.0))
    }

    /// The frames that go on at a time.
    fn wakes(&mut self, now: u64) -> (Vec<u32>, Option<u64>) {
        let mut errands = Errands::default();
        self.leaf.on_timeout(Nanos(now), &mut errands);
        (numbers(errands.released), errands.wake.map(|at| at.0))
    }
}

fn numbers(frames: Vec<FrameId>) -> Vec<u32> {
    frames.into_iter().map(|frame| frame.0).collect()
}

fn header(role: Role, epoch: u32, sent: u64, tail: u64) -> Header {
    Header { role, epoch, path: 1, rest: 0, sent: Nanos(sent), tail: Nanos(tail) }
}

const GOES: Made = (Fate::GoesOn, Vec::new(), Vec::new());
const WAITS: Made = (Fate::Waits, Vec::new(), Vec::new());

#[test]
fn an_answer_in_time_begins_the_next_epoch_on_the_same_path() {
    let mut leaf = Bench::new(2);
    let first = leaf.sends(0);
    assert_eq!((first.role, first.epoch, first.tail), (Role::Init, 1, Nanos(0)));
    let second = leaf.sends(ROUND);
    assert_eq!(second, Header { role: Role::Data, sent: Nanos(ROUND), ..first });
    leaf.hears(ROUND - 1, Role::TailReply, &first);
    leaf.hears(ROUND - 1, Role::InitReply, &Header { epoch: 7, ..first });
    assert_eq!(leaf.sends(ROUND).role, Role::Data, "answers to something else");
    leaf.hears(ROUND - 1, Role::InitReply, &first);
    assert_eq!(leaf.sends(ROUND), Header { role: Role::Init, epoch: 2, ..second });
}

#[test]
fn without_an_answer_one_packet_is_the_last_on_its_path() {
    let mut leaf = Bench::new(2);
    let first = leaf.sends(0);
    leaf.rand = Integers::new(2);
    leaf.leaf.sender.avoided.insert((3, first.path), Nanos(100 * MICRO));
    leaf.hears(ROUND, Role::InitReply, &first);
    let tail = leaf.sends(ROUND + 1);
    let sent = Nanos(ROUND + 1);
    assert_eq!(tail, Header { role: Role::Tail, sent, tail: sent, ..first }, "an answer at the last moment is late");
    leaf.hears(ROUND + 2, Role::InitReply, &first);
    let rerouted = leaf.sends(20 * MICRO);
    assert_eq!(rerouted, Header { role: Role::Rerouted, path: 1 - first.path, sent: Nanos(20 * MICRO), ..tail });
    assert_eq!(leaf.sends(299 * MICRO).role, Role::Rerouted, "there is no other deadline");
    leaf.hears(299 * MICRO, Role::TailReply, &tail);
    let next = leaf.sends(300 * MICRO);
    assert_eq!((next.role, next.epoch, next.path, next.tail), (Role::Init, 2, rerouted.path, Nanos(0)));
}

/// Of two draws the first that is not avoided; both are of one path in half of all cases.
#[test]
fn a_flow_stays_where_all_paths_are_avoided() {
    for first in [0, 1] {
        let mut leaf = Bench::new(2);
        let mut init = leaf.sends(0);
        while init.path != first {
            init = leaf.sends(init.sent.0 + 300 * MICRO + 1);
        }
        for path in [0, 1] {
            leaf.hears(init.sent.0, Role::Notify, &Header { path, ..init });
        }
        let tail = leaf.sends(init.sent.0 + ROUND + 1);
        assert_eq!((tail.role, leaf.sends(tail.sent.0).path), (Role::Tail, first));
    }
}

#[test]
fn a_path_is_avoided_for_its_pause() {
    let mut leaf = Bench::new(2);
    let at = Nanos(1_000_000);
    leaf.hears(at.0, Role::Notify, &header(Role::Data, 1, 0, 0));
    let ways = leaf.leaf.sender.ways[&3];
    let mut drawn = |after: u64| {
        let paths = (0..200).map(|_| leaf.leaf.sender.draw(3, &ways, Some(7), at + Nanos(after), &mut leaf.rand));
        paths.filter(|&path| path == 1).count()
    };
    assert_eq!([drawn(0), drawn(16 * MICRO - 1)], [0, 0]);
    assert!((60..140).contains(&drawn(16 * MICRO)));
}

#[test]
fn an_idle_flow_begins_an_epoch_on_any_path() {
    let mut leaf = Bench::new(2);
    leaf.sends(0);
    assert_eq!(leaf.sends(300 * MICRO).role, Role::Tail, "not yet");
    let paths: Vec<u32> = (1..40)
        .map(|n| {
            let init = leaf.sends(300 * MICRO + n * 300_001);
            assert_eq!((init.role, init.epoch), (Role::Init, 1 + n as u32));
            init.path
        })
        .collect();
    assert!(paths.contains(&0) && paths.contains(&1));
}

#[test]
fn packets_that_overtake_wait_for_the_last_one_before_them() {
    let mut leaf = Bench::new(3);
    assert_eq!(leaf.gets(0, 1, header(Role::Init, 5, 0, 0)).0, (Fate::GoesOn, vec![], vec![Role::InitReply]));
    // It should come 11 us after the first, as it was sent, and may take 16 us more.
    let wake = Some(27 * MICRO);
    assert_eq!(leaf.gets(12 * MICRO, 3, header(Role::Rerouted, 5, 12_000, 11_000)), (WAITS, wake));
    assert_eq!(leaf.gets(13 * MICRO, 4, header(Role::Rerouted, 5, 13_000, 11_000)), (WAITS, None));
    assert_eq!(leaf.gets(14 * MICRO, 5, header(Role::Data, 4, 0, 0)).0, GOES, "an older epoch");
    let tail = leaf.gets(15 * MICRO, 2, header(Role::Tail, 5, 11_000, 11_000)).0;
    assert_eq!(tail, (Fate::Waits, vec![2, 3, 4], vec![Role::TailReply]));
    assert_eq!(leaf.gets(16 * MICRO, 6, header(Role::Rerouted, 5, 14_000, 11_000)).0, GOES);
    assert_eq!(leaf.wakes(27 * MICRO), (vec![], None));
}

#[test]
fn behind_the_last_one_before_them_packets_do_not_wait() {
    let mut leaf = Bench::new(3);
    let tail = leaf.gets(0, 1, header(Role::Tail, 5, 11_000, 11_000));
    assert_eq!(tail, ((Fate::GoesOn, vec![], vec![Role::TailReply]), None));
    assert_eq!(leaf.gets(1, 2, header(Role::Rerouted, 5, 12_000, 11_000)), (GOES, None));
}

/// Each packet by the path before tells anew when its last one is due.
#[test]
fn a_wait_ends_when_the_last_one_should_have_come() {
    let mut leaf = Bench::new(3);
    leaf.gets(0, 1, header(Role::Init, 5, 0, 0));
    assert_eq!(leaf.gets(12_000, 3, header(Role::Rerouted, 5, 12_000, 11_000)).1, Some(27_000));
    assert_eq!(leaf.gets(20_000, 2, header(Role::Data, 5, 10_000, 0)), (GOES, None), "until 37 us");
    assert_eq!(leaf.wakes(27_000), (vec![], Some(37_000)));
    assert_eq!(leaf.wakes(36_999), (vec![], None));
    assert_eq!(leaf.wakes(37_000), (vec![3], None));
    assert_eq!(leaf.gets(37_001, 4, header(Role::Rerouted, 5, 13_000, 11_000)).0, GOES, "no second wait in an epoch");
    let late = leaf.gets(37_002, 5, header(Role::Tail, 5, 11_000, 11_000)).0;
    assert_eq!(late, (Fate::GoesOn, vec![], vec![Role::TailReply]));
}

#[test]
fn without_a_packet_by_the_path_before_the_wait_has_its_default() {
    let mut leaf = Bench::new(3);
    assert_eq!(leaf.gets(1_000, 3, header(Role::Rerouted, 5, 0, 0)), (WAITS, Some(217_000)));
    let init = leaf.gets(2_000, 2, header(Role::Init, 5, 0, 0));
    assert_eq!(init, ((Fate::GoesOn, vec![], vec![Role::InitReply]), Some(18_000)), "sooner, as is known now");
    assert_eq!(leaf.wakes(18_000), (vec![3], None));
    assert_eq!(leaf.wakes(217_000), (vec![], None));
}

#[test]
fn a_newer_epoch_ends_the_wait_of_an_older_one() {
    let mut leaf = Bench::new(3);
    leaf.gets(0, 1, header(Role::Rerouted, 5, 0, 0));
    let newer = leaf.gets(1, 2, header(Role::Rerouted, 6, 1, 1)).0;
    assert_eq!(newer, (Fate::Waits, vec![1], vec![]));
    assert_eq!(leaf.gets(2, 3, header(Role::Init, 7, 2, 0)).0, (Fate::GoesOn, vec![2], vec![Role::InitReply]));
}

#[test]
fn without_a_queue_packets_go_on_for_the_rest_of_the_epoch() {
    let mut leaf = Bench::with(3, &Conweave { conweave_queues: Some(1), ..Conweave::default() });
    let other = FlowKey::default();
    leaf.leaf.receiver.waiting.insert(other, Waiting { frames: vec![FrameId(9)], until: Nanos(5_000), tail: Nanos(0) });
    assert_eq!(leaf.gets(0, 1, header(Role::Rerouted, 5, 0, 0)), (GOES, None));
    leaf.leaf.receiver.waiting.remove(&other);
    assert_eq!(leaf.gets(1, 2, header(Role::Rerouted, 5, 0, 0)), (GOES, None));
    assert_eq!(leaf.gets(2, 3, header(Role::Rerouted, 6, 0, 0)).0, WAITS);
}

#[test]
fn marked_packets_are_told_but_those_of_older_epochs() {
    let mut leaf = Bench::new(3);
    let marked = |leaf: &mut Bench, role, epoch| leaf.gets_marked(0, 1, header(role, epoch, 0, 0), true).0.2;
    assert_eq!(marked(&mut leaf, Role::Init, 5), [Role::Notify, Role::InitReply]);
    assert_eq!(marked(&mut leaf, Role::Rerouted, 5), [Role::Notify]);
    assert_eq!(marked(&mut leaf, Role::Data, 4), []);
}

/// Where a switch on the way has a choice, too, the number of the path says both: two times three here.
#[test]
fn a_path_is_a_choice_at_each_switch() {
    let mut network = network();
    network.links.extend([4, 4].map(|spine| Link { a: 3, b: spine, ..network.links[4] }));
    assert_eq!(ways(&network, 2)[&3], ShortestPaths { links: 2, paths: 4, delay: Nanos(2_000) });
    let mut spine = Leaf::new(&Conweave::default(), &network, 4);
    let mut rand = Integers::new(1);
    let mut taken = BTreeMap::new();
    for path in 0..6 {
        let own = Header { path, rest: path, ..header(Role::Data, 1, 0, 0) };
        let first = Leaf::new(&Conweave::default(), &network, 2).step(own, &[1, 2]);
        let mut tag = Tag::Conweave(first);
        let packet = passing(0, (0, 1), 0, &mut tag, &mut rand);
        spine.on_arrival(&mut Passing { hops: &[1, 2, 3], ..packet }, &mut Errands::default());
        *taken.entry((path % 2, spine.next)).or_insert(0) += 1;
        assert_eq!(tag, Tag::Conweave(Header { rest: 0, ..first }));
    }
    assert_eq!(taken.len(), 6, "{taken:?}");
}
