// SPDX-License-Identifier: GPL-2.0-only
//! The flows of two runs, paired.

use std::collections::BTreeMap;

use hpcc_model::results::fct_txt::FctLine;

/// A flow that completed in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// In the first run.
    pub a: FctLine,
    /// In the second run.
    pub b: FctLine,
}

/// The flows of two runs, whatever the order in which they completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Flows in both runs, in the first one's order.
    pub pairs: Vec<Pair>,
    /// How many flows only the first run has.
    pub only_a: usize,
    /// How many flows only the second run has.
    pub only_b: usize,
}

impl Pairing {
    /// Pairs flows that have addresses, ports, size and start in common; of several such flows, the first to
    /// complete with the first to complete.
    pub fn of(a: &[FctLine], b: &[FctLine]) -> Pairing {
        let mut waiting: BTreeMap<_, Vec<FctLine>> = BTreeMap::new();
        // Backwards, as they are taken from the end.
        for flow in b.iter().rev() {
            waiting.entry(key(flow)).or_default().push(*flow);
        }
        let mut pairing = Pairing::default();
        for flow in a {
            match waiting.get_mut(&key(flow)).and_then(Vec::pop) {
                Some(twin) => pairing.pairs.push(Pair { a: *flow, b: twin }),
                None => pairing.only_a += 1,
            }
        }
        pairing.only_b = waiting.values().map(Vec::len).sum();
        pairing
    }

    /// How many flows have the same completion and standalone time in both runs.
    pub fn exact(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.a == pair.b).count()
    }

    /// The largest difference of a completion time, in ns.
    pub fn largest_ns(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.a.fct_ns.abs_diff(pair.b.fct_ns)).max().unwrap_or(0)
    }
}

/// The key by which two lines are the same flow.
pub fn key(flow: &FctLine) -> (u32, u32, u16, u16, u64, u64) {
    (flow.sip, flow.dip, flow.sport, flow.dport, flow.size, flow.start_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(sport: u16, fct_ns: u64) -> FctLine {
        FctLine { sip: 1, dip: 2, sport, dport: 100, size: 1_000, start_ns: 2_000_000_000, fct_ns, ideal_ns: 100 }
    }

    #[test]
    fn the_order_of_completion_does_not_matter() {
        let pairing = Pairing::of(&[flow(1, 200), flow(2, 300)], &[flow(2, 310), flow(1, 200)]);
        assert_eq!((pairing.pairs.len(), pairing.exact(), pairing.largest_ns()), (2, 1, 10));
        assert_eq!((pairing.only_a, pairing.only_b), (0, 0));
    }

    #[test]
    fn missing_flows_are_counted_on_their_side() {
        let pairing = Pairing::of(&[flow(1, 200), flow(2, 300)], &[flow(2, 300), flow(3, 1), flow(4, 1)]);
        assert_eq!((pairing.exact(), pairing.only_a, pairing.only_b), (1, 1, 2));
    }

    #[test]
    fn equal_keys_are_paired_in_order() {
        assert_eq!(Pairing::of(&[flow(1, 5), flow(1, 9)], &[flow(1, 5), flow(1, 9)]).exact(), 2);
    }
}
