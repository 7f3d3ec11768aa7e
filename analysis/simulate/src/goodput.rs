// SPDX-License-Identifier: GPL-2.0-only
//! From bytes that have arrived to goodput.

use hpcc_core::units::{BitRate, Nanos};
use std::collections::HashMap;

/// A point of a flow's time series.
struct Point {
    at: Nanos,
    bytes: u64,
    /// Nanoseconds since the point before; 0 for the first.
    elapsed: u64,
}

/// Remembers where each flow was at its last point.
#[derive(Default)]
pub struct GoodputMeter {
    last: HashMap<u32, Point>,
}

impl GoodputMeter {
    /// A flow starts: its first point.
    pub fn start(&mut self, now: Nanos, flow: u32) {
        self.last.insert(flow, Point { at: now, bytes: 0, elapsed: 0 });
    }

    /// What of a flow has arrived since its last point, and the rate that this was. What comes at the very time of a
    /// point, as its last bytes may, came in the time before that point. `None` for a flow that did not start, or where nothing
    /// came and no time has passed.
    pub fn advance(&mut self, now: Nanos, flow: u32, arrived: u64) -> Option<(BitRate, u64)> {
        let last = self.last.get_mut(&flow)?;
        // A receiver may take back what it has: where go-back-N begins a chunk anew.
        let arrived = arrived.max(last.bytes);
        let bytes = arrived - last.bytes;
        let elapsed = match now.saturating_sub(last.at).0 {
            0 if bytes == 0 => return None,
            0 => last.elapsed,
            passed => passed,
        };
        let rate = (u128::from(bytes) * 8_000_000_000).checked_div(elapsed.into())?;
        *last = Point { at: now, bytes: arrived, elapsed };
        Some((BitRate(u64::try_from(rate).unwrap_or(u64::MAX)), bytes))
    }

    /// Whether nothing of a flow has arrived since its last point.
    pub fn is_still(&self, flow: u32, arrived: u64) -> bool {
        self.last.get(&flow).is_none_or(|last| arrived <= last.bytes)
    }

    /// The bytes of a flow's last point.
    pub fn arrived(&self, flow: u32) -> u64 {
        self.last.get(&flow).map_or(0, |last| last.bytes)
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
        assert_eq!(meter.advance(Nanos(1_000), 7, 5), None, "not started");
        meter.start(Nanos(1_000), 7);
        assert_eq!(meter.advance(Nanos(2_000), 7, 12_500), Some((BitRate::gbps(100), 12_500)));
        assert_eq!(meter.advance(Nanos(3_000), 7, 12_500), Some((BitRate(0), 0)));
    }

    #[test]
    fn no_byte_is_lost_without_time_between() {
        let mut meter = GoodputMeter::default();
        meter.start(Nanos(1_000), 7);
        assert_eq!(meter.advance(Nanos(1_000), 7, 1_000), None);
        assert_eq!(meter.advance(Nanos(1_100), 7, 1_250), Some((BitRate::gbps(100), 1_250)));
        assert_eq!(meter.advance(Nanos(1_100), 7, 1_250), None, "nothing came");
        assert_eq!(meter.advance(Nanos(1_100), 7, 2_500), Some((BitRate::gbps(100), 1_250)), "its last bytes");
    }
}
