// SPDX-License-Identifier: MIT OR Apache-2.0
//! DRILL (Ghorbani et al., SIGCOMM 2017): the shortest of a few queues, one of which was the shortest last time.

use super::{Choice, LoadBalancer, Scheme, any};
use crate::random::Integers;
use crate::topology::Network;
use alloc::boxed::Box;
use alloc::vec::Vec;

crate::settings! {
    /// DRILL: each packet takes the shortest of a few queues that are drawn, and of the one that the packet before it to the same
    /// host took.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Drill {
        /// Next hops that are drawn for a packet.
        #[change = "More find shorter queues, and more packets the same one at once."]
        pub drill_samples: u32 {1..=64} = 2 => scheme = "drill";
    }
}

impl Scheme for Drill {
    fn name(&self) -> &'static str {
        "drill"
    }

    fn start(&self, _: &Network, _: u32) -> Box<dyn LoadBalancer> {
        Box::new(Best { samples: self.drill_samples, last: Vec::new() })
    }
}

/// DRILL at a switch.
#[derive(Debug)]
struct Best {
    samples: u32,
    /// The port that the last packet took, by its destination.
    last: Vec<Option<u16>>,
}

impl LoadBalancer for Best {
    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        let &Choice { dst, hops, ports, .. } = choice;
        if self.last.len() <= dst as usize {
            self.last.resize(dst as usize + 1, None);
        }
        let last = &mut self.last[dst as usize];
        let mut best = any(hops, rand);
        let drawn = (1..self.samples).map(|_| any(hops, rand));
        for port in drawn.chain(last.filter(|port| hops.contains(port))) {
            if ports.queued(port) < ports.queued(best) {
                best = port;
            }
        }
        *last = Some(best);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Random;
    use crate::balance::testing::Bench;

    const HOPS: [u16; 4] = [2, 3, 5, 7];

    /// Once one of the samples has found the only short queue, all packets to that host take it; it is not known to others.
    #[test]
    fn the_shortest_queue_is_kept_in_mind() {
        let mut bench = Bench::new(&Drill { drill_samples: 1 });
        bench.ports.queued = [9; 16];
        bench.ports.queued[5] = 1;
        while bench.choose_to(0, 1, &HOPS, 40) != 5 {}
        assert!((0..100).all(|_| bench.choose_to(0, 1, &HOPS, 40) == 5));
        assert!((41..141).any(|dst| bench.choose_to(0, 1, &HOPS, dst) != 5));
        bench.ports.queued[5] = 10;
        assert!((0..100).any(|_| bench.choose_to(0, 1, &HOPS, 40) != 5), "until it is longer than another");
        bench.ports.queued[5] = 1;
        assert_ne!(bench.choose_to(0, 1, &[2, 3], 40), 5, "where it leads there");
    }

    /// Two samples of four miss the shortest queue with probability (3/4)^2, and nothing is remembered of other destinations:
    /// 2,250 of 4,000, give or take five standard deviations (157).
    #[test]
    fn a_few_samples_find_the_shortest_queue_as_often_as_they_should() {
        let mut bench = Bench::new(&Drill::default());
        bench.ports.queued = [9; 16];
        bench.ports.queued[5] = 1;
        let missed = (0..4_000).filter(|&dst| bench.choose_to(0, 1, &HOPS, dst) != 5).count();
        assert!(missed.abs_diff(2_250) < 157, "{missed}");
    }

    /// Among equals the first draw decides.
    #[test]
    fn with_empty_queues_and_one_sample_it_is_random() {
        let (mut drill, mut random) = (Bench::new(&Drill { drill_samples: 1 }), Bench::new(&Random));
        for packet in 0..1_000 {
            assert_eq!(drill.choose(0, packet, &HOPS), random.choose(0, packet, &HOPS));
        }
    }
}
