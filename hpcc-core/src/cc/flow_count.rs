// SPDX-License-Identifier: MIT OR Apache-2.0
//! N, the number of flows that share a receiver's last hop (REQ-20, REQ-32; draft-miao-rtgwg-hpccplus-00, section
//! 6.3.2): a flow counts if it brought data in the last k rounds of T and its busiest hop was the last one.
//!
//! Flows leave bits in a set for each round, and their number follows from the bits that are still clear (linear
//! counting; Whang, Vander-Zanden and Taylor, 1990). So the memory is fixed, no flow needs to say goodbye, and the
//! error is a few percent up to two thousand flows.

use crate::units::Nanos;

/// Most rounds that are looked back on.
const MAX_ROUNDS: usize = 4;
const WORDS: usize = 16;
const BITS: u32 = 64 * WORDS as u32;
/// After so many silent rounds N is 1, wherever it was.
const SILENT_ROUNDS: u32 = 32;

/// Counts the flows of one receiving port.
#[derive(Clone, Debug)]
pub struct FlowCount {
    round: Nanos,
    ends: Nanos,
    /// The bits of the present round and of those before it, as many as are looked back on.
    sets: [[u64; WORDS]; MAX_ROUNDS],
    rounds: usize,
    present: usize,
    flows: u32,
}

impl FlowCount {
    /// Counts over `rounds` (1 to 4) rounds of `base_rtt`. N starts at `expected`, at least 1.
    pub fn new(base_rtt: Nanos, rounds: usize, expected: u32) -> Self {
        FlowCount {
            round: base_rtt.max(Nanos(1)),
            ends: Nanos(0),
            sets: [[0; WORDS]; MAX_ROUNDS],
            rounds: rounds.clamp(1, MAX_ROUNDS),
            present: 0,
            flows: expected.max(1),
        }
    }

    /// N; at least 1. From round to round it at most doubles or halves, so that W_ai does not swing.
    #[inline]
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// A flow, known by any number of its own, brought data; `last_hop_is_busiest` as its records tell.
    #[inline]
    pub fn on_data(&mut self, now: Nanos, flow: u64, last_hop_is_busiest: bool) {
        self.advance(now);
        if !last_hop_is_busiest {
            return;
        }
        let bit = spread(flow) % BITS;
        if let Some(word) = self.sets[self.present % MAX_ROUNDS].get_mut(bit as usize / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    #[inline]
    fn advance(&mut self, now: Nanos) {
        if now < self.ends {
            return;
        }
        if self.ends == Nanos(0) {
            self.ends = now + self.round;
            return;
        }
        for _ in 0..SILENT_ROUNDS {
            self.close_round();
            self.ends += self.round;
            if now < self.ends {
                return;
            }
        }
        self.ends = now + self.round;
    }

    fn close_round(&mut self) {
        let mut seen = [0; WORDS];
        for set in &self.sets[..self.rounds] {
            seen.iter_mut().zip(set).for_each(|(seen, word)| *seen |= word);
        }
        let counted = estimate(seen.iter().map(|word| word.count_zeros()).sum());
        self.flows = counted.clamp(self.flows.div_ceil(2), self.flows.saturating_mul(2)).max(1);
        self.present = (self.present + 1) % self.rounds;
        self.sets[self.present % MAX_ROUNDS] = [0; WORDS];
    }
}

/// Flows that left so many bits clear: m * ln(m / clear). A full set says only that there are very many.
fn estimate(clear: u32) -> u32 {
    let bits = f64::from(BITS);
    libm::round(bits * libm::log(bits / f64::from(clear.max(1)))) as u32
}

/// Spreads numbers that may be consecutive over all values (the finaliser of SplitMix64).
#[inline]
fn spread(flow: u64) -> u32 {
    let mixed = (flow ^ flow >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 33) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::hpcc_plus::{Window, WindowLaw};
    use crate::cc::testing::LIMITS;

    const T: u64 = 13_000;

    /// Plays `rounds` rounds from round `first` on in which each of these flows brings data twice.
    fn play(count: &mut FlowCount, first: u64, rounds: u64, flows: core::ops::Range<u64>) {
        for n in first..first + rounds {
            for turn in 0..2 {
                flows.clone().for_each(|flow| count.on_data(Nanos(n * T + turn * T / 2), flow, true));
            }
        }
    }

    #[test]
    fn req_20_flows_that_join_and_leave_are_counted() {
        let mut count = FlowCount::new(Nanos(T), 2, 2);
        play(&mut count, 1, 10, 0..2);
        assert_eq!(count.flows(), 2);
        play(&mut count, 11, 5, 0..16);
        assert_eq!(count.flows(), 16);
        play(&mut count, 16, 10, 0..4);
        assert_eq!(count.flows(), 4);
        count.on_data(Nanos(1_000_000_000), 0, true);
        assert_eq!(count.flows(), 1);
    }

    /// The flow of the given number brings data at each of these times.
    fn bring(count: &mut FlowCount, data: &[(u64, u64)]) -> u32 {
        data.iter().for_each(|&(now, flow)| count.on_data(Nanos(now), flow, true));
        count.flows()
    }

    /// Each round begins where the last one ended; the first, and that after a long silence, with a packet.
    #[test]
    fn a_round_lasts_t_and_its_end_belongs_to_the_next() {
        let mut count = FlowCount::new(Nanos(T), 1, 1);
        assert_eq!(bring(&mut count, &[(1_000, 1), (999 + T, 2)]), 1);
        assert_eq!(bring(&mut count, &[(1_000 + T, 3)]), 2, "the first round is over");
        assert_eq!(bring(&mut count, &[(1_000 + 3 * T, 4), (1_001 + 3 * T, 5), (1_000 + 4 * T, 6)]), 2, "4 and 5");
        let later = 1_000_000_000;
        assert_eq!(bring(&mut count, &[(later, 7)]), 1);
        assert_eq!(bring(&mut count, &[(later + 1, 8), (later + T, 9)]), 2, "7 and 8");
    }

    #[test]
    fn req_20_only_flows_with_the_last_hop_busiest_count() {
        let mut count = FlowCount::new(Nanos(T), 1, 3);
        for n in 0..400u64 {
            count.on_data(Nanos(n * T / 20), n % 20, n % 20 < 3);
        }
        assert_eq!(count.flows(), 3);
    }

    #[test]
    fn a_slow_flow_counts_if_the_rounds_reach_back_to_it() {
        for (rounds, expected) in [(1, 1), (3, 2)] {
            let mut count = FlowCount::new(Nanos(T), rounds, 1);
            for n in 1..=30 {
                count.on_data(Nanos(n * T), 1, true);
                if n % 3 == 0 && n < 30 {
                    count.on_data(Nanos(n * T), 2, true);
                }
            }
            assert_eq!(count.flows(), expected, "{rounds} rounds");
        }
    }

    #[test]
    fn req_32_n_at_most_doubles_or_halves_in_a_round() {
        let mut count = FlowCount::new(Nanos(T), 1, 1);
        for n in 1..40 {
            let before = count.flows();
            play(&mut count, n, 1, if n % 20 < 10 { 0..800 } else { 0..1 });
            assert!((before.div_ceil(2)..=before * 2).contains(&count.flows()), "{before} to {}", count.flows());
        }
    }

    /// Two flows for a bit: the standard error of linear counting is 3.2 % there (sqrt(m * (e^2 - 3)) / n).
    #[test]
    fn two_thousand_flows_are_told_roughly_in_fixed_memory() {
        for first in (0..10u64).map(|n| n << 40) {
            for flows in [100u64, 1_000, 2_000] {
                let mut count = FlowCount::new(Nanos(T), 1, 1);
                play(&mut count, 1, 16, first..first + flows);
                let error = f64::from(count.flows()) / flows as f64 - 1.0;
                assert!(error.abs() < 0.1, "{} of {flows}", count.flows());
            }
        }
        let mut flood = FlowCount::new(Nanos(T), 4, 1);
        play(&mut flood, 1, 16, 0..50_000);
        assert!(flood.flows() > 5_000);
        assert!(core::mem::size_of::<FlowCount>() < 600);
    }

    /// REQ-32: rounds until two flows that start 18 to 1 are within a tenth of each other.
    #[test]
    fn req_32_the_counted_n_speeds_up_fairness() {
        let rounds = |flows| {
            let law = WindowLaw { expected_flows: flows, ..WindowLaw::default() };
            let mut windows = [0.9, 0.05].map(|share| {
                let mut window = Window::new(law, LIMITS);
                window.compute(law.eta / share, true);
                window
            });
            let unfair = |windows: &[Window; 2]| windows[0].reference() > 1.1 * windows[1].reference();
            (0..10_000)
                .take_while(|_| {
                    let load = windows.iter().map(Window::reference).sum::<f64>() / 162_500.0;
                    for window in &mut windows {
                        window.compute(load, true);
                    }
                    unfair(&windows)
                })
                .count()
        };
        let (expected, counted) = (rounds(100), rounds(2));
        assert!(counted > 10 && counted * 20 < expected, "{counted} rounds with N = 2, {expected} with N = 100");
    }
}
