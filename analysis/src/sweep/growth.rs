// SPDX-License-Identifier: GPL-2.0-only
//! How long the longest queue grew: what passes until the senders' reaction shows at the bottleneck.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use hpcc_formats::results::queue_csv;

/// Nanoseconds from when the longest queue of a run was last empty to when it was longest; `None` if all stayed empty.
///
/// # Errors
/// If `queue.csv` in `dir` cannot be read.
pub fn growth_ns(dir: &Path) -> Result<Option<u64>> {
    let rows = queue_csv::rows(&dir.join("queue.csv"))?;
    let mut longest = Longest::default();
    for row in rows {
        let row = row?;
        longest.see((row.node, row.port), row.time_ns, row.qlen_bytes);
    }
    Ok(longest.grew_ns)
}

#[derive(Default)]
struct Longest {
    bytes: u64,
    grew_ns: Option<u64>,
    /// When each port's queue began to grow from 0.
    began: HashMap<(u32, u32), u64>,
}

impl Longest {
    /// A port's queue has another length from now on.
    fn see(&mut self, port: (u32, u32), now_ns: u64, bytes: u64) {
        if bytes == 0 {
            self.began.remove(&port);
            return;
        }
        let began = *self.began.entry(port).or_insert(now_ns);
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
        let mut longest = Longest::default();
        for (port, now, bytes) in
            [(1, 0, 500), (1, 10, 0), (1, 20, 100), (2, 25, 900), (1, 30, 1_000), (2, 40, 950), (1, 50, 600)]
        {
            longest.see((7, port), now, bytes);
        }
        assert_eq!(longest.grew_ns, Some(10));
        assert_eq!(Longest::default().grew_ns, None);
    }
}
