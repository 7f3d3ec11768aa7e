// SPDX-License-Identifier: MIT OR Apache-2.0
//! CONGA (Alizadeh et al., SIGCOMM 2014): a flowlet takes the uplink with the least congestion on its whole way to the other leaf.
//!
//! Each port estimates its load (a discounting rate estimator). Packets carry the uplink that they took and the highest load on
//! their way; leaves remember it by sender's leaf and uplink, and tell it back, an uplink at a time, in what they send there.

use super::{Choice, EcmpBalancer, Errands, Fate, FlowKey, LoadBalancer, Passing, Scheme, Tag, any, leaves};
use crate::random::Integers;
use crate::topology::{Network, NodeKind};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

crate::settings! {
    /// CONGA: flowlets take the uplink with the least load on their way to the other leaf. It is for two tiers of switches; at others
    /// than leaves packets go by their hash.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Conga {
        /// Time without a packet of a flow at its leaf after which its next one may take another uplink.
        #[change = "A longer one keeps packets in order; a shorter one balances better."]
        pub conga_gap: Nanos = Nanos(100_000) => scheme = "conga";
        /// Uplinks that are drawn for a flowlet, of which it takes the one with the least load.
        #[change = "More find less load, and more flowlets the same uplink at once."]
        pub conga_samples: u32 {1..=64} = 4 => scheme = "conga";
        /// Time after which the estimate of a port's load loses a part.
        #[change = "A shorter one follows load sooner, and sees bursts."]
        pub conga_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(200_000) => scheme = "conga";
        /// The part that it loses.
        #[change = "A larger one follows load sooner."]
        pub conga_decay: f64 {0.001..=1.0} = 0.2 => scheme = "conga";
        /// Age at which a leaf's knowledge of an uplink expires.
        #[change = "A shorter one tries loaded uplinks again sooner."]
        pub conga_age: Nanos = Nanos(10_000_000) => scheme = "conga";
    }
}

/// Largest load that a packet carries, in 3 bits.
const MOST: u8 = 7;
/// Flowlets remembered before expired ones are looked for.
const FEW: usize = 256;

impl Scheme for Conga {
    fn name(&self) -> &'static str {
        "conga"
    }

    fn start(&self, network: &Network, switch: u32) -> Box<dyn LoadBalancer> {
        Box::new(Leaf::new(self, network, switch))
    }
}

/// The load of a port: bytes sent, discounted by age (the paper's DRE).
#[derive(Clone, Debug)]
struct Load {
    bytes: f64,
    /// Begin of the first interval.
    first: Option<Nanos>,
    /// Intervals that `bytes` has been discounted for.
    intervals: u64,
    /// What `bytes` tends to at the link's rate.
    full: f64,
}

impl Load {
    fn new(config: &Conga, rate: BitRate) -> Load {
        let full = rate.bytes_in(config.conga_interval) as f64 / config.conga_decay;
        Load { bytes: 0.0, first: None, intervals: 0, full }
    }

    fn decay(&mut self, config: &Conga, now: Nanos) {
        let first = *self.first.get_or_insert(now);
        let intervals = now.saturating_sub(first).0 / config.conga_interval.0.max(1);
        for _ in 0..(intervals - self.intervals).min(1_000) {
            self.bytes *= 1.0 - config.conga_decay;
        }
        self.intervals = intervals;
    }

    /// The load in 3 bits.
    fn told(&self) -> u8 {
        ((self.bytes / self.full * f64::from(MOST + 1)) as u8).min(MOST)
    }
}

/// The last reported load of an uplink.
#[derive(Clone, Copy, Debug, Default)]
struct ReportedLoad {
    load: u8,
    /// Time of the report; `None`: there was none.
    at: Option<Nanos>,
}

/// Loads of uplinks, by the leaf at the other end.
type Table = BTreeMap<u32, Vec<ReportedLoad>>;

/// CONGA at a switch: leaves choose, all measure load.
#[derive(Debug)]
struct Leaf {
    config: Conga,
    switch: u32,
    /// Leaf switch of each host.
    leaf_of: Vec<u32>,
    /// Number of each port among uplinks; `None`: it leads to a host.
    uplink: Vec<Option<u16>>,
    loads: Vec<Load>,
    /// Congestion to a leaf by each own uplink, as that leaf reported.
    to: Table,
    /// Congestion from a leaf by each of its uplinks, and which to report next.
    from: BTreeMap<u32, (Vec<ReportedLoad>, usize)>,
    under_way: BTreeMap<(FlowKey, u8), (Nanos, u16)>,
    room: usize,
}

impl Leaf {
    fn new(config: &Conga, network: &Network, switch: u32) -> Leaf {
        let is_switch = |node: u32| network.nodes.get(node as usize) == Some(&NodeKind::Switch);
        let own = network.links.iter().filter(|link| link.a == switch || link.b == switch);
        let mut uplinks = 0;
        let (mut uplink, mut loads) = (Vec::new(), Vec::new());
        for link in own {
            let peer = if link.a == switch { link.b } else { link.a };
            uplink.push(is_switch(peer).then_some(uplinks));
            uplinks += u16::from(is_switch(peer));
            loads.push(Load::new(config, link.rate));
        }
        Leaf {
            config: config.clone(),
            switch,
            leaf_of: leaves(network, switch),
            uplink,
            loads,
            to: Table::new(),
            from: BTreeMap::new(),
            under_way: BTreeMap::new(),
            room: FEW,
        }
    }

    fn leaf_of(&self, host: u32) -> u32 {
        self.leaf_of.get(host as usize).copied().unwrap_or(u32::MAX)
    }

    fn is_fresh(&self, heard: &ReportedLoad, now: Nanos) -> bool {
        heard.at.is_some_and(|at| now - at <= self.config.conga_age)
    }

    /// The load of a path to a leaf: the higher of the own port's and of the leaf's report.
    fn load_of(&mut self, port: u16, leaf: u32, now: Nanos) -> u8 {
        let place = usize::from(port);
        let Some(own) = self.loads.get_mut(place) else { return MOST };
        own.decay(&self.config, now);
        let own = own.told();
        let uplink = self.uplink.get(place).copied().flatten();
        let told = uplink.and_then(|uplink| self.to.get(&leaf)?.get(usize::from(uplink)));
        own.max(told.filter(|heard| self.is_fresh(heard, now)).map_or(0, |heard| heard.load))
    }
}

fn note(of_leaf: &mut Vec<ReportedLoad>, uplink: u16, load: u8, now: Nanos) {
    if of_leaf.len() <= usize::from(uplink) {
        of_leaf.resize(usize::from(uplink) + 1, ReportedLoad::default());
    }
    of_leaf[usize::from(uplink)] = ReportedLoad { load, at: Some(now) };
}

impl LoadBalancer for Leaf {
    fn tags(&self) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        let &Choice { now, dst, hops, .. } = choice;
        let leaf = self.leaf_of(dst);
        if self.uplink.iter().all(Option::is_some) {
            return EcmpBalancer { seed: self.switch, weighted: false }.choose(choice, rand);
        }
        let gap = self.config.conga_gap;
        let goes_on = |&(at, _): &(Nanos, u16)| now - at < gap;
        if self.under_way.len() >= self.room {
            self.under_way.retain(|_, last| goes_on(last));
            self.room = FEW.max(2 * self.under_way.len());
        }
        let flow = (*choice.key, choice.priority);
        let last = self.under_way.get(&flow).copied().filter(|(_, port)| hops.contains(port));
        let port = match last.filter(goes_on) {
            Some((_, port)) => port,
            None => {
                // Ties go to the flow's last port, then to the first drawn.
                let drawn: Vec<u16> = (0..self.config.conga_samples).map(|_| any(hops, rand)).collect();
                let ports = last.map(|(_, port)| port).into_iter().chain(drawn);
                let least = ports
                    .map(|port| (self.load_of(port, leaf, now), port))
                    .reduce(|a, b| if b.0 < a.0 { b } else { a });
                least.map_or(hops[0], |(_, port)| port)
            }
        };
        self.under_way.insert(flow, (now, port));
        port
    }

    fn on_arrival(&mut self, passing: &mut Passing<'_>, _: &mut Errands) -> Fate {
        let &mut Passing { now, src, dst, port, .. } = passing;
        if self.uplink.get(usize::from(port)).copied().flatten().is_none() {
            *passing.tag = Tag::Nothing;
        }
        if let Tag::Conga(header) = *passing.tag
            && self.leaf_of(dst) == self.switch
        {
            let leaf = self.leaf_of(src);
            if let Some(uplink) = header.uplink {
                note(&mut self.from.entry(leaf).or_default().0, uplink, header.load, now);
            }
            if let Some((uplink, load)) = header.told {
                note(self.to.entry(leaf).or_default(), uplink, load, now);
            }
        }
        Fate::GoesOn
    }

    fn on_departure(&mut self, passing: &mut Passing<'_>) {
        let &mut Passing { now, src, dst, port, size, .. } = passing;
        let Some(load) = self.loads.get_mut(usize::from(port)) else { return };
        load.decay(&self.config, now);
        load.bytes += f64::from(size);
        let told = load.told();
        let mut header = if let Tag::Conga(header) = *passing.tag { header } else { Header::default() };
        header.load = header.load.max(told);
        if let Some(uplink) = self.uplink.get(usize::from(port)).copied().flatten()
            && self.leaf_of(src) == self.switch
        {
            header.uplink = Some(uplink);
            let leaf = self.leaf_of(dst);
            if let Some((heard, next)) = self.from.get_mut(&leaf) {
                let place = *next % heard.len().max(1);
                *next = place + 1;
                let fresh = heard.get(place).filter(|heard| heard.at.is_some());
                header.told = fresh.map(|heard| (place as u16, heard.load));
            }
        }
        *passing.tag = Tag::Conga(header);
    }
}

/// What a packet carries: as much as CONGA's header in VXLAN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// Uplink by which it left its leaf.
    pub uplink: Option<u16>,
    /// Highest load on its path so far.
    pub load: u8,
    /// Feedback: an uplink of the destination's leaf, and the highest load on the path from it.
    pub told: Option<(u16, u8)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::testing::{Given, passing};
    use crate::topology::Link;

    const MICRO: u64 = 1_000;

    /// Hosts 0 and 1 at leaf 2 (ports 0, 1 of hosts do not exist: port 0 is host 0), host 1 at leaf 3; spines 4 and 5.
    fn network() -> Network {
        let nodes = (0..6).map(|node| if node < 2 { NodeKind::Host } else { NodeKind::Switch }).collect();
        let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
        Network { nodes, links: [link(0, 2), link(1, 3), link(2, 4), link(2, 5), link(3, 4), link(3, 5)].into() }
    }

    /// A switch of that network. Ports of leaves: 0 is the host's, 1 and 2 lead to the spines.
    struct Bench {
        balancer: Box<dyn LoadBalancer>,
        rand: Integers,
    }

    impl Bench {
        fn new(switch: u32) -> Bench {
            let config = Conga { conga_samples: 64, ..Conga::default() };
            Bench { balancer: config.start(&network(), switch), rand: Integers::new(1) }
        }

        fn choose(&mut self, now: u64, sport: u16) -> u16 {
            let (ports, key) = (Given::default(), &FlowKey { sport, ..FlowKey::default() });
            let choice = Choice { now: Nanos(now), dst: 1, key, priority: 3, hops: &[1, 2], ports: &ports };
            self.balancer.choose(&choice, &mut self.rand)
        }

        /// A frame from host `src` to the other one comes by a port.
        fn arrives(&mut self, now: u64, src: u32, port: u16, header: Header) -> Tag {
            let mut tag = Tag::Conga(header);
            let mut passing = passing(now, (src, 1 - src), port, &mut tag, &mut self.rand);
            self.balancer.on_arrival(&mut passing, &mut Errands::default());
            tag
        }

        fn leaves(&mut self, now: u64, src: u32, port: u16, size: u32, header: Header) -> Header {
            let mut tag = Tag::Conga(header);
            let packet = passing(now, (src, 1 - src), port, &mut tag, &mut self.rand);
            self.balancer.on_departure(&mut Passing { size, ..packet });
            let Tag::Conga(header) = tag else { panic!("it carries loads") };
            header
        }
    }

    /// A host at switch 1, which has 300 links to another one.
    #[test]
    fn more_uplinks_than_a_byte_counts_have_a_number_each() {
        let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
        let nodes = [NodeKind::Host, NodeKind::Switch, NodeKind::Switch].into();
        let links = core::iter::once(link(0, 1)).chain((0..300).map(|_| link(1, 2))).collect();
        let leaf = Leaf::new(&Conga::default(), &Network { nodes, links }, 1);
        assert_eq!((leaf.uplink[0], leaf.uplink[1], leaf.uplink[300]), (None, Some(0), Some(299)));
    }

    /// At 100 Gb/s the estimate tends to 2.5 MB in 200 us, divided by 0.2: 12.5 MB, of which each eighth is one step.
    #[test]
    fn loads_are_told_in_eighths_and_lose_a_fifth_each_interval() {
        let mut spine = Bench::new(4);
        let empty = Header::default();
        let mut told = |now: u64, size| spine.leaves(now * MICRO, 0, 1, size, empty).load;
        assert_eq!([told(0, 1_562_499), told(1, 1), told(2, 1_562_500)], [0, 1, 2]);
        assert_eq!(told(199, 6_250_000), 6, "9,375,000 bytes");
        assert_eq!([told(200, 0), told(399, 0), told(400, 0)], [4, 4, 3], "7,500,000, and 6,000,000");
        assert_eq!(told(400, 100_000_000), 7, "in three bits");
        assert_eq!(told(100_000, 0), 0);
        let loaded = Header { load: 5, ..empty };
        assert_eq!(Bench::new(4).leaves(0, 0, 1, 0, loaded), loaded, "the highest load on the way");
    }

    /// An epoch of both leaves: what leaf 3 has seen of the uplinks of leaf 2 comes back to it, an uplink at a time.
    #[test]
    fn a_leaf_learns_of_its_ways_from_the_other_one() {
        let (mut near, mut far) = (Bench::new(2), Bench::new(3));
        let stale = Header { uplink: Some(9), load: 7, told: Some((9, 7)) };
        assert_eq!(near.arrives(0, 0, 0, stale), Tag::Nothing, "from a host nothing is carried");
        let sent = near.leaves(0, 0, 1, 1_000, Header::default());
        assert_eq!(sent, Header { uplink: Some(0), load: 0, told: None });
        far.arrives(2 * MICRO, 0, 1, Header { load: 6, ..sent });
        far.arrives(2 * MICRO, 0, 2, Header { uplink: Some(1), load: 2, told: None });
        let answers = [1, 1, 2].map(|port| far.leaves(3 * MICRO, 1, port, 60, Header::default()));
        assert_eq!(
            answers.map(|tag| (tag.uplink, tag.told)),
            [(Some(0), Some((0, 6))), (Some(0), Some((1, 2))), (Some(1), Some((0, 6)))]
        );
        for answer in answers {
            near.arrives(5 * MICRO, 1, 1, answer);
        }
        assert!((0..50).all(|flow| near.choose(6 * MICRO, flow) == 2), "2 is less than 6");
        near.leaves(6 * MICRO, 0, 2, 4_687_500, Header::default());
        assert!((50..100).all(|flow| near.choose(6 * MICRO, flow) == 2), "its own port has 3, which is less, too");
        near.leaves(6 * MICRO, 0, 2, 6_250_000, Header::default());
        assert!((100..150).all(|flow| near.choose(6 * MICRO, flow) == 1), "7 is more than 6");
        let both = |near: &mut Bench, at: u64, first: u16| {
            let ports: Vec<u16> = (first..first + 50).map(|flow| near.choose(at, flow)).collect();
            ports.contains(&1) && ports.contains(&2)
        };
        assert!(!both(&mut near, 10_005 * MICRO, 200), "after 10 ms 6 still counts");
        assert!(both(&mut near, 10_006 * MICRO, 300), "and then no longer");
    }

    /// A flow keeps its uplink until it pauses, and then unless another has less load.
    #[test]
    fn a_flowlet_stays_and_the_next_one_may_move() {
        let mut leaf = Bench::new(2);
        let first = leaf.choose(0, 1);
        leaf.leaves(0, 0, first, 6_250_000, Header::default());
        assert_eq!(leaf.choose(99 * MICRO, 1), first);
        assert_eq!(leaf.choose(198 * MICRO, 1), first);
        assert_eq!(leaf.choose(298 * MICRO, 1), 3 - first, "100 us later");
        assert!(
            (1..40).all(|n| leaf.choose((300 + 10_000 * n) * MICRO, 1) == 3 - first),
            "equals are no reason to move"
        );
    }

    /// Spines have one way to each leaf here; where they have more, the hash of the flow chooses.
    #[test]
    fn only_leaves_choose() {
        let mut spine = Bench::new(4);
        for flow in 0..50 {
            let hashed = FlowKey { sport: flow, ..FlowKey::default() }.choose(4, &[1, 2]).expect("hops");
            assert_eq!([0, 1_000_000].map(|now| spine.choose(now, flow)), [hashed; 2]);
        }
        assert!(spine.balancer.tags() && !spine.balancer.keeps());
    }
}
