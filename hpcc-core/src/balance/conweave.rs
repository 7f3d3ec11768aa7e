// SPDX-License-Identifier: MIT OR Apache-2.0
//! ConWeave (Song et al., SIGCOMM 2023): a flow leaves a slow path at once, and the last switch puts its packets in order.
//!
//! ```text
//! the sender's leaf                                the receiver's leaf
//!   Init      --- path ------------>                 InitReply
//!   Data      --- path ------------>
//!   in time: the next packet is the next epoch's Init; late: a new path is drawn
//!   Tail      --- path ------------>                 the last one on the path before: TailReply, and all that waited goes on
//!   Rerouted  --- new path -------->                 waits for Tail, or until it should have come
//! ```
//!
//! A marked packet brings a Notify, upon which the sender's leaf avoids its path.

use super::{Choice, EcmpBalancer, Errands, Fate, FlowKey, LoadBalancer, Passing, Scheme, Tag, leaves};
use crate::random::GlibcRand;
use crate::topology::{Network, NodeKind};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

crate::settings! {
    /// ConWeave: a flow takes another path as soon as a packet of it is late, and its last switch puts packets in order.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Conweave {
        /// Time beyond the delay of links there and back after which an answer is late.
        #[change = "A shorter one leaves paths sooner; a longer one has fewer packets wait."]
        pub conweave_reply_extra: Nanos = Nanos(4_000) => scheme = "conweave";
        /// Time for which a path is avoided after a marked packet on it.
        #[change = "Set it to the time in which a queue that marks drains."]
        pub conweave_path_pause: Nanos = Nanos(16_000) => scheme = "conweave";
        /// Time without a packet of a flow at its leaf after which its next one takes any path.
        #[change = "A shorter one balances better; paths must not differ by more."]
        pub conweave_expiry: Nanos = Nanos(300_000) => scheme = "conweave";
        /// Time for which packets wait at the last switch beyond when the last one before them should have come.
        #[change = "A longer one keeps order where queues grow fast."]
        pub conweave_flush_extra: Nanos = Nanos(16_000) => scheme = "conweave";
        /// Time for which they wait besides if no packet of their epoch has come by the path before.
        #[change = "Set it above the time for which a packet can be queued."]
        pub conweave_default_wait: Nanos = Nanos(200_000) => scheme = "conweave";
        /// Flows whose packets may wait at a switch at once; those of others go on out of order. `auto`: any number.
        #[change = "Set it to the queues that a switch has for this."]
        pub conweave_queues: Option<u32> {1..=u32::MAX} = None => scheme = "conweave";
    }
}

/// So many flows are remembered without a look at which are over.
const FEW: usize = 256;

impl Scheme for Conweave {
    fn name(&self) -> &'static str {
        "conweave"
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn start(&self, network: &Network, switch: u32) -> Box<dyn LoadBalancer> {
        Box::new(Leaf::new(self, network, switch))
    }
}

/// What a frame is to the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Role {
    /// Data on the epoch's first path.
    Data,
    /// The first of an epoch, to be answered.
    Init,
    /// The last on the epoch's first path, to be answered.
    Tail,
    /// Data on the epoch's second path.
    Rerouted,
    /// The answer to [`Role::Init`].
    InitReply,
    /// The answer to [`Role::Tail`].
    TailReply,
    /// The answer to a marked packet.
    Notify,
}

/// What a frame carries from leaf to leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// What it is.
    pub role: Role,
    /// The epoch of its flow; later ones have higher numbers.
    pub epoch: u32,
    /// The path from the sender's leaf, of as many as there are.
    pub path: u32,
    /// The part of that number by which switches on the way are still to choose.
    pub rest: u32,
    /// When it came to the sender's leaf.
    pub sent: Nanos,
    /// When the epoch's last packet on the first path did, if it has.
    pub tail: Nanos,
}

/// A flow at its sender's leaf.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    epoch: u32,
    path: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// All packets of the epoch are in order: the next one begins another.
    Settled,
    /// An answer is on time until then.
    Asked(Nanos),
    /// The last packet on the path before has left at this time.
    Rerouted(Nanos),
}

/// A flow at its receiver's leaf.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    epoch: u32,
    /// Nothing is waited for any more.
    is_ordered: bool,
    /// The newest packet of the epoch on its first path: when it came to the sender's leaf, and here.
    before: Option<(Nanos, Nanos)>,
}

/// Packets of a flow that wait.
#[derive(Debug)]
struct Waiting {
    frames: Vec<u32>,
    until: Nanos,
    tail: Nanos,
}

/// Flows by their keys, of which those that are long over are forgotten.
#[derive(Debug)]
struct Flows<T> {
    flows: BTreeMap<FlowKey, (Nanos, T)>,
    room: usize,
}

impl<T: Copy> Flows<T> {
    fn put(&mut self, key: FlowKey, now: Nanos, flow: T, expiry: Nanos) {
        if self.flows.len() >= self.room {
            self.flows.retain(|_, &mut (last, _)| (now - last).0 / 2 <= expiry.0);
            self.room = FEW.max(2 * self.flows.len());
        }
        self.flows.insert(key, (now, flow));
    }

    /// A flow, and when it had its last packet.
    fn get(&self, key: &FlowKey) -> Option<(Nanos, T)> {
        self.flows.get(key).copied()
    }
}

impl<T> Default for Flows<T> {
    fn default() -> Self {
        Flows { flows: BTreeMap::new(), room: FEW }
    }
}

/// The shortest ways to a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ways {
    links: u32,
    paths: u32,
    /// The longest of their delays.
    delay: Nanos,
}

/// The ways from a switch to all others.
fn ways(network: &Network, from: u32) -> BTreeMap<u32, Ways> {
    let ports = network.ports();
    let mut ways = BTreeMap::from([(from, Ways { links: 0, paths: 1, delay: Nanos(0) })]);
    let mut next = VecDeque::from([from]);
    while let Some(node) = next.pop_front() {
        let near = ways[&node];
        for port in ports.get(node as usize).into_iter().flatten() {
            if network.nodes[port.peer as usize] != NodeKind::Switch {
                continue;
            }
            let delay = near.delay + network.links[port.link as usize].delay;
            let fresh = Ways { links: near.links + 1, paths: 0, delay };
            let far = ways.entry(port.peer).or_insert_with(|| {
                next.push_back(port.peer);
                fresh
            });
            if far.links == fresh.links {
                far.paths = far.paths.saturating_add(near.paths);
                far.delay = far.delay.max(delay);
            }
        }
    }
    ways
}

/// ConWeave at a switch: leaves do all but choosing by what a packet carries.
#[derive(Debug)]
struct Leaf {
    config: Conweave,
    switch: u32,
    /// The switch of each host.
    leaf_of: Vec<u32>,
    /// Whether each port leads to a host.
    to_host: Vec<bool>,
    ways: BTreeMap<u32, Ways>,
    /// Until when paths to leaves are avoided.
    avoided: BTreeMap<(u32, u32), Nanos>,
    /// The newest epoch of any flow, so that a flow that was forgotten has no epoch twice.
    epoch: u32,
    outgoing: Flows<Outgoing>,
    incoming: Flows<Incoming>,
    waiting: BTreeMap<FlowKey, Waiting>,
    /// When the next look at them is due.
    wake: Option<Nanos>,
    /// The port of the frame that has just come in, if its path says one.
    next: Option<u16>,
}

impl Leaf {
    fn new(config: &Conweave, network: &Network, switch: u32) -> Leaf {
        let own = network.links.iter().filter_map(|link| match switch {
            end if end == link.a => Some(link.b),
            end if end == link.b => Some(link.a),
            _ => None,
        });
        let to_host: Vec<bool> = own.map(|peer| network.is_host(peer)).collect();
        Leaf {
            config: config.clone(),
            switch,
            leaf_of: leaves(network, switch),
            ways: if to_host.contains(&true) { ways(network, switch) } else { BTreeMap::new() },
            to_host,
            avoided: BTreeMap::new(),
            epoch: 0,
            outgoing: Flows::default(),
            incoming: Flows::default(),
            waiting: BTreeMap::new(),
            wake: None,
            next: None,
        }
    }

    fn leaf_of(&self, host: u32) -> u32 {
        self.leaf_of.get(host as usize).copied().unwrap_or(u32::MAX)
    }

    /// The first of two paths that is not avoided; without one the present path, if there is any.
    fn draw(&self, to: u32, ways: &Ways, present: Option<u32>, now: Nanos, rand: &mut GlibcRand) -> u32 {
        let drawn = [(); 2].map(|()| rand.draw() % ways.paths);
        let is_good = |path: &u32| self.avoided.get(&(to, *path)).is_none_or(|&until| until <= now);
        drawn.into_iter().find(is_good).or(present).unwrap_or(drawn[0])
    }

    /// A packet of an own host goes to another leaf.
    fn send(&mut self, passing: &mut Passing<'_>) {
        let &mut Passing { now, dst, key, hops, .. } = passing;
        let to = self.leaf_of(dst);
        let Some(ways) = self.ways.get(&to).copied().filter(|_| !hops.is_empty()) else { return };
        let known = self.outgoing.get(&key);
        let goes_on = known.filter(|&(last, _)| now - last <= self.config.conweave_expiry);
        let mut flow = goes_on.map_or_else(
            || {
                let path = self.draw(to, &ways, known.map(|(_, flow)| flow.path), now, passing.rand);
                Outgoing { epoch: 0, path, phase: Phase::Settled }
            },
            |(_, flow)| flow,
        );
        let path = flow.path;
        let role = match flow.phase {
            Phase::Settled => {
                self.epoch += 1;
                flow.epoch = self.epoch;
                flow.phase = Phase::Asked(now + ways.delay + ways.delay + self.config.conweave_reply_extra);
                Role::Init
            }
            Phase::Asked(until) if now > until => {
                flow.path = self.draw(to, &ways, Some(path), now, passing.rand);
                flow.phase = Phase::Rerouted(now);
                Role::Tail
            }
            Phase::Asked(_) => Role::Data,
            Phase::Rerouted(_) => Role::Rerouted,
        };
        self.outgoing.put(key, now, flow, self.config.conweave_expiry);
        let tail = if let Phase::Rerouted(tail) = flow.phase { tail } else { Nanos(0) };
        let header = Header { role, epoch: flow.epoch, path, rest: path, sent: now, tail };
        *passing.tag = Tag::Conweave(self.step(header, hops));
    }

    /// The packet that comes in goes on by its path.
    fn step(&mut self, header: Header, hops: &[u16]) -> Header {
        let count = hops.len().max(1) as u32;
        self.next = hops.get((header.rest % count) as usize).copied();
        Header { rest: header.rest / count, ..header }
    }

    /// An answer has come to the leaf that it is for.
    fn hear(&mut self, passing: &Passing<'_>, header: &Header) {
        let &Passing { now, src, key, .. } = passing;
        if header.role == Role::Notify {
            self.avoided.insert((self.leaf_of(src), header.path), now + self.config.conweave_path_pause);
            return;
        }
        let key =
            FlowKey { src_address: key.dst_address, dst_address: key.src_address, sport: key.dport, dport: key.sport };
        let Some((_, flow)) = self.outgoing.flows.get_mut(&key).filter(|(_, flow)| flow.epoch == header.epoch) else {
            return;
        };
        let settles = match flow.phase {
            Phase::Asked(until) => header.role == Role::InitReply && now < until,
            Phase::Rerouted(_) => header.role == Role::TailReply,
            Phase::Settled => false,
        };
        if settles {
            flow.phase = Phase::Settled;
        }
    }

    /// A packet has come to the leaf of its receiver.
    fn receive(&mut self, passing: &Passing<'_>, header: &Header, errands: &mut Errands) -> Fate {
        let &Passing { now, key, frame, is_marked, .. } = passing;
        let known = self.incoming.get(&key).map(|(_, flow)| flow);
        if known.is_some_and(|flow| flow.epoch > header.epoch) {
            return Fate::GoesOn;
        }
        let answer = |role| Tag::Conweave(Header { role, ..*header });
        if is_marked {
            errands.answers.push(answer(Role::Notify));
        }
        let mut flow = known.filter(|flow| flow.epoch == header.epoch).unwrap_or_else(|| {
            self.release(&key, errands);
            Incoming { epoch: header.epoch, is_ordered: false, before: None }
        });
        let mut fate = Fate::GoesOn;
        if header.role == Role::Rerouted {
            if !flow.is_ordered && passing.may_wait {
                fate = self.wait(passing, header, &mut flow, errands);
            }
        } else if header.role == Role::Tail {
            errands.answers.push(answer(Role::TailReply));
            flow.is_ordered = true;
            if passing.may_wait && self.waiting.contains_key(&key) {
                errands.released.push(frame);
                fate = Fate::Waits;
            }
            self.release(&key, errands);
        } else {
            if header.role == Role::Init {
                errands.answers.push(answer(Role::InitReply));
            }
            flow.before = Some((header.sent, now));
            if let Some(waiting) = self.waiting.get_mut(&key) {
                waiting.until = self.config.due(waiting.tail, header.sent, now);
                let until = waiting.until;
                self.look_at(until, errands);
            }
        }
        self.incoming.put(key, now, flow, self.config.conweave_expiry);
        fate
    }

    /// A packet has overtaken others of its epoch.
    fn wait(&mut self, passing: &Passing<'_>, header: &Header, flow: &mut Incoming, errands: &mut Errands) -> Fate {
        let &Passing { now, key, frame, .. } = passing;
        if let Some(waiting) = self.waiting.get_mut(&key) {
            waiting.frames.push(frame);
            return Fate::Waits;
        }
        if self.config.conweave_queues.is_some_and(|most| self.waiting.len() >= most as usize) {
            flow.is_ordered = true;
            return Fate::GoesOn;
        }
        let config = &self.config;
        let until = match flow.before {
            Some((sent, came)) => config.due(header.tail, sent, came),
            None => now + config.conweave_default_wait + config.conweave_flush_extra,
        };
        self.waiting.insert(key, Waiting { frames: Vec::from([frame]), until, tail: header.tail });
        self.look_at(until, errands);
        Fate::Waits
    }

    /// What waits of a flow goes on.
    fn release(&mut self, key: &FlowKey, errands: &mut Errands) {
        if let Some(waiting) = self.waiting.remove(key) {
            errands.released.extend(waiting.frames);
        }
    }

    fn look_at(&mut self, at: Nanos, errands: &mut Errands) {
        if self.wake.is_none_or(|wake| at < wake) {
            self.wake = Some(at);
            errands.wake = Some(at);
        }
    }
}

impl Conweave {
    /// When to wait no longer for a packet that came to the sender's leaf at `tail`: one that came there at `sent` came here at `came`.
    fn due(&self, tail: Nanos, sent: Nanos, came: Nanos) -> Nanos {
        came + Nanos(tail.0.saturating_sub(sent.0)) + self.conweave_flush_extra
    }
}

impl LoadBalancer for Leaf {
    fn tags(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, passing: &mut Passing<'_>, errands: &mut Errands) -> Fate {
        let &mut Passing { dst, port, hops, is_balanced, .. } = passing;
        self.next = None;
        let is_near = self.leaf_of(dst) == self.switch;
        if self.to_host.get(usize::from(port)) == Some(&true) {
            *passing.tag = Tag::Nothing;
            if is_balanced && !is_near {
                self.send(passing);
            }
            return Fate::GoesOn;
        }
        let Tag::Conweave(header) = *passing.tag else { return Fate::GoesOn };
        let is_answer = matches!(header.role, Role::InitReply | Role::TailReply | Role::Notify);
        match (is_near, is_answer) {
            (false, true) => {}
            (false, false) => *passing.tag = Tag::Conweave(self.step(header, hops)),
            (true, true) => {
                self.hear(passing, &header);
                return Fate::Ends;
            }
            (true, false) if is_balanced => return self.receive(passing, &header, errands),
            (true, false) => {}
        }
        Fate::GoesOn
    }

    fn on_timeout(&mut self, now: Nanos, errands: &mut Errands) {
        if self.wake.is_none_or(|wake| now < wake) {
            return;
        }
        self.wake = None;
        let due = self.waiting.iter().filter(|(_, waiting)| waiting.until <= now);
        for key in due.map(|(&key, _)| key).collect::<Vec<_>>() {
            self.release(&key, errands);
            if let Some((_, flow)) = self.incoming.flows.get_mut(&key) {
                flow.is_ordered = true;
            }
        }
        if let Some(first) = self.waiting.values().map(|waiting| waiting.until).min() {
            self.look_at(first, errands);
        }
    }

    fn choose(&mut self, choice: &Choice<'_>, rand: &mut GlibcRand) -> u16 {
        let ecmp = &mut EcmpBalancer { seed: self.switch, weighted: false };
        self.next.filter(|port| choice.hops.contains(port)).unwrap_or_else(|| ecmp.choose(choice, rand))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::testing::passing;
    use crate::topology::Link;
    use crate::units::BitRate;
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
        rand: GlibcRand,
    }

    /// What a leaf made of a frame: released, and answered with.
    type Made = (Fate, Vec<u32>, Vec<Role>);

    impl Bench {
        fn new(switch: u32) -> Bench {
            Bench::with(switch, &Conweave::default())
        }

        fn with(switch: u32, config: &Conweave) -> Bench {
            Bench { leaf: Leaf::new(config, &network(), switch), rand: GlibcRand::new(1) }
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
            let fate = self.leaf.on_arrival(&mut Passing { frame, is_marked, ..packet }, &mut errands);
            let role = |tag: &Tag| if let Tag::Conweave(header) = tag { header.role } else { panic!("an answer") };
            let made = (fate, errands.released, errands.answers.iter().map(role).collect());
            (made, errands.wake.map(|at| at.0))
        }

        /// The frames that go on at a time.
        fn wakes(&mut self, now: u64) -> (Vec<u32>, Option<u64>) {
            let mut errands = Errands::default();
            self.leaf.on_timeout(Nanos(now), &mut errands);
            (errands.released, errands.wake.map(|at| at.0))
        }
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
        leaf.rand = GlibcRand::new(2);
        leaf.leaf.avoided.insert((3, first.path), Nanos(100 * MICRO));
        leaf.hears(ROUND, Role::InitReply, &first);
        let tail = leaf.sends(ROUND + 1);
        let sent = Nanos(ROUND + 1);
        assert_eq!(
            tail,
            Header { role: Role::Tail, sent, tail: sent, ..first },
            "an answer at the last moment is late"
        );
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
        let ways = leaf.leaf.ways[&3];
        let mut drawn = |after: u64| {
            let paths = (0..200).map(|_| leaf.leaf.draw(3, &ways, Some(7), at + Nanos(after), &mut leaf.rand));
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
        assert_eq!(
            leaf.gets(37_001, 4, header(Role::Rerouted, 5, 13_000, 11_000)).0,
            GOES,
            "no second wait in an epoch"
        );
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
        leaf.leaf.waiting.insert(other, Waiting { frames: vec![9], until: Nanos(5_000), tail: Nanos(0) });
        assert_eq!(leaf.gets(0, 1, header(Role::Rerouted, 5, 0, 0)), (GOES, None));
        leaf.leaf.waiting.remove(&other);
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
        assert_eq!(ways(&network, 2)[&3], Ways { links: 2, paths: 4, delay: Nanos(2_000) });
        let mut spine = Leaf::new(&Conweave::default(), &network, 4);
        let mut rand = GlibcRand::new(1);
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

    /// Flows that are over take no memory, and what is left of one has no effect.
    #[test]
    fn what_is_over_is_forgotten() {
        let mut flows = Flows::default();
        for n in 0..10_000 {
            flows.put(FlowKey { src_address: n, ..FlowKey::default() }, Nanos(n.into()), (), Nanos(10));
        }
        assert!(flows.flows.len() <= FEW, "{}", flows.flows.len());
        assert!(flows.get(&FlowKey { src_address: 9_990, ..FlowKey::default() }).is_some());
    }
}
