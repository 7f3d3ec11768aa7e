// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates that follow the line rate of a sender's port unless they are set: steps and least rates, whose defaults the
//! 2019 simulator's presets scale with the network's rate.

use crate::units::BitRate;

/// A rate that is set, or so many millionths of the line rate, and at least 1 b/s.
pub(super) fn or_share(set: Option<BitRate>, line_rate: BitRate, millionths: u64) -> BitRate {
    let share = u128::from(line_rate.0) * u128::from(millionths) / 1_000_000;
    set.unwrap_or(BitRate(u64::try_from(share).unwrap_or(u64::MAX).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc;
    use crate::settings::Input;

    #[test]
    fn what_is_not_set_is_a_part_of_the_line_rate() {
        assert_eq!(or_share(Some(BitRate(7)), BitRate::gbps(100), 500), BitRate(7));
        assert_eq!(
            [1, 100, 800].map(|gbps| or_share(None, BitRate::gbps(gbps), 500).0),
            [500_000, 50_000_000, 400_000_000]
        );
        assert_eq!(or_share(None, BitRate(9), 500), BitRate(1));
    }

    /// The presets of the 2019 simulator for 100 Gb/s; at other rates no flow may be kept from slowing down by more
    /// than a hundredth of its line.
    #[test]
    fn least_rates_follow_the_line_rate() {
        for mut algorithm in cc::all() {
            let Some(least) = algorithm.min_rate(BitRate::gbps(100)) else { continue };
            assert!([100, 1_000].map(BitRate::mbps).contains(&least), "{}", algorithm.name());
            for (line, expected) in [(BitRate::mbps(10), least.0 / 10_000), (BitRate::gbps(800), 8 * least.0)] {
                assert_eq!(algorithm.min_rate(line), Some(BitRate(expected)), "{}", algorithm.name());
            }
            algorithm.set("min_rate", Input::Text("3Mbps")).expect("a rate");
            assert_eq!(algorithm.min_rate(BitRate::gbps(800)), Some(BitRate::mbps(3)));
        }
    }
}
