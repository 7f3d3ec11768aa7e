// SPDX-License-Identifier: MIT OR Apache-2.0
//! A token bucket without a timer, and with one number for state.

use crate::units::Nanos;

/// How much a bucket lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Time in which a token comes.
    pub interval: Nanos,
    /// Tokens that a full bucket holds; 0 lets nothing pass.
    pub burst: u32,
}

/// A token bucket; full at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    limit: RateLimit,
    /// When it will be full again.
    full_at: Nanos,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(limit: RateLimit) -> Self {
        TokenBucket { limit, full_at: Nanos(0) }
    }

    /// Takes a token, if there is one.
    pub fn take(&mut self, now: Nanos) -> bool {
        let capacity = Nanos(self.limit.interval.0.saturating_mul(self.limit.burst.into()));
        let full_at = self.full_at.max(now) + self.limit.interval;
        let passes = self.limit.burst > 0 && full_at - now <= capacity;
        if passes {
            self.full_at = full_at;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes of one request each nanosecond.
    fn passed(limit: RateLimit, times: core::ops::Range<u64>) -> usize {
        let mut bucket = TokenBucket::new(limit);
        times.filter(|&now| bucket.take(Nanos(now))).count()
    }

    #[test]
    fn req_48_a_burst_passes_and_then_one_in_each_interval() {
        let limit = RateLimit { interval: Nanos(100), burst: 4 };
        assert_eq!(passed(limit, 0..1), 1);
        assert_eq!(passed(limit, 0..100), 4);
        assert_eq!(passed(limit, 7_000..8_000), 4 + 9);
    }
}
