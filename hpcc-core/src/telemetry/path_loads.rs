// SPDX-License-Identifier: MIT OR Apache-2.0
//! U of each link of a path, as whoever sees the records of all its hops averages it over T.

use super::{Comparison, HopStack, LastHops, MAX_HOPS};
use crate::units::Nanos;

/// The loads of one flow's path.
#[derive(Clone, Debug)]
pub struct PathLoads {
    base_rtt: Nanos,
    last: LastHops,
    utilisation: [f64; MAX_HOPS],
}

impl PathLoads {
    /// Loads that are averaged over T. U starts at 1.
    pub fn new(base_rtt: Nanos) -> Self {
        PathLoads { base_rtt, last: LastHops::default(), utilisation: [1.0; MAX_HOPS] }
    }

    /// Records that could not be compared with the last ones.
    pub fn baseline_resets(&self) -> u64 {
        self.last.restarts()
    }

    /// Takes in the records of a packet and returns the load of each hop; `None` where they are overtaken, or
    /// [begin](PathLoads::begins) anew.
    pub fn learn(&mut self, now: Nanos, stack: &HopStack) -> Option<&[f64]> {
        if self.begins(now, stack) {
            self.utilisation = [1.0; MAX_HOPS];
            self.last.restart(now, stack);
            return None;
        }
        let mut next = self.utilisation;
        for (utilisation, (earlier, later)) in next.iter_mut().zip(self.last.pairs(stack)) {
            match Comparison::of(&stack.modulus, earlier, later, self.base_rtt) {
                Comparison::Overtaken => return None,
                Comparison::Nothing => {}
                Comparison::Load(load) => *utilisation = load.average(*utilisation, self.base_rtt),
            }
        }
        self.utilisation = next;
        self.last.keep(now, stack);
        self.utilisation.get(..stack.hops().len())
    }

    /// Whether records are the first of their path, or too late to be compared with the last.
    pub fn begins(&self, now: Nanos, stack: &HopStack) -> bool {
        !self.last.continue_in(now, stack)
    }
}
