// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow that looks for a better path (REQ-30; draft-miao-rtgwg-hpccplus-00, section 9.4).
//!
//! Its candidates are UDP source ports: the network's hashes lead some of them over other links. The flow probes the
//! others in turn, takes U of its own path from what its data brings back, and [moves](PathChoice) with hysteresis.
//! Links that a candidate shares with the flow's own path - the last one always - are no reason to move, and carry the flow
//! already: U is that of the others. They are known by their counters, for compact telemetry does not name links.
//! Data on the way overtakes or is overtaken where the two paths differ: go-back-N sends it again.

use crate::cc::{MAX_PATHS, PathChoice, PathChoiceConfig};
use crate::telemetry::{Hop, HopStack, MAX_HOPS, Modulus, PathLoads, Sampler, Sampling};
use crate::units::Nanos;
use alloc::vec::Vec;

/// A path with a lower U is good enough: less than HPCC++ makes of a link that is shared.
const BUSY: f64 = 0.8;
/// Bytes by which a counter may be off: its unit, and the largest frame.
const SLACK: f64 = 16_384.0;
/// From candidate to candidate; odd, so that it is not lost in a hash's low bits.
const PORT_STEP: u16 = 0x1555;

/// How a flow looks for paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathConfig {
    /// Candidates, its own path included: 1, which is none to choose from, to [`MAX_PATHS`].
    pub candidates: u8,
    /// Time between two probes, in T.
    pub interval: u32,
}

impl Default for PathConfig {
    /// No path is probed.
    fn default() -> Self {
        PathConfig { candidates: 1, interval: 5 }
    }
}

impl PathConfig {
    /// How many T lie between two probes of one of the other paths, if there are any.
    pub fn look_every(&self) -> Option<u64> {
        let others = u64::from(self.candidates).saturating_sub(1);
        (others > 0).then(|| others.saturating_mul(self.interval.max(1).into()))
    }
}

/// The paths of one flow.
#[derive(Clone, Debug)]
pub struct PathProbes {
    choice: PathChoice,
    /// U of each candidate's links.
    loads: Vec<PathLoads>,
    /// The source port of the first.
    first_port: u16,
    sampler: Sampler,
    /// The candidate that was probed last.
    probed: usize,
    /// The last records of the flow's own path.
    own: HopStack,
    /// Which of its links, by their place, other candidates share.
    shared: [bool; MAX_HOPS],
}

impl PathProbes {
    /// The paths of a flow with this T, whose first source port is `sport`.
    pub fn new(config: &PathConfig, base_rtt: Nanos, sport: u16) -> Self {
        let candidates = usize::from(config.candidates).clamp(1, MAX_PATHS);
        let times = |n: u64| Nanos(base_rtt.0.saturating_mul(n));
        let interval = u64::from(config.interval.max(1));
        let round = interval.saturating_mul(candidates as u64);
        let choice = PathChoiceConfig {
            busy: BUSY,
            hold: times(round.saturating_mul(4)),
            max_age: times(round.saturating_mul(2)),
            ..PathChoiceConfig::default()
        };
        PathProbes {
            choice: PathChoice::new(choice, 0),
            loads: (0..candidates).map(|_| PathLoads::new(base_rtt)).collect(),
            first_port: sport,
            sampler: Sampler::new(Sampling::Probes, times(interval)),
            probed: 0,
            own: HopStack::default(),
            shared: [false; MAX_HOPS],
        }
    }

    /// When probes leave.
    pub fn sampler(&mut self) -> &mut Sampler {
        &mut self.sampler
    }

    /// The source port of the candidate that is probed now: all but the flow's own, in turn.
    pub fn next_port(&mut self) -> u16 {
        let count = self.loads.len();
        self.probed = (self.probed + 1) % count;
        if self.probed == self.choice.present() {
            self.probed = (self.probed + 1) % count;
        }
        self.port(self.probed)
    }

    fn port(&self, path: usize) -> u16 {
        self.first_port.wrapping_add(PORT_STEP.wrapping_mul(path as u16))
    }

    /// The flow's own packets brought these records.
    pub fn on_data(&mut self, now: Nanos, stack: &HopStack) {
        self.own.clone_from(stack);
        self.measure(now, self.choice.present(), stack);
    }

    /// A probe with source port `port` brought these records. `own` is what the flow adds to U of a path, its window over
    /// the window at line rate; `draw` as [`PathChoice::choose`] wants it. Returns the port that the flow moves to, if any.
    pub fn on_probe(
        &mut self,
        now: Nanos,
        port: u16,
        stack: &HopStack,
        own: f64,
        draw: impl FnOnce() -> f64,
    ) -> Option<u16> {
        let path = (0..self.loads.len()).find(|&path| self.port(path) == port)?;
        if stack.path == self.own.path {
            return None;
        }
        for ((shared, own), hop) in self.shared.iter_mut().zip(self.own.hops()).zip(stack.hops()) {
            *shared = is_same_link(&stack.modulus, own, hop);
        }
        self.measure(now, path, stack);
        self.choice.choose(now, own, draw).map(|path| self.port(path))
    }

    /// Each link is compared with itself, be it shared or not: which are changes from candidate to candidate.
    fn measure(&mut self, now: Nanos, path: usize, stack: &HopStack) {
        let Some(loads) = self.loads.get_mut(path).and_then(|loads| loads.learn(now, stack)) else { return };
        let own = loads.iter().zip(self.shared).filter(|(_, shared)| !shared).map(|(&load, _)| load);
        if let Some(load) = own.max_by(f64::total_cmp) {
            self.choice.report(now, path, load);
        }
    }
}

/// Whether two records can be one link's: it sent no more between them than it can.
fn is_same_link(modulus: &Modulus, one: &Hop, other: &Hop) -> bool {
    let in_order = modulus.elapsed(one, other) <= modulus.ts / 2;
    let (earlier, later) = if in_order { (one, other) } else { (other, one) };
    let most = later.rate.0 as f64 * modulus.elapsed(earlier, later) as f64 / 8e9;
    earlier.rate == later.rate && modulus.sent(earlier, later) as f64 <= most + SLACK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;
    /// In 1 us a link of 100 Gb/s sends 12 500 bytes, and 16 384 more are in doubt; whichever record is the older one.
    #[test]
    fn counters_tell_whether_two_records_are_of_one_link() {
        let modulus = Modulus { ts: 1 << 24, tx_bytes: 1 << 30 };
        let hop = |ts, tx_bytes| Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen: 0 };
        let earlier = hop(5, 77);
        for (later, same) in [
            (hop(1_005, 77 + 28_884), true),
            (hop(1_005, 77 + 28_885), false),
            (hop(1_005, 76), false),
            (Hop { rate: BitRate::gbps(40), ..hop(1_005, 77) }, false),
        ] {
            assert_eq!(is_same_link(&modulus, &earlier, &later), same, "{later:?}");
            assert_eq!(is_same_link(&modulus, &later, &earlier), same, "{later:?}");
        }
        assert!(is_same_link(&modulus, &earlier, &hop(5 + (1 << 23), 1_000)), "half a wrap is in order");
    }

    /// Two candidates share different links with the flow's own path, whose first link is full and whose second is idle.
    #[test]
    fn links_are_compared_with_themselves_whichever_are_shared() {
        let base_rtt = Nanos(10_000);
        let mut probes = PathProbes::new(&PathConfig { candidates: 3, interval: 1 }, base_rtt, 7);
        let modulus = Modulus { ts: 1 << 40, tx_bytes: 1 << 50 };
        let stack = |now: u64, path, starts: [u64; 2], busy: [u64; 2]| {
            let mut stack = HopStack::new(modulus);
            stack.path = path;
            for (start, busy) in starts.into_iter().zip(busy) {
                let tx_bytes = start + busy * now * 100 / 8 / 100;
                stack.push(Hop { rate: BitRate::gbps(100), ts: now, tx_bytes, qlen: 0 });
            }
            stack
        };
        let own = |now| stack(now, 1, [1 << 40, 1 << 30], [99, 0]);
        for now in (10_000..400_000).step_by(5_000) {
            probes.on_data(Nanos(now), &own(now));
            let candidate = probes.next_port();
            // The first shares the link that is full, the second the idle one.
            let (path, starts, busy) = if candidate == probes.port(1) {
                (2, [1 << 40, 7 << 30], [99, 20])
            } else {
                (3, [7 << 40, 1 << 30], [20, 0])
            };
            probes.on_probe(Nanos(now), candidate, &stack(now, path, starts, busy), 0.1, || 1.0);
        }
        let load = |path: usize| probes.loads[path].clone().learn(Nanos(400_000), &own(400_000)).map(<[f64]>::to_vec);
        let loads = load(0).expect("the flow's own path");
        assert!((loads[0] - 0.99).abs() < 0.01 && loads[1] < 0.1, "{loads:?}");
        assert_eq!(probes.loads[0].baseline_resets(), 0);
    }
}
