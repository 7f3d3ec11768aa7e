// SPDX-License-Identifier: MIT OR Apache-2.0
//! LetFlow (Vanini et al., NSDI 2017): a flow that has paused goes on by any next hop.

use super::{Choice, FlowKey, LoadBalancer, Scheme, any};
use crate::random::Integers;
use crate::topology::Network;
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;

crate::settings! {
    /// LetFlow: packets of a flow that follow each other closely, a flowlet, take one next hop, which is drawn.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Flowlet {
        /// Time without a packet of a flow at a switch after which its next one takes any next hop. 0: all do.
        #[change = "A longer one keeps packets in order; a shorter one balances better."]
        pub flowlet_gap: Nanos = Nanos(100_000) => scheme = "flowlet";
    }
}

impl Scheme for Flowlet {
    fn name(&self) -> &'static str {
        "flowlet"
    }

    fn start(&self, _: &Network, _: u32) -> Box<dyn LoadBalancer> {
        Box::new(Flowlets { gap: self.flowlet_gap, under_way: BTreeMap::new(), room: FEW })
    }
}

/// So many flowlets are remembered without a look at which are over.
const FEW: usize = 256;

/// The flowlets of a switch.
#[derive(Debug)]
struct Flowlets {
    gap: Nanos,
    under_way: BTreeMap<(FlowKey, u8), Last>,
    /// With so many, those that are over are forgotten.
    room: usize,
}

/// The last packet of a flow.
#[derive(Clone, Copy, Debug)]
struct Last {
    at: Nanos,
    port: u16,
}

impl LoadBalancer for Flowlets {
    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        let &Choice { now, hops, .. } = choice;
        let goes_on = |last: &Last| now - last.at < self.gap;
        if self.under_way.len() >= self.room {
            self.under_way.retain(|_, last| goes_on(last));
            self.room = FEW.max(2 * self.under_way.len());
        }
        let flow = (*choice.key, choice.priority);
        let known = self.under_way.get(&flow).filter(|last| goes_on(last) && hops.contains(&last.port));
        let port = known.map_or_else(|| any(hops, rand), |last| last.port);
        self.under_way.insert(flow, Last { at: now, port });
        port
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Random;
    use crate::balance::testing::Bench;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    const HOPS: [u16; 4] = [2, 3, 5, 7];

    fn with_gap(flowlet_gap: u64) -> Flowlet {
        Flowlet { flowlet_gap: Nanos(flowlet_gap) }
    }

    #[test]
    fn without_a_gap_it_is_random() {
        let (mut flowlet, mut random) = (Bench::new(&with_gap(0)), Bench::new(&Random));
        for packet in 0..1_000 {
            let ports = [&mut flowlet, &mut random].map(|bench| bench.choose(packet / 3, packet as u16 % 5, &HOPS));
            assert_eq!(ports[0], ports[1], "packet {packet}");
        }
    }

    /// Of 2,000 flows, more than are remembered at first; each next hop has a quarter, give or take five standard deviations (97).
    #[test]
    fn with_an_endless_gap_a_flow_keeps_its_port() {
        let mut bench = Bench::new(&with_gap(u64::MAX));
        let first: Vec<u16> = (0..2_000).map(|flow| bench.choose(0, flow, &HOPS)).collect();
        for now in [1, 1 << 30, 1 << 60] {
            let again: Vec<u16> = (0..2_000).map(|flow| bench.choose(now, flow, &HOPS)).collect();
            assert_eq!(again, first);
        }
        for hop in HOPS {
            let count = first.iter().filter(|&&port| port == hop).count();
            assert!(count.abs_diff(500) < 97, "{hop}: {count}");
        }
    }

    /// The gap is between neighbours: a flow that never pauses never moves. One that pauses may take any next hop.
    #[test]
    fn a_flow_moves_after_the_gap_and_not_before() {
        let mut bench = Bench::new(&with_gap(1_000));
        let mut now = 0;
        let mut send = |after: u64| {
            now += after;
            bench.choose(now, 1, &HOPS)
        };
        let mut ports = BTreeSet::new();
        for _ in 0..100 {
            let first = send(1_000);
            assert!((0..50).all(|_| send(999) == first));
            ports.insert(first);
        }
        assert_eq!(ports, BTreeSet::from(HOPS));
    }

    #[test]
    fn a_flow_leaves_a_port_that_leads_there_no_longer() {
        let mut bench = Bench::new(&with_gap(u64::MAX));
        let first = bench.choose(0, 1, &HOPS);
        let rest: Vec<u16> = HOPS.into_iter().filter(|&hop| hop != first).collect();
        assert!(rest.contains(&bench.choose(1, 1, &rest)));
    }

    /// Flows that are over take no memory.
    #[test]
    fn what_is_over_is_forgotten() {
        let balancer = &mut Flowlets { gap: Nanos(10), under_way: BTreeMap::new(), room: FEW };
        for flow in 0..10_000 {
            let key = &FlowKey { src_address: flow, ..FlowKey::default() };
            let ports = &crate::balance::testing::Given::default();
            let choice = Choice { now: Nanos(flow.into()), dst: 1, key, priority: 3, hops: &HOPS, ports };
            balancer.choose(&choice, &mut Integers::new(1));
        }
        assert!(balancer.under_way.len() <= FEW, "{}", balancer.under_way.len());
    }
}
