// SPDX-License-Identifier: MIT OR Apache-2.0
//! One link's record in place of the whole path's: the answer to a RoCEv2 telemetry request (REQ-17;
//! draft-miao-rtgwg-hpccplus-00, section 7.1).
//!
//! The receiver answers with the record of the busiest link. Which that is takes two records of each, so the receiver
//! keeps the last ones; and so does the sender, for each link apart, because U takes two records of one link and the
//! choice may change from answer to answer. The draft's "highest inflight bytes" are counted here in parts of capacity
//! * T, as everywhere in its algorithm: in bytes a fast link half idle would hide a slow one that is overloaded.

use super::{Comparison, Hop, HopStack, LastHops, MAX_HOPS, Modulus};
use crate::units::Nanos;

/// The record of one link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRecord {
    /// The path, as [`HopStack::path`] has it.
    pub path: u64,
    /// The link's place on it, from 0 at the sender; below [`MAX_HOPS`].
    pub place: u8,
    /// What the link reported.
    pub hop: Hop,
    /// Where its counters wrap.
    pub modulus: Modulus,
}

/// The receiver's choice, for one flow.
#[derive(Clone, Debug)]
pub struct BusiestLink {
    base_rtt: Nanos,
    last: LastHops,
}

impl BusiestLink {
    /// The choice for a flow with this T.
    pub fn new(base_rtt: Nanos) -> Self {
        BusiestLink { base_rtt, last: LastHops::default() }
    }

    /// Records that could not be compared with the last ones.
    pub fn rearmed(&self) -> u64 {
        self.last.restarts()
    }

    /// Takes in a request's records and returns the one to answer with, if they are good for one. The first of a path
    /// have nothing to be compared with: then the queue that takes longest to drain decides.
    pub fn choose(&mut self, now: Nanos, stack: &HopStack) -> Option<LinkRecord> {
        let place = if self.last.continue_in(now, stack) {
            let place = self.busiest(stack)?;
            self.last.keep(now, stack);
            place
        } else {
            self.last.restart(now, stack);
            greatest(stack.hops().iter().map(|hop| Some(hop.qlen as f64 / hop.rate.0.max(1) as f64)))?
        };
        let hop = *stack.hops().get(place)?;
        Some(LinkRecord { path: stack.path, place: place as u8, hop, modulus: stack.modulus })
    }

    fn busiest(&self, stack: &HopStack) -> Option<usize> {
        let mut overtaken = false;
        let loads = self.last.pairs(stack).map(|(earlier, later)| {
            match Comparison::of(&stack.modulus, earlier, later, self.base_rtt) {
                Comparison::Load(load) => Some(load.utilisation),
                Comparison::Nothing => None,
                Comparison::Overtaken => {
                    overtaken = true;
                    None
                }
            }
        });
        let busiest = greatest(loads);
        busiest.filter(|_| !overtaken)
    }
}

/// The place of the greatest value; of equal ones the first.
fn greatest(values: impl Iterator<Item = Option<f64>>) -> Option<usize> {
    let mut greatest: Option<(usize, f64)> = None;
    for (place, value) in values.enumerate() {
        if let Some(value) = value.filter(|&value| greatest.is_none_or(|(_, most)| value > most)) {
            greatest = Some((place, value));
        }
    }
    greatest.map(|(place, _)| place)
}

/// How a record stands to what the sender knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paired {
    /// It is the first of its path.
    NewPath,
    /// It is the first of its link, or the link's last one is too old.
    NewLink,
    /// Against the link's last record.
    With(Comparison),
}

/// The sender's records of each link, for one flow.
#[derive(Clone, Debug, Default)]
pub struct PairedLinks {
    path: Option<u64>,
    /// Each link's last record, and when it came.
    links: [Option<(Hop, Nanos)>; MAX_HOPS],
}

impl PairedLinks {
    /// Compares a record with the last one of its link, and keeps it unless it is the older of the two.
    pub fn pair(&mut self, now: Nanos, record: &LinkRecord, base_rtt: Nanos) -> Paired {
        let is_new_path = self.path != Some(record.path);
        if is_new_path {
            *self = PairedLinks { path: Some(record.path), ..PairedLinks::default() };
        }
        let Some(link) = self.links.get_mut(usize::from(record.place)) else { return Paired::NewLink };
        let horizon = record.modulus.horizon(&record.hop);
        let comparison = link
            .filter(|&(_, heard_at)| now - heard_at <= horizon)
            .map(|(earlier, _)| Comparison::of(&record.modulus, &earlier, &record.hop, base_rtt));
        if comparison != Some(Comparison::Overtaken) {
            *link = Some((record.hop, now));
        }
        match comparison {
            Some(comparison) => Paired::With(comparison),
            None if is_new_path => Paired::NewPath,
            None => Paired::NewLink,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use crate::cc::{CongestionControl, Feedback, HpccPlus, HpccPlusConfig, RateDecision};
    use crate::telemetry::Telemetry;
    use crate::units::BitRate;

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

    #[test]
    fn overtaken_and_empty_requests_have_no_answer() {
        let mut receiver = BusiestLink::new(Nanos(T));
        receiver.choose(Nanos(0), &stack(9_000, &[(100, 0, 0)]));
        assert_eq!(receiver.choose(Nanos(10), &stack(8_000, &[(100, 0, 0)])), None);
        assert_eq!(receiver.choose(Nanos(10), &stack(9_000, &[(100, 0, 0)])), None);
        assert_eq!(BusiestLink::new(Nanos(T)).choose(Nanos(0), &stack(0, &[])), None);
    }

    #[test]
    fn records_pair_link_by_link() {
        let mut links = PairedLinks::default();
        let record = |place, ts, path| LinkRecord {
            path,
            place,
            hop: Hop { rate: BitRate::gbps(100), ts, tx_bytes: ts * 25 / 2, qlen: 0 },
            modulus: MODULUS,
        };
        let mut pair = |now, record| links.pair(Nanos(now), &record, Nanos(T));
        assert_eq!(pair(0, record(0, 0, 7)), Paired::NewPath);
        assert_eq!(pair(1_000, record(1, 1_000, 7)), Paired::NewLink);
        let Paired::With(Comparison::Load(load)) = pair(2_000, record(0, 2_000, 7)) else { panic!("a load") };
        assert_eq!((load.utilisation, load.elapsed), (1.0, Nanos(2_000)));
        assert_eq!(pair(2_100, record(0, 1_500, 7)), Paired::With(Comparison::Overtaken));
        assert!(matches!(pair(3_000, record(0, 3_000, 7)), Paired::With(Comparison::Load(_))));
        assert_eq!(pair(20_000_000, record(1, 3_000_000, 7)), Paired::NewLink);
        assert_eq!(pair(20_000_100, record(1, 3_000_100, 8)), Paired::NewPath);
        assert_eq!(pair(20_000_200, record(0, 3_000_200, 8)), Paired::NewLink);
        assert_eq!(pair(20_000_300, record(15, 3_000_300, 8)), Paired::NewLink);
    }

    /// REQ-17: one answer for each T moves a sender as the whole path's records do, but for the answer after the
    /// busiest link has changed.
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
