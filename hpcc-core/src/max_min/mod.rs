// SPDX-License-Identifier: MIT OR Apache-2.0
//! Max-min fair rates: what flows get of the links that they share, as if no flow had packets.
//!
//! All rates rise together, each as fast as its flow's weight, until a link is full or a flow has all that it may have
//! (progressive filling, Bertsekas and Gallager, 1987). What is full stays; the others rise on. Flows of a lower tier get what
//! those of higher tiers leave.
//!
//! ```
//! use hpcc_core::max_min::{Demand, MaxMin};
//! let mut shares = MaxMin::default();
//! let (near, far) = (shares.add_link(10.0), shares.add_link(4.0));
//! let both = shares.add_flow(&Demand::PLAIN, [(near, 1.0), (far, 1.0)]);
//! let one = shares.add_flow(&Demand::PLAIN, [(near, 1.0)]);
//! shares.solve();
//! assert_eq!((shares.rate(both), shares.rate(one)), (4.0, 6.0));
//! ```

#[cfg(test)]
mod tests;

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Levels that differ by less than this part are one: so flows of equal standing get equal rates, to the bit.
const SAME: f64 = 1e-9;

/// What a flow asks for, besides its links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Its part of a link grows with this, above 0.
    pub weight: f64,
    /// The most that it takes, in the unit of the links' capacities; above 0, infinite if nothing bounds it.
    pub most: f64,
    /// Flows of lower tiers are served first.
    pub tier: u8,
}

impl Demand {
    /// All that there is, by the same right as others.
    pub const PLAIN: Demand = Demand { weight: 1.0, most: f64::INFINITY, tier: 0 };
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// What nobody has taken yet.
    free: f64,
    /// By how much its load rises with the level.
    slope: f64,
    /// Flows on it that still rise.
    rising: u32,
    /// Its flows begin there in the list by link.
    first: u32,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    demand: Demand,
    rate: f64,
    is_rising: bool,
    /// Its links begin there.
    first: u32,
}

/// Flows and links, and the rates that follow. Memory is kept from one problem to the next.
#[derive(Debug, Default)]
pub struct MaxMin {
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// Of each flow in turn: its links, and how much of each a unit of its rate takes.
    uses: Vec<(u32, f32)>,
    /// Of each link in turn: its flows.
    by_link: Vec<u32>,
    /// Flows that are bounded, by the level at which they are.
    bounded: Vec<(u64, u32)>,
    /// Links by the level at which they are full, or were when last looked at: it only rises.
    full: BinaryHeap<Reverse<(u64, u32)>>,
}

/// Levels are not negative: as such their bits are ordered as they are.
fn order(level: f64) -> u64 {
    level.max(0.0).to_bits()
}

impl MaxMin {
    /// Forgets all flows and links.
    pub fn clear(&mut self) {
        self.links.clear();
        self.flows.clear();
        self.uses.clear();
    }

    /// A link of this capacity, in any unit; returns its number.
    pub fn add_link(&mut self, capacity: f64) -> u32 {
        self.links.push(Link { free: capacity.max(0.0), slope: 0.0, rising: 0, first: 0 });
        self.links.len() as u32 - 1
    }

    /// A flow, with its links and how much of each a unit of its rate takes, above 0; returns its number.
    pub fn add_flow(&mut self, demand: &Demand, uses: impl IntoIterator<Item = (u32, f32)>) -> u32 {
        let first = self.uses.len() as u32;
        self.uses.extend(uses);
        self.flows.push(Flow { demand: *demand, rate: 0.0, is_rising: false, first });
        self.flows.len() as u32 - 1
    }

    /// The rate of a flow, once all is [solved](MaxMin::solve).
    pub fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize].rate
    }

    /// Whether there is no link, so that nothing bounds a flow but what it asks for.
    pub fn has_no_links(&self) -> bool {
        self.links.is_empty()
    }

    /// Finds all rates.
    pub fn solve(&mut self) {
        self.list_by_link();
        let tiers = self.flows.iter().fold([false; 256], |mut tiers, flow| {
            tiers[usize::from(flow.demand.tier)] = true;
            tiers
        });
        for tier in (0..=u8::MAX).filter(|&tier| tiers[usize::from(tier)]) {
            self.begin(tier);
            self.fill();
        }
    }

    fn uses_of(&self, flow: usize) -> core::ops::Range<usize> {
        let end = self.flows.get(flow + 1).map_or(self.uses.len(), |next| next.first as usize);
        self.flows[flow].first as usize..end
    }

    fn list_by_link(&mut self) {
        self.links.iter_mut().for_each(|link| link.first = 0);
        self.uses.iter().for_each(|&(link, _)| self.links[link as usize].first += 1);
        // Each begins where it would end, and moves back by one for each flow that is entered.
        let mut end = 0;
        for link in &mut self.links {
            end += link.first;
            link.first = end;
        }
        self.by_link.clear();
        self.by_link.resize(self.uses.len(), 0);
        for flow in (0..self.flows.len()).rev() {
            for at in self.uses_of(flow) {
                let link = &mut self.links[self.uses[at].0 as usize];
                link.first -= 1;
                self.by_link[link.first as usize] = flow as u32;
            }
        }
    }

    /// The flows of a tier begin to rise.
    fn begin(&mut self, tier: u8) {
        self.links.iter_mut().for_each(|link| (link.slope, link.rising) = (0.0, 0));
        self.bounded.clear();
        for flow in 0..self.flows.len() {
            let Demand { weight, most, tier: own } = self.flows[flow].demand;
            if own != tier {
                continue;
            }
            self.flows[flow].is_rising = true;
            for at in self.uses_of(flow) {
                let (link, share) = self.uses[at];
                let link = &mut self.links[link as usize];
                link.slope += weight * f64::from(share);
                link.rising += 1;
            }
            if most < f64::INFINITY {
                self.bounded.push((order(most / weight), flow as u32));
            }
        }
        self.bounded.sort_unstable_by_key(|&bound| Reverse(bound));
        let rising = self.links.iter().zip(0..).filter(|(link, _)| link.rising > 0);
        self.full.clear();
        self.full.extend(rising.map(|(link, number)| Reverse((order(link.free / link.slope), number))));
    }

    /// Levels rise until nothing does.
    fn fill(&mut self) {
        let mut level = 0.0_f64;
        loop {
            let next = self.next_full();
            let bound = self.next_bounded();
            match (next, bound) {
                (Some((at, link)), bound) if bound.is_none_or(|(bound, _)| at <= bound) => {
                    level = if at > level * (1.0 + SAME) { at } else { level };
                    self.stop_link(link, level);
                }
                (_, Some((at, flow))) => {
                    level = level.max(at);
                    self.bounded.pop();
                    self.stop(flow, self.flows[flow as usize].demand.most);
                }
                (_, None) => return,
            }
        }
    }

    /// The link that is full next, and the level at which it is.
    fn next_full(&mut self) -> Option<(f64, u32)> {
        while let Some(&Reverse((known, number))) = self.full.peek() {
            let link = &self.links[number as usize];
            if link.rising == 0 {
                self.full.pop();
                continue;
            }
            let level = link.free.max(0.0) / link.slope.max(f64::MIN_POSITIVE);
            if level <= f64::from_bits(known) * (1.0 + SAME) {
                return Some((level, number));
            }
            self.full.pop();
            self.full.push(Reverse((order(level), number)));
        }
        None
    }

    /// The flow that has all that it may have next, and the level at which it has.
    fn next_bounded(&mut self) -> Option<(f64, u32)> {
        while let Some(&(level, flow)) = self.bounded.last() {
            if self.flows[flow as usize].is_rising {
                return Some((f64::from_bits(level), flow));
            }
            self.bounded.pop();
        }
        None
    }

    /// A link is full: none of its flows rises on.
    fn stop_link(&mut self, number: u32, level: f64) {
        let first = self.links[number as usize].first as usize;
        let end = self.links.get(number as usize + 1).map_or(self.by_link.len(), |next| next.first as usize);
        for at in first..end {
            let flow = self.by_link[at];
            let Flow { demand, is_rising, .. } = self.flows[flow as usize];
            if is_rising {
                self.stop(flow, (demand.weight * level).min(demand.most));
            }
        }
    }

    fn stop(&mut self, flow: u32, rate: f64) {
        let at = self.uses_of(flow as usize);
        let Flow { demand, rate: own, is_rising, .. } = &mut self.flows[flow as usize];
        (*own, *is_rising) = (rate, false);
        for &(link, share) in &self.uses[at] {
            let link = &mut self.links[link as usize];
            link.free -= rate * f64::from(share);
            link.slope -= demand.weight * f64::from(share);
            link.rising -= 1;
        }
    }
}
