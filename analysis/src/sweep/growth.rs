// SPDX-License-Identifier: GPL-2.0-only
//! How long the longest queue grew: what passes until the senders' reaction shows at the bottleneck.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use hpcc_model::results::queue_csv;

/// Nanoseconds from the last sample in which the longest queue of a run was empty to that in which it was longest, with samples
/// every `interval_ns`; `None` if all stayed empty.
///
/// # Errors
/// If `queue.csv` in `dir` cannot be read.
pub fn growth_ns(dir: &Path, interval_ns: u64) -> Result<Option<u64>> {
    let rows = queue_csv::rows(&dir.join("queue.csv"))?;
    let mut longest = Longest { interval_ns, ..Longest::default() };
    for row in rows {
        let row = row?;
        longest.see((row.node, row.port), row.time_ns, row.qlen_bytes);
    }
    Ok(longest.grew_ns)
}

#[derive(Default)]
struct Longest {
    interval_ns: u64,
    bytes: u64,
    grew_ns: Option<u64>,
    /// When each port's queue was last seen empty.
    began: HashMap<(u32, u32), u64>,
}

impl Longest {
    /// A sample finds another length than the one before.
    fn see(&mut self, port: (u32, u32), now_ns: u64, bytes: u64) {
        if bytes == 0 {
            self.began.remove(&port);
            return;
        }
        let began = *self.began.entry(port).or_insert(now_ns.saturating_sub(self.interval_ns));
        if bytes > self.bytes {
            self.bytes = bytes;
            self.grew_ns = Some(now_ns - began);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_from_empty_to_longest() {
        let grew_ns = |interval_ns, samples: &[(u32, u64, u64)]| {
            let mut longest = Longest { interval_ns, ..Longest::default() };
            samples.iter().for_each(|(port, now_ns, bytes)| longest.see((7, *port), *now_ns, *bytes));
            longest.grew_ns
        };
        let two = [(1, 0, 500), (1, 10, 0), (1, 30, 100), (2, 35, 900), (1, 40, 1_000), (2, 45, 950), (1, 50, 600)];
        assert_eq!(grew_ns(5, &two), Some(15), "empty at 25, longest at 40");
        // Samples each microsecond: it is empty at 446 us, and longest at 458.
        let coarse = [(1, 300_000, 20), (1, 446_000, 0), (1, 447_000, 10_500), (1, 458_000, 90_000)];
        assert_eq!(grew_ns(1_000, &coarse), Some(12_000));
        assert_eq!(grew_ns(10_000, &[(1, 450_000, 21_000)]), Some(10_000), "one sample has it");
        assert_eq!(grew_ns(1, &[]), None);
    }
}
