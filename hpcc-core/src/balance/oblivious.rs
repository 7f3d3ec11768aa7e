// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oblivious spraying: each next hop once a round, in an order that changes from round to round.

use super::{Choice, LoadBalancer, Scheme};
use crate::random::Integers;
use crate::settings::Settings;
use crate::topology::Network;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Packets take all next hops in turn, whatever waits there.
#[derive(Clone, Debug, Default)]
pub struct Oblivious;

impl Settings for Oblivious {}

impl Scheme for Oblivious {
    fn name(&self) -> &'static str {
        "oblivious"
    }

    fn start(&self, _: &Network, _: u32) -> Box<dyn LoadBalancer> {
        Box::new(Rounds::default())
    }
}

/// The rounds under way, by the first of the next hops: destinations behind the same ones share a round, so that no port gets two
/// packets more than another.
#[derive(Debug, Default)]
struct Rounds(Vec<Round>);

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Next hops that have had their packet, and those that there are.
    taken: u16,
    of: u16,
    /// The place at which the round began.
    from: u16,
}

impl LoadBalancer for Rounds {
    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        let (hops, of) = (choice.hops, choice.hops.len() as u16);
        let place = usize::from(hops[0]);
        if self.0.len() <= place {
            self.0.resize(place + 1, Round::default());
        }
        let round = &mut self.0[place];
        if round.taken == round.of || round.of != of {
            *round = Round { taken: 0, of, from: (rand.draw() % u32::from(of)) as u16 };
        }
        let next = (round.from + round.taken) % of;
        round.taken += 1;
        hops[usize::from(next)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::testing::Bench;
    use alloc::collections::{BTreeMap, BTreeSet};

    /// Also where flows and destinations take turns, and after a link has failed.
    #[test]
    fn no_port_gets_two_packets_more_than_another() {
        let mut bench = Bench::new(&Oblivious);
        for hops in [&[4, 5, 6, 7][..], &[4, 5, 7], &[4, 9]] {
            let mut sent: BTreeMap<u16, u32> = hops.iter().map(|&hop| (hop, 0)).collect();
            let mut orders = BTreeSet::new();
            let mut order = Vec::new();
            for packet in 0..600 {
                let hop = bench.choose(0, packet % 7, hops);
                *sent.get_mut(&hop).expect("one of them") += 1;
                let (least, most) = (sent.values().min(), sent.values().max());
                assert!(most <= least.map(|least| least + 1).as_ref(), "{sent:?} after {packet}");
                order.push(hop);
                if order.len() == hops.len() {
                    orders.insert(core::mem::take(&mut order));
                }
            }
            assert_eq!(orders.len(), hops.len(), "a round begins anywhere");
        }
    }
}
