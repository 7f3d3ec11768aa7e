// SPDX-License-Identifier: GPL-2.0-only
//! Queues and pauses within a window of the run: `summary.json` has those of all of it.

use std::collections::HashMap;

use anyhow::Result;
use hpcc_formats::results::pfc_txt;

use crate::results::{Results, Window};
use crate::series::{self, Grid};

/// 99th percentile over time and maximum of the longest queue of a switch port, in bytes.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queue(results: &Results) -> Result<(u64, u64)> {
    let Window { from_ns, .. } = results.window;
    let span_ns = results.window.span_ns().max(1);
    let grid = Grid { origin_ns: from_ns, step_ns: span_ns, steps: 1 };
    let durations = series::queues(results, grid, 1)?.busiest;
    let longest = durations.last().map_or(0, |(bytes, _)| *bytes);
    Ok((percentile(&durations, span_ns, 99), longest))
}

/// A percentile over time of the longest queue of a switch port, in bytes; the hundredth is its maximum.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queue_percentile(results: &Results, percent: u8) -> Result<u64> {
    let span_ns = results.window.span_ns().max(1);
    let grid = Grid { origin_ns: results.window.from_ns, step_ns: span_ns, steps: 1 };
    Ok(percentile(&series::queues(results, grid, 1)?.busiest, span_ns, percent))
}

/// Of lengths, ascending, and how long each lasted; the queue was empty in the rest of `span_ns`.
fn percentile(durations: &[(u64, u64)], span_ns: u64, percent: u8) -> u64 {
    let mut above = 0;
    for (bytes, ns) in durations.iter().rev() {
        above += ns;
        if above as f64 > (1.0 - f64::from(percent) / 100.0) * span_ns as f64 {
            return *bytes;
        }
    }
    0
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
        assert_eq!(percentile(&[(10, 500), (900, 10)], 1_000, 99), 10);
        assert_eq!(percentile(&[(10, 500), (900, 11)], 1_000, 99), 900);
        assert_eq!(percentile(&[], 1_000, 99), 0);
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
        assert_eq!(
            (super::queue(&results).expect("queue"), pauses(&results).expect("pauses")),
            ((9_000, 9_000), (2, 850))
        );
        Selection { warm_up: Some(500), until: Some(900), ..Selection::default() }.apply(&mut results).expect("window");
        assert_eq!((super::queue(&results).expect("queue"), pauses(&results).expect("pauses")), ((50, 50), (1, 350)));
    }
}
