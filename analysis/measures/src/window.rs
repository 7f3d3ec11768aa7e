// SPDX-License-Identifier: GPL-2.0-only
//! Queues and pauses within a window of the run: `summary.json` has those of all of it.

use std::collections::HashMap;

use anyhow::Result;
use hpcc_model::results::{pfc_txt, ports_csv};

use crate::results::{Results, Window};
use crate::series::{self, Grid};
use crate::spread::Distribution;

/// The length of the queue of the switch port that has the longest, in bytes, in each nanosecond.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queue(results: &Results) -> Result<Distribution> {
    let (lengths, span_ns) = queue_lengths(results)?;
    let empty_ns = span_ns - lengths.iter().map(|(_, ns)| ns).sum::<u64>().min(span_ns);
    Ok(Distribution::weighted(empty_ns, lengths.into_iter().map(|(bytes, ns)| (bytes as f64, ns))))
}

/// For how long, in ns, the queue of that port had which length, ascending, and of how long in all: it was empty otherwise.
///
/// # Errors
/// If `queue.csv` cannot be read.
pub fn queue_lengths(results: &Results) -> Result<(Vec<(u64, u64)>, u64)> {
    let span_ns = results.window.span_ns().max(1);
    let grid = Grid { origin_ns: results.window.from_ns, step_ns: span_ns, steps: 1 };
    Ok((series::queues(results, grid, 1)?.busiest, span_ns))
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
    use hpcc_model::results::{FctRecord, ResultWriter, Summary, Versions};

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
        assert_eq!(measured(&results), ([50.0, 9_000.0, 9_000.0], (2, 850)));
        Selection { warm_up: Some(500), until: Some(900), ..Selection::default() }.apply(&mut results).expect("window");
        assert_eq!(measured(&results), ([50.0, 50.0, 50.0], (1, 350)));
    }
}
