// SPDX-License-Identifier: MIT OR Apache-2.0
//! One link's record in place of the whole path's: the answer to a RoCEv2 telemetry request (REQ-17;
//! draft-miao-rtgwg-hpccplus-00, section 7.1).
//!
//! The receiver answers with the record of the busiest link. Which that is takes two records of each, so the receiver
//! keeps the last ones; and so does the sender, for each link apart, because U takes two records of one link and the
//! choice may change from answer to answer. The draft's "highest inflight bytes" are counted here in parts of capacity
//! * T, as everywhere in its algorithm: in bytes a fast link half idle would hide a slow one that is overloaded.
//!
//! The draft says no more. Both ends average over T for each link apart, and the sender goes by the busiest that it
//! [knows](super::KnownLinks). If the receiver chose by two packets alone, a burst would often make a link with room the
//! busiest for a moment; and if the sender had one average for all links, the record of such a link, compared with one of long
//! ago, would replace what it knows of the bottleneck: it would send twice as fast as it should, and starve the others.

use super::{Hop, HopStack, Modulus, PathLoads};
use crate::units::Nanos;

/// The record of one link of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkRecord {
    /// The path, as [`HopStack::path`] has it.
    pub path: u64,
    /// The link's place on it, from 0 at the sender; below [`super::MAX_HOPS`].
    pub place: u8,
    /// The link's record.
    pub hop: Hop,
    /// Where its counters wrap.
    pub modulus: Modulus,
}

/// The receiver's choice, for one flow.
#[derive(Clone, Debug)]
pub struct BusiestLink(PathLoads);

impl BusiestLink {
    /// The choice for a flow with this T.
    pub fn new(base_rtt: Nanos) -> Self {
        BusiestLink(PathLoads::new(base_rtt))
    }

    /// Records that could not be compared with the last ones.
    pub fn baseline_resets(&self) -> u64 {
        self.0.baseline_resets()
    }

    /// Takes in a request's records and returns the one to answer with, if they are good for one. The first of a path
    /// have nothing to be compared with: then the queue that takes longest to drain decides.
    pub fn choose(&mut self, now: Nanos, stack: &HopStack) -> Option<LinkRecord> {
        let begins = self.0.begins(now, stack);
        let loads = self.0.learn(now, stack);
        let place = if begins {
            greatest(stack.hops().iter().map(|hop| hop.qlen as f64 / hop.rate.0.max(1) as f64))?
        } else {
            greatest(loads?.iter().copied())?
        };
        let hop = *stack.hops().get(place)?;
        Some(LinkRecord { path: stack.path, place: place as u8, hop, modulus: stack.modulus })
    }
}

/// The place of the greatest value; of equal ones the first.
fn greatest(values: impl Iterator<Item = f64>) -> Option<usize> {
    values.enumerate().reduce(|most, next| if next.1 > most.1 { next } else { most }).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use crate::cc::{CongestionControl, Feedback, HpccPlus, HpccPlusConfig, RateDecision};
    use crate::telemetry::Telemetry;
    use crate::units::BitRate;
    use alloc::vec::Vec;

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };
    const T: u64 = 13_000;

    /// Links of so many Gb/s that have sent so many bytes and hold such a queue.
    fn stack(ts: u64, links: &[(u64, u64, u64)]) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        stack.path = 7;
        for &(gbps, tx_bytes, qlen) in links {
            stack.push(Hop { rate: BitRate::gbps(gbps), ts, tx_bytes, qlen });
        }
        stack
    }

    /// 400 Gb/s at 60 % hold more bytes in flight (390 000) than 100 Gb/s at 120 % (195 000).
    #[test]
    fn req_17_the_answer_is_the_link_with_the_most_in_flight_for_its_capacity() {
        let mut receiver = BusiestLink::new(Nanos(T));
        let first = receiver.choose(Nanos(0), &stack(0, &[(400, 0, 90_000), (100, 0, 32_500)]));
        assert_eq!(first.map(|record| record.place), Some(1));
        let records = stack(T, &[(400, 390_000, 0), (100, 162_500, 32_500)]);
        let answer = receiver.choose(Nanos(T), &records).expect("an answer");
        assert_eq!((answer.place, answer.path, answer.hop), (1, 7, records.hops()[1]));
        let records = stack(2 * T, &[(400, 780_000, 0), (100, 162_500 + 81_250, 0)]);
        assert_eq!(receiver.choose(Nanos(2 * T), &records).map(|record| record.place), Some(0));
    }

    /// Two links at 90 % and, in bursts, at 40 %: within a burst the second one is the busier of two packets.
    #[test]
    fn req_17_a_burst_does_not_make_a_link_the_busiest() {
        let mut receiver = BusiestLink::new(Nanos(T));
        let (mut bytes, mut places) = (0, Vec::new());
        for n in 0..200u64 {
            bytes += if n.is_multiple_of(5) { 2 * 1_250 } else { 0 };
            let records = stack(n * 100, &[(100, n * 1_125, 0), (100, bytes, 0)]);
            places.extend(receiver.choose(Nanos(n * 100), &records).map(|record| record.place));
        }
        assert!(places.len() == 200 && places[120..].iter().all(|&place| place == 0), "{places:?}");
    }

    /// REQ-17: one answer for each T moves a sender as the whole path's records do, except after the busiest link has
    /// changed.
    #[test]
    fn req_17_one_link_is_enough_for_the_sender() {
        let [mut by_path, mut by_link] = [HpccPlusConfig::default(); 2].map(|config| HpccPlus::new(config, LIMITS));
        let mut receiver = BusiestLink::new(Nanos(T));
        let (mut sent, mut rng, mut missing) = ([0, 0], rng(), 0);
        for n in 0..60u64 {
            let now = n * T;
            // Links of 100 Gb/s at 110 % and 50 %, which change places once.
            let loads = if n < 30 { [178_750, 81_250] } else { [81_250, 178_750] };
            let queues = loads.map(|load: u64| load.saturating_sub(162_500));
            sent.iter_mut().zip(loads).for_each(|(sent, load)| *sent += load.min(162_500));
            let records = stack(now, &[(100, sent[0], queues[0]), (100, sent[1], queues[1])]);
            let answer = receiver.choose(Nanos(now), &records).expect("an answer");
            let ack = ack(now, 1 + n, n);
            let whole = Feedback { telemetry: Telemetry::Hops(&records), ..ack };
            let link = Feedback { telemetry: Telemetry::Link(&answer), ..ack };
            let decisions = [by_path.on_feedback(&whole, &mut rng), by_link.on_feedback(&link, &mut rng)];
            match decisions {
                [RateDecision::Window { .. }, RateDecision::Keep] => missing += 1,
                [one, other] if missing == 0 => assert_eq!(one, other, "round {n}"),
                _ => assert!(by_path.utilisation() == by_link.utilisation(), "round {n}"),
            }
        }
        assert_eq!(missing, 1);
    }
}
