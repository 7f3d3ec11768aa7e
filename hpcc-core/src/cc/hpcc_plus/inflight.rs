// SPDX-License-Identifier: MIT OR Apache-2.0
//! `MeasureInflight` of the drafts: U from the records of the path's hops (lines 1 to 10).

use crate::telemetry::{Comparison, Hop, HopStack, LinkLoad, MAX_HOPS};
use crate::units::Nanos;

/// What came of one packet's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Nothing can be learnt from them; they were not kept.
    Nothing,
    /// They are the first, or the first of another path, or the last ones are too old to be compared with: they
    /// were kept, and U starts at 1 again.
    Armed,
    /// U has moved. This hop, counted from the sender, is the busiest.
    Load {
        /// Its place on the path, from 0.
        busiest: usize,
    },
}

/// U, and the records that the next ones are compared with (L).
#[derive(Clone, Debug)]
pub struct Inflight {
    base_rtt: Nanos,
    utilisation: f64,
    last: [Hop; MAX_HOPS],
    /// Hops of `last`; 0 before the first feedback.
    hops: usize,
    path: u64,
    heard_at: Nanos,
    /// Records may be compared if no more time than this lies between their arrivals.
    horizon: Nanos,
}

impl Inflight {
    /// Nothing was heard yet: U is 1. `base_rtt` is T.
    pub fn new(base_rtt: Nanos) -> Self {
        Inflight {
            base_rtt,
            utilisation: 1.0,
            last: [Hop::default(); MAX_HOPS],
            hops: 0,
            path: 0,
            heard_at: Nanos(0),
            horizon: Nanos(0),
        }
    }

    /// U: 1.0 where the bytes in flight on the busiest link equal capacity * T.
    #[inline]
    pub fn utilisation(&self) -> f64 {
        self.utilisation
    }

    /// Takes in the records of a packet.
    #[inline]
    pub fn measure(&mut self, now: Nanos, stack: &HopStack) -> Measured {
        let hops = stack.hops();
        if hops.is_empty() {
            return Measured::Nothing;
        }
        if !self.continues(now, stack) {
            self.restart(now, stack);
            return Measured::Armed;
        }
        let (mut worst, mut busiest, mut heard) = (LinkLoad::default(), 0, false);
        for (place, (earlier, later)) in self.last.iter().zip(hops).enumerate() {
            match Comparison::of(&stack.modulus, earlier, later, self.base_rtt) {
                Comparison::Overtaken => return Measured::Nothing,
                Comparison::Nothing => continue,
                Comparison::Load(load) => {
                    heard = true;
                    if load.utilisation > worst.utilisation {
                        (worst, busiest) = (load, place);
                    }
                }
            }
        }
        if !heard {
            return Measured::Nothing;
        }
        self.average(worst);
        self.keep(now, stack);
        Measured::Load { busiest }
    }

    /// Whether the records may be compared with those of the last packet (REQ-22). Equal path ids do not prove an
    /// equal path, for an XOR collides; another number of hops tells some of these.
    #[inline]
    fn continues(&self, now: Nanos, stack: &HopStack) -> bool {
        stack.hops().len() == self.hops && stack.path == self.path && now - self.heard_at <= self.horizon
    }

    fn restart(&mut self, now: Nanos, stack: &HopStack) {
        self.utilisation = 1.0;
        self.hops = stack.hops().len();
        self.path = stack.path;
        self.horizon = stack.hops().iter().map(|hop| stack.modulus.horizon(hop)).min().unwrap_or_default();
        self.keep(now, stack);
    }

    #[inline]
    fn keep(&mut self, now: Nanos, stack: &HopStack) {
        for (last, hop) in self.last.iter_mut().zip(stack.hops()) {
            *last = *hop;
        }
        self.heard_at = now;
    }

    /// Lines 8 and 9: the moving average over one T.
    #[inline]
    fn average(&mut self, load: LinkLoad) {
        let weight = load.elapsed.min(self.base_rtt).0 as f64 / self.base_rtt.0.max(1) as f64;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * load.utilisation;
    }
}
