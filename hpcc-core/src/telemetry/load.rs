// SPDX-License-Identifier: MIT OR Apache-2.0
//! What two records of one link say of its load (equation 2 of the HPCC paper).

use super::{Hop, Modulus};
use crate::units::Nanos;

/// The load of a link between two of its records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkLoad {
    /// u': bytes in flight on the link, with 1.0 for capacity * T.
    pub utilisation: f64,
    /// Time between the records.
    pub elapsed: Nanos,
}

impl LinkLoad {
    /// Lines 8 and 9 of the drafts' algorithm: an average over one T after this sample.
    #[inline]
    pub fn average(&self, before: f64, base_rtt: Nanos) -> f64 {
        let weight = self.elapsed.min(base_rtt).0 as f64 / base_rtt.0.max(1) as f64;
        (1.0 - weight) * before + weight * self.utilisation
    }
}

/// How the second of two records of a link stands to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// It is later, and tells this load.
    Load(LinkLoad),
    /// No time has passed, or the link has no capacity: nothing can be divided by it.
    Nothing,
    /// It is the earlier one: its packet was overtaken, or the counter has wrapped unseen.
    Overtaken,
}

impl Comparison {
    /// Lines 4 and 5 of the drafts' algorithm: txRate / B + qlen / (B * T), the queue counted at the shorter of
    /// the two samples, so that a queue which only passed by does not count.
    #[inline]
    pub fn of(modulus: &Modulus, earlier: &Hop, later: &Hop, base_rtt: Nanos) -> Comparison {
        let elapsed = modulus.elapsed(earlier, later);
        if elapsed > modulus.ts / 2 {
            return Comparison::Overtaken;
        }
        if elapsed == 0 || later.rate.0 == 0 {
            return Comparison::Nothing;
        }
        let bytes_per_nano = later.rate.0 as f64 / 8e9;
        let sent = modulus.sent(earlier, later) as f64 / elapsed as f64 / bytes_per_nano;
        let drain = later.qlen.min(earlier.qlen) as f64 / bytes_per_nano;
        let queued = drain / base_rtt.0.max(1) as f64;
        Comparison::Load(LinkLoad { utilisation: sent + queued, elapsed: Nanos(elapsed) })
    }

    /// The load with rxRate in place of txRate: what arrives at the link, that is what it sends and by how much its
    /// queue grows. A queue that grows then counts twice, in the rate and as a queue (draft-miao-rtgwg-hpccplus-00,
    /// section 9.2).
    #[inline]
    pub fn by_arrivals(modulus: &Modulus, earlier: &Hop, later: &Hop, base_rtt: Nanos) -> Comparison {
        let compared = Self::of(modulus, earlier, later, base_rtt);
        let Comparison::Load(LinkLoad { utilisation, elapsed }) = compared else { return compared };
        let grown = later.qlen as f64 - earlier.qlen as f64;
        let rate = grown * 8e9 / elapsed.0 as f64 / later.rate.0 as f64;
        Comparison::Load(LinkLoad { utilisation: (utilisation + rate).max(0.0), elapsed })
    }
}

impl Modulus {
    /// How long records of a link of this rate stay comparable: half of the time in which a counter wraps.
    /// Beyond it a wrap may have gone unseen.
    pub fn horizon(&self, hop: &Hop) -> Nanos {
        let bytes_wrap = self.tx_bytes as f64 * 8e9 / hop.rate.0 as f64;
        Nanos(self.ts.min(bytes_wrap as u64) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;
    use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq};

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 128 << 20 };
    const T: Nanos = Nanos(13_000);

    fn hop(ts: u64, tx_bytes: u64, qlen: u64) -> Hop {
        Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen }
    }

    fn load(earlier: Hop, later: Hop) -> f64 {
        let comparison = Comparison::of(&MODULUS, &earlier, &later, T);
        let Comparison::Load(load) = comparison else { panic!("{comparison:?}") };
        load.utilisation
    }

    /// 100 Gb/s * 13 us are 162 500 bytes; 12 500 bytes in 1 us are line rate.
    #[test]
    fn req_05_a_link_counts_what_it_sends_and_the_shorter_queue() {
        assert_abs_diff_eq!(load(hop(0, 0, 0), hop(1_000, 12_500, 0)), 1.0, epsilon = 1e-12);
        assert_abs_diff_eq!(load(hop(0, 0, 162_500), hop(1_000, 12_500, 16_250)), 1.1, epsilon = 1e-12);
        assert_abs_diff_eq!(load(hop(0, 0, 16_250), hop(1_000, 6_250, 162_500)), 0.6, epsilon = 1e-12);
        let wrapped = load(hop((1 << 24) - 500, (128 << 20) - 500, 0), hop(500, 12_000, 0));
        assert_abs_diff_eq!(wrapped, 1.0, epsilon = 1e-12);
    }

    /// 12 500 bytes leave in 1 us and 6 250 more wait: 150 Gb/s arrived. The queue falls as fast: 50 Gb/s did.
    #[test]
    fn arrivals_count_what_a_queue_grows_by() {
        let load = |before, after| {
            let of = Comparison::by_arrivals(&MODULUS, &hop(0, 0, before), &hop(1_000, 12_500, after), T);
            let Comparison::Load(load) = of else { panic!("{of:?}") };
            load.utilisation
        };
        assert_abs_diff_eq!(load(0, 6_250), 1.5, epsilon = 1e-12);
        assert!(abs_diff_eq!(load(22_500, 16_250), 0.6, epsilon = 1e-12), "half of the link, and 0.1 of queue");
        assert_eq!(load(30_000, 0), 0.0, "no less than nothing arrives");
    }

    #[test]
    fn what_cannot_be_divided_is_told_apart_from_what_came_late() {
        let of = |earlier, later| Comparison::of(&MODULUS, &earlier, &later, T);
        assert_eq!(of(hop(7, 0, 0), hop(7, 900, 9)), Comparison::Nothing);
        assert_eq!(of(hop(7, 0, 0), Hop { rate: BitRate(0), ..hop(9, 0, 0) }), Comparison::Nothing);
        assert_eq!(of(hop(2_000, 0, 0), hop(1_000, 0, 0)), Comparison::Overtaken);
    }

    /// The compact format's time wraps after 16.777 ms, its bytes at 400 Gb/s after 2.68 ms.
    #[test]
    fn records_stay_comparable_for_half_of_a_wrap() {
        assert_eq!(MODULUS.horizon(&Hop { rate: BitRate::gbps(10), ..Hop::default() }), Nanos(8_388_608));
        let fast = MODULUS.horizon(&Hop { rate: BitRate::gbps(400), ..Hop::default() });
        assert_relative_eq!(fast.0 as f64, 1.342e6, max_relative = 1e-3);
    }
}
