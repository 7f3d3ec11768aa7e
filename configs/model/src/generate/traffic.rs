// SPDX-License-Identifier: GPL-2.0-only
//! Random traffic.

use super::{Cdf, Offer, Pairs, Random};
use crate::flow::Flow;
use hpcc_core::engine::FlowOptions;
use hpcc_core::settings::Conflict;
use hpcc_core::units::{BitRate, Nanos};
use itertools::Itertools;
use rand::RngExt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keeps a slip of the keyboard from drawing for hours.
const MAX_FLOWS: f64 = 1e8;

fn too_many(flows: f64) -> Conflict {
    let message = format!("about {flows:.0} flows would be generated; expected at most {MAX_FLOWS:.0}");
    Conflict::new("load", message)
}

/// The properties of flows of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Priority (queue) of the packets, 1 to 7.
    pub priority: u8,
    /// Destination port.
    pub dport: u16,
    /// What each flow has for itself.
    pub options: FlowOptions,
}

impl Class {
    /// A flow from nobody to nobody yet: node 0 stands for both.
    pub fn flow(self, size: u64, start: Nanos) -> Flow {
        let Class { priority, dport, options } = self;
        Flow { src: 0, dst: 0, priority, dport, size, start, options }
    }
}

/// Each host starts flows to others at random times; the time between two of its flows is exponentially
/// distributed.
#[derive(Clone, Debug)]
pub struct Poisson {
    /// Hosts and the rate of their first link, above 0; at least two.
    pub hosts: Arc<[(u32, BitRate)]>,
    /// Distribution of flow sizes, in bytes.
    pub sizes: Arc<Cdf>,
    /// Which host a flow goes to; `None`: any other, all equally likely.
    pub pairs: Option<Arc<Pairs>>,
    /// Mean payload that a host sends, as a fraction of its link's rate; above 0, up to 1.
    pub load: f64,
    /// No flow starts before.
    pub start: Nanos,
    /// No flow starts this long after `start`, or later.
    pub duration: Nanos,
    /// Priority and port.
    pub class: Class,
}

impl Poisson {
    /// Refuses fewer than two hosts and absurd amounts. The error blames a parameter.
    pub fn check(&self) -> Result<(), Conflict> {
        if self.hosts.len() < 2 {
            let message = format!("{} hosts take part; expected at least 2", self.hosts.len());
            return Err(Conflict::new("hosts", message));
        }
        let expected: f64 = self.hosts.iter().map(|host| self.duration.0 as f64 / self.mean_gap(host.1)).sum();
        if expected > MAX_FLOWS {
            return Err(too_many(expected));
        }
        Ok(())
    }

    /// The average load on hosts.
    pub fn offer(&self) -> Offer {
        let sent = |rate: BitRate| rate.0 as f64 * self.load;
        let all: f64 = self.hosts.iter().map(|host| sent(host.1)).sum();
        let others = (self.hosts.len() - 1) as f64;
        let rates = match &self.pairs {
            None => self.hosts.iter().map(|&(host, rate)| (host, (all - sent(rate)) / others)).collect(),
            Some(pairs) => {
                let rates: BTreeMap<u32, BitRate> = self.hosts.iter().copied().collect();
                pairs.received(|host| rates.get(&host).copied().map_or(0.0, sent))
            }
        };
        let rack_share = self.pairs.as_ref().and_then(|pairs| pairs.rack_share());
        Offer { start: self.start, end: self.start + self.duration, priority: self.class.priority, rates, rack_share }
    }

    /// The flows by ascending start time, for equal times by ascending source.
    ///
    /// The hosts draw one after the other from one sequence. To have their flows in order of time nevertheless,
    /// each host's place in the sequence is found first, by drawing everything once.
    pub fn flows(&self, mut random: Random) -> impl Iterator<Item = Flow> + use<> {
        let mut hosts = Vec::with_capacity(self.hosts.len());
        for index in 0..self.hosts.len() {
            let host = HostFlows { traffic: self.clone(), index, random, elapsed: 0.0 };
            let mut ahead = host.clone();
            while ahead.next().is_some() {}
            random = ahead.random;
            hosts.push(host);
        }
        hosts.into_iter().kmerge_by(|a, b| (a.start, a.src) < (b.start, b.src))
    }

    /// Mean time between two flows of a host, in nanoseconds.
    fn mean_gap(&self, rate: BitRate) -> f64 {
        self.sizes.mean() * 8.0 * 1e9 / (rate.0 as f64 * self.load)
    }
}

/// The flows of one host that have not been drawn yet.
#[derive(Clone)]
struct HostFlows {
    traffic: Poisson,
    index: usize,
    random: Random,
    /// Nanoseconds from the start to the last flow.
    elapsed: f64,
}

impl Iterator for HostFlows {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        let HostFlows { traffic, index, random, elapsed } = self;
        let (src, rate) = traffic.hosts[*index];
        *elapsed += exponential(random) * traffic.mean_gap(rate);
        let before_end = *elapsed < traffic.duration.0 as f64;
        // Not `>=`: a load next to 0 makes the gap infinite and `elapsed` possibly not a number.
        if !before_end {
            return None;
        }
        Some(Flow {
            src,
            dst: match &traffic.pairs {
                None => traffic.hosts[other(*index, traffic.hosts.len(), random)].0,
                Some(pairs) => pairs.draw(src, random),
            },
            options: traffic.class.options,
            priority: traffic.class.priority,
            dport: traffic.class.dport,
            size: traffic.sizes.size_at(random.random::<f64>() * 100.0),
            start: traffic.start + Nanos(*elapsed as u64),
        })
    }
}

/// A sample of the exponential distribution with mean 1. The logarithm is not the system's, whose last
/// digit differs between platforms.
pub fn exponential(random: &mut Random) -> f64 {
    -libm::log(1.0 - random.random::<f64>())
}

/// One of `count` (at least 2) indices, but not `index`.
fn other(index: usize, count: usize, random: &mut Random) -> usize {
    let pick = random.random_range(0..count as u32 - 1) as usize;
    if pick < index { pick } else { pick + 1 }
}

/// At random times as many hosts as `fan_in` send to one; who that is, and which they are, is drawn each time.
#[derive(Clone, Debug)]
pub struct RandomIncast {
    /// Hosts and the rate of their first link, above 0; more than `fan_in`.
    pub hosts: Vec<(u32, BitRate)>,
    /// Hosts that send in an incast; above 0.
    pub fan_in: usize,
    /// Bytes that each of them sends; above 0.
    pub size: u64,
    /// Mean payload of the incasts, as a fraction of the rate of all hosts' links; above 0, up to 1.
    pub load: f64,
    /// No incast starts before.
    pub start: Nanos,
    /// No incast starts this long after `start`, or later.
    pub duration: Nanos,
    /// Priority and port.
    pub class: Class,
}

impl RandomIncast {
    /// Refuses more senders than there are, and absurd amounts. The error blames a parameter.
    pub fn check(&self) -> Result<(), Conflict> {
        if self.hosts.len() <= self.fan_in {
            let most = self.hosts.len().saturating_sub(1);
            let message = format!("fan_in is {}; expected at most {most}, the hosts besides a receiver", self.fan_in);
            return Err(Conflict::new("fan_in", message));
        }
        if self.expected() > MAX_FLOWS {
            return Err(too_many(self.expected()));
        }
        Ok(())
    }

    /// How many flows there will be, on the average.
    pub fn expected(&self) -> f64 {
        self.duration.0 as f64 / self.mean_gap() * self.fan_in as f64
    }

    /// The average load on hosts.
    pub fn offer(&self) -> Offer {
        let mean = self.capacity() * self.load / self.hosts.len() as f64;
        let rates = self.hosts.iter().map(|host| (host.0, mean)).collect();
        let (start, end) = (self.start, self.start + self.duration);
        Offer { start, end, priority: self.class.priority, rates, rack_share: None }
    }

    /// The flows by ascending start time.
    pub fn flows(&self, random: &mut Random) -> Vec<Flow> {
        let (mut flows, mut elapsed) = (Vec::new(), 0.0);
        let mut hosts: Vec<u32> = self.hosts.iter().map(|host| host.0).collect();
        loop {
            elapsed += exponential(random) * self.mean_gap();
            let before_end = elapsed < self.duration.0 as f64;
            if !before_end {
                return flows;
            }
            // The first of a shuffled list is the receiver, those behind it send.
            for place in 0..=self.fan_in {
                let pick = random.random_range(place as u32..hosts.len() as u32) as usize;
                hosts.swap(place, pick);
            }
            let start = self.start + Nanos(elapsed as u64);
            let Class { priority, dport, options } = self.class;
            let flow = |&src: &u32| Flow { src, dst: hosts[0], priority, dport, size: self.size, start, options };
            flows.extend(hosts[1..=self.fan_in].iter().map(flow));
        }
    }

    /// Mean time between two incasts, in nanoseconds.
    fn mean_gap(&self) -> f64 {
        self.fan_in as f64 * self.size as f64 * 8.0 * 1e9 / (self.capacity() * self.load)
    }

    /// Of all hosts' links, in bits per second.
    fn capacity(&self) -> f64 {
        self.hosts.iter().map(|host| host.1.0 as f64).sum()
    }
}

/// Each host sends to one other host and receives from one other host, as (source, destination) by
/// ascending position in `hosts`. Empty for fewer than two hosts.
pub fn permutation(hosts: &[u32], random: &mut Random) -> Vec<(u32, u32)> {
    if hosts.len() < 2 {
        return Vec::new();
    }
    // Sattolo's algorithm: a permutation of one cycle has no fixed point.
    let mut to = hosts.to_vec();
    for last in (1..to.len()).rev() {
        let pick = random.random_range(0..last as u32) as usize;
        to.swap(last, pick);
    }
    hosts.iter().copied().zip(to).collect()
}

/// Each host sends to so many others: to all, the next one first, or to others at random.
pub fn all_to_all(hosts: &[u32], peers: usize, random: &mut Random) -> Vec<(u32, u32)> {
    let to = |from: usize| (1..hosts.len()).map(move |step| hosts[(from + step) % hosts.len()]).collect::<Vec<u32>>();
    let drawn = |from: usize| if peers + 1 < hosts.len() { shuffled(to(from), random) } else { to(from) };
    let lists: Vec<Vec<u32>> = (0..hosts.len()).map(drawn).collect();
    hosts.iter().zip(&lists).flat_map(|(&from, to)| to[..peers].iter().map(move |&to| (from, to))).collect()
}

/// The hosts in a random order.
pub fn shuffled(mut hosts: Vec<u32>, random: &mut Random) -> Vec<u32> {
    for last in (1..hosts.len()).rev() {
        let pick = random.random_range(0..=last as u32) as usize;
        hosts.swap(last, pick);
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::random;
    use std::path::Path;

    const CLASS: Class = Class { priority: 3, dport: 100, options: FlowOptions::NONE };

    fn cdf(name: &str) -> Cdf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads");
        Cdf::read(&folder.join(name)).expect("shipped workload")
    }

    fn poisson(sizes: &Cdf, hosts: &[(u32, BitRate)], duration: Nanos, seed: u64) -> Vec<Flow> {
        let (hosts, sizes) = (hosts.into(), Arc::new(sizes.clone()));
        let traffic =
            Poisson { hosts, sizes, pairs: None, load: 0.3, start: Nanos(2_000_000_000), duration, class: CLASS };
        traffic.check().expect("sensible");
        traffic.flows(random(seed, "", 0)).collect()
    }

    #[test]
    fn the_load_is_met_and_flows_are_well_formed() {
        let hosts: Vec<(u32, BitRate)> = (0..32).map(|host| (host, BitRate::gbps(100))).collect();
        for name in ["websearch.cdf", "fb_hadoop.cdf"] {
            let flows = poisson(&cdf(name), &hosts, Nanos(400_000_000), 1);
            let bytes: u64 = flows.iter().map(|flow| flow.size).sum();
            let load = bytes as f64 * 8.0 / (0.4 * 32.0 * 100e9);
            assert!((0.29..0.31).contains(&load), "{name}: load {load}");
            assert!(flows.is_sorted_by_key(|flow| flow.start));
            assert!(flows.iter().all(|flow| flow.src != flow.dst && flow.dst < 32 && flow.size >= 1));
            assert!(flows.iter().all(|flow| (2_000_000_000..2_400_000_000).contains(&flow.start.0)));
        }
    }

    #[test]
    fn a_seed_fixes_the_flows() {
        let hosts = [(0, BitRate::gbps(100)), (1, BitRate::gbps(25)), (2, BitRate::gbps(100))];
        let sizes = cdf("websearch.cdf");
        let run = |seed| poisson(&sizes, &hosts, Nanos(20_000_000), seed);
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        assert_ne!(random(1, "", 0).random::<u64>(), random(1, "", 1).random::<u64>());
        assert_ne!(random(1, "a", 0).random::<u64>(), random(1, "b", 0).random::<u64>());
    }

    #[test]
    fn absurd_amounts_are_refused() {
        let hosts = [(0, BitRate::gbps(100)), (1, BitRate::gbps(100))];
        let (sizes, start, duration) = (Arc::new(cdf("fb_hadoop.cdf")), Nanos(0), Nanos(u64::MAX));
        let traffic = Poisson { hosts: hosts.into(), sizes, pairs: None, load: 1.0, start, duration, class: CLASS };
        assert!(traffic.check().expect_err("many").message.contains("flows would be generated"));
        let alone = Poisson { hosts: hosts[..1].into(), ..traffic };
        assert!(alone.check().expect_err("one").message.contains("expected at least 2"));
    }

    fn incasts(fan_in: usize) -> RandomIncast {
        let hosts = (0..32).map(|host| (host, BitRate::gbps(100))).collect();
        let (size, load) = (500_000, 0.02);
        let (start, duration) = (Nanos(1_000), Nanos(2_000_000_000));
        RandomIncast { hosts, fan_in, size, load, start, duration, class: CLASS }
    }

    #[test]
    fn incasts_meet_their_load_and_draw_receiver_and_senders_each_time() {
        let traffic = incasts(20);
        traffic.check().expect("sensible");
        let flows = traffic.flows(&mut random(1, "", 0));
        let bytes: u64 = flows.iter().map(|flow| flow.size).sum();
        let load = bytes as f64 * 8.0 / (2.0 * 32.0 * 100e9);
        assert!((0.0185..0.0215).contains(&load), "load {load}");
        let mut receivers = [0; 32];
        for incast in flows.chunks(20) {
            let senders: std::collections::BTreeSet<u32> = incast.iter().map(|flow| flow.src).collect();
            assert!(senders.len() == 20 && !senders.contains(&incast[0].dst), "{incast:?}");
            assert!(incast.iter().all(|flow| (flow.dst, flow.start) == (incast[0].dst, incast[0].start)));
            receivers[incast[0].dst as usize] += 1;
        }
        assert!(receivers.iter().all(|times| (25..85).contains(times)), "{receivers:?}");
        assert_eq!(flows, incasts(20).flows(&mut random(1, "", 0)));
        assert!(
            incasts(32).check().expect_err("too many").message.contains("at most 31, the hosts besides a receiver")
        );
    }

    #[test]
    fn each_host_sends_to_all_others_or_to_some_drawn_ones() {
        let pairs = all_to_all(&[4, 5, 7], 2, &mut random(1, "", 0));
        assert_eq!(pairs, [(4, 5), (4, 7), (5, 7), (5, 4), (7, 4), (7, 5)]);
        let hosts: Vec<u32> = (0..50).collect();
        let drawn = |seed| all_to_all(&hosts, 3, &mut random(seed, "", 0));
        let pairs: std::collections::BTreeSet<_> = drawn(1).into_iter().collect();
        assert_eq!(pairs.len(), 150, "none twice");
        assert!(pairs.iter().all(|(from, to)| from != to));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn a_permutation_gives_each_host_one_sender_and_one_receiver() {
        let hosts: Vec<u32> = (10..27).collect();
        let pairs = permutation(&hosts, &mut random(1, "", 0));
        let mut receivers: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
        receivers.sort_unstable();
        assert_eq!(receivers, hosts);
        assert!(pairs.iter().all(|(src, dst)| src != dst));
        assert!(permutation(&[1], &mut random(1, "", 0)).is_empty());
    }
}
