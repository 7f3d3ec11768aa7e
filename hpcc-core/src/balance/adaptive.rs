// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adaptive routing: the next hop that is not paused, and has the shortest queue as far as the switch tells them apart.

use super::{Choice, LoadBalancer, Scheme};
use crate::random::Integers;
use crate::topology::Network;
use crate::units::Bytes;
use alloc::boxed::Box;

crate::settings! {
    /// Adaptive routing: packets go where nothing is paused and the queue is short.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Adaptive {
        /// Bytes below which queues that differ count as equal.
        #[change = "A smaller one balances better; a larger one lets packets spread over more ports."]
        pub adaptive_quantum: Bytes {1..=u32::MAX.into()} = Bytes(10_000) => scheme = "adaptive";
    }
}

impl Scheme for Adaptive {
    fn name(&self) -> &'static str {
        "adaptive"
    }

    fn start(&self, _: &Network, _: u32) -> Box<dyn LoadBalancer> {
        Box::new(self.clone())
    }
}

impl LoadBalancer for Adaptive {
    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        let &Choice { priority, hops, ports, .. } = choice;
        let cost =
            |port: u16| (ports.is_paused(port, priority), u64::from(ports.queued(port)) / self.adaptive_quantum.0);
        let least = hops.iter().map(|&port| cost(port)).min();
        let best = || hops.iter().copied().filter(|&port| Some(cost(port)) == least);
        best().nth(rand.draw() as usize % best().count()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::testing::Bench;
    use alloc::collections::BTreeSet;

    const HOPS: [u16; 4] = [2, 3, 5, 7];

    #[test]
    fn a_pause_counts_more_than_a_queue_and_a_queue_by_its_steps() {
        let mut bench = Bench::new(&Adaptive::default());
        let mut taken = |queued: [u32; 4], paused: [bool; 4]| {
            for (place, hop) in HOPS.into_iter().enumerate() {
                bench.ports.queued[usize::from(hop)] = queued[place];
                bench.ports.paused[usize::from(hop)] = paused[place];
            }
            (0..200).map(|_| bench.choose(0, 1, &HOPS)).collect::<BTreeSet<u16>>()
        };
        let none = [false; 4];
        assert_eq!(taken([0; 4], none), BTreeSet::from(HOPS), "all are as good");
        assert_eq!(taken([0, 9_999, 10_000, 20_000], none), BTreeSet::from([2, 3]));
        assert_eq!(taken([30_000, 29_999, 30_000, 30_000], none), BTreeSet::from([3]));
        assert_eq!(taken([0, 0, 90_000, 80_000], [true, true, false, false]), BTreeSet::from([7]));
        assert_eq!(taken([0, 10_000, 0, 0], [true; 4]), BTreeSet::from([2, 5, 7]), "all are paused");
    }
}
