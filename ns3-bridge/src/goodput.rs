// SPDX-License-Identifier: GPL-2.0-only
//! From acknowledged bytes to goodput.

use hpcc_core::units::{BitRate, Nanos};
use std::collections::HashMap;

/// Remembers where each flow was at its last point.
#[derive(Default)]
pub struct GoodputMeter {
    last: HashMap<u32, (Nanos, u64)>,
}

impl GoodputMeter {
    /// The rate of a flow since its last point, `None` for the first point or without time between.
    pub fn advance(&mut self, now: Nanos, flow: u32, acked_bytes: u64) -> Option<BitRate> {
        let (then, before) = self.last.insert(flow, (now, acked_bytes))?;
        let elapsed = u128::from(now.saturating_sub(then).0);
        let bits = u128::from(acked_bytes.saturating_sub(before)) * 8_000_000_000;
        bits.checked_div(elapsed).map(|rate| BitRate(u64::try_from(rate).unwrap_or(u64::MAX)))
    }

    /// Forgets a flow.
    pub fn forget(&mut self, flow: u32) {
        self.last.remove(&flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_what_came_since_the_last_point() {
        let mut meter = GoodputMeter::default();
        assert_eq!(meter.advance(Nanos(1_000), 7, 0), None);
        assert_eq!(meter.advance(Nanos(2_000), 7, 12_500), Some(BitRate::gbps(100)));
        assert_eq!(meter.advance(Nanos(2_000), 7, 12_500), None);
        assert_eq!(meter.advance(Nanos(3_000), 7, 12_500), Some(BitRate(0)));
    }
}
