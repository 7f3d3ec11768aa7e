// SPDX-License-Identifier: MIT OR Apache-2.0
//! A receiver whose packets meet in the network, and not only at its own link, grants less: by marks and by packets that were
//! trimmed before the last hop.

use crate::host_transport::Trimmed;
use crate::units::Nanos;

/// Part of marked packets that is no reason to grant less.
const TARGET: f64 = 0.3;
/// Weight of the last round in the average.
const WEIGHT: f64 = 0.5;
/// Part of what is above the target by which the rate falls.
const DECREASE: f64 = 0.5;
/// By how much it rises in a round, twice as much each time if nothing is marked.
const INCREASE: f64 = 0.01;
/// The lowest rate, as a part of what is left to each host.
const LEAST: f64 = 0.9;

/// A round takes 1.5 times T on average, and between so many parts of that, so that hosts do not act together.
const ROUND: f64 = 1.5;
const SHORTEST: f64 = 0.75;
/// The fractional parts of its multiples fill the range from 0 to 1 evenly.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// What comes to a host, round by round.
#[derive(Clone, Copy, Debug)]
pub struct Overbooking {
    network_rtt: f64,
    least: f64,
    /// Rounds so far, from a number of the host's own on.
    rounds: u32,
    /// Part of the link's rate that is granted.
    rate: f64,
    average: f64,
    increases: i32,
    /// The end of the present round, unless all is quiet.
    end: Option<Nanos>,
    packets: u32,
    marked: u32,
    trimmed: u32,
    trimmed_within: u32,
}

impl Overbooking {
    /// Of a host in a network that has for all hosts together so many times less than their links.
    pub fn new(network_rtt: Nanos, node: u32, times: f64) -> Overbooking {
        Overbooking {
            network_rtt: network_rtt.0 as f64,
            least: LEAST / times,
            rounds: node,
            rate: 1.0,
            average: 0.0,
            increases: 0,
            end: None,
            packets: 0,
            marked: 0,
            trimmed: 0,
            trimmed_within: 0,
        }
    }

    /// A packet has come.
    pub fn on_packet(&mut self, now: Nanos, marked: bool, trimmed: Option<Trimmed>) {
        self.packets += 1;
        self.marked += u32::from(marked && trimmed.is_none());
        self.trimmed += u32::from(trimmed.is_some());
        self.trimmed_within += u32::from(trimmed == Some(Trimmed::Within));
        if self.end.is_none() {
            self.end = Some(now + self.next_round());
        }
    }

    fn next_round(&mut self) -> Nanos {
        self.rounds = self.rounds.wrapping_add(1);
        let part = f64::from(self.rounds) * GOLDEN;
        let spread = 2.0 * (1.0 - SHORTEST) * (part - libm::floor(part));
        Nanos((ROUND * self.network_rtt * (SHORTEST + spread)) as u64)
    }

    /// When the present round ends.
    pub fn next(&self) -> Option<Nanos> {
        self.end
    }

    /// The round is over. Returns the part of the link's rate that is granted from now on.
    pub fn end_round(&mut self, now: Nanos) -> f64 {
        let whole = self.packets - self.trimmed;
        let part = if whole > 0 { f64::from(self.marked) / f64::from(whole) } else { 0.0 };
        self.average += WEIGHT * (part - self.average);
        let mut falls = self.trimmed_within > 0;
        if falls {
            self.rate -= f64::from(self.trimmed_within) / f64::from(self.packets);
        }
        if self.average > TARGET {
            self.rate *= 1.0 - DECREASE * (self.average - TARGET);
            falls = true;
        }
        if falls {
            self.increases = 0;
        } else {
            let times = if self.marked == 0 { libm::pow(2.0, self.increases.into()) } else { 1.0 };
            self.rate += INCREASE * times;
            self.increases += 1;
        }
        self.rate = self.rate.clamp(self.least, 1.0);
        let is_quiet = self.packets == 0 && self.rate == 1.0;
        (self.packets, self.marked, self.trimmed, self.trimmed_within) = (0, 0, 0, 0);
        self.end = (!is_quiet).then(|| now + self.next_round());
        if is_quiet {
            self.average = 0.0;
        }
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Ends a round of 100 packets of which so many were marked, trimmed on the way, and trimmed at the last hop.
    fn round(own: &mut Overbooking, marked: u32, within: u32, last: u32) -> f64 {
        for n in 0..100 {
            let at = if n < within { Some(Trimmed::Within) } else { (n < within + last).then_some(Trimmed::LastHop) };
            own.on_packet(Nanos(5), n >= 100 - marked, at);
        }
        own.end_round(Nanos(10_000))
    }

    #[test]
    fn packets_trimmed_on_the_way_and_many_marks_lower_the_rate() {
        let mut own = Overbooking::new(Nanos(10_000), 7, 4.0);
        approx::assert_relative_eq!(round(&mut own, 0, 20, 30), 0.8);
        approx::assert_relative_eq!(round(&mut own, 0, 0, 50), 0.81, epsilon = 1e-9);
        approx::assert_relative_eq!(round(&mut own, 0, 0, 0), 0.83, epsilon = 1e-9);
        approx::assert_relative_eq!(round(&mut own, 1, 0, 0), 0.84, epsilon = 1e-9);
        // Of 50 that came whole 40 were marked: 0.4 on average, with what was before 0.4025.
        approx::assert_relative_eq!(round(&mut own, 40, 0, 50), 0.84 * (1.0 - 0.5 * 0.1025), epsilon = 1e-9);
        for _ in 0..9 {
            round(&mut own, 0, 99, 0);
        }
        approx::assert_relative_eq!(own.rate, 0.225);
    }

    #[test]
    fn rounds_end_when_all_is_quiet() {
        let mut own = Overbooking::new(Nanos(10_000), 7, 4.0);
        assert_eq!(own.next(), None);
        round(&mut own, 0, 2, 0);
        let mut ends = 0;
        while let Some(end) = own.next() {
            own.end_round(end);
            ends += 1;
        }
        let rounds: Vec<u64> = (0..100).map(|_| own.next_round().0).collect();
        assert!(rounds.iter().all(|round| (11_250..18_750).contains(round)), "{rounds:?}");
        assert_eq!((rounds.iter().sum::<u64>() + 50_000) / 100_000, 15, "us on average: {rounds:?}");
        assert_eq!(ends, 2, "0.98, 0.99, and 1 with nothing to hear");
    }
}
