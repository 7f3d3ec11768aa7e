// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each frame takes any next hop.

use super::{Choice, LoadBalancer, Scheme, any};
use crate::random::Integers;
use crate::settings::Settings;
use crate::topology::Network;
use alloc::boxed::Box;

/// Packets take next hops at random, all with the same probability.
#[derive(Clone, Debug, Default)]
pub struct Random;

impl Settings for Random {}

impl Scheme for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn start(&self, _: &Network, _: u32) -> Box<dyn LoadBalancer> {
        Box::new(Random)
    }
}

impl LoadBalancer for Random {
    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        any(choice.hops, rand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::testing::Bench;

    /// Of 4,000 packets each of four hops gets 1,000, give or take five standard deviations (137); neighbours are independent.
    #[test]
    fn every_hop_is_as_likely_whatever_came_before() {
        let mut bench = Bench::new(&Random);
        let taken: [u16; 4_000] = core::array::from_fn(|_| bench.choose(0, 1, &[2, 3, 5, 7]));
        for hop in [2, 3, 5, 7] {
            let count = taken.iter().filter(|&&port| port == hop).count();
            assert!(count.abs_diff(1_000) < 137, "{hop}: {count}");
        }
        let repeated = taken.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(repeated.abs_diff(1_000) < 137, "{repeated}");
    }
}
