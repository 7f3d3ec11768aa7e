// SPDX-License-Identifier: GPL-2.0-only
//! Queues and pauses within a window of the run: `summary.json` has those of all of it.

use std::collections::HashMap;

use anyhow::Result;
use hpcc_formats::results::{pfc_txt, ports_csv};

use crate::results::{Results, Window};
use crate::series::{self, Grid};

/// How long the switch port with the longest queue had which one.
pub struct QueueTimes {
    /// Lengths in bytes, ascending, and for how long each, in ns. The queue was empty in the rest of the time.
    durations: Vec<(u64, u64)>,
    span_ns: u64,
}

/// The queue of the switch port that has the longest.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queue(results: &Results) -> Result<QueueTimes> {
    let span_ns = results.window.span_ns().max(1);
    let grid = Grid { origin_ns: results.window.from_ns, step_ns: span_ns, steps: 1 };
    Ok(QueueTimes { durations: series::queues(results, grid, 1)?.busiest, span_ns })
}

impl QueueTimes {
    /// A percentile over time, in bytes, as [`percentile`](crate::stats::percentile) has it of the lengths in each nanosecond;
    /// the hundredth is the maximum.
    pub fn percentile(&self, percent: u8) -> u64 {
        let before = u128::from(self.span_ns) * u128::from(percent) / 100;
        let least = u128::from(self.span_ns) - before.min(self.span_ns.into());
        let mut above = 0;
        for (bytes, ns) in self.durations.iter().rev() {
            above += u128::from(*ns);
            if above >= least {
                return *bytes;
            }
        }
        0
    }
}

/// The part of the time for which PFC paused ports, over all ports: 0 to 1.
///
/// # Errors
/// If `pfc.txt` or `ports.csv` cannot be read.
pub fn paused_share(results: &Results) -> Result<f64> {
    let ports = ports_csv::read(&results.dir.join("ports.csv"))?.len();
    let (_, paused_ns) = pauses(results)?;
    let all = ports as f64 * results.window.span_ns() as f64;
    Ok(if all > 0.0 { paused_ns as f64 / all } else { 0.0 })
}

/// How many PFC pauses began, and how long ports were paused, summed over ports, in ns.
///
/// # Errors
/// If `pfc.txt` cannot be read.
pub fn pauses(results: &Results) -> Result<(u64, u64)> {
    let Window { from_ns, until_ns, .. } = results.window;
    let (mut pauses, mut paused_ns) = (0, 0);
    let mut since: HashMap<(u32, u32), u64> = HashMap::new();
    let overlap = |begin: u64, end: u64| end.min(until_ns).saturating_sub(begin.max(from_ns));
    for event in pfc_txt::read(&results.dir.join("pfc.txt"))? {
        let port = (event.node, event.port);
        if event.pause {
            pauses += u64::from((from_ns..until_ns).contains(&event.time_ns));
            since.entry(port).or_insert(event.time_ns);
        } else if let Some(begin) = since.remove(&port) {
            paused_ns += overlap(begin, event.time_ns);
        }
    }
    paused_ns += since.into_values().map(|begin| overlap(begin, until_ns)).sum::<u64>();
    Ok((pauses, paused_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::Selection;
    use hpcc_core::units::Nanos;
    use hpcc_formats::results::{FctRecord, ResultWriter, Summary, Versions};

    #[test]
    fn a_percentile_is_of_time() {
        let percentile =
            |durations: &[(u64, u64)]| QueueTimes { durations: durations.into(), span_ns: 1_000 }.percentile(99);
        assert_eq!(percentile(&[(10, 500), (900, 9)]), 10);
        assert_eq!(percentile(&[(10, 500), (900, 10)]), 900);
        assert_eq!(percentile(&[]), 0);
        // That of all other values: it is one.
        let mut lengths = [[0; 490].as_slice(), &[10; 500], &[900; 10]].concat();
        lengths.sort_unstable();
        let times = QueueTimes { durations: vec![(10, 500), (900, 10)], span_ns: 1_000 };
        for percent in 0..=100 {
            assert_eq!(times.percentile(percent), crate::stats::percentile(&lengths, percent.into()), "{percent}");
        }
    }

    #[test]
    fn only_what_lies_in_the_window_counts() {
        let root = tempfile::tempdir().expect("folder");
        let dir = root.path().join("out");
        let mut writer = ResultWriter::create(&dir).expect("create");
        let queue = writer.add_queue(9, 1);
        for (time, bytes) in [(100, 9_000), (400, 50), (700, 0)] {
            writer.queue_point(Nanos(time), queue, bytes);
        }
        for (time, pause) in [(100, true), (550, false), (600, true)] {
            writer.pfc(Nanos(time), 3, false, 1, pause);
        }
        writer.flow_finished(&FctRecord { size: 1, fct_ns: 1_000, ..FctRecord::default() });
        let versions = Versions { hpcc: "0.1.0".into(), ns3: "3.37".into() };
        writer.finish(&Summary { versions, ..Summary::default() }).expect("finish");
        let mut results = Results::load(&dir).expect("own results");
        let measured = |results: &Results| {
            let queue = super::queue(results).expect("queue");
            ([50, 99, 100].map(|percent| queue.percentile(percent)), pauses(results).expect("pauses"))
        };
        assert_eq!(measured(&results), ([50, 9_000, 9_000], (2, 850)));
        Selection { warm_up: Some(500), until: Some(900), ..Selection::default() }.apply(&mut results).expect("window");
        assert_eq!(measured(&results), ([50, 50, 50], (1, 350)));
    }
}
